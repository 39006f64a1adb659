/* SPDX-License-Identifier: MIT */
/*
 * A run is one rt_sigreturn into the code and one signal out of it (run_switch.c); between them the host's stack and
 * registers wait. The frame that is loaded is a copy of one that the kernel wrote in code_runner_init, so whatever the
 * kernel wants to find in it is there; a run changes registers and vector image only.
 *
 * Signals are installed by the system call itself, not by libc: the sanitizers would put their own handler before ours,
 * which cannot run on the state that the code under test leaves. The time limit costs no system call in a run: one
 * timer ticks all the time on the thread's CPU clock, a run sets the count of ticks to 0, and the second tick ends it.
 *
 * Invariant: a signal belongs to the code under test if run_switch.inside is set, the interrupted stack pointer is not
 * on the alternate stack, and the interrupted pc is not in run_switch_enter. All others are the host's.
 */
#define _GNU_SOURCE
#include "support/code_runner.h"

#if defined(__x86_64__)

#include <asm/prctl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "support/run_switch.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
    TICK = SIGVTALRM,
    TICKS_UNTIL_TIMEOUT = 2,
    DEFAULT_TIME_LIMIT_MS = 20,
    DEFAULT_STEP_LIMIT = 1000000,
    GUARD_BYTES = 4096,
    STACK_BYTES = 256 * 1024,
    FRAME_BYTES = 4096,
    FRAME_OFFSET = 64, /* of the ucontext in its page; run_switch_enter pushes below it */
    IMAGE_BYTES = 16 * 1024,
    MEMORY_BYTES = GUARD_BYTES + STACK_BYTES + FRAME_BYTES + IMAGE_BYTES,
    KERNEL_MASK_BYTES = 8,
    TRAP_DEBUG = 1,
    TRAP_BREAKPOINT = 3,
    TRAP_PAGE_FAULT = 14,
    ERROR_INSTRUCTION_FETCH = 1 << 4,
    SA_RESTORER_BIT = 0x04000000,
    HWCAP2_FSGSBASE_BIT = 1 << 1,
    FLAGS_NOT_IN_FRAME = X86_FLAG_NT | X86_FLAG_ID,
    FLAGS_HOST = 0x202,
};

/* The kernel's ucontext is shorter than libc's: its signal mask is 64 bits. */
enum { KERNEL_UCONTEXT_BYTES = offsetof(ucontext_t, uc_sigmask) + KERNEL_MASK_BYTES };

struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, TICK};
enum { SIGNAL_COUNT = sizeof(signals) / sizeof(signals[0]) };

static struct kernel_action old_actions[SIGNAL_COUNT];
static struct code_runner *active;
static bool follows_forks;

static const int register_places[X86_GPR_COUNT] = {
    [X86_RAX] = REG_RAX, [X86_RCX] = REG_RCX, [X86_RDX] = REG_RDX, [X86_RBX] = REG_RBX,
    [X86_RSP] = REG_RSP, [X86_RBP] = REG_RBP, [X86_RSI] = REG_RSI, [X86_RDI] = REG_RDI,
    [X86_R8] = REG_R8,   [X86_R9] = REG_R9,   [X86_R10] = REG_R10, [X86_R11] = REG_R11,
    [X86_R12] = REG_R12, [X86_R13] = REG_R13, [X86_R14] = REG_R14, [X86_R15] = REG_R15,
};

static uint64_t greg(const ucontext_t *context, int place)
{
    return (uint64_t)context->uc_mcontext.gregs[place];
}

static void load_gprs(uint64_t gpr[X86_GPR_COUNT], const ucontext_t *context)
{
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        gpr[i] = greg(context, register_places[i]);
}

/* ---- in the signal handler ----------------------------------------------------------------------------------------
 */

static bool is_code_under_test(const struct code_runner *runner, const ucontext_t *context)
{
    uint64_t on_stack = greg(context, REG_RSP) - (uint64_t)(uintptr_t)runner->memory;
    uint64_t pc = greg(context, REG_RIP);

    if (run_switch.inside == 0 || on_stack <= GUARD_BYTES + STACK_BYTES)
        return false;
    return pc < (uint64_t)(uintptr_t)run_switch_enter || pc >= (uint64_t)(uintptr_t)run_switch_enter_end;
}

