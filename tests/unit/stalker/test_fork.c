/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "stalker/fork.h"

#include "gait/stalker.h"
#include "libgait/stalker_handle.h"
#include "stalker/stalker_engine.h"
#include "support/check.h"
#include "support/event_log.h"
#include "support/subject_thread.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS   (GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_BLOCK)
#define SUBJECTS 2
/* A child that hangs is ended by this. */
#define PATIENCE_S 20

static struct gait_stalker *stalker;
static struct event_log *event_log; /* shared with children */
static atomic_bool finished;
static atomic_long rounds;
static struct subject_thread subjects[SUBJECTS];
static struct subject_thread disturber;
extern char **environ;

/* ---- what others do meanwhile ------------------------------------------------------------------------------------ */

static void work(void *unused)
{
    (void)unused;
    while (!atomic_load(&finished)) {
        unsigned sum = 0;

        for (unsigned i = 0; i < 1000; i++)
            sum = sum * 31 + (i ^ sum >> 3);
        atomic_fetch_add(&rounds, sum != 1);
        usleep(50);
    }
}

/* Has each of the engine's locks in turn. */
static void disturb(void *unused)
{
    struct gait_stalker_statistics statistics = {.size_bytes = sizeof(statistics)};

    (void)unused;
    for (uint64_t i = 0; !atomic_load(&finished); i++) {
        (void)!gait_stalker_invalidate(stalker, 0x1000, UINT64_MAX - 0x2000, NULL);
        (void)!gait_stalker_read_statistics(stalker, &statistics, NULL);
        (void)!gait_stalker_exclude(stalker, 0x10000 + i % 4096 * 16, 8, NULL);
        gait_stalker_collect(stalker);
    }
}

static void begin(bool write_xor_execute, uint32_t events)
{
    struct gait_stalker_options options = {.size_bytes = sizeof(options), .write_xor_execute = write_xor_execute};
    struct gait_follow_options follow = {.size_bytes = sizeof(follow), .events = events};

    CHECK_EQUAL(gait_stalker_create(&options, &stalker, NULL), 0);
    atomic_store(&finished, false);
    for (unsigned i = 0; i < SUBJECTS; i++) {
        subject_thread_start(&subjects[i], work, NULL);
        CHECK_EQUAL(gait_stalker_follow(stalker, subjects[i].tid, &follow, NULL), 0);
    }
    subject_thread_start(&disturber, disturb, NULL);
}

static void end(void)
{
    atomic_store(&finished, true);
    for (unsigned i = 0; i < SUBJECTS; i++)
        subject_thread_join(&subjects[i]);
    subject_thread_join(&disturber);
    gait_stalker_destroy(stalker);
}

/* ---- what children do -------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

/* Some code that was translated before the fork and some that was not. */
static bool computes_right(void)
{
    int numbers[200];
    char text[64];

    for (int i = 0; i < 200; i++)
        numbers[i] = (i * 7919) % 200;
    qsort(numbers, 200, sizeof(numbers[0]), compare);
    for (int i = 0; i < 200; i++)
        if (numbers[i] != i)
            return false;
    snprintf(text, sizeof(text), "%d %s %.3f", numbers[42], "text", 1.5);
    return strcmp(text, "42 text 1.500") == 0;
}

/* 0: all is as it should be. */
static int check_child(void)
{
    alarm(PATIENCE_S);
    if (!gait_stalker_is_following_me(stalker))
        return 1;
    for (unsigned i = 0; i < SUBJECTS; i++)
        if (gait_stalker_is_following(stalker, subjects[i].tid))
            return 2;
    if (!computes_right())
        return 3;
    if (gait_stalker_invalidate(stalker, 0x1000, UINT64_MAX - 0x2000, NULL) != 0 || !computes_right())
        return 4;
    return 0;
}

