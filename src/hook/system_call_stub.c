/* SPDX-License-Identifier: MIT */
/*
 * Copies of instructions are at the same distances as the originals, so places are found by counting. A thread that
 * waits in the kernel goes on behind the instruction there or, if the call is made again, at it: both have their place
 * in the stub, and the same in the program. Constant, so no lock.
 */
#include "hook/system_call_stub.h"

#include "arch/engine.h"
#include "arch/host_cpu.h"
#include "arch/stub_layout.h"
#include "base/code_writer.h"
#include "process/memory_probe.h"

#include <asm/errno.h>
#include <stddef.h>

int system_call_stub_write(struct code_writer *writer, const struct hook_plan *plan, const uint8_t *displaced,
                           struct system_call_stub *stub_out)
{
    const struct engine *machine = engine_host();
    bool is_quick = host_cpu_has_base_insns();
    const struct system_call_stub_request request = {
        .plan = plan,
        .displaced = displaced,
        .kinds = system_call_kinds(),
        .enter_gate = (uintptr_t)(is_quick ? system_call_gate_enter : system_call_gate_enter_any),
        .leave_gate = (uintptr_t)(is_quick ? system_call_gate_leave : system_call_gate_leave_any),
    };

    if (machine == NULL || request.kinds == NULL)
        return -EOPNOTSUPP;
    machine->hook->put_system_call_stub(writer, &request, stub_out);
    return 0;
}

int system_call_stub_context(const struct system_call_frame *frame, struct gait_cpu_context *context_out)
{
    const struct engine *machine = engine_host();

    if (machine == NULL)
        return -EOPNOTSUPP;
    machine->hook->system_call_context(frame, context_out);
    return 0;
}

bool system_call_stub_find_copy(const struct system_call_stub *stub, const struct hook_plan *plan, uint64_t pc,
                                uint64_t *copy_out)
{
    uint64_t behind = stub->knowledge.after - stub->knowledge.plain_at + plan->address;

    if (pc <= plan->patch_at || pc >= plan->displaced_end)
        return false;
    if (pc < plan->address)
        *copy_out = stub->entry + (pc - plan->patch_at);
    else if (pc < behind)
        *copy_out = stub->knowledge.plain_at;
    else
        *copy_out = stub->knowledge.after + (pc - behind);
    return true;
}

bool system_call_stub_find_original(const struct system_call_stub *stub, const struct hook_plan *plan, uint64_t pc,
                                    uint64_t *original_out)
{
    const struct system_call_knowledge *known = &stub->knowledge;
    uint64_t call_bytes = known->after - known->plain_at;

    if (pc >= stub->entry && pc - stub->entry <= plan->address - plan->patch_at)
        *original_out = plan->patch_at + (pc - stub->entry);
    else if (pc == known->call_at || pc == known->plain_at || pc == known->child_at)
        *original_out = plan->address;
    else if (pc == known->call_at + call_bytes || pc == known->child_at + call_bytes)
        *original_out = plan->address + call_bytes;
    else if (pc >= known->after && pc < stub->end &&
             pc - known->after <= plan->displaced_end - plan->address - call_bytes)
        *original_out = plan->address + call_bytes + (pc - known->after);
    else
        return false;
    return true;
}

static bool is_knowledge(const struct system_call_knowledge *known)
{
    return (known->enter_gate == (uintptr_t)system_call_gate_enter &&
            known->leave_gate == (uintptr_t)system_call_gate_leave) ||
           (known->enter_gate == (uintptr_t)system_call_gate_enter_any &&
            known->leave_gate == (uintptr_t)system_call_gate_leave_any);
}

/* Stubs begin at such places, with the addresses of two gates. */
static bool find_knowledge(uint64_t pc, struct system_call_knowledge *known_out)
{
    uint64_t at = pc & ~(uint64_t)(SYSTEM_CALL_STUB_ALIGNMENT - 1);

    for (unsigned back = 0; back < SYSTEM_CALL_STUB_BYTES_MAX; back += SYSTEM_CALL_STUB_ALIGNMENT)
        if (memory_probe_copy(at - back, known_out, sizeof(*known_out)) == 0 && is_knowledge(known_out))
            return true;
    return false;
}

bool system_call_stub_undo(uint64_t pc, uint64_t *original_out)
{
    struct system_call_knowledge known;
    uint64_t call_bytes;

    if (!find_knowledge(pc, &known) || known.after <= known.plain_at)
        return false;
    call_bytes = known.after - known.plain_at;
    if (pc == known.call_at || pc == known.child_at || pc == known.plain_at)
        *original_out = known.behind - call_bytes;
    else if (pc == known.call_at + call_bytes || pc == known.child_at + call_bytes)
        *original_out = known.behind;
    else if (pc >= known.after && pc - known.after < HOOK_DISPLACED_BYTES_MAX)
        *original_out = known.behind + (pc - known.after);
    else
        return false;
    return true;
}
