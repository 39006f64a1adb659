/* SPDX-License-Identifier: MIT */
/*
 * Prints the call tree of a function, found by following it: a small calculator, and what it calls in libc. The
 * calculator knows nothing of that and is not compiled in a special way, except that the compiler must leave its
 * functions what they are.
 *
 *   build/examples/call_tree [expression]
 *
 * Shows: events of calls and a sink that takes them. Uses gait/stalker.h, and gait/instruction.h to look through the
 * stubs by which a program calls libraries.
 */
#define _GNU_SOURCE
#include "gait/instruction.h"
#include "gait/stalker.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the calculator ---------------------------------------------------------------------------------------------- */
static __attribute__((noinline)) long sum(const char **text);

static char next(const char **text)
{
    while (**text == ' ')
        ++*text;
    return **text;
}

static __attribute__((noinline)) long number(const char **text)
{
    char *end;
    long value = strtol(*text, &end, 10);

    *text = end;
    return value;
}

static __attribute__((noinline)) long factor(const char **text)
{
    bool is_nested = next(text) == '(';
    long value;

    *text += is_nested;
    value = is_nested ? sum(text) : number(text);
    *text += is_nested && **text == ')';
    return value;
}

static __attribute__((noinline)) long product(const char **text)
{
    long value = factor(text);

    while (next(text) == '*') {
        ++*text;
        value *= factor(text);
    }
    return value;
}

static long sum(const char **text)
{
    long value = product(text);

    while (next(text) == '+' || **text == '-') {
        long sign = *(*text)++ == '+' ? 1 : -1;

        value += sign * product(text);
    }
    return value;
}

/* ---- following it ------------------------------------------------------------------------------------------------ */
#define EVENTS_MAX 100000

static struct {
    struct gait_event events[EVENTS_MAX];
    size_t count;
} record;

/* The thread may be anywhere now, also in malloc or printf. So the events are only put away. */
static int put_away(void *context, const struct gait_event *events, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count && record.count < EVENTS_MAX; i++)
        record.events[record.count++] = events[i];
    return 0;
}

static bool follow(struct gait_stalker *stalker, const char *text, long *result)
{
    struct gait_event_sink sink = {.process = put_away};
    struct gait_follow_options options = {.size_bytes = sizeof(options), .events = GAIT_EVENT_CALL, .sink = &sink};
    struct gait_error err;

    if (gait_stalker_follow_me(stalker, &options, &err) != 0) {
        fprintf(stderr, "call_tree: %s\n", err.text);
        return false;
    }
    *result = sum(&text);
    return gait_stalker_unfollow_me(stalker, NULL) == 0;
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */
static const struct {
    long (*function)(const char **text);
    const char *name;
} own[] = {{sum, "sum"}, {product, "product"}, {factor, "factor"}, {number, "number"}};

/* A call of another library goes to a stub, which jumps to where a pointer says. */
static uint64_t behind_stub(uint64_t address)
{
    struct gait_instruction jump = {.size_bytes = sizeof(jump)};

    if (gait_instruction_decode((const void *)(uintptr_t)address, GAIT_INSTRUCTION_BYTES_MAX, address, &jump, NULL) ==
            0 &&
        jump.flow == GAIT_FLOW_JUMP_INDIRECT && jump.memory_address != 0)
        return *(const uint64_t *)(uintptr_t)jump.memory_address;
    return address;
}

static const char *name_of(uint64_t address)
{
    Dl_info info;

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (address == (uintptr_t)own[i].function)
            return own[i].name;
    if (dladdr((const void *)(uintptr_t)behind_stub(address), &info) != 0 && info.dli_sname != NULL)
        return info.dli_sname;
    return "?";
}

static void print_tree(void)
{
    for (size_t i = 0; i < record.count; i++)
        /* The last call is the one that ends it all. */
        if (record.events[i].target != (uintptr_t)gait_stalker_unfollow_me)
            printf("%*s%s\n", 2 + 3 * record.events[i].depth, "", name_of(record.events[i].target));
    if (record.count == EVENTS_MAX)
        printf("  ... and more\n");
}

int main(int argc, char **argv)
{
    const char *expression = argc > 1 ? argv[1] : "2 * (3 + 4) - 5", *text = expression;
    long natively = sum(&text), followed = 0;
    struct gait_stalker *stalker;
    struct gait_error err;
    bool is_right;

    if (gait_stalker_create(NULL, &stalker, &err) != 0) {
        fprintf(stderr, "call_tree: %s\n", err.text);
        return 1;
    }
    is_right = follow(stalker, expression, &followed) && followed == natively;
    printf("%s = %ld\n\n", expression, followed);
    print_tree();
    gait_stalker_destroy(stalker);
    return is_right ? 0 : 1;
}
