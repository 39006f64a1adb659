/* SPDX-License-Identifier: MIT */
/*
 * Changes the arguments of calls. A function greets slowly: it sleeps between its words. While it is followed, a probe
 * on usleep() shortens each nap to a hundredth, and one on puts() makes it say something else.
 *
 * Shows: call probes, which see a function's registers before its first instruction, and may write them. Uses
 * gait/stalker.h.
 */
#define _DEFAULT_SOURCE
#include "gait/stalker.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAP_US 100000

/* ---- what is followed -------------------------------------------------------------------------------------------- */
static __attribute__((noinline)) void greet(void)
{
    static const char *const words[] = {"    Good", "    evening,", "    world."};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        usleep(NAP_US);
        puts(words[i]);
    }
}

/* ---- the probes -------------------------------------------------------------------------------------------------- */
static void shorten_nap(struct gait_call *call, void *data)
{
    unsigned *naps = data;

    ++*naps;
    *gait_cpu_argument_place(call->cpu, 0) /= 100;
}

static void change_word(struct gait_call *call, void *data)
{
    const char *said = (const char *)(uintptr_t)gait_cpu_argument(call->cpu, 0), *better = data;

    if (strstr(said, "evening") != NULL)
        gait_cpu_argument_set(call->cpu, 0, (uintptr_t)better);
}

static bool add_probes(struct gait_stalker *stalker, unsigned *naps)
{
    struct gait_error err;

    if (gait_stalker_add_call_probe(stalker, (uintptr_t)usleep, shorten_nap, naps, NULL, &err) == 0 &&
        gait_stalker_add_call_probe(stalker, (uintptr_t)puts, change_word, "    morning,", NULL, &err) == 0)
        return true;
    fprintf(stderr, "probe_argument: %s\n", err.text);
    return false;
}

/* ---- showing it -------------------------------------------------------------------------------------------------- */
static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool greet_followed(struct gait_stalker *stalker)
{
    struct gait_error err;

    if (gait_stalker_follow_me(stalker, NULL, &err) != 0) {
        fprintf(stderr, "probe_argument: %s\n", err.text);
        return false;
    }
    greet();
    return gait_stalker_unfollow_me(stalker, NULL) == 0;
}

int main(void)
{
    struct gait_stalker *stalker;
    struct gait_error err;
    unsigned naps = 0;
    double start;

    if (gait_stalker_create(NULL, &stalker, &err) != 0) {
        fprintf(stderr, "probe_argument: %s\n", err.text);
        return 1;
    }
    start = now_s();
    greet();
    printf("  said natively in %.2f seconds\n", now_s() - start);
    if (!add_probes(stalker, &naps))
        return 1;
    start = now_s();
    if (!greet_followed(stalker))
        return 1;
    printf("  said with probes in %.2f seconds, %u naps shortened\n", now_s() - start, naps);
    gait_stalker_destroy(stalker);
    return naps == 3 ? 0 : 1;
}
