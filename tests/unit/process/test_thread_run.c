/* SPDX-License-Identifier: MIT */
/* Sanitizers do not know the stack that the function runs on. */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "process/thread_run.h"

#include "process/thread_list.h"
#include "support/check.h"
#include "support/subject_thread.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RUNS       200
#define TIMEOUT_MS 60000
#define SLEEP_NS   300000000ll
#define FLAGS_KEPT 0xcd5u /* carry, parity, adjust, zero, sign, direction, overflow */

struct report {
    atomic_long runs;
    int tid;
    uint64_t pc;
};

static void note_tid(void *context, const struct thread_registers *registers)
{
    struct report *report = context;

    report->tid = thread_current();
    report->pc = thread_registers_pc(registers);
    atomic_fetch_add(&report->runs, 1);
}

/* All that a thread has: general registers but rsp, the lower vector registers, the red zone, flags. */
struct machine {
    uint64_t general[15];
    uint64_t vector[32];
    uint64_t red_zone[16];
    uint64_t flags;
};

/* Not static: the compiler must not think that it knows who changes them. */
struct machine before, after;
atomic_long loaded, enough;

/* Loads `before`, spins until `enough`, and stores `after`. Only rip-relative memory operands while it spins. */
__asm__("        .text\n"
        "load_spin_store:\n"
        "        push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
        "        leaq before(%rip), %rax\n"
        "        .irp number, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
        "        movups 120+16*\\number(%rax), %xmm\\number\n"
        "        movq 376+8*\\number(%rax), %rcx\n"
        "        movq %rcx, -128+8*\\number(%rsp)\n"
        "        .endr\n"
        "        movq 8(%rax), %rbx; movq 16(%rax), %rcx; movq 24(%rax), %rdx; movq 32(%rax), %rsi\n"
        "        movq 40(%rax), %rdi; movq 48(%rax), %rbp; movq 56(%rax), %r8; movq 64(%rax), %r9\n"
        "        movq 72(%rax), %r10; movq 80(%rax), %r11; movq 88(%rax), %r12; movq 96(%rax), %r13\n"
        "        movq 104(%rax), %r14; movq 112(%rax), %r15\n"
        "        movq 0(%rax), %rax\n"
        "        movq $1, loaded(%rip)\n"
        /* jrcxz leaves the flags alone; 0x7f..ff + 1 sets most of them */
        "        movq %rcx, saved_rcx(%rip)\n"
        "        movabsq $0x7fffffffffffffff, %rcx\n"
        "        addq $1, %rcx\n"
        "        stc\n"
        "        std\n"
        "1:      movq enough(%rip), %rcx\n"
        "        jrcxz 1b\n"
        "        movq saved_rcx(%rip), %rcx\n"
        "        movq %rax, after(%rip)\n"
        "        leaq after(%rip), %rax\n"
        "        movq %rbx, 8(%rax); movq %rcx, 16(%rax); movq %rdx, 24(%rax); movq %rsi, 32(%rax)\n"
        "        movq %rdi, 40(%rax); movq %rbp, 48(%rax); movq %r8, 56(%rax); movq %r9, 64(%rax)\n"
        "        movq %r10, 72(%rax); movq %r11, 80(%rax); movq %r12, 88(%rax); movq %r13, 96(%rax)\n"
        "        movq %r14, 104(%rax); movq %r15, 112(%rax)\n"
        "        .irp number, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
        "        movups %xmm\\number, 120+16*\\number(%rax)\n"
        "        movq -128+8*\\number(%rsp), %rcx\n"
        "        movq %rcx, 376+8*\\number(%rax)\n"
        "        .endr\n"
        "        pushfq\n"
        "        popq 504(%rax)\n"
        "        cld\n"
        "        pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
        "        ret\n"
        "        .data\n"
        "saved_rcx: .quad 0\n"
        "        .text\n");

void load_spin_store(void);

_Static_assert(offsetof(struct machine, vector) == 120 && offsetof(struct machine, red_zone) == 376 &&
                   offsetof(struct machine, flags) == 504,
               "known to the code above");

static void spin(void *context)
{
    (void)context;
    load_spin_store();
}

