/* SPDX-License-Identifier: MIT */
/* What feeds of system calls are tested with: a child that makes calls which are counted. */
#ifndef GAIT_TESTS_SUPPORT_FEED_CHILD_H
#define GAIT_TESTS_SUPPORT_FEED_CHILD_H

#include "support/check.h"
#include "syscalls/call_feed.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FEED_CALLS  1000
#define FEED_STATUS 3

struct feed_counts {
    unsigned enters, leaves, others, ends, children;
    unsigned with_memory;
    uint64_t bad_arguments;
    int pid;
};

static inline void feed_count(void *context, const struct call_program_record *record)
{
    struct feed_counts *counts = context;

    if (record->kind == CALL_RECORD_END)
        counts->ends++;
    if (record->kind != CALL_RECORD_ENTER && record->kind != CALL_RECORD_LEAVE)
        return;
    if (record->number != SYS_getpgid && record->number != SYS_chdir) {
        counts->others++;
        return;
    }
    counts->children += (int)record->pid != counts->pid;
    counts->enters += record->kind == CALL_RECORD_ENTER;
    counts->leaves += record->kind == CALL_RECORD_LEAVE;
    counts->with_memory +=
        record->number == SYS_chdir && record->kind == CALL_RECORD_ENTER && record->values_bytes != 0;
    if (record->number == SYS_getpgid && record->kind == CALL_RECORD_ENTER && record->words[0] != 0)
        counts->bad_arguments++;
}

/* Waits for a word, calls, forks one that calls, and ends. */
static inline int feed_child_begin(int *go_out)
{
    int go[2];
    char byte;
    pid_t pid;

    CHECK_EQUAL(pipe(go), 0);
    pid = fork();
    CHECK_EQUAL(pid >= 0, 1);
    if (pid != 0) {
        close(go[0]);
        *go_out = go[1];
        return pid;
    }
    close(go[1]);
    (void)!read(go[0], &byte, 1);
    for (unsigned i = 0; i < FEED_CALLS; i++)
        syscall(SYS_getpgid, 0);
    (void)!chdir("/no/such");
    pid = fork();
    syscall(SYS_getpgid, 0);
    if (pid != 0)
        (void)!waitpid(pid, NULL, 0);
    _exit(FEED_STATUS);
}

/* Counts what the child does; skips the test where nothing can be seen. */
static inline struct feed_counts feed_child_watch(const struct call_feed *feed, bool follows)
{
    struct system_call_set set = {.has_others = false};
    struct gait_error err;
    int go, pid = feed_child_begin(&go), status = 0;
    struct feed_counts counts = {.pid = pid};
    struct call_feed_options options = {
        .set = &set, .tids = &pid, .tid_count = 1, .follows = follows, .string_bytes = 32};
    void *state;

    set.bits[SYS_getpgid / 64] |= 1ull << SYS_getpgid % 64;
    set.bits[SYS_chdir / 64] |= 1ull << SYS_chdir % 64;
    if (feed->begin(&options, &state, &err) != 0) {
        close(go);
        (void)!waitpid(pid, &status, 0);
        check_skip(err.text);
    }
    CHECK_EQUAL(feed->is_over(state), 0);
    close(go);
    CHECK_EQUAL(waitpid(pid, &status, 0), pid);
    CHECK_EQUAL(WEXITSTATUS(status), FEED_STATUS);
    for (unsigned tries = 0; tries < 1000 && !feed->is_over(state); tries++)
        (void)feed->drain(state, 10, feed_count, &counts);
    while (feed->drain(state, 0, feed_count, &counts) != 0)
        continue;
    CHECK_EQUAL(feed->is_over(state), 1);
    CHECK_EQUAL(feed->lost(state), 0);
    feed->end(state);
    return counts;
}

/* All calls of the set come and no others; with what the arguments point at, if this feed has that. */
static inline void feed_check_calls(const struct call_feed *feed, bool has_memory)
{
    struct feed_counts counts = feed_child_watch(feed, false);

    CHECK_EQUAL(counts.enters, FEED_CALLS + 2);
    CHECK_EQUAL(counts.leaves, FEED_CALLS + 2);
    CHECK_EQUAL(counts.others, 0);
    CHECK_EQUAL(counts.bad_arguments, 0);
    CHECK_EQUAL(counts.ends, 1);
    CHECK_EQUAL(counts.children, 0);
    CHECK_EQUAL(counts.with_memory, has_memory);
}

static inline void feed_check_children(const struct call_feed *feed)
{
    struct feed_counts counts = feed_child_watch(feed, true);

    CHECK_EQUAL(counts.enters, FEED_CALLS + 3);
    CHECK_EQUAL(counts.children, 2);
    CHECK_EQUAL(counts.ends, 2);
}

#endif
