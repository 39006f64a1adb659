/* SPDX-License-Identifier: MIT */
/*
 * The frame of x86-64: return address, ucontext, siginfo, and above them, aligned to 64, the vector state that the
 * ucontext points to. And the few places in the gates from which the cache is entered without the engine.
 */
#include "stalker/signal_frame.h"

#include "arch/engine.h"
#include "arch/thread_landing.h"
#include "arch/x86_64/isa/user_registers.h"
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

#define RED_ZONE_BYTES   128
#define VECTOR_ALIGNMENT 64
#define STACK_ALIGNMENT  16
#define FXSAVE_BYTES     512
#define FLAG_TRAP        0x100u
#define FLAG_DIRECTION   0x400u
#define FLAG_RESUME      0x10000u
#define PLAIN_FLAGS      0x202u
/* Nested task and identification. */
#define FLAGS_NOT_IN_FRAMES (1u << 14 | 1u << 21)

struct frame {
    uint64_t return_address;
    struct ucontext ucontext;
    siginfo_t info;
};

_Static_assert(sizeof(struct signal_stack) == sizeof(stack_t), "the kernel has another one");
_Static_assert(sizeof(struct frame) == 440, "the kernel has another one");

/* In the order of a context. */
#define EACH_REGISTER(DO)                                                                                              \
    DO(rax)                                                                                                            \
    DO(rcx)                                                                                                            \
    DO(rdx) DO(rbx) DO(rsp) DO(rbp) DO(rsi) DO(rdi) DO(r8) DO(r9) DO(r10) DO(r11) DO(r12) DO(r13) DO(r14) DO(r15)

void signal_frame_get(const void *ucontext, struct gait_cpu_context *cpu_out)
{
    const struct sigcontext *context = &((const struct ucontext *)ucontext)->uc_mcontext;

#define GET(name) gait_x86_64_##name(cpu_out) = context->name;
    EACH_REGISTER(GET)
#undef GET
    cpu_out->pc = context->rip;
    cpu_out->flags = context->eflags;
}

void signal_frame_set(void *ucontext, const struct gait_cpu_context *cpu)
{
    struct sigcontext *context = &((struct ucontext *)ucontext)->uc_mcontext;

#define SET(name) context->name = gait_x86_64_##name(cpu);
    EACH_REGISTER(SET)
#undef SET
    context->rip = cpu->pc;
    context->eflags = cpu->flags;
}

bool signal_frame_steps(const struct gait_cpu_context *cpu)
{
    return cpu->flags & FLAG_TRAP;
}

void signal_frame_end_steps(struct gait_cpu_context *cpu)
{
    cpu->flags &= ~(uint64_t)FLAG_TRAP;
}

/* The kernel clears the flag for its own part of a system call, and with it the trap behind it. */
bool signal_frame_is_between(const struct gait_cpu_context *cpu, uint64_t from)
{
    static const uint8_t syscall_insn[] = {0x0f, 0x05};

    return cpu->pc == from + sizeof(syscall_insn) &&
           __builtin_memcmp((const void *)(uintptr_t)from, syscall_insn, sizeof(syscall_insn)) == 0;
}

uint64_t *signal_frame_mask(void *ucontext)
{
    return (uint64_t *)(void *)&((struct ucontext *)ucontext)->uc_sigmask;
}

struct signal_stack *signal_frame_stack(void *ucontext)
{
    return (struct signal_stack *)(void *)&((struct ucontext *)ucontext)->uc_stack;
}

static size_t vector_bytes(const struct ucontext *ucontext)
{
    const struct _fpstate_64 *state = (const struct _fpstate_64 *)(const void *)ucontext->uc_mcontext.fpstate;

    if (state == NULL)
        return 0;
    return state->sw_reserved.magic1 == FP_XSTATE_MAGIC1 ? state->sw_reserved.extended_size : FXSAVE_BYTES;
}

uint64_t signal_frame_kept_bytes(void)
{
    return RED_ZONE_BYTES;
}

static uint64_t vectors_below(const struct signal_copy *copy, uint64_t below)
{
    return (below - vector_bytes(copy->ucontext)) & ~(uint64_t)(VECTOR_ALIGNMENT - 1);
}

