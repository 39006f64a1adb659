/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "gait/process.h"

#include "support/check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gait_error error;
static volatile uint64_t watched[8];
static _Atomic unsigned hits;
static struct gait_breakpoint *last_breakpoint;
static _Atomic int last_tid;
static uint64_t last_address;

static void count(const struct gait_breakpoint_hit *hit, void *data)
{
    CHECK_EQUAL(hit->size_bytes, sizeof(*hit));
    CHECK(data == &hits);
    hits++;
    last_breakpoint = hit->breakpoint;
    last_tid = hit->tid;
    last_address = hit->address;
    errno = 0;
}

static struct gait_breakpoint_options options_of(uint32_t kind, const volatile void *address, size_t watched_bytes)
{
    return (struct gait_breakpoint_options){
        .size_bytes = sizeof(struct gait_breakpoint_options),
        .kind = kind,
        .address = (uintptr_t)address,
        .watched_bytes = watched_bytes,
        .hit = count,
        .data = (void *)&hits,
    };
}

static struct gait_breakpoint *set(const struct gait_breakpoint_options *options)
{
    struct gait_breakpoint *breakpoint = NULL;
    int result = gait_breakpoint_set(options, &breakpoint, &error);

    if (result == -EOPNOTSUPP || result == -EACCES || result == -EPERM)
        check_skip(error.text);
    CHECK_EQUAL(result, 0);
    return breakpoint;
}

static void memory_is_watched(void)
{
    const struct gait_breakpoint_options options = options_of(GAIT_BREAKPOINT_WRITE, &watched[1], 8);
    struct gait_breakpoint *breakpoint = set(&options);

    hits = 0;
    errno = 42;
    watched[1] = 1;
    CHECK_EQUAL(hits, 1);
    CHECK_EQUAL(errno, 42);
    CHECK(last_breakpoint == breakpoint);
    CHECK_EQUAL(last_tid, gettid());
    CHECK_EQUAL(last_address, (uintptr_t)&watched[1]);
    watched[2] = watched[1];
    CHECK_EQUAL(hits, 1);
    gait_breakpoint_remove(breakpoint);
    watched[1] = 2;
    CHECK_EQUAL(hits, 1);
}

static __attribute__((noinline)) uint64_t plus_one(uint64_t number)
{
    __asm__ volatile("" : "+r"(number));
    return number + 1;
}

static void change_argument(const struct gait_breakpoint_hit *hit, void *data)
{
    (void)data;
    CHECK_EQUAL(hit->cpu->pc, (uintptr_t)plus_one);
    gait_cpu_argument_set(hit->cpu, 0, 100);
}

static void registers_can_be_changed_when_it_is_hit(void)
{
    struct gait_breakpoint_options options = options_of(GAIT_BREAKPOINT_EXECUTE, (const void *)plus_one, 0);
    struct gait_breakpoint *breakpoint;

    options.hit = change_argument;
    breakpoint = set(&options);
    CHECK_EQUAL(plus_one(5), 101);
    gait_breakpoint_remove(breakpoint);
    CHECK_EQUAL(plus_one(5), 6);
}

static void remove_itself(const struct gait_breakpoint_hit *hit, void *data)
{
    (void)data;
    hits++;
    gait_breakpoint_remove(hit->breakpoint);
}

static void it_can_be_removed_when_it_is_hit(void)
{
    struct gait_breakpoint_options options = options_of(GAIT_BREAKPOINT_ACCESS, &watched[3], 4);

    options.hit = remove_itself;
    (void)set(&options);
    hits = 0;
    watched[3]++;
    watched[3]++;
    CHECK_EQUAL(hits, 1);
}

struct listing {
    unsigned count;
    bool has_address[8];
};

static bool list(void *context, struct gait_breakpoint *breakpoint, const struct gait_breakpoint_options *options)
{
    struct listing *listing = context;

    CHECK(breakpoint != NULL);
    CHECK_EQUAL(options->tid, gettid());
    listing->count++;
    for (unsigned i = 0; i < 8; i++)
        listing->has_address[i] |= options->address == (uintptr_t)&watched[i];
    return true;
}

