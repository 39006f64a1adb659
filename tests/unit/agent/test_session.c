/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Sanitized code is neither followed nor hooked. What is asked is asked by the test, or of a process that it forks. */
#define _GNU_SOURCE
#include "agent/session.h"

#include "base/memory_map.h"
#include "process/memory_probe.h"
#include "protocol/agent_call.h"
#include "support/agent_lab.h"
#include "support/agent_target.h"
#include "support/check_apart.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

#define PAGE 4096

static struct agent_call call;
static struct thread_registers registers;

long asked_sum(long a, long b);

AGENT_LAB_FUNCTION long asked_sum(long a, long b)
{
    __asm__ volatile("nop; nop; nop; nop; nop");
    return a + b;
}

static void ask_for_hooks(struct agent_call *asked)
{
    agent_options_clear(&agent_lab.options);
    agent_lab_add_pattern(AGENT_PATTERN_HOOK, "asked_sum");
    asked->options = agent_lab.options;
    asked->options.events = EVENTS_HOOKED;
}

static void prepare(void)
{
    ask_for_hooks(&call);
    CHECK_EQUAL(session_prepare(&call), 0);
}

/* ---- by the test itself ------------------------------------------------------------------------------------------ */

static void there_is_one_session_at_a_time(void)
{
    prepare();
    CHECK_EQUAL(session_prepare(&call), -EALREADY);
    CHECK_EQUAL(session_end(), 0);
    prepare();
    CHECK_EQUAL(session_end(), 0);
    CHECK_EQUAL(session_end(), 0);
}

static void without_a_session_there_is_nothing_to_follow_or_to_leave(void)
{
    CHECK_EQUAL(session_follow(&call), -ENOENT);
    CHECK_EQUAL(session_leave(&call, &registers), -ENOENT);
    CHECK_EQUAL(session_look(&call, &registers), 0);
    CHECK_EQUAL(session_end(), 0);
    CHECK_EQUAL(session_followed_count(), 0);
    CHECK_EQUAL(session_hooked_count(), 0);
    session_started(&registers, false);
}

static void a_ring_that_cannot_be_leaves_nothing_behind(void)
{
    ask_for_hooks(&call);
    call.ring_fd = -7;
    call.options.buffer_count = 1u << 30;
    CHECK_EQUAL(session_prepare(&call), -EINVAL);
    CHECK_EQUAL(call.ring_fd, -7);
    call.options.buffer_count = 0;
    call.options.buffer_bytes = 1ull << 60;
    CHECK(session_prepare(&call) < 0);
    call.options.events = GAIT_EVENT_CALL;
    CHECK(session_prepare(&call) < 0);
    CHECK_EQUAL(session_end(), 0);
    prepare();
    CHECK_EQUAL(session_end(), 0);
}

