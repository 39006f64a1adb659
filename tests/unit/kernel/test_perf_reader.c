/* SPDX-License-Identifier: MIT */
/*
 * On the kernel that runs here, with the process's own events. The thread sanitizer has a thread of its own, whose end
 * is one more than is expected.
 *
 * configurations: debug-* asan-*
 */
#define _GNU_SOURCE
#include "kernel/perf_reader.h"

#include "base/clock_pair.h"
#include "base/time_counter.h"
#include "kernel/chosen_probes.h"
#include "support/check.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 2000

static struct gait_error err;
static uint64_t before[CALLS], after[CALLS], seen[CALLS + 8];
static size_t seen_count;

static void note_time(void *context, const struct kernel_event *event)
{
    (void)context;
    if (event->tid == (uint32_t)gettid() && seen_count < CALLS + 8)
        seen[seen_count++] = event->time;
}

static double ticks_in_a_microsecond(void)
{
    struct clock_pair first = clock_pair_read(), last;

    usleep(20000);
    last = clock_pair_read();
    return 1000.0 * (double)(last.counter - first.counter) / (double)(last.monotonic_ns - first.monotonic_ns);
}

/* Each event is between the time stamps around its system call, to within a microsecond. */
static void kernel_and_user_times_are_in_order(void)
{
    const struct perf_session_options options = {.pid = getpid(), .ring_bytes = 1u << 20};
    const struct perf_receiver receiver = {.event = note_time};
    struct chosen_probes list = {.count = 0};
    struct perf_session session;
    uint64_t slack = (uint64_t)ticks_in_a_microsecond();
    unsigned early = 0, late = 0;

    if (chosen_probes_add(&list, "tracepoint:syscalls:sys_enter_getppid", &err) != 0)
        check_skip(err.text);
    if (perf_session_create(&options, &session, &err) != 0 || perf_session_open(&session, list.probes, 1, &err) != 0)
        check_skip(err.text);
    CHECK_EQUAL(perf_session_enable(&session, &err), 0);
    for (size_t i = 0; i < CALLS; i++) {
        before[i] = time_counter();
        syscall(SYS_getppid);
        after[i] = time_counter();
    }
    perf_session_disable(&session);
    (void)perf_reader_drain(&session, &receiver, true);
    CHECK_EQUAL(seen_count, CALLS);
    for (size_t i = 0; i < CALLS && i < seen_count; i++) {
        early += seen[i] + slack < before[i];
        late += seen[i] > after[i] + slack;
    }
    CHECK_EQUAL(early, 0);
    CHECK_EQUAL(late, 0);
    CHECK_EQUAL(perf_session_lost(&session, 0), 0);
    perf_session_destroy(&session);
    chosen_probes_deinit(&list);
}

struct news {
    size_t events;
    size_t forks;
    size_t exits;
    size_t names;
    uint64_t lost;
};

static void count_event(void *context, const struct kernel_event *event)
{
    ((struct news *)context)->events += event->source == 1;
}

static void count_fork(void *context, uint32_t pid, uint32_t parent_pid, uint32_t tid, uint64_t time)
{
    (void)tid;
    (void)time;
    ((struct news *)context)->forks += pid != parent_pid;
}

static void count_exit(void *context, uint32_t pid, uint32_t tid, uint64_t time)
{
    (void)pid;
    (void)tid;
    (void)time;
    ((struct news *)context)->exits++;
}

static void count_name(void *context, uint32_t pid, uint32_t tid, const char *name, uint64_t time, bool by_exec)
{
    (void)pid;
    (void)tid;
    (void)time;
    ((struct news *)context)->names += by_exec && strcmp(name, "true") == 0;
}

static void count_lost(void *context, uint32_t cpu, uint64_t count, uint64_t time)
{
    (void)cpu;
    (void)time;
    ((struct news *)context)->lost += count;
}

