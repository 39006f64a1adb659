/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export/export_text.h"

#include "hosted/json_text.h"

#include <string.h>

#define REPLACEMENT       "\xef\xbf\xbd"
#define REPLACEMENT_BYTES 3u
#define DIGITS_MAX        20u

/* How many bytes the character takes that begins here; 0: it is none that may be shown. */
static size_t clean_bytes(const unsigned char *text)
{
    uint32_t code;
    size_t length = json_character(text, &code);

    return json_character_is_clean(code) ? length : 0;
}

size_t export_text_clean(char *buffer, size_t buffer_bytes, const char *text)
{
    const unsigned char *place = (const unsigned char *)text;
    size_t used = 0;

    while (*place != '\0') {
        size_t length = clean_bytes(place), written = length == 0 ? REPLACEMENT_BYTES : length;

        if (used + written >= buffer_bytes)
            break;
        memcpy(buffer + used, length == 0 ? REPLACEMENT : (const char *)place, written);
        used += written;
        place += length == 0 ? 1 : length;
    }
    buffer[used] = '\0';
    return used;
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
