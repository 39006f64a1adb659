/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Coming to a process that runs, and leaving it again: it does not notice, and nothing of us is left. */
#define _GNU_SOURCE
#include "inject/target.h"

#include "ring/ring_events.h"
#include "support/check.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)

#define THREADS 6
#define VISITS  25

static struct gait_error err;
static struct target target;

/* ---- a process to visit ------------------------------------------------------------------------------------------ */

/* What it tells of itself, in memory that is shared with it. */
static struct told {
    _Atomic uint64_t rounds[THREADS];
    _Atomic uint64_t wrong_sums, short_sleeps, short_waits, lost_signals;
    _Atomic uint32_t is_over;
} * told;

/* Nobody may know so much of it that another function does in its place. */
__attribute__((noinline)) static uint64_t mix(uint64_t value)
{
    __asm__ volatile("" : "+r"(value));
    value ^= value >> 13;
    return value & 4 ? value * 0x9e3779b97f4a7c15 : value + 77;
}

/* Computes, with vector registers in use. */
static void compute(unsigned which)
{
    while (!atomic_load(&told->is_over)) {
        double sum = 0;
        uint64_t value = 5;

        for (int i = 1; i <= 1000; i++) {
            sum += i * 0.5;
            value = mix(value) % 1000003;
        }
        atomic_fetch_add(&told->wrong_sums, sum != 250250.0);
        atomic_fetch_add(&told->wrong_sums, value >= 1000003);
        atomic_fetch_add(&told->rounds[which], 1);
    }
}

/* Sleeps in system calls, each of which has to end as it would. */
static void wait_much(unsigned which)
{
    int epoll = epoll_create1(0);
    struct epoll_event event;

    while (!atomic_load(&told->is_over)) {
        const struct timespec pause = {0, 3000000};

        atomic_fetch_add(&told->short_sleeps, nanosleep(&pause, NULL) != 0);
        atomic_fetch_add(&told->short_waits, epoll_wait(epoll, &event, 1, 3) != 0);
        atomic_fetch_add(&told->rounds[which], 1);
    }
    close(epoll);
}

static _Thread_local volatile uint64_t handled;

static void handle(int signal)
{
    (void)signal;
    handled++;
}

/* Sends signals to itself and makes threads that end at once. */
static void *end_at_once(void *nothing)
{
    return nothing;
}

static void signal_and_make_threads(unsigned which)
{
    while (!atomic_load(&told->is_over)) {
        uint64_t before = handled;
        pthread_t thread;

        raise(SIGUSR1);
        atomic_fetch_add(&told->lost_signals, handled != before + 1);
        if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
            pthread_join(thread, NULL);
        atomic_fetch_add(&told->rounds[which], 1);
    }
}

static void *run_thread(void *number)
{
    unsigned which = (unsigned)(uintptr_t)number;

    if (which % 3 == 0)
        compute(which);
    else if (which % 3 == 1)
        wait_much(which);
    else
        signal_and_make_threads(which);
    return NULL;
}

static void live(void)
{
    pthread_t threads[THREADS];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGUSR1, handle);
    for (uintptr_t i = 1; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run_thread, (void *)i);
    run_thread(NULL);
    for (unsigned i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    _exit(42);
}

static pid_t start(void)
{
    pid_t child;

    memset(told, 0, sizeof(*told));
    child = fork();
    if (child == 0)
        live();
    return child;
}

/* Waits until each of its threads has done something more. */
static void let_live(void)
{
    const struct timespec pause = {0, 1000000};
    uint64_t before[THREADS];

    for (unsigned i = 0; i < THREADS; i++)
        before[i] = atomic_load(&told->rounds[i]);
    for (unsigned i = 0; i < THREADS; i++)
        while (atomic_load(&told->rounds[i]) < before[i] + 2)
            nanosleep(&pause, NULL);
}

static int stop(pid_t child)
{
    int status = -1;

    atomic_store(&told->is_over, 1);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(told->wrong_sums, 0);
    CHECK_EQUAL(told->short_sleeps, 0);
    CHECK_EQUAL(told->short_waits, 0);
    CHECK_EQUAL(told->lost_signals, 0);
    return status;
}

/* ---- what can be seen of it -------------------------------------------------------------------------------------- */

/* The stacks and heaps of threads that come and go are left out: they have no name and are not executable. */
static size_t read_mappings(pid_t pid, char *text, size_t size)
{
    char path[64], line[512];
    size_t length = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    file = fopen(path, "re");
    text[0] = '\0';
    while (fgets(line, sizeof(line), file) != NULL) {
        bool is_named = strchr(line, '/') != NULL || strchr(line, '[') != NULL;

        if ((is_named || strstr(line, "x") != NULL) && length + strlen(line) + 1 < size) {
            strcpy(text + length, line);
            length += strlen(line);
        }
    }
    fclose(file);
    return length;
}

static unsigned count_entries(pid_t pid, const char *folder_name)
{
    char path[64];
    unsigned count = 0;
    DIR *folder;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, folder_name);
    folder = opendir(path);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

static char handlers_of(pid_t pid)
{
    char path[64], line[256];
    unsigned long long caught = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    file = fopen(path, "re");
    while (fgets(line, sizeof(line), file) != NULL)
        sscanf(line, "SigCgt: %llx", &caught);
    fclose(file);
    return (char)(caught >> (SIGUSR1 - 1) & 1) + (char)(2 * (caught & ~(1ull << (SIGUSR1 - 1)) & 0x7fffffff) != 0);
}

/* ---- the tests --------------------------------------------------------------------------------------------------- */

static uint64_t calls_of_mix;

