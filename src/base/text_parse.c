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

int text_parse_number(const char *text, size_t length, uint64_t *value_out)
{
    if (length >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return parse(text + 2, length - 2, 16, value_out);
    return parse(text, length, 10, value_out);
}

/* What stands behind the point, of a whole that is `scale`; digits that are too small to count are only looked at. */
static int parse_part(const char *text, size_t length, uint64_t scale, uint64_t *part_out)
{
    uint64_t part = 0;

    if (length == 0)
        return -EINVAL;
    for (size_t i = 0; i < length; i++) {
        if (digit_value(text[i]) > 9)
            return -EINVAL;
        scale /= 10;
        part += digit_value(text[i]) * scale;
    }
    *part_out = part;
    return 0;
}

int text_parse_scaled(const char *text, size_t length, uint64_t scale, uint64_t *value_out)
{
    uint64_t value, part = 0;
    size_t whole = 0;
    int result;

    while (whole < length && text[whole] != '.')
        whole++;
    result = text_parse_decimal(text, whole, &value);
    if (result == 0 && whole < length)
        result = parse_part(text + whole + 1, length - whole - 1, scale, &part);
    if (result != 0)
        return result;
    if (__builtin_mul_overflow(value, scale, &value) || __builtin_add_overflow(value, part, &value))
        return -ERANGE;
    *value_out = value;
    return 0;
}

int text_parse_duration(const char *text, size_t length, uint64_t *nanoseconds_out)
{
    static const struct {
        const char *name;
        uint64_t nanoseconds;
    } units[] = {
        {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000},
    };
    char unit[3] = "";
    size_t digits = length;

    while (digits > 0 && digit_value(text[digits - 1]) > 9)
        digits--;
    for (size_t i = digits; i < length && i - digits < sizeof(unit) - 1; i++)
        unit[i - digits] = text[i];
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && length - digits < sizeof(unit); i++)
        if (text_equal(unit, units[i].name))
            return text_parse_scaled(text, digits, units[i].nanoseconds, nanoseconds_out);
    return -EINVAL;
}
