/* SPDX-License-Identifier: MIT */
/*
 * How a thread leaves the engine by a frame like those of signals, and the few places in the gates from which the cache
 * is entered without the engine.
 */
#include "stalker/signal_frame.h"

#include "arch/engine.h"
#include "arch/thread_landing.h"
#include "arch/x86_64/isa/user_registers.h"
#include "arch/x86_64/stalker/signal_layout.h"
#include "base/attributes.h"
#include "base/raw_syscall.h"
#include "gait/x86_64.h"
#include "stalker/callout.h"
#include "stalker/program_memory.h"
#include "stalker/signal_stack.h"
#include "stalker/stalker_engine.h"
#include "stalker/stalker_gate.h"
#include "stalker/thread.h"
#include "stalker/vectors.h"

#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/ucontext.h>
#include <asm/unistd.h>

#define VECTOR_ALIGNMENT 64
#define PLAIN_FLAGS      0x202u
/* Nested task and identification. */
#define FLAGS_NOT_IN_FRAMES (1u << 14 | 1u << 21)

_Static_assert(sizeof(struct signal_stack) == sizeof(stack_t), "the kernel has another one");
_Static_assert(sizeof(struct x86_sigcontext) == sizeof(struct sigcontext), "the kernel has another one");
_Static_assert(offsetof(struct x86_sigcontext, rip) == offsetof(struct sigcontext, rip), "the kernel has another one");
_Static_assert(offsetof(struct x86_sigcontext, vectors) == offsetof(struct sigcontext, fpstate), "the kernel's");
_Static_assert(offsetof(struct x86_ucontext, context) == offsetof(struct ucontext, uc_mcontext), "the kernel's");
_Static_assert(offsetof(struct x86_ucontext, mask) == offsetof(struct ucontext, uc_sigmask), "the kernel's");
_Static_assert(X86_SIGINFO_BYTES == sizeof(siginfo_t), "the kernel has another one");
_Static_assert(offsetof(struct x86_frame_vectors, magic) == offsetof(struct _fpstate_64, sw_reserved.magic1), "");
_Static_assert(offsetof(struct x86_frame_vectors, size_bytes) ==
                   offsetof(struct _fpstate_64, sw_reserved.extended_size),
               "the kernel has another one");

UNSANITIZED _Noreturn void signal_frame_return(const struct stalker_thread *thread, const void *ucontext)
{
    struct x86_ucontext copy = *(const struct x86_ucontext *)ucontext;

    copy.context.rip = (uintptr_t)stalker_gate_begin;
    copy.context.rsp = thread->engine_sp;
    copy.context.rflags = PLAIN_FLAGS;
    copy.mask = UINT64_MAX;
    copy.stack = signal_stack_ours(thread);
    stalker_signal_return(&copy, PLAIN_FLAGS, 0);
}

static uint16_t code_segment(void)
{
    uint16_t selector;

    __asm__("mov %%cs, %0" : "=r"(selector));
    return selector;
}

static uint16_t stack_segment(void)
{
    uint16_t selector;

    __asm__("mov %%ss, %0" : "=r"(selector));
    return selector;
}

/*
 * A sleep that was interrupted goes on for what is left of it only if rt_sigreturn, which forgets it, does not come in
 * between. So the stack of signals is put back first, and the rest of the state from the program's stack.
 */
UNSANITIZED static _Noreturn void leave_for_restart(struct stalker_thread *thread)
{
    struct thread_landing landing = {.signal_mask = thread->signals_mask};
    struct x86_user_registers *user = x86_user_registers(&landing.registers);

    thread->engine->machine->registers->set(&landing.registers, &thread->context, thread->thread_base);
    user->cs = code_segment();
    user->ss = stack_segment();
    (void)raw_syscall(__NR_sigaltstack, (long)&thread->alternate_stack, 0, 0, 0, 0, 0);
    stalker_base_set(thread->thread_base);
    thread->signals_held = 0;
    atomic_store_explicit(&thread->is_inside, false, memory_order_release);
    thread_landing_leave(&landing);
}

/* Whether the thread is about to go on with a system call that was interrupted. */
static bool is_restarting(const struct gait_cpu_context *cpu)
{
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)cpu->pc;

    return gait_x86_64_rax(cpu) == __NR_restart_syscall && program_memory_is_readable(cpu->pc, 2) && bytes[0] == 0x0f &&
           bytes[1] == 0x05;
}

