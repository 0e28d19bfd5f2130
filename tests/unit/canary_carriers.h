/* What carries a canary in each encoding of the table, each made by another program: one row or more for each name. */
#ifndef HARNESS_TESTS_UNIT_CANARY_CARRIERS_H
#define HARNESS_TESTS_UNIT_CANARY_CARRIERS_H

#include <stddef.h>

#define TEXT "canary-abcdefghijklmnopabcdefghijklmnop"
#define UTF16                                                                                                          \
	"c\0a\0n\0a\0r\0y\0-"                                                                                          \
	"\0a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0l\0m\0n\0o\0p\0a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0l\0m\0n\0o\0p\0"

struct carrier {
	const char *name;
	const char *bytes;
	size_t length;
};

static const struct carrier carriers[] = {
#define CARRIER(row, literal)                                                                                          \
	{                                                                                                              \
		.name = (row), .bytes = (literal), .length = sizeof(literal) - 1                                       \
	}
	CARRIER("raw", "<" TEXT ">"),
	CARRIER("hex", "63616e6172792d6162636465666768696a6b6c6d6e6f706162636465666768696a6b6c6d6e6f70"),
	CARRIER("hex-upper", "63616E6172792D6162636465666768696A6B6C6D6E6F706162636465666768696A6B6C6D6E6F70"),
	CARRIER("percent", "%63%61%6e%61%72%79%2d%61%62%63%64%65%66%67%68%69%6a%6b%6c%6d%6e%6f%70%61%62%63%64%65%66%67%"
			   "68%69%6a%6b%6c%6d%6e%6f%70"),
	CARRIER("percent-upper", "%63%61%6E%61%72%79%2D%61%62%63%64%65%66%67%68%69%6A%6B%6C%6D%6E%6F%70%61%62%63%64%65%"
				 "66%67%68%69%6A%6B%6C%6D%6E%6F%70"),
	/* of TEXT; "x" TEXT "y"; "xy" TEXT "yz"; "xyz" TEXT "yzx" */
	CARRIER("base64-0", "Y2FuYXJ5LWFiY2RlZmdoaWprbG1ub3BhYmNkZWZnaGlqa2xtbm9w"),
	CARRIER("base64-1", "eGNhbmFyeS1hYmNkZWZnaGlqa2xtbm9wYWJjZGVmZ2hpamtsbW5vcHk="),
	CARRIER("base64-2", "eHljYW5hcnktYWJjZGVmZ2hpamtsbW5vcGFiY2RlZmdoaWprbG1ub3B5eg=="),
	CARRIER("base64-0", "eHl6Y2FuYXJ5LWFiY2RlZmdoaWprbG1ub3BhYmNkZWZnaGlqa2xtbm9weXp4"),
	/* between bytes whose digits are those of this alphabet alone */
	CARRIER("base64url-0", "-__-Y2FuYXJ5LWFiY2RlZmdoaWprbG1ub3BhYmNkZWZnaGlqa2xtbm9w___-"),
	CARRIER("base64url-1", "-__-_2NhbmFyeS1hYmNkZWZnaGlqa2xtbm9wYWJjZGVmZ2hpamtsbW5vcP___g=="),
	CARRIER("base64url-2", "-__--_9jYW5hcnktYWJjZGVmZ2hpamtsbW5vcGFiY2RlZmdoaWprbG1ub3D___4="),
	/* of TEXT "vw" behind "", "v", "vw", "vwx", "vwxy" */
	CARRIER("base32-0", "MNQW4YLSPEWWCYTDMRSWMZ3INFVGW3DNNZXXAYLCMNSGKZTHNBUWU23MNVXG64DWO4======"),
	CARRIER("base32-1", "OZRWC3TBOJ4S2YLCMNSGKZTHNBUWU23MNVXG64DBMJRWIZLGM5UGS2TLNRWW433QOZ3Q===="),
	CARRIER("base32-2", "OZ3WGYLOMFZHSLLBMJRWIZLGM5UGS2TLNRWW433QMFRGGZDFMZTWQ2LKNNWG23TPOB3HO==="),
	CARRIER("base32-3", "OZ3XQY3BNZQXE6JNMFRGGZDFMZTWQ2LKNNWG23TPOBQWEY3EMVTGO2DJNJVWY3LON5YHM5Y="),
	CARRIER("base32-4", "OZ3XQ6LDMFXGC4TZFVQWEY3EMVTGO2DJNJVWY3LON5YGCYTDMRSWMZ3INFVGW3DNNZXXA5TX"),
	/* of TEXT alone, as its last digits are filled */
	CARRIER("base32-0", "MNQW4YLSPEWWCYTDMRSWMZ3INFVGW3DNNZXXAYLCMNSGKZTHNBUWU23MNVXG64A="),
	CARRIER("utf16le", UTF16),
	CARRIER("utf16be", "\0" UTF16),
	CARRIER("reversed", "ponmlkjihgfedcbaponmlkjihgfedcba-yranac"),
};

#endif
