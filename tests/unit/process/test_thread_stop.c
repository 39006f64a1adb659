/* SPDX-License-Identifier: MIT */
/* What thread_modify does to threads that compute, to those it cannot stop, and to the process around them. */
#define _GNU_SOURCE
#include "process/thread_stop.h"

#include "arch/clone_start.h"
#include "arch/thread_registers.h"
#include "arch/x86_64/isa/user_registers.h"
#include "base/raw_syscall.h"
#include "process/thread_list.h"
#include "support/check.h"
#include "support/forbid.h"
#include "support/subject_thread.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static int leave_alone(void *context, struct thread_registers *registers)
{
    (void)context;
    (void)registers;
    return 1;
}

static int write_back(void *context, struct thread_registers *registers)
{
    (void)context;
    (void)registers;
    return 0;
}

/* A thread that goes round a loop of two instructions until its rax is not 0. */
struct spinner {
    struct subject_thread subject;
    atomic_long result;
};

__asm__("        .text\n"
        "spin_on_rax:\n"
        "        xorl    %eax, %eax\n"
        "spin_on_rax_again:\n"
        "        testq   %rax, %rax\n"
        "        jz      spin_on_rax_again\n"
        "        ret\n"
        "spin_on_rax_end:\n");

long spin_on_rax(void);
extern const char spin_on_rax_again[], spin_on_rax_end[];

static void spin(void *context)
{
    atomic_store((atomic_long *)context, spin_on_rax());
}

static void spinner_start(struct spinner *spinner)
{
    atomic_init(&spinner->result, 0);
    subject_thread_start(&spinner->subject, spin, &spinner->result);
}

/* -EAGAIN as long as the thread has not come to the loop. */
static int set_rax_in_loop(void *context, struct thread_registers *registers)
{
    uint64_t pc = thread_registers_pc(registers);

    if (pc < (uintptr_t)spin_on_rax_again || pc >= (uintptr_t)spin_on_rax_end)
        return -EAGAIN;
    x86_user_registers(registers)->rax = *(uint64_t *)context;
    return 0;
}

static int spinner_release(struct spinner *spinner, uint64_t value)
{
    int result;

    do
        result = thread_modify(spinner->subject.tid, set_rax_in_loop, &value);
    while (result == -EAGAIN);
    return result;
}

static void spinner_end(struct spinner *spinner)
{
    CHECK_EQUAL(spinner_release(spinner, 42), 0);
    subject_thread_join(&spinner->subject);
    CHECK_EQUAL(spinner->result, 42);
}

static void a_changed_register_is_what_the_thread_goes_on_with(void)
{
    struct spinner spinner;

    spinner_start(&spinner);
    spinner_end(&spinner);
}

static int set_rax_but(void *context, struct thread_registers *registers)
{
    x86_user_registers(registers)->rax = 1;
    thread_registers_set_pc(registers, 0);
    return *(int *)context;
}

static void registers_stay_when_the_change_is_not_wanted(void)
{
    struct spinner spinner;
    int leave = 1, fail = -ENODATA;

    spinner_start(&spinner);
    CHECK_EQUAL(thread_modify(spinner.subject.tid, set_rax_but, &leave), 0);
    CHECK_EQUAL(thread_modify(spinner.subject.tid, set_rax_but, &fail), -ENODATA);
    spinner_end(&spinner);
}

static int look_at_state(void *context, struct thread_registers *registers)
{
    const struct spinner *spinner = context;
    enum thread_state state = THREAD_STATE_OTHER;

    CHECK_EQUAL(thread_state_read(spinner->subject.tid, &state), 0);
    CHECK_EQUAL(state, THREAD_TRACED);
    CHECK(thread_registers_pc(registers) != 0);
    CHECK(thread_registers_sp(registers) != 0);
    CHECK(x86_user_registers(registers)->fs_base != 0);
    CHECK_EQUAL(x86_user_registers(registers)->cs, 0x33);
    return 1;
}

static void the_thread_stands_still_meanwhile(void)
{
    struct spinner spinner;

    spinner_start(&spinner);
    CHECK_EQUAL(thread_modify(spinner.subject.tid, look_at_state, &spinner), 0);
    spinner_end(&spinner);
}

