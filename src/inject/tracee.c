/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inject/tracee.h"

#include "arch/abi.h"
#include "inject/stop_patience.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OPTIONS         (PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD)
#define CHILD_OPTIONS   (PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE)
#define ENDS_KEPT       64
#define TRY_NANOSECONDS 100000

static long trace(int request, pid_t tid, uintptr_t address, uintptr_t data)
{
    long result = ptrace((enum __ptrace_request)request, tid, (void *)address, (void *)data);

    return result == -1 ? -errno : result;
}

int tracee_seize(struct tracee *tracee, pid_t pid, pid_t tid)
{
    *tracee = (struct tracee){.pid = pid, .tid = tid};
    return (int)trace(PTRACE_SEIZE, tid, 0, OPTIONS);
}

int tracee_seize_own(struct tracee *tracee, pid_t child)
{
    *tracee = (struct tracee){.pid = child, .tid = child, .is_ours = true};
    return (int)trace(PTRACE_SEIZE, child, 0, OPTIONS | PTRACE_O_EXITKILL);
}

int tracee_seize_with_children(struct tracee *tracee, pid_t pid, pid_t tid)
{
    *tracee = (struct tracee){.pid = pid, .tid = tid};
    return (int)trace(PTRACE_SEIZE, tid, 0, OPTIONS | CHILD_OPTIONS);
}

int tracee_event_of(int status)
{
    int signal = WSTOPSIG(status), event = status >> 16;

    if (event == PTRACE_EVENT_EXEC)
        return TRACEE_EXEC;
    if (event == PTRACE_EVENT_STOP)
        return signal == SIGTRAP ? TRACEE_INTERRUPTED : TRACEE_GROUP_STOP;
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE)
        return TRACEE_CHILD;
    if (signal == (SIGTRAP | 0x80))
        return TRACEE_SYSTEM_CALL;
    return -signal;
}

/* Behind a system call the kernel calls the trap another name. */
static bool is_step(const struct tracee *tracee)
{
    siginfo_t info;

    return trace(PTRACE_GETSIGINFO, tracee->tid, 0, (uintptr_t)&info) == 0 &&
           (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT);
}

/*
 * Of an instruction that the CPU refused, and that the thread tries again when it is back where it was: so the signal
 * comes again, as only the kernel can send it.
 */
static bool is_fault(const siginfo_t *info)
{
    return info->si_code > 0 && (info->si_signo == SIGSEGV || info->si_signo == SIGBUS || info->si_signo == SIGFPE ||
                                 info->si_signo == SIGILL);
}

/* Returns the signal if it is a fault, which is not kept; else 0. */
static int keep_signal(struct tracee *tracee)
{
    siginfo_t info;

    if (trace(PTRACE_GETSIGINFO, tracee->tid, 0, (uintptr_t)&info) != 0)
        return 0;
    if (is_fault(&info))
        return info.si_signo;
    if (tracee->signal_count < TRACEE_SIGNALS_MAX)
        tracee->signals[tracee->signal_count++] = info;
    return 0;
}

int tracee_resume(struct tracee *tracee, enum tracee_event event, int signal)
{
    int request = event == TRACEE_STEP ? PTRACE_SINGLESTEP : event == TRACEE_SYSTEM_CALL ? PTRACE_SYSCALL : PTRACE_CONT;

    tracee->is_stopped = false;
    return (int)trace(request, tracee->tid, 0, (uintptr_t)signal);
}

/* Ends that were told to us while we waited for something else, and that somebody may still ask for. */
static struct {
    pid_t tid;
    int status;
} ends[ENDS_KEPT];

static void keep_end(pid_t tid, int status)
{
    static unsigned next;

    ends[next % ENDS_KEPT].tid = tid;
    ends[next++ % ENDS_KEPT].status = status;
}

bool tracee_take_end(pid_t tid, int *status_out)
{
    for (unsigned i = 0; i < ENDS_KEPT; i++)
        if (ends[i].tid == tid) {
            ends[i].tid = 0;
            *status_out = ends[i].status;
            return true;
        }
    return false;
}

static int wait_for(struct tracee *tracee, int flags, int *status_out)
{
    pid_t got;

    do
        got = waitpid(tracee->tid, status_out, flags | __WALL);
    while (got == -1 && errno == EINTR);
    if (got == 0)
        return -EAGAIN;
    if (got == -1)
        return -errno;
    if (!WIFSTOPPED(*status_out)) {
        if (tracee->tid == tracee->pid)
            keep_end(tracee->tid, *status_out);
        tracee->has_ended = true;
        tracee->killed_by = WIFSIGNALED(*status_out) ? WTERMSIG(*status_out) : 0;
        return -ESRCH;
    }
    tracee->is_stopped = true;
    return 0;
}

