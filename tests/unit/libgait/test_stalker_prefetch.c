/* SPDX-License-Identifier: MIT */
/* What children translated and linked is done by their parent, after which no child does it again. */
#define _GNU_SOURCE
#include "gait/stalker.h"

#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct message {
    uint64_t from;
    uint64_t to; /* 0: it is a block */
};

struct counts {
    unsigned blocks;
    unsigned links;
};

static const struct gait_follow_options options = {.size_bytes = sizeof(options), .events = GAIT_EVENT_CALL};
static struct gait_stalker *stalker;
static int ends[2];
static volatile int sink;

__attribute__((noinline)) static void compute(int rounds)
{
    for (int i = 0; i < rounds; i++)
        sink += i % 3 == 0 ? i : sink / (i + 1);
}

static void send(uint64_t from, uint64_t to)
{
    const struct message message = {from, to};

    if (write(ends[1], &message, sizeof(message)) != sizeof(message))
        _exit(2);
}

static void tell_block(void *context, uint64_t start, uint64_t end)
{
    CHECK(context == &stalker && start < end);
    send(start, 0);
}

static void tell_link(void *context, uint64_t from, uint64_t to)
{
    CHECK(context == &stalker);
    send(from, to);
}

/* Runs the function in a child, and does what the child tells of, if that is wanted. */
static struct counts run_child(bool learns)
{
    const struct gait_observer observer = {.translated = tell_block, .linked = tell_link, .context = &stalker};
    struct counts counts = {0};
    struct message message;
    int status = -1;
    pid_t child;

    CHECK_EQUAL(pipe2(ends, O_CLOEXEC), 0);
    CHECK(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) > 0);
    child = fork();
    if (child == 0) {
        gait_stalker_set_observer(stalker, &observer);
        if (gait_stalker_follow_me(stalker, &options, NULL) != 0)
            _exit(1);
        compute(100);
        gait_stalker_unfollow_me(stalker, NULL);
        _exit(0);
    }
    close(ends[1]);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    while (read(ends[0], &message, sizeof(message)) == sizeof(message)) {
        counts.blocks += message.to == 0;
        counts.links += message.to != 0;
        if (learns && message.to == 0)
            (void)gait_stalker_prefetch(stalker, &options, message.from, NULL);
        if (learns && message.to != 0)
            CHECK_EQUAL(gait_stalker_prefetch_link(stalker, &options, message.from, message.to, NULL), 0);
    }
    close(ends[0]);
    return counts;
}

static void children_find_what_others_translated(void)
{
    struct counts first, ignored, second;

    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, NULL), 0);
    ignored = run_child(false);
    first = run_child(true);
    second = run_child(true);
    CHECK(first.blocks > 3);
    CHECK(first.links > 0);
    CHECK_EQUAL(first.blocks, ignored.blocks);
    CHECK_EQUAL(second.blocks, 0);
    CHECK_EQUAL(second.links, 0);
    gait_stalker_destroy(stalker);
}

static void what_cannot_be_linked_is_told(void)
{
    struct gait_error err = {0};

    CHECK_EQUAL(gait_stalker_prefetch_link(NULL, &options, 1, 2, &err), -EINVAL);
    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, NULL), 0);
    CHECK_EQUAL(gait_stalker_prefetch_link(stalker, &options, 0, (uintptr_t)compute, &err), -EFAULT);
    CHECK_EQUAL(gait_stalker_prefetch_link(stalker, &options, (uintptr_t)compute, 0, &err), -EFAULT);
    CHECK_EQUAL(gait_stalker_prefetch_link(stalker, &options, (uintptr_t)compute, (uintptr_t)send, &err), -ENOENT);
    CHECK(strstr(err.text, "no branch") != NULL);
    gait_stalker_destroy(stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(children_find_what_others_translated),
    CHECK_CASE(what_cannot_be_linked_is_told),
};

CHECK_MAIN(cases)
