/* docs/limits.md: the table of limits as Markdown. */
#include "reports/limits.h"

static void put_kind(struct buf *out, enum limit_kind kind)
{
	buf_printf(out, "\n## %s\n\n| id | not shown | why | shown all the same |\n|---|---|---|---|\n",
		   limit_kind_titles[kind]);
	for (const struct limit *limit = limits; limit->id; limit++)
		if (limit->kind == kind)
			buf_printf(out, "| `%s` | %s | %s | %s |\n", limit->id, limit->title, limit->reason,
				   limit->beside ? limit->beside : "");
}

void limits_page(struct buf *out)
{
	buf_printf(
		out,
		"<!-- Made by `make docs` from reports/limits.c: do not edit. -->\n"
		"# Limits\n\n"
		"%zu things that no run of harness shows, each with its reason. A run names this page in one line at "
		"its "
		"end, and its\n"
		"report.html has the same tables. The ids of `untestedChannels`, `assumptions` and `doesNotEstablish` "
		"in "
		"coverage.json\n"
		"([evidence-format.md](evidence-format.md)) are among them. Said plainly: cgroup v2, AppArmor, SELinux "
		"and arm64 were not tested.\n",
		limits_count());
	for (int kind = 0; kind < LIMIT_KINDS; kind++)
		put_kind(out, (enum limit_kind)kind);
}