/* Where the process was stopped by a signal, an interruption is told as that. */
static bool is_wanted(const struct tracee *tracee, enum tracee_event event, int got)
{
    return got == (int)event || (event == TRACEE_STEP && got == -SIGTRAP && is_step(tracee)) ||
           (event == TRACEE_INTERRUPTED && got == TRACEE_GROUP_STOP);
}

int tracee_run_until(struct tracee *tracee, enum tracee_event event, int *status_out)
{
    int status, result, got, fault = 0;
    bool is_first = true;

    for (;;) {
        /* One that was never stopped is running. One that faults again and again gets what it asks for. */
        if (tracee->is_stopped) {
            result = tracee_resume(tracee, event, is_first ? 0 : fault);
            is_first &= fault == 0;
            if (result != 0)
                return result;
        }
        result = wait_for(tracee, 0, &status);
        if (result != 0) {
            if (status_out != NULL)
                *status_out = status;
            return result;
        }
        got = tracee_event_of(status);
        if (is_wanted(tracee, event, got))
            return 0;
        fault = got < 0 ? keep_signal(tracee) : 0;
        /* See tracee_interrupt_try. */
        if (event == TRACEE_INTERRUPTED && tracee_interrupt_begin(tracee) != 0)
            return -ESRCH;
    }
}

/* Of a thread that has stopped; it goes on. */
static int keep_and_resume(struct tracee *tracee, int status)
{
    if (tracee_event_of(status) < 0 && keep_signal(tracee) != 0 && tracee->faults_left != 0 &&
        --tracee->faults_left == 0)
        return -EFAULT;
    return tracee_resume(tracee, TRACEE_EXEC, 0);
}

int tracee_keep_signals(struct tracee *tracee)
{
    int status, result = wait_for(tracee, WNOHANG, &status);

    if (result == -EAGAIN)
        return 0;
    return result == 0 ? keep_and_resume(tracee, status) : result;
}

int tracee_await_signal(struct tracee *tracee, int signal)
{
    for (;;) {
        int status, result = wait_for(tracee, 0, &status);

        if (result != 0 || tracee_event_of(status) == -signal)
            return result;
        result = keep_and_resume(tracee, status);
        if (result != 0)
            return result;
    }
}

int tracee_let_be_stopped(struct tracee *tracee)
{
    tracee->is_stopped = false;
    return (int)trace(PTRACE_LISTEN, tracee->tid, 0, 0);
}

int tracee_child(const struct tracee *tracee, pid_t *child_out)
{
    unsigned long child;
    int result = (int)trace(PTRACE_GETEVENTMSG, tracee->tid, 0, (uintptr_t)&child);

    if (result == 0)
        *child_out = (pid_t)child;
    return result;
}

int tracee_interrupt_begin(struct tracee *tracee)
{
    return (int)trace(PTRACE_INTERRUPT, tracee->tid, 0, 0);
}

int tracee_interrupt_try(struct tracee *tracee)
{
    int status, event, result = wait_for(tracee, WNOHANG, &status);

    if (result != 0)
        return result;
    event = tracee_event_of(status);
    /* One that goes on from there may wait for its child, which waits for us. */
    tracee->has_child = event == TRACEE_CHILD;
    if (event == TRACEE_INTERRUPTED || event == TRACEE_GROUP_STOP || event == TRACEE_CHILD)
        return 0;
    /*
     * A signal that came first is delivered first; the thread stops before its handler does anything. Any stop makes
     * the kernel forget what was asked for before, also while it was on its way there: as it is with each signal of a
     * timer.
     */
    result = tracee_interrupt_begin(tracee);
    if (result == 0)
        result = tracee_resume(tracee, TRACEE_INTERRUPTED, event < 0 ? -event : 0);
    return result != 0 ? result : -EAGAIN;
}

int tracee_interrupt(struct tracee *tracee)
{
    const struct timespec pause = {0, TRY_NANOSECONDS};
    struct stop_patience patience;
    int result = tracee_interrupt_begin(tracee);

    stop_patience_begin(&patience);
    while (result == 0 && (result = tracee_interrupt_try(tracee)) == -EAGAIN) {
        result = stop_patience_look(&patience, tracee, 1);
        nanosleep(&pause, NULL);
    }
    return result;
}

int tracee_get_registers(const struct tracee *tracee, struct thread_registers *registers_out)
{
    struct iovec vector = {registers_out, thread_registers_size_bytes()};
    int result = (int)trace(PTRACE_GETREGSET, tracee->tid, NT_PRSTATUS, (uintptr_t)&vector);

    return result == 0 && vector.iov_len != thread_registers_size_bytes() ? -ENOEXEC : result;
}

