/* SPDX-License-Identifier: MIT */
/* Which gates a stub gets, and who would return into one. Constant, so no lock. */
#include "hook/hook_stub.h"

#include "arch/engine.h"
#include "arch/host_cpu.h"
#include "base/code_writer.h"
#include "hook/hook_gate.h"
#include "hook/hook_thread.h"

#include <asm/errno.h>
#include <stddef.h>

_Static_assert(HOOK_STUB_PROBE == HOOK_PART_PROBE, "as the gates have it");

bool hook_stub_is_supported(void)
{
    return engine_host() != NULL;
}

/* Records alone have gates of their own; with listeners, or for a replacement, there is C to be called anyway. */
static struct hook_stub_gates gates_for(unsigned parts)
{
    bool is_quick = host_cpu_has_base_insns() &&
                    (parts & (HOOK_STUB_RECORD | HOOK_STUB_LISTEN)) != (HOOK_STUB_RECORD | HOOK_STUB_LISTEN);

    if (parts & HOOK_STUB_GOROUTINE && is_quick)
        return (struct hook_stub_gates){.enter = (uintptr_t)hook_gate_goroutine_record};
    if ((parts & HOOK_STUB_RETURNS) == 0)
        return (struct hook_stub_gates){.enter = (uintptr_t)(!is_quick                  ? hook_gate_once_any
                                                             : parts & HOOK_STUB_RECORD ? hook_gate_once_record
                                                                                        : hook_gate_once_listen)};
    if (!is_quick)
        return (struct hook_stub_gates){(uintptr_t)hook_gate_enter_any, (uintptr_t)hook_gate_leave_any};
    if (parts & HOOK_STUB_RECORD && (parts & HOOK_STUB_REPLACE) == 0)
        return (struct hook_stub_gates){(uintptr_t)hook_gate_enter_record, (uintptr_t)hook_gate_leave_record};
    if (parts & HOOK_STUB_RECORD)
        return (struct hook_stub_gates){(uintptr_t)hook_gate_enter_any, (uintptr_t)hook_gate_leave_any};
    return (struct hook_stub_gates){(uintptr_t)hook_gate_enter_listen, (uintptr_t)hook_gate_leave_listen};
}

static bool parts_go_together(unsigned parts)
{
    if (parts & (HOOK_STUB_GOROUTINE | HOOK_STUB_EXIT))
        return parts & HOOK_STUB_GOROUTINE && parts & HOOK_STUB_RECORD &&
               (parts & (HOOK_STUB_RETURNS | HOOK_STUB_REPLACE | HOOK_STUB_PROBE)) == 0;
    if (parts & HOOK_STUB_PROBE)
        return (parts & (HOOK_STUB_RETURNS | HOOK_STUB_REPLACE)) == 0;
    return (parts & HOOK_STUB_REPLACE) == 0 || parts & HOOK_STUB_RETURNS;
}

int hook_stub_write(struct code_writer *writer, const struct hook_stub_request *request, struct hook_stub *stub_out)
{
    const struct engine *machine = engine_host();
    struct hook_stub_gates gates;

    if (machine == NULL)
        return -EOPNOTSUPP;
    if (!parts_go_together(request->parts))
        return -EINVAL;
    gates = gates_for(request->parts);
    machine->hook->put_stub(writer, request, &gates, stub_out);
    return 0;
}

static size_t pending_of(const struct hook_thread *thread, uint64_t start, uint64_t end)
{
    struct invocation_cursor cursor;
    const struct invocation *invocation;
    size_t count = 0;

    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((invocation = invocation_cursor_next(&cursor)) != NULL)
        count +=
            invocation_landing(invocation) - start < end - start || invocation->return_address - start < end - start;
    return count;
}

size_t hook_stub_pending(uint64_t start, uint64_t end)
{
    uint64_t mask = hook_signals_block();
    int locked = hook_threads_lock();
    const struct hook_thread *thread;
    size_t count = 0;

    if (locked != 0 && locked != -EDEADLK) {
        hook_signals_unblock(mask);
        return SIZE_MAX;
    }
    for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++)
        count += pending_of(thread, start, end);
    if (locked == 0)
        hook_threads_unlock();
    hook_signals_unblock(mask);
    return count;
}