static int set_impossible_segment(void *context, struct thread_registers *registers)
{
    (void)context;
    x86_user_registers(registers)->cs = 0;
    return 0;
}

static void registers_that_cannot_be_are_refused_by_the_kernel(void)
{
    struct spinner spinner;

    spinner_start(&spinner);
    CHECK_EQUAL(thread_modify(spinner.subject.tid, set_impossible_segment, NULL), -EIO);
    spinner_end(&spinner);
}

static void return_at_once(void *context)
{
    (void)context;
}

static void threads_that_are_not_there_are_told_apart(void)
{
    struct subject_thread subject;

    CHECK_EQUAL(thread_modify(thread_current(), leave_alone, NULL), -EINVAL);
    CHECK_EQUAL(thread_modify(1, leave_alone, NULL), -ESRCH);
    CHECK_EQUAL(thread_modify(0, leave_alone, NULL), -ESRCH);
    CHECK_EQUAL(thread_modify(-1, leave_alone, NULL), -ESRCH);
    subject_thread_start(&subject, return_at_once, NULL);
    subject_thread_join(&subject);
    while (thread_exists(subject.tid))
        sched_yield();
    CHECK_EQUAL(thread_modify(subject.tid, leave_alone, NULL), -ESRCH);
}

static void a_thread_that_ends_meanwhile_is_no_trouble(void)
{
    for (int i = 0; i < 300; i++) {
        struct subject_thread subject;
        int result;

        subject_thread_start(&subject, return_at_once, NULL);
        do
            result = thread_modify(subject.tid, i % 2 == 0 ? leave_alone : write_back, NULL);
        while (result == 0);
        CHECK_EQUAL(result, -ESRCH);
        subject_thread_join(&subject);
    }
}

/* Runs in a child: traces a thread of its parent, says so, and goes on until it is told to end. */
static void trace_and_wait(int tid, int say, int hear)
{
    char byte = ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0 ? 'y' : 'n';

    if (write(say, &byte, 1) == 1)
        (void)!read(hear, &byte, 1);
    _exit(0);
}

static void a_thread_that_is_traced_already_is_left_to_its_tracer(void)
{
    struct spinner spinner;
    int from[2], to[2];
    char answer = 0;
    pid_t child;

    spinner_start(&spinner);
    CHECK(pipe(from) == 0 && pipe(to) == 0);
    child = fork();
    if (child == 0) {
        close(to[1]);
        trace_and_wait(spinner.subject.tid, from[1], to[0]);
    }
    CHECK_EQUAL(read(from[0], &answer, 1), 1);
    if (answer == 'y')
        CHECK_EQUAL(thread_modify(spinner.subject.tid, leave_alone, NULL), -EPERM);
    else
        printf("a child may not trace its parent here\n");
    close(to[1]);
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
    spinner_end(&spinner);
    close(to[0]);
    close(from[0]);
    close(from[1]);
}

static int modify_again(void *context, struct thread_registers *registers)
{
    (void)registers;
    return thread_modify(*(int *)context, leave_alone, NULL);
}

static void a_change_that_modifies_is_told_so(void)
{
    struct spinner spinner;
    int tid;

    spinner_start(&spinner);
    tid = spinner.subject.tid;
    CHECK_EQUAL(thread_modify(tid, modify_again, &tid), -EDEADLK);
    spinner_end(&spinner);
}

struct couple {
    struct subject_thread subjects[2];
    atomic_bool present[2];
    int number;
};

static struct couple couple;

static void modify_the_other(void *context)
{
    int own = *(int *)context, other = 1 - own;

    atomic_store(&couple.present[own], true);
    while (!atomic_load(&couple.present[other]))
        sched_yield();
    for (int i = 0; i < 200; i++)
        CHECK_EQUAL(thread_modify(couple.subjects[other].tid, i % 2 == 0 ? write_back : leave_alone, NULL), 0);
    atomic_store(&couple.present[own], false);
    while (atomic_load(&couple.present[other]))
        sched_yield();
}

