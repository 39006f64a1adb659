/* SPDX-License-Identifier: MIT */
/* Frames of signal handlers as the kernel has them on x86-64. Stateless. */
#include "stalker/signal_frame.h"

#include "arch/engine.h"
#include "arch/x86_64/stalker/signal_layout.h"
#include "arch/x86_64/x86_engine.h"
#include "gait/x86_64.h"

#include <stddef.h>

#define RED_ZONE_BYTES   128
#define VECTOR_ALIGNMENT 64
#define STACK_ALIGNMENT  16
#define FXSAVE_BYTES     512
#define VECTORS_MAGIC    0x46505853u
#define FLAG_TRAP        0x100u
#define FLAG_DIRECTION   0x400u
#define FLAG_RESUME      0x10000u

/* In the order of a context. */
#define EACH_REGISTER(DO)                                                                                              \
    DO(rax)                                                                                                            \
    DO(rcx)                                                                                                            \
    DO(rdx) DO(rbx) DO(rsp) DO(rbp) DO(rsi) DO(rdi) DO(r8) DO(r9) DO(r10) DO(r11) DO(r12) DO(r13) DO(r14) DO(r15)

static void get(const void *ucontext, struct gait_cpu_context *cpu_out)
{
    const struct x86_sigcontext *context = &((const struct x86_ucontext *)ucontext)->context;

#define GET(name) gait_x86_64_##name(cpu_out) = context->name;
    EACH_REGISTER(GET)
#undef GET
    cpu_out->pc = context->rip;
    cpu_out->flags = context->rflags;
}

static void set(void *ucontext, const struct gait_cpu_context *cpu)
{
    struct x86_sigcontext *context = &((struct x86_ucontext *)ucontext)->context;

#define SET(name) context->name = gait_x86_64_##name(cpu);
    EACH_REGISTER(SET)
#undef SET
    context->rip = cpu->pc;
    context->rflags = cpu->flags;
}

static bool steps(const struct gait_cpu_context *cpu)
{
    return cpu->flags & FLAG_TRAP;
}

static void end_steps(struct gait_cpu_context *cpu)
{
    cpu->flags &= ~(uint64_t)FLAG_TRAP;
}

/* The kernel clears the flag for its own part of a system call, and with it the trap behind it. */
static bool is_between(const struct gait_cpu_context *cpu, uint64_t from)
{
    static const uint8_t syscall_insn[] = {0x0f, 0x05};

    return cpu->pc == from + sizeof(syscall_insn) &&
           __builtin_memcmp((const void *)(uintptr_t)from, syscall_insn, sizeof(syscall_insn)) == 0;
}

static size_t vector_bytes(const struct x86_ucontext *ucontext)
{
    const struct x86_frame_vectors *vectors = (const void *)(uintptr_t)ucontext->context.vectors;

    if (vectors == NULL)
        return 0;
    return vectors->magic == VECTORS_MAGIC ? vectors->size_bytes : FXSAVE_BYTES;
}

static uint64_t vectors_below(const struct signal_copy *copy, uint64_t below)
{
    return (below - vector_bytes(copy->ucontext)) & ~(uint64_t)(VECTOR_ALIGNMENT - 1);
}

static void place(struct signal_copy *copy, uint64_t below)
{
    uint64_t vectors = vectors_below(copy, below);

    copy->start = ((vectors - sizeof(struct x86_signal_frame)) & ~(uint64_t)(STACK_ALIGNMENT - 1)) - 8;
    copy->size_bytes = below - copy->start;
}

static void write_frame(const struct signal_copy *copy)
{
    const struct x86_ucontext *from = copy->ucontext;
    uint64_t vectors = vectors_below(copy, copy->start + copy->size_bytes);
    struct x86_signal_frame *frame = (struct x86_signal_frame *)(uintptr_t)copy->start;

    frame->return_address = copy->restorer;
    frame->ucontext = *from;
    __builtin_memcpy(frame->info, copy->info, sizeof(frame->info));
    if (from->context.vectors == 0)
        return;
    __builtin_memcpy((void *)(uintptr_t)vectors, (const void *)(uintptr_t)from->context.vectors, vector_bytes(from));
    frame->ucontext.context.vectors = vectors;
}

static void enter(const struct signal_copy *copy, int signal, uint64_t handler, struct gait_cpu_context *cpu)
{
    gait_x86_64_rax(cpu) = 0;
    gait_x86_64_rdi(cpu) = (uint64_t)signal;
    gait_x86_64_rsi(cpu) = copy->start + offsetof(struct x86_signal_frame, info);
    gait_x86_64_rdx(cpu) = copy->start + offsetof(struct x86_signal_frame, ucontext);
    gait_x86_64_rsp(cpu) = copy->start;
    cpu->pc = handler;
    cpu->flags &= ~(uint64_t)(FLAG_TRAP | FLAG_DIRECTION | FLAG_RESUME);
}

const struct engine_frame x86_frame = {
    .ucontext_at = offsetof(struct x86_signal_frame, ucontext),
    .info_at = offsetof(struct x86_signal_frame, info),
    .mask_at = offsetof(struct x86_ucontext, mask),
    .stack_at = offsetof(struct x86_ucontext, stack),
    .red_zone_bytes = RED_ZONE_BYTES,
    .get = get,
    .set = set,
    .steps = steps,
    .end_steps = end_steps,
    .is_between = is_between,
    .place = place,
    .write = write_frame,
    .enter = enter,
};
