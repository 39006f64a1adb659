/* SPDX-License-Identifier: MIT */
/*
 * A bounded writer for characters and a small printf on top of it. Invariant: used <= capacity and start[used] is NUL
 * after each public function. Belongs to one thread. Its counterpart text_parse.c reads numbers; log.c and assert.c
 * write through it.
 */
#include "base/text_format.h"

/* 2^64 has 20 decimal digits. */
#define DIGITS_MAX 20

struct directive {
    bool left;
    bool zeroes;
    bool alternate;
    bool has_precision;
    size_t width;
    size_t precision;
    size_t argument_bytes; /* of an integer argument */
    char conversion;
};

/* So that functions can take the next argument of their caller's list, whatever kind of type va_list is. */
struct arguments {
    va_list list;
};

void text_init(struct text_writer *text, char *buffer, size_t size_bytes)
{
    *text = (struct text_writer){.start = buffer, .capacity = size_bytes - 1};
    buffer[0] = '\0';
}

void text_put_bytes(struct text_writer *text, const char *bytes, size_t count)
{
    size_t room = text->truncated ? 0 : text->capacity - text->used;

    if (count > room) {
        text->truncated = true;
        count = room;
    }
    for (size_t i = 0; i < count; i++)
        text->start[text->used + i] = bytes[i];
    text->used += count;
    text->start[text->used] = '\0';
}

void text_put_char(struct text_writer *text, char character)
{
    text_put_bytes(text, &character, 1);
}

static size_t length_up_to(const char *string, size_t limit)
{
    size_t length = 0;

    while (length < limit && string[length] != '\0')
        length++;
    return length;
}

void text_put_string(struct text_writer *text, const char *string)
{
    if (string == NULL)
        string = "(null)";
    text_put_bytes(text, string, length_up_to(string, SIZE_MAX));
}

static void repeat(struct text_writer *text, char character, size_t count)
{
    while (count-- > 0 && !text->truncated)
        text_put_char(text, character);
}

/* Writes the digits so that they end at `end`, and returns where they begin. */
static char *digits_before(char *end, uint64_t value, unsigned base, const char *alphabet)
{
    do {
        *--end = alphabet[value % base];
        value /= base;
    } while (value != 0);
    return end;
}

void text_put_unsigned(struct text_writer *text, uint64_t value)
{
    char digits[DIGITS_MAX];
    char *end = digits + DIGITS_MAX;
    char *first = digits_before(end, value, 10, "0123456789");

    text_put_bytes(text, first, (size_t)(end - first));
}

