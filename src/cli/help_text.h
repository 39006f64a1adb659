/* SPDX-License-Identifier: MIT */
/*
 * The help of a command, line by line: what is an option, what explains it, what is an example. `gait help` shows it as it
 * is; manual pages and completion are made from it, so that there is one list of options. Stateless: pointers are into the
 * text that is read.
 *
 * Of the text: a line that begins with spaces and a dash is of an option, "  -o, --output DIR   what it does"; two spaces
 * end what is typed. Lines that begin further to the right go on with what it does. Behind "Examples:" are examples.
 */
#ifndef GAIT_CLI_HELP_TEXT_H
#define GAIT_CLI_HELP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum help_line_kind {
    HELP_BLANK,
    HELP_PROSE,    /* part of a paragraph */
    HELP_OPTION,   /* the first line of an option */
    HELP_MORE,     /* more of what the option above it does */
    HELP_VERBATIM, /* a table, or the like: stays as it is */
    HELP_EXAMPLES, /* the line "Examples:" */
    HELP_EXAMPLE,  /* one of those below it */
};

struct help_line {
    enum help_line_kind kind;
    const char *text; /* without the spaces before it */
    size_t length;
    size_t indent;     /* how many those were */
    size_t term_bytes; /* of HELP_OPTION: so much of the text is what is typed; the rest says what it does */
};

struct help_text {
    const char *at;
    size_t option_indent; /* of the option that was read last; 0: none goes on */
    bool in_examples;
};

/* Begins at the first line. */
void help_text_begin(struct help_text *help, const char *details);

/* False: there are no more lines. */
bool help_text_next(struct help_text *help, struct help_line *line_out);

/* The next name of an option in a line of kind HELP_OPTION, with its dashes: "-o", then "--output". *at begins with 0, and
 * is behind the name then. False: there are no more. */
bool help_option_next(const struct help_line *line, size_t *at, const char **name_out, size_t *name_bytes_out);

#endif