static void capture(struct code_runner *runner, const ucontext_t *context, const struct run_switch_bases *bases,
                    enum run_end end)
{
    struct run_result *result = runner->result;

    result->end = end;
    result->signal = 0;
    result->code = 0;
    result->fault_address = 0;
    result->trap_number = 0;
    result->error_code = 0;
    result->cr2 = 0;
    result->fs_base = bases->fs;
    result->gs_base = bases->gs;
    load_gprs(result->state.gpr, context);
    result->state.rip = greg(context, REG_RIP);
    result->state.rflags = greg(context, REG_EFL);
    if (runner->callback != NULL)
        result->state.rflags &= ~(uint64_t)X86_FLAG_TF;
    machine_state_image_load(&result->state, context->uc_mcontext.fpregs);
}

static void capture_signal(struct run_result *result, const siginfo_t *info, const ucontext_t *context)
{
    result->signal = info->si_signo;
    result->code = info->si_code;
    result->fault_address = (uint64_t)(uintptr_t)info->si_addr;
    result->trap_number = greg(context, REG_TRAPNO);
    result->error_code = greg(context, REG_ERR);
    if (result->trap_number == TRAP_PAGE_FAULT)
        result->cr2 = greg(context, REG_CR2);
}

static bool is_step(const struct code_runner *runner, const siginfo_t *info, const ucontext_t *context)
{
    return runner->callback != NULL && info->si_signo == SIGTRAP && info->si_code == TRAP_TRACE &&
           greg(context, REG_TRAPNO) == TRAP_DEBUG;
}

/* RUN_SIGNAL: go on. */
static enum run_end step(struct code_runner *runner, ucontext_t *context)
{
    struct run_step now;

    now.number = ++runner->result->steps;
    now.rip = greg(context, REG_RIP);
    now.rflags = greg(context, REG_EFL) & ~(uint64_t)X86_FLAG_TF;
    load_gprs(now.gpr, context);
    runner->ticks = 0;
    if (!runner->callback(runner->callback_context, &now))
        return RUN_STOPPED;
    if (now.number >= runner->step_limit)
        return RUN_STEP_LIMIT;
    context->uc_mcontext.gregs[REG_EFL] |= X86_FLAG_TF;
    return RUN_SIGNAL;
}

static int signal_send(int signal)
{
    return syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), signal) == 0 ? 0 : -errno;
}

static int action_set(int signal, const struct kernel_action *action, struct kernel_action *old_out)
{
    return syscall(SYS_rt_sigaction, signal, action, old_out, KERNEL_MASK_BYTES) == 0 ? 0 : -errno;
}

/* A fault of the host: whoever was responsible before sees it when the instruction is executed again. */
static void hand_back(const siginfo_t *info)
{
    for (unsigned i = 0; i < SIGNAL_COUNT; i++) {
        if (signals[i] == info->si_signo && action_set(signals[i], &old_actions[i], NULL) != 0)
            _exit(128 + info->si_signo);
    }
    if (info->si_signo == SIGTRAP || info->si_code <= 0)
        (void)!signal_send(info->si_signo);
}

static void keep_frame(struct code_runner *runner, const ucontext_t *context)
{
    const struct machine_legacy *image = (const void *)context->uc_mcontext.fpregs;
    struct _fpx_sw_bytes kernel_part;

    memcpy(&kernel_part, (const uint8_t *)image + sizeof(*image) - sizeof(kernel_part), sizeof(kernel_part));
    if (kernel_part.magic1 != FP_XSTATE_MAGIC1 || kernel_part.extended_size > IMAGE_BYTES)
        return;
    memcpy(runner->frame, context, KERNEL_UCONTEXT_BYTES);
    memcpy(runner->frame_image, image, kernel_part.extended_size);
    ((ucontext_t *)runner->frame)->uc_mcontext.fpregs = runner->frame_image;
    runner->wants_frame = 0;
}

static bool tick(struct code_runner *runner, const ucontext_t *context, const struct run_switch_bases *bases)
{
    runner->ticks = runner->ticks + 1;
    if (runner->ticks < TICKS_UNTIL_TIMEOUT)
        return false;
    capture(runner, context, bases, RUN_TIMEOUT);
    return true;
}