int tracee_set_registers(const struct tracee *tracee, const struct thread_registers *registers)
{
    struct iovec vector = {(void *)(uintptr_t)registers, thread_registers_size_bytes()};

    return (int)trace(PTRACE_SETREGSET, tracee->tid, NT_PRSTATUS, (uintptr_t)&vector);
}

int tracee_get_vectors(const struct tracee *tracee, struct tracee_vectors *vectors_out)
{
    struct iovec vector = {vectors_out->bytes, sizeof(vectors_out->bytes)};
    int result = (int)trace(PTRACE_GETREGSET, tracee->tid, abi_host()->vector_set, (uintptr_t)&vector);

    vectors_out->size_bytes = vector.iov_len;
    return result;
}

int tracee_set_vectors(const struct tracee *tracee, const struct tracee_vectors *vectors)
{
    struct iovec vector = {(void *)(uintptr_t)vectors->bytes, vectors->size_bytes};

    return (int)trace(PTRACE_SETREGSET, tracee->tid, abi_host()->vector_set, (uintptr_t)&vector);
}

int tracee_get_mask(const struct tracee *tracee, uint64_t *mask_out)
{
    return (int)trace(PTRACE_GETSIGMASK, tracee->tid, sizeof(*mask_out), (uintptr_t)mask_out);
}

int tracee_set_mask(const struct tracee *tracee, uint64_t mask)
{
    return (int)trace(PTRACE_SETSIGMASK, tracee->tid, sizeof(mask), (uintptr_t)&mask);
}

bool tracee_system_call(const struct tracee *tracee, struct tracee_call *call_out)
{
    struct __ptrace_syscall_info info;

    if (trace(PTRACE_GET_SYSCALL_INFO, tracee->tid, sizeof(info), (uintptr_t)&info) <= 0 ||
        info.op != PTRACE_SYSCALL_INFO_ENTRY)
        return false;
    call_out->number = info.entry.nr;
    memcpy(call_out->arguments, info.entry.args, sizeof(call_out->arguments));
    return true;
}

int tracee_detach(struct tracee *tracee)
{
    int result;

    /*
     * While the thread still stands, so that it runs nothing before them. The kernel lets nobody send what looks as if
     * it came from the kernel or a third process: then the bare signal.
     */
    for (unsigned i = 0; i < tracee->signal_count; i++)
        if (syscall(SYS_rt_tgsigqueueinfo, tracee->pid, tracee->tid, tracee->signals[i].si_signo,
                    &tracee->signals[i]) != 0)
            (void)syscall(SYS_tgkill, tracee->pid, tracee->tid, tracee->signals[i].si_signo);
    result = (int)trace(PTRACE_DETACH, tracee->tid, 0, 0);
    tracee->is_stopped = false;
    tracee->signal_count = 0;
    return result;
}

bool tracee_bury(struct tracee *tracee)
{
    int status, result = wait_for(tracee, WNOHANG, &status);

    /* Not dead after all. */
    if (result == 0)
        (void)tracee_detach(tracee);
    return result != -EAGAIN;
}

/* In one call, if the memory's access allows it; the file below does not ask what access there is. */
static bool move_at_once(long call, pid_t pid, uint64_t address, const void *bytes, size_t size_bytes)
{
    struct iovec ours = {(void *)(uintptr_t)bytes, size_bytes}, theirs = {(void *)(uintptr_t)address, size_bytes};

    return syscall(call, pid, &ours, 1UL, &theirs, 1UL, 0UL) == (long)size_bytes;
}

static int open_memory(pid_t pid, int flags)
{
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    fd = open(path, flags | O_CLOEXEC);
    return fd == -1 ? -errno : fd;
}

int process_memory_read(pid_t pid, uint64_t address, void *bytes_out, size_t size_bytes)
{
    ssize_t got;
    int fd;

    if (move_at_once(SYS_process_vm_readv, pid, address, bytes_out, size_bytes))
        return 0;
    fd = open_memory(pid, O_RDONLY);
    if (fd < 0)
        return fd;
    got = pread(fd, bytes_out, size_bytes, (off_t)address);
    close(fd);
    return got == (ssize_t)size_bytes ? 0 : -EFAULT;
}

int process_memory_write(pid_t pid, uint64_t address, const void *bytes, size_t size_bytes)
{
    size_t done = 0;
    int fd;

    if (move_at_once(SYS_process_vm_writev, pid, address, bytes, size_bytes))
        return 0;
    fd = open_memory(pid, O_WRONLY);
    if (fd < 0)
        return fd;
    while (done < size_bytes) {
        ssize_t got = pwrite(fd, (const char *)bytes + done, size_bytes - done, (off_t)(address + done));

        if (got <= 0)
            break;
        done += (size_t)got;
    }
    close(fd);
    return done == size_bytes ? 0 : -EFAULT;
}
