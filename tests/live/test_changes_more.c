/*
 * Mutations that change something more than they name. Each is linked in the place of the product's own, under its id,
 * with its rules and fields as declared: runner, arm and judge are the product's.
 */
#include <stdio.h>
#include <string.h>

#include "mutations/mutation.h"
#include "tests/live/own_run.h"

#define TEXT_BYTES 1024

/* A protection, the probe that it opens a way for, and what becomes of it. */
struct row {
	const char *removes, *probe, *observer;
	int exit_code;
	enum verdict mutation;
	enum because because;
	enum verdict cell;
	enum because cell_because;
};

enum { NO_MORE, OPTION_MORE, CEILING_MORE, RULE_MORE, ROWS };
static const struct row rows[ROWS];

static void write_texts(const struct row *row, char baseline[TEXT_BYTES], char mutant[TEXT_BYTES])
{
	snprintf(
		baseline, TEXT_BYTES,
		"{ \"title\": \"one closed way\", \"probes\": [\"%s\", \"permitted\"], \"expect\": ["
		"{ \"subject\": \"%s\", \"observer\": \"%s\", \"op\": \"eq\", \"value\": 0, \"class\": \"protected\" },"
		"{ \"subject\": \"permitted\", \"observer\": \"decisions\", \"op\": \"eq\", \"value\": 1,"
		" \"class\": \"control\" }] }",
		row->probe, row->probe, row->observer);
	snprintf(mutant, TEXT_BYTES,
		 "{ \"title\": \"the same way, open\", \"control\": \"baseline\", \"removes\": [\"%s\"],"
		 "\"probes\": [\"%s\", \"permitted\"], \"expect\": ["
		 "{ \"subject\": \"%s\", \"observer\": \"%s\", \"op\": \"eq\", \"value\": 1, \"class\": \"protected\","
		 " \"flips\": true },"
		 "{ \"subject\": \"permitted\", \"observer\": \"decisions\", \"op\": \"eq\", \"value\": 1,"
		 " \"class\": \"control\" }] }",
		 row->removes, row->probe, row->probe, row->observer);
}

static void run_row(const struct row *row)
{
	char baseline[TEXT_BYTES], mutant[TEXT_BYTES], id[ID_MAX];
	struct own_run *own;

	write_texts(row, baseline, mutant);
	snprintf(id, sizeof(id), "mutation/%s", row->removes);
	own = own_run_open(baseline, id, mutant, NULL);
	own_run_check(own, row->exit_code, row->mutation, row->because, row->cell, row->cell_because);
	if (own && own->verdicts)
		CU_ASSERT_EQUAL(own->verdicts->mutations[0].installed, row->because == BECAUSE_MET);
	own_run_close(own);
}

/* Else the others would show nothing. */
static void test_no_more(void)
{
	run_row(&rows[NO_MORE]);
}

static void test_an_option_more(void)
{
	run_row(&rows[OPTION_MORE]);
}

static void test_a_ceiling_more(void)
{
	run_row(&rows[CEILING_MORE]);
}

static void test_a_rule_more(void)
{
	run_row(&rows[RULE_MORE]);
}

static CU_TestInfo tests[] = {
	{ "nothing more", test_no_more },
	{ "an option of the session more", test_an_option_more },
	{ "a ceiling of the gateway more", test_a_ceiling_more },
	{ "a rule of admission more", test_a_rule_more },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "changes more", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

/* ---- the planted ones: fields and rules are those of mutations/ ---- */

static void network_and_acknowledge(struct session_options *options)
{
	options->profile.network_mode = "host";
	options->acknowledge = false;
}

static void sink_and_beacon(struct session_options *options)
{
	for (size_t i = 0; i < options->ceilings_count; i++)
		if (strcmp(options->ceilings[i].tool, "permitted.tool") != 0)
			snprintf(options->ceilings[i].max, sizeof(options->ceilings[i].max), "%s",
				 strcmp(options->ceilings[i].tool, "public.tool") == 0 ? "confidential"
										       : "trade_secret");
}

static void log_and_pids(struct session_options *options)
{
	options->profile.log_driver = "json-file";
	options->profile.pids *= 2;
}

static const char *const network_rules[] = { "network-mode", "networks", "ns-net", "interfaces", NULL };
static const char *const network_fields[] = { "inspect.HostConfig.NetworkMode", "inspect.NetworkSettings.Networks",
					      "kernel.ns.net", "kernel.interfaces", NULL };
static const char *const no_rules[] = { NULL };
static const char *const sink_fields[] = { "gateway.ceiling.public.tool", NULL };
static const char *const log_rules[] = { "log-driver", NULL };
static const char *const log_fields[] = { "inspect.HostConfig.LogConfig.*", NULL };

const struct mutation mutation_network = {
	.id = "network",
	.title = "the network, and what the bridge checks",
	.apply = network_and_acknowledge,
	.must_fail = network_rules,
	.may_differ = network_fields,
};
const struct mutation mutation_sink_ceiling = {
	.id = "sink-ceiling",
	.title = "the sink's ceiling, and another's",
	.apply = sink_and_beacon,
	.must_fail = no_rules,
	.may_differ = sink_fields,
};
const struct mutation mutation_log_driver = {
	.id = "log-driver",
	.title = "the log driver, and the number of processes",
	.apply = log_and_pids,
	.must_fail = log_rules,
	.may_differ = log_fields,
};

static const struct row rows[ROWS] = {
	/* The product's own mutation. */
	[NO_MORE] = { .removes = "network-bridge",
		      .probe = "tcp4-nic",
		      .observer = "tcp4-nic",
		      .exit_code = EXIT_PASS,
		      .mutation = VERDICT_PASS,
		      .because = BECAUSE_MET,
		      .cell = VERDICT_PASS,
		      .cell_because = BECAUSE_MET },
	/* No rule of admission looks at these two; the effective configuration says them. */
	[OPTION_MORE] = { .removes = "network",
			  .probe = "tcp4",
			  .observer = "tcp4",
			  .exit_code = EXIT_NOT_ESTABLISHED,
			  .mutation = VERDICT_NOT_ESTABLISHED,
			  .because = BECAUSE_DIFFERENCE,
			  .cell = VERDICT_NOT_ESTABLISHED,
			  .cell_because = BECAUSE_UNEARNED },
	[CEILING_MORE] = { .removes = "sink-ceiling",
			   .probe = "denied",
			   .observer = "deliveries",
			   .exit_code = EXIT_NOT_ESTABLISHED,
			   .mutation = VERDICT_NOT_ESTABLISHED,
			   .because = BECAUSE_DIFFERENCE,
			   .cell = VERDICT_NOT_ESTABLISHED,
			   .cell_because = BECAUSE_UNEARNED },
	/* Refused on a rule that the mutation does not name: no plaintext enters, and nothing is earned. */
	[RULE_MORE] = { .removes = "log-driver",
			.probe = "stderr",
			.observer = "logs-api",
			.exit_code = EXIT_NOT_ESTABLISHED,
			.mutation = VERDICT_NOT_ESTABLISHED,
			.because = BECAUSE_ADMISSION,
			.cell = VERDICT_NOT_ESTABLISHED,
			.cell_because = BECAUSE_UNEARNED },
};

int main(int argc, char **argv)
{
	return own_run_main("test_changes_more", suites, argc, argv);
}
