/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "hosted/json_writer.h"

#include <inttypes.h>
#include <math.h>

/* Between this member and what is before it. */
static void separate(struct json_writer *json)
{
    if (json->has_members)
        putc_unlocked(',', json->stream);
    if (json->break_for != 0)
        fprintf(json->stream, "\n%*s", (int)json->break_for - 1, "");
    else if (json->layout == JSON_LINES)
        fprintf(json->stream, "\n%*s", (int)json->depth, "");
    else if (json->layout == JSON_SPACED && json->has_members)
        putc_unlocked(' ', json->stream);
    json->break_for = 0;
}

static void begin_member(struct json_writer *json, const char *name)
{
    if (json->depth != 0)
        separate(json);
    json->has_members = true;
    if (name == NULL)
        return;
    json_put_text(json->stream, json->escape, name);
    fputs_unlocked(json->layout == JSON_DENSE ? ":" : ": ", json->stream);
}

void json_writer_open(struct json_writer *json, const char *name, char bracket)
{
    begin_member(json, name);
    putc_unlocked(bracket, json->stream);
    json->depth++;
    json->has_members = false;
}

void json_writer_close(struct json_writer *json, char bracket)
{
    json->depth--;
    if (json->break_for != 0)
        fprintf(json->stream, "\n%*s", (int)json->break_for - 1, "");
    else if (json->layout == JSON_LINES && json->has_members)
        fprintf(json->stream, "\n%*s", (int)json->depth, "");
    json->break_for = 0;
    putc_unlocked(bracket, json->stream);
    json->has_members = json->depth != 0;
    if (json->depth == 0 && json->layout == JSON_LINES)
        putc_unlocked('\n', json->stream);
}

void json_writer_break(struct json_writer *json, unsigned spaces)
{
    json->break_for = spaces + 1;
}

void json_writer_open_line(struct json_writer *json, unsigned spaces, const char *name, char bracket)
{
    json_writer_break(json, spaces);
    json_writer_open(json, name, bracket);
}

void json_writer_text(struct json_writer *json, const char *name, const char *text)
{
    begin_member(json, name);
    if (text == NULL)
        fputs_unlocked("null", json->stream);
    else
        json_put_text(json->stream, json->escape, text);
}

void json_writer_count(struct json_writer *json, const char *name, uint64_t count)
{
    begin_member(json, name);
    fprintf(json->stream, "%" PRIu64, count);
}

void json_writer_signed(struct json_writer *json, const char *name, int64_t number)
{
    begin_member(json, name);
    fprintf(json->stream, "%" PRId64, number);
}

static void put_real(struct json_writer *json, const char *name, const char *format, double number)
{
    begin_member(json, name);
    if (isfinite(number))
        fprintf(json->stream, format, number);
    else
        fputs_unlocked("null", json->stream);
}

void json_writer_number(struct json_writer *json, const char *name, double number)
{
    put_real(json, name, "%.1f", number);
}

void json_writer_real(struct json_writer *json, const char *name, double number)
{
    put_real(json, name, "%.17g", number);
}

void json_writer_bool(struct json_writer *json, const char *name, bool value)
{
    begin_member(json, name);
    fputs_unlocked(value ? "true" : "false", json->stream);
}

void json_writer_null(struct json_writer *json, const char *name)
{
    json_writer_text(json, name, NULL);
}

void json_writer_address(struct json_writer *json, const char *name, uint64_t address)
{
    begin_member(json, name);
    fprintf(json->stream, "\"0x%" PRIx64 "\"", address);
}

void json_writer_bytes(struct json_writer *json, const char *name, const void *bytes, size_t size_bytes)
{
    begin_member(json, name);
    putc_unlocked('"', json->stream);
    for (size_t i = 0; i < size_bytes; i++)
        fprintf(json->stream, "%02x", ((const unsigned char *)bytes)[i]);
    putc_unlocked('"', json->stream);
}