/* Uses vector registers, the x87 stack and the flags, as any compiled function may. */
static void clobber(void *context, const struct thread_registers *registers)
{
    note_tid(context, registers);
    __asm__ volatile(
        "pcmpeqd %%xmm0, %%xmm0; pcmpeqd %%xmm7, %%xmm7; pcmpeqd %%xmm15, %%xmm15; fldpi; fstp %%st(0)\n" ::
            : "xmm0", "xmm7", "xmm15", "cc");
}

static void everything_is_as_it_was_afterwards(void)
{
    struct subject_thread subject;
    struct report report = {0};

    for (size_t i = 0; i < sizeof(before) / 8; i++)
        ((uint64_t *)&before)[i] = 0x9e3779b97f4a7c15ull * (i + 1);
    subject_thread_start(&subject, spin, NULL);
    subject_thread_wait_count(&loaded, 1);
    for (int i = 0; i < RUNS; i++)
        CHECK_EQUAL(thread_run(subject.tid, clobber, &report, TIMEOUT_MS), 0);
    CHECK_EQUAL(report.runs, RUNS);
    CHECK_EQUAL(report.tid, subject.tid);
    atomic_store(&enough, 1);
    subject_thread_join(&subject);
    for (int i = 0; i < 15; i++)
        CHECK_EQUAL(after.general[i], before.general[i]);
    for (int i = 0; i < 32; i++)
        CHECK_EQUAL(after.vector[i], before.vector[i]);
    for (int i = 0; i < 16; i++)
        CHECK_EQUAL(after.red_zone[i], before.red_zone[i]);
    CHECK_EQUAL(after.flags & FLAGS_KEPT, 0xc95);
}

static void read_a_byte(void *context)
{
    int *fd = context;
    char byte = 0;

    CHECK_EQUAL(read(*fd, &byte, 1), 1);
    CHECK_EQUAL(byte, 'x');
}

static void poll_for_long(void *context)
{
    int *fd = context;
    struct pollfd polled = {.fd = *fd, .events = POLLIN};

    CHECK_EQUAL(poll(&polled, 1, TIMEOUT_MS * 10), 1);
    CHECK_EQUAL(polled.revents, POLLIN);
}

/* Runs the function many times on a thread that waits for a byte in the system call. */
static void run_on_waiting(void (*wait)(void *), long number)
{
    struct subject_thread subject;
    struct report report = {0};
    int ends[2];

    CHECK_EQUAL(pipe(ends), 0);
    subject_thread_start(&subject, wait, &ends[0]);
    for (int i = 0; i < RUNS; i++) {
        if (i % 2 == 0)
            subject_thread_wait_in(&subject, number);
        CHECK_EQUAL(thread_run(subject.tid, note_tid, &report, TIMEOUT_MS), 0);
    }
    CHECK_EQUAL(report.runs, RUNS);
    CHECK_EQUAL(report.tid, subject.tid);
    CHECK_EQUAL(write(ends[1], "x", 1), 1);
    subject_thread_join(&subject);
    close(ends[0]);
    close(ends[1]);
}

static void system_calls_are_begun_again(void)
{
    run_on_waiting(read_a_byte, SYS_read);
    run_on_waiting(poll_for_long, SYS_poll);
}

static atomic_long awake;

static void sleep_once(void *context)
{
    struct timespec request = {.tv_nsec = SLEEP_NS}, start, end;

    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &start);
    CHECK_EQUAL(clock_nanosleep(CLOCK_MONOTONIC, 0, &request, NULL), 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    CHECK((end.tv_sec - start.tv_sec) * 1000000000ll + end.tv_nsec - start.tv_nsec >= SLEEP_NS);
    atomic_store(&awake, 1);
}

static void a_sleep_lasts_as_long_as_it_should(void)
{
    struct subject_thread subject;
    struct report report = {0};

    subject_thread_start(&subject, sleep_once, NULL);
    while (atomic_load(&awake) == 0) {
        int result = thread_run(subject.tid, note_tid, &report, TIMEOUT_MS);

        CHECK(result == 0 || result == -ESRCH);
    }
    subject_thread_join(&subject);
    CHECK(report.runs > 0);
}

