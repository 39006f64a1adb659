/* SPDX-License-Identifier: MIT */
/*
 * The answers of a CPU that lacks something of what arch/<cpu>/host is to have: threads cannot be followed, functions
 * not hooked, threads not borrowed. All of them are weak, so that a CPU that has one takes its place by defining it. No
 * engine is made where engine_host() is NULL, so most of these are only there to be linked.
 */
#include "arch/calling_thread.h"
#include "arch/clone_start.h"
#include "arch/signal_saved.h"
#include "arch/thread_landing.h"
#include "arch/vector_registers.h"
#include "hook/hook_gate.h"
#include "hook/hook_thread.h"
#include "hook/hook_unwinders.h"
#include "hook/system_call_gate.h"
#include "stalker/follow.h"
#include "stalker/signal_frame.h"
#include "stalker/stalker_gate.h"
#include "stalker/vectors.h"

#include <asm/errno.h>

/* Nothing here looks at its arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define MISSING __attribute__((weak))
#define GATE(name)                                                                                                     \
    MISSING void name(void)                                                                                            \
    {                                                                                                                  \
    }

/* ---- following --------------------------------------------------------------------------------------------------- */

GATE(stalker_gate_exit)
GATE(stalker_gate_begin)
GATE(stalker_gate_events)
GATE(stalker_gate_changed)
GATE(stalker_gate_called)
GATE(stalker_gate_quiet_end)
GATE(stalker_gate_callout)
GATE(stalker_gate_callout_with_position)
GATE(stalker_gate_indirect)
GATE(stalker_leave)
GATE(stalker_leave_with_position)
GATE(stalker_enter)
GATE(stalker_enter_with_position)
GATE(stalker_signal_entry)
GATE(stalker_signal_restorer)

MISSING int stalker_follow_caller(void *a, const void *b, void *c,
                                  int (*prepare)(void *a, const void *b, void *c, struct stalker_thread **thread_out))
{
    return -EOPNOTSUPP;
}

MISSING const char stalker_clone_called[1];

MISSING long stalker_clone(struct stalker_thread *parent, struct stalker_thread *child)
{
    return -EOPNOTSUPP;
}

MISSING void stalker_capture(struct gait_cpu_context *cpu_out)
{
}

MISSING void stalker_base_set(uint64_t base)
{
}

MISSING uint64_t stalker_base_get(void)
{
    return 0;
}

MISSING bool stalker_base_call(struct stalker_thread *thread, const struct system_call *call, long *result_out)
{
    return false;
}

MISSING size_t vector_state_bytes(void)
{
    return 0;
}

MISSING void vector_state_init(void *area)
{
}

MISSING void vector_state_save(void *area)
{
}

MISSING void vector_state_restore(void *area)
{
}

MISSING unsigned vector_registers_count(unsigned kind)
{
    return 0;
}

MISSING size_t vector_registers_bytes(unsigned kind)
{
    return 0;
}

MISSING void vector_registers_get(const void *area, unsigned kind, unsigned number, void *bytes_out, size_t size_bytes)
{
}

MISSING int vector_registers_set(void *area, unsigned kind, unsigned number, const void *bytes, size_t size_bytes)
{
    return -EOPNOTSUPP;
}

/* ---- frames of signals ------------------------------------------------------------------------------------------- */

MISSING _Noreturn void stalker_signal_return(void *ucontext, uint64_t flags, uint64_t place)
{
    __builtin_trap();
}

MISSING enum gate_place stalker_gate_recover(struct stalker_thread *thread, struct gait_cpu_context *cpu)
{
    return GATE_UNKNOWN;
}

MISSING _Noreturn void signal_frame_leave(struct stalker_thread *thread)
{
    __builtin_trap();
}

MISSING _Noreturn void signal_frame_return(const struct stalker_thread *thread, const void *ucontext)
{
    __builtin_trap();
}

MISSING uint64_t signal_saved_pc_at(uint64_t frame)
{
    return 0;
}

MISSING uint64_t signal_saved_sp_at(uint64_t frame)
{
    return 0;
}

MISSING uint64_t signal_saved_pc_in(uint64_t ucontext)
{
    return 0;
}

MISSING uint64_t signal_trap_distance(void)
{
    return 0;
}

MISSING uint64_t signal_restorer(void)
{
    return 0;
}

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

GATE(hook_gate_enter_record)
GATE(hook_gate_leave_record)
GATE(hook_gate_enter_listen)
GATE(hook_gate_leave_listen)
GATE(hook_gate_once_record)
GATE(hook_gate_goroutine_record)
GATE(hook_gate_once_listen)
GATE(hook_gate_enter_any)
GATE(hook_gate_leave_any)
GATE(hook_gate_once_any)
GATE(hook_unwinder_stub)
GATE(system_call_gate_enter)
GATE(system_call_gate_leave)
GATE(system_call_gate_enter_any)
GATE(system_call_gate_leave_any)

MISSING void hook_gate_complete_record(uint64_t frame)
{
}

MISSING uint64_t hook_thread_base_get(void)
{
    return 0;
}

MISSING void hook_thread_base_set(uint64_t base)
{
}

MISSING uint64_t hook_thread_pointer(void)
{
    return 0;
}

MISSING bool hook_thread_base_is_asked(long number, long argument)
{
    return false;
}

MISSING bool variable_function_read(uint64_t address, struct variable_function *function_out)
{
    return false;
}

MISSING uint64_t calling_thread_variable(const struct variable_function *function)
{
    return 0;
}

/* ---- borrowing threads ------------------------------------------------------------------------------------------- */

MISSING long clone_start(unsigned long flags, void *stack_end, _Atomic uint32_t *ended, void (*run)(void *context),
                         void *context)
{
    return -EOPNOTSUPP;
}

MISSING size_t thread_landing_vector_bytes(void)
{
    return 0;
}

MISSING int thread_landing_prepare(struct thread_landing *landing, struct thread_registers *registers)
{
    return -EOPNOTSUPP;
}

MISSING int thread_landing_prepare_at(struct thread_landing *landing, struct thread_registers *registers,
                                      uint64_t landing_address, uint64_t routine_address)
{
    return -EOPNOTSUPP;
}

MISSING bool thread_landing_holds(const struct thread_registers *registers)
{
    return false;
}