static bool on_signal(int signal, siginfo_t *info, void *opaque_context, const struct run_switch_bases *bases)
{
    struct code_runner *runner = active;
    ucontext_t *context = opaque_context;

    if (signal == TICK && runner->wants_frame)
        keep_frame(runner, context);
    if (!is_code_under_test(runner, context)) {
        if (signal != TICK)
            hand_back(info);
        return false;
    }
    if (signal == TICK)
        return tick(runner, context, bases);

    enum run_end end = RUN_SIGNAL;
    if (is_step(runner, info, context)) {
        end = step(runner, context);
        if (end == RUN_SIGNAL)
            return false;
    }
    capture(runner, context, bases, end);
    if (end == RUN_SIGNAL)
        capture_signal(runner->result, info, context);
    return true;
}

/* ---- making and unmaking -------------------------------------------------------------------------------------------
 */

static int timer_start(struct code_runner *runner)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TICK};
    struct timespec period = {runner->time_limit_ms / 1000, (long)(runner->time_limit_ms % 1000) * 1000000};
    struct itimerspec setting = {period, period};

    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &runner->timer) != 0)
        return -errno;
    if (timer_settime(runner->timer, 0, &setting, NULL) == 0)
        return 0;

    int status = -errno;
    timer_delete(runner->timer);
    return status;
}

/* A child has everything but the timer. Without one it still works, only an endless loop is not stopped. */
static void after_fork_in_child(void)
{
    if (active != NULL)
        (void)!timer_start(active);
}

static void actions_restore(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        (void)!action_set(signals[i], &old_actions[i], NULL);
}

static int actions_install(void)
{
    struct kernel_action action = {
        .handler = run_switch_signal,
        .flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART | SA_RESTORER_BIT,
        .restorer = run_switch_restorer,
    };

    for (unsigned i = 0; i < SIGNAL_COUNT; i++) {
        int status = action_set(signals[i], &action, &old_actions[i]);

        if (status != 0) {
            actions_restore(i);
            return status;
        }
    }
    return 0;
}

static int memory_map(struct code_runner *runner)
{
    uint8_t *memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return -errno;
    runner->memory = memory;
    runner->frame = memory + GUARD_BYTES + STACK_BYTES + FRAME_OFFSET;
    runner->frame_image = memory + GUARD_BYTES + STACK_BYTES + FRAME_BYTES;

    stack_t stack = {.ss_sp = memory + GUARD_BYTES, .ss_size = STACK_BYTES};
    if (mprotect(memory, GUARD_BYTES, PROT_NONE) == 0 && sigaltstack(&stack, &runner->old_stack) == 0)
        return 0;

    int status = -errno;
    munmap(memory, MEMORY_BYTES);
    return status;
}

static void memory_unmap(struct code_runner *runner)
{
    sigaltstack(&runner->old_stack, NULL);
    munmap(runner->memory, MEMORY_BYTES);
}

/* Lets the kernel write a frame, with our signals open and the code's own flags and selectors to be filled in. */
static int frame_make(struct code_runner *runner)
{
    uint64_t ours = 0, mask = 0;

    for (unsigned i = 0; i < SIGNAL_COUNT; i++)
        ours |= 1ull << (signals[i] - 1);
    if (syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &ours, &mask, KERNEL_MASK_BYTES) != 0)
        return -errno;
    mask &= ~ours;
    runner->wants_frame = 1;

    int status = signal_send(TICK);
    if (status != 0)
        return status;
    if (runner->wants_frame)
        return -ENOTSUP;
    memcpy((uint8_t *)runner->frame + offsetof(ucontext_t, uc_sigmask), &mask, sizeof(mask));
    return 0;
}

static int bases_set(struct code_runner *runner, const struct code_runner_options *options)
{
    if (syscall(SYS_arch_prctl, ARCH_GET_FS, &run_switch.host_fs_base) != 0 ||
        syscall(SYS_arch_prctl, ARCH_GET_GS, &runner->old_gs_base) != 0 ||
        syscall(SYS_arch_prctl, ARCH_SET_GS, options->gs_base) != 0)
        return -errno;
    run_switch.host_gs_base = options->gs_base;
    run_switch.restores_bases = !options->keeps_bases && (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE_BIT) != 0;
    return 0;
}

