/* SPDX-License-Identifier: MIT */
/* By recursive descent, no deeper than JSON_DEPTH_MAX. The first thing that is wrong ends it, with its line. */
#include "trace/json_reader.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct json_reader {
    const char *path;
    const char *place;
    const char *end;
    unsigned line;
    unsigned depth;
    int result; /* the first error */
    struct gait_error *err;
};

static bool fail(struct json_reader *reader, const char *why)
{
    if (reader->result == 0)
        reader->result = error_set(reader->err, EPROTO, "cannot read '%s': line %u: %s; it is damaged, or no such file",
                                   reader->path, reader->line, why);
    return false;
}

static bool fail_memory(struct json_reader *reader)
{
    if (reader->result == 0)
        reader->result = error_set(reader->err, ENOMEM, "cannot read '%s': there is no memory for it; try to free some",
                                   reader->path);
    return false;
}

static void skip_space(struct json_reader *reader)
{
    for (; reader->place < reader->end && memchr(" \t\r\n", *reader->place, 4) != NULL; reader->place++)
        reader->line += *reader->place == '\n';
}

/* The next character, behind space; 0: there is none. */
static char peek(struct json_reader *reader)
{
    skip_space(reader);
    return reader->place < reader->end ? *reader->place : '\0';
}

static bool take(struct json_reader *reader, char wanted)
{
    if (peek(reader) != wanted || reader->place == reader->end)
        return false;
    reader->place++;
    return true;
}

/* ---- strings ----------------------------------------------------------------------------------------------------- */

static bool read_hex4(struct json_reader *reader, uint32_t *code_out)
{
    uint32_t code = 0;

    if (reader->end - reader->place < 4)
        return fail(reader, "a string ends within \\u");
    for (int i = 0; i < 4; i++) {
        char digit = *reader->place++;

        if (digit >= '0' && digit <= '9')
            code = code << 4 | (uint32_t)(digit - '0');
        else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f')
            code = code << 4 | (uint32_t)((digit | 0x20) - 'a' + 10);
        else
            return fail(reader, "\\u is not followed by four hexadecimal digits");
    }
    *code_out = code;
    return true;
}

static char *put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 63));
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    }
    return to;
}

/* Behind \u. */
static bool read_code(struct json_reader *reader, char **to)
{
    uint32_t code, low;

    if (!read_hex4(reader, &code))
        return false;
    if (code == 0)
        return fail(reader, "a string has a NUL in it");
    if (code >= 0xdc80 && code <= 0xdcff) {
        *(*to)++ = (char)(code - 0xdc00);
        return true;
    }
    if (code >= 0xdc00 && code <= 0xdfff)
        return fail(reader, "the second half of a surrogate pair has no first half");
    if (code >= 0xd800 && code <= 0xdbff) {
        if (reader->end - reader->place < 2 || memcmp(reader->place, "\\u", 2) != 0)
            return fail(reader, "the first half of a surrogate pair has no second half");
        reader->place += 2;
        if (!read_hex4(reader, &low))
            return false;
        if (low < 0xdc00 || low > 0xdfff)
            return fail(reader, "the first half of a surrogate pair has no second half");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    *to = put_utf8(*to, code);
    return true;
}

static bool read_escape(struct json_reader *reader, char **to)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *found;

    if (reader->place == reader->end)
        return fail(reader, "a string is not ended");
    if (*reader->place == 'u') {
        reader->place++;
        return read_code(reader, to);
    }
    found = memchr(names, *reader->place, sizeof(names) - 1);
    if (found == NULL)
        return fail(reader, "a string has an unknown character behind \\");
    reader->place++;
    *(*to)++ = meanings[found - names];
    return true;
}

/* Behind the first quote, up to behind the last one. */
static bool read_characters(struct json_reader *reader, char *to)
{
    while (reader->place < reader->end && *reader->place != '"') {
        char character = *reader->place++;

        if ((unsigned char)character < 0x20)
            return fail(reader, "a string has a control character in it");
        if (character != '\\')
            *to++ = character;
        else if (!read_escape(reader, &to))
            return false;
    }
    if (reader->place == reader->end)
        return fail(reader, "a string is not ended");
    reader->place++;
    *to = '\0';
    return true;
}

/* Where the string that begins here cannot be longer than. */
static size_t string_bound(const struct json_reader *reader)
{
    const char *place = reader->place;

    for (; place < reader->end && *place != '"'; place++)
        if (*place == '\\' && place + 1 < reader->end)
            place++;
    return (size_t)(place - reader->place) + 1;
}

