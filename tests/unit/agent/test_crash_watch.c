/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Sanitizers have handlers of their own. A child follows itself and dies; what it left is looked at afterwards. */
#define _GNU_SOURCE
#include "agent/crash_watch.h"

#include "ring/crash_lane.h"
#include "ring/trigger_log.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"
#include "support/subject_thread.h"

#include <elf.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define STACK_REGISTER 4 /* rsp */

#if defined(__x86_64__)

static uint8_t left[RING_CRASHES_BYTES];
static size_t left_bytes;

/* Faults at a known place, with known registers. */
void fault(const volatile int *place);
extern const char fault_place[];
__asm__(".pushsection .text\n"
        "fault: movq $0x1234, %rbx\n"
        "pushq $0x5678\n"
        ".globl fault_place\n"
        "fault_place: movl (%rdi), %eax\n"
        "popq %rax\n"
        "ret\n"
        ".popsection");

static void fault_at_16(void)
{
    fault((const volatile int *)16);
}

/* How a child ends that is watched and does that. */
static int status_of(void (*prepare)(void), void (*function)(void))
{
    static const struct rlimit no_core;
    int status = -1;
    pid_t child;

    agent_lab_begin(0, RING_DROP);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &no_core);
        prepare();
        agent_lab_follow(agent_lab_engine(), 0, function);
        _exit(7);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    left_bytes = crash_lane_read(agent_lab.reader, left, sizeof(left));
    return status;
}

static void watch_all(void)
{
    crash_watch_begin(agent_lab.ring, 0);
}

static const void *find_record(enum crash_record_kind kind, unsigned which)
{
    size_t at = 0, size_bytes;

    while ((size_bytes = crash_record_check(left + at, left_bytes - at)) != 0) {
        const struct crash_record *record = (const struct crash_record *)(void *)(left + at);

        if (record->kind == kind && which-- == 0)
            return record;
        at += size_bytes;
    }
    return NULL;
}

static const struct crash_signal *check_signal(int status, int signal)
{
    static const struct crash_signal none;
    const struct crash_signal *found = find_record(CRASH_SIGNAL, 0);

    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    CHECK(found != NULL && find_record(CRASH_SIGNAL, 1) == NULL);
    if (found == NULL)
        return &none;
    CHECK_EQUAL(found->signal, signal);
    CHECK(found->is_known && found->time != 0);
    return found;
}

static void a_fault_leaves_registers_and_the_stack(void)
{
    const struct crash_signal *death = check_signal(status_of(watch_all, fault_at_16), SIGSEGV);
    uint64_t word;

    CHECK_EQUAL(death->code, SEGV_MAPERR);
    CHECK_EQUAL(death->address, 16);
    CHECK_EQUAL(death->machine, EM_X86_64);
    CHECK_EQUAL(death->registers[3], 0x1234);
    CHECK_EQUAL(death->registers[7], 16);
    CHECK_EQUAL(death->registers[death->register_count - 2], (uintptr_t)fault_place);
    CHECK_EQUAL(death->stack_start, death->registers[STACK_REGISTER]);
    CHECK(death->stack_bytes > 1000);
    memcpy(&word, death + 1, sizeof(word));
    CHECK_EQUAL(word, 0x5678);
}

static void an_abort_is_told(void)
{
    CHECK_EQUAL(check_signal(status_of(watch_all, abort), SIGABRT)->code, SI_TKILL);
}

/* ---- handlers ---------------------------------------------------------------------------------------------------- */

static void fault_in_handler(int signal)
{
    (void)signal;
    fault_at_16();
}

static void raise_with_handler(void)
{
    signal(SIGUSR1, fault_in_handler);
    raise(SIGUSR1);
}

static void a_crash_inside_a_handler_is_told(void)
{
    const struct crash_signal *death = check_signal(status_of(watch_all, raise_with_handler), SIGSEGV);

    CHECK_EQUAL(death->registers[death->register_count - 2], (uintptr_t)fault_place);
}

static void fault_with_handler_once(void)
{
    struct sigaction action = {.sa_handler = fault_in_handler, .sa_flags = SA_RESETHAND | SA_NODEFER};

    sigaction(SIGSEGV, &action, NULL);
    raise(SIGSEGV);
}

static void a_crash_of_a_handler_of_crashes_is_told_once(void)
{
    const struct crash_signal *death = check_signal(status_of(watch_all, fault_with_handler_once), SIGSEGV);

    CHECK_EQUAL(death->address, 16);
}

static void exit_in_handler(int signal)
{
    _exit(signal == SIGSEGV ? 9 : 10);
}

static void fault_with_handler(void)
{
    signal(SIGSEGV, exit_in_handler);
    fault_at_16();
}

static void what_a_handler_survives_is_no_crash(void)
{
    int status = status_of(watch_all, fault_with_handler);

    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
    CHECK_EQUAL(left_bytes, 0);
}

static void raise_term(void)
{
    raise(SIGTERM);
}

