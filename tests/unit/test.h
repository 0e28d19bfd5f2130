/*
 * What each unit test binary shares: CUnit in Basic mode, tables last in the file, and a closing line of counts. A
 * suite that fails to initialise, or a binary that runs nothing, is red.
 */
#ifndef HARNESS_TESTS_UNIT_TEST_H
#define HARNESS_TESTS_UNIT_TEST_H

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"

/* Passes when *err is NULL, else prints its text; frees it either way. */
static inline int test_no_error(struct error **err)
{
	int ok = *err == NULL;

	if (!ok)
		fprintf(stderr, "unexpected error: %s\n", error_text(*err));
	error_free(*err);
	*err = NULL;
	return ok;
}

/* Passes when *err holds `code` and its text holds `part`; frees it. */
static inline int test_error(struct error **err, enum error_code code, const char *part)
{
	int ok = *err && error_code(*err) == code && strstr(error_text(*err), part);

	if (!ok)
		fprintf(stderr, "expected error %d with '%s', got: %s\n", (int)code, part,
			*err ? error_text(*err) : "none");
	error_free(*err);
	*err = NULL;
	return ok;
}

/* Runs suites (a table ended by CU_SUITE_INFO_NULL), prints "name: N passed, N failed, N skipped". */
static inline int test_main(const char *name, CU_SuiteInfo *suites)
{
	unsigned run, failed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS) {
		fprintf(stderr, "%s: CUnit: %s\n", name, CU_get_error_msg());
		return 1;
	}
	CU_basic_set_mode(CU_BRM_NORMAL);
	CU_basic_run_tests();
	run = CU_get_number_of_tests_run();
	failed = CU_get_number_of_tests_failed() + CU_get_number_of_suites_failed();
	CU_cleanup_registry();
	printf("%s: %u passed, %u failed, 0 skipped\n", name, run - (failed > run ? run : failed), failed);
	return run == 0 || failed != 0;
}

#endif
