/* SPDX-License-Identifier: MIT */
/* The tables of constant_sets*.def. Looked through from the start: none is long, and people read what comes out. */
#define _GNU_SOURCE
#include "syscalls/constant_set.h"

#include "syscalls/call_text.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
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

/* A set refers to two tables, and not each constant to its name: the start of the command pays for each reference. */
struct constant_set {
    const char *unknown;
    unsigned bits;
    const char *names; /* one behind the other, each with its end; behind the last is an empty one */
    const uint64_t *values;
};

/* clang-format off */
#define SET(set, unknown, bits) static const char set##_names[] =
#define CONSTANT(name)          #name "\0"
#define VALUE(name, value)      #name "\0"
#define END                     "";
#include "syscalls/constant_sets.def"
#include "syscalls/constant_sets_devices.def"
#include "syscalls/constant_sets_input.def"
#include "syscalls/constant_sets_ioctl.def"
#include "syscalls/constant_sets_ioctl_devices.def"
#include "syscalls/constant_sets_network.def"
#include "syscalls/constant_sets_prctl.def"
#include "syscalls/constant_sets_sockets.def"
#include "syscalls/constant_sets_structs.def"
#undef SET
#undef CONSTANT
#undef VALUE
#undef END

#define SET(set, unknown, bits) static const uint64_t set##_values[] = {
#define CONSTANT(name)          (uint64_t)(name),
#define VALUE(name, value)      (uint64_t)(value),
#define END                     0};
#include "syscalls/constant_sets.def"
#include "syscalls/constant_sets_devices.def"
#include "syscalls/constant_sets_input.def"
#include "syscalls/constant_sets_ioctl.def"
#include "syscalls/constant_sets_ioctl_devices.def"
#include "syscalls/constant_sets_network.def"
#include "syscalls/constant_sets_prctl.def"
#include "syscalls/constant_sets_sockets.def"
#include "syscalls/constant_sets_structs.def"
#undef SET
#undef CONSTANT
#undef VALUE
#undef END
/* clang-format on */

#define CONSTANT(name)
#define VALUE(name, value)
#define END
#define SET(set, unknown, bits) [SYSTEM_CALL_SET_##set] = {unknown, bits, set##_names, set##_values},
static const struct constant_set sets[] = {
#include "syscalls/constant_sets.def"
#include "syscalls/constant_sets_devices.def"
#include "syscalls/constant_sets_input.def"
#include "syscalls/constant_sets_ioctl.def"
#include "syscalls/constant_sets_ioctl_devices.def"
#include "syscalls/constant_sets_network.def"
#include "syscalls/constant_sets_prctl.def"
#include "syscalls/constant_sets_sockets.def"
#include "syscalls/constant_sets_structs.def"
};

/* A constant of a set, the first one at first. */
struct constant_place {
    const char *name;
    const uint64_t *value;
};

static struct constant_place first_of(const struct constant_set *set)
{
    return (struct constant_place){set->names, set->values};
}

static bool is_behind_last(const struct constant_place *place)
{
    return place->name[0] == '\0';
}

static void go_on(struct constant_place *place)
{
    place->name += strlen(place->name) + 1;
    place->value++;
}

static uint64_t cut(const struct constant_set *set, uint64_t value)
{
    return set->bits == 64 ? value : value & ((1ULL << set->bits) - 1);
}

const char *constant_set_name(enum system_call_constants which, uint64_t value)
{
    struct constant_place place = first_of(&sets[which]);

    for (value = cut(&sets[which], value); !is_behind_last(&place); go_on(&place))
        if (*place.value == value)
            return place.name;
    return NULL;
}

static bool begin_name(struct text_writer *text, uint64_t value)
{
    char number[32];

    snprintf(number, sizeof(number), value == 0 ? "0" : "%#lx", (unsigned long)value);
    return call_text_begin_name(text, number);
}

static void put_unknown(struct text_writer *text, const struct constant_set *set, uint64_t value)
{
    if (value == 0)
        text_put_char(text, '0');
    else
        text_format(text, "%#lx", (unsigned long)value);
    if (text->style != CALL_TEXT_NUMBERS)
        text_format(text, " /* %s */", set->unknown);
}

uint64_t constant_set_put_bits(struct text_writer *text, enum system_call_constants which, uint64_t value,
                               bool *is_first)
{
    struct constant_place place = first_of(&sets[which]);

    for (value = cut(&sets[which], value); !is_behind_last(&place) && value != 0; go_on(&place)) {
        if (*place.value == 0 || (value & *place.value) != *place.value)
            continue;
        text_format(text, "%s%s", *is_first ? "" : "|", place.name);
        value &= ~*place.value;
        *is_first = false;
    }
    return value;
}

/* Whether one of the set's flags is in the value. */
static bool has_any(const struct constant_set *set, uint64_t value)
{
    struct constant_place place = first_of(set);

    for (; !is_behind_last(&place); go_on(&place))
        if (*place.value != 0 && (value & *place.value) == *place.value)
            return true;
    return false;
}

void constant_set_put_flags(struct text_writer *text, enum system_call_constants which, uint64_t value)
{
    const struct constant_set *set = &sets[which];
    bool is_first = true;
    uint64_t rest;

    value = cut(set, value);
    if (value == 0 && set->values[0] != 0) {
        text_put_char(text, '0');
        return;
    }
    if (value != 0 && !has_any(set, value)) {
        put_unknown(text, set, value);
        return;
    }
    if (!begin_name(text, value))
        return;
    if (value == 0)
        text_put_string(text, set->names);
    rest = constant_set_put_bits(text, which, value, &is_first);
    if (rest != 0)
        text_format(text, "|%#lx", (unsigned long)rest);
    call_text_end_name(text);
}

void constant_set_put_comment(struct text_writer *text, enum system_call_constants which)
{
    text_format(text, " /* %s */", sets[which].unknown);
}

void constant_set_put_choice(struct text_writer *text, enum system_call_constants which, uint64_t value)
{
    const char *name = constant_set_name(which, value);

    if (name == NULL) {
        put_unknown(text, &sets[which], cut(&sets[which], value));
    } else if (begin_name(text, cut(&sets[which], value))) {
        text_put_string(text, name);
        call_text_end_name(text);
    }
}
