#!/bin/bash
# The group effects/: an order is a row in a database, and who counts it reads the database. The agent's own ways make none
# while their protection stands and one each without it; another service makes one whatever is done to the agent. An observer
# that is away, and a way that was closed where the mutant opens it, are noticed.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/effects.sh
. "$(dirname "$0")/effects.sh"
need_engine

for tree in plain lists blind closed leaky bypass; do
	copy_tree "$tree"
	rm -r "$folder/$tree/effects/order_create_pg.json" "$folder/$tree/scenarios/effects/pg" # test_effects_pg.sh
done

harness plain run effects
check "the group passes" exits 0
check "both mutants are caught" says "mutations: 2 of 2 caught"
check "the baseline has the other service's order alone" sees order-create \
	"order-child 0;order-file 0;order-http 0;order-service 1;orders 1;orders-other 0;permitted 0;"
check "one order comes through the gateway" sees order-gateway \
	"order-gateway 1;order-http 0;orders 1;orders-other 0;permitted 0;"
check "without the network's protection the agent and its child order" sees order-network \
	"order-child 1;order-file 0;order-http 1;order-service 1;orders 3;orders-other 0;permitted 0;"
check "on a writable root it leaves an order" sees order-read-only \
	"order-child 0;order-file 1;order-http 0;order-service 1;orders 2;orders-other 0;permitted 0;"
check "four orders are made where two and two are alike" sees order-twice \
	"order-again 2;order-gateway 2;orders 4;orders-other 0;"
# What each forgery leaves in the database; what is joined of it is in the cells, which all passed.
forged() { # SCENARIO VALUES
	check "$1: what is in the database" sees "forged-$1" "$2"
}
forged again "order-again 2;order-gateway 1;orders 3;orders-other 0;"
forged answer "order-again 0;order-gateway 1;orders 1;orders-other 0;"
forged rollback "order-again 0;order-gateway 1;orders 1;orders-other 0;"
forged own "order-again 1;order-gateway 1;orders 3;orders-other 1;"
forged id "order-again 1;order-gateway 1;orders 2;orders-other 0;"
forged id-alike "order-gateway 2;orders 2;orders-other 0;"
forged denied "order-again 1;order-gateway 1;orders 2;orders-other 0;"
forged failure "order-again 1;order-gateway 1;orders 2;orders-other 0;permitted 0;"
check "the bundle is verified" "$folder/plain/build/harness" verify "$folder/runs/latest/confinement-evidence.tar.gz"

# ---- what it says of the declared effect ----
# The status that the bundle itself has of a claim.
sealed() { # CLAIM STATUS
	local got
	got=$(tar -xzOf "$folder/runs/latest/confinement-evidence.tar.gz" confinement-evidence/claims.json |
		jq -r --arg claim "$1" '.effects[] | select(.id == "order_create").claims[] | select(.claim == $claim).status')
	[ "$got" = "$2" ] || { echo "$1: $got"; return 1; }
}
check "the run says what is established" says "claims: order_create: 3 of 5 established; not established: path_set_completeness, complete_mediation"
check "and which command says why of this bundle" says "claims: \`harness effects claims $folder/runs/"
claims plain
check "the declaration is the bundle's own" says "order_create: the declaration is the one that the run was made with"
check "as sealed, the calls were authorised" sealed authorization established
check "as sealed, mediation is not complete" sealed complete_mediation not_established
check "not all of it is established" exits 2
check "the calls were authorised" claim authorization "established"
check "and correlated to what was executed" claim correlation "established"
check "what was observed is" claim observation "established"
check "the set's completeness is not" claim path_set_completeness "not_established inventory evidence"
check "and complete mediation is not, for these reasons" claim complete_mediation \
	"not_established path_set_completeness control_evidence@P4 control_evidence@P5 independent_observation@P4 independent_observation@P5"
check "both halves are shown" says "NON_BYPASSABILITY(orders-sqlite,order_create) not_established: the set is complete: not_established; what"
cp -r "$folder/plain/effects" "$folder/others"
sed -i 's/"revision": "example-1"/"revision": "example-2"/' "$folder/others/order_create.json"
others() {
	CODE=0 untold=1
	"$folder/plain/build/harness" effects claims --effects "$folder/others" "$folder/runs/latest/confinement-evidence.tar.gz" >"$OUTPUT" 2>&1 || CODE=$?
}
others
check "a reader's own declaration is told apart" says "order_create: your declaration differs from the one that the run was made with"
check "and of another revision nothing was seen" claim authorization \
	"not_established revision@P1 revision@P2 revision@P3a revision@P3b revision@P4"