void text_put_signed(struct text_writer *text, int64_t value)
{
    if (value < 0)
        text_put_char(text, '-');
    text_put_unsigned(text, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void text_put_hex(struct text_writer *text, uint64_t value, size_t digits_min)
{
    char digits[DIGITS_MAX];
    char *end = digits + DIGITS_MAX;
    char *first = digits_before(end, value, 16, "0123456789abcdef");
    size_t count = (size_t)(end - first);

    if (digits_min > count)
        repeat(text, '0', digits_min - count);
    text_put_bytes(text, first, count);
}

/* prefix and digits with the padding that the directive asks for around or between them. */
static void put_padded(struct text_writer *text, const struct directive *directive, const char *prefix,
                       const char *digits, size_t count)
{
    size_t prefix_length = length_up_to(prefix, 2);
    size_t zeroes = directive->has_precision && directive->precision > count ? directive->precision - count : 0;
    size_t length = prefix_length + zeroes + count;
    size_t padding = directive->width > length ? directive->width - length : 0;

    if (directive->zeroes && !directive->left && !directive->has_precision) {
        zeroes = padding;
        padding = 0;
    }
    if (!directive->left)
        repeat(text, ' ', padding);
    text_put_bytes(text, prefix, prefix_length);
    repeat(text, '0', zeroes);
    text_put_bytes(text, digits, count);
    if (directive->left)
        repeat(text, ' ', padding);
}

static void put_number(struct text_writer *text, const struct directive *directive, const char *prefix, uint64_t value)
{
    bool decimal = directive->conversion == 'd' || directive->conversion == 'u';
    const char *alphabet = directive->conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    char digits[DIGITS_MAX];
    char *end = digits + DIGITS_MAX;
    char *first = digits_before(end, value, decimal ? 10 : 16, alphabet);

    if (value == 0 && directive->has_precision && directive->precision == 0)
        first = end;
    put_padded(text, directive, prefix, first, (size_t)(end - first));
}

static void put_string(struct text_writer *text, struct directive *directive, const char *string)
{
    size_t limit = directive->has_precision ? directive->precision : SIZE_MAX;

    if (string == NULL)
        string = "(null)";
    directive->has_precision = false;
    directive->zeroes = false;
    put_padded(text, directive, "", string, length_up_to(string, limit));
}

/* An integer argument cut to its own size, without and with its sign. */
static uint64_t next_unsigned(const struct directive *directive, struct arguments *arguments)
{
    uint64_t value =
        directive->argument_bytes == 8 ? va_arg(arguments->list, uint64_t) : va_arg(arguments->list, unsigned);
    unsigned unused_bits = 64 - 8 * (unsigned)directive->argument_bytes;

    return value << unused_bits >> unused_bits;
}

static int64_t next_signed(const struct directive *directive, struct arguments *arguments)
{
    unsigned unused_bits = 64 - 8 * (unsigned)directive->argument_bytes;

    return (int64_t)(next_unsigned(directive, arguments) << unused_bits) >> unused_bits;
}

static void put_hexadecimal(struct text_writer *text, const struct directive *directive, uint64_t value)
{
    const char *prefix = directive->conversion == 'X' ? "0X" : "0x";

    put_number(text, directive, directive->alternate && value != 0 ? prefix : "", value);
}

/* False: not a conversion that we know. */
static bool put_converted(struct text_writer *text, struct directive *directive, struct arguments *arguments)
{
    int64_t value;
    char character;

    switch (directive->conversion) {
    case 'i':
    case 'd':
        directive->conversion = 'd';
        value = next_signed(directive, arguments);
        put_number(text, directive, value < 0 ? "-" : "", value < 0 ? -(uint64_t)value : (uint64_t)value);
        return true;
    case 'u':
        put_number(text, directive, "", next_unsigned(directive, arguments));
        return true;
    case 'x':
    case 'X':
        put_hexadecimal(text, directive, next_unsigned(directive, arguments));
        return true;
    case 'p':
        put_number(text, directive, "0x", (uintptr_t)va_arg(arguments->list, void *));
        return true;
    case 'c':
        character = (char)va_arg(arguments->list, int);
        directive->has_precision = false;
        directive->zeroes = false;
        put_padded(text, directive, "", &character, 1);
        return true;
    case 's':
        put_string(text, directive, va_arg(arguments->list, const char *));
        return true;
    case '%':
        text_put_char(text, '%');
        return true;
    default:
        return false;
    }
}

static const char *parse_flags(const char *format, struct directive *directive)
{
    for (;; format++) {
        if (*format == '-')
            directive->left = true;
        else if (*format == '0')
            directive->zeroes = true;
        else if (*format == '#')
            directive->alternate = true;
        else
            return format;
    }
}

/* A width or precision: digits, or * for the next argument. Negative when that argument is. */
static const char *parse_size(const char *format, struct arguments *arguments, int *size_out)
{
    int size = 0;

    if (*format == '*') {
        *size_out = va_arg(arguments->list, int);
        return format + 1;
    }
    for (; *format >= '0' && *format <= '9'; format++)
        size = size < 100000 ? size * 10 + (*format - '0') : size;
    *size_out = size;
    return format;
}

static const char *parse_length(const char *format, struct directive *directive)
{
    directive->argument_bytes = sizeof(int);
    if (*format == 'l' || *format == 'z' || *format == 't') {
        directive->argument_bytes = sizeof(long);
        return format + (format[0] == 'l' && format[1] == 'l' ? 2 : 1);
    }
    if (*format == 'h') {
        directive->argument_bytes = format[1] == 'h' ? sizeof(char) : sizeof(short);
        return format + (format[1] == 'h' ? 2 : 1);
    }
    return format;
}

/* Reads what stands behind a %, up to and with the conversion. */
static const char *parse_directive(const char *format, struct arguments *arguments, struct directive *directive_out)
{
    struct directive directive = {0};
    int size;

    format = parse_flags(format, &directive);
    format = parse_size(format, arguments, &size);
    directive.left |= size < 0;
    directive.width = size < 0 ? 0u - (unsigned)size : (unsigned)size;
    if (*format == '.') {
        format = parse_size(format + 1, arguments, &size);
        directive.has_precision = size >= 0;
        directive.precision = size >= 0 ? (size_t)size : 0;
    }
    format = parse_length(format, &directive);
    directive.conversion = *format;
    *directive_out = directive;
    return *format == '\0' ? format : format + 1;
}

void text_vformat(struct text_writer *text, const char *format, va_list list)
{
    struct arguments arguments;

    va_copy(arguments.list, list);
    while (*format != '\0') {
        const char *behind = format;
        struct directive directive;

        while (*behind != '\0' && *behind != '%')
            behind++;
        text_put_bytes(text, format, (size_t)(behind - format));
        format = behind;
        if (*format == '\0')
            break;
        behind = parse_directive(format + 1, &arguments, &directive);
        if (!put_converted(text, &directive, &arguments)) {
            text_put_string(text, format);
            break;
        }
        format = behind;
    }
    va_end(arguments.list);
}

void text_format(struct text_writer *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    text_vformat(text, format, arguments);
    va_end(arguments);
}
