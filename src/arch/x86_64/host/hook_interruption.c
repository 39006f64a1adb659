/* SPDX-License-Identifier: MIT */
/*
 * Records that gates were about to write when a signal came. Where that can be, and of what a record consists there, is
 * told by hook_gate.S: rax is the record all the time, rsi the invocation, and the word at the stack pointer the stub.
 * If the handler comes back, the gate writes the same again.
 */
#include "arch/signal_saved.h"
#include "hook/hook_gate.h"
#include "hook/hook_record.h"
#include "hook/invocation_stack.h"

#include <asm/sigcontext.h>
#include <asm/signal.h>
#include <asm/ucontext.h>
#include <stddef.h>

/* As the macro RECORD has it. */
struct gate_record {
    int32_t start;  /* from here on: the first instruction that writes */
    uint32_t bytes; /* from there to the last one */
    int32_t header_at;
    uint32_t kind;
    uint32_t deeper;
};

extern const struct gate_record hook_gate_records[] __attribute__((visibility("hidden")));
extern const struct gate_record hook_gate_records_end[] __attribute__((visibility("hidden")));

static const struct sigcontext *registers_of(uint64_t frame)
{
    return (const struct sigcontext *)(uintptr_t)(signal_saved_pc_at(frame) - offsetof(struct sigcontext, rip));
}

static void complete(const struct gate_record *record, const struct sigcontext *registers, bool has_time)
{
    const struct invocation *invocation = (const struct invocation *)(uintptr_t)registers->rsi;
    uint64_t stub = *(const uint64_t *)(uintptr_t)registers->rsp;
    struct hook_record *place = (struct hook_record *)(uintptr_t)registers->rax;
    uint32_t header;

    /* Nothing aligns stubs. */
    __builtin_memcpy(&header, (const void *)(uintptr_t)(stub + (uint64_t)(int64_t)record->header_at), sizeof(header));
    if (!has_time)
        place->time = registers->rdx;
    hook_record_publish(place, header + record->kind, invocation->depth + record->deeper);
}

void hook_gate_complete_record(uint64_t frame)
{
    const struct sigcontext *registers = registers_of(frame);

    for (const struct gate_record *record = hook_gate_records; record < hook_gate_records_end; record++) {
        uint64_t distance = registers->rip - ((uintptr_t)&record->start + (uint64_t)(int64_t)record->start);

        if (distance <= record->bytes) {
            complete(record, registers, distance != 0);
            return;
        }
    }
}
