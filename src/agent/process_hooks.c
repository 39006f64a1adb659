/* SPDX-License-Identifier: MIT */
/*
 * Other functions come down to these: fork() to _Fork(), system() and popen() to posix_spawn(), execvp() and its
 * relatives to execve(). A process that is made with our memory, to execute a program, runs into the hooks as well; it
 * is watched already, and says nothing. What a call announced is kept with the call. And filters of system calls that a
 * program puts upon itself are changed here, if it does so by functions of the C library; so it is noticed that it
 * forbids itself the counter of time, which stubs read, and that it locks all memory, of which ours is left out.
 */
#include "agent/process_hooks.h"

#include "agent/dispatched_calls.h"
#include "agent/handler_fronts.h"
#include "agent/process_log.h"
#include "agent/system_call_watch.h"
#include "base/memory_functions.h"
#include "base/raw_syscall.h"
#include "hook/hook_thread.h"
#include "process/memory_lock.h"
#include "stalker/seccomp_filter.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
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

/* Of a call of syscall() or a relative, what its end needs to know. */
struct call_kept {
    struct seccomp_changed *filter;
    struct handler_setting setting;
    uint64_t base; /* where the thread's base is told; 0: nowhere */
    bool sets_dispatch;
};

_Static_assert(sizeof(struct call_kept) <= GAIT_INVOCATION_DATA_BYTES, "what is kept of a call");

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
    struct call_kept *kept = invocation->call_data;
    struct seccomp_changed *changed;
    unsigned argument;

    if (kept == NULL)
        return;
    changed = seccomp_filter_change(call, &argument);
    kept->filter = changed;
    if (changed != NULL)
        gait_invocation_argument_set(invocation, first + argument, (uintptr_t)&changed->program);
}

/*
 * Where system calls are patched it is changed there: then the thread's own place is known. A child with our memory is
 * not asked for.
 */
static void change_dispatch(struct gait_invocation *invocation, const struct system_call *call, unsigned first)
{
    struct call_kept *kept = invocation->call_data;
    long arguments[6];

    if (call->number != __NR_prctl || kept == NULL || system_call_watch_is_wanted() || current_pid() != own_pid)
        return;
    for (unsigned i = 0; i < 6; i++)
        arguments[i] = i + first < 6 ? (long)gait_invocation_argument(invocation, i + first) : 0;
    kept->sets_dispatch = dispatched_calls_setting_begins((uint32_t)invocation->thread_id, call->number, arguments);
    for (unsigned i = 1; kept->sets_dispatch && i < 4; i++)
        gait_invocation_argument_set(invocation, i + first, (uint64_t)arguments[i]);
}

/* ---- what a program would see ------------------------------------------------------------------------------------ */

static void look_at_setting(struct gait_invocation *invocation, const struct system_call *call)
{
    struct call_kept *kept = invocation->call_data;

    if (kept != NULL && call->number == __NR_rt_sigaction)
        handler_setting_begins(&kept->setting, (int)call->arguments[0], (uint64_t)call->arguments[1],
                               (uint64_t)call->arguments[2]);
}

static void look_at_base(struct gait_invocation *invocation, const struct system_call *call)
{
    struct call_kept *kept = invocation->call_data;

    if (kept != NULL && hook_thread_base_is_asked(call->number, call->arguments[0]))
        kept->base = (uint64_t)call->arguments[1];
}

/* The kernel has just written there. */
static void hide_base(uint64_t place)
{
    if (hook_thread_has_base(*(const uint64_t *)(uintptr_t)place))
        *(uint64_t *)(uintptr_t)place = 0;
}

static void prctl_begins(struct gait_invocation *invocation)
{
    struct system_call call = {.number = __NR_prctl};

    for (unsigned i = 0; i < 3; i++)
        call.arguments[i] = (long)gait_invocation_argument(invocation, i);
    change_counter(&call);
    change_dispatch(invocation, &call, 0);
    change_filter(invocation, &call, 0);
}

static void syscall_begins(struct gait_invocation *invocation)
{
    struct system_call call = {.number = (long)gait_invocation_argument(invocation, 0)};

    for (unsigned i = 0; i < 3; i++)
        call.arguments[i] = (long)gait_invocation_argument(invocation, i + 1);
    change_counter(&call);
    change_dispatch(invocation, &call, 1);
    change_filter(invocation, &call, 1);
    look_at_setting(invocation, &call);
    look_at_base(invocation, &call);
}

