/* SPDX-License-Identifier: MIT */
/*
 * Texts are unescaped and ended by a NUL where they stand: they never get longer. Only words, which end at what follows
 * them, are copied, to memory behind the file's bytes that is as large.
 */
#define _GNU_SOURCE
#include "cli/options/config_file.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX (1 << 20)
#define KEYS_MAX       128

struct config_parser {
    const char *path;
    char *at;
    char *copies; /* where the next copy goes */
    unsigned line;
    config_taker *take;
    void *context;
    const char *keys[KEYS_MAX]; /* those that were there already */
    unsigned key_count;
    struct gait_error *err;
};

static int wrong(const struct config_parser *parser, const char *what)
{
    return error_set(parser->err, EINVAL, "%s, line %u: %s", parser->path, parser->line, what);
}

static void skip_spaces(struct config_parser *parser)
{
    while (*parser->at == ' ' || *parser->at == '\t')
        parser->at++;
}

/* Also comments and ends of lines. */
static void skip_lines(struct config_parser *parser)
{
    for (;;) {
        skip_spaces(parser);
        if (*parser->at == '#')
            parser->at += strcspn(parser->at, "\n");
        if (parser->at[0] == '\r' && parser->at[1] == '\n')
            parser->at++;
        if (*parser->at != '\n')
            return;
        parser->line++;
        parser->at++;
    }
}

static bool is_key_character(char character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '-' || character == '_';
}

/* The length of what stands there up to a character that belongs to no key or number. */
static size_t word_length(const char *at)
{
    size_t length = 0;

    while (is_key_character(at[length]) || at[length] == '.' || at[length] == '+')
        length++;
    return length;
}

/* The character that an escape stands for; 0: none that is known. */
static char escaped(char letter)
{
    static const char letters[] = "btnfr\"\\", characters[] = "\b\t\n\f\r\"\\";
    const char *place = letter == '\0' ? NULL : strchr(letters, letter);

    return place == NULL ? '\0' : characters[place - letters];
}

/* A string in quotes; parser->at is at the first one. */
static int read_string(struct config_parser *parser, const char **text_out)
{
    char quote = *parser->at++, *to = parser->at;

    *text_out = to;
    while (*parser->at != quote) {
        char character = *parser->at;

        if (character == '\0' || character == '\n')
            return wrong(parser, "a string has no closing quote");
        if (quote == '"' && character == '\\') {
            character = escaped(*++parser->at);
            if (character == '\0')
                return wrong(parser, "an escape is none of \\b \\t \\n \\f \\r \\\" \\\\; 'single quotes' take text as "
                                     "it is");
        }
        *to++ = character;
        parser->at++;
    }
    parser->at++;
    *to = '\0';
    return 0;
}

static int hand_over(struct config_parser *parser, const struct config_value *value)
{
    const char *wanted = parser->take(parser->context, value);

    if (wanted == NULL)
        return 0;
    return error_set(parser->err, EINVAL, "%s, line %u: %s is %s; it should be %s", parser->path, parser->line,
                     value->key, value->text, wanted);
}

static int read_array(struct config_parser *parser, struct config_value *value)
{
    int result = 0;

    parser->at++;
    value->kind = CONFIG_ITEM;
    for (skip_lines(parser); result == 0 && *parser->at != ']'; skip_lines(parser)) {
        if (*parser->at != '"' && *parser->at != '\'')
            return wrong(parser, "an array has something that is no string in quotes");
        result = read_string(parser, &value->text);
        if (result == 0)
            result = hand_over(parser, value);
        value->is_first = false;
        if (result != 0)
            return result;
        skip_lines(parser);
        if (*parser->at == ',')
            parser->at++;
        else if (*parser->at != ']')
            return wrong(parser, "an array is not closed with ]");
    }
    parser->at++;
    return result;
}

/* Digits, perhaps a point and more digits. */
static bool is_number(const char *text)
{
    size_t digits = strspn(text, "0123456789"), part;

    if (digits == 0 || text[digits] != '.')
        return digits != 0 && text[digits] == '\0';
    part = strspn(text + digits + 1, "0123456789");
    return part != 0 && text[digits + 1 + part] == '\0';
}

