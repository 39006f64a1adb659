/* SPDX-License-Identifier: MIT */
/*
 * Threads are listed, traced and stopped again and again until no new one shows up: one that is stopped makes no more.
 */
#define _GNU_SOURCE
#include "inject/thread_group.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "hosted/system_clock.h"
#include "inject/machine_check.h"
#include "inject/pid_namespace.h"
#include "inject/proc_folder.h"
#include "inject/stop_patience.h"
#include "inject/trace_refusal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS_MAX       1000
#define LOOK_NANOSECONDS 20000

/* How often it is looked whether threads that are dying are dead; a fifth of a millisecond apart. */
#define BURIALS_MAX      5000
#define DEAD_NANOSECONDS 200000

static bool is_known(const struct thread_group *group, pid_t tid)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->threads[i].tid == tid)
            return true;
    return false;
}

/* Whether a thread is past its end, or gone; then the kernel lets nobody trace it. */
static bool has_ended(pid_t pid, pid_t tid)
{
    return strchr("ZXx", stop_patience_state_of(pid, tid)) != NULL;
}

/* A thread that ends meanwhile is no error. */
static int add(struct thread_group *group, pid_t tid)
{
    int result = ARRAY_RESERVE_NEXT(group->threads, group->count);

    if (result == 0)
        result = tracee_seize(&group->threads[group->count], group->pid, tid);
    if (result == 0)
        group->count++;
    return result == -ESRCH || (result == -EPERM && has_ended(group->pid, tid)) ? 0 : result;
}

/* Adds those that are not known yet, up to so many in all; how many these were, or an error. */
static int add_new(struct thread_group *group, size_t count_max)
{
    char path[64];
    const struct dirent *entry;
    int result = 0, found = 0;
    DIR *folder;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)group->pid);
    folder = opendir(path);
    if (folder == NULL)
        return errno == ENOENT ? -ESRCH : -errno;
    while (result == 0 && group->count < count_max && (entry = readdir(folder)) != NULL) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (tid == 0 || is_known(group, tid))
            continue;
        found++;
        result = add(group, tid);
    }
    closedir(folder);
    return result == 0 ? found : result;
}

static void forget(struct thread_group *group, size_t which)
{
    group->count--;
    group->threads[which] = group->threads[group->count];
}

/* Some system calls end when their thread is stopped; they are begun again. */
static int undo_interruption(const struct tracee *thread)
{
    struct thread_registers registers;
    int result = tracee_get_registers(thread, &registers);

    if (result != 0 || !thread_registers_undo_interruption(&registers))
        return result;
    return tracee_set_registers(thread, &registers);
}

/* One that has ended while others go on is not seen dead before they are. */
static bool is_first(const struct tracee *thread)
{
    return thread->tid == thread->pid;
}

/* Tells all that are to stop so before the first one is waited for. Who has ended is seen when it is waited for. */
static int interrupt_all(struct thread_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        int result = group->threads[i].is_stopped ? 0 : tracee_interrupt_begin(&group->threads[i]);

        if (result == -ESRCH && is_first(&group->threads[i]))
            forget(group, i--);
        else if (result != 0 && result != -ESRCH)
            return result;
    }
    return 0;
}

/* How many are still running after a look at each; or an error. */
static int look_at_all(struct thread_group *group)
{
    int running = 0;

    for (size_t i = 0; i < group->count; i++) {
        struct tracee *thread = &group->threads[i];
        int result = thread->is_stopped ? 1 : tracee_interrupt_try(thread);

        if (result == 0)
            result = undo_interruption(thread);
        if (result == -ESRCH && thread->has_ended)
            forget(group, i--);
        else if (result == -ESRCH)
            /* It is about to, with all others, and runs no more. */
            thread->is_stopped = true;
        else if (result == -EAGAIN)
            running++;
        else if (result < 0)
            return result;
    }
    return running;
}

static int stop_all(struct thread_group *group)
{
    const struct timespec pause = {0, LOOK_NANOSECONDS};
    struct stop_patience patience;
    int running, result = interrupt_all(group);

    stop_patience_begin(&patience);
    while (result == 0 && (running = look_at_all(group)) != 0) {
        result = running < 0 ? running : stop_patience_look(&patience, group->threads, group->count);
        nanosleep(&pause, NULL);
    }
    return result;
}

static int explain(pid_t pid, int result, struct gait_error *err)
{
    switch (result) {
    case -ESRCH:
        return error_set(err, result, "there is no process %d", (int)pid);
    case -EPERM:
    case -EACCES:
        return trace_refusal_explain(pid, err);
    case -ENOEXEC:
        return machine_check_refuse(pid, err);
    case -ETIMEDOUT:
        return error_set(err, result,
                         "cannot stop process %d: a thread is in a wait that cannot be interrupted; try again later",
                         (int)pid);
    case -ETIME:
        return error_set(err, -ETIMEDOUT,
                         "cannot stop process %d: it has not come to run for a minute; the machine has too much to do, "
                         "try again later",
                         (int)pid);
    default:
        return error_set(err, result, "cannot stop process %d: %s", (int)pid, strerror(-result));
    }
}

static int stop(struct thread_group *group, pid_t pid, size_t count_max, struct gait_error *err)
{
    int found = 1, result = proc_folder_check(err);

    *group = (struct thread_group){.pid = pid};
    if (result != 0)
        return result;
    group->is_elsewhere = !pid_namespace_is_ours(pid);
    group->stopped_ns = system_clock_ns(CLOCK_MONOTONIC);
    for (unsigned round = 0; result == 0 && found != 0 && group->count < count_max && round < ROUNDS_MAX; round++) {
        found = add_new(group, count_max);
        result = found < 0 ? found : stop_all(group);
    }
    if (result == 0 && group->count == 0)
        result = -ESRCH;
    if (result == 0)
        return 0;
    (void)thread_group_release(group);
    return explain(pid, result, err);
}

int thread_group_stop(struct thread_group *group, pid_t pid, struct gait_error *err)
{
    return stop(group, pid, SIZE_MAX, err);
}

int thread_group_stop_one(struct thread_group *group, pid_t pid, struct gait_error *err)
{
    return stop(group, pid, 1, err);
}

/*
 * Threads that die while we trace them stay until we look at them, and their process cannot end before. The first one
 * of it is the last to be seen dead. Those that only did not stand still are let go when they do.
 */
static void bury_dead(struct thread_group *group)
{
    static const struct timespec pause = {0, DEAD_NANOSECONDS};

    for (unsigned look = 0; group->count != 0 && look < BURIALS_MAX; look++) {
        for (size_t i = 0; i < group->count; i++)
            if (tracee_bury(&group->threads[i]))
                forget(group, i--);
        if (group->count != 0)
            nanosleep(&pause, NULL);
    }
}

uint64_t thread_group_release(struct thread_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (tracee_detach(&group->threads[i]) != -ESRCH)
            forget(group, i--);
    bury_dead(group);
    free(group->threads);
    group->threads = NULL;
    group->count = 0;
    return system_clock_ns(CLOCK_MONOTONIC) - group->stopped_ns;
}
