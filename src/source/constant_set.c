/* SPDX-License-Identifier: MIT */
/* The tables of constant_sets.def. Looked through from the start: none is long, and people read what comes out. */
#define _GNU_SOURCE
#include "source/constant_set.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* libc has no such flag where all files are large; the kernel has. */
#define LARGE_FILE 0100000

struct constant {
    const char *name;
    uint64_t value;
};

struct constant_set {
    const char *unknown;
    unsigned bits;
    const struct constant *constants;
};

#define SET(set, unknown, bits) static const struct constant set##_constants[] = {
#define CONSTANT(name)          {#name, (uint64_t)(name)},
#define VALUE(name, value)      {#name, (uint64_t)(value)},
/* clang-format off */
#define END {NULL, 0}};
#include "source/constant_sets.def"
#undef SET
#undef CONSTANT
#undef VALUE
#undef END
/* clang-format on */

#define CONSTANT(name)
#define VALUE(name, value)
#define END
#define SET(set, unknown, bits) [SYSTEM_CALL_SET_##set] = {unknown, bits, set##_constants},
static const struct constant_set sets[] = {
#include "source/constant_sets.def"
};

static uint64_t cut(const struct constant_set *set, uint64_t value)
{
    return set->bits == 64 ? value : value & ((1ULL << set->bits) - 1);
}

const char *constant_set_name(enum system_call_constants which, uint64_t value)
{
    const struct constant *constant = sets[which].constants;

    for (value = cut(&sets[which], value); constant->name != NULL; constant++)
        if (constant->value == value)
            return constant->name;
    return NULL;
}

static void put_unknown(struct text_writer *text, const struct constant_set *set, uint64_t value)
{
    if (value == 0)
        text_put_char(text, '0');
    else
        text_format(text, "%#lx", (unsigned long)value);
    text_format(text, " /* %s */", set->unknown);
}

uint64_t constant_set_put_bits(struct text_writer *text, enum system_call_constants which, uint64_t value,
                               bool *is_first)
{
    const struct constant *constant = sets[which].constants;

    for (value = cut(&sets[which], value); constant->name != NULL && value != 0; constant++) {
        if (constant->value == 0 || (value & constant->value) != constant->value)
            continue;
        text_format(text, "%s%s", *is_first ? "" : "|", constant->name);
        value &= ~constant->value;
        *is_first = false;
    }
    return value;
}

void constant_set_put_flags(struct text_writer *text, enum system_call_constants which, uint64_t value)
{
    const struct constant_set *set = &sets[which];
    bool is_first = true;
    uint64_t rest;

    value = cut(set, value);
    if (value == 0) {
        text_put_string(text, set->constants->value == 0 ? set->constants->name : "0");
        return;
    }
    rest = constant_set_put_bits(text, which, value, &is_first);
    if (rest == 0)
        return;
    if (is_first)
        put_unknown(text, set, rest);
    else
        text_format(text, "|%#lx", (unsigned long)rest);
}

void constant_set_put_choice(struct text_writer *text, enum system_call_constants which, uint64_t value)
{
    const char *name = constant_set_name(which, value);

    if (name != NULL)
        text_put_string(text, name);
    else
        put_unknown(text, &sets[which], cut(&sets[which], value));
}
