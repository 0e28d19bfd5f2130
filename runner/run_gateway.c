/* Which gateway the run is about: from the flags, once for all arms; and what the bundle says of it. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fd.h"
#include "core/hash.h"
#include "core/http.h"
#include "core/schema.h"
#include "runner/paths.h"
#include "runner/run.h"

#define CMCP_PACKAGE "cmcp_runtime-"
#define CMCP_INFO ".dist-info/RECORD"

static int copy(const char *text, char *out, size_t size, const char *what, struct error **err)
{
	if (strlen(text) >= size || !schema_matches(PATTERN_ASCII, text, strlen(text)))
		return error_set(err, ERROR_USAGE, "%s: 1 to %zu bytes of printable ASCII", what, size - 1);
	snprintf(out, size, "%s", text);
	return 0;
}

static int take_url(const char *url, char *out, const char *flag, struct error **err)
{
	cleanup_http_client struct http_client *client = NULL;
	cleanup_free char *base = NULL;

	if (copy(url, out, GATEWAY_URL_BYTES, flag, err) < 0)
		return -1;
	base = strndup(url, strlen("http://") + strcspn(url + strlen("http://"), "/?#"));
	if (!base)
		return error_set(err, ERROR_MEMORY, "no memory for an address");
	return http_client_new(NULL, base, &client, err) < 0 ? error_wrap(err, "%s", flag) : 0;
}

/* Absolute, since arms may stand elsewhere. */
static int take_file(const char *path, char *out, const char *flag, struct error **err)
{
	char whole[PATH_MAX];
	struct stat found;

	if (!realpath(path, whole) || stat(whole, &found) < 0)
		return error_errno(err, errno, "%s", flag);
	if (!S_ISREG(found.st_mode))
		return error_set(err, ERROR_USAGE, "%s: that is no regular file", flag);
	return copy(whole, out, GATEWAY_FILE_BYTES, flag, err);
}

static int take_endpoint(const struct options *options, struct arm_gateway_choice *out, struct error **err)
{
	out->kind = GATEWAY_URL;
	if (!options->gateway_sink)
		return error_set(
			err, ERROR_USAGE,
			"a gateway by URL has build/libexec/recorder FILE as its upstream: name that file with "
			"--gateway-sink");
	if (take_url(options->gateway, out->url, "--gateway", err) < 0 ||
	    take_file(options->gateway_sink, out->sink, "--gateway-sink", err) < 0)
		return -1;
	if (options->gateway_raised && strncmp(options->gateway_raised, "http://", strlen("http://")) != 0)
		return error_set(err, ERROR_USAGE, "--gateway-raised takes a URL, as in http://127.0.0.1:8080/mcp");
	if (options->gateway_raised && take_url(options->gateway_raised, out->raised, "--gateway-raised", err) < 0)
		return -1;
	return options->gateway_token ? take_file(options->gateway_token, out->token, "--gateway-token-file", err) : 0;
}

static int take_cmcp(const struct options *options, struct arm_gateway_choice *out, struct error **err)
{
	cleanup_error struct error *missing = NULL;

	out->kind = GATEWAY_CMCP;
	if (path_cmcp("python", out->python, sizeof(out->python), &missing) == 0 &&
	    path_cmcp("cmcp", out->program, sizeof(out->program), &missing) == 0)
		return 0;
	/* A plan can be printed without it. */
	return options->dry_run ? 0 : error_set(err, ERROR_REFUSED, "cMCP is not installed here: run ci/cmcp");
}

int run_gateway(const struct options *options, struct arm_gateway_choice *out, struct error **err)
{
	const char *kind = options->gateway ? options->gateway : "embedded";
	bool endpoint = strncmp(kind, "http://", strlen("http://")) == 0;

	*out = (struct arm_gateway_choice){ .kind = GATEWAY_EMBEDDED };
	if (!endpoint && (options->gateway_raised || options->gateway_token || options->gateway_sink))
		return error_set(err, ERROR_USAGE,
				 "--gateway-raised, --gateway-token-file and --gateway-sink are for a gateway by URL");
	if (endpoint)
		return take_endpoint(options, out, err);
	if (strcmp(kind, "cmcp") == 0)
		return take_cmcp(options, out, err);
	if (strcmp(kind, "embedded") == 0)
		return 0;
	return error_set(err, ERROR_USAGE, "--gateway is embedded, cmcp, or a URL as in http://127.0.0.1:8080/mcp");
}

/* ---- what the bundle says ---- */

/* RECORD lists each file of the package as it was installed, with its digest; its folder's name ends in the version. */
static int measure_cmcp(const struct arm_gateway_choice *choice, struct manifest_gateway *out, struct error **err)
{
	char pattern[GATEWAY_FILE_BYTES + 80], *end;
	const char *version;
	cleanup_fd int record = -1;
	glob_t found = { .gl_pathc = 0 };
	int status = 0;

	snprintf(pattern, sizeof(pattern), "%.*s/../lib/python3*/site-packages/" CMCP_PACKAGE "*" CMCP_INFO,
		 (int)(strrchr(choice->program, '/') - choice->program), choice->program);
	if (glob(pattern, 0, NULL, &found) != 0 || found.gl_pathc != 1)
		status = error_set(err, ERROR_REFUSED, "cMCP is not installed as ci/cmcp does it");
	if (status == 0) {
		record = open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC);
		if (record < 0)
			status = error_errno(err, errno, "cMCP's RECORD");
	}
	if (status == 0) {
		version = strstr(found.gl_pathv[0], CMCP_PACKAGE) + strlen(CMCP_PACKAGE);
		end = strstr(version, CMCP_INFO);
		snprintf(out->version, sizeof(out->version), "%.*s", (int)(end - version), version);
		status = hash_fd(record, out->sha256, err);
	}
	globfree(&found);
	return status;
}

static int measure_own(struct manifest_gateway *out, struct error **err)
{
	cleanup_fd int program = -1;
	char path[PATH_MAX];

	snprintf(out->version, sizeof(out->version), "%s", HARNESS_VERSION);
	if (spawn_helper_path("harness-gateway", path, sizeof(path), err) < 0)
		return -1;
	program = open(path, O_RDONLY | O_CLOEXEC);
	return program < 0 ? error_errno(err, errno, "the gateway") : hash_fd(program, out->sha256, err);
}

int run_gateway_facts(const struct arm_gateway_choice *choice, struct manifest_gateway *out, struct error **err)
{
	*out = (struct manifest_gateway){ .kind = choice->kind, .composed = choice->kind != GATEWAY_URL };
	if (choice->kind == GATEWAY_CMCP)
		return measure_cmcp(choice, out, err);
	if (choice->kind == GATEWAY_EMBEDDED)
		return measure_own(out, err);
	out->raised = choice->raised[0] != '\0';
	snprintf(out->version, sizeof(out->version), "unknown");
	return 0;
}
