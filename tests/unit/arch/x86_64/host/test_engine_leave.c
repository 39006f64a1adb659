/* SPDX-License-Identifier: MIT */
/* Frames are read and written as the kernel does it: a handler that begins in a copy returns like any other. */
#include "stalker/signal_frame.h"

#include "base/raw_syscall.h"
#include "gait/x86_64.h"
#include "stalker/callout.h"
#include "stalker/signal_actions.h"
#include "stalker/signal_stack.h"
#include "stalker/stalker_gate.h"
#include "stalker/thread.h"
#include "support/check.h"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define FLAG_RESTORER   0x04000000u
#define FLAG_DIRECTION  0x400u
#define ROUNDING_UP     0x5f80u
#define ROUNDING_DOWN   0x3f80u
#define MXCSR_FRESH     0x1f80u
#define MASK_IN_HANDLER 0xff00000000ull
#define MARK            0x5a
#define VECTOR_MARK     0x1234567812345678ull
#define SEGMENT_BASE    0x70000ull

static _Alignas(64) uint8_t stack[256 << 10];
static struct signal_copy copy;
static struct stalker_thread leaving;
static struct {
    int signal;
    uint64_t info, ucontext, mask, pid;
    uint64_t vector, thread_base;
    uint32_t mxcsr;
    struct signal_stack stack;
    struct gait_cpu_context cpu;
} seen;

static uint64_t current_mask(void)
{
    uint64_t mask = 0;

    raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, SIGNAL_MASK_BYTES, 0, 0);
    return mask;
}

static void in_the_copy(int signal, siginfo_t *info, void *ucontext)
{
    __asm__ volatile("movq %%xmm15, %0" : "=r"(seen.vector));
    seen.mxcsr = __builtin_ia32_stmxcsr();
    raw_syscall(SYS_sigaltstack, 0, (long)&seen.stack, 0, 0, 0, 0);
    seen.thread_base = stalker_base_get();
    seen.signal = signal;
    seen.info = (uintptr_t)info;
    seen.ucontext = (uintptr_t)ucontext;
    seen.pid = (uint64_t)info->si_pid;
    seen.mask = current_mask();
    signal_frame_get(ucontext, &seen.cpu);
    gait_x86_64_rbx(&seen.cpu)++;
    signal_frame_set(ucontext, &seen.cpu);
}

/* The kernel's; goes on in a copy that is elsewhere. */
static void in_the_original(int signal, siginfo_t *info, void *ucontext)
{
    struct gait_cpu_context cpu;

    copy = (struct signal_copy){.ucontext = ucontext, .info = info, .restorer = (uintptr_t)stalker_signal_restorer};
    engine_host()->frame->place(&copy, (uintptr_t)stack + sizeof(stack) - 24);
    memset(stack, MARK, sizeof(stack));
    engine_host()->frame->write(&copy);
    CHECK_EQUAL(((uint8_t *)(uintptr_t)copy.start)[-1], MARK);
    CHECK_EQUAL(stack[sizeof(stack) - 24], MARK);
    signal_frame_get(ucontext, &cpu);
    cpu.flags |= FLAG_DIRECTION;
    engine_host()->frame->enter(&copy, signal, (uintptr_t)in_the_copy, &cpu);
    CHECK(!(cpu.flags & FLAG_DIRECTION));
    leaving.context = cpu;
    leaving.signals_mask = MASK_IN_HANDLER;
    leaving.alternate_stack = (struct signal_stack){.start = (uintptr_t)stack, .size_bytes = 8192};
    leaving.thread_base = SEGMENT_BASE;
    leaving.signals_held = 1;
    leaving.is_inside = true;
    __builtin_ia32_ldmxcsr(ROUNDING_DOWN);
    __asm__ volatile("movq %0, %%xmm15" : : "r"(VECTOR_MARK) : "xmm15");
    signal_frame_leave(&leaving);
}

/* Sends it to ourselves with marks in registers, and returns what rbx is afterwards. */
static uint64_t send(int signal)
{
    long pid = getpid(), tid = syscall(SYS_gettid), result = SYS_tgkill;
    register uint64_t marked __asm__("rbx") = 0x1111;
    register uint64_t other __asm__("r12") = 0x2222;

    __builtin_ia32_ldmxcsr(ROUNDING_UP);
    __asm__ volatile("syscall"
                     : "+a"(result), "+r"(marked), "+r"(other)
                     : "D"(pid), "S"(tid), "d"((long)signal)
                     : "rcx", "r11", "memory");
    CHECK_EQUAL(__builtin_ia32_stmxcsr(), ROUNDING_UP);
    __builtin_ia32_ldmxcsr(MXCSR_FRESH);
    CHECK_EQUAL(other, 0x2222);
    CHECK_EQUAL(result, 0);
    return marked;
}

/* By way of leaving the engine for it. */
static void a_handler_begins_in_a_copy_and_returns_from_it(void)
{
    struct signal_action action = {.handler = (uintptr_t)in_the_original,
                                   .flags = SA_SIGINFO | FLAG_RESTORER,
                                   .restorer = (uintptr_t)stalker_signal_restorer};
    uint64_t mask = current_mask();

    CHECK_EQUAL(raw_syscall(SYS_rt_sigaction, SIGUSR1, (long)&action, 0, SIGNAL_MASK_BYTES, 0, 0), 0);
    CHECK_EQUAL(send(SIGUSR1), 0x1112);
    CHECK_EQUAL(current_mask(), mask);
    CHECK_EQUAL(seen.signal, SIGUSR1);
    CHECK_EQUAL(seen.info, signal_frame_info_at(copy.start));
    CHECK_EQUAL(seen.ucontext, signal_frame_ucontext_at(copy.start));
    CHECK_EQUAL(seen.pid, getpid());
    CHECK_EQUAL(seen.mask, MASK_IN_HANDLER);
    CHECK_EQUAL(seen.mxcsr, ROUNDING_DOWN);
    CHECK_EQUAL(seen.vector, VECTOR_MARK);
    CHECK_EQUAL(seen.stack.start, (uintptr_t)stack);
    CHECK_EQUAL(seen.stack.size_bytes, 8192);
    CHECK_EQUAL(seen.thread_base, SEGMENT_BASE);
    CHECK(!leaving.is_inside);
    CHECK_EQUAL(leaving.signals_held, 0);
    stalker_base_set(0);
    CHECK_EQUAL(gait_x86_64_r12(&seen.cpu), 0x2222);
    /* As the psABI has it where functions begin. */
    CHECK_EQUAL(copy.start % 16, 8);
}