static int status_of(pid_t child)
{
    int status;

    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* A child that itself makes one. */
static int check_child_of_child(void)
{
    int result = check_child();
    pid_t child;

    if (result != 0)
        return result;
    child = fork();
    if (child == 0)
        _exit(check_child());
    return status_of(child) == 0 ? check_child() : 5;
}

static int unfollow_in_child(void)
{
    if (check_child() != 0 || gait_stalker_unfollow_me(stalker, NULL) != 0)
        return 6;
    return !gait_stalker_is_following_me(stalker) && computes_right() ? 0 : 7;
}

/* Both make children that begin natively, from new places: in memory that they must not share. */
static int spawn_in_child(void)
{
    static char *arguments[] = {"true", NULL};
    pid_t child;

    if (check_child() != 0 || posix_spawnp(&child, "true", NULL, NULL, arguments, environ) != 0)
        return 8;
    return status_of(child) == 0 ? check_child() : 9;
}

/* Forks again and again while followed; returns how many children did not end well. */
static unsigned fork_often(unsigned times, int (*in_child)(void), uint32_t events)
{
    struct gait_follow_options options = {.size_bytes = sizeof(options), .events = events};
    unsigned wrong = 0;

    CHECK_EQUAL(gait_stalker_follow_me(stalker, &options, NULL), 0);
    for (unsigned i = 0; i < times; i++) {
        pid_t child;
        int status;

        child = fork();
        if (child == 0)
            _exit(in_child());
        status = status_of(child);
        if (status != 0)
            printf("child %u: %d\n", i, status);
        wrong += status != 0 || !computes_right() || !gait_stalker_is_following_me(stalker);
    }
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    return wrong;
}

static void a_child_is_followed_and_others_are_not(void)
{
    begin(false, 0);
    CHECK_EQUAL(fork_often(40, check_child, 0), 0);
    CHECK_EQUAL(fork_often(20, check_child, EVENTS), 0);
    end();
}

static void a_child_can_have_a_child(void)
{
    begin(false, EVENTS);
    CHECK_EQUAL(fork_often(15, check_child_of_child, 0), 0);
    end();
}

static void a_child_has_its_own_code_where_the_parent_writes_through_a_second_mapping(void)
{
    begin(true, 0);
    CHECK_EQUAL(fork_often(15, check_child, 0), 0);
    CHECK_EQUAL(fork_often(10, check_child_of_child, EVENTS), 0);
    end();
}

static void a_child_can_be_unfollowed(void)
{
    begin(false, 0);
    CHECK_EQUAL(fork_often(15, unfollow_in_child, EVENTS), 0);
    end();
    begin(true, 0);
    CHECK_EQUAL(fork_often(10, unfollow_in_child, 0), 0);
    end();
}

static void a_child_can_make_children_that_are_not_followed(void)
{
    begin(false, 0);
    CHECK_EQUAL(fork_often(10, spawn_in_child, 0), 0);
    end();
    begin(true, 0);
    CHECK_EQUAL(fork_often(10, spawn_in_child, 0), 0);
    end();
}

/* ---- other ways to make a copy ----------------------------------------------------------------------------------- */

#define STACK_BYTES 262144

static uint8_t child_stack[STACK_BYTES] __attribute__((aligned(64)));

static int run_on_stack(void *unused)
{
    uint8_t here;

    (void)unused;
    if (&here < child_stack || &here >= child_stack + STACK_BYTES)
        return 10;
    return check_child();
}

static void run_and_exit(void)
{
    _exit(run_on_stack(NULL));
}

/* There it has no frame to return to. */
static long clone3_and_run(const struct clone_args *arguments, void (*run)(void))
{
    long result;

    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "call *%[run]\n\t"
                     "ud2\n"
                     "1:"
                     : "=a"(result)
                     : "a"(SYS_clone3), "D"(arguments), "S"(sizeof(*arguments)), [run] "b"(run)
                     : "rcx", "r11", "memory");
    return result;
}

static void a_child_with_a_stack_of_its_own_is_followed(void)
{
    struct gait_follow_options options = {.size_bytes = sizeof(options), .events = EVENTS};
    struct clone_args arguments = {
        .exit_signal = SIGCHLD, .stack = (uintptr_t)child_stack, .stack_size = sizeof(child_stack)};

    begin(false, 0);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, &options, NULL), 0);
    CHECK_EQUAL(status_of(clone(run_on_stack, child_stack + STACK_BYTES, SIGCHLD, NULL)), 0);
    CHECK_EQUAL(status_of((pid_t)clone3_and_run(&arguments, run_and_exit)), 0);
    CHECK(computes_right() && gait_stalker_is_following_me(stalker));
    /* What the kernel refuses is refused. */
    arguments.stack_size = 0;
    CHECK_EQUAL(clone3_and_run(&arguments, run_and_exit), -EINVAL);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    end();
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static size_t events_of(int tid)
{
    size_t found = 0;

    for (size_t i = 0; i < event_log->count && i < EVENT_LOG_ROOM; i++)
        found += event_log->events[i].tid == (uint32_t)tid;
    return found;
}

static void events_of_a_child_are_its_own(void)
{
    struct gait_event_sink sink = {event_log_process, event_log};
    struct gait_follow_options options = {.size_bytes = sizeof(options), .events = EVENTS, .sink = &sink};
    pid_t child;

    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, NULL), 0);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, &options, NULL), 0);
    child = fork();
    if (child == 0)
        _exit(!computes_right() || gait_stalker_unfollow_me(stalker, NULL) != 0);
    CHECK_EQUAL(status_of(child), 0);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK(events_of(child) > 100);
    CHECK(events_of(gettid()) > 10);
    CHECK_EQUAL(events_of(child) + events_of(gettid()), event_log->count);
    gait_stalker_destroy(stalker);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Both go on to translate other code, of which the other one must not hear. */
static void a_child_has_its_own_table_of_indirect_branches(void)
{
    struct gait_follow_options options = {.size_bytes = sizeof(options)};
    struct stalker_engine *engine;
    pid_t child;

    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, NULL), 0);
    engine = stalker->engine;
    engine->options.narrow_tables = true;
    CHECK_EQUAL(gait_stalker_follow_me(stalker, &options, NULL), 0);
    child = fork();
    if (child == 0)
        _exit(!computes_right() || gait_stalker_unfollow_me(stalker, NULL) != 0);
    CHECK(computes_right());
    CHECK_EQUAL(status_of(child), 0);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK(engine->caches != NULL && !indirect_table_is_narrow(&engine->caches->indirect));
    gait_stalker_destroy(stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(events_of_a_child_are_its_own),
    CHECK_CASE(a_child_is_followed_and_others_are_not),
    CHECK_CASE(a_child_can_have_a_child),
    CHECK_CASE(a_child_has_its_own_code_where_the_parent_writes_through_a_second_mapping),
    CHECK_CASE(a_child_can_be_unfollowed),
    CHECK_CASE(a_child_with_a_stack_of_its_own_is_followed),
    CHECK_CASE(a_child_can_make_children_that_are_not_followed),
    CHECK_CASE(a_child_has_its_own_table_of_indirect_branches),
};

int main(void)
{
    event_log = mmap(NULL, sizeof(*event_log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (event_log == MAP_FAILED)
        check_skip("no memory to share with children");
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
