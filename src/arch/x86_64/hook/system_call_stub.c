/* SPDX-License-Identifier: MIT */
/*
 * Stubs of system calls. rcx and r11 are overwritten by the instruction, so they are free before it, and flags are not
 * touched:
 *
 *       what it knows (struct system_call_knowledge)
 *   entry:
 *       what stood before the call
 *       rcx = the kind of the number in ax; if 0, go to plain
 *       r11 = what it knows, go to the entering gate, which comes back to one of:
 *   child_at:
 *       syscall; if 0 was returned, go on behind it; else go to told
 *   call_at:
 *       syscall
 *   told:
 *       r11 = what it knows, go to the leaving gate, which comes back to after
 *   plain_at:
 *       syscall
 *   after:
 *       what stood behind the call
 *       jump to what follows
 */
#include "hook/system_call_stub.h"

#include "arch/host_cpu.h"
#include "arch/x86_64/hook/hook_code.h"
#include "arch/x86_64/hook/stub_layout.h"
#include "arch/x86_64/isa/decoder.h"
#include "arch/x86_64/isa/encoder.h"
#include "base/code_writer.h"
#include "gait/cpu_context.h"

#include <stddef.h>

static void put(struct code_writer *writer, const uint8_t *bytes, size_t size)
{
    code_writer_put_bytes(writer, bytes, size);
}

#define PUT(writer, ...) put(writer, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static uint64_t here(const struct code_writer *writer)
{
    return code_writer_pc(writer).value;
}

/* A 32-bit distance from behind it. */
static void put_distance(struct code_writer *writer, uint64_t target)
{
    code_writer_put_u32(writer, (uint32_t)(target - (here(writer) + 4)));
}

static void put_syscall(struct code_writer *writer)
{
    PUT(writer, 0x0f, 0x05);
}

/* lea start(%rip), %r11; jmp *gate(%rip) */
static void put_gate(struct code_writer *writer, uint64_t start, size_t which)
{
    PUT(writer, 0x4c, 0x8d, 0x1d);
    put_distance(writer, start);
    PUT(writer, 0xff, 0x25);
    put_distance(writer, start + which);
}

/* movzwl %ax, %ecx; movabs $kinds, %r11; movzbl (%r11, %rcx), %ecx; jrcxz: the offset of its distance. */
static size_t put_look(struct code_writer *writer, const uint8_t *kinds)
{
    PUT(writer, 0x0f, 0xb7, 0xc8, 0x49, 0xbb);
    code_writer_put_u64(writer, (uintptr_t)kinds);
    PUT(writer, 0x41, 0x0f, 0xb6, 0x0c, 0x0b, 0xe3, 0);
    return code_writer_offset(writer) - 1;
}

static void amend(struct code_writer *writer, size_t offset)
{
    if (!code_writer_overflowed(writer))
        code_writer_amend_u8(writer, offset, (uint8_t)(code_writer_offset(writer) - (offset + 1)));
}

/* mov %eax, %ecx; jrcxz: the same; jmp told. */
static size_t put_child(struct code_writer *writer)
{
    size_t offset;

    put_syscall(writer);
    PUT(writer, 0x89, 0xc1, 0xe3, 0);
    offset = code_writer_offset(writer) - 1;
    PUT(writer, 0xeb, X86_SYSTEM_CALL_BYTES);
    return offset;
}

/* Whether nothing goes on behind the last instruction that stood behind the call. */
static bool ends_with_return(const struct system_call_stub_request *request)
{
    const struct hook_plan *plan = request->plan;
    const uint8_t *bytes = request->displaced + (plan->address - plan->patch_at) + X86_SYSTEM_CALL_BYTES;
    uint64_t pc = plan->address + X86_SYSTEM_CALL_BYTES;
    struct x86_insn insn = {.flow = X86_FLOW_NEXT};

    while (pc < plan->displaced_end &&
           x86_decode(bytes, plan->displaced_end - pc, app_pc_of(pc), host_cpu_decode_options(), &insn) == 0) {
        bytes += insn.length;
        pc += insn.length;
    }
    return insn.flow == X86_FLOW_RETURN;
}

