/*
 * Completion for shells, made from the tables of verbs and flags. What an argument is, is known by the name that the
 * tables give it: FOLDER, FILE, BUNDLE, SCENARIO.
 */
#ifndef HARNESS_RUNNER_COMPLETION_H
#define HARNESS_RUNNER_COMPLETION_H

#include <stddef.h>

/* What can stand where a word is missing. */
enum completion_kind {
	COMPLETION_NONE, /* a word that nobody can guess */
	COMPLETION_FILE,
	COMPLETION_FOLDER,
	COMPLETION_BUNDLE, /* a file *.tar.gz */
	COMPLETION_SCENARIO, /* ids, groups, all: as the program lists them when they are asked for */
	COMPLETION_VERB,
	COMPLETION_WORDS, /* one of the words that are given beside it */
};

#define COMPLETION_WORDS_MAX 80

/* Of a flag's argument, or of the words that a verb takes. `words` is filled for COMPLETION_WORDS: blanks between them.
 */
enum completion_kind completion_of_argument(const char *argument, char words[COMPLETION_WORDS_MAX]);
enum completion_kind completion_of_words(const char *verb_words, char words[COMPLETION_WORDS_MAX]);

/* Each prints the script of one shell. */
void completion_bash(void);
void completion_zsh(void);
void completion_fish(void);

#endif
