/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inject/exec_watch.h"

#include "arch/system_call_registers.h"
#include "inject/privilege.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static enum tracee_event until(const struct exec_watch *watch)
{
    return watch->checks_calls ? TRACEE_SYSTEM_CALL : TRACEE_EXEC;
}

static enum exec_watch_outcome resume(struct exec_watch *watch, int signal)
{
    /* If it is gone, waitpid tells that too. */
    (void)!tracee_resume(&watch->tracee, until(watch), signal);
    return EXEC_WATCH_ON;
}

int exec_watch_begin(struct exec_watch *watch, enum exec_watch_kind kind, pid_t pid, pid_t tid)
{
    bool checks = !privilege_survives_tracing();
    int result;

    *watch = (struct exec_watch){.kind = kind, .checks_calls = checks};
    result = kind == EXEC_WATCH_PARENT ? tracee_seize_with_children(&watch->tracee, pid, tid)
                                       : tracee_seize(&watch->tracee, pid, tid);
    if (result != 0 || !checks || kind == EXEC_WATCH_PARENT)
        return result;
    /* System calls stop it only if it went on from a stop. */
    result = tracee_interrupt(&watch->tracee);
    if (result == 0)
        result = tracee_resume(&watch->tracee, until(watch), 0);
    if (result != 0)
        tracee_detach(&watch->tracee);
    return result;
}

void exec_watch_begin_child(struct exec_watch *watch, pid_t pid)
{
    *watch = (struct exec_watch){
        .kind = EXEC_WATCH_CHILD,
        .tracee = {.pid = pid, .tid = pid},
        .checks_calls = !privilege_survives_tracing(),
    };
}

static enum exec_watch_outcome let_go(struct exec_watch *watch, enum exec_watch_outcome outcome)
{
    tracee_detach(&watch->tracee);
    return outcome;
}

/* Whether the program is for the CPU in the mode that we are for. */
static bool is_of_our_kind(pid_t pid)
{
    char path[64];
    const char *files[] = {"/proc/self/exe", path};
    Elf64_Ehdr headers[2];

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    for (unsigned i = 0; i < 2; i++) {
        int fd = open(files[i], O_RDONLY | O_CLOEXEC);
        ssize_t got = fd == -1 ? -1 : read(fd, &headers[i], sizeof(headers[i]));

        if (fd != -1)
            close(fd);
        if (got != sizeof(headers[i]))
            return false;
    }
    return headers[0].e_machine == headers[1].e_machine && headers[0].e_ident[EI_CLASS] == headers[1].e_ident[EI_CLASS];
}

/* The thread that executes a program is the first one of its process from then on. */
static enum exec_watch_outcome executed(struct exec_watch *watch)
{
    watch->tracee.tid = watch->tracee.pid;
    if (privilege_was_gained(watch->tracee.pid) || !is_of_our_kind(watch->tracee.pid))
        return let_go(watch, EXEC_WATCH_LEFT);
    /* The system call is not over yet, and would still write its result. */
    if (tracee_run_until(&watch->tracee, TRACEE_SYSTEM_CALL, NULL) != 0)
        return EXEC_WATCH_ENDED;
    watch->tracee.is_fresh = true;
    return EXEC_WATCH_EXECUTED;
}

/* One that was made itself may make others, and goes on. */
static enum exec_watch_outcome made(struct exec_watch *watch, pid_t *child_out)
{
    if (tracee_child(&watch->tracee, child_out) != 0)
        return resume(watch, 0);
    if (watch->kind == EXEC_WATCH_PARENT)
        return let_go(watch, EXEC_WATCH_MADE);
    (void)resume(watch, 0);
    return EXEC_WATCH_MADE_ON;
}

/* The kernel gives no privileges to a program that is traced, and lets nobody be traced by two. */
static enum exec_watch_outcome look_at_call(struct exec_watch *watch)
{
    struct tracee_call call;

    if (!tracee_system_call(&watch->tracee, &call))
        return resume(watch, 0);
    if ((call.number == SYS_execve || call.number == SYS_execveat) && !privilege_survives_tracing() &&
        privilege_would_be_gained(&watch->tracee, &call))
        return let_go(watch, EXEC_WATCH_LEFT);
    if (call.number == SYS_ptrace && call.arguments[0] == PTRACE_TRACEME)
        return let_go(watch, EXEC_WATCH_TAKEN);
    return resume(watch, 0);
}

/*
 * Debuggers start programs by vfork. Children of posix_spawn, which make a hundred system calls before they execute
 * something, do nothing of their own: they are not held up.
 */
static void look_at_child(struct exec_watch *watch)
{
#ifdef SYS_vfork
    const long call = SYS_vfork;
#else
    const long call = SYS_clone;
#endif
    struct thread_registers registers;

    watch->is_known = true;
    if (tracee_get_registers(&watch->tracee, &registers) == 0 && system_call_registers_number(&registers) == call)
        watch->checks_calls = true;
}

enum exec_watch_outcome exec_watch_go_on(struct exec_watch *watch, int status, pid_t *child_out)
{
    int event;

    if (!WIFSTOPPED(status))
        return EXEC_WATCH_ENDED;
    watch->tracee.is_stopped = true;
    if (watch->kind == EXEC_WATCH_CHILD && !watch->is_known)
        look_at_child(watch);
    event = tracee_event_of(status);
    switch (event) {
    case TRACEE_EXEC:
        return executed(watch);
    case TRACEE_CHILD:
        return made(watch, child_out);
    case TRACEE_SYSTEM_CALL:
        return look_at_call(watch);
    case TRACEE_GROUP_STOP:
        (void)!tracee_let_be_stopped(&watch->tracee);
        return EXEC_WATCH_ON;
    default:
        return resume(watch, event < 0 ? -event : 0);
    }
}

static void let_child_go(const struct tracee *parent)
{
    struct tracee child = {0};

    if (tracee_child(parent, &child.pid) != 0)
        return;
    child.tid = child.pid;
    if (tracee_interrupt(&child) == 0)
        tracee_detach(&child);
}

void exec_watch_end(struct exec_watch *watch)
{
    if (!watch->tracee.is_stopped && tracee_interrupt(&watch->tracee) != 0)
        return;
    if (watch->tracee.has_child)
        let_child_go(&watch->tracee);
    tracee_detach(&watch->tracee);
}