void signal_frame_place(struct signal_copy *copy, uint64_t below)
{
    uint64_t vectors = vectors_below(copy, below);

    copy->start = ((vectors - sizeof(struct frame)) & ~(uint64_t)(STACK_ALIGNMENT - 1)) - 8;
    copy->size_bytes = below - copy->start;
}

void signal_frame_write(const struct signal_copy *copy)
{
    const struct ucontext *from = copy->ucontext;
    uint64_t vectors = vectors_below(copy, copy->start + copy->size_bytes);
    struct frame *frame = (struct frame *)(uintptr_t)copy->start;

    frame->return_address = copy->restorer;
    frame->ucontext = *from;
    frame->info = *(const siginfo_t *)copy->info;
    if (from->uc_mcontext.fpstate == NULL)
        return;
    __builtin_memcpy((void *)(uintptr_t)vectors, (const void *)from->uc_mcontext.fpstate, vector_bytes(from));
    frame->ucontext.uc_mcontext.fpstate = (void *)(uintptr_t)vectors;
}

void signal_frame_enter(const struct signal_copy *copy, int signal, uint64_t handler, struct gait_cpu_context *cpu)
{
    struct frame *frame = (struct frame *)(uintptr_t)copy->start;

    gait_x86_64_rax(cpu) = 0;
    gait_x86_64_rdi(cpu) = (uint64_t)signal;
    gait_x86_64_rsi(cpu) = (uintptr_t)&frame->info;
    gait_x86_64_rdx(cpu) = (uintptr_t)&frame->ucontext;
    gait_x86_64_rsp(cpu) = copy->start;
    cpu->pc = handler;
    cpu->flags &= ~(uint64_t)(FLAG_TRAP | FLAG_DIRECTION | FLAG_RESUME);
}

uint64_t signal_frame_info_at(uint64_t start)
{
    return start + offsetof(struct frame, info);
}

uint64_t signal_frame_ucontext_at(uint64_t start)
{
    return start + offsetof(struct frame, ucontext);
}

void signal_info_move(void *info, uint64_t from, uint64_t to)
{
    siginfo_t *given = info;

    if ((uintptr_t)given->si_addr == from)
        given->si_addr = (void *)(uintptr_t)to;
}

_Noreturn void signal_frame_return(const struct stalker_thread *thread, const void *ucontext)
{
    struct ucontext copy = *(const struct ucontext *)ucontext;

    copy.uc_mcontext.rip = (uintptr_t)stalker_gate_begin;
    copy.uc_mcontext.rsp = thread->engine_sp;
    copy.uc_mcontext.eflags = PLAIN_FLAGS;
    *signal_frame_mask(&copy) = UINT64_MAX;
    *signal_frame_stack(&copy) = signal_stack_ours(thread);
    stalker_signal_return(&copy, PLAIN_FLAGS);
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
static _Noreturn void leave_for_restart(struct stalker_thread *thread)
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

_Noreturn void signal_frame_leave(struct stalker_thread *thread)
{
    _Alignas(VECTOR_ALIGNMENT) uint8_t vectors[STALKER_VECTORS_FRAME_BYTES_MAX];
    struct ucontext frame = {
        .uc_flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS,
        .uc_mcontext = {.cs = code_segment(), .ss = stack_segment(), .fpstate = (void *)vectors},
    };

    if (is_restarting(&thread->context))
        leave_for_restart(thread);
    stalker_vectors_save_frame(vectors);
    signal_frame_set(&frame, &thread->context);
    *signal_frame_mask(&frame) = thread->signals_mask;
    *signal_frame_stack(&frame) = thread->alternate_stack;
    stalker_base_set(thread->thread_base);
    thread->signals_held = 0;
    /* Release: pairs with the acquire in is_on_its_way; from here on the struct may be used anew. */
    atomic_store_explicit(&thread->is_inside, false, memory_order_release);
    stalker_signal_return(&frame, PLAIN_FLAGS | (thread->context.flags & FLAGS_NOT_IN_FRAMES));
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
