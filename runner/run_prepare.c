/* What stands before the first arm: scenarios, plan, host, engine, image. */
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "adapter/image.h"
#include "adapter/preflight.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/postgres.h"
#include "mutations/mutation.h"
#include "reports/coverage.h"
#include "runner/cluster.h"
#include "runner/environment.h"
#include "runner/paths.h"
#include "runner/run.h"

#define NEED_IPV6 "ipv6-loopback"
#define ENDS_MAX 64
#define NEED_XATTR "user-xattr"
#define NEED_CORE "relative-core"
#define NEED_POSTGRES "postgres"
#define WRITE_MS 30000

static const char *const everything[] = { "all" };

/* What a scenario can say and no arm does yet is refused, and never passed over. */
static int check_supported(const struct scenario *scenarios, size_t count, struct error **err)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t fault = 0; fault < scenarios[i].faults_count; fault++)
			if (scenarios[i].faults[fault].role == FAULT_RECORDER)
				return error_set(err, ERROR_INPUT,
						 "%s.json: faults[%zu].role: the recorder's are not carried out yet",
						 scenarios[i].id, fault);
	}
	return 0;
}

/* Bridge and watch each know some. */
static void list_ends(const char *out[ENDS_MAX + 1])
{
	size_t count = 0;

	for (const char *const *name = control_reason_names; *name && count < ENDS_MAX; name++)
		out[count++] = *name;
	for (const char *const *name = watch_kind_names; *name && count < ENDS_MAX; name++)
		out[count++] = *name;
	out[count] = NULL;
}

int scenarios_open(const struct options *options, struct scenario **out, size_t *count, struct error **err)
{
	static const char *const profiles[] = { "reference", NULL };
	const char *ends[ENDS_MAX + 1];
	cleanup_declared_names struct declared_names declared = { .observers = NULL };
	struct scenario_names names = {
		.probes = probe_ids,
		.mutations = mutation_ids,
		.profiles = profiles,
		.ends = ends,
		.misbehaviours = misbehaviour_ids,
	};
	cleanup_fd int folder = -1;
	char path[PATH_MAX], safe[128];

	list_ends(ends);
	if (declared_names(options, &declared, err) < 0)
		return -1;
	names.measures = declared.measures;
	names.observers = declared.observers;
	if (options->scenarios && !options->effects)
		names.elsewhere = ": --effects FOLDER names the declarations of your own observers, and is not given";

	if (options->scenarios)
		snprintf(path, sizeof(path), "%s", options->scenarios);
	else if (path_data("scenarios", path, sizeof(path), err) < 0)
		return -1;
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return error_errno(err, errno, "the scenarios' folder '%s'", error_safe(path, safe, sizeof(safe)));
	if (scenario_load_all(folder, &names, out, count, err) < 0)
		return -1;
	return check_supported(*out, *count, err);
}

static int plan_for(struct run *run, struct plan_shard part, struct plan **out, struct error **err)
{
	const struct options *options = run->options;

	return plan_make_shard(run->scenarios, run->scenarios_count, options->words_count ? options->words : everything,
			       options->words_count ? options->words_count : 1, options->repeat, part, &run->ground,
			       out, err);
}

static void lacks(struct run *run, const char *need, const char *mend)
{
	size_t count = 0;

	while (run->missing[count])
		count++;
	run->missing[count] = need;
	run->mends[count] = mend;
	run->missing[count + 1] = run->mends[count + 1] = NULL;
}

static void list_missing(struct run *run)
{
	run->missing[0] = run->mends[0] = NULL;
	if (!run->context.ipv6)
		lacks(run, NEED_IPV6, "::1 is not on this host's loopback: sysctl net.ipv6.conf.lo.disable_ipv6=0");
	if (!run->context.user_xattr)
		lacks(run, NEED_XATTR,
		      "the engine's data keep no attributes of users: keep them on ext4, xfs or btrfs");
	if (!preflight_core_relative())
		lacks(run, NEED_CORE, "the host's core pattern is a path of its own: sysctl kernel.core_pattern=core");
	if (!run->context.postgres)
		lacks(run, NEED_POSTGRES, run->no_cluster);
}

static int make_plan(struct run *run, struct error **err)
{
	const struct options *options = run->options;
	const struct plan_shard part = { .index = options->shard, .of = options->shards };
	struct plan *whole = NULL;
	int status;

	if (options->words_count > PLAN_SELECTORS_MAX)
		return error_set(err, ERROR_USAGE, "at most %d words select scenarios", PLAN_SELECTORS_MAX);
	list_missing(run);
	run->ground = (struct ground){ .missing = run->missing,
				       .mends = run->mends,
				       .gateway = (enum gateway_kind)run->context.gateway.kind,
				       .raised = run->context.gateway.raised[0] != '\0' };
	plan_free(steal_pointer(&run->plan));
	status = plan_for(run, PLAN_WHOLE, &whole, err);
	if (status == 0)
		status = coverage_digest(whole, run->plan_sha256, err);
	plan_free(whole);
	if (status == 0)
		status = plan_for(run, part, &run->plan, err);
	run->progress.plan = run->plan;
	return status;
}

