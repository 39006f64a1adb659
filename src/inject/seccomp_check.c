/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inject/seccomp_check.h"

#include "arch/abi.h"
#include "hosted/error_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#define FILTERS_MAX 64

struct needed_call {
    int number;
    const char *name;
    uint64_t arguments[4];
};

#define CALL(name, ...)                                                                                                \
    {                                                                                                                  \
        SYS_##name, #name,                                                                                             \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

/* With arguments where filters are known to look at them. */
static const struct needed_call needed[] = {
    CALL(mmap, 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS),
    CALL(mprotect, 0, 4096, PROT_READ | PROT_EXEC),
    CALL(munmap, 0),
    CALL(madvise, 0),
    CALL(memfd_create, 0),
    CALL(ftruncate, 0),
    CALL(fcntl, 0),
    CALL(openat, 0),
    CALL(read, 0),
    CALL(lseek, 0),
    CALL(close, 0),
    CALL(getdents64, 0),
    CALL(readlinkat, 0),
    CALL(futex, 0),
    CALL(gettid, 0),
    CALL(getpid, 0),
    CALL(tgkill, 0),
    CALL(rt_tgsigqueueinfo, 0),
    CALL(rt_sigaction, 0),
    CALL(rt_sigprocmask, 0),
    CALL(rt_sigreturn, 0),
    CALL(sigaltstack, 0),
    CALL(sched_yield, 0),
    CALL(nanosleep, 0),
    CALL(clock_gettime, 0),
    CALL(process_vm_readv, 0),
};

static const struct needed_call unloading[] = {CALL(munmap, 0)};
static const struct needed_call counting[] = {CALL(prctl, PR_GET_TSC), CALL(prctl, PR_SET_TSC)};

struct confinement {
    long mode; /* of SECCOMP_MODE_... */
    long filters;
};

static struct confinement confinement_of(const char *status_path)
{
    struct confinement found = {0};
    char line[256];
    FILE *file = fopen(status_path, "re");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "Seccomp:", 8) == 0)
            found.mode = strtol(line + 8, NULL, 10);
        else if (strncmp(line, "Seccomp_filters:", 16) == 0)
            found.filters = strtol(line + 16, NULL, 10);
    if (file != NULL)
        fclose(file);
    return found;
}

/* Whether a filter lets the call happen. */
static bool lets(const struct sock_filter *program, size_t count, const struct needed_call *call)
{
    struct seccomp_data data = {.nr = call->number, .arch = abi_host()->audit_arch};
    uint32_t action;

    memcpy(data.args, call->arguments, sizeof(call->arguments));
    action = seccomp_program_run(program, count, &data) & SECCOMP_RET_ACTION_FULL;
    return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

static int check_filter(const struct tracee *thread, const struct sock_filter *program, size_t count,
                        const struct needed_call *calls, size_t call_count, struct gait_error *err)
{
    for (size_t i = 0; i < call_count; i++)
        if (!lets(program, count, &calls[i]))
            return error_set(
                err, EPERM, "cannot record process %d: it has confined itself by seccomp and may not call %s, which %s",
                (int)thread->pid, calls[i].name, "the agent needs; 'gait probe' looks at it from the kernel");
    return 0;
}

/* Whether nothing keeps it from what we could do as well. */
static bool is_free(const struct tracee *thread, struct confinement *its_out)
{
    struct confinement ours;
    char path[64];

    *its_out = (struct confinement){0};
    if (thread->is_ours && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_DISABLED)
        return true;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)thread->pid, (int)thread->tid);
    *its_out = confinement_of(path);
    if (its_out->mode == SECCOMP_MODE_DISABLED)
        return true;
    /* What we have inherited as well, as everything in a container has, we could do too. */
    ours = confinement_of("/proc/self/status");
    return its_out->mode == ours.mode && its_out->filters == ours.filters;
}

static int check(const struct tracee *thread, struct confinement its, const struct needed_call *calls,
                 size_t call_count, struct gait_error *err)
{
    static struct sock_filter program[BPF_MAXINSNS];

    if (its.mode == SECCOMP_MODE_STRICT)
        return error_set(err, EPERM,
                         "cannot record process %d: it has confined itself by seccomp to four system calls, %s",
                         (int)thread->pid, "and any other kills it; 'gait probe' looks at it from the kernel");
    for (unsigned long i = 0; i < FILTERS_MAX; i++) {
        long count = ptrace(PTRACE_SECCOMP_GET_FILTER, thread->tid, i, program);
        int result;

        if (count < 0 && errno == ENOENT)
            return 0;
        if (count < 0)
            return error_set(err, EPERM,
                             "cannot record process %d: it has confined itself by seccomp, %s (%s); try as root",
                             (int)thread->pid, "and its filters cannot be read", strerror(errno));
        result = check_filter(thread, program, (size_t)count, calls, call_count, err);
        if (result != 0)
            return result;
    }
    return 0;
}

int seccomp_check_all(const struct tracee *thread, bool *counter_out, struct gait_error *err)
{
    struct confinement its;
    struct gait_error why;
    bool free = is_free(thread, &its);
    int result = free ? 0 : check(thread, its, needed, sizeof(needed) / sizeof(needed[0]), err);

    if (result == 0)
        *counter_out = free || check(thread, its, counting, sizeof(counting) / sizeof(counting[0]), &why) == 0;
    return result;
}

int seccomp_check_unload(const struct tracee *thread, struct gait_error *err)
{
    struct confinement its;

    if (is_free(thread, &its))
        return 0;
    return check(thread, its, unloading, sizeof(unloading) / sizeof(unloading[0]), err);
}
