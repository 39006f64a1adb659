/* SPDX-License-Identifier: MIT */
/*
 * The registers of a followed thread, as callouts and probes see them: what the program would have in them if nobody
 * followed it. Whoever gets a writable one may change any field, the pc included; the thread goes on with that.
 */
#ifndef GAIT_CPU_CONTEXT_H
#define GAIT_CPU_CONTEXT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The general registers by number, in the order of gait_register_name(), and the x86-64 ones by name. */
#define GAIT_CPU_REGISTER_COUNT 16

struct gait_cpu_context {
    union {
        uint64_t registers[GAIT_CPU_REGISTER_COUNT];
        struct {
            uint64_t rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi;
            uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
        };
    };
    uint64_t pc;
    uint64_t flags;
};

#ifdef __cplusplus
}
#endif

#endif