static void signals_that_write_no_core_are_not_told(void)
{
    int status = status_of(watch_all, raise_term);

    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    CHECK_EQUAL(left_bytes, 0);
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

/* A stack of which little is left. */
void fault_on_stack(uint64_t sp);
__asm__(".pushsection .text\n"
        "fault_on_stack: movq %rdi, %rsp\n"
        "movl 16, %eax\n"
        "ud2\n"
        ".popsection");

static uint64_t stack_pointer;

static void fault_with_stack_pointer(void)
{
    fault_on_stack(stack_pointer);
}

static void of_a_stack_as_much_is_taken_as_there_is(void)
{
    static _Alignas(4096) uint8_t pages[2][4096];
    const struct crash_signal *death;

    mprotect(pages[1], 4096, PROT_NONE);
    stack_pointer = (uintptr_t)pages[1] - 44;
    death = check_signal(status_of(watch_all, fault_with_stack_pointer), SIGSEGV);
    CHECK_EQUAL(death->stack_start, (uintptr_t)pages[1] - 48);
    CHECK_EQUAL(death->stack_bytes, 48);
    stack_pointer = 64;
    death = check_signal(status_of(watch_all, fault_with_stack_pointer), SIGSEGV);
    CHECK_EQUAL(death->stack_bytes, 0);
}

/* ---- other threads ----------------------------------------------------------------------------------------------- */

static int never_written[2];
static atomic_bool is_over;

static void read_for_ever(void *unused)
{
    char byte;

    (void)unused;
    (void)!read(never_written[0], &byte, 1);
}

static void spin_for_ever(void *unused)
{
    (void)unused;
    while (!is_over)
        ;
}

static void crash_with_threads(void)
{
    struct subject_thread reading, spinning;

    CHECK_EQUAL(pipe(never_written), 0);
    subject_thread_start(&reading, read_for_ever, NULL);
    subject_thread_wait_in(&reading, SYS_read);
    subject_thread_start(&spinning, spin_for_ever, NULL);
    fault_at_16();
}

static void other_threads_are_told_with_their_system_calls(void)
{
    const struct crash_signal *death = check_signal(status_of(watch_all, crash_with_threads), SIGSEGV);
    const struct crash_thread *thread, *reading = NULL;
    unsigned count = 0;

    while ((thread = find_record(CRASH_THREAD, count)) != NULL) {
        CHECK(thread->tid != death->tid);
        if (thread->state == CRASH_THREAD_IN_CALL && thread->number == SYS_read)
            reading = thread;
        count++;
    }
    CHECK_EQUAL(count, 2);
    CHECK(reading != NULL);
    if (reading == NULL)
        return;
    CHECK_EQUAL(reading->arguments[2], 1);
    CHECK(reading->stack_bytes != 0 && reading->sp != 0);
}

/* ---- triggers ---------------------------------------------------------------------------------------------------- */

static void ignore(int signal)
{
    (void)signal;
}

static void watch_usr1(void)
{
    crash_watch_begin(agent_lab.ring, 1ull << (SIGUSR1 - 1));
}

static void handle_signals(void)
{
    signal(SIGUSR1, ignore);
    signal(SIGUSR2, ignore);
    raise(SIGUSR2);
    raise(SIGUSR1);
}

static void signals_that_are_asked_for_are_triggers(void)
{
    struct trigger_log_place place = {0};
    struct ring_trigger trigger;
    uint64_t missed;
    int status = status_of(watch_usr1, handle_signals);

    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK(trigger_log_next(agent_lab.reader, &place, &trigger, &missed));
    CHECK_EQUAL(trigger.kind, RING_TRIGGER_SIGNAL);
    CHECK_EQUAL(trigger.value, SIGUSR1);
    CHECK(trigger.tid != 0 && trigger.time != 0);
    CHECK(!trigger_log_next(agent_lab.reader, &place, &trigger, &missed));
    CHECK_EQUAL(left_bytes, 0);
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static void forked_by_the_watched(void (*in_child)(void))
{
    int status = -1;
    pid_t child;

    crash_watch_begin(agent_lab.ring, UINT64_MAX);
    child = fork();
    if (child == 0) {
        in_child();
        return;
    }
    waitpid(child, &status, 0);
    _exit(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void do_nothing(void)
{
}

static void watch_in_parent_only(void)
{
    forked_by_the_watched(do_nothing);
}

static void watch_in_child_too(void)
{
    forked_by_the_watched(crash_watch_begin_in_child);
}

static void a_child_is_another_process_until_it_has_a_ring(void)
{
    CHECK_EQUAL(WEXITSTATUS(status_of(watch_in_parent_only, fault_at_16)), SIGSEGV);
    CHECK_EQUAL(left_bytes, 0);
    CHECK_EQUAL(WEXITSTATUS(status_of(watch_in_child_too, fault_at_16)), SIGSEGV);
    CHECK(find_record(CRASH_SIGNAL, 0) != NULL);
}

static void watch_no_more(void)
{
    watch_all();
    crash_watch_end();
}

static void after_its_end_nothing_is_told(void)
{
    int status = status_of(watch_no_more, fault_at_16);

    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    CHECK_EQUAL(left_bytes, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_fault_leaves_registers_and_the_stack),  CHECK_CASE(an_abort_is_told),
    CHECK_CASE(a_crash_inside_a_handler_is_told),        CHECK_CASE(a_crash_of_a_handler_of_crashes_is_told_once),
    CHECK_CASE(what_a_handler_survives_is_no_crash),     CHECK_CASE(signals_that_write_no_core_are_not_told),
    CHECK_CASE(of_a_stack_as_much_is_taken_as_there_is), CHECK_CASE(other_threads_are_told_with_their_system_calls),
    CHECK_CASE(signals_that_are_asked_for_are_triggers), CHECK_CASE(a_child_is_another_process_until_it_has_a_ring),
    CHECK_CASE(after_its_end_nothing_is_told),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("threads are not followed on this CPU yet");
}

#endif