int code_runner_init(struct code_runner *runner, const struct code_runner_options *options)
{
    static const struct code_runner_options defaults;

    if (active != NULL)
        return -EBUSY;
    if (machine_state_components() == 0)
        return -ENOTSUP;
    if (options == NULL)
        options = &defaults;
    memset(runner, 0, sizeof(*runner));
    runner->time_limit_ms = options->time_limit_ms != 0 ? options->time_limit_ms : DEFAULT_TIME_LIMIT_MS;
    runner->step_limit = options->step_limit != 0 ? options->step_limit : DEFAULT_STEP_LIMIT;
    if (!follows_forks && pthread_atfork(NULL, NULL, after_fork_in_child) != 0)
        return -ENOMEM;
    follows_forks = true;

    int status = memory_map(runner);
    if (status != 0)
        return status;
    run_switch.handler = on_signal;
    active = runner;
    status = actions_install();
    if (status != 0)
        goto no_actions;
    status = frame_make(runner);
    if (status == 0)
        status = timer_start(runner);
    if (status != 0)
        goto no_timer;
    status = bases_set(runner, options);
    if (status == 0)
        return 0;

    timer_delete(runner->timer);
no_timer:
    actions_restore(SIGNAL_COUNT);
no_actions:
    active = NULL;
    memory_unmap(runner);
    return status;
}

void code_runner_deinit(struct code_runner *runner)
{
    timer_delete(runner->timer);
    syscall(SYS_arch_prctl, ARCH_SET_GS, runner->old_gs_base);
    actions_restore(SIGNAL_COUNT);
    active = NULL;
    memory_unmap(runner);
}

/* ---- running -------------------------------------------------------------------------------------------------------
 */

static void enter(struct code_runner *runner, const struct machine_state *initial, uint64_t extra_flags)
{
    ucontext_t *frame = runner->frame;

    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        frame->uc_mcontext.gregs[register_places[i]] = (greg_t)initial->gpr[i];
    frame->uc_mcontext.gregs[REG_RIP] = (greg_t)initial->rip;
    frame->uc_mcontext.gregs[REG_EFL] = (greg_t)(initial->rflags | extra_flags);
    machine_state_image_store(initial, runner->frame_image);
    runner->ticks = 0;
    run_switch_enter(frame, FLAGS_HOST | (initial->rflags & FLAGS_NOT_IN_FRAME));
}

void code_runner_run(struct code_runner *runner, const struct machine_state *initial, struct run_result *result)
{
    runner->result = result;
    runner->callback = NULL;
    result->steps = 0;
    enter(runner, initial, 0);
}

void code_runner_trace(struct code_runner *runner, const struct machine_state *initial, run_step_callback callback,
                       void *context, struct run_result *result)
{
    runner->result = result;
    runner->callback = callback;
    runner->callback_context = context;
    result->steps = 0;
    enter(runner, initial, X86_FLAG_TF);
}

uint64_t run_result_stop_pc(const struct run_result *result)
{
    bool is_breakpoint = result->end == RUN_SIGNAL && result->signal == SIGTRAP;

    return is_breakpoint && result->trap_number == TRAP_BREAKPOINT ? result->state.rip - 1 : result->state.rip;
}

static bool is_data_fault(const struct run_result *result)
{
    return result->trap_number == TRAP_PAGE_FAULT && (result->error_code & ERROR_INSTRUCTION_FETCH) == 0;
}

bool run_result_equal_end(const struct run_result *expected, const struct run_result *actual)
{
    if (expected->end != actual->end || expected->signal != actual->signal || expected->code != actual->code ||
        expected->trap_number != actual->trap_number || expected->error_code != actual->error_code)
        return false;
    return !is_data_fault(expected) || expected->fault_address == actual->fault_address;
}

void run_result_describe(const struct run_result *result, char *text, size_t text_bytes)
{
    static const char *const ends[] = {"signal", "timeout", "stopped by the trace", "step limit"};
    unsigned long long pc = result->state.rip;

    if (result->end != RUN_SIGNAL) {
        snprintf(text, text_bytes, "%s at 0x%llx", ends[result->end], pc);
        return;
    }
    snprintf(text, text_bytes, "SIG%s (code %d, trap %llu, error %llu) at 0x%llx, address 0x%llx",
             sigabbrev_np(result->signal), result->code, (unsigned long long)result->trap_number,
             (unsigned long long)result->error_code, pc, (unsigned long long)result->fault_address);
}

#endif