static void all_that_the_cpu_has_can_be_set_and_listed(void)
{
    struct gait_breakpoint *set_ones[64];
    struct listing listing = {0};
    unsigned set_count = 0;
    int result = 0;

    while (result == 0 && set_count < 64) {
        struct gait_breakpoint_options options = options_of(GAIT_BREAKPOINT_WRITE, &watched[set_count % 8], 8);

        result = gait_breakpoint_set(&options, &set_ones[set_count], &error);
        set_count += result == 0;
    }
    CHECK_EQUAL(result, -ENOSPC);
    CHECK(strstr(error.text, "no more of them") != NULL);
    gait_breakpoints(list, &listing);
    CHECK_EQUAL(listing.count, set_count);
    hits = 0;
    for (unsigned i = 0; i < set_count; i++) {
        CHECK(listing.has_address[i % 8]);
        watched[i % 8] = 5;
    }
    CHECK_EQUAL(hits, set_count);
    while (set_count > 0)
        gait_breakpoint_remove(set_ones[--set_count]);
    listing.count = 0;
    gait_breakpoints(list, &listing);
    CHECK_EQUAL(listing.count, 0);
}

static _Atomic int other_tid;
static _Atomic bool is_over;

static void *write_all_the_time(void *context)
{
    other_tid = gettid();
    while (!is_over)
        watched[5]++;
    return context;
}

static void other_threads_are_watched_and_left_alone_again(void)
{
    pthread_t thread;
    struct gait_breakpoint_options options = options_of(GAIT_BREAKPOINT_WRITE, &watched[5], 8);

    CHECK_EQUAL(pthread_create(&thread, NULL, write_all_the_time, NULL), 0);
    while (other_tid == 0)
        usleep(100);
    options.tid = other_tid;
    for (unsigned i = 0; i < 300; i++) {
        struct gait_breakpoint *breakpoint = set(&options);
        unsigned seen;

        hits = 0;
        while (hits == 0)
            usleep(10);
        CHECK_EQUAL(last_tid, other_tid);
        gait_breakpoint_remove(breakpoint);
        seen = hits;
        usleep(20);
        CHECK_EQUAL(hits, seen);
    }
    is_over = true;
    pthread_join(thread, NULL);
}

static volatile unsigned own_traps;

static void count_trap(int number)
{
    (void)number;
    own_traps++;
}

/* In a child: the handler that was there before the first breakpoint is what counts. */
static void run_in_child(void (*function)(void), int expected_status)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        function();
        fflush(stdout);
        _exit(check_failures != 0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, expected_status);
}

static void trap_with_handler(void)
{
    const struct gait_breakpoint_options options = options_of(GAIT_BREAKPOINT_WRITE, &watched[1], 8);

    signal(SIGTRAP, count_trap);
    (void)set(&options);
    watched[1] = 3;
    CHECK_EQUAL(own_traps, 0);
    raise(SIGTRAP);
    CHECK_EQUAL(own_traps, 1);
    __asm__ volatile("int3");
    CHECK_EQUAL(own_traps, 2);
}

static void trap_without_handler(void)
{
    const struct gait_breakpoint_options options = options_of(GAIT_BREAKPOINT_WRITE, &watched[1], 8);

    (void)set(&options);
    watched[1] = 3;
    __asm__ volatile("int3");
}

static void other_traps_are_the_programs(void)
{
    run_in_child(trap_with_handler, 0);
    run_in_child(trap_without_handler, SIGTRAP);
}

static void what_makes_no_sense_is_explained(void)
{
    struct gait_breakpoint_options options = options_of(GAIT_BREAKPOINT_WRITE, &watched[1], 3);
    struct gait_breakpoint *breakpoint;

    CHECK_EQUAL(gait_breakpoint_set(&options, &breakpoint, &error), -EINVAL);
    CHECK(strstr(error.text, "1, 2, 4 or 8") != NULL);
    options.watched_bytes = 8;
    options.kind = 9;
    CHECK_EQUAL(gait_breakpoint_set(&options, &breakpoint, &error), -EINVAL);
    options.kind = GAIT_BREAKPOINT_WRITE;
    options.tid = 0x7ffffff;
    CHECK_EQUAL(gait_breakpoint_set(&options, &breakpoint, &error), -ESRCH);
    options.hit = NULL;
    CHECK_EQUAL(gait_breakpoint_set(&options, &breakpoint, &error), -EINVAL);
    options.size_bytes = 0;
    CHECK_EQUAL(gait_breakpoint_set(&options, &breakpoint, &error), -EINVAL);
    gait_breakpoint_remove(NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(other_traps_are_the_programs),
    CHECK_CASE(memory_is_watched),
    CHECK_CASE(registers_can_be_changed_when_it_is_hit),
    CHECK_CASE(it_can_be_removed_when_it_is_hit),
    CHECK_CASE(all_that_the_cpu_has_can_be_set_and_listed),
    CHECK_CASE(other_threads_are_watched_and_left_alone_again),
    CHECK_CASE(what_makes_no_sense_is_explained),
};

CHECK_MAIN(cases)
