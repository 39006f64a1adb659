/* SPDX-License-Identifier: MIT */
/*
 * The general registers of a stopped thread, as the kernel hands them to a tracer (the register set NT_PRSTATUS), and
 * what can be said of them without naming a CPU. The CPU's own folder knows them by name; on x86_64 that is
 * arch/x86_64/isa/user_registers.h. Vector state is not part of them. Implemented once for each CPU in arch/<cpu>/host.
 * No libc, no locks, no state; usable inside the target, from any thread.
 *
 * A thread that is stopped in a system call is a special case. When it is let go, the kernel does not simply go on: it
 * may begin the system call again, and looks at the registers then, changed or not, to decide. On x86_64 it does if
 * orig_rax is not -1 and rax is one of
 *
 *     -ERESTARTSYS -512, -ERESTARTNOINTR -513, -ERESTARTNOHAND -514    rax = orig_rax, rip = rip - 2
 *     -ERESTART_RESTARTBLOCK -516                                     rax = __NR_restart_syscall, rip = rip - 2
 *
 * so that the two bytes `syscall` in front of the pc are executed once more. Whoever moves the pc of such a thread to X
 * has it go on at X - 2: either there is a `syscall` instruction in front of X, or the restart is cancelled first and
 * made up for later, see thread_registers_take_restart. rcx and r11 are as the kernel leaves them after `syscall`: the
 * pc behind that instruction, and the flags.
 */
#ifndef GAIT_ARCH_THREAD_REGISTERS_H
#define GAIT_ARCH_THREAD_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Enough for every CPU: x86_64 has 27, arm64 34. */
#define THREAD_REGISTERS_WORDS_MAX 34

struct thread_registers {
    uint64_t words[THREAD_REGISTERS_WORDS_MAX];
};

/* How many bytes of them the kernel reads and writes on this CPU. */
size_t thread_registers_size_bytes(void);

uint64_t thread_registers_pc(const struct thread_registers *registers);
void thread_registers_set_pc(struct thread_registers *registers, uint64_t pc);
uint64_t thread_registers_sp(const struct thread_registers *registers);
void thread_registers_set_sp(struct thread_registers *registers, uint64_t sp);

/*
 * Whether the kernel is going to begin a system call again when the thread goes on, at an address in front of the pc
 * (see above). False where the kernel has already moved the pc back before it shows the registers (arm64): there the
 * pc can be moved freely.
 */
bool thread_registers_in_system_call(const struct thread_registers *registers);

/*
 * Does by itself what the kernel would do to begin the system call again, and keeps the kernel from doing so: the pc is
 * at the system call instruction, all registers are as it needs them. Then the pc can be moved freely; whoever brings
 * all registers back to what they are after this call makes the thread begin its system call again. Without a system
 * call to begin again nothing changes. A handler that runs before that has to be looked out for, see
 * thread_registers_restart: the system call would be begun again even where the program asked for EINTR.
 */
void thread_registers_take_restart(struct thread_registers *registers);

/*
 * How a system call that was taken like that, or is about to begin again, goes on if a signal comes: a handler may end
 * it, with EINTR. It is known as long as nobody else sets the registers.
 */
enum thread_restart {
    THREAD_RESTART_NONE, /* there is none, or nobody knows */
    THREAD_RESTART_ALWAYS,
    THREAD_RESTART_IF_ASKED,        /* behind handlers with SA_RESTART */
    THREAD_RESTART_WITHOUT_HANDLER, /* but not behind one */
};

enum thread_restart thread_registers_restart(const struct thread_registers *registers);

/*
 * Some system calls end with EINTR whenever their thread is stopped, although no signal came for it: epoll_wait,
 * sigtimedwait, semop, those on sockets with a timeout. Makes them ones that the kernel begins again, unless a signal
 * handler is about to run, and returns whether it did. A timeout relative to now begins again, too.
 */
bool thread_registers_undo_interruption(struct thread_registers *registers);

#endif
