/* SPDX-License-Identifier: MIT */
/*
 * What does a call stack of some twenty frames cost? Against libunwind's unw_backtrace, which keeps a cache, glibc's
 * backtrace(), and a walk along frame pointers (in the same functions, compiled with them). No stack is the one before:
 *
 *   related  as in a program: the three innermost functions differ each time, seven every 8th time, all every 64th
 *   others   all functions differ each time
 *
 * Ours has a time stamp, and the thread; "walk" is ours without them. The time of the calls that make the stack is
 * measured as well, and taken off. All stacks of the first rounds are compared with glibc's.
 */
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include "gait/stack.h"
#include "libgait/stack_thread.h"
#include "support/stopwatch.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS     15
#define STACKS     4096u
#define LEVELS     12u
#define FRAMES_MAX 64

static size_t (*take)(void); /* what the innermost function calls; how many frames there were */
static size_t frames_seen;
static uint64_t paths[2][STACKS]; /* three bits for each level, from the innermost on */

/* ---- the functions ----------------------------------------------------------------------------------------------- */

typedef unsigned level_function(unsigned depth, uint64_t path);

#define LEVEL(name, words, attributes, table)                                                                          \
    static __attribute__((noinline)) attributes unsigned name(unsigned depth, uint64_t path)                           \
    {                                                                                                                  \
        volatile uint64_t room[words];                                                                                 \
        unsigned result;                                                                                               \
                                                                                                                       \
        room[0] = path;                                                                                                \
        if (depth == 0)                                                                                                \
            result = (unsigned)take();                                                                                 \
        else                                                                                                           \
            result = table[path >> 3 * (depth - 1) & 7](depth - 1, path);                                              \
        return result + (unsigned)(room[0] - path);                                                                    \
    }