static int count(void *context, const struct gait_event *events, size_t event_count)
{
    (void)context;
    for (size_t i = 0; i < event_count; i++)
        calls_of_mix += events[i].kind == GAIT_EVENT_CALL && events[i].target == (uintptr_t)mix;
    return 0;
}

static const struct event_receiver receiver = {count, NULL};

static void attach(pid_t child, uint32_t events)
{
    static struct agent_options options;

    options = (struct agent_options){.events = events, .new_threads = 1};
    CHECK_EQUAL(target_attach(child, &options, &target, &err), 0);
    CHECK(target.followed_count >= THREADS);
}

static void a_process_is_visited_again_and_again(void)
{
    static char before[65536], after[65536];
    static const uint32_t events[] = {0, GAIT_EVENT_CALL | GAIT_EVENT_RET, GAIT_EVENT_BLOCK};
    pid_t child = start();
    unsigned descriptors;
    char handlers;

    let_live();
    read_mappings(child, before, sizeof(before));
    descriptors = count_entries(child, "fd");
    handlers = handlers_of(child);
    for (unsigned i = 0; i < VISITS; i++) {
        struct ring_events *ring = NULL;

        attach(child, events[i % 3]);
        CHECK_EQUAL(ring_events_open(target.ring_fd, &ring), 0);
        calls_of_mix = 0;
        let_live();
        CHECK_EQUAL(ring_events_drain(ring, &receiver), 0);
        CHECK(events[i % 3] != (GAIT_EVENT_CALL | GAIT_EVENT_RET) || calls_of_mix >= 100);
        CHECK_EQUAL(target_detach(&target, &err), 0);
        ring_events_close(ring);
        target_forget(&target);
        read_mappings(child, after, sizeof(after));
        CHECK_TEXT(after, before);
        CHECK_EQUAL(count_entries(child, "fd"), descriptors);
        CHECK_EQUAL(handlers_of(child), handlers);
        let_live();
    }
    CHECK_EQUAL(WEXITSTATUS(stop(child)), 42);
}

static void what_is_left_is_taken_out_before_the_next_visit(void)
{
    static struct agent_options options = {.events = GAIT_EVENT_CALL, .new_threads = 1};
    static char before[65536], after[65536];
    pid_t child = start();
    struct target second;

    let_live();
    read_mappings(child, before, sizeof(before));
    for (unsigned i = 0; i < 3; i++) {
        attach(child, GAIT_EVENT_CALL | GAIT_EVENT_RET);
        CHECK_EQUAL(target_attach(child, &options, &second, &err), -EALREADY);
        /* As if we had died. */
        target_forget(&target);
        let_live();
    }
    attach(child, GAIT_EVENT_CALL);
    let_live();
    CHECK_EQUAL(target_detach(&target, &err), 0);
    target_forget(&target);
    read_mappings(child, after, sizeof(after));
    CHECK_TEXT(after, before);
    let_live();
    CHECK_EQUAL(WEXITSTATUS(stop(child)), 42);
}

static void a_process_that_ends_while_it_is_followed_ends_as_it_would(void)
{
    pid_t child = start();
    int status;

    let_live();
    attach(child, GAIT_EVENT_CALL);
    let_live();
    CHECK_EQUAL(WEXITSTATUS(stop(child)), 42);
    CHECK_EQUAL(target_detach(&target, &err), -ESRCH);
    target_forget(&target);
    child = start();
    let_live();
    attach(child, GAIT_EVENT_CALL);
    kill(child, SIGKILL);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(WTERMSIG(status), SIGKILL);
    target_forget(&target);
}

static char state_of(pid_t pid)
{
    char path[64], text[256] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    (void)!fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    return strrchr(text, ')')[2];
}

/* It stops again a moment after we have gone. */
static bool becomes_stopped(pid_t pid)
{
    const struct timespec pause = {0, 1000000};

    for (unsigned i = 0; i < 5000 && state_of(pid) != 'T'; i++)
        nanosleep(&pause, NULL);
    return state_of(pid) == 'T';
}

static void a_process_that_was_stopped_stays_so(void)
{
    static const uint32_t events[] = {0, GAIT_EVENT_CALL | GAIT_EVENT_RET};
    pid_t child = start();
    int status;

    for (unsigned i = 0; i < 2; i++) {
        let_live();
        kill(child, SIGSTOP);
        CHECK_EQUAL(waitpid(child, &status, WUNTRACED), child);
        attach(child, events[i]);
        CHECK(becomes_stopped(child));
        kill(child, SIGCONT);
        let_live();
        CHECK_EQUAL(target_detach(&target, &err), 0);
        target_forget(&target);
    }
    let_live();
    /* Some calls end when the process is stopped, whoever is there. */
    told->short_waits = told->short_sleeps = 0;
    CHECK_EQUAL(WEXITSTATUS(stop(child)), 42);
}

static void processes_that_cannot_be_traced_are_told(void)
{
    static const struct agent_options options;
    pid_t gone = fork();

    if (gone == 0)
        _exit(0);
    waitpid(gone, NULL, 0);
    CHECK_EQUAL(target_attach(gone, &options, &target, &err), -ESRCH);
    CHECK(strstr(err.text, "there is no process") != NULL);
    CHECK_EQUAL(target_attach(getpid(), &options, &target, &err), -EPERM);
    CHECK(strstr(err.text, "cannot trace process") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_process_is_visited_again_and_again),
    CHECK_CASE(what_is_left_is_taken_out_before_the_next_visit),
    CHECK_CASE(a_process_that_ends_while_it_is_followed_ends_as_it_would),
    CHECK_CASE(a_process_that_was_stopped_stays_so),
    CHECK_CASE(processes_that_cannot_be_traced_are_told),
};

int main(void)
{
    told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}

#else

int main(void)
{
    check_skip("the agent follows threads on x86-64 only");
}

#endif
