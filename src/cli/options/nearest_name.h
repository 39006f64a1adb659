/* SPDX-License-Identifier: MIT */
/*
 * Suggestions for a name that was mistyped: the few that take the fewest changes of single characters. Plain storage of
 * the caller's; one thread at a time.
 */
#ifndef GAIT_CLI_OPTIONS_NEAREST_NAME_H
#define GAIT_CLI_OPTIONS_NEAREST_NAME_H

#include <stddef.h>

#define NEAREST_NAMES_MAX  3
#define NEAREST_NAME_BYTES 128

struct nearest_name {
    char name[NEAREST_NAME_BYTES];
    unsigned distance; /* characters to change, insert or leave out */
};

struct nearest_names {
    char wanted[NEAREST_NAME_BYTES];
    struct nearest_name best[NEAREST_NAMES_MAX]; /* the nearest first */
    size_t count;
};

/* Begins a search for what is nearest to `wanted`. Names of more than NEAREST_NAME_BYTES - 1 characters are cut off. */
void nearest_names_init(struct nearest_names *names, const char *wanted);

/* Takes a candidate in, if it is near enough to be what was meant, and not there yet. */
void nearest_names_offer(struct nearest_names *names, const char *name, size_t length);

/* The same where what was typed may exist elsewhere, and did not do here: it is no suggestion itself. */
void nearest_names_offer_other(struct nearest_names *names, const char *name, size_t length);

/* Writes the names into text: "a, b or c"; an empty text if there are none. */
void nearest_names_join(const struct nearest_names *names, char *text, size_t text_bytes);

#endif