static int draw_seed(struct run *run, struct error **err)
{
	uint64_t drawn;

	run->seed = run->options->seed;
	if (run->seed >= 0)
		return 0;
	if (getrandom(&drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn))
		return error_errno(err, errno, "no random bytes");
	run->seed = (int64_t)(drawn & (uint64_t)EVIDENCE_INT_MAX);
	return 0;
}

/* Whoever names a cluster wants it: without it nothing is passed over. */
static int named_answers(const struct run *run, struct error **err)
{
	if (run->context.postgres || !run->options->postgres)
		return 0;
	return error_set(err, ERROR_REFUSED, "--postgres: %s", run->no_cluster);
}

static int find_cluster(struct run *run, struct error **err)
{
	const char *folder = cluster_folder(run->options->postgres);
	char url[POSTGRES_URL_BYTES];
	cleanup_error struct error *unfit = NULL;

	if (strlen(folder) >= sizeof(run->context.cluster) || postgres_url(folder, "postgres", url, &unfit) < 0)
		return error_set(err, ERROR_USAGE, "--postgres takes an absolute path of letters, digits and _/.-");
	snprintf(run->context.cluster, sizeof(run->context.cluster), "%s", folder);
	snprintf(run->no_cluster, sizeof(run->no_cluster),
		 "no PostgreSQL cluster answers in %s; in the source tree, `ci/postgres start` runs one", folder);
	run->context.postgres = cluster_there(folder);
	return named_answers(run, err);
}

int run_plan(struct run *run, struct error **err)
{
	if (draw_seed(run, err) < 0)
		return -1;
	if (run_gateway(run->options, &run->context.gateway, err) < 0 ||
	    scenarios_open(run->options, &run->scenarios, &run->scenarios_count, err) < 0 ||
	    run_effects(run, err) < 0 || run_declared(run, err) < 0)
		return -1;
	run->context.ipv6 = preflight_ipv6_loopback();
	/* Until an engine was asked, it is taken to have what engines commonly have. */
	run->context.user_xattr = true;
	/* And a server whose socket lies there to answer. */
	if (find_cluster(run, err) < 0)
		return -1;
	return make_plan(run, err);
}

static int parse(struct buf *answer, struct json_document **out, struct error **err)
{
	if (json_parse(buf_string(answer), answer->length, JSON_ENGINE_DEPTH, out, err) < 0)
		return error_wrap(err, "the engine's answer");
	return 0;
}

static int ask(struct run *run, int (*call)(struct engine *engine, struct buf *json, struct error **err),
	       struct json_document **out, struct error **err)
{
	cleanup_buf struct buf answer = BUF(ENGINE_ANSWER_BYTES);

	if (call(run->engine, &answer, err) < 0)
		return -1;
	json_free(*out);
	*out = NULL;
	return parse(&answer, out, err);
}

/* An engine that was started for the first time does not report the address that it gave its bridge: the kernel does.
 */
static int bridge_address(const struct json_node *options, char *out, size_t size, struct error **err)
{
	const char *name = json_string(json_member(options, "com.docker.network.bridge.name"));
	struct ifaddrs *addresses = NULL;
	bool found = false;

	if (getifaddrs(&addresses) < 0)
		return error_errno(err, errno, "the addresses of this host");
	for (const struct ifaddrs *one = addresses; name && one && !found; one = one->ifa_next)
		if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && strcmp(one->ifa_name, name) == 0)
			found = getnameinfo(one->ifa_addr, sizeof(struct sockaddr_in), out, (socklen_t)size, NULL, 0,
					    NI_NUMERICHOST) == 0;
	freeifaddrs(addresses);
	return found ? 0
		     : error_set(err, ERROR_REFUSED,
				 "the engine's bridge network has no address on this host: restart the engine with its "
				 "default bridge");
}

/* The host's address on the bridge network: IPAM.Config[0].Gateway. Without one the nic cells have no target. */
static int find_nic(struct run *run, struct error **err)
{
	cleanup_buf struct buf answer = BUF(ENGINE_ANSWER_BYTES);
	cleanup_json struct json_document *document = NULL;
	const struct json_node *ipam;
	const char *gateway;
	bool found = false;

	if (engine_network_inspect(run->engine, "bridge", &answer, &found, err) < 0)
		return -1;
	if (!found || parse(&answer, &document, err) < 0)
		return *err ? -1
			    : error_set(err, ERROR_REFUSED,
					"the engine has no bridge network: start it without --bridge none");
	ipam = json_member(json_member(json_root(document), "IPAM"), "Config");
	gateway = json_string(json_member(json_first(ipam), "Gateway"));
	if (gateway && strlen(gateway) < sizeof(run->context.nic)) {
		snprintf(run->context.nic, sizeof(run->context.nic), "%s", gateway);
		return 0;
	}
	return bridge_address(json_member(json_root(document), "Options"), run->context.nic, sizeof(run->context.nic),
			      err);
}