static void without_memory_nothing_is_left_behind(void)
{
    const struct rlimit none = {1, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
    static const uint32_t events[] = {EVENTS_HOOKED, GAIT_EVENT_CALL};

    ask_for_hooks(&call);
    for (unsigned i = 0; i < 2; i++) {
        call.options.events = events[i];
        CHECK_EQUAL(setrlimit(RLIMIT_AS, &none), 0);
        CHECK_EQUAL(session_prepare(&call), -ENOMEM);
        CHECK_EQUAL(setrlimit(RLIMIT_AS, &all), 0);
        CHECK_EQUAL(session_prepare(&call), 0);
        CHECK_EQUAL(session_end(), 0);
    }
}

static void the_rings_descriptor_is_open_until_the_session_begins(void)
{
    prepare();
    CHECK(fcntl(call.ring_fd, F_GETFD) >= 0);
    CHECK_EQUAL(session_begin(&call, &registers), 0);
    CHECK_EQUAL(fcntl(call.ring_fd, F_GETFD), -1);
    CHECK_EQUAL(errno, EBADF);
}

static bool is_open(int fd, const char *path)
{
    char link[64], found[1024] = "";

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    return readlink(link, found, sizeof(found) - 1) > 0 && strcmp(found, path) == 0;
}

static void the_file_that_the_agent_comes_from_is_closed(void)
{
    int file = open("/etc/passwd", O_RDONLY), other = open("/etc/passwd", O_RDONLY);

    call.file_fd = file;
    call.has_file_fd = 1;
    prepare();
    CHECK(!is_open(file, "/etc/passwd"));
    CHECK_EQUAL(session_end(), 0);
    call.file_fd = other;
    call.has_file_fd = 0;
    prepare();
    CHECK(is_open(other, "/etc/passwd"));
    CHECK_EQUAL(session_end(), 0);
}

/* The list comes from another process. */
static void segments_get_the_access_that_they_want(void)
{
    uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t byte = 1;

    call.segment_count = UINT32_MAX;
    for (unsigned i = 0; i < AGENT_SEGMENTS_MAX; i++)
        call.segments[i] = (struct agent_segment){(uintptr_t)pages, PAGE, MEMORY_READ, 0};
    prepare();
    CHECK(memory_probe_write((uintptr_t)pages, &byte, 1) != 0);
    CHECK_EQUAL(memory_probe_copy((uintptr_t)pages, &byte, 1), 0);
    CHECK_EQUAL(memory_probe_write((uintptr_t)pages + PAGE, &byte, 1), 0);
    CHECK_EQUAL(session_end(), 0);
}

static void functions_that_are_hooked_are_left_before_the_session_ends(void)
{
    uint8_t before[16];

    memcpy(before, (const void *)asked_sum, sizeof(before));
    prepare();
    CHECK_EQUAL(session_hooked_count(), 0);
    agent_lab_open(call.ring_fd);
    CHECK_EQUAL(session_begin(&call, &registers), 0);
    CHECK(session_hooked_count() != 0);
    CHECK_EQUAL(session_followed_count(), 0);
    CHECK_EQUAL(asked_sum(20, 22), 42);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.call_count, 2);
    CHECK_EQUAL(session_begin(&call, &registers), -EALREADY);
    CHECK_EQUAL(session_prepare(&call), -EALREADY);
    CHECK_EQUAL(session_end(), -EBUSY);
    CHECK_EQUAL(session_leave(&call, &registers), 0);
    CHECK_EQUAL(session_hooked_count(), 0);
    CHECK_EQUAL(session_look(&call, &registers), 0);
    CHECK_EQUAL(session_end(), 0);
    CHECK(memcmp(before, (const void *)asked_sum, sizeof(before)) == 0);
}

static void a_session_may_begin_without_being_prepared(void)
{
    ask_for_hooks(&call);
    CHECK_EQUAL(session_begin(&call, &registers), 0);
    CHECK(fcntl(call.ring_fd, F_GETFD) >= 0);
    CHECK(session_hooked_count() != 0);
}

/* ---- of another process ------------------------------------------------------------------------------------------ */

static struct {
    _Atomic bool is_over;
    _Atomic unsigned threads;
    _Atomic unsigned long turns;
} * shared;

static void *work(void *unused)
{
    atomic_fetch_add(&shared->threads, 1);
    while (!atomic_load(&shared->is_over)) {
        if (asked_sum(20, 22) != 42)
            return "wrong";
        atomic_fetch_add(&shared->turns, 1);
    }
    return unused;
}

static int work_alone(void)
{
    return work(NULL) != NULL;
}

static int work_together(void)
{
    pthread_t threads[3];
    void *result;
    int wrong = 0;

    for (unsigned i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 2;
    wrong |= work_alone();
    for (unsigned i = 0; i < 3; i++)
        wrong |= pthread_join(threads[i], &result) != 0 || result != NULL;
    return wrong;
}

static void start(int (*run)(void), unsigned threads)
{
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    agent_target_start(run);
    while (atomic_load(&shared->threads) < threads)
        usleep(100);
}

/* Until it has gone on for a while. */
static void let_work(unsigned long turns)
{
    unsigned long end = atomic_load(&shared->turns) + turns;

    for (unsigned tries = 0; tries < 20000 && atomic_load(&shared->turns) < end; tries++)
        usleep(1000);
    CHECK(atomic_load(&shared->turns) >= end);
}

static void finish(void)
{
    let_work(1000);
    atomic_store(&shared->is_over, true);
    CHECK_EQUAL(agent_target_end(), 0);
}

static void follow_all(void)
{
    agent_target.call.options.events = GAIT_EVENT_CALL | GAIT_EVENT_RET;
    agent_target.call.options.new_threads = 1;
    agent_target_stop();
    CHECK_EQUAL(agent_target_ask(AGENT_PREPARE, 0), 0);
    agent_target_open_ring();
    CHECK_EQUAL(agent_target_ask(AGENT_BEGIN, 0), 0);
    CHECK_EQUAL(agent_target.call.followed_count, 1);
    CHECK_EQUAL(agent_target_ask(AGENT_FOLLOW, 1), 0);
    agent_target_go();
}

static void a_thread_is_followed_from_where_it_is_until_it_leaves(void)
{
    start(work_alone, 1);
    follow_all();
    let_work(1000);
    agent_lab_take();
    CHECK(agent_lab.index_bytes != 0);
    CHECK_EQUAL(agent_lab.tid, agent_target.pid);
    CHECK(agent_target_leave());
    CHECK_EQUAL(agent_target.call.followed_count, 0);
    agent_lab_take();
    agent_lab_clear();
    let_work(1000);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.index_bytes, 0);
    finish();
}

