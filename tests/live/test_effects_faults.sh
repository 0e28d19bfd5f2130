#!/bin/bash
# The group effects/ where the database of orders, its service or a clock is not as it should be: planted from outside, in
# programs of the deployment. Nothing of it passes, and the claims say which obligation is left.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/effects.sh
. "$(dirname "$0")/effects.sh"
need_engine

copy_tree plain
cat >"$folder/fault.c" <<'C'
/* fault HOW DATABASE: what befalls it. */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int change(const char *path, const char *sql)
{
	sqlite3 *database = 0;

	return sqlite3_open(path, &database) || sqlite3_exec(database, sql, 0, 0, 0);
}

/* Until its file is gone, 20 s at most. */
static int hold(const char *path)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	sqlite3 *database = 0;
	struct stat about;
	int ends[2];
	char held = 0;

	if (pipe(ends))
		return 1;
	if (fork())
		return close(ends[1]) || read(ends[0], &held, 1) != 1;
	close(ends[0]);
	if (sqlite3_open(path, &database) || sqlite3_exec(database, "BEGIN EXCLUSIVE", 0, 0, 0) || write(ends[1], "x", 1) != 1)
		return 1;
	close(ends[1]);
	for (int i = 0; i < 400 && stat(path, &about) == 0; i++)
		nanosleep(&pause, 0);
	return 0;
}

#define INSERT "INSERT INTO orders (reference, item, quantity, call) VALUES "
int main(int argc, char **argv)
{
	const char *how = argc == 3 ? argv[1] : "", *path = argc == 3 ? argv[2] : "";

	if (strcmp(how, "reset") == 0)
		return change(path, "DELETE FROM orders; DELETE FROM sqlite_sequence");
	if (strcmp(how, "taken") == 0)
		return change(path, "DELETE FROM orders WHERE id = (SELECT max(id) FROM orders)");
	if (strcmp(how, "schema") == 0)
		return change(path, "ALTER TABLE orders ADD COLUMN price TEXT");
	if (strcmp(how, "rollback") == 0)
		return change(path, "BEGIN; " INSERT "('x', 'y', 1, ''); ROLLBACK");
	if (strcmp(how, "locked") == 0)
		return hold(path);
	return strcmp(how, "down") == 0 ? unlink(path) : 1;
}
C
check "what befalls a database was built" cc -o "$folder/fault" "$folder/fault.c" -lsqlite3

