/* SPDX-License-Identifier: MIT */
/*
 * Sends a thread to the routine in landing_routine.S: rbx tells it where its struct thread_landing is, rsp is below the
 * red zone of the program's stack. What the routine saves of the vector state is all that the system has enabled.
 */
#include "arch/thread_landing.h"

#include "arch/x86_64/host/cpu_leaves.h"
#include "arch/x86_64/isa/user_registers.h"

#define RED_ZONE_BYTES  128
#define STACK_ALIGNMENT 16
#define PLAIN_FLAGS     0x202u /* interrupts enabled, and the bit that is always set */
#define FXSAVE_BYTES    512
#define FORMAT_FXSAVE   0
#define FORMAT_XSAVE    1

void thread_landing_routine(void);
extern const char thread_landing_routine_end[];

_Static_assert(offsetof(struct thread_landing, context) == 280 && offsetof(struct thread_landing, stack_end) == 288 &&
                   offsetof(struct thread_landing, vector_state) == 296 &&
                   offsetof(struct thread_landing, signal_mask) == 304 &&
                   offsetof(struct thread_landing, vector_format) == 312,
               "known to the routine");
_Static_assert(offsetof(struct x86_user_registers, rip) == 128 && offsetof(struct x86_user_registers, rsp) == 152 &&
                   offsetof(struct x86_user_registers, rdi) == 112,
               "known to the routine");

static uint32_t vector_format(void)
{
    return x86_cpu_leaf(X86_LEAF_FEATURES).ecx & X86_FEATURES_OSXSAVE ? FORMAT_XSAVE : FORMAT_FXSAVE;
}

size_t thread_landing_vector_bytes(void)
{
    uint32_t bytes = x86_cpu_leaf(X86_LEAF_STATE_SIZES).ebx;

    return vector_format() == FORMAT_XSAVE && bytes != 0 ? bytes : FXSAVE_BYTES;
}

int thread_landing_prepare(struct thread_landing *landing, struct thread_registers *registers)
{
    return thread_landing_prepare_at(landing, registers, (uintptr_t)landing, (uintptr_t)thread_landing_routine);
}

int thread_landing_prepare_at(struct thread_landing *landing, struct thread_registers *registers,
                              uint64_t landing_address, uint64_t routine_address)
{
    struct x86_user_registers *user = x86_user_registers(registers);

    thread_registers_take_restart(registers);
    landing->registers = *registers;
    landing->vector_format = vector_format();
    user->rip = routine_address;
    user->rbx = landing_address;
    user->rsp = (user->rsp - RED_ZONE_BYTES) & ~(uint64_t)(STACK_ALIGNMENT - 1);
    user->eflags = PLAIN_FLAGS;
    user->orig_rax = UINT64_MAX; /* what the last system call left in rax is no concern of the kernel's any more */
    return 0;
}

bool thread_landing_holds(const struct thread_registers *registers)
{
    uint64_t rip = x86_user_registers_const(registers)->rip;

    return rip >= (uintptr_t)thread_landing_routine && rip < (uintptr_t)thread_landing_routine_end;
}
