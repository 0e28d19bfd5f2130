#!/bin/bash
# The group effects/pg/: the orders of effects/ in PostgreSQL, each arm in a database of its own. The numbers are those of
# SQLite; what is more is which role wrote a row, and in which transaction. An observer that is away, a writer that comes as
# another role, and a cluster that goes away are noticed; without one the arms are not planned, and the coverage says why.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
need_engine
FOLDER=/run/harness-postgres
if ! "$BUILD/libexec/order-database" "$FOLDER" version >/dev/null 2>&1; then
	skip "no cluster answers in $FOLDER (ci/postgres start)"
	finish
fi

for tree in plain blind role away; do
	copy_tree "$tree"
	rm "$folder/$tree/effects/order_create.json"
done
BUNDLE=$folder/runs/latest/confinement-evidence.tar.gz

member() { tar -xzOf "$BUNDLE" "confinement-evidence/$1"; }
# "SUBJECT VALUE" of what an observer saw in an arm. Members come in their order.
saw() { # ARM OBSERVER
	member observations.jsonl |
		sed -nE "s#^\{\"arm\":\"effects/pg/$1\".*\"observer\":\"$2\".*\"status\":\"observed\",\"subject\":\"([^\"]*)\".*\"value\":([0-9]+).*#\1 \2#p" |
		sort | tr '\n' ';'
}
sees() { # ARM OBSERVER VALUES
	[ "$(saw "$1" "$2")" = "$3" ] || { saw "$1" "$2"; return 1; }
}
databases() { "$BUILD/libexec/order-database" "$FOLDER" list; }
none_left() { # of the last run
	local run
	run=$(member manifest.json | sed -nE 's/.*"runId":"([0-9a-f]{32})".*/\1/p')
	[ -n "$run" ] && ! databases | grep -F "_${run}_"
}

harness plain run effects/pg
check "the group passes" exits 0
check "both mutants are caught" says "mutations: 2 of 2 caught"
check "the baseline has the other service's order alone" sees order-create orders-pg \
	"order-child 0;order-file 0;order-http 0;order-service 1;orders 1;orders-other 0;permitted 0;roles-other 0;transactions 1;"
check "one order comes through the gateway" sees order-gateway orders-pg \
	"order-gateway 1;order-http 0;orders 1;orders-other 0;permitted 0;roles-other 0;transactions 1;"
check "and is joined with its call" sees order-gateway correlation-pg \
	"call-again 0;call-without-row 0;copied-id 0;joined 1;row-again 0;row-of-denied 0;row-without-call 0;row-without-id 0;"
check "without the network's protection the agent and its child order" sees order-network orders-pg \
	"order-child 1;order-file 0;order-http 1;order-service 1;orders 3;orders-other 0;permitted 0;roles-other 0;transactions 3;"
check "on a writable root it leaves an order" sees order-read-only orders-pg \
	"order-child 0;order-file 1;order-http 0;order-service 1;orders 2;orders-other 0;permitted 0;roles-other 0;transactions 2;"
check "the bundle is verified" "$folder/plain/build/harness" verify "$BUNDLE"
check "no database is left" none_left
version() { member environment.json | grep -qE '"host.postgres":true.*"postgres.version":"[0-9]+\.'; }
check "the bundle says which server it was" version

# ---- what it says of the declared effect ----
CODE=0
"$folder/plain/build/harness" effects claims "$BUNDLE" >"$OUTPUT" 2>&1 || CODE=$?
claim() { # CLAIM STATUS
	grep -qE "^  $1 +$2\$" "$OUTPUT"
}
check "not all of it is established" exits 2
check "the calls were authorised" claim authorization established
check "and correlated" claim correlation established
check "what was observed is" claim observation established
check "the set's completeness is not" claim path_set_completeness not_established
check "and complete mediation is not" claim complete_mediation not_established
check "for the deployment's side is not assessed" says "unmet      control_evidence of P4"
check "role and transaction were seen" not grep -q '^      unseen' "$OUTPUT"

# ---- what must be noticed ----
ln -sf /bin/true "$folder/blind/build/libexec/observer-orders-pg"
harness blind run effects/pg
check "without its observer nothing is established" exits 2
check "and no mutant is caught" says "mutations: 0 of 2 caught"

# The importer comes in as the other service: its order is there, and of the wrong role.
cat >"$folder/role/import.sh" <<EOS
#!/bin/sh
sed 's/.*"reference":"\([^"]*\)".*/\1/' | tr -d '\n' | exec "$folder/plain/build/libexec/order-writer" "\$1"
EOS
chmod 755 "$folder/role/import.sh"
rm "$folder/role/build/libexec/order-import"
mv "$folder/role/import.sh" "$folder/role/build/libexec/order-import"
harness role run effects/pg/order-read-only
check "an order of another role fails" exits 1
check "as one" sees order-read-only orders-pg \
	"order-child 0;order-file 1;order-http 0;order-service 1;orders 2;orders-other 0;permitted 0;roles-other 1;transactions 2;"

