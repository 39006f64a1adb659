/* SPDX-License-Identifier: MIT */
/*
 * Takes call stacks of itself at some points, and prints them afterwards: in a recursion, in a function that libc calls
 * back, and in a signal handler. Taking one is a matter of nanoseconds, so nothing is looked up then: names come later.
 * How many that are is measured when code and tables are warm, as in a program that takes many.
 *
 *   build/examples/own_stack
 *
 * Shows: gait_stack_capture, and time stamps. Uses gait/stack.h and gait/clock.h.
 */
#define _GNU_SOURCE
#include "gait/clock.h"
#include "gait/stack.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define STACKS_MAX     8
#define FRAMES_MAX     32

#define WARMING_COUNT  1000
#define MEASURED_COUNT 100000

/* ---- taking them ------------------------------------------------------------------------------------------------- */
static struct {
    const char *where;
    struct gait_stack stack;
    uint64_t pcs[FRAMES_MAX];
} taken[STACKS_MAX];
static volatile sig_atomic_t taken_count, last_signal;

/* Also called in a signal handler: no lock, no memory, no system call. */
static __attribute__((noinline)) void take(const char *where)
{
    if (taken_count == STACKS_MAX)
        return;
    taken[taken_count].where = where;
    taken[taken_count].stack = (struct gait_stack){
        .size_bytes = sizeof(struct gait_stack),
        .pcs = taken[taken_count].pcs,
        .capacity = FRAMES_MAX,
    };
    if (gait_stack_capture(&taken[taken_count].stack) == 0)
        taken_count++;
}

/* ---- what the program does --------------------------------------------------------------------------------------- */
__attribute__((noinline)) int add_up(int number);
int compare_and_take(const void *left, const void *right);
void handle_signal(int number);

int add_up(int number)
{
    /* The compiler would make a loop of it. */
    static int (*volatile again)(int number) = add_up;

    if (number == 0) {
        take("at the end of a recursion");
        return 0;
    }
    return number + again(number - 1);
}

int compare_and_take(const void *left, const void *right)
{
    static int is_taken;

    if (!is_taken++)
        take("called back by qsort");
    return *(const int *)left - *(const int *)right;
}

void handle_signal(int number)
{
    take("in a signal handler");
    last_signal = number;
}

/* ---- how long it takes ------------------------------------------------------------------------------------------- */
struct measured {
    double ns;
    size_t frame_count;
};

__attribute__((noinline)) struct measured measure(int depth);

static void take_many(int count, struct gait_stack *stack)
{
    for (int i = 0; i < count; i++)
        if (gait_stack_capture(stack) != 0)
            return;
}

/* At the end of a recursion, the first ones aside. */
struct measured measure(int depth)
{
    static struct measured (*volatile again)(int depth) = measure;
    uint64_t pcs[FRAMES_MAX];
    struct gait_stack stack = {.size_bytes = sizeof(stack), .pcs = pcs, .capacity = FRAMES_MAX};
    struct gait_clock_pair before, after;

    if (depth > 0) {
        struct measured inner = again(depth - 1);

        return (struct measured){inner.ns, inner.frame_count};
    }
    take_many(WARMING_COUNT, &stack);
    gait_clock_read(&before);
    take_many(MEASURED_COUNT, &stack);
    gait_clock_read(&after);
    return (struct measured){(double)(after.monotonic_ns - before.monotonic_ns) / MEASURED_COUNT, stack.count};
}

/* ---- printing them ----------------------------------------------------------------------------------------------- */
static const struct {
    uint64_t start;
    const char *name;
} own[] = {
    {(uintptr_t)take, "take"},
    {(uintptr_t)add_up, "add_up"},
    {(uintptr_t)compare_and_take, "compare_and_take"},
    {(uintptr_t)handle_signal, "handle_signal"},
};

/* A return address is behind the call, which may be the last instruction of its function. */
static void print_frame(uint64_t pc)
{
    uint64_t distance = 256; /* none of them is longer */
    const char *name = NULL;
    Dl_info info;

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (pc - 1 - own[i].start < distance) {
            distance = pc - 1 - own[i].start;
            name = own[i].name;
        }
    if (name != NULL)
        printf("    %s\n", name);
    else if (dladdr((const void *)(uintptr_t)(pc - 1), &info) == 0)
        printf("    %#lx\n", (unsigned long)pc);
    else if (info.dli_sname != NULL)
        printf("    %s (%s)\n", info.dli_sname, info.dli_fname);
    else
        printf("    %#lx in %s\n", (unsigned long)(pc - (uintptr_t)info.dli_fbase), info.dli_fname);
}

int main(void)
{
    struct measured measured;
    int numbers[] = {3, 1, 2};

    /* So that also the first one is quick, and may be in a signal handler. */
    if (gait_stack_prepare() != 0) {
        fprintf(stderr, "own_stack: stacks cannot be taken on this machine\n");
        return 1;
    }
    signal(SIGUSR1, handle_signal);
    add_up(3);
    qsort(numbers, 3, sizeof(int), compare_and_take);
    raise(SIGUSR1);
    measured = measure(8);

    for (int i = 0; i < taken_count; i++) {
        const struct gait_stack *stack = &taken[i].stack;

        printf("%s, %zu frames:\n", taken[i].where, stack->count);
        for (size_t j = 0; j < stack->count; j++)
            print_frame(stack->pcs[j]);
    }
    printf("taking one of %zu frames: %.0f ns, on average of %d\n", measured.frame_count, measured.ns, MEASURED_COUNT);
    return 0;
}
