/* SPDX-License-Identifier: MIT */
/* The few steps that all tests of following share. Stateless. */
#include "support/followed_call.h"

#include "support/check.h"

#include <errno.h>

struct gait_stalker *followed_call_stalker(void)
{
    struct gait_stalker *stalker = NULL;
    struct gait_error err = {0};
    int result = gait_stalker_create(NULL, &stalker, &err);

    if (result == -EOPNOTSUPP)
        check_skip(err.text);
    followed_call_require(result, &err);
    return stalker;
}

void followed_call_require(int failed, const struct gait_error *err)
{
    if (!failed)
        return;
    printf("%s\n", err->text);
    exit(1);
}

__attribute__((noinline)) uint64_t followed_call(struct gait_stalker *stalker,
                                                 const struct gait_follow_options *options, uint64_t function,
                                                 uint64_t a, uint64_t b)
{
    struct gait_error err = {0};
    uint64_t value;
    int failed = gait_stalker_follow_me(stalker, options, &err);

    followed_call_require(failed, &err);
    value = ((followed_function *)(uintptr_t)function)(a, b);
    failed = gait_stalker_unfollow_me(stalker, &err);
    followed_call_require(failed, &err);
    return value;
}

struct gait_stalker_statistics followed_statistics(struct gait_stalker *stalker)
{
    struct gait_stalker_statistics statistics = {.size_bytes = sizeof(statistics)};
    struct gait_error err = {0};

    followed_call_require(gait_stalker_read_statistics(stalker, &statistics, &err), &err);
    return statistics;
}
