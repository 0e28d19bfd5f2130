#!/bin/bash
# The group effects/ where the database of orders, or a clock, is not as it should be: planted from outside, in programs of the
# deployment. Nothing of it passes, and the claims say which obligation is left.
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
	/* A new one of the same form, which the service makes where there is none. */
	if (strcmp(how, "replaced") == 0)
		return unlink(path) || !freopen("/dev/null", "r", stdin) || execl(SERVICE, "order-service", path, (char *)0);
	return strcmp(how, "down") == 0 ? unlink(path) : 1;
}
C
check "what befalls a database was built" cc -DSERVICE="\"$folder/plain/build/libexec/order-service\"" \
	-o "$folder/fault" "$folder/fault.c" -lsqlite3

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
		"not_established exercise@P1 exercise@P2 exercise@P3a exercise@P3b exercise@P4 observer_sight@P2 observer_sight@P3a observer_sight@P3b observer_sight@P4 evidence"
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

struck_tree replaced 2 behind replaced
harness replaced run effects/order-create
check "replaced by a new one: nothing is established" exits 2
check "replaced by a new one: though it looks like zeros" sees order-create \
	"order-child 0;order-file 0;order-http 0;order-service 0;orders 0;orders-other 0;permitted 0;"

# In the arm of the authorised path: calls and orders are not joined either.
struck_tree reset-gateway 2 before reset
harness reset-gateway run effects/order-gateway
check "reset behind the gateway: nothing is established" exits 2
claims reset-gateway
check "reset behind the gateway: nothing is joined" claim correlation "not_established exercise@P1 correlation@P1 evidence"
check "reset behind the gateway: nobody saw" claim observation \
	"not_established exercise@P1 exercise@P2 exercise@P3a exercise@P3b exercise@P4 observer_sight@P1 observer_sight@P2 observer_sight@P3a observer_sight@P3b observer_sight@P4 evidence"

struck_tree rollback 2 behind rollback
harness rollback run effects/order-create
check "what was rolled back is no order" exits 0
check "and is not counted" sees order-create \
	"order-child 0;order-file 0;order-http 0;order-service 1;orders 1;orders-other 0;permitted 0;"

# ---- an arm that was not run -----------------------------------------------------------------------------------------
claims rollback
check "a path that no arm took: no claim on it" claim authorization "not_established exercise@P1 decision_record evidence"
check "nor on its correlation" claim correlation "not_established exercise@P1 correlation@P1 evidence"
check "nor on what was seen there" claim observation "not_established exercise@P1 exercise@P2"
check "nor that it is mediated" claim complete_mediation \
	"not_established exercise@P1 exercise@P2 authorization@P1 correlation@P1 path_set_completeness control_evidence@P4 control_evidence@P5 independent_observation@P4 independent_observation@P5"

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