static void put_knowledge(struct code_writer *writer, const struct system_call_stub_request *request)
{
    while (here(writer) % SYSTEM_CALL_STUB_ALIGNMENT != 0 && !code_writer_overflowed(writer))
        code_writer_put_u8(writer, 0xcc);
    code_writer_put_u64(writer, request->enter_gate);
    code_writer_put_u64(writer, request->leave_gate);
    for (size_t at = CALL_STUB_CALL_AT; at < sizeof(struct system_call_knowledge); at += sizeof(uint64_t))
        code_writer_put_u64(writer, 0);
}

static void amend_knowledge(struct code_writer *writer, const struct system_call_stub *stub)
{
    size_t start = (size_t)(stub->start - writer->base_pc.value);

    if (code_writer_overflowed(writer))
        return;
    code_writer_amend_u64(writer, start + CALL_STUB_CALL_AT, stub->knowledge.call_at);
    code_writer_amend_u64(writer, start + CALL_STUB_CHILD_AT, stub->knowledge.child_at);
    code_writer_amend_u64(writer, start + CALL_STUB_PLAIN_AT, stub->knowledge.plain_at);
    code_writer_amend_u64(writer, start + CALL_STUB_AFTER, stub->knowledge.after);
    code_writer_amend_u64(writer, start + CALL_STUB_BEHIND, stub->knowledge.behind);
}

void x86_system_call_stub_put(struct code_writer *writer, const struct system_call_stub_request *request,
                              struct system_call_stub *stub_out)
{
    const struct hook_plan *plan = request->plan;
    struct system_call_knowledge known = {
        .enter_gate = request->enter_gate,
        .leave_gate = request->leave_gate,
        .behind = plan->address + X86_SYSTEM_CALL_BYTES,
    };
    size_t before = (size_t)(plan->address - plan->patch_at), to_plain, to_after;
    uint64_t start, entry;

    put_knowledge(writer, request);
    entry = here(writer);
    start = entry - sizeof(known);
    put(writer, request->displaced, before);
    to_plain = put_look(writer, request->kinds);
    put_gate(writer, start, offsetof(struct system_call_knowledge, enter_gate));
    known.child_at = here(writer);
    to_after = put_child(writer);
    known.call_at = here(writer);
    put_syscall(writer);
    put_gate(writer, start, offsetof(struct system_call_knowledge, leave_gate));
    amend(writer, to_plain);
    known.plain_at = here(writer);
    put_syscall(writer);
    amend(writer, to_after);
    known.after = here(writer);
    put(writer, request->displaced + before + X86_SYSTEM_CALL_BYTES,
        (size_t)(plan->displaced_end - plan->address - X86_SYSTEM_CALL_BYTES));
    if (!ends_with_return(request))
        x86_jmp_pc(writer, cache_pc_of(plan->displaced_end), X86_REACH_NEAR);
    *stub_out = (struct system_call_stub){.start = start, .entry = entry, .end = here(writer), .knowledge = known};
    amend_knowledge(writer, stub_out);
}

/* The stack pointer is where the return address of a call would be. */
void x86_system_call_context(const struct system_call_frame *frame, struct gait_cpu_context *context_out)
{
    *context_out = (struct gait_cpu_context){
        .registers =
            {
                [X86_RBX] = frame->registers[0],
                [X86_RBP] = frame->registers[1],
                [X86_R12] = frame->registers[2],
                [X86_R13] = frame->registers[3],
                [X86_R14] = frame->registers[4],
                [X86_R15] = frame->registers[5],
                [X86_RSP] = frame->sp - sizeof(uint64_t),
            },
        .pc = frame->stub->behind,
    };
}