# A copy in which the database is struck behind the n-th order that the harness and the other service write in an arm: the
# first marker is the first, then comes that service's own, then the first look, then the last marker.
struck_tree() { # NAME N BEFORE|BEHIND HOW
	copy_tree "$1"
	cat >"$folder/$1/order-writer" <<EOS
#!/bin/sh
strike() {
	[ "\$(wc -l <"\${database%/*}/calls")" -ne $2 ] || [ "\$1" != "$3" ] || "$folder/fault" $4 "\$database"
}
database=\$1
echo >>"\${database%/*}/calls"
strike before && "$folder/plain/build/libexec/order-writer" "\$database" && strike behind
EOS
	chmod 755 "$folder/$1/order-writer"
	mv "$folder/$1/order-writer" "$folder/$1/build/libexec/order-writer"
}

struck() { # HOW REASON
	harness "$1" run effects/order-create
	check "$1: nothing is established" exits 2
	check "$1: and no mutant is caught" says "mutations: 0 of 2 caught"
	check "$1: since nobody saw" blind_by order-create "$2"
	claims "$1"
	check "$1: the claims leave it open" claim observation \
		"not_established exercise@P1 observer_sight@P2 observer_sight@P3a observer_sight@P3b observer_sight@P4"
}
struck_tree reset-late 3 before reset && struck reset-late truncated
struck_tree taken 2 behind taken && struck taken truncated
struck_tree schema 2 behind schema && struck schema input_invalid
struck_tree down 2 behind down && struck down input_missing
struck_tree locked 2 behind locked && struck locked timeout

# All is gone before the first look, with every trace of it but for the marker that is missing.
struck_tree reset 2 behind reset
harness reset run effects/order-create
check "reset before the first look: nothing is established" exits 2
check "reset before the first look: though it looks like zeros" sees order-create \
	"order-child 0;order-file 0;order-http 0;order-service 0;orders 0;orders-other 0;permitted 0;"

# In the arm of the authorised path: calls and orders are not joined either.
struck_tree reset-gateway 2 before reset
harness reset-gateway run effects/order-gateway
check "reset behind the gateway: nothing is established" exits 2
claims reset-gateway
check "reset behind the gateway: nothing is joined" claim correlation "not_established correlation@P1"
check "reset behind the gateway: nobody saw" claim observation \
	"not_established observer_sight@P1 observer_sight@P2 observer_sight@P3a observer_sight@P3b observer_sight@P4"

struck_tree rollback 2 behind rollback
harness rollback run effects/order-create
check "what was rolled back is no order" exits 0
check "and is not counted" sees order-create \
	"order-child 0;order-file 0;order-http 0;order-service 1;orders 1;orders-other 0;permitted 0;"

# ---- an arm that was not run -----------------------------------------------------------------------------------------
claims rollback
check "a path that no arm took: no claim on it" claim authorization "not_established exercise@P1 decision_record evidence"
check "nor on its correlation" claim correlation "not_established exercise@P1 correlation@P1 evidence"
check "nor on what was seen there" claim observation "not_established exercise@P1"
check "nor that it is mediated" claim complete_mediation \
	"not_established exercise@P1 authorization@P1 correlation@P1 path_set_completeness control_evidence@P4 control_evidence@P5 independent_observation@P4 independent_observation@P5"

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
		"not_established exercise@P1 observer_sight@P2 observer_sight@P3a observer_sight@P3b observer_sight@P4"
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
check "and no effect that was read back" claim correlation "not_established correlation@P1 read_back@P1"

# ---- revisions -------------------------------------------------------------------------------------------------------
revised() { # WHAT TREE
	harness "$2" run effects/order-create
	check "$1: the arms themselves pass" exits 0
	claims "$2"
	check "$1: nothing is said of the declared one" claim observation \
		"not_established revision@P2 revision@P3a revision@P3b revision@P4 exercise@P1"
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
	"not_established revision@P2 revision@P3a revision@P3b revision@P4 exercise@P1 authorization@P1 correlation@P1 path_set_completeness control_evidence@P4 control_evidence@P5 independent_observation@P4 independent_observation@P5"
service_tree prose 'two words' 'make()'
harness prose run effects/order-create
check "what is no revision is an error of the arm" exits 3

# ---- a clock that steps ----------------------------------------------------------------------------------------------
cat >"$folder/steps.c" <<'C'
/* The wall clock goes a day forth and a day back at each look; the monotonic one is left alone. */
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long step(void)
{
	static unsigned looks;

	return looks++ % 2 ? -86400 : 86400;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	long status = syscall(SYS_clock_gettime, clock, now);

	if (status == 0 && clock == CLOCK_REALTIME)
		now->tv_sec += step();
	return (int)status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec wall;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &wall);
	*now = (struct timeval){ .tv_sec = wall.tv_sec, .tv_usec = wall.tv_nsec / 1000 };
	return 0;
}

time_t time(time_t *out)
{
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	if (out)
		*out = wall.tv_sec;
	return wall.tv_sec;
}
C
check "a clock that steps was built" cc -shared -fPIC -o "$folder/steps.so" "$folder/steps.c"
steps() { [ "$(LD_PRELOAD=$folder/steps.so date +%F)" != "$(date +%F)" ]; }
check "it steps" steps
copy_tree clock
for program in observer-orders observer-correlation observer-audit observer-deliveries order-import order-writer harness-gateway; do
	[ -x "$folder/plain/build/libexec/$program" ] || continue
	printf '#!/bin/sh\nLD_PRELOAD=%s exec "%s" "$@"\n' "$folder/steps.so" "$folder/plain/build/libexec/$program" >"$folder/clock/script"
	chmod 755 "$folder/clock/script"
	mv "$folder/clock/script" "$folder/clock/build/libexec/$program"
done
LD_PRELOAD=$folder/steps.so harness clock run effects
check "a clock that steps changes no verdict" exits 0
check "and no number" sees order-network "order-child 1;order-file 0;order-http 1;order-service 1;orders 3;orders-other 0;permitted 0;"
claims clock
check "and no claim" claim correlation "established"

finish
