/* SPDX-License-Identifier: MIT */
/* Calling a function while the calling thread is followed. */
#ifndef GAIT_TESTS_FOLLOWED_CALL_H
#define GAIT_TESTS_FOLLOWED_CALL_H

#include "gait/stalker.h"

#include <stdint.h>

typedef uint64_t followed_function(uint64_t a, uint64_t b);

/* A stalker with default options. Leaves the program as skipped where gait cannot follow threads. */
struct gait_stalker *followed_call_stalker(void);

/* Follows the calling thread, calls function(a, b), unfollows. Ends the program, with the reason, if it cannot. */
uint64_t followed_call(struct gait_stalker *stalker, const struct gait_follow_options *options, uint64_t function,
                       uint64_t a, uint64_t b);

/* The same function natively. */
static inline uint64_t native_call(uint64_t function, uint64_t a, uint64_t b)
{
    return ((followed_function *)(uintptr_t)function)(a, b);
}

/* Options with a size and nothing else set. */
static inline struct gait_follow_options followed_options(void)
{
    return (struct gait_follow_options){.size_bytes = sizeof(struct gait_follow_options)};
}

/* Ends the program, with the reason, if `failed`. */
void followed_call_require(int failed, const struct gait_error *err);

/* The figures of a stalker. */
struct gait_stalker_statistics followed_statistics(struct gait_stalker *stalker);

#endif