UNSANITIZED _Noreturn void signal_frame_leave(struct stalker_thread *thread)
{
    _Alignas(VECTOR_ALIGNMENT) uint8_t vectors[STALKER_VECTORS_FRAME_BYTES_MAX];
    struct x86_ucontext frame = {
        .flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS,
        .stack = thread->alternate_stack,
        .context = {.cs = code_segment(), .ss = stack_segment(), .vectors = (uintptr_t)vectors},
        .mask = thread->signals_mask,
    };
    struct call_dispatch dispatch = thread->dispatch;

    if (is_restarting(&thread->context) && dispatch.mode == 0)
        leave_for_restart(thread);
    stalker_vectors_save_frame(vectors);
    signal_frame_set(&frame, &thread->context);
    stalker_base_set(thread->thread_base);
    thread->signals_held = 0;
    /* Release: pairs with the acquire in is_on_its_way; from here on the struct may be used anew. */
    atomic_store_explicit(&thread->is_inside, false, memory_order_release);
    stalker_signal_return(&frame, PLAIN_FLAGS | (thread->context.flags & FLAGS_NOT_IN_FRAMES),
                          call_dispatch_leave(&dispatch, (uintptr_t)own_call_signal_return));
}

/* In stalker_gate.S. */
extern const char stalker_resume[], stalker_resume_end[], stalker_found[], stalker_found_end[];
extern const char stalker_callout_called[], stalker_callout_called_end[];
extern const char stalker_positioned_called[], stalker_positioned_called_end[];

static int is_within(uint64_t pc, const char *start, const char *end)
{
    return pc >= (uintptr_t)start && pc < (uintptr_t)end;
}

static enum gate_place recover_entering(struct stalker_thread *thread, struct gait_cpu_context *cpu)
{
    *cpu = thread->context;
    if (thread->reason == STALKER_BEHIND)
        return GATE_PROGRAM;
    thread->behind.cache_pc = 0;
    if (thread->reason != STALKER_EVENTS || thread->is_leaving)
        return GATE_PROGRAM;
    /* Back to where it left for the events' sake, which is not where a block begins. */
    cpu->pc = thread->resume;
    if (thread->with_position)
        gait_x86_64_r11(cpu) = thread->event_position;
    return GATE_CACHE;
}

/* An indirect branch has found its block. */
static enum gate_place recover_found(struct stalker_thread *thread, struct gait_cpu_context *cpu)
{
    const struct gait_cpu_context *homes = &thread->context;

    gait_x86_64_rax(cpu) = gait_x86_64_rax(homes);
    gait_x86_64_rcx(cpu) = gait_x86_64_rcx(homes);
    gait_x86_64_rdx(cpu) = gait_x86_64_rdx(homes);
    gait_x86_64_rdi(cpu) = gait_x86_64_rdi(homes);
    cpu->pc = thread->target;
    thread->behind.cache_pc = 0;
    if (thread->with_position) {
        thread->event_position = gait_x86_64_r11(cpu);
        gait_x86_64_r11(cpu) = gait_x86_64_r11(homes);
    }
    return GATE_PROGRAM;
}

/* A callout has been made, and nothing else of its instruction. */
static enum gate_place recover_called(struct stalker_thread *thread, struct gait_cpu_context *cpu, bool with_position)
{
    const struct callout_call *call =
        (const struct callout_call *)(uintptr_t)(thread->engine_sp - sizeof(struct callout_call));

    *cpu = thread->context;
    thread->behind = (struct callout_behind){.cache_pc = call->behind, .with_position = with_position};
    return GATE_PROGRAM;
}

enum gate_place stalker_gate_recover(struct stalker_thread *thread, struct gait_cpu_context *cpu)
{
    if (is_within(cpu->pc, stalker_resume, stalker_resume_end))
        return recover_entering(thread, cpu);
    if (is_within(cpu->pc, stalker_found, stalker_found_end))
        return recover_found(thread, cpu);
    if (is_within(cpu->pc, stalker_callout_called, stalker_callout_called_end))
        return recover_called(thread, cpu, false);
    if (is_within(cpu->pc, stalker_positioned_called, stalker_positioned_called_end))
        return recover_called(thread, cpu, true);
    return GATE_UNKNOWN;
}