# Who takes a forging service for the deployment's own is told what it does.
sed -i 's|"effects/order-gateway", "effects/order-twice"|&, "effects/forged-again", "effects/forged-denied", "effects/forged-rollback"|' \
	"$folder/lists/effects/order_create.json"
harness lists run effects/order-gateway effects/order-twice effects/forged-again effects/forged-denied effects/forged-rollback
check "the forgeries are what their scenarios say" exits 0
claims lists
check "a denied call that acted refutes the authorization" claim authorization "refuted !effect_of_denied_call@P1"
check "and the correlation, as does a second order, while a call has none" claim correlation \
	"refuted !second_effect_of_call@P1 !effect_of_denied_call@P1 read_back@P1"
check "as a failure" exits 1
printf 'no bundle' >"$folder/none"
check "what is no bundle has no claims" not "$folder/plain/build/harness" effects claims "$folder/none"

# ---- what must be noticed ----
ln -sf /bin/true "$folder/blind/build/libexec/observer-orders"
harness blind run effects
check "without its observer nothing is established" exits 2
check "and no mutant is caught" says "mutations: 0 of 2 caught"

# The consumer imports nothing: then nothing shows that a file would have become an order.
ln -sf /bin/true "$folder/closed/build/libexec/order-import"
harness closed run effects
check "a way that the mutant does not open is a failure" exits 1
check "and the other mutant is caught" says "mutations: 1 of 2 caught"

# A consumer that makes an order of its own, on no path that anybody declared.
cat >"$folder/leaky/import.c" <<'C'
#include <sqlite3.h>
int main(int argc, char **argv)
{
	sqlite3 *database = 0;
	if (argc != 2 || sqlite3_open(argv[1], &database))
		return 1;
	return sqlite3_exec(database, "INSERT INTO orders (reference, item, quantity, call) VALUES ('x', 'y', 1, '')", 0, 0, 0);
}
C
check "another writer was built" cc -o "$folder/leaky/writer" "$folder/leaky/import.c" -lsqlite3
cat >"$folder/leaky/build/libexec/order-writer.sh" <<EOS
#!/bin/sh
"$folder/leaky/writer" "\$1" && exec "$folder/plain/build/libexec/order-writer" "\$1"
EOS
chmod 755 "$folder/leaky/build/libexec/order-writer.sh"
mv "$folder/leaky/build/libexec/order-writer.sh" "$folder/leaky/build/libexec/order-writer"
harness leaky run effects/order-create
check "an order that bears nobody's canary fails" exits 1
check "as one that was not planned" says "orders-other"
harness leaky run effects/order-gateway
check "and is an effect that no call explains" says "row-without-call"
claims leaky
check "which refutes the correlation" claim correlation "refuted !effect_without_call@P1 exercise@P1"
check "and that the declared paths are all" claim path_set_completeness "refuted !unexplained_effect inventory evidence"

# An agent that found another way to make the order that it may not make. Where that way is not offered its session ends.
cp -r agent "$folder/agent"
sed -i -e '/^static void try_order_http(const struct order \*order)$/,/^}/s/^	if (fd < 0)$/	if (1) {\n		struct order way = *order;\n		way.address = "order";\n		call_order(\&way);\n	}\n&/' \
	-e 's/^static void try_order_http(const struct order \*order)$/static void call_order(const struct order *order);\n&/' "$folder/agent/probes.c"
check "another agent was built" cc -std=gnu17 -D_GNU_SOURCE -Os -static -Wl,--build-id=none -o "$folder/bypass/build/agent" "$folder"/agent/*.c
harness bypass run effects/order-gateway
check "its order fails the run" exits 1
check "which says that it refutes" says "refuted: complete_mediation"
check "as the bundle does" sealed complete_mediation refuted
claims bypass
check "and refutes in the same run" claim complete_mediation \
	"refuted !bypass@P2 exercise@P1 exercise@P2 exercise@P3a exercise@P3b observation_coverage@P2 observation_coverage@P3a observation_coverage@P3b authorization@P1 correlation@P1 path_set_completeness control_evidence@P4 control_evidence@P5 independent_observation@P4 independent_observation@P5"
check "as a failure" exits 1
check "beside the verdict of the run" says "the run itself came out fail: \`harness verify\` says why"

finish