static void two_threads_can_modify_each_other(void)
{
    int numbers[2] = {0, 1};

    for (int i = 0; i < 2; i++)
        subject_thread_start(&couple.subjects[i], modify_the_other, &numbers[i]);
    for (int i = 0; i < 2; i++)
        subject_thread_join(&couple.subjects[i]);
}

static void no_process_memory_or_descriptor_is_left(void)
{
    struct spinner spinner;
    int before, after;

    spinner_start(&spinner);
    before = dup(0);
    close(before);
    for (int i = 0; i < 100; i++)
        CHECK_EQUAL(thread_modify(spinner.subject.tid, write_back, NULL), 0);
    CHECK_EQUAL(waitpid(-1, NULL, WNOHANG | __WALL), -1);
    CHECK_EQUAL(errno, ECHILD);
    after = dup(0);
    CHECK_EQUAL(after, before);
    close(after);
    spinner_end(&spinner);
}

static atomic_int child_signals;

static void count_child_signal(int number)
{
    (void)number;
    atomic_fetch_add(&child_signals, 1);
}

static void wait_for_any_child(void *context)
{
    int status;

    while ((*(pid_t *)context = wait(&status)) == -1 && errno == EINTR)
        continue;
}

static void the_programs_wait_sees_its_own_child_only(void)
{
    struct sigaction action = {.sa_handler = count_child_signal, .sa_flags = SA_RESTART};
    struct subject_thread waiter;
    struct spinner spinner;
    pid_t child, waited = 0;
    int ends[2];
    char byte;

    sigaction(SIGCHLD, &action, NULL);
    CHECK_EQUAL(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    spinner_start(&spinner);
    subject_thread_start(&waiter, wait_for_any_child, &waited);
    subject_thread_wait_in(&waiter, SYS_wait4);
    for (int i = 0; i < 100; i++) {
        CHECK_EQUAL(thread_modify(spinner.subject.tid, write_back, NULL), 0);
        CHECK_EQUAL(thread_modify(waiter.tid, write_back, NULL), 0);
    }
    CHECK_EQUAL(child_signals, 0);
    close(ends[1]);
    subject_thread_join(&waiter);
    CHECK_EQUAL(waited, child);
    CHECK_EQUAL(child_signals, 1);
    signal(SIGCHLD, SIG_DFL);
    spinner_end(&spinner);
    close(ends[0]);
}

/* The only child of the calling thread, or 0. */
static pid_t only_child(void)
{
    char path[64], line[64] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", thread_current());
    file = fopen(path, "r");
    if (file == NULL)
        return 0;
    if (fgets(line, sizeof(line), file) == NULL)
        line[0] = '\0';
    fclose(file);
    return (pid_t)strtol(line, NULL, 10);
}

static int kill_helper(void *context, struct thread_registers *registers)
{
    pid_t *helper = context;

    *helper = only_child();
    if (*helper > 0)
        kill(*helper, SIGKILL);
    x86_user_registers(registers)->rax = 7;
    return 0;
}

static void a_killed_helper_is_an_error_and_the_thread_goes_on(void)
{
    struct spinner spinner;
    pid_t helper = 0;
    int result;

    spinner_start(&spinner);
    result = thread_modify(spinner.subject.tid, kill_helper, &helper);
    if (helper > 0)
        CHECK_EQUAL(result, -EIO);
    else
        printf("the kernel does not show children\n");
    spinner_end(&spinner);
    CHECK_EQUAL(waitpid(-1, NULL, WNOHANG | __WALL), -1);
}

static int die(void *context, struct thread_registers *registers)
{
    pid_t helper = only_child();

    (void)registers;
    (void)!write(*(int *)context, &helper, sizeof(helper));
    kill(getpid(), SIGKILL);
    return 0;
}

static void the_helper_dies_with_the_program(void)
{
    int ends[2], status = 0;
    pid_t child, helper = 0;

    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    CHECK_EQUAL(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        struct spinner spinner;

        spinner_start(&spinner);
        (void)!thread_modify(spinner.subject.tid, die, &ends[1]);
        _exit(0);
    }
    CHECK_EQUAL(read(ends[0], &helper, sizeof(helper)), sizeof(helper));
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    /* Orphans come to us. */
    if (helper > 0) {
        CHECK_EQUAL(waitpid(helper, &status, __WALL), helper);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    close(ends[0]);
    close(ends[1]);
}

struct vfork_pipes {
    int say[2];
    int hear[2];
};

UNSANITIZED static void say_and_hear(void *context)
{
    struct vfork_pipes *pipes = context;
    char byte = 'x';

    (void)raw_syscall(SYS_write, pipes->say[1], (long)&byte, 1, 0, 0, 0);
    (void)raw_syscall(SYS_read, pipes->hear[0], (long)&byte, 1, 0, 0, 0);
}

/* The thread waits until its child, which has its memory, ends: what vfork() does. */
static void wait_for_end_of_child(void *context)
{
    static _Alignas(16) uint8_t stack[16384];
    static _Atomic uint32_t ended;
    long child = clone_start(CLONE_VM | CLONE_VFORK | SIGCHLD, stack + sizeof(stack), &ended, say_and_hear, context);
    int status = -1;

    CHECK_EQUAL(waitpid((pid_t)child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

static void a_wait_that_cannot_be_interrupted_is_given_up(void)
{
    struct subject_thread subject;
    struct vfork_pipes pipes;
    char byte = 0;

    CHECK(pipe(pipes.say) == 0 && pipe(pipes.hear) == 0);
    subject_thread_start(&subject, wait_for_end_of_child, &pipes);
    CHECK_EQUAL(read(pipes.say[0], &byte, 1), 1);
    CHECK_EQUAL(thread_modify(subject.tid, write_back, NULL), -ETIMEDOUT);
    CHECK_EQUAL(write(pipes.hear[1], &byte, 1), 1);
    subject_thread_join(&subject);
    CHECK_EQUAL(waitpid(-1, NULL, WNOHANG | __WALL), -1);
    for (int i = 0; i < 2; i++) {
        close(pipes.say[i]);
        close(pipes.hear[i]);
    }
}

static void modify_where_children_go_elsewhere(void)
{
    struct spinner spinner;

    spinner_start(&spinner);
    if (unshare(CLONE_NEWPID) != 0)
        _exit(77);
    _exit(thread_modify(spinner.subject.tid, write_back, NULL) == -EOPNOTSUPP ? 0 : 1);
}

static void a_new_pid_namespace_is_not_spoilt(void)
{
    int status = forbid_in_child(modify_where_children_go_elsewhere);

    CHECK(status == 0 || status == 77);
}

static void modify_without_rights(void)
{
    struct spinner spinner;
    int before, result;

    if (getuid() == 0 &&
        (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0))
        _exit(77);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    before = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    spinner_start(&spinner);
    result = spinner_release(&spinner, 42);
    subject_thread_join(&spinner.subject);
    _exit(before == 0 && result == 0 && prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : 1);
}

static void a_process_that_hides_from_tracers_can_still_do_it(void)
{
    int status = forbid_in_child(modify_without_rights);

    CHECK(status == 0 || status == 77);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_changed_register_is_what_the_thread_goes_on_with),
    CHECK_CASE(registers_stay_when_the_change_is_not_wanted),
    CHECK_CASE(the_thread_stands_still_meanwhile),
    CHECK_CASE(registers_that_cannot_be_are_refused_by_the_kernel),
    CHECK_CASE(threads_that_are_not_there_are_told_apart),
    CHECK_CASE(a_thread_that_ends_meanwhile_is_no_trouble),
    CHECK_CASE(a_thread_that_is_traced_already_is_left_to_its_tracer),
    CHECK_CASE(a_change_that_modifies_is_told_so),
    CHECK_CASE(two_threads_can_modify_each_other),
    CHECK_CASE(no_process_memory_or_descriptor_is_left),
    CHECK_CASE(the_programs_wait_sees_its_own_child_only),
    CHECK_CASE(a_killed_helper_is_an_error_and_the_thread_goes_on),
    CHECK_CASE(the_helper_dies_with_the_program),
    CHECK_CASE(a_wait_that_cannot_be_interrupted_is_given_up),
    CHECK_CASE(a_new_pid_namespace_is_not_spoilt),
    CHECK_CASE(a_process_that_hides_from_tracers_can_still_do_it),
};

CHECK_MAIN(cases)