static void what_is_set_in_a_frame_is_where_the_kernel_looks(void)
{
    ucontext_t frame = {0};
    struct gait_cpu_context cpu = {0}, again = {0};

    for (unsigned i = 0; i < GAIT_CPU_REGISTER_COUNT; i++)
        cpu.registers[i] = 100 + i;
    cpu.pc = 200;
    cpu.flags = 0x246;
    signal_frame_set(&frame, &cpu);
    signal_frame_get(&frame, &again);
    CHECK(memcmp(&cpu, &again, sizeof(cpu)) == 0);
    CHECK_EQUAL(frame.uc_mcontext.gregs[16], 200);
    CHECK_EQUAL(frame.uc_mcontext.gregs[15], gait_x86_64_rsp(&cpu));
    CHECK_EQUAL(frame.uc_mcontext.gregs[17], 0x246);
    CHECK((void *)signal_frame_mask(&frame) == (void *)&frame.uc_sigmask);
    CHECK((void *)signal_frame_stack(&frame) == (void *)&frame.uc_stack);
}

static void only_the_address_that_is_meant_is_changed(void)
{
    siginfo_t info = {.si_signo = SIGSEGV, .si_addr = (void *)0x1000};

    signal_info_move(&info, 0x1001, 0x2000);
    CHECK_EQUAL((uintptr_t)info.si_addr, 0x1000);
    signal_info_move(&info, 0x1000, 0x2000);
    CHECK_EQUAL((uintptr_t)info.si_addr, 0x2000);
    CHECK_EQUAL(info.si_signo, SIGSEGV);
}

extern const char stalker_resume[], stalker_found[], stalker_callout_called[], stalker_positioned_called[];

static enum gate_place recover(struct stalker_thread *thread, const char *at, struct gait_cpu_context *cpu_out)
{
    *cpu_out = (struct gait_cpu_context){.registers = {[GAIT_X86_64_R11] = 0x11, [GAIT_X86_64_RBX] = 0xb},
                                         .pc = (uintptr_t)at};
    return stalker_gate_recover(thread, cpu_out);
}

static void in_the_gates_the_state_is_where_each_has_it(void)
{
    struct stalker_thread thread = {
        .context = {.registers = {[GAIT_X86_64_RAX] = 0xa, [GAIT_X86_64_RBX] = 0xbb, [GAIT_X86_64_R11] = 0x1111},
                    .pc = 0x400},
        .target = 0x500,
        .resume = 0x600};
    struct callout_call call = {.behind = 0x800};
    struct gait_cpu_context cpu;

    thread.engine_sp = (uintptr_t)(&call + 1);
    thread.event_position = 0x700;
    CHECK_EQUAL(recover(&thread, stalker_resume, &cpu), GATE_PROGRAM);
    CHECK(memcmp(&cpu, &thread.context, sizeof(cpu)) == 0);
    CHECK_EQUAL(recover(&thread, stalker_callout_called, &cpu), GATE_PROGRAM);
    CHECK(memcmp(&cpu, &thread.context, sizeof(cpu)) == 0);
    CHECK(thread.behind.cache_pc == 0x800 && !thread.behind.with_position);
    CHECK_EQUAL(recover(&thread, stalker_positioned_called, &cpu), GATE_PROGRAM);
    CHECK(thread.behind.cache_pc == 0x800 && thread.behind.with_position);
    CHECK_EQUAL(recover(&thread, stalker_found, &cpu), GATE_PROGRAM);
    CHECK_EQUAL(thread.behind.cache_pc, 0);
    CHECK(cpu.pc == 0x500 && gait_x86_64_rax(&cpu) == 0xa && gait_x86_64_rbx(&cpu) == 0xb &&
          gait_x86_64_r11(&cpu) == 0x11);
    thread.reason = STALKER_EVENTS;
    thread.with_position = true;
    CHECK_EQUAL(recover(&thread, stalker_resume, &cpu), GATE_CACHE);
    CHECK(cpu.pc == 0x600 && gait_x86_64_r11(&cpu) == 0x700 && gait_x86_64_rbx(&cpu) == 0xbb);
    CHECK_EQUAL(recover(&thread, stalker_found, &cpu), GATE_PROGRAM);
    CHECK(gait_x86_64_r11(&cpu) == 0x1111 && thread.event_position == 0x11);
    CHECK_EQUAL(recover(&thread, (const char *)stack, &cpu), GATE_UNKNOWN);
    CHECK_EQUAL(cpu.pc, (uintptr_t)stack);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_handler_begins_in_a_copy_and_returns_from_it),
    CHECK_CASE(what_is_set_in_a_frame_is_where_the_kernel_looks),
    CHECK_CASE(only_the_address_that_is_meant_is_changed),
    CHECK_CASE(in_the_gates_the_state_is_where_each_has_it),
};

CHECK_MAIN(cases)
