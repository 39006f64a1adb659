/* SPDX-License-Identifier: MIT */
/*
 * Stubs, 64 bytes each and in one cache line. First what it knows, then code:
 *
 *   0    the struct hook_function
 *   8    the entering gate
 *   16   the leaving gate
 *   24   the header of the record of its being entered
 *   28   its parts
 *   32   call the entering gate, which drops the return address
 *   38   call the target: where the return address was is now this one
 *   43   make room for the return address, which the leaving gate puts back
 *   48   call the leaving gate
 *   54   return
 *   55   jump to the target, without its return being seen
 *
 * Calls and returns stay in pairs, so that the CPU predicts each: the function's return matches the stub's call of it,
 * and the stub's return the caller's call. Functions whose return is not seen, and probes, have:
 *
 *   32   call the gate
 *   38   jump to the target
 *
 * where probes first step over what may be in use below the stack pointer, and back behind the gate.
 */
#include "arch/engine.h"
#include "arch/x86_64/hook/hook_code.h"
#include "arch/x86_64/hook/stub_layout.h"
#include "arch/x86_64/isa/encoder.h"
#include "base/code_writer.h"
#include "hook/hook_stub.h"
#include "ring/event_record.h"

#define ENTER_GATE 8
#define LEAVE_GATE 16
#define CODE       32
#define RED_ZONE   128

static void align(struct code_writer *writer)
{
    while (code_writer_pc(writer).value % HOOK_STUB_ALIGNMENT != 0 && !code_writer_overflowed(writer))
        code_writer_put_u8(writer, 0xcc);
}

static void put_knowledge(struct code_writer *writer, const struct hook_stub_request *request,
                          const struct hook_stub_gates *gates)
{
    code_writer_put_u64(writer, (uintptr_t)request->function);
    code_writer_put_u64(writer, gates->enter);
    code_writer_put_u64(writer, gates->leave);
    code_writer_put_u32(writer,
                        event_header(request->function->record_number,
                                     request->parts & HOOK_STUB_EXIT ? EVENT_RECORD_LEAVE : EVENT_RECORD_ENTER));
    code_writer_put_u32(writer, request->parts);
}

static void put_gate(struct code_writer *writer, uint64_t start, uint64_t offset)
{
    x86_call_mem(writer, x86_mem_address(start + offset));
}

static void put_step(struct code_writer *writer, int32_t bytes)
{
    x86_lea(writer, X86_SIZE_64, X86_RSP, x86_mem_base(X86_RSP, bytes));
}

static void put_returning(struct code_writer *writer, uint64_t start, struct cache_pc target)
{
    put_gate(writer, start, ENTER_GATE);
    x86_call_pc(writer, target);
    put_step(writer, -8);
    put_gate(writer, start, LEAVE_GATE);
    x86_ret(writer, 0);
    x86_jmp_pc(writer, target, X86_REACH_NEAR);
}

static void put_once(struct code_writer *writer, uint64_t start, struct cache_pc target)
{
    put_gate(writer, start, ENTER_GATE);
    x86_jmp_pc(writer, target, X86_REACH_NEAR);
}

/* The gate's call has to be where it is in other stubs; what comes before it does not. */
static void put_probe(struct code_writer *writer, uint64_t start, struct cache_pc target, struct hook_stub *stub_out)
{
    struct cache_pc gate = code_writer_pc(writer);

    put_gate(writer, start, ENTER_GATE);
    put_step(writer, RED_ZONE);
    x86_jmp_pc(writer, target, X86_REACH_NEAR);
    stub_out->entry = code_writer_pc(writer);
    put_step(writer, -RED_ZONE);
    x86_jmp_pc(writer, gate, X86_REACH_SHORT);
}

void x86_hook_stub_put(struct code_writer *writer, const struct hook_stub_request *request,
                       const struct hook_stub_gates *gates, struct hook_stub *stub_out)
{
    struct cache_pc target = cache_pc_of(request->target);
    uint64_t start;

    align(writer);
    start = code_writer_pc(writer).value;
    put_knowledge(writer, request, gates);
    *stub_out = (struct hook_stub){.entry = code_writer_pc(writer)};
    if (request->parts & HOOK_STUB_PROBE) {
        put_probe(writer, start, target, stub_out);
    } else if (request->parts & HOOK_STUB_RETURNS) {
        put_returning(writer, start, target);
        stub_out->landing = cache_pc_of(start - STUB_FUNCTION + STUB_LANDING);
    } else {
        put_once(writer, start, target);
    }
    stub_out->size_bytes = code_writer_pc(writer).value - start;
}
