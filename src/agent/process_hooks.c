/* SPDX-License-Identifier: MIT */
/*
 * Other functions come down to these: fork() to _Fork(), system() and popen() to posix_spawn(), execvp() and its
 * relatives to execve(). A process that is made with our memory, to execute a program, runs into the hooks as well; it
 * is watched already, and says nothing. What a call announced is kept with the call. And filters of system calls that a
 * program puts upon itself are changed here, if it does so by functions of the C library; so it is noticed that it
 * forbids itself the counter of time, which stubs read.
 */
#include "agent/process_hooks.h"

#include "agent/process_log.h"
#include "base/memory_functions.h"
#include "base/raw_syscall.h"
#include "hook/hook_thread.h"
#include "stalker/seccomp_filter.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/prctl.h>

static long own_pid;

static long current_pid(void)
{
    return raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);
}

void process_hooks_begin(void)
{
    own_pid = current_pid();
}

static struct ring_notice **notice_of(const struct gait_invocation *invocation)
{
    return invocation->call_data;
}

/* ---- forks ------------------------------------------------------------------------------------------------------- */

static void fork_begins(struct gait_invocation *invocation)
{
    (void)invocation;
    process_log_fork_begins();
}

/* A child has said by itself that it is there. */
static void fork_ends(struct gait_invocation *invocation)
{
    if ((int32_t)gait_invocation_return_value(invocation) < 0)
        process_log_fork_failed();
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

static void announce(const struct gait_invocation *invocation, bool is_exec)
{
    struct ring_notice *notice = process_log_announce(is_exec, (int)invocation->thread_id);

    if (notice_of(invocation) != NULL)
        *notice_of(invocation) = notice;
}

/* Without a return that is seen, whoever is asked lets go after a while. */
static void spawn_begins(struct gait_invocation *invocation)
{
    if (current_pid() == own_pid)
        announce(invocation, false);
}

static void exec_begins(struct gait_invocation *invocation)
{
    if (current_pid() == own_pid && process_log_can_execute(AT_FDCWD, (long)gait_invocation_argument(invocation, 0), 0))
        announce(invocation, true);
}

static void exec_at_begins(struct gait_invocation *invocation)
{
    if (current_pid() == own_pid && process_log_can_execute((long)gait_invocation_argument(invocation, 0),
                                                            (long)gait_invocation_argument(invocation, 1),
                                                            (long)gait_invocation_argument(invocation, 4)))
        announce(invocation, true);
}

static void exec_fd_begins(struct gait_invocation *invocation)
{
    if (current_pid() == own_pid)
        announce(invocation, true);
}

static void announced_ends(struct gait_invocation *invocation)
{
    if (current_pid() == own_pid && notice_of(invocation) != NULL)
        process_log_retract(*notice_of(invocation), (int)invocation->thread_id);
}

/* ---- what a program forbids itself ------------------------------------------------------------------------------- */

static void change_counter(const struct system_call *call)
{
    if (call->number != __NR_prctl || call->arguments[0] != PR_SET_TSC || current_pid() != own_pid)
        return;
    if (call->arguments[1] == PR_TSC_SIGSEGV || call->arguments[1] == PR_TSC_ENABLE)
        hook_thread_forbid_counter(call->arguments[1] == PR_TSC_SIGSEGV);
}

/* Hooks make system calls, too, which the program's filter does not expect. */
static void change_filter(struct gait_invocation *invocation, const struct system_call *call, unsigned first)
{
    struct seccomp_changed **place = invocation->call_data, *changed;
    unsigned argument;

    if (place == NULL)
        return;
    changed = seccomp_filter_change(call, &argument);
    *place = changed;
    if (changed != NULL)
        gait_invocation_argument_set(invocation, first + argument, (uintptr_t)&changed->program);
}

static void prctl_begins(struct gait_invocation *invocation)
{
    struct system_call call = {.number = __NR_prctl};

    for (unsigned i = 0; i < 3; i++)
        call.arguments[i] = (long)gait_invocation_argument(invocation, i);
    change_counter(&call);
    change_filter(invocation, &call, 0);
}

static void syscall_begins(struct gait_invocation *invocation)
{
    struct system_call call = {.number = (long)gait_invocation_argument(invocation, 0)};

    for (unsigned i = 0; i < 3; i++)
        call.arguments[i] = (long)gait_invocation_argument(invocation, i + 1);
    change_counter(&call);
    change_filter(invocation, &call, 1);
}

static void filter_ends(struct gait_invocation *invocation)
{
    struct seccomp_changed **place = invocation->call_data;

    if (place == NULL || *place == NULL)
        return;
    seccomp_filter_forget(*place);
    *place = NULL;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

#define HOOK(name, enter, leave)                                                                                       \
    {                                                                                                                  \
        name, sizeof(name) - 1, enter, leave                                                                           \
    }

static const struct process_hook hooks[] = {
    HOOK("_Fork", fork_begins, fork_ends),
    HOOK("posix_spawn", spawn_begins, announced_ends),
    HOOK("posix_spawnp", spawn_begins, announced_ends),
    HOOK("vfork", spawn_begins, NULL),
    HOOK("execve", exec_begins, announced_ends),
    HOOK("execveat", exec_at_begins, announced_ends),
    HOOK("fexecve", exec_fd_begins, announced_ends),
    HOOK("prctl", prctl_begins, filter_ends),
    HOOK("syscall", syscall_begins, filter_ends),
};

const struct process_hook *process_hook_find(const char *name, size_t name_length)
{
    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
        if (hooks[i].name_length == name_length && memcmp(hooks[i].name, name, name_length) == 0)
            return &hooks[i];
    return NULL;
}
