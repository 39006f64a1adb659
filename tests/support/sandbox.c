/* SPDX-License-Identifier: MIT */
/*
 * Parent and child share one piece of memory. The child writes there which case it is in, before it begins it, and the
 * verdicts; the parent waits, ends a child that stays in one case for too long, and starts the next child at the case
 * after the one that went wrong. They never write at the same time: the parent does so only when the child is gone.
 */
#define _GNU_SOURCE
#include "support/sandbox.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/random.h"

enum {
    DEFAULT_CASE_LIMIT_MS = 10000,
    DEFAULT_DEATH_LIMIT = 100,
    LOOK_EVERY_MS = 20,
    EXIT_SETUP_FAILED = 3,
};

struct shared {
    atomic_uint_fast64_t current;
    atomic_bool begun;    /* the child is past its setup */
    atomic_bool finished; /* it left by itself after the last case; code under test may well call exit(0) */
    char text[SANDBOX_TEXT_BYTES];
    struct sandbox_outcome outcome;
};

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void count(struct sandbox_outcome *outcome, enum sandbox_verdict verdict)
{
    uint64_t *const counts[] = {
        [SANDBOX_PASSED] = &outcome->passed, [SANDBOX_FAILED] = &outcome->failed, [SANDBOX_SKIPPED] = &outcome->skipped,
        [SANDBOX_DIED] = &outcome->died,     [SANDBOX_HUNG] = &outcome->hung,
    };

    ++*counts[verdict];
}

static void record(struct shared *shared, const struct sandbox_batch *batch, enum sandbox_verdict verdict,
                   int wait_status)
{
    struct sandbox_outcome *outcome = &shared->outcome;
    uint64_t number = atomic_load_explicit(&shared->current, memory_order_relaxed);

    count(outcome, verdict);
    if (verdict == SANDBOX_PASSED || verdict == SANDBOX_SKIPPED || outcome->report_count >= SANDBOX_MAX_REPORTS)
        return;

    struct sandbox_report *report = &outcome->reports[outcome->report_count++];
    report->verdict = verdict;
    report->number = number;
    report->seed = random_seed_derive(batch->seed, number);
    report->wait_status = wait_status;
    memcpy(report->text, shared->text, sizeof(report->text));
    report->text[sizeof(report->text) - 1] = 0;
}

static void child(const struct sandbox_batch *batch, struct shared *shared, uint64_t first)
{
    static const struct rlimit no_core;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &no_core);
    if (batch->begin != NULL && batch->begin(batch->context) != 0)
        _exit(EXIT_SETUP_FAILED);
    for (uint64_t number = first; number < batch->first + batch->count; number++) {
        struct sandbox_case now = {number, random_seed_derive(batch->seed, number), shared->text, SANDBOX_TEXT_BYTES};

        shared->text[0] = 0;
        atomic_store_explicit(&shared->current, number, memory_order_relaxed);
        atomic_store_explicit(&shared->begun, true, memory_order_relaxed);
        record(shared, batch, batch->run(batch->context, &now), 0);
    }
    fflush(NULL);
    atomic_store_explicit(&shared->finished, true, memory_order_relaxed);
    _exit(0);
}

/* Returns true if the child had to be ended. Setup and each case have the same limit. */
static bool watch(pid_t pid, const struct sandbox_batch *batch, struct shared *shared, int *wait_status_out)
{
    uint32_t limit_ms = batch->case_limit_ms != 0 ? batch->case_limit_ms : DEFAULT_CASE_LIMIT_MS;
    struct pollfd exit_event = {(int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0};
    uint64_t seen = UINT64_MAX, since_ms = now_ms();
    bool ended = false;

    /* Without a pidfd poll just sleeps; then waitpid is what tells. */
    while (waitpid(pid, wait_status_out, WNOHANG) == 0) {
        uint64_t current = atomic_load_explicit(&shared->current, memory_order_relaxed);

        if (current != seen) {
            seen = current;
            since_ms = now_ms();
        } else if (!ended && now_ms() - since_ms > limit_ms) {
            kill(pid, SIGKILL);
            ended = true;
        }
        poll(&exit_event, 1, LOOK_EVERY_MS);
    }
    if (exit_event.fd >= 0)
        close(exit_event.fd);
    return ended;
}

static int run_children(const struct sandbox_batch *batch, struct shared *shared)
{
    uint32_t death_limit = batch->death_limit != 0 ? batch->death_limit : DEFAULT_DEATH_LIMIT;
    uint64_t next = batch->first, end = batch->first + batch->count;

    for (uint32_t deaths = 0; next < end; deaths++) {
        if (deaths >= death_limit)
            return -ECANCELED;
        fflush(NULL);
        atomic_store_explicit(&shared->current, next, memory_order_relaxed);
        atomic_store_explicit(&shared->begun, false, memory_order_relaxed);

        pid_t pid = fork();
        if (pid < 0)
            return -errno;
        if (pid == 0)
            child(batch, shared, next);

        int wait_status = 0;
        bool hung = watch(pid, batch, shared, &wait_status);
        if (atomic_load_explicit(&shared->finished, memory_order_relaxed))
            return 0;
        if (!atomic_load_explicit(&shared->begun, memory_order_relaxed))
            return -ECHILD;
        record(shared, batch, hung ? SANDBOX_HUNG : SANDBOX_DIED, wait_status);
        next = atomic_load_explicit(&shared->current, memory_order_relaxed) + 1;
    }
    return 0;
}

int sandbox_run(const struct sandbox_batch *batch, struct sandbox_outcome *outcome)
{
    struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED)
        return -errno;

    int status = run_children(batch, shared);
    *outcome = shared->outcome;
    munmap(shared, sizeof(*shared));
    return status;
}

static void print_end(const struct sandbox_report *report, FILE *stream)
{
    if (report->verdict == SANDBOX_HUNG)
        fprintf(stream, "hung");
    else if (report->verdict == SANDBOX_FAILED)
        fprintf(stream, "failed");
    else if (WIFSIGNALED(report->wait_status))
        fprintf(stream, "died of signal %d", WTERMSIG(report->wait_status));
    else
        fprintf(stream, "left with status %d", WEXITSTATUS(report->wait_status));
}

void sandbox_outcome_print(const struct sandbox_outcome *outcome, FILE *stream)
{
    fprintf(stream, "%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped, %" PRIu64 " died, %" PRIu64 " hung\n",
            outcome->passed, outcome->failed, outcome->skipped, outcome->died, outcome->hung);
    for (uint32_t i = 0; i < outcome->report_count; i++) {
        const struct sandbox_report *report = &outcome->reports[i];

        fprintf(stream, "case %" PRIu64 " (seed 0x%" PRIx64 ") ", report->number, report->seed);
        print_end(report, stream);
        fprintf(stream, "%s%s\n", report->text[0] != 0 ? ": " : "", report->text);
    }
}
