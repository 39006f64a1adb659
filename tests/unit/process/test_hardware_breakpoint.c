/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/hardware_breakpoint.h"

#include "support/check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t hit_count;
static uint64_t hit_tag, hit_address, hit_pc;
static int hit_tid;

static void handle(int signal, siginfo_t *info, void *context)
{
    CHECK_EQUAL(signal, SIGTRAP);
    CHECK(hardware_breakpoint_of_signal(info, &hit_tag, &hit_address));
    hit_pc = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    hit_tid = gettid();
    hit_count++;
}

static void begin(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};

    hit_count = 0;
    hit_tag = hit_address = 0;
    CHECK_EQUAL(sigaction(SIGTRAP, &action, NULL), 0);
}

static volatile uint64_t watched[8];

static __attribute__((noinline, aligned(16))) unsigned called(unsigned number)
{
    __asm__ volatile("" : "+r"(number));
    return number + 1;
}

/* Whether the machine has them at all. */
static int set(struct hardware_breakpoint breakpoint)
{
    int fd = -1, result = hardware_breakpoint_set(&breakpoint, &fd);

    if (result == -EOPNOTSUPP || result == -EACCES || result == -EPERM)
        check_skip("this system lets nobody set hardware breakpoints");
    CHECK_EQUAL(result, 0);
    return fd;
}

static void writes_are_told_once_each(void)
{
    int fd = set((struct hardware_breakpoint){gettid(), HARDWARE_WRITE, (uintptr_t)&watched[2], 8, 77});
    uint64_t before;

    begin();
    before = watched[2];
    CHECK_EQUAL(hit_count, 0);
    watched[2] = before + 1;
    CHECK_EQUAL(hit_count, 1);
    CHECK_EQUAL(hit_tag, 77);
    CHECK_EQUAL(hit_address, (uintptr_t)&watched[2]);
    CHECK(hit_pc > (uintptr_t)writes_are_told_once_each);
    watched[1] = watched[3] = 5;
    CHECK_EQUAL(hit_count, 1);
    ((volatile uint8_t *)&watched[2])[7] = 3;
    CHECK_EQUAL(hit_count, 2);
    hardware_breakpoint_clear(fd);
    watched[2] = 9;
    CHECK_EQUAL(hit_count, 2);
}

static void reads_are_told_if_asked_for(void)
{
    int fd = set((struct hardware_breakpoint){gettid(), HARDWARE_ACCESS, (uintptr_t)&watched[4], 4, 78});

    begin();
    CHECK_EQUAL(watched[4], 0);
    CHECK_EQUAL(hit_count, 1);
    watched[4] = 1;
    CHECK_EQUAL(hit_count, 2);
    hardware_breakpoint_clear(fd);
}

static void instructions_are_stopped_at_before_they_run(void)
{
    int fd = set((struct hardware_breakpoint){gettid(), HARDWARE_EXECUTE, (uintptr_t)called, 0, 79});

    begin();
    for (unsigned i = 0; i < 10; i++)
        CHECK_EQUAL(called(i), i + 1);
    CHECK_EQUAL(hit_count, 10);
    CHECK_EQUAL(hit_pc, (uintptr_t)called);
    CHECK_EQUAL(hit_tag, 79);
    hardware_breakpoint_clear(fd);
    called(1);
    CHECK_EQUAL(hit_count, 10);
}

static _Atomic int other_tid;
static _Atomic bool may_go;

static void *write_there(void *context)
{
    other_tid = gettid();
    while (!may_go)
        usleep(100);
    watched[6] = 1;
    return context;
}

static void they_are_of_one_thread(void)
{
    pthread_t thread;
    int fd;

    begin();
    CHECK_EQUAL(pthread_create(&thread, NULL, write_there, NULL), 0);
    while (other_tid == 0)
        usleep(100);
    fd = set((struct hardware_breakpoint){other_tid, HARDWARE_WRITE, (uintptr_t)&watched[6], 8, 80});
    watched[6] = 3;
    CHECK_EQUAL(hit_count, 0);
    may_go = true;
    pthread_join(thread, NULL);
    CHECK_EQUAL(hit_count, 1);
    CHECK_EQUAL(hit_tid, other_tid);
    hardware_breakpoint_clear(fd);
}

static void there_are_only_so_many(void)
{
    int fds[32], result = 0;
    unsigned count = 0;
    struct hardware_breakpoint breakpoint = {gettid(), HARDWARE_WRITE, 0, 8, 81};

    for (; count < 32 && result == 0; count += result == 0) {
        breakpoint.address = (uintptr_t)&watched[count % 8];
        result = hardware_breakpoint_set(&breakpoint, &fds[count]);
    }
    CHECK_EQUAL(result, -ENOSPC);
    CHECK(count >= 1);
    while (count > 0)
        hardware_breakpoint_clear(fds[--count]);
    hardware_breakpoint_clear(set(breakpoint));
}

static void what_cannot_be_watched_is_refused(void)
{
    const struct hardware_breakpoint wrong[] = {
        {gettid(), HARDWARE_WRITE, (uintptr_t)watched, 3, 1},     {gettid(), HARDWARE_WRITE, (uintptr_t)watched, 0, 1},
        {gettid(), HARDWARE_WRITE, (uintptr_t)watched + 1, 4, 1}, {gettid(), HARDWARE_WRITE, (uintptr_t)watched, 16, 1},
        {gettid(), HARDWARE_EXECUTE, (uintptr_t)called, 8, 1},    {gettid(), HARDWARE_WRITE, (uintptr_t)watched, 8, 0},
        {gettid(), HARDWARE_WRITE, 0xffffffff80000000u, 8, 1},    {0, HARDWARE_WRITE, (uintptr_t)watched, 8, 1},
    };
    const struct hardware_breakpoint nobody = {0x7ffffff, HARDWARE_WRITE, (uintptr_t)watched, 8, 1};
    int fd = -7;

    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CHECK_EQUAL(hardware_breakpoint_set(&wrong[i], &fd), -EINVAL);
    CHECK_EQUAL(hardware_breakpoint_set(&nobody, &fd), -ESRCH);
    CHECK_EQUAL(fd, -7);
}

static void other_traps_are_none_of_ours(void)
{
    siginfo_t info;
    uint64_t tag, address;

    memset(&info, 0, sizeof(info));
    info.si_signo = SIGTRAP;
    info.si_code = SI_KERNEL;
    CHECK(!hardware_breakpoint_of_signal(&info, &tag, &address));
    info.si_code = 6;
    CHECK(!hardware_breakpoint_of_signal(&info, &tag, &address));
}

static const struct check_case cases[] = {
    CHECK_CASE(writes_are_told_once_each),
    CHECK_CASE(reads_are_told_if_asked_for),
    CHECK_CASE(instructions_are_stopped_at_before_they_run),
    CHECK_CASE(they_are_of_one_thread),
    CHECK_CASE(there_are_only_so_many),
    CHECK_CASE(what_cannot_be_watched_is_refused),
    CHECK_CASE(other_traps_are_none_of_ours),
};

CHECK_MAIN(cases)
