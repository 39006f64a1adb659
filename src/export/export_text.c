/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export/export_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT       "\xef\xbf\xbd"
#define REPLACEMENT_BYTES 3u
#define DIGITS_MAX        20u

/* How many bytes the character takes that begins here; 0: it is none that may be shown. */
static size_t character_bytes(const unsigned char *text)
{
    static const uint32_t lowest[] = {0, 0x20, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80             ? 1
                    : (text[0] & 0xe0) == 0xc0 ? 2
                    : (text[0] & 0xf0) == 0xe0 ? 3
                    : (text[0] & 0xf8) == 0xf0 ? 4
                                               : 0;
    uint32_t code = length < 2 ? text[0] : text[0] & (0x7fu >> length);

    if (length == 0)
        return 0;
    for (size_t i = 1; i < length; i++) {
        /* The NUL at the end is no part of a character, either. */
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    if (code < lowest[length] || code > 0x10ffff || (code >= 0x7f && code < 0xa0))
        return 0;
    /* Surrogates, and two that XML does not want. */
    return (code >= 0xd800 && code <= 0xdfff) || code == 0xfffe || code == 0xffff ? 0 : length;
}

size_t export_text_clean(char *buffer, size_t buffer_bytes, const char *text)
{
    const unsigned char *place = (const unsigned char *)text;
    size_t used = 0;

    while (*place != '\0') {
        size_t length = character_bytes(place), written = length == 0 ? REPLACEMENT_BYTES : length;

        if (used + written >= buffer_bytes)
            break;
        memcpy(buffer + used, length == 0 ? REPLACEMENT : (const char *)place, written);
        used += written;
        place += length == 0 ? 1 : length;
    }
    buffer[used] = '\0';
    return used;
}

static void append(char *json, size_t *used, const char *text, size_t length)
{
    memcpy(json + *used, text, length);
    *used += length;
}

/* A character becomes six at most. */
char *export_text_json(const char *text)
{
    size_t most = 6 * strlen(text) + 3, used = 0;
    char *json = malloc(most);

    if (json == NULL)
        return NULL;
    append(json, &used, "\"", 1);
    for (const unsigned char *place = (const unsigned char *)text; *place != '\0';) {
        size_t length = character_bytes(place);

        if (length == 0)
            append(json, &used, REPLACEMENT, REPLACEMENT_BYTES);
        else if (*place == '<' || *place == '&')
            append(json, &used, *place == '<' ? "\\u003c" : "\\u0026", 6);
        else if (*place == '"' || *place == '\\')
            append(json, &used, *place == '"' ? "\\\"" : "\\\\", 2);
        else
            append(json, &used, (const char *)place, length);
        place += length == 0 ? 1 : length;
    }
    append(json, &used, "\"", 2);
    return json;
}

void export_put_json(FILE *stream, const char *text)
{
    char *json = export_text_json(text);

    export_put(stream, json == NULL ? "\"?\"" : json);
    free(json);
}

void export_put(FILE *stream, const char *text)
{
    fputs_unlocked(text, stream);
}

/* The digits end where `end` is; returns where they begin. */
static char *write_digits(char *end, uint64_t number, unsigned least_digits)
{
    for (unsigned digits = 0; number != 0 || digits < least_digits; digits++) {
        *--end = (char)('0' + number % 10);
        number /= 10;
    }
    return end;
}

void export_put_number(FILE *stream, uint64_t number)
{
    char text[DIGITS_MAX], *begin = write_digits(text + sizeof(text), number, 1);

    fwrite_unlocked(begin, 1, (size_t)(text + sizeof(text) - begin), stream);
}

void export_put_microseconds(FILE *stream, uint64_t nanoseconds)
{
    char text[DIGITS_MAX + 1], *begin = write_digits(text + sizeof(text), nanoseconds % 1000, 3);

    *--begin = '.';
    begin = write_digits(begin, nanoseconds / 1000, 1);
    fwrite_unlocked(begin, 1, (size_t)(text + sizeof(text) - begin), stream);
}

const char *export_last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}