/* A number or a truth. */
static int read_word(struct config_parser *parser, struct config_value *value)
{
    size_t length = word_length(parser->at);
    char *copy = parser->copies;

    memcpy(copy, parser->at, length);
    copy[length] = '\0';
    parser->copies += length + 1;
    parser->at += length;
    value->text = copy;
    if (strcmp(copy, "true") == 0 || strcmp(copy, "false") == 0)
        value->kind = CONFIG_TRUTH;
    else if (is_number(copy))
        value->kind = CONFIG_NUMBER;
    else
        return wrong(parser, "the value is no \"string\", number, true, false or array of strings");
    return hand_over(parser, value);
}

static int note_key(struct config_parser *parser, const char *key)
{
    for (unsigned i = 0; i < parser->key_count; i++)
        if (strcmp(parser->keys[i], key) == 0)
            return error_set(parser->err, EINVAL, "%s, line %u: %s is there twice; an array can have several values",
                             parser->path, parser->line, key);
    if (parser->key_count == KEYS_MAX)
        return wrong(parser, "there are too many keys");
    parser->keys[parser->key_count++] = key;
    return 0;
}

static int read_value(struct config_parser *parser, const char *key)
{
    struct config_value value = {.key = key, .is_first = true, .kind = CONFIG_STRING};
    int result;

    skip_spaces(parser);
    if (*parser->at == '[')
        return read_array(parser, &value);
    if (*parser->at != '"' && *parser->at != '\'')
        return read_word(parser, &value);
    result = read_string(parser, &value.text);
    return result == 0 ? hand_over(parser, &value) : result;
}

static int read_line(struct config_parser *parser)
{
    char *key = parser->at;
    size_t length = 0;
    int result;

    while (is_key_character(key[length]))
        length++;
    if (length == 0)
        return wrong(parser, *key == '[' ? "tables are not known here; every option is a key of its own"
                                         : "a line is no \"key = value\"");
    parser->at += length;
    skip_spaces(parser);
    if (*parser->at != '=')
        return wrong(parser, "a line is no \"key = value\"");
    *parser->at++ = '\0';
    key[length] = '\0';
    result = note_key(parser, key);
    if (result == 0)
        result = read_value(parser, key);
    if (result != 0)
        return result;
    skip_spaces(parser);
    if (strchr("\r\n#", *parser->at) == NULL)
        return wrong(parser, "something follows the value");
    return 0;
}

static int read_bytes(const char *path, char **bytes_out, size_t *size_out)
{
    FILE *file = fopen(path, "re");
    int result = 0;

    if (file == NULL)
        return -errno;
    *bytes_out = malloc(2 * (FILE_BYTES_MAX + 1));
    if (*bytes_out == NULL)
        result = -ENOMEM;
    else
        *size_out = fread(*bytes_out, 1, FILE_BYTES_MAX, file);
    if (result == 0 && ferror(file))
        result = -EIO;
    else if (result == 0 && *size_out == FILE_BYTES_MAX)
        result = -EFBIG;
    fclose(file);
    return result;
}

int config_file_read(const char *path, config_taker *take, void *context, char **bytes_out, struct gait_error *err)
{
    struct config_parser parser = {.path = path, .line = 1, .take = take, .context = context, .err = err};
    size_t size = 0;
    int result;

    *bytes_out = NULL;
    result = read_bytes(path, bytes_out, &size);
    if (result != 0)
        return error_set(err, result, "cannot read the options in %s: %s", path, strerror(-result));
    parser.at = *bytes_out;
    parser.copies = *bytes_out + FILE_BYTES_MAX + 1;
    parser.at[size] = '\0';
    if (strlen(parser.at) != size)
        return error_set(err, EINVAL, "%s is no text", path);
    for (skip_lines(&parser); result == 0 && *parser.at != '\0'; skip_lines(&parser))
        result = read_line(&parser);
    return result;
}
