/* The needs of this host, one row each, for `harness doctor`. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/xattr.h>

#include "adapter/engine.h"
#include "adapter/preflight_internal.h"
#include "core/fd.h"
#include "core/spawn.h"

#define SOCKET_FIRST "mend engine-socket first"
#define ENGINE_FIRST "run it as root, and mend engine-peer and engine first"

/* What opening the socket gave: an engine, or why there is none. */
struct reached {
	struct engine *engine;
	const struct error *error;
};

struct need {
	const char *id;
	const char *mend;
	/* Fills finding->found, and finding->mend where another one than that of the row helps. */
	enum finding_status (*look)(const struct reached *reached, struct preflight_finding *finding);
};
static const struct need needs[];
static const size_t needs_count;

static void say(struct preflight_finding *finding, const char *text)
{
	snprintf(finding->found, sizeof(finding->found), "%s", text);
}

/* An error's text is ours and bounded, so that it may be shown. */
static enum finding_status say_error(struct preflight_finding *finding, const struct error *error)
{
	snprintf(finding->found, sizeof(finding->found), "%s", error_text(error));
	return FINDING_MISSING;
}

static enum finding_status met(bool yes)
{
	return yes ? FINDING_OK : FINDING_MISSING;
}

/* Nothing was looked at. */
static enum finding_status unknown(struct preflight_finding *finding, const char *why, const char *mend)
{
	say(finding, why);
	finding->mend = mend;
	return FINDING_UNKNOWN;
}

bool preflight_ipv6_loopback(void)
{
	cleanup_fd int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };

	return fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
}

/* An attribute that is not there is told apart from a kind that cannot be. */
bool preflight_user_xattr(int64_t engine, const char *root)
{
	struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	cleanup_fd int top = -1, fd = -1;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%lld/root", (long long)engine);
	top = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = top < 0 ? -1 : (int)syscall(SYS_openat2, top, root, &how, sizeof(how));
	return fd >= 0 && (fgetxattr(fd, "user.harness", NULL, 0) >= 0 || errno == ENODATA);
}

static enum finding_status native_linux(const struct reached *reached, struct preflight_finding *finding)
{
	struct utsname host;
	bool ok = uname(&host) == 0 && strcmp(host.sysname, "Linux") == 0 && !preflight_foreign_kernel(host.release);

	(void)reached;
	say(finding, ok ? "native" : "a virtual machine for Linux programs");
	return met(ok);
}

static enum finding_status root(const struct reached *reached, struct preflight_finding *finding)
{
	(void)reached;
	snprintf(finding->found, sizeof(finding->found), "user %u", (unsigned)geteuid());
	return met(geteuid() == 0);
}

static enum finding_status helpers_present(const struct reached *reached, struct preflight_finding *finding)
{
	size_t count = 0, missing = 0;
	const char *first = NULL;

	(void)reached;
	for (; preflight_helpers[count]; count++) {
		cleanup_error struct error *absent = NULL;
		char path[PATH_MAX];

		if (spawn_helper_path(preflight_helpers[count], path, sizeof(path), &absent) == 0)
			continue;
		missing++;
		first = first ? first : preflight_helpers[count];
	}
	if (missing)
		snprintf(finding->found, sizeof(finding->found), "%zu of %zu missing, %s first", missing, count, first);
	else
		snprintf(finding->found, sizeof(finding->found), "all %zu", count);
	return met(missing == 0);
}

static enum finding_status core_pattern(const struct reached *reached, struct preflight_finding *finding)
{
	cleanup_error struct error *error = NULL;
	enum core_class found = CORE_EMPTY;

	(void)reached;
	if (core_pattern_read(&found, &error) < 0)
		return say_error(finding, error);
	say(finding, core_class_names[found]);
	return met(found == CORE_FILE);
}

static enum finding_status ipv6_loopback(const struct reached *reached, struct preflight_finding *finding)
{
	bool ok = preflight_ipv6_loopback();

	(void)reached;
	/* No refusal: a run says which cells it leaves out. */
	say(finding, ok ? "::1" : "no ::1: the tcp6 cells will not be planned");
	return ok ? FINDING_OK : FINDING_ABSENT;
}

static enum finding_status socket_answers(const struct reached *reached, struct preflight_finding *finding)
{
	if (!reached->engine)
		return say_error(finding, reached->error);
	say(finding, "answers");
	return FINDING_OK;
}

static enum finding_status socket_peer(const struct reached *reached, struct preflight_finding *finding)
{
	cleanup_error struct error *error = NULL;
	int64_t found = 0;
	pid_t pid;
	uid_t uid;

	if (!reached->engine)
		return unknown(finding, "no socket to look at", SOCKET_FIRST);
	engine_peer(reached->engine, &pid, &uid);
	if (preflight_peer((int)pid, uid, &found, &error) < 0)
		return say_error(finding, error);
	snprintf(finding->found, sizeof(finding->found), "dockerd, process %lld", (long long)found);
	return FINDING_OK;
}