static atomic_long may_return, inside;

static void stay(void *context, const struct thread_registers *registers)
{
    (void)context;
    (void)registers;
    atomic_store(&inside, 1);
    while (atomic_load(&may_return) == 0)
        continue;
}

static void a_run_can_be_begun_and_ended_later(void)
{
    struct subject_thread subject;
    struct thread_run *run = NULL;
    int ends[2];

    CHECK_EQUAL(pipe(ends), 0);
    subject_thread_start(&subject, read_a_byte, &ends[0]);
    CHECK_EQUAL(thread_run_begin(subject.tid, stay, NULL, &run), 0);
    subject_thread_wait_count(&inside, 1);
    CHECK(!thread_run_is_done(run));
    CHECK_EQUAL(thread_run_end(run, 1), -ETIMEDOUT);
    atomic_store(&may_return, 1);
    while (!thread_run_is_done(run))
        sched_yield();
    CHECK_EQUAL(thread_run_end(run, TIMEOUT_MS), 0);
    CHECK_EQUAL(write(ends[1], "x", 1), 1);
    subject_thread_join(&subject);
    close(ends[0]);
    close(ends[1]);
}

static void end_thread(void *context, const struct thread_registers *registers)
{
    (void)context;
    (void)registers;
    syscall(SYS_exit, 0);
}

static void a_thread_that_ends_in_the_function_is_noticed(void)
{
    struct subject_thread subject;
    int ends[2];

    CHECK_EQUAL(pipe(ends), 0);
    subject_thread_start(&subject, read_a_byte, &ends[0]);
    CHECK_EQUAL(thread_run(subject.tid, end_thread, NULL, TIMEOUT_MS), -ESRCH);
    subject_thread_join(&subject);
    CHECK_EQUAL(thread_run(subject.tid, end_thread, NULL, TIMEOUT_MS), -ESRCH);
    CHECK_EQUAL(thread_run(thread_current(), end_thread, NULL, TIMEOUT_MS), -EINVAL);
    close(ends[0]);
    close(ends[1]);
}

static atomic_long handled;

static void count_signal(int number)
{
    (void)number;
    atomic_fetch_add(&handled, 1);
}

static void send_signals(void *context)
{
    struct subject_thread *target = context;

    for (long sent = 0; atomic_load(&enough) == 0; sent++) {
        pthread_kill(target->thread, SIGUSR1);
        while (atomic_load(&handled) <= sent)
            sched_yield();
    }
}

static void on_a_small_alternate_stack(void *context)
{
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};

    sigaltstack(&stack, NULL);
    read_a_byte(context);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
    free(stack.ss_sp);
}

static void signals_are_handled_in_between(void)
{
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART | SA_ONSTACK};
    struct subject_thread target, sender;
    struct report report = {0};
    int ends[2];

    atomic_store(&enough, 0);
    sigaction(SIGUSR1, &action, NULL);
    CHECK_EQUAL(pipe(ends), 0);
    subject_thread_start(&target, on_a_small_alternate_stack, &ends[0]);
    subject_thread_start(&sender, send_signals, &target);
    for (int i = 0; i < RUNS; i++)
        CHECK_EQUAL(thread_run(target.tid, note_tid, &report, TIMEOUT_MS), 0);
    CHECK_EQUAL(report.runs, RUNS);
    atomic_store(&enough, 1);
    subject_thread_join(&sender);
    CHECK_EQUAL(write(ends[1], "x", 1), 1);
    subject_thread_join(&target);
    CHECK(handled > 0);
    close(ends[0]);
    close(ends[1]);
}

static const struct check_case cases[] = {
    CHECK_CASE(everything_is_as_it_was_afterwards),
    CHECK_CASE(system_calls_are_begun_again),
    CHECK_CASE(a_sleep_lasts_as_long_as_it_should),
    CHECK_CASE(a_run_can_be_begun_and_ended_later),
    CHECK_CASE(a_thread_that_ends_in_the_function_is_noticed),
    CHECK_CASE(signals_are_handled_in_between),
};

CHECK_MAIN(cases)
