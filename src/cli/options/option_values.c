/* SPDX-License-Identifier: MIT */
#include "cli/options/option_values.h"

#include "base/text_parse.h"
#include "gait/stalker.h"
#include "ring/ring_layout.h"

#include <string.h>

#define SECONDS_MAX 1000000000ul

static const struct {
    const char *name;
    uint32_t event;
} event_names[] = {
    {"none", 0},
    {"call", GAIT_EVENT_CALL},
    {"ret", GAIT_EVENT_RET},
    {"block", GAIT_EVENT_BLOCK},
    {"exec", GAIT_EVENT_EXEC},
    {"compile", GAIT_EVENT_COMPILE},
};

static bool add_event(const char *name, size_t length, uint32_t *events)
{
    for (size_t i = 0; i < sizeof(event_names) / sizeof(event_names[0]); i++)
        if (strlen(event_names[i].name) == length && memcmp(event_names[i].name, name, length) == 0) {
            *events |= event_names[i].event;
            return true;
        }
    return false;
}

bool option_read_events(const char *text, uint32_t *events_out)
{
    uint32_t events = 0;

    for (const char *name = text;; name++) {
        size_t length = strcspn(name, ",");

        if (!add_event(name, length, &events))
            return false;
        name += length;
        if (*name == '\0')
            break;
    }
    *events_out = events;
    return true;
}

bool option_read_number(const char *text, unsigned long most, unsigned long *number_out)
{
    uint64_t number;

    if (text_parse_decimal(text, strlen(text), &number) != 0 || number > most)
        return false;
    *number_out = (unsigned long)number;
    return true;
}

bool option_read_buffer_bytes(const char *text, size_t *size_out)
{
    size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits;
    unsigned shift = strcmp(unit, "M") == 0 || strcmp(unit, "m") == 0   ? 20
                     : strcmp(unit, "K") == 0 || strcmp(unit, "k") == 0 ? 10
                                                                        : 0;
    uint64_t number;

    if (text_parse_decimal(text, digits, &number) != 0 || number > RING_BUFFER_BYTES_MAX ||
        (shift == 0 && *unit != '\0'))
        return false;
    number <<= shift;
    if (number < RING_BUFFER_BYTES_MIN || number > RING_BUFFER_BYTES_MAX)
        return false;
    *size_out = (size_t)number;
    return true;
}

bool option_read_seconds(const char *text, unsigned *seconds_out)
{
    unsigned long number;

    if (!option_read_number(text, SECONDS_MAX, &number) || number == 0)
        return false;
    *seconds_out = (unsigned)number;
    return true;
}

struct number_unit {
    char letter;
    uint64_t factor;
};

#define UNITS          3
#define FILE_BYTES_MIN (64u << 10)
#define FILE_BYTES_MAX (1ull << 60)

/* A number and a unit. */
static bool read_with_unit(const char *text, const struct number_unit units[UNITS], uint64_t most, uint64_t *value_out)
{
    size_t digits = strspn(text, "0123456789");
    uint64_t number;

    if (text_parse_decimal(text, digits, &number) != 0)
        return false;
    for (unsigned i = 0; i < UNITS; i++)
        if (text[digits] == units[i].letter && text[digits + 1] == '\0' && number <= most / units[i].factor) {
            *value_out = number * units[i].factor;
            return true;
        }
    return false;
}

bool option_read_file_bytes(const char *text, uint64_t *size_out)
{
    static const struct number_unit units[UNITS] = {{'K', 1u << 10}, {'M', 1u << 20}, {'G', 1u << 30}};
    uint64_t size;

    if (!read_with_unit(text, units, FILE_BYTES_MAX, &size) || size < FILE_BYTES_MIN)
        return false;
    *size_out = size;
    return true;
}

bool option_read_age(const char *text, uint64_t *nanoseconds_out)
{
    static const struct number_unit units[UNITS] = {{'s', 1}, {'m', 60}, {'h', 3600}};
    uint64_t seconds;

    if (!read_with_unit(text, units, SECONDS_MAX, &seconds) || seconds == 0)
        return false;
    *nanoseconds_out = seconds * 1000000000;
    return true;
}

bool option_read_roll(const char *text, uint64_t *milliseconds_out)
{
    uint64_t milliseconds;

    if (text_parse_scaled(text, strlen(text), 1000, &milliseconds) != 0 || milliseconds > SECONDS_MAX * 1000)
        return false;
    *milliseconds_out = milliseconds;
    return true;
}

bool option_read_overflow(const char *text, int *overflow_out)
{
    if (strcmp(text, "drop") == 0)
        *overflow_out = RING_DROP;
    else if (strcmp(text, "block") == 0)
        *overflow_out = RING_BLOCK;
    else
        return false;
    return true;
}