static int ask(struct engine *engine, int (*call)(struct engine *engine, struct buf *json, struct error **err),
	       struct json_document **out, struct error **err)
{
	cleanup_buf struct buf answer = BUF(ENGINE_ANSWER_BYTES);

	if (call(engine, &answer, err) < 0)
		return -1;
	return json_parse(buf_string(&answer), answer.length, JSON_ENGINE_DEPTH, out, err);
}

static enum finding_status engine_kind(const struct reached *reached, struct preflight_finding *finding)
{
	cleanup_json struct json_document *version = NULL;
	cleanup_json struct json_document *info = NULL;
	cleanup_error struct error *error = NULL;

	if (!reached->engine)
		return unknown(finding, "no engine to ask", SOCKET_FIRST);
	if (engine_negotiate(reached->engine, &error) < 0 ||
	    ask(reached->engine, engine_version, &version, &error) < 0 ||
	    ask(reached->engine, engine_info, &info, &error) < 0 ||
	    preflight_engine(json_root(version), json_root(info), &error) < 0)
		return say_error(finding, error);
	snprintf(finding->found, sizeof(finding->found), "Docker Engine, API %s", engine_api(reached->engine));
	return FINDING_OK;
}

static enum finding_status user_xattr(const struct reached *reached, struct preflight_finding *finding)
{
	cleanup_json struct json_document *info = NULL;
	cleanup_error struct error *error = NULL;
	const char *folder;
	int64_t engine = 0;
	pid_t pid;
	uid_t uid;

	if (!reached->engine)
		return unknown(finding, "no engine to ask", SOCKET_FIRST);
	engine_peer(reached->engine, &pid, &uid);
	if (preflight_peer((int)pid, uid, &engine, &error) < 0 || ask(reached->engine, engine_info, &info, &error) < 0)
		return unknown(finding, "the engine did not say where its data is", ENGINE_FIRST);
	folder = json_string(json_member(json_root(info), "DockerRootDir"));
	if (folder && preflight_user_xattr(engine, folder)) {
		say(finding, "kept");
		return FINDING_OK;
	}
	if (!folder || errno != EOPNOTSUPP)
		return unknown(finding, "the engine's data folder cannot be looked at", ENGINE_FIRST);
	/* No refusal: a run says which cells it leaves out. */
	say(finding, "not kept: the file-xattr cells will not be planned");
	return FINDING_ABSENT;
}

size_t preflight_findings(const char *socket_path, struct preflight_finding *out, size_t max)
{
	cleanup_engine struct engine *engine = NULL;
	cleanup_error struct error *error = NULL;
	size_t count = needs_count < max ? needs_count : max;
	struct reached reached = { .engine = NULL };

	if (engine_open(socket_path, &engine, &error) == 0)
		reached.engine = engine;
	reached.error = error;
	for (size_t i = 0; i < count; i++) {
		out[i] = (struct preflight_finding){ .id = needs[i].id };
		out[i].status = needs[i].look(&reached, &out[i]);
		if (out[i].status != FINDING_OK && !out[i].mend)
			out[i].mend = needs[i].mend;
	}
	return count;
}

static const struct need needs[] = {
	{ .id = "linux", .look = native_linux, .mend = "run it on Linux itself" },
	{ .id = "root", .look = root, .mend = "sudo ./harness ..." },
	{ .id = "helpers", .look = helpers_present, .mend = "make, or install harness again" },
	{ .id = "core-pattern", .look = core_pattern, .mend = "sysctl kernel.core_pattern=core" },
	{ .id = "ipv6-loopback",
	  .look = ipv6_loopback,
	  .mend = "sysctl net.ipv6.conf.lo.disable_ipv6=0, or do without these cells" },
	{ .id = "engine-socket",
	  .look = socket_answers,
	  .mend = "systemctl start docker, or, in the source, ci/engine start" },
	{ .id = "engine-peer",
	  .look = socket_peer,
	  .mend = "name the socket of a dockerd of this host with --socket PATH, and run as root beside it" },
	{ .id = "engine",
	  .look = engine_kind,
	  .mend = "name the socket of a rootful Docker Engine of this host with --socket PATH" },
	{ .id = "user-xattr",
	  .look = user_xattr,
	  .mend = "keep the engine's data on ext4, xfs or btrfs, or do without these cells" },
};
static const size_t needs_count = ARRAY_SIZE(needs);

const char *const preflight_helpers[] = {
	"audit-trap",
	"bridge",
	"gateway-mutant",
	"harness-gateway",
	"hostile-collector",
	"hostile-gateway",
	"hostile-orders",
	"hostile-upstream",
	"mcp-http",
	"netns-beacon",
	"observer-audit",
	"observer-bytes",
	"observer-capture",
	"observer-children",
	"observer-client",
	"observer-correlation",
	"observer-correlation-pg",
	"observer-deliveries",
	"observer-files",
	"observer-logs",
	"observer-orders",
	"observer-orders-pg",
	"observer-spans",
	"observer-state",
	"observer-tcp",
	"observer-udp",
	"order-database",
	"order-import",
	"order-service",
	"order-writer",
	"otlp-export",
	"recorder",
	"refusals",
	"stop",
	"watchdog",
	NULL,
};
