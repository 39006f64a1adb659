/* SPDX-License-Identifier: MIT */
/*
 * The general registers of an x86_64 thread, and the kernel's rules for system calls that were interrupted, which it
 * applies in arch_do_signal_or_restart() on the way back to the program. Runs in processes that share our memory
 * without being us, too, which is why sanitizers keep off.
 */
#include "arch/thread_registers.h"

#include "arch/x86_64/isa/user_registers.h"
#include "base/attributes.h"

#include <asm/errno.h>
#include <asm/unistd.h>

/* Not in the kernel's headers for programs: these never reach one. */
#define ERESTARTSYS           512
#define ERESTARTNOINTR        513
#define ERESTARTNOHAND        514
#define ERESTART_RESTARTBLOCK 516

#define SYSCALL_INSN_BYTES    2
#define NO_SYSTEM_CALL        UINT32_MAX /* the kernel looks at the lower half only */
#define TAKEN_SHIFT           32         /* the upper half has how it was interrupted */

size_t thread_registers_size_bytes(void)
{
    return sizeof(struct x86_user_registers);
}

UNSANITIZED uint64_t thread_registers_pc(const struct thread_registers *registers)
{
    return x86_user_registers_const(registers)->rip;
}

UNSANITIZED void thread_registers_set_pc(struct thread_registers *registers, uint64_t pc)
{
    x86_user_registers(registers)->rip = pc;
}

uint64_t thread_registers_sp(const struct thread_registers *registers)
{
    return x86_user_registers_const(registers)->rsp;
}

void thread_registers_set_sp(struct thread_registers *registers, uint64_t sp)
{
    x86_user_registers(registers)->rsp = sp;
}

/* The kernel looks at the lower half only. */
static bool made_system_call(const struct x86_user_registers *user)
{
    return (int32_t)user->orig_rax != -1;
}

bool thread_registers_in_system_call(const struct thread_registers *registers)
{
    const struct x86_user_registers *user = x86_user_registers_const(registers);

    if (!made_system_call(user))
        return false;
    switch ((int64_t)user->rax) {
    case -ERESTARTSYS:
    case -ERESTARTNOINTR:
    case -ERESTARTNOHAND:
    case -ERESTART_RESTARTBLOCK:
        return true;
    default:
        return false;
    }
}

void thread_registers_take_restart(struct thread_registers *registers)
{
    struct x86_user_registers *user = x86_user_registers(registers);
    uint64_t why;

    if (!thread_registers_in_system_call(registers))
        return;
    why = -user->rax;
    user->rax = (int64_t)user->rax == -ERESTART_RESTARTBLOCK ? __NR_restart_syscall : user->orig_rax;
    user->rip -= SYSCALL_INSN_BYTES;
    user->orig_rax = why << TAKEN_SHIFT | NO_SYSTEM_CALL;
}

enum thread_restart thread_registers_restart(const struct thread_registers *registers)
{
    const struct x86_user_registers *user = x86_user_registers_const(registers);

    switch (made_system_call(user) ? -user->rax : user->orig_rax >> TAKEN_SHIFT) {
    case ERESTARTNOINTR:
        return THREAD_RESTART_ALWAYS;
    case ERESTARTSYS:
        return THREAD_RESTART_IF_ASKED;
    case ERESTARTNOHAND:
    case ERESTART_RESTARTBLOCK:
        return THREAD_RESTART_WITHOUT_HANDLER;
    default:
        return THREAD_RESTART_NONE;
    }
}

/*
 * Those that give up with EINTR only before anything has happened, so that beginning again is safe. Calls that make the
 * kernel's choice by themselves (sleeping, futexes, poll) are not among them.
 */
UNSANITIZED static bool can_begin_again(uint64_t number)
{
    switch (number) {
    case __NR_epoll_wait:
    case __NR_epoll_pwait:
    case __NR_epoll_pwait2:
    case __NR_rt_sigtimedwait:
    case __NR_semop:
    case __NR_semtimedop:
    case __NR_io_getevents:
    case __NR_io_pgetevents:
    case __NR_io_uring_enter:
    case __NR_read:
    case __NR_readv:
    case __NR_write:
    case __NR_writev:
    case __NR_recvfrom:
    case __NR_recvmsg:
    case __NR_recvmmsg:
    case __NR_sendto:
    case __NR_sendmsg:
    case __NR_accept:
    case __NR_accept4:
        return true;
    default:
        return false;
    }
}

/* With -ERESTARTNOHAND a handler that runs first makes it EINTR again, whatever its flags. */
UNSANITIZED bool thread_registers_undo_interruption(struct thread_registers *registers)
{
    struct x86_user_registers *user = x86_user_registers(registers);

    if ((int64_t)user->rax != -EINTR || !can_begin_again(user->orig_rax))
        return false;
    user->rax = (uint64_t)-ERESTARTNOHAND;
    return true;
}
