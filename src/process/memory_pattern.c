/* SPDX-License-Identifier: MIT */
/*
 * The longest part without wildcards is looked for first, from its last byte on: that says how far one can go at least
 * if it does not fit (Horspool). What has no known byte at all is looked for half byte by half byte, everywhere.
 */
#include "process/memory_pattern.h"

#include "base/memory_functions.h"

#include <asm/errno.h>
#include <stdbool.h>

static bool is_space(char character)
{
    return character == ' ' || character == '\t' || character == '\n';
}

/* Half a byte, and which bits of it are known. */
static bool parse_digit(char character, unsigned *value_out, unsigned *mask_out)
{
    *mask_out = 15;
    if (character >= '0' && character <= '9')
        *value_out = (unsigned)(character - '0');
    else if (character >= 'a' && character <= 'f')
        *value_out = (unsigned)(character - 'a' + 10);
    else if (character >= 'A' && character <= 'F')
        *value_out = (unsigned)(character - 'A' + 10);
    else if (character == '?')
        *value_out = *mask_out = 0;
    else
        return false;
    return true;
}

struct pattern_parser {
    const char *text;
    size_t length;
    size_t at;
};

/* 1: a byte; 0: the end, or a colon; -EINVAL. */
static int parse_byte(struct pattern_parser *parser, uint8_t *byte_out, uint8_t *mask_out)
{
    unsigned high, low, high_mask, low_mask;

    while (parser->at < parser->length && is_space(parser->text[parser->at]))
        parser->at++;
    if (parser->at == parser->length || parser->text[parser->at] == ':')
        return 0;
    if (parser->length - parser->at < 2 || !parse_digit(parser->text[parser->at], &high, &high_mask) ||
        !parse_digit(parser->text[parser->at + 1], &low, &low_mask))
        return -EINVAL;
    parser->at += 2;
    *byte_out = (uint8_t)(high << 4 | low);
    *mask_out = (uint8_t)(high_mask << 4 | low_mask);
    return 1;
}

/* The mask behind the colon: as many bytes, without wildcards. */
static int parse_masks(struct pattern_parser *parser, struct memory_pattern *pattern)
{
    uint8_t mask, known;
    size_t count = 0;
    int result;

    parser->at++;
    while ((result = parse_byte(parser, &mask, &known)) == 1) {
        if (count == pattern->size_bytes || known != 0xff)
            return -EINVAL;
        pattern->masks[count++] &= mask;
    }
    return result != 0 || parser->at != parser->length || count != pattern->size_bytes ? -EINVAL : 0;
}

static void find_anchor(struct memory_pattern *pattern)
{
    size_t run = 0;

    pattern->anchor = pattern->anchor_bytes = 0;
    for (size_t i = 0; i < pattern->size_bytes; i++) {
        pattern->bytes[i] &= pattern->masks[i];
        run = pattern->masks[i] == 0xff ? run + 1 : 0;
        if (run > pattern->anchor_bytes) {
            pattern->anchor = i + 1 - run;
            pattern->anchor_bytes = run;
        }
    }
}

/* Skips have a byte each; farther than that nobody skips. */
static void make_skips(struct memory_pattern *pattern)
{
    size_t last = pattern->anchor_bytes == 0 ? 0 : pattern->anchor_bytes - 1;
    size_t farthest = pattern->anchor_bytes < 255 ? pattern->anchor_bytes : 255;

    memset(pattern->skips, (int)(farthest == 0 ? 1 : farthest), sizeof(pattern->skips));
    for (size_t i = 0; i < last; i++)
        if (last - i < 256)
            pattern->skips[pattern->bytes[pattern->anchor + i]] = (uint8_t)(last - i);
}

static int complete(struct memory_pattern *pattern)
{
    bool is_known = false;

    if (pattern->size_bytes == 0)
        return -EINVAL;
    for (size_t i = 0; i < pattern->size_bytes; i++)
        is_known |= pattern->masks[i] != 0;
    find_anchor(pattern);
    make_skips(pattern);
    return is_known ? 0 : -ENODATA;
}

int memory_pattern_parse(const char *text, size_t length, struct memory_pattern *pattern_out)
{
    struct pattern_parser parser = {text, length, 0};
    uint8_t byte, mask;
    int result;

    pattern_out->size_bytes = 0;
    while ((result = parse_byte(&parser, &byte, &mask)) == 1) {
        if (pattern_out->size_bytes == MEMORY_PATTERN_BYTES_MAX)
            return -E2BIG;
        pattern_out->bytes[pattern_out->size_bytes] = byte;
        pattern_out->masks[pattern_out->size_bytes++] = mask;
    }
    if (result == 0 && parser.at < length)
        result = parse_masks(&parser, pattern_out);
    return result != 0 ? result : complete(pattern_out);
}

int memory_pattern_of_bytes(const void *bytes, size_t size_bytes, struct memory_pattern *pattern_out)
{
    if (size_bytes > MEMORY_PATTERN_BYTES_MAX)
        return -E2BIG;
    pattern_out->size_bytes = size_bytes;
    memcpy(pattern_out->bytes, bytes, size_bytes);
    memset(pattern_out->masks, 0xff, size_bytes);
    return complete(pattern_out);
}

static bool fits(const struct memory_pattern *pattern, const uint8_t *bytes)
{
    for (size_t i = 0; i < pattern->size_bytes; i++)
        if ((bytes[i] & pattern->masks[i]) != pattern->bytes[i])
            return false;
    return true;
}

size_t memory_pattern_find(const struct memory_pattern *pattern, const uint8_t *bytes, size_t size_bytes, size_t start)
{
    size_t last = pattern->anchor + (pattern->anchor_bytes == 0 ? 0 : pattern->anchor_bytes - 1);
    uint8_t wanted = pattern->bytes[last];

    for (size_t at = start; at <= size_bytes && size_bytes - at >= pattern->size_bytes;) {
        uint8_t found = bytes[at + last];

        if ((pattern->anchor_bytes == 0 || found == wanted) && fits(pattern, bytes + at))
            return at;
        at += pattern->skips[found];
    }
    return size_bytes;
}
