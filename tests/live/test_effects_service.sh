#!/bin/bash
# The group effects/ where the order service is another: what it commits behind its answer is counted or can never come, and of
# one that does not end, or says another revision than the declared, nothing is established.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/effects.sh
. "$(dirname "$0")/effects.sh"
need_engine

copy_tree plain

# ---- a service of another kind ---------------------------------------------------------------------------------------
# It answers each order at once and keeps it to its end. $1 is its tree, $2 what it says behind its port, $3 what it does once
# its input ended, or as soon as it listens.
service_tree() { # NAME REVISION LINES [LINES AT ONCE]
	copy_tree "$1"
	cat >"$folder/$1/service" <<PY
#!/usr/bin/python3
import http.server, json, os, select, sqlite3, subprocess, sys, time

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        kept.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(201)
        self.send_header("Content-Length", "11")
        self.end_headers()
        self.wfile.write(b'{"order":1}')

    def log_message(self, *words):
        pass

def make():
    with sqlite3.connect(sys.argv[1], timeout=2) as database:
        for order in kept:
            database.execute("INSERT INTO orders (reference, item, quantity, call) VALUES (?, ?, ?, '')",
                             (order["reference"], order["item"], order["quantity"]))

kept = []
# The table is the real one's to make.
subprocess.run(["$folder/plain/build/libexec/order-service", sys.argv[1]], stdin=subprocess.DEVNULL, check=True)
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
revision = "$2"
${4:-}
print("ready", server.server_port, revision, flush=True) if revision else print("ready", server.server_port, flush=True)
while True:
    ready = select.select([sys.stdin, server], [], [])[0]
    if server in ready:
        server.handle_request()
    if sys.stdin in ready:
        break
$3
PY
	chmod 755 "$folder/$1/service"
	mv "$folder/$1/service" "$folder/$1/build/libexec/order-service"
}

service_tree late example-1 $'time.sleep(0.3)\nmake()'
harness late run effects/order-create
check "what is committed behind the answer and the agent's end counts" exits 0
check "as what the agent made" sees order-network \
	"order-child 1;order-file 0;order-http 1;order-service 1;orders 3;orders-other 0;permitted 0;"

unended() { # WHAT TREE
	harness "$2" run effects/order-create
	check "$1: nothing is established" exits 2
	check "$1: and no mutant is caught" says "mutations: 0 of 2 caught"
	claims "$2"
	check "$1: the claims leave it open" claim observation \
		"not_established exercise@P1 exercise@P2 exercise@P3a exercise@P3b exercise@P4 observer_sight@P2 observer_sight@P3a observer_sight@P3b observer_sight@P4 evidence"
}
service_tree stuck example-1 $'time.sleep(60)\nmake()'
unended "a service that does not end" stuck
service_tree gone example-1 'pass' $'if os.fork() == 0:\n    os._exit(0)\nserver.server_close()'
sed -i 's/^while True:$/sys.exit(0)\n&/' "$folder/gone/build/libexec/order-service"
unended "a service that is gone" gone
service_tree broken example-1 'sys.exit(1)'
unended "a service that ends with an error" broken

# A tool behind the gateway that commits once its caller is gone.
cat >"$folder/tool.c" <<'C'
#include <sqlite3.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_sec = LATE_MS / 1000, .tv_nsec = LATE_MS % 1000 * 1000000L };
	char late[4096], sql[8192];
	sqlite3 *database = 0;
	int status;
	pid_t child;

	if (argc != 2)
		return execv(REAL, argv);
	snprintf(late, sizeof(late), "%s.late", argv[1]);
	child = fork();
	if (child == 0) {
		argv[1] = late;
		return execv(REAL, argv);
	}
	if (waitpid(child, &status, 0) != child || status != 0)
		return 1;
	nanosleep(&pause, 0);
	snprintf(sql, sizeof(sql),
		 "ATTACH '%s' AS late; INSERT INTO orders (reference, item, quantity, call) "
		 "SELECT reference, item, quantity, call FROM late.orders", late);
	return sqlite3_open(argv[1], &database) || sqlite3_busy_timeout(database, 1000) || sqlite3_exec(database, sql, 0, 0, 0);
}
C
tool_tree() { # NAME MILLISECONDS
	copy_tree "$1" && rm "$folder/$1/build/libexec/order-service"
	check "the tool $1 was built" cc -DREAL="\"$folder/plain/build/libexec/order-service\"" -DLATE_MS="$2" \
		-o "$folder/$1/build/libexec/order-service" "$folder/tool.c" -lsqlite3
}
tool_tree tool-late 100
harness tool-late run effects/order-gateway
check "a tool that commits behind its answer has made its order" exits 0
check "and it is counted" sees order-gateway "order-gateway 1;order-http 0;orders 1;orders-other 0;permitted 0;"
tool_tree tool-too-late 5000
harness tool-too-late run effects/order-gateway
check "one that did not come to it has made none" exits 1
check "which is an allowed call without its order" says "call-without-row"
claims tool-too-late
check "and no effect that was read back" claim correlation "not_established exercise@P1 correlation@P1 read_back@P1"

# ---- revisions -------------------------------------------------------------------------------------------------------
revised() { # WHAT TREE
	harness "$2" run effects/order-create
	check "$1: the arms themselves pass" exits 0
	claims "$2"
	check "$1: nothing is said of the declared one" claim observation \
		"not_established revision@P2 revision@P3a revision@P3b revision@P4 exercise@P1 exercise@P2"
	check "$1: nor of its paths" claim path_set_completeness \
		"not_established revision@P2 revision@P3a revision@P3b revision@P4 inventory evidence"
}
service_tree other example-2 'make()'
revised "another revision ran" other
service_tree silent '' 'make()'
revised "nobody says which revision ran" silent
# The arm that comes first, and each that comes behind it.
service_tree two example-1 'make()' "try:
    os.mkdir('$folder/first')
except FileExistsError:
    revision = 'example-2'"
harness two run -j1 effects/order-create
check "two revisions in one bundle: the arms themselves pass" exits 0
claims two
check "two revisions in one bundle: what one earned is not the other's" claim complete_mediation \
	"not_established revision@P2 revision@P3a revision@P3b revision@P4 exercise@P1 exercise@P2 authorization@P1 correlation@P1 path_set_completeness control_evidence@P4 control_evidence@P5 independent_observation@P4 independent_observation@P5"
service_tree prose 'two words' 'make()'
harness prose run effects/order-create
check "what is no revision is an error of the arm" exits 3

finish