static bool read_string(struct json_reader *reader, char **text_out)
{
    char *text;

    if (!take(reader, '"'))
        return fail(reader, "a string is missing");
    /* What an escape means is never longer than the escape. */
    text = malloc(string_bound(reader));
    if (text == NULL)
        return fail_memory(reader);
    if (!read_characters(reader, text)) {
        free(text);
        return false;
    }
    *text_out = text;
    return true;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static size_t count_digits(const char *place, const char *end)
{
    size_t count = 0;

    while (place + count < end && place[count] >= '0' && place[count] <= '9')
        count++;
    return count;
}

/* How long the number that begins here is; 0: it is none. */
static size_t number_length(const char *begin, const char *end)
{
    const char *place = begin + (begin < end && *begin == '-');
    size_t digits = count_digits(place, end);

    if (digits == 0 || (digits > 1 && *place == '0'))
        return 0;
    place += digits;
    if (place < end && *place == '.') {
        digits = count_digits(++place, end);
        if (digits == 0)
            return 0;
        place += digits;
    }
    if (place < end && (*place | 0x20) == 'e') {
        place++;
        place += place < end && (*place == '+' || *place == '-');
        digits = count_digits(place, end);
        if (digits == 0)
            return 0;
        place += digits;
    }
    return (size_t)(place - begin);
}

static bool read_number(struct json_reader *reader, struct json_value *value)
{
    size_t length = number_length(reader->place, reader->end);

    if (length == 0)
        return fail(reader, "what stands there is not a value");
    value->kind = JSON_NUMBER;
    value->text = strndup(reader->place, length);
    reader->place += length;
    return value->text != NULL || fail_memory(reader);
}

static bool read_word(struct json_reader *reader, struct json_value *value)
{
    static const struct {
        const char *word;
        enum json_kind kind;
    } words[] = {{"null", JSON_NULL}, {"false", JSON_FALSE}, {"true", JSON_TRUE}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i].word);

        if ((size_t)(reader->end - reader->place) >= length && memcmp(reader->place, words[i].word, length) == 0) {
            value->kind = words[i].kind;
            reader->place += length;
            return true;
        }
    }
    return read_number(reader, value);
}

static bool read_value(struct json_reader *reader, struct json_value **value_out);

static bool read_member_name(struct json_reader *reader, const struct json_value *object, char **name_out)
{
    if (!read_string(reader, name_out))
        return false;
    if (json_member(object, *name_out) != NULL)
        return fail(reader, "a name comes twice in an object");
    if (json_count(object) == JSON_MEMBERS_MAX)
        return fail(reader, "an object has too many members");
    return take(reader, ':') || fail(reader, "a ':' is missing");
}

/* Behind the opening bracket. What was read so far hangs in the value, also after an error. */
static bool read_items(struct json_reader *reader, struct json_value *value, char closing)
{
    struct json_value **last = &value->first;

    if (take(reader, closing))
        return true;
    do {
        char *name = NULL;

        if ((value->kind == JSON_OBJECT && !read_member_name(reader, value, &name)) || !read_value(reader, last)) {
            free(name);
            return false;
        }
        (*last)->name = name;
        last = &(*last)->next;
    } while (take(reader, ','));
    return take(reader, closing) ||
           fail(reader, closing == '}' ? "a '}' or ',' is missing" : "a ']' or ',' is missing");
}

static bool read_into(struct json_reader *reader, struct json_value *value)
{
    bool is_object;

    switch (peek(reader)) {
    case '"':
        value->kind = JSON_STRING;
        return read_string(reader, &value->text);
    case '[':
    case '{':
        if (reader->depth == JSON_DEPTH_MAX)
            return fail(reader, "it is nested too deeply");
        is_object = *reader->place++ == '{';
        value->kind = is_object ? JSON_OBJECT : JSON_ARRAY;
        reader->depth++;
        if (!read_items(reader, value, is_object ? '}' : ']'))
            return false;
        reader->depth--;
        return true;
    default:
        return read_word(reader, value);
    }
}

static bool read_value(struct json_reader *reader, struct json_value **value_out)
{
    struct json_value *value = calloc(1, sizeof(*value));

    if (value == NULL)
        return fail_memory(reader);
    peek(reader);
    value->line = reader->line;
    if (!read_into(reader, value)) {
        json_free(value);
        return false;
    }
    *value_out = value;
    return true;
}

int json_read(const char *path, const char *text, size_t size_bytes, struct json_value **value_out,
              struct gait_error *err)
{
    struct json_reader reader = {.path = path, .place = text, .end = text + size_bytes, .line = 1, .err = err};
    struct json_value *value;

    if (!read_value(&reader, &value))
        return reader.result;
    peek(&reader);
    if (reader.place != reader.end) {
        json_free(value);
        fail(&reader, "something follows the end");
        return reader.result;
    }
    *value_out = value;
    return 0;
}

void json_free(struct json_value *value)
{
    while (value != NULL) {
        struct json_value *next = value->next;

        json_free(value->first);
        free(value->text);
        free(value->name);
        free(value);
        value = next;
    }
}

const struct json_value *json_member(const struct json_value *object, const char *name)
{
    const struct json_value *member = object->kind == JSON_OBJECT ? object->first : NULL;

    while (member != NULL && strcmp(member->name, name) != 0)
        member = member->next;
    return member;
}

size_t json_count(const struct json_value *value)
{
    size_t count = 0;

    for (const struct json_value *item = value->first; item != NULL; item = item->next)
        count++;
    return count;
}

bool json_to_u64(const struct json_value *value, uint64_t *number_out)
{
    char *end;
    uint64_t number;

    if (value->kind != JSON_NUMBER || value->text[0] == '-')
        return false;
    errno = 0;
    number = strtoull(value->text, &end, 10);
    if (errno != 0 || *end != '\0')
        return false;
    *number_out = number;
    return true;
}

bool json_to_i64(const struct json_value *value, int64_t *number_out)
{
    char *end;
    int64_t number;

    if (value->kind != JSON_NUMBER)
        return false;
    errno = 0;
    number = strtoll(value->text, &end, 10);
    if (errno != 0 || *end != '\0')
        return false;
    *number_out = number;
    return true;
}