static void touch(size_t pages)
{
    char *memory = mmap(NULL, pages << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(memory, pages << 12, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        memory[i << 12] = 1;
    munmap(memory, pages << 12);
}

/* Page faults need no privilege. */
static void children_are_watched_too(void)
{
    const struct perf_session_options options = {.pid = getpid(), .ring_bytes = 256u << 10, .is_ordered = true};
    struct news news = {.events = 0};
    const struct perf_receiver receiver = {
        .event = count_event, .forked = count_fork, .exited = count_exit, .named = count_name, .context = &news};
    struct chosen_probes list = {.count = 0};
    struct perf_session session;

    CHECK_EQUAL(chosen_probes_add(&list, "software:page-faults:1", &err), 0);
    if (perf_session_create(&options, &session, &err) != 0 || perf_session_open(&session, list.probes, 1, &err) != 0)
        check_skip(err.text);
    CHECK_EQUAL(perf_session_enable(&session, &err), 0);
    touch(500);
    if (fork() == 0) {
        touch(500);
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    wait(NULL);
    perf_session_disable(&session);
    (void)perf_reader_drain(&session, &receiver, true);
    CHECK(news.events >= 1000);
    CHECK_EQUAL(news.forks, 1);
    CHECK_EQUAL(news.exits, 1);
    CHECK_EQUAL(news.names, 1);
    perf_session_destroy(&session);
    chosen_probes_deinit(&list);
}

/* The kernel tells of losses when the same CPU writes again: the process stays on one. */
static void stay_on_this_cpu(void)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET((size_t)sched_getcpu(), &cpus);
    CHECK_EQUAL(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

/* What does not fit is counted: what came and what was lost are all there was. */
static void what_is_lost_is_counted(void)
{
    const struct perf_session_options options = {.pid = getpid(), .ring_bytes = 64u << 10};
    struct news news = {.events = 0};
    const struct perf_receiver receiver = {.event = count_event, .lost = count_lost, .context = &news};
    struct chosen_probes list = {.count = 0};
    struct perf_session session;

    CHECK_EQUAL(chosen_probes_add(&list, "software:page-faults:1", &err), 0);
    if (perf_session_create(&options, &session, &err) != 0 || perf_session_open(&session, list.probes, 1, &err) != 0)
        check_skip(err.text);
    stay_on_this_cpu();
    CHECK_EQUAL(perf_session_enable(&session, &err), 0);
    touch(10000);
    (void)perf_reader_drain(&session, &receiver, true);
    touch(10);
    perf_session_disable(&session);
    (void)perf_reader_drain(&session, &receiver, true);
    CHECK(news.lost > 0);
    CHECK(perf_session_lost(&session, 0) >= news.lost);
    CHECK(news.events + perf_session_lost(&session, 0) >= 10010);
    perf_session_destroy(&session);
    chosen_probes_deinit(&list);
}

/* Also if nothing is written behind the loss, on whatever CPU it was, by whom: the kernel counts it where it happens.
 */
static void what_children_lose_is_counted(void)
{
    const struct perf_session_options options = {.pid = getpid(), .ring_bytes = 64u << 10};
    struct news news = {.events = 0};
    const struct perf_receiver receiver = {.event = count_event, .lost = count_lost, .context = &news};
    struct chosen_probes list = {.count = 0};
    struct perf_session session;

    CHECK_EQUAL(chosen_probes_add(&list, "software:page-faults:1", &err), 0);
    if (perf_session_create(&options, &session, &err) != 0 || perf_session_open(&session, list.probes, 1, &err) != 0)
        check_skip(err.text);
    CHECK_EQUAL(perf_session_enable(&session, &err), 0);
    for (unsigned i = 0; i < 4; i++)
        if (fork() == 0) {
            if (fork() == 0)
                touch(5000);
            touch(5000);
            (void)wait(NULL);
            _exit(0);
        }
    while (wait(NULL) > 0)
        continue;
    perf_session_disable(&session);
    (void)perf_reader_drain(&session, &receiver, true);
    CHECK(perf_session_lost(&session, 0) > 0);
    CHECK(news.events + perf_session_lost(&session, 0) >= 8 * 5000);
    perf_session_destroy(&session);
    chosen_probes_deinit(&list);
}

static const struct check_case cases[] = {
    CHECK_CASE(children_are_watched_too),
    CHECK_CASE(what_children_lose_is_counted),
    CHECK_CASE(what_is_lost_is_counted),
    CHECK_CASE(kernel_and_user_times_are_in_order),
};

CHECK_MAIN(cases)
