/* SPDX-License-Identifier: MIT */
/*
 * passed_probe: passes a probe with two arguments again and again, in short rounds with pauses, and says in nanoseconds
 * what the best round took for each time, less what the same call takes without a probe. With -DWITH_LTTNG the probe is
 * a tracepoint of lttng-ust.
 */
#ifdef WITH_LTTNG
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#define LTTNG_UST_TRACEPOINT_INCLUDE  "passed_probe.c"
#if !defined(PASSED_PROBE_TRACEPOINT) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PASSED_PROBE_TRACEPOINT
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(bench, two, LTTNG_UST_TP_ARGS(long, number, const void *, place),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(long, number, number)
                                                   lttng_ust_field_integer_hex(unsigned long, place,
                                                                               (unsigned long)place)))
#include <lttng/tracepoint-event.h>
#endif
#endif

#if !defined(PASSED_PROBE_BODY) && (!defined(WITH_LTTNG) || defined(LTTNG_UST_TRACEPOINT_CREATE_PROBES))
#define PASSED_PROBE_BODY
#include <stdio.h>
#include <time.h>

#ifdef WITH_LTTNG
#define PASS(number, place) lttng_ust_tracepoint(bench, two, number, place)
#else
#include "gait/probe.h"
#define PASS(number, place) GAIT_PROBE(bench, two, number, place)
#endif

#define ROUNDS 400
#define TIMES  2000

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static __attribute__((noinline)) void pass(long number, const void *place)
{
    PASS(number, place);
    __asm__ volatile("" : : "r"(number), "r"(place));
}

static __attribute__((noinline)) void pass_nothing(long number, const void *place)
{
    __asm__ volatile("" : : "r"(number), "r"(place));
}

static double measure(void (*function)(long, const void *), double best)
{
    double began = now_ns(), took;

    for (long i = 0; i < TIMES; i++)
        function(i, &began);
    took = (now_ns() - began) / TIMES;
    return took < best ? took : best;
}

int main(void)
{
    const struct timespec pause = {0, 200000};
    double with = 1e9, without = 1e9;

    for (int i = 0; i < ROUNDS; i++) {
        with = measure(pass, with);
        without = measure(pass_nothing, without);
        /* So that whoever records can keep up. */
        nanosleep(&pause, NULL);
    }
    printf("%.2f\n", with - without);
    return 0;
}
#endif
