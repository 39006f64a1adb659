/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record/trigger_spec.h"

#include "base/text_parse.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool take_pattern(struct trigger_spec *spec, const char *text, size_t length)
{
    if (length == 0 || length >= sizeof(spec->pattern))
        return false;
    memcpy(spec->pattern, text, length);
    return true;
}

static bool take_duration(struct trigger_spec *spec, const char *text)
{
    return text_parse_duration(text, strlen(text), &spec->nanoseconds) == 0 && spec->nanoseconds != 0;
}

static bool take_symbol(struct trigger_spec *spec, const char *value)
{
    return take_pattern(spec, value, strlen(value));
}

/* The last mark counts: names of operators have some. */
static bool take_slow(struct trigger_spec *spec, const char *value)
{
    const char *mark = strrchr(value, '>');

    return mark != NULL && take_pattern(spec, value, (size_t)(mark - value)) && take_duration(spec, mark + 1);
}

/* By the name with or without SIG, or the number. */
static bool take_signal(struct trigger_spec *spec, const char *value)
{
    const char *name = strncasecmp(value, "SIG", 3) == 0 ? value + 3 : value;
    uint64_t number;

    if (text_parse_decimal(value, strlen(value), &number) == 0) {
        spec->signal = number >= 1 && number <= (uint64_t)SIGRTMAX ? (int)number : 0;
        return spec->signal != 0;
    }
    for (int i = 1; i < NSIG; i++) {
        const char *known = sigabbrev_np(i);

        if (known != NULL && strcasecmp(name, known) == 0) {
            spec->signal = i;
            return true;
        }
    }
    return false;
}

static bool take_time(struct trigger_spec *spec, const char *value)
{
    return value[0] == '+' && take_duration(spec, value + 1);
}

static const struct {
    const char *name;
    enum trigger_spec_kind kind;
    bool (*take)(struct trigger_spec *spec, const char *value); /* NULL: it has no value */
    const char *wanted;
} kinds[] = {
    {"symbol", TRIGGER_SPEC_SYMBOL, take_symbol, "symbol=FUNCTION or symbol=MODULE!FUNCTION, in less than 120 letters"},
    {"slow", TRIGGER_SPEC_SLOW, take_slow, "slow=FUNCTION>TIME, with a time like 50ms or 1.5s"},
    {"crash", TRIGGER_SPEC_CRASH, NULL, "crash"},
    {"signal", TRIGGER_SPEC_SIGNAL, take_signal, "signal=SIGUSR1 or another signal's name or number"},
    {"time", TRIGGER_SPEC_TIME, take_time, "time=+TIME, with a time like 30s or 2m"},
    {"every", TRIGGER_SPEC_EVERY, take_duration, "every=TIME, with a time like 60s or 500ms"},
    {"manual", TRIGGER_SPEC_MANUAL, NULL, "manual"},
};

const char *trigger_spec_kind_name(enum trigger_spec_kind kind)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (kinds[i].kind == kind)
            return kinds[i].name;
    return "unknown";
}

const char *trigger_spec_parse(const char *text, struct trigger_spec *spec_out)
{
    size_t name_length = strcspn(text, "=");
    const char *value = text[name_length] == '=' ? text + name_length + 1 : NULL;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct trigger_spec spec = {.kind = kinds[i].kind, .text = text};

        if (strlen(kinds[i].name) != name_length || memcmp(text, kinds[i].name, name_length) != 0)
            continue;
        if ((value == NULL) != (kinds[i].take == NULL) || (value != NULL && !kinds[i].take(&spec, value)))
            return kinds[i].wanted;
        *spec_out = spec;
        return NULL;
    }
    return "symbol=GLOB, slow=GLOB>TIME, crash, signal=NAME, time=+TIME, every=TIME or manual";
}