static void call_ends(struct gait_invocation *invocation)
{
    struct call_kept *kept = invocation->call_data;

    if (kept == NULL)
        return;
    if (kept->filter != NULL)
        seccomp_filter_forget(kept->filter);
    kept->filter = NULL;
    if (kept->sets_dispatch)
        dispatched_calls_setting_ends((uint32_t)invocation->thread_id,
                                      (int32_t)gait_invocation_return_value(invocation));
    if ((int32_t)gait_invocation_return_value(invocation) != 0)
        return;
    if (kept->setting.signal != 0)
        handler_setting_ends(&kept->setting);
    if (kept->base != 0)
        hide_base(kept->base);
}

static void sigaction_begins(struct gait_invocation *invocation)
{
    struct system_call call = {.number = __NR_rt_sigaction};

    for (unsigned i = 0; i < 3; i++)
        call.arguments[i] = (long)gait_invocation_argument(invocation, i);
    look_at_setting(invocation, &call);
}

#ifdef __NR_arch_prctl
static void arch_prctl_begins(struct gait_invocation *invocation)
{
    struct system_call call = {.number = __NR_arch_prctl};

    for (unsigned i = 0; i < 2; i++)
        call.arguments[i] = (long)gait_invocation_argument(invocation, i);
    look_at_base(invocation, &call);
}
#endif

/* ---- locking all memory ------------------------------------------------------------------------------------------ */

struct lock_made {
    bool is_made;
    int error_before;
};

/*
 * It is done already when the function is entered, which then asks the kernel for nothing, and is said to have done it.
 * Where that fails the kernel says so itself: with ours it is even more.
 */
static void lock_begins(struct gait_invocation *invocation)
{
    struct lock_made *made = invocation->call_data;
    long flags = (int32_t)gait_invocation_argument(invocation, 0);

    if (!(flags & MCL_CURRENT))
        return;
    if (made == NULL || memory_lock_all(flags) != 0) {
        gait_invocation_argument_set(invocation, 0, (uint64_t)flags | MCL_ONFAULT);
        return;
    }
    *made = (struct lock_made){true, invocation->error_number};
    gait_invocation_argument_set(invocation, 0, 0);
}

static void lock_ends(struct gait_invocation *invocation)
{
    const struct lock_made *made = invocation->call_data;

    if (made == NULL || !made->is_made)
        return;
    gait_invocation_return_value_set(invocation, 0);
    invocation->error_number = made->error_before;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

#define HOOK(name, enter, leave)                                                                                       \
    {                                                                                                                  \
        name, sizeof(name) - 1, enter, leave, NULL, false                                                              \
    }
#define ACTION_HOOK(name, enter, leave, found)                                                                         \
    {                                                                                                                  \
        name, sizeof(name) - 1, enter, leave, found, true                                                              \
    }

static const struct process_hook hooks[] = {
    HOOK("_Fork", fork_begins, fork_ends),
    HOOK("posix_spawn", spawn_begins, announced_ends),
    HOOK("posix_spawnp", spawn_begins, announced_ends),
    HOOK("vfork", spawn_begins, NULL),
    HOOK("execve", exec_begins, announced_ends),
    HOOK("execveat", exec_at_begins, announced_ends),
    HOOK("fexecve", exec_fd_begins, announced_ends),
    HOOK("prctl", prctl_begins, call_ends),
    ACTION_HOOK("syscall", syscall_begins, call_ends, NULL),
    ACTION_HOOK("sigaction", sigaction_begins, call_ends, handler_fronts_note_setter),
    ACTION_HOOK("runtime.rt_sigaction", NULL, NULL, handler_fronts_note_asker),
    ACTION_HOOK("runtime.rt_sigaction.abi0", NULL, NULL, handler_fronts_note_asker),
#ifdef __NR_arch_prctl
    HOOK("arch_prctl", arch_prctl_begins, call_ends),
#endif
    HOOK("mlockall", lock_begins, lock_ends),
};

const struct process_hook *process_hook_find(const char *name, size_t name_length)
{
    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
        if (hooks[i].name_length == name_length && memcmp(hooks[i].name, name, name_length) == 0)
            return &hooks[i];
    return NULL;
}
