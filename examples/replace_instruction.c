/* SPDX-License-Identifier: MIT */
/*
 * Replaces an instruction. A function reads the CPU's time stamp counter with rdtsc to time itself; while it is
 * followed, each rdtsc becomes a call of ours, which answers from a clock that goes on by 1000 each time it is read. So
 * the function finds the same times in every run, and nothing of it was changed or compiled again.
 *
 * Shows: a transformer that leaves an instruction out and puts a callout there, which writes registers. Uses
 * gait/stalker.h.
 */
#include "gait/stalker.h"
#include "gait/x86_64.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define STEPS 4
#define TICK  1000

/* ---- what is followed -------------------------------------------------------------------------------------------- */
#ifdef __x86_64__
static uint64_t read_clock(void)
{
    uint64_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return high << 32 | low;
}
#else
/* There is nothing to replace: gait follows threads on x86_64 only, so far. */
static uint64_t read_clock(void)
{
    return 0;
}
#endif

/* Does something in steps and notes how long each takes. */
static __attribute__((noinline)) void time_steps(uint64_t cycles[STEPS])
{
    for (int step = 0; step < STEPS; step++) {
        uint64_t start = read_clock();

        for (uint64_t i = 0; i < 100; i++)
            __asm__ volatile("" : : "r"(i));
        cycles[step] = read_clock() - start;
    }
}

/* ---- the replacement --------------------------------------------------------------------------------------------- */
struct clock {
    uint64_t now;
};

static void answer(struct gait_cpu_context *cpu, void *data)
{
    struct clock *clock = data;

    clock->now += TICK;
    gait_x86_64_rax(cpu) = clock->now & UINT32_MAX;
    gait_x86_64_rdx(cpu) = clock->now >> 32;
}

static void replace_rdtsc(void *context, struct gait_iterator *iterator)
{
    struct gait_instruction instruction = {.size_bytes = sizeof(instruction)};

    while (gait_iterator_next(iterator, &instruction)) {
        if (strcmp(instruction.mnemonic, "rdtsc") == 0)
            gait_iterator_put_callout(iterator, answer, context, GAIT_CALLOUT_ANY);
        else
            gait_iterator_keep(iterator);
    }
}

static bool time_followed(struct gait_stalker *stalker, uint64_t cycles[STEPS])
{
    struct clock clock = {0};
    struct gait_transformer transformer = {.transform = replace_rdtsc, .context = &clock};
    struct gait_follow_options options = {.size_bytes = sizeof(options), .transformer = &transformer};
    struct gait_error err;

    if (gait_stalker_follow_me(stalker, &options, &err) != 0) {
        fprintf(stderr, "replace_instruction: %s\n", err.text);
        return false;
    }
    time_steps(cycles);
    return gait_stalker_unfollow_me(stalker, NULL) == 0;
}

/* ---- showing it -------------------------------------------------------------------------------------------------- */
static void print_times(const char *how, const uint64_t cycles[STEPS])
{
    printf("  %-28s", how);
    for (int step = 0; step < STEPS; step++)
        printf(" %8" PRIu64, cycles[step]);
    printf("\n");
}

int main(void)
{
    uint64_t cycles[STEPS] = {0};
    struct gait_stalker *stalker;
    struct gait_error err;
    bool is_right = true;

    if (gait_stalker_create(NULL, &stalker, &err) != 0) {
        fprintf(stderr, "replace_instruction: %s\n", err.text);
        return 1;
    }
    printf("cycles that each step of the same work takes, by what rdtsc says:\n");
    time_steps(cycles);
    print_times("native", cycles);
    if (!time_followed(stalker, cycles))
        return 1;
    print_times("followed, rdtsc replaced", cycles);
    for (int step = 0; step < STEPS; step++)
        is_right &= cycles[step] == TICK;
    time_steps(cycles);
    print_times("native again", cycles);
    gait_stalker_destroy(stalker);
    return is_right ? 0 : 1;
}
