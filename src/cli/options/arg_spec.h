/* SPDX-License-Identifier: MIT */
/*
 * What --arg says of a function: "FUNCTION:TYPE,TYPE...->TYPE". FUNCTION is a pattern as of --detail; the last colon
 * ends it, since names of C++ have some. Spaces between the parts do not matter. Types:
 *
 *     i8 i16 i32 i64 u8 u16 u32 u64, and int uint long ulong size ssize
 *     hex ptr char bool float double fd
 *     str, str[N]: at most N bytes of a string
 *     buf[N], buf[argK]: so many bytes, or as many as argument K says, the first one being arg1
 *     _ is passed over; behind -> a type may end in !errno
 *
 * Stateless; callable from anywhere.
 */
#ifndef GAIT_CLI_OPTIONS_ARG_SPEC_H
#define GAIT_CLI_OPTIONS_ARG_SPEC_H

#include "protocol/agent_call.h"
#include "ring/detail_declaration.h"

#include <stdbool.h>
#include <stddef.h>

struct arg_spec {
    char pattern[AGENT_PATTERN_BYTES];
    struct detail_declaration declaration;
};

/* What is wrong, for people, and where in the text. */
struct arg_spec_error {
    size_t at;
    char what[120];
};

/* False: it is none, and *error_out says why. */
bool arg_spec_parse(const char *text, struct arg_spec *spec_out, struct arg_spec_error *error_out);

/* The text and what is wrong with it, with a caret below the place. Control characters in it are replaced. */
void arg_spec_explain(const char *text, const struct arg_spec_error *error, char *buffer, size_t buffer_bytes);

#endif
