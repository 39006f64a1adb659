/* SPDX-License-Identifier: MIT */
/*
 * The registers of x86-64 by name. Each macro is an lvalue, or a constant one where the context is:
 * gait_x86_64_rax(cpu)++. The functions are for registers that the context has no room for, and return what those of
 * gait/cpu_registers.h do. Compiles on any machine.
 */
#ifndef GAIT_X86_64_H
#define GAIT_X86_64_H

#include "gait/cpu_context.h"
#include "gait/cpu_registers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Their numbers in a context. */
enum gait_x86_64_register {
    GAIT_X86_64_RAX,
    GAIT_X86_64_RCX,
    GAIT_X86_64_RDX,
    GAIT_X86_64_RBX,
    GAIT_X86_64_RSP,
    GAIT_X86_64_RBP,
    GAIT_X86_64_RSI,
    GAIT_X86_64_RDI,
    GAIT_X86_64_R8,
    GAIT_X86_64_R9,
    GAIT_X86_64_R10,
    GAIT_X86_64_R11,
    GAIT_X86_64_R12,
    GAIT_X86_64_R13,
    GAIT_X86_64_R14,
    GAIT_X86_64_R15,
    GAIT_X86_64_REGISTER_COUNT,
};

#define gait_x86_64_rax(cpu)    ((cpu)->registers[GAIT_X86_64_RAX])
#define gait_x86_64_rcx(cpu)    ((cpu)->registers[GAIT_X86_64_RCX])
#define gait_x86_64_rdx(cpu)    ((cpu)->registers[GAIT_X86_64_RDX])
#define gait_x86_64_rbx(cpu)    ((cpu)->registers[GAIT_X86_64_RBX])
#define gait_x86_64_rsp(cpu)    ((cpu)->registers[GAIT_X86_64_RSP])
#define gait_x86_64_rbp(cpu)    ((cpu)->registers[GAIT_X86_64_RBP])
#define gait_x86_64_rsi(cpu)    ((cpu)->registers[GAIT_X86_64_RSI])
#define gait_x86_64_rdi(cpu)    ((cpu)->registers[GAIT_X86_64_RDI])
#define gait_x86_64_r8(cpu)     ((cpu)->registers[GAIT_X86_64_R8])
#define gait_x86_64_r9(cpu)     ((cpu)->registers[GAIT_X86_64_R9])
#define gait_x86_64_r10(cpu)    ((cpu)->registers[GAIT_X86_64_R10])
#define gait_x86_64_r11(cpu)    ((cpu)->registers[GAIT_X86_64_R11])
#define gait_x86_64_r12(cpu)    ((cpu)->registers[GAIT_X86_64_R12])
#define gait_x86_64_r13(cpu)    ((cpu)->registers[GAIT_X86_64_R13])
#define gait_x86_64_r14(cpu)    ((cpu)->registers[GAIT_X86_64_R14])
#define gait_x86_64_r15(cpu)    ((cpu)->registers[GAIT_X86_64_R15])

#define gait_x86_64_rip(cpu)    ((cpu)->pc)
#define gait_x86_64_rflags(cpu) ((cpu)->flags)

/* ---- vectors and floating-point numbers -------------------------------------------------------------------------- */

#define GAIT_X86_64_XMM_BYTES 16
#define GAIT_X86_64_YMM_BYTES 32
#define GAIT_X86_64_ZMM_BYTES 64
#define GAIT_X86_64_K_BYTES   8
#define GAIT_X86_64_ST_BYTES  10

/* Numbers of GAIT_REGISTER_CONTROL, of 4 bytes each. */
enum gait_x86_64_control {
    GAIT_X86_64_MXCSR,
    GAIT_X86_64_X87_CONTROL, /* 16 bits */
    GAIT_X86_64_X87_STATUS,  /* 16 bits */
    GAIT_X86_64_X87_IN_USE,  /* 8 bits, a bit for each register by its place, not counted from the top of the stack */
    GAIT_X86_64_CONTROL_COUNT,
};

/* A function to get and one to set a register of a kind: its lowest bytes, if it is wider on this machine. */
#define GAIT_X86_64_ACCESSORS(name, kind, count)                                                                       \
    static inline int gait_x86_64_##name##_get(const struct gait_cpu_context *cpu, unsigned number,                    \
                                               uint8_t bytes_out[count])                                               \
    {                                                                                                                  \
        return gait_cpu_register_get(cpu, kind, number, bytes_out, count);                                             \
    }                                                                                                                  \
    static inline int gait_x86_64_##name##_set(struct gait_cpu_context *cpu, unsigned number,                          \
                                               const uint8_t bytes[count])                                             \
    {                                                                                                                  \
        return gait_cpu_register_set(cpu, kind, number, bytes, count);                                                 \
    }

/* gait_x86_64_xmm_get(cpu, number, bytes_out), gait_x86_64_xmm_set(cpu, number, bytes), and so on. */
GAIT_X86_64_ACCESSORS(xmm, GAIT_REGISTER_VECTOR, GAIT_X86_64_XMM_BYTES)
GAIT_X86_64_ACCESSORS(ymm, GAIT_REGISTER_VECTOR, GAIT_X86_64_YMM_BYTES)
GAIT_X86_64_ACCESSORS(zmm, GAIT_REGISTER_VECTOR, GAIT_X86_64_ZMM_BYTES)

/* Of the x87, counted from the top of its stack. Which of them are in use is not changed by setting one. */
GAIT_X86_64_ACCESSORS(st, GAIT_REGISTER_FLOAT, GAIT_X86_64_ST_BYTES)
#undef GAIT_X86_64_ACCESSORS

static inline int gait_x86_64_k_get(const struct gait_cpu_context *cpu, unsigned number, uint64_t *value_out)
{
    return gait_cpu_register_get(cpu, GAIT_REGISTER_MASK, number, value_out, GAIT_X86_64_K_BYTES);
}

static inline int gait_x86_64_k_set(struct gait_cpu_context *cpu, unsigned number, uint64_t value)
{
    return gait_cpu_register_set(cpu, GAIT_REGISTER_MASK, number, &value, GAIT_X86_64_K_BYTES);
}

static inline int gait_x86_64_control_get(const struct gait_cpu_context *cpu, enum gait_x86_64_control which,
                                          uint32_t *value_out)
{
    return gait_cpu_register_get(cpu, GAIT_REGISTER_CONTROL, which, value_out, sizeof(*value_out));
}

static inline int gait_x86_64_control_set(struct gait_cpu_context *cpu, enum gait_x86_64_control which, uint32_t value)
{
    return gait_cpu_register_set(cpu, GAIT_REGISTER_CONTROL, which, &value, sizeof(value));
}

/* ---- bases of segments, which can only be looked at -------------------------------------------------------------- */

/* The thread pointer. */
static inline int gait_x86_64_fs_base(const struct gait_cpu_context *cpu, uint64_t *base_out)
{
    return gait_cpu_register_get(cpu, GAIT_REGISTER_BASE, 0, base_out, sizeof(*base_out));
}

/* What the program has there, also while gait has something else there. */
static inline int gait_x86_64_gs_base(const struct gait_cpu_context *cpu, uint64_t *base_out)
{
    return gait_cpu_register_get(cpu, GAIT_REGISTER_BASE, 1, base_out, sizeof(*base_out));
}

#ifdef __cplusplus
}
#endif

#endif
