/* SPDX-License-Identifier: MIT */
/* A process that looks at its registers and signals all the time, and tracers that die in the middle of something. */
#define _GNU_SOURCE
#include "inject/shelter.h"

#include "arch/thread_registers.h"
#include "inject/remote.h"
#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 40

/* Shared with the process. */
static struct {
    _Atomic uint64_t rounds;
    _Atomic bool is_wrong;
    _Atomic bool is_over;
} * shared;

/* Registers have values that change while it runs; whoever comes back with others is found out. */
static bool registers_are_kept(uint64_t value)
{
    uint64_t sum;

    __asm__ volatile("mov %[value], %%rax\n\t"
                     "lea 1(%%rax), %%rcx\n\t"
                     "lea 2(%%rax), %%rdx\n\t"
                     "lea 3(%%rax), %%rsi\n\t"
                     "lea 4(%%rax), %%rdi\n\t"
                     "lea 5(%%rax), %%r8\n\t"
                     "lea 6(%%rax), %%r9\n\t"
                     "lea 7(%%rax), %%r10\n\t"
                     "lea 8(%%rax), %%r11\n\t"
                     "mov $20000, %%ebx\n\t"
                     "stc\n"
                     "1:\n\t"
                     "dec %%ebx\n\t" /* leaves the carry alone */
                     "jnz 1b\n\t"
                     "adc %%rcx, %%rax\n\t" /* with the carry */
                     "add %%rdx, %%rax\n\t"
                     "add %%rsi, %%rax\n\t"
                     "add %%rdi, %%rax\n\t"
                     "add %%r8, %%rax\n\t"
                     "add %%r9, %%rax\n\t"
                     "add %%r10, %%rax\n\t"
                     "add %%r11, %%rax\n\t"
                     "mov %%rax, %[sum]"
                     : [sum] "=r"(sum)
                     : [value] "r"(value)
                     : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
    return sum == 9 * value + 36 + 1;
}

static bool mask_is_kept(void)
{
    sigset_t mask;

    sigprocmask(SIG_SETMASK, NULL, &mask);
    return sigismember(&mask, SIGUSR1) == 1 && sigismember(&mask, SIGUSR2) == 0;
}

static void live(bool sleeps)
{
    const struct timespec pause = {0, 2000000};
    sigset_t mask;

    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    for (uint64_t i = 0; !shared->is_over; i++) {
        if (!registers_are_kept(i) || !mask_is_kept() || (sleeps && nanosleep(&pause, NULL) != 0))
            shared->is_wrong = true;
        shared->rounds++;
    }
    _exit(shared->is_wrong ? 1 : 0);
}

static pid_t begin(bool sleeps)
{
    pid_t child;

    shared->rounds = 0;
    shared->is_wrong = shared->is_over = false;
    child = fork();
    if (child == 0)
        live(sleeps);
    while (shared->rounds == 0)
        usleep(1000);
    return child;
}

static void wait_for_rounds(uint64_t count)
{
    for (uint64_t end = shared->rounds + count; shared->rounds < end && !shared->is_wrong;)
        usleep(500);
}

static void end(pid_t child)
{
    int status = -1;

    shared->is_over = true;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

/* How far a tracer comes. */
enum stage {
    ENTERED,  /* the thread was sent there */
    AT_CALL,  /* it is about to make the call */
    BEHIND,   /* it has made it */
    UNMASKED, /* signals are as they were */
    STAGES,
};

static void trace_and_die(pid_t pid, uint64_t shelter, enum stage stage)
{
    static const long arguments[6] = {0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0};
    struct tracee tracee;
    uint64_t mask;
    int result = tracee_seize(&tracee, pid, pid);

    if (result == 0)
        result = tracee_interrupt(&tracee);
    if (result == 0)
        result = shelter_enter(&tracee, shelter, SYS_mmap, arguments, &mask);
    for (enum stage i = ENTERED; result == 0 && i < stage && i < BEHIND; i++)
        result = tracee_run_until(&tracee, TRACEE_SYSTEM_CALL, NULL);
    if (result == 0 && stage == UNMASKED)
        result = tracee_set_mask(&tracee, mask);
    _exit(result == 0 ? 0 : 1);
}

/* Whatever it did, and whenever that happens: it never notices. */
static void who_traces_may_die_at_any_time(void)
{
    for (unsigned sleeps = 0; sleeps < 2; sleeps++) {
        pid_t child = begin(sleeps != 0);
        uint64_t shelter = shelter_find(child);

        CHECK(shelter != 0 && shelter % 16 == 0);
        for (unsigned i = 0; i < ROUNDS && shelter != 0 && !shared->is_wrong; i++) {
            int status = -1;
            pid_t tracer = fork();

            if (tracer == 0)
                trace_and_die(child, shelter, (enum stage)(i % STAGES));
            CHECK_EQUAL(waitpid(tracer, &status, 0), tracer);
            CHECK_EQUAL(status, 0);
            wait_for_rounds(3);
        }
        CHECK(!shared->is_wrong);
        end(child);
    }
}

static void system_calls_are_made_and_nothing_is_left(void)
{
    static const long nothing[6];
    pid_t child = begin(true);
    struct remote_place place = {0};
    struct tracee tracee;
    uint64_t shelter = shelter_find(child);
    long answer = 0;

    CHECK_EQUAL(remote_find_system_call(child, (struct memory_range){0, 0}, &place), 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        CHECK_EQUAL(tracee_seize(&tracee, child, child), 0);
        CHECK_EQUAL(tracee_interrupt(&tracee), 0);
        CHECK_EQUAL(remote_system_call(&tracee, &place, SYS_getpid, nothing, &answer), 0);
        CHECK_EQUAL(answer, child);
        tracee_detach(&tracee);
        /* It is as it was found: all zeroes. */
        CHECK_EQUAL(shelter_find(child), shelter);
        wait_for_rounds(1);
    }
    end(child);
}

static void no_process_has_no_shelter(void)
{
    CHECK_EQUAL(shelter_find(0x7ffffffe), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(who_traces_may_die_at_any_time),
    CHECK_CASE(system_calls_are_made_and_nothing_is_left),
    CHECK_CASE(no_process_has_no_shelter),
};

int main(void)
{
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? 1 : check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