#define LEVELS_OF(kind, attributes)                                                                                    \
    static level_function *const kind[8];                                                                              \
    LEVEL(kind##_0, 1, attributes, kind)                                                                               \
    LEVEL(kind##_1, 2, attributes, kind)                                                                               \
    LEVEL(kind##_2, 5, attributes, kind)                                                                               \
    LEVEL(kind##_3, 8, attributes, kind)                                                                               \
    LEVEL(kind##_4, 12, attributes, kind)                                                                              \
    LEVEL(kind##_5, 17, attributes, kind)                                                                              \
    LEVEL(kind##_6, 23, attributes, kind)                                                                              \
    LEVEL(kind##_7, 30, attributes, kind)                                                                              \
    static level_function *const kind[8] = {kind##_0, kind##_1, kind##_2, kind##_3,                                    \
                                            kind##_4, kind##_5, kind##_6, kind##_7};

#define NO_POINTERS   __attribute__((optimize("omit-frame-pointer")))
#define WITH_POINTERS __attribute__((optimize("no-omit-frame-pointer")))

LEVELS_OF(plain, NO_POINTERS)
LEVELS_OF(chained, WITH_POINTERS)

static size_t descend(level_function *const functions[8], const uint64_t *path_of, size_t (*way)(void))
{
    take = way;
    frames_seen = 0;
    for (size_t i = 0; i < STACKS; i++)
        frames_seen += functions[path_of[i] >> 3 * LEVELS & 7](LEVELS, path_of[i]);
    return STACKS;
}

static void make_paths(void)
{
    uint64_t state = 1, related = 0;

    for (size_t i = 0; i < STACKS; i++) {
        unsigned levels = i % 64 == 0 ? LEVELS + 1 : i % 8 == 0 ? 7 : 3;

        state = state * 6364136223846793005u + 1442695040888963407u;
        paths[1][i] = state >> 13;
        related = (related & ~(((uint64_t)1 << 3 * levels) - 1)) | (paths[1][i] & (((uint64_t)1 << 3 * levels) - 1));
        paths[0][i] = related;
    }
}

/* ---- the ways ---------------------------------------------------------------------------------------------------- */

static int (*libc_backtrace)(void **pcs, int capacity);

static size_t take_nothing(void)
{
    return 1;
}

static size_t take_ours(void)
{
    uint64_t pcs[FRAMES_MAX];
    struct gait_stack stack = {.size_bytes = sizeof(stack), .pcs = pcs, .capacity = FRAMES_MAX};

    return gait_stack_capture(&stack) == 0 ? stack.count : 0;
}

static size_t walk_ours(void)
{
    uint64_t pcs[FRAMES_MAX];
    const uint64_t *frame = __builtin_frame_address(0);
    const struct stack_start start = {frame[1], (uintptr_t)(frame + 2), frame[0], true, NULL};
    struct stack_addresses addresses = {pcs, FRAMES_MAX, 0};

    return stack_walk(&stack_modules, &stack_thread_current->walker, &start, &addresses) == 0 ? addresses.count : 0;
}

static size_t take_libunwind(void)
{
    void *pcs[FRAMES_MAX];

    return (size_t)unw_backtrace(pcs, FRAMES_MAX);
}

static size_t take_libc(void)
{
    void *pcs[FRAMES_MAX];

    return (size_t)libc_backtrace(pcs, FRAMES_MAX);
}

static size_t take_pointers(void)
{
    uint64_t pcs[FRAMES_MAX];
    const uint64_t *frame = __builtin_frame_address(0), *before = NULL;
    size_t count = 0;

    /* As many as there are functions: what is behind them may have none. */
    for (; frame > before && count < LEVELS + 2; frame = (const uint64_t *)frame[0]) {
        pcs[count++] = frame[1];
        before = frame;
    }
    __asm__ volatile("" : : "r"(pcs) : "memory");
    return count;
}

/* Ours and glibc's, which both begin in here. */
static size_t compare(void)
{
    uint64_t ours[FRAMES_MAX];
    void *theirs[FRAMES_MAX];
    struct gait_stack stack = {.size_bytes = sizeof(stack), .pcs = ours, .capacity = FRAMES_MAX};
    int result = gait_stack_capture(&stack), count = libc_backtrace(theirs, FRAMES_MAX);

    if (result == 0 && stack.count == (size_t)count &&
        memcmp(ours + 1, theirs + 1, (stack.count - 1) * sizeof(ours[0])) == 0)
        return stack.count;
    printf("A stack differs from glibc's: %zu frames, %d frames\n", stack.count, count);
    exit(1);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

#define RUN(name, functions, way)                                                                                      \
    static size_t name(void *context)                                                                                  \
    {                                                                                                                  \
        return descend(functions, context, way);                                                                       \
    }

RUN(run_nothing, plain, take_nothing)
RUN(run_ours, plain, take_ours)
RUN(run_walk, plain, walk_ours)
RUN(run_libunwind, plain, take_libunwind)
RUN(run_libc, plain, take_libc)
RUN(run_chained_nothing, chained, take_nothing)
RUN(run_pointers, chained, take_pointers)

enum way { NOTHING, OURS, WALK, LIBUNWIND, LIBC, CHAINED_NOTHING, POINTERS, WAYS };

static void print_row(const char *kind, uint64_t *path_of)
{
    struct contestant contestants[WAYS] = {
        [NOTHING] = {"nothing", run_nothing, 0, 0},
        [OURS] = {"gait", run_ours, 0, 0},
        [WALK] = {"walk", run_walk, 0, 0},
        [LIBUNWIND] = {"libunwind", run_libunwind, 0, 0},
        [LIBC] = {"backtrace()", run_libc, 0, 0},
        [CHAINED_NOTHING] = {"nothing", run_chained_nothing, 0, 0},
        [POINTERS] = {"frame pointers", run_pointers, 0, 0},
    };
    double ns[WAYS], frames;

    descend(plain, path_of, take_ours);
    frames = (double)frames_seen / STACKS;
    stopwatch_compare(contestants, WAYS, ROUNDS, path_of);
    for (unsigned i = 0; i < WAYS; i++)
        ns[i] = contestants[i].best_ns - contestants[i < CHAINED_NOTHING ? NOTHING : CHAINED_NOTHING].best_ns;
    printf("| %s | %.0f | %.1f ns | %.1f ns | %.1f ns | **%.1f** (walk: %.1f) | %.0f ns | **%.0f** | %.1f ns |\n", kind,
           frames, ns[OURS], ns[WALK], ns[LIBUNWIND], ns[LIBUNWIND] / ns[OURS], ns[LIBUNWIND] / ns[WALK], ns[LIBC],
           ns[LIBC] / ns[OURS], ns[POINTERS]);
}

int main(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW);

    /* From libc itself: libunwind has one of that name, too. */
    *(void **)&libc_backtrace = libc == NULL ? NULL : dlsym(libc, "backtrace");
    if (libc_backtrace == NULL || gait_stack_prepare() != 0) {
        printf("There is no backtrace() to compare with, or stacks cannot be taken here.\n");
        return 1;
    }
    make_paths();
    descend(plain, paths[0], compare);
    descend(plain, paths[1], compare);
    printf("| stacks | frames | gait | walk | libunwind | ratio | backtrace() | ratio | frame pointers |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    print_row("related", paths[0]);
    print_row("others", paths[1]);
    return 0;
}