# The other service's program takes the arm's database away, as who runs the cluster could.
cat >"$folder/away/writer.sh" <<EOS
#!/bin/sh
"$folder/plain/build/libexec/order-writer" "\$1" || exit
case \$1 in postgresql:///*) ;; *) exit ;; esac
name=\${1#postgresql:///}
exec "$folder/plain/build/libexec/order-database" $FOLDER drop "\${name%%\?*}"
EOS
chmod 755 "$folder/away/writer.sh"
rm "$folder/away/build/libexec/order-writer"
mv "$folder/away/writer.sh" "$folder/away/build/libexec/order-writer"
harness away run effects/pg/order-create
check "a database that goes away is no zero" exits 2 3
check "and no order is counted" sees order-create orders-pg ""

# ---- without a cluster ----
harness plain run --postgres "a folder" effects/pg
check "what is no absolute path is no folder" exits 4
harness plain run --postgres "$folder" effects/order-create
check "one that is named and does not answer is an error" exits 3
check "which says where it was looked for, and what starts one" says "answers in $folder; in the source tree, \`ci/postgres start\`"
harness plain run --dry-run --postgres "$folder" effects/pg
check "also of a dry run" exits 3
# Where the folder of ci/postgres is empty, and nobody names one.
without() { # WORD...
	CODE=0 untold=1
	# shellcheck disable=SC2016 # the inner shell's words
	unshare -m bash -c 'mount -t tmpfs none "$1" && shift && exec "$@"' - "$FOLDER" \
		"$folder/plain/build/harness" run --out "$folder/runs" "$@" >"$OUTPUT" 2>&1 </dev/null || CODE=$?
}
cells=$(cat scenarios/effects/pg/*.json | grep -c '"needs": "postgres"')
remedy="no PostgreSQL cluster answers in $FOLDER; in the source tree, \`ci/postgres start\` runs one"
without effects/pg
check "alone these cannot be run" exits 4
check "and it is said what they need" says "no cell of the selected scenarios: $remedy"
without effects/pg effects/order-create
check "beside others they are left out" exits 0
check "with the reason" says "for want of postgres"
check "in one line" says "not planned: $cells cells of 4 scenarios: $remedy"
absent() {
	[ "$(member coverage.json | grep -oE '"reason":"postgres","scenario":"effects/pg/[^"]*","status":"declared_untested"' | wc -l)" -eq "$1" ]
}
check "each of their cells stands in the coverage as declared and untested" absent "$cells"
check "the bundle is verified all the same" "$folder/plain/build/harness" verify "$BUNDLE"

# ---- a cluster of one's own, which may be hurt ----
own=$folder/cluster
mkdir "$own"
tidy_cluster() {
	[ ! -e "$own/pid" ] || ci/postgres stop --own "$own" >/dev/null 2>&1
	tidy
}
trap tidy_cluster EXIT
check "another cluster is started" ci/postgres start --own "$own"
read -r pid born <"$own/pid"
check "and once" ci/postgres start --own "$own"
check "as the same" grep -qx "$pid $born" "$own/pid"
check "it answers" ci/postgres status --own "$own"
check "its data are its user's alone" test "$(stat -c '%U %a' "$own/data")" = "postgres 700"
check "it listens on no address" not grep -rqF "pid=$pid," <(ss -Hltnp)
harness plain run --postgres "$own/socket" effects/pg/order-create
check "orders are made there too" exits 0
found() { "$folder/plain/build/harness" doctor --postgres "$1" | grep -qE "^$2 +postgres"; }
check "and doctor finds it" found "$own/socket" ok
check "and none where none is" found "$own" absent
ended() { ! grep -qs '^State:[[:space:]]*[^Z[:space:]]' "/proc/$1/status"; }
kill -STOP "$pid"
began=$SECONDS
check "a server that says nothing takes no order" not "$BUILD/libexec/order-writer" \
	"postgresql:///harness_none?host=$own/socket" <<<"r"
check "and nobody waits for it for ever" test $((SECONDS - began)) -le 8
check "one that says nothing is stopped" ci/postgres stop --own "$own"
check "and is gone" ended "$pid"
check "with its data" not test -e "$own/data"
check "the status says so" not ci/postgres status --own "$own"
sleep 60 &
printf '%s 1\n' "$!" >"$own/pid"
check "what it did not start" ci/postgres stop --own "$own"
check "lives on" kill "$!"
check "and the other cluster" ci/postgres status

# ---- what a run that was killed leaves ----
left=harness_00000000000000000000000000000000_abcdef
check "a database is left" "$BUILD/libexec/order-database" "$FOLDER" create "$left"
harness plain clean
check "it is found" says "removed: 1 databases of orders"
check "and gone" not grep -qF "$left" <(databases)

finish
