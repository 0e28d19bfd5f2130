/*
 * Completion for shells, made from the tables of verbs and flags. What an argument is, is known by the name that the
 * tables give it: FOLDER, FILE, BUNDLE, SCENARIO.
 */
#ifndef HARNESS_RUNNER_COMPLETION_H
#define HARNESS_RUNNER_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>

/* What can stand where a word is missing. */
enum completion_kind {
	COMPLETION_NONE, /* a word that nobody can guess */
	COMPLETION_FILE,
	COMPLETION_FOLDER,
	COMPLETION_BUNDLE, /* a file *.tar.gz */
	COMPLETION_SCENARIO, /* ids, groups, all: as the program lists them when they are asked for */
	COMPLETION_VERB,
	COMPLETION_EFFECT, /* ids of declarations, likewise */
	COMPLETION_WORDS, /* one of the words that are given beside it */
};

#define COMPLETION_WORDS_MAX 80

/* Of a flag's argument, or of the words that a verb takes. `words` is filled for COMPLETION_WORDS: blanks between them.
 */
enum completion_kind completion_of_argument(const char *argument, char words[COMPLETION_WORDS_MAX]);
enum completion_kind completion_of_words(const char *verb_words, char words[COMPLETION_WORDS_MAX]);

/* Of a verb that takes a word and what goes behind it, as in "[list|show ID]": the alternative `at`, and the kind of
 * what goes behind. False: there are no more, or none at all. */
bool completion_behind(const char *verb_words, size_t at, char word[COMPLETION_WORDS_MAX], enum completion_kind *kind);

/* Each prints the script of one shell. */
void completion_bash(void);
void completion_zsh(void);
void completion_fish(void);

#endif
