/* The scripts: what stands in every one as it is, and between that the rows of the tables. */
#include "runner/completion.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "runner/verb.h"

/* `text` between single quotes of a shell, with a backslash before each character of `also`. */
static void put_quoted(const char *text, const char *quote, const char *also)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs(quote, stdout);
		else if (*text != '\n' && strchr(also, *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

/* The next flag that `verb` takes, from *index on. */
static bool next_flag(const char *verb, size_t *index, struct flag_row *row)
{
	bool takes = false;

	while (options_row((*index)++, verb, row, &takes))
		if (takes)
			return true;
	return false;
}

static void put_verbs(const char *between)
{
	for (size_t i = 0; verbs[i]; i++)
		if (!verbs[i]->hidden)
			printf("%s%s", i ? between : "", verbs[i]->name);
}

/* ---- bash ---- */

static const char *const bash_kinds[] = {
	[COMPLETION_NONE] = "none",     [COMPLETION_FILE] = "file",         [COMPLETION_FOLDER] = "folder",
	[COMPLETION_BUNDLE] = "bundle", [COMPLETION_SCENARIO] = "scenario", [COMPLETION_VERB] = "verb",
	[COMPLETION_WORDS] = "words",   [COMPLETION_EFFECT] = "effect",
};
static const char bash_begin[], bash_end[];

static void put_bash_kind(enum completion_kind kind, const char *words)
{
	printf("%s", bash_kinds[kind]);
	if (kind == COMPLETION_WORDS)
		printf(" words='%s'", words);
}

/* What goes behind the first word, of a verb of which that is told by it. */
static void put_bash_behind(const struct verb *verb)
{
	char word[COMPLETION_WORDS_MAX];
	enum completion_kind kind;

	if (!completion_behind(verb->words, 0, word, &kind))
		return;
	printf("\n\t\tif [ \"$COMP_CWORD\" -gt 2 ]; then\n\t\t\tkind=none\n\t\t\tcase ${COMP_WORDS[2]} in\n");
	for (size_t i = 0; completion_behind(verb->words, i, word, &kind); i++)
		if (kind != COMPLETION_NONE)
			printf("\t\t\t%s) kind=%s ;;\n", word, bash_kinds[kind]);
	printf("\t\t\tesac\n\t\tfi");
}

static void put_bash_verb(const struct verb *verb)
{
	char words[COMPLETION_WORDS_MAX];
	enum completion_kind kind = completion_of_words(verb->words, words);
	struct flag_row row;
	const char *between = "";

	printf("\t%s)\n\t\tflags='", verb->name);
	for (size_t i = 0; next_flag(verb->name, &i, &row); between = " ")
		printf("%s%s%s%s", between, row.letter ? row.letter : "", row.letter ? " " : "", row.name);
	printf("%s--help' kind=", between);
	put_bash_kind(kind, words);
	put_bash_behind(verb);
	printf("\n\t\tcase $prev in\n");
	for (size_t i = 0; next_flag(verb->name, &i, &row);) {
		if (!row.argument)
			continue;
		printf("\t\t%s%s%s) cur_is=argument kind=", row.letter ? row.letter : "", row.letter ? " | " : "",
		       row.name);
		put_bash_kind(completion_of_argument(row.argument, words), words);
		printf(" ;;\n");
	}
	printf("\t\tesac\n\t\t;;\n");
}

void completion_bash(void)
{
	fputs(bash_begin, stdout);
	printf("\tlocal verbs='");
	put_verbs(" ");
	printf("'\n\n\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; verbs[i]; i++)
		if (!verbs[i]->hidden)
			put_bash_verb(verbs[i]);
	printf("\tesac\n");
	fputs(bash_end, stdout);
}

/* ---- zsh ---- */

static const char *const zsh_actions[] = {
	[COMPLETION_NONE] = " ",
	[COMPLETION_FILE] = "_files",
	[COMPLETION_FOLDER] = "_files -/",
	[COMPLETION_BUNDLE] = "_files -g \"*.tar.gz\"",
	[COMPLETION_SCENARIO] = "_harness_scenarios",
	[COMPLETION_VERB] = "_harness_verbs",
	[COMPLETION_EFFECT] = "_harness_effects",
};
static const char zsh_begin[], zsh_end[];

static void put_zsh_action(enum completion_kind kind, const char *words)
{
	if (kind == COMPLETION_WORDS)
		printf("(%s)'", words);
	else
		printf("%s'", zsh_actions[kind]);
}

static void put_zsh_flag(const struct flag_row *row)
{
	char words[COMPLETION_WORDS_MAX];
	enum completion_kind kind = completion_of_argument(row->argument, words);
	const char *equals = row->argument ? "=" : "";

	printf(" \\\n\t\t\t");
	if (row->letter)
		printf("'(%s %s)'{%s%s,%s%s}", row->letter, row->name, row->letter, row->argument ? "+" : "", row->name,
		       equals);
	else
		printf("%s%s", row->name, equals);
	printf("'[");
	put_quoted(row->title, "'\\''", "\\[]:");
	printf("]");
	if (!row->argument) {
		printf("'");
		return;
	}
	printf(":%s:", row->argument);
	put_zsh_action(kind, words);
}

static void put_zsh_behind(const struct verb *verb)
{
	char word[COMPLETION_WORDS_MAX];
	enum completion_kind kind;

	if (!completion_behind(verb->words, 0, word, &kind))
		return;
	printf(" \\\n\t\t\t'*:word:{case $words[2] in");
	for (size_t i = 0; completion_behind(verb->words, i, word, &kind); i++)
		if (kind != COMPLETION_NONE)
			printf(" %s) %s;;", word, zsh_actions[kind]);
	printf(" esac}'");
}

static void put_zsh_verb(const struct verb *verb)
{
	char words[COMPLETION_WORDS_MAX];
	enum completion_kind kind = completion_of_words(verb->words, words);
	struct flag_row row;

	printf("\t%s)\n\t\t_arguments -S", verb->name);
	for (size_t i = 0; next_flag(verb->name, &i, &row);)
		put_zsh_flag(&row);
	printf(" \\\n\t\t\t'--help[say what it does]'");
	if (*verb->words) {
		printf(" \\\n\t\t\t'%s:word:", kind == COMPLETION_WORDS || kind == COMPLETION_VERB ? "1" : "*");
		put_zsh_action(kind, words);
		put_zsh_behind(verb);
	}
	printf("\n\t\t;;\n");
}

void completion_zsh(void)
{
	fputs(zsh_begin, stdout);
	for (size_t i = 0; verbs[i]; i++) {
		if (verbs[i]->hidden)
			continue;
		printf("\t\t'%s:", verbs[i]->name);
		put_quoted(verbs[i]->title, "'\\''", "\\:");
		printf("'\n");
	}
	fputs(zsh_end, stdout);
	for (size_t i = 0; verbs[i]; i++)
		if (!verbs[i]->hidden)
			put_zsh_verb(verbs[i]);
	printf("\tesac\n}\n\nif [ \"$funcstack[1]\" = _harness ]; then\n\t_harness \"$@\"\nelse\n\tcompdef _harness "
	       "harness\nfi\n");
}

/* ---- fish ---- */

static const char *const fish_arguments[] = {
	[COMPLETION_NONE] = " -x",
	[COMPLETION_FILE] = " -r -F",
	[COMPLETION_FOLDER] = " -x -a '(__fish_complete_directories)'",
	[COMPLETION_BUNDLE] = " -x -a '(__fish_complete_suffix .tar.gz)'",
	[COMPLETION_SCENARIO] = " -x -a '(__harness_scenarios)'",
	[COMPLETION_VERB] = " -x -a '(__harness_verbs)'",
	[COMPLETION_EFFECT] = " -x -a '(__harness_effects)'",
};
static const char fish_begin[];

static void put_fish_kind(enum completion_kind kind, const char *words)
{
	if (kind == COMPLETION_WORDS)
		printf(" -x -a '%s'", words);
	else
		printf("%s", fish_arguments[kind]);
}

static void put_fish_title(const char *title)
{
	printf(" -d '");
	put_quoted(title, "\\'", "\\");
	printf("'\n");
}

static void put_fish_verb(const struct verb *verb)
{
	char words[COMPLETION_WORDS_MAX];
	enum completion_kind kind;
	struct flag_row row;

	printf("\ncomplete -c harness -n __harness_needs_verb -a %s", verb->name);
	put_fish_title(verb->title);
	for (size_t i = 0; next_flag(verb->name, &i, &row);) {
		printf("complete -c harness -n '__harness_verb_is %s'", verb->name);
		if (row.letter)
			printf(" -s %s", row.letter + 1);
		printf(" -l %s", row.name + 2);
		if (row.argument)
			put_fish_kind(completion_of_argument(row.argument, words), words);
		put_fish_title(row.title);
	}
	kind = completion_of_words(verb->words, words);
	if (kind != COMPLETION_NONE) {
		printf("complete -c harness -n '__harness_verb_is %s%s'", verb->name,
		       kind == COMPLETION_WORDS || kind == COMPLETION_VERB ? "; and __harness_first_word" : "");
		put_fish_kind(kind, words);
		printf("\n");
	}
	for (size_t i = 0; completion_behind(verb->words, i, words, &kind); i++) {
		if (kind == COMPLETION_NONE)
			continue;
		printf("complete -c harness -n '__harness_verb_is %s; and __harness_behind %s'", verb->name, words);
		put_fish_kind(kind, "");
		printf("\n");
	}
}

void completion_fish(void)
{
	fputs(fish_begin, stdout);
	printf("\nfunction __harness_verbs\n\tprintf '%%s\\n' ");
	put_verbs(" ");
	printf("\nend\n");
	for (size_t i = 0; verbs[i]; i++)
		if (!verbs[i]->hidden)
			put_fish_verb(verbs[i]);
}

/* A scenario's line of `harness list` is two blanks, its id and its title; the list ends at the first empty line. */
#define EFFECT_IDS "effects list 2>/dev/null | sed 's/ .*//'"
#define LIST_IDS "list 2>/dev/null | sed -n '2,/^$/s/^  \\([^ ]*\\) .*/\\1/p'"

static const char bash_begin[] = "# bash completion for harness, made by `harness completion bash`\n"
				 "# shellcheck shell=bash\n"
				 "\n"
				 "# Ids, groups and all of what came with this harness.\n"
				 "_harness_scenarios() { # COMMAND\n"
				 "\tlocal id\n"
				 "\techo all\n"
				 "\t\"$1\" " LIST_IDS " | while read -r id; do\n"
				 "\t\techo \"$id\"\n"
				 "\t\t[ \"${id%/*}\" = \"$id\" ] || echo \"${id%/*}\"\n"
				 "\tdone | sort -u\n"
				 "}\n"
				 "\n"
				 "_harness_effects() { # COMMAND\n"
				 "\t\"$1\" " EFFECT_IDS "\n"
				 "}\n"
				 "\n"
				 "_harness() { # COMMAND\n"
				 "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} cur_is='' "
				 "flags='' kind=none words=''\n"
				 "\tCOMPREPLY=()\n"
				 "\t# To bash, the \"=\" of --flag=value is a word of its own.\n"
				 "\tif [ \"$cur\" = = ]; then\n"
				 "\t\tcur=''\n"
				 "\telif [ \"$prev\" = = ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
				 "\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
				 "\tfi\n";

static const char bash_end[] =
	"\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	"\t\tkind=words words=\"$verbs --help --version\"\n"
	"\telif [ -z \"$cur_is\" ] && [[ $cur == -* ]]; then\n"
	"\t\tkind=words words=$flags\n"
	"\tfi\n"
	"\tcase $kind in\n"
	"\tfile | folder | bundle) compopt -o filenames 2>/dev/null ;;\n"
	"\tscenario) words=$(_harness_scenarios \"$1\") ;;\n"
	"\teffect) words=$(_harness_effects \"$1\") ;;\n"
	"\tverb) words=$verbs ;;\n"
	"\tesac\n"
	"\tcase $kind in\n"
	"\tfile) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
	"\tfolder) mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
	"\tbundle) mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"; compgen -f -X '!*.tar.gz' -- \"$cur\") ;;\n"
	"\tnone) ;;\n"
	"\t*) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\") ;;\n"
	"\tesac\n"
	"}\n"
	"\n"
	"complete -F _harness harness\n";

static const char zsh_begin[] = "#compdef harness\n"
				"# zsh completion for harness, made by `harness completion zsh`\n"
				"\n"
				"# Ids, groups and all of what came with this harness.\n"
				"_harness_scenarios() {\n"
				"\tlocal -a ids\n"
				"\tids=(${(f)\"$(_call_program scenarios ${(q)command_word} " LIST_IDS ")\"})\n"
				"\tids+=(all ${(u)${(M)ids:#*/*}%/*})\n"
				"\tcompadd -a ids\n"
				"}\n"
				"\n"
				"_harness_effects() {\n"
				"\tlocal -a ids\n"
				"\tids=(${(f)\"$(_call_program effects ${(q)command_word} " EFFECT_IDS ")\"})\n"
				"\tcompadd -a ids\n"
				"}\n"
				"\n"
				"_harness_verbs() {\n"
				"\tlocal -a verbs=(\n";

static const char zsh_end[] = "\t)\n"
			      "\t_describe -t verbs verb verbs\n"
			      "}\n"
			      "\n"
			      "_harness() {\n"
			      "\tlocal command_word=$words[1]\n"
			      "\tif (( CURRENT == 2 )); then\n"
			      "\t\tif [[ $words[2] == -* ]]; then\n"
			      "\t\t\tcompadd -- --help --version\n"
			      "\t\telse\n"
			      "\t\t\t_harness_verbs\n"
			      "\t\tfi\n"
			      "\t\treturn\n"
			      "\tfi\n"
			      "\tshift words\n"
			      "\t(( CURRENT-- ))\n"
			      "\tcase $words[1] in\n";

static const char fish_begin[] =
	"# fish completion for harness, made by `harness completion fish`\n"
	"\n"
	"function __harness_needs_verb\n"
	"\ttest (count (commandline -opc)) -eq 1\n"
	"end\n"
	"\n"
	"function __harness_verb_is\n"
	"\tset -l words (commandline -opc)\n"
	"\ttest (count $words) -ge 2; and test $words[2] = $argv[1]\n"
	"end\n"
	"\n"
	"function __harness_first_word\n"
	"\ttest (count (commandline -opc)) -eq 2\n"
	"end\n"
	"\n"
	"function __harness_behind\n"
	"\tset -l words (commandline -opc)\n"
	"\ttest (count $words) -ge 3; and test $words[3] = $argv[1]\n"
	"end\n"
	"\n"
	"function __harness_effects\n"
	"\tset -l words (commandline -opc)\n"
	"\t$words[1] " EFFECT_IDS "\n"
	"end\n"
	"\n"
	"# Ids, groups and all of what came with this harness.\n"
	"function __harness_scenarios\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l ids ($words[1] " LIST_IDS ")\n"
	"\tprintf '%s\\n' all $ids\n"
	"\tprintf '%s\\n' $ids | sed -n 's,/.*,,p' | sort -u\n"
	"end\n"
	"\n"
	"complete -c harness -f\n"
	"complete -c harness -n __harness_needs_verb -l help -d 'say what harness does'\n"
	"complete -c harness -n __harness_needs_verb -l version -d 'say which version this is'\n";
