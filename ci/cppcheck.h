/* Put before every file that cppcheck reads: it does not look for CUnit's headers, and CUnit's assertion is a block. */
/* clang-format off */
#define CU_ASSERT(value) { (void)(value); }
