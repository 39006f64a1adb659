/* SPDX-License-Identifier: MIT */
/* Numbers out of text, with each character and each overflow looked at. The counterpart of text_format.c. */
#include "base/text_parse.h"

#include <asm/errno.h>

bool text_equal(const char *left, const char *right)
{
    while (*left == *right && *left != '\0') {
        left++;
        right++;
    }
    return *left == *right;
}

/* The digit's value; 255 when it is none. */
static unsigned digit_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return (unsigned)(digit - '0');
    if (digit >= 'a' && digit <= 'f')
        return (unsigned)(digit - 'a' + 10);
    if (digit >= 'A' && digit <= 'F')
        return (unsigned)(digit - 'A' + 10);
    return 255;
}

static int parse(const char *text, size_t length, unsigned base, uint64_t *value_out)
{
    uint64_t value = 0;
    int result = length == 0 ? -EINVAL : 0;

    for (size_t i = 0; i < length; i++) {
        unsigned digit = digit_value(text[i]);

        /* A wrong character further on matters more than too many digits before it. */
        if (digit >= base)
            return -EINVAL;
        if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value))
            result = -ERANGE;
    }
    if (result == 0)
        *value_out = value;
    return result;
}

int text_parse_decimal(const char *text, size_t length, uint64_t *value_out)
{
    return parse(text, length, 10, value_out);
}

int text_parse_hex(const char *text, size_t length, uint64_t *value_out)
{
    return parse(text, length, 16, value_out);
}

int text_parse_number(const char *text, size_t length, uint64_t *value_out)
{
    if (length >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return parse(text + 2, length - 2, 16, value_out);
    return parse(text, length, 10, value_out);
}