static int fill_context(struct run *run, struct error **err)
{
	const char *root = json_string(json_member(json_root(run->info), "DockerRootDir"));

	if (!root || strlen(root) >= sizeof(run->context.root))
		return error_set(err, ERROR_REFUSED, "the engine does not say where its data is");
	snprintf(run->context.root, sizeof(run->context.root), "%s", root);
	snprintf(run->context.socket, sizeof(run->context.socket), "%s", run->options->socket);
	snprintf(run->context.api, sizeof(run->context.api), "%s", engine_api(run->engine));
	snprintf(run->context.run, sizeof(run->context.run), "%s", run->store.run);
	return environment_boot(run->context.boot, err);
}

int run_snapshot(struct run *run, struct buf *out, struct error **err)
{
	char postgres[CLUSTER_VERSION_BYTES];
	const char *root;

	if (ask(run, engine_version, &run->version, err) < 0 || ask(run, engine_info, &run->info, err) < 0)
		return -1;
	root = json_string(json_member(json_root(run->info), "DockerRootDir"));
	run->context.user_xattr = root && preflight_user_xattr(run->context.engine_pid, root);
	cluster_version(run->context.cluster, postgres);
	run->context.postgres = postgres[0] != '\0';
	return environment_take(json_root(run->version), json_root(run->info), engine_api(run->engine),
				run->context.user_xattr, postgres, out, err);
}

int run_preflight(struct run *run, struct error **err)
{
	bool planned = run->context.postgres;
	enum core_class pattern = CORE_EMPTY;
	pid_t pid;
	uid_t uid;

	if (core_pattern_read(&pattern, err) < 0)
		return -1;
	if (pattern != CORE_FILE)
		return error_set(err, ERROR_REFUSED,
				 "the host's core pattern hands a crash outside of the container (%s): set a file "
				 "pattern, as in "
				 "`sysctl kernel.core_pattern=core`",
				 core_class_names[pattern]);
	if (engine_open(run->options->socket, &run->engine, err) < 0 || engine_negotiate(run->engine, err) < 0)
		return -1;
	engine_peer(run->engine, &pid, &uid);
	if (preflight_peer((int)pid, uid, &run->context.engine_pid, err) < 0)
		return -1;
	if (run_snapshot(run, &run->before, err) < 0 ||
	    preflight_engine(json_root(run->version), json_root(run->info), err) < 0)
		return -1;
	if (named_answers(run, err) < 0 || fill_context(run, err) < 0 || run_engine_own(run, err) < 0 ||
	    find_nic(run, err) < 0)
		return -1;
	return run->context.user_xattr && run->context.postgres == planned ? 0 : make_plan(run, err);
}

static int load(struct run *run, const struct image *image, struct error **err)
{
	cleanup_fd int file = memfd_create("image", MFD_CLOEXEC);

	if (file < 0)
		return error_errno(err, errno, "memory for the image");
	if (fd_write_all(file, image->archive.data, image->archive.length, clock_deadline(WRITE_MS), err) < 0)
		return -1;
	return engine_image_load(run->engine, file, image->archive.length, err);
}

/* The engine's answer about the image; loads it when it has none. */
static int settle(struct run *run, const struct image *image, struct error **err)
{
	cleanup_buf struct buf answer = BUF(ENGINE_ANSWER_BYTES);
	const char *id;
	bool found = false;

	if (engine_image_inspect(run->engine, image->id, &answer, &found, err) < 0)
		return -1;
	if (!found && load(run, image, err) < 0)
		return -1;
	/* A store that names images by their manifest finds it by its tag alone. */
	if (!found && engine_image_inspect(run->engine, image->id, &answer, &found, err) < 0)
		return -1;
	if (!found && engine_image_inspect(run->engine, image->tag, &answer, &found, err) < 0)
		return -1;
	if (!found)
		return error_set(err, ERROR_ENGINE, "the engine took the agent's image and does not have it");
	if (parse(&answer, &run->image_inspect, err) < 0)
		return -1;
	id = json_string(json_member(json_root(run->image_inspect), "Id"));
	if (!id || strlen(id) >= sizeof(run->context.image) || strncmp(id, "sha256:", strlen("sha256:")) != 0)
		return error_set(err, ERROR_ENGINE, "the engine gives the agent's image no immutable id");
	snprintf(run->context.image, sizeof(run->context.image), "%s", id);
	return 0;
}

int run_image_build(struct run *run, struct image *out, struct error **err)
{
	cleanup_fd int agent = -1;
	char path[PATH_MAX];
	int status;

	if (path_agent(path, sizeof(path), err) < 0)
		return -1;
	agent = open(path, O_RDONLY | O_CLOEXEC);
	if (agent < 0)
		return error_errno(err, errno, "the agent's program: run `make`");
	status = image_build(agent, image_architecture(), out, err);
	if (status == 0)
		memcpy(run->image_config, out->id + strlen("sha256:"), sizeof(run->image_config));
	else
		image_free(out);
	return status;
}

int run_image(struct run *run, struct error **err)
{
	struct image image;
	int status = run_image_build(run, &image, err);

	if (status < 0)
		return status;
	status = settle(run, &image, err);
	image_free(&image);
	return status;
}
