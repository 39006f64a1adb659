/* SPDX-License-Identifier: MIT */
/* What the kernel writes for a signal handler on x86-64, and takes back; declared here, to be built on every machine.
 */
#ifndef GAIT_ARCH_X86_64_STALKER_SIGNAL_LAYOUT_H
#define GAIT_ARCH_X86_64_STALKER_SIGNAL_LAYOUT_H

#include "stalker/signal_stack.h"

#include <stdint.h>

#define X86_SIGINFO_BYTES 128

struct x86_sigcontext {
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
    uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, rflags;
    uint16_t cs, gs, fs, ss;
    uint64_t error, trap, old_mask, cr2;
    uint64_t vectors; /* an address; 0: none */
    uint64_t reserved[8];
};

struct x86_ucontext {
    uint64_t flags;
    uint64_t link;
    struct signal_stack stack;
    struct x86_sigcontext context;
    uint64_t mask;
};

/* Above it, aligned to 64, is the vector state that the ucontext points to. */
struct x86_signal_frame {
    uint64_t return_address;
    struct x86_ucontext ucontext;
    uint8_t info[X86_SIGINFO_BYTES];
};

/* Of the vector state, as far as frames say how long it is. */
struct x86_frame_vectors {
    uint8_t legacy[464];
    uint32_t magic;
    uint32_t size_bytes;
};

_Static_assert(sizeof(struct x86_signal_frame) == 440, "the kernel has another one");

#endif