static void all_threads_are_followed_and_leave(void)
{
    start(work_together, 4);
    follow_all();
    for (uint32_t i = 0; i < agent_target.call.thread_count; i++)
        CHECK(agent_target.call.threads[i].result == 0 || agent_target.call.threads[i].result == -EAGAIN);
    CHECK(agent_target.call.followed_count >= 1 && agent_target.call.followed_count <= 4);
    let_work(1000);
    CHECK(agent_target_leave());
    finish();
}

static void a_session_that_follows_does_not_end_nor_begin_again(void)
{
    start(work_alone, 1);
    follow_all();
    agent_target_stop();
    CHECK_EQUAL(agent_target_ask(AGENT_END, 0), -EBUSY);
    CHECK_EQUAL(agent_target_ask(AGENT_BEGIN, 0), -EALREADY);
    CHECK_EQUAL(agent_target_ask(AGENT_PREPARE, 0), -EALREADY);
    CHECK_EQUAL(agent_target.call.followed_count, 1);
    agent_target_go();
    let_work(1000);
    CHECK(agent_target_leave());
    finish();
}

static void a_process_is_followed_and_hooked_in_turns(void)
{
    start(work_together, 4);
    for (unsigned i = 0; i < 3; i++) {
        follow_all();
        let_work(100);
        CHECK(agent_target_leave());
        ask_for_hooks(&agent_target.call);
        agent_target.call.options.buffer_bytes = 8192;
        agent_target_stop();
        CHECK_EQUAL(agent_target_ask(AGENT_PREPARE, 0), 0);
        agent_target_open_ring();
        CHECK_EQUAL(agent_target_ask(AGENT_FOLLOW, 1), 0);
        CHECK_EQUAL(agent_target_ask(AGENT_BEGIN, 0), 0);
        CHECK(agent_target.call.hooked_count != 0 && agent_target.call.followed_count == 0);
        agent_target_go();
        let_work(1000);
        agent_target_stop();
        agent_lab_take();
        CHECK(agent_lab_calls(EVENT_RECORD_ENTER, (const void *)asked_sum) != 0);
        agent_target_go();
        CHECK(agent_target_leave());
        ring_reader_close(agent_lab.reader);
    }
    finish();
}

static const struct check_case cases[] = {
    CHECK_CASE(there_is_one_session_at_a_time),
    CHECK_CASE(without_a_session_there_is_nothing_to_follow_or_to_leave),
    CHECK_CASE(a_ring_that_cannot_be_leaves_nothing_behind),
    CHECK_CASE(without_memory_nothing_is_left_behind),
    CHECK_CASE(the_rings_descriptor_is_open_until_the_session_begins),
    CHECK_CASE(the_file_that_the_agent_comes_from_is_closed),
    CHECK_CASE(segments_get_the_access_that_they_want),
    CHECK_CASE(functions_that_are_hooked_are_left_before_the_session_ends),
    CHECK_CASE(a_session_may_begin_without_being_prepared),
    CHECK_CASE(a_thread_is_followed_from_where_it_is_until_it_leaves),
    CHECK_CASE(all_threads_are_followed_and_leave),
    CHECK_CASE(a_session_that_follows_does_not_end_nor_begin_again),
    CHECK_CASE(a_process_is_followed_and_hooked_in_turns),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("threads are not followed on this CPU yet");
}

#endif
