/* SPDX-License-Identifier: MIT */
/* In builds without libbpf, or without clang to make programs for the kernel with. */
#include "syscalls/call_feed.h"

#include "kernel/kernel_program.h"

static int begin(const struct call_feed_options *options, void **feed_out, struct gait_error *err)
{
    (void)options;
    (void)feed_out;
    return kernel_program_check(err);
}

static void end(void *feed)
{
    (void)feed;
}

static size_t drain(void *feed, int timeout_ms, call_feed_hear hear, void *context)
{
    (void)feed;
    (void)timeout_ms;
    (void)hear;
    (void)context;
    return 0;
}

static bool is_over(void *feed)
{
    (void)feed;
    return true;
}

static uint64_t lost(void *feed)
{
    (void)feed;
    return 0;
}

const struct call_feed call_feed_program = {
    .has_memory = true,
    .begin = begin,
    .end = end,
    .drain = drain,
    .is_over = is_over,
    .lost = lost,
};
