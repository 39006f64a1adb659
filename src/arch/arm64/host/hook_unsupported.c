/* SPDX-License-Identifier: MIT */
/* Functions cannot be hooked on this CPU yet: nobody calls these. There to be linked. */
#include "hook/hook_gate.h"
#include "hook/hook_thread.h"
#include "hook/hook_unwinders.h"
#include "hook/system_call_gate.h"

bool hook_gate_is_supported(void)
{
    return false;
}

void hook_gate_complete_record(uint64_t frame)
{
    (void)frame;
}

uint64_t hook_segment_get(void)
{
    return 0;
}

void hook_segment_set(uint64_t base)
{
    (void)base;
}

uint64_t hook_thread_pointer(void)
{
    return 0;
}

void hook_gate_enter_record(void)
{
}

void hook_gate_leave_record(void)
{
}

void hook_gate_enter_listen(void)
{
}

void hook_gate_leave_listen(void)
{
}

void hook_gate_once_record(void)
{
}

void hook_gate_once_listen(void)
{
}

void hook_gate_enter_any(void)
{
}

void hook_gate_leave_any(void)
{
}

void hook_gate_once_any(void)
{
}

void hook_unwinder_stub(void)
{
}

bool hook_segment_is_asked(long number, long argument)
{
    (void)number;
    (void)argument;
    return false;
}

void system_call_gate_enter(void)
{
}

void system_call_gate_leave(void)
{
}

void system_call_gate_enter_any(void)
{
}

void system_call_gate_leave_any(void)
{
}
