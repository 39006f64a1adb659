/* SPDX-License-Identifier: MIT */
/*
 * A JSON document (RFC 8259) on a stream: commas, quotes, escapes and indents are done here. Names of members are given
 * in objects, and NULL in lists. One thread at a time.
 */
#ifndef GAIT_HOSTED_JSON_WRITER_H
#define GAIT_HOSTED_JSON_WRITER_H

#include "hosted/json_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum json_layout {
    JSON_LINES,  /* a member a line, indented as deep as it is; ends with a line feed */
    JSON_SPACED, /* {"a": 1, "b": 2}, but for breaks that are asked for */
    JSON_DENSE,  /* {"a":1,"b":2}, the same */
};

struct json_writer {
    FILE *stream;
    enum json_layout layout;
    enum json_escape escape;
    unsigned depth;
    bool has_members;   /* what is open has some */
    unsigned break_for; /* 0: none; else what comes next begins a line, with one space less */
};

/* What is open inside of what; the page ends with the last of them. '{' or '[' */
void json_writer_open(struct json_writer *json, const char *name, char bracket);
void json_writer_close(struct json_writer *json, char bracket);

/* The next member, or the bracket that closes, begins a line with so many spaces. */
void json_writer_break(struct json_writer *json, unsigned spaces);

/* A bracket that opens on such a line. */
void json_writer_open_line(struct json_writer *json, unsigned spaces, const char *name, char bracket);

/* NULL: null */
void json_writer_text(struct json_writer *json, const char *name, const char *text);
void json_writer_count(struct json_writer *json, const char *name, uint64_t count);
void json_writer_signed(struct json_writer *json, const char *name, int64_t number);
/* With a digit behind the point; not a number: null. */
void json_writer_number(struct json_writer *json, const char *name, double number);
/* With all that it has. */
void json_writer_real(struct json_writer *json, const char *name, double number);
void json_writer_bool(struct json_writer *json, const char *name, bool value);
void json_writer_null(struct json_writer *json, const char *name);
/* "0x12ab": numbers that lose digits where numbers are doubles. */
void json_writer_address(struct json_writer *json, const char *name, uint64_t address);
/* "48cb": bytes as hexadecimal digits. */
void json_writer_bytes(struct json_writer *json, const char *name, const void *bytes, size_t size_bytes);

#endif
