/* SPDX-License-Identifier: MIT */
/* Most texts have nothing to escape: what stays as it is is written in one piece. Stateless. */
#define _GNU_SOURCE
#include "hosted/json_text.h"

#include <stdlib.h>

#define LINE_SEPARATOR      0x2028u
#define PARAGRAPH_SEPARATOR 0x2029u
#define ESCAPE_BYTES        8

size_t json_character(const unsigned char *text, uint32_t *code_out)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80 ? 1 : (text[0] & 0xe0) == 0xc0 ? 2 : (text[0] & 0xf0) == 0xe0 ? 3 : 4;
    uint32_t code = text[0] & (0x7fu >> length);

    *code_out = text[0];
    if (length == 1)
        return 1;
    if (length == 4 && (text[0] & 0xf8) != 0xf0)
        return 0;
    for (size_t i = 1; i < length; i++) {
        /* The NUL at the end is no part of a character, either. */
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    if (code < lowest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *code_out = code;
    return length;
}

static int is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

int json_character_is_clean(uint32_t code)
{
    return !is_control(code) && code != 0xfffe && code != 0xffff;
}

/* What is written instead of a character, which is none if it has no length; NULL: itself. */
static const char *escape_of(enum json_escape escape, size_t length, uint32_t code, char text[ESCAPE_BYTES])
{
    if (escape == JSON_CLEAN && (length == 0 || !json_character_is_clean(code)))
        return "\xef\xbf\xbd";
    if (code == '"' || code == '\\')
        return code == '"' ? "\\\"" : "\\\\";
    /* In a script, the two separators end a line. */
    if (length != 0 && !is_control(code) && code != LINE_SEPARATOR && code != PARAGRAPH_SEPARATOR &&
        (escape == JSON_EXACT || (code != '<' && code != '&')))
        return NULL;
    snprintf(text, ESCAPE_BYTES, "\\u%04x", (unsigned)(length == 0 ? 0xdc00 | code : code) & 0xffff);
    return text;
}

static int needs_a_look(unsigned char byte)
{
    return byte < 0x20 || byte >= 0x7f || byte == '"' || byte == '\\' || byte == '<' || byte == '&';
}

/* How many bytes stay as they are. */
static size_t plain_bytes(const unsigned char *text)
{
    size_t count = 0;

    while (!needs_a_look(text[count]))
        count++;
    return count;
}

void json_put_text(FILE *stream, enum json_escape escape, const char *text)
{
    const unsigned char *place = (const unsigned char *)text;
    char escaped[ESCAPE_BYTES];

    putc_unlocked('"', stream);
    for (;;) {
        size_t plain = plain_bytes(place), length;
        const char *instead;
        uint32_t code;

        fwrite_unlocked(place, 1, plain, stream);
        place += plain;
        if (*place == '\0')
            break;
        length = json_character(place, &code);
        instead = escape_of(escape, length, code, escaped);
        if (instead != NULL)
            fputs_unlocked(instead, stream);
        else
            fwrite_unlocked(place, 1, length, stream);
        place += length == 0 ? 1 : length;
    }
    putc_unlocked('"', stream);
}

char *json_text_make(enum json_escape escape, const char *text)
{
    char *made = NULL;
    size_t size;
    FILE *stream = open_memstream(&made, &size);

    if (stream == NULL)
        return NULL;
    json_put_text(stream, escape, text);
    if (fclose(stream) == 0)
        return made;
    free(made);
    return NULL;
}
