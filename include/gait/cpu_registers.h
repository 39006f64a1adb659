/* SPDX-License-Identifier: MIT */
/*
 * The registers that a context has no room for: those of vectors and floating-point numbers, and the thread pointer. A
 * function that is called with the context of a callout, a call probe, or a listener asks for those that it needs, and
 * may change them; the program goes on with that. Whoever does not ask pays nothing.
 *
 * Numbers and sizes are those of the machine that the program runs on. Headers with the names of CPUs have functions
 * with the names of a CPU's registers.
 *
 * All of these functions leave vector registers alone, and may be called by functions that do, too
 * (GAIT_CALLOUT_GENERAL_ONLY, struct gait_listener's general_only). For those the registers are saved and put back with
 * each call, since they are still in the CPU; for others they were saved before.
 */
#ifndef GAIT_CPU_REGISTERS_H
#define GAIT_CPU_REGISTERS_H

#include "gait/cpu_context.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gait_register_kind {
    GAIT_REGISTER_VECTOR = 1, /* xmm, ymm or zmm, whichever is widest here; v */
    GAIT_REGISTER_MASK,       /* k0 to k7 */
    GAIT_REGISTER_FLOAT,      /* st(0) to st(7) of the x87; their lower 8 bytes are the MMX registers */
    GAIT_REGISTER_CONTROL,    /* how floating-point numbers are computed with: numbers are in the header of the CPU */
    GAIT_REGISTER_BASE, /* 0: the thread pointer; 1: that of the other segment, if there is one. Cannot be changed */
};

/* How many registers of a kind this machine has, from number 0 on, and how many bytes each of them has; 0: none. */
unsigned gait_cpu_register_count(enum gait_register_kind kind);
size_t gait_cpu_register_bytes(enum gait_register_kind kind);

/*
 * The lowest size_bytes of a register of the program. The context must be the very one that the calling function was
 * called with, not a copy, on the thread that it was called on.
 *
 * -EINVAL: this machine has no such register, or it has fewer bytes, or size_bytes is 0; -ESRCH: it is no such context,
 * or that of GAIT_INVOCATION_UNWOUND, where only bases are known; -EOPNOTSUPP: they are not saved on this machine,
 * since they take too much memory.
 */
int gait_cpu_register_get(const struct gait_cpu_context *cpu, enum gait_register_kind kind, unsigned number,
                          void *bytes_out, size_t size_bytes);

/*
 * Changes the lowest size_bytes of it; the others stay what they are. Errors as above; -EPERM: the kind cannot be
 * changed; -EINVAL also for a value that the CPU refuses.
 */
int gait_cpu_register_set(struct gait_cpu_context *cpu, enum gait_register_kind kind, unsigned number,
                          const void *bytes, size_t size_bytes);

/* ---- what they are for ------------------------------------------------------------------------------------------- */

static inline int gait_cpu_vector_get(const struct gait_cpu_context *cpu, unsigned number, void *bytes_out,
                                      size_t size_bytes)
{
    return gait_cpu_register_get(cpu, GAIT_REGISTER_VECTOR, number, bytes_out, size_bytes);
}

static inline int gait_cpu_vector_set(struct gait_cpu_context *cpu, unsigned number, const void *bytes,
                                      size_t size_bytes)
{
    return gait_cpu_register_set(cpu, GAIT_REGISTER_VECTOR, number, bytes, size_bytes);
}

/* What thread-local variables are found by; 0: it is not known, as the context is none of those above. */
static inline uint64_t gait_cpu_thread_pointer(const struct gait_cpu_context *cpu)
{
    uint64_t pointer = 0;

    return gait_cpu_register_get(cpu, GAIT_REGISTER_BASE, 0, &pointer, sizeof(pointer)) == 0 ? pointer : 0;
}

/*
 * An argument of a type like float or double, when a function is entered: the size is that of the type. The number
 * counts only arguments of such types, from 0 on. -EINVAL also for those that are on the stack, from number
 * GAIT_CPU_FLOAT_ARGUMENT_COUNT on.
 */
static inline int gait_cpu_float_argument_get(const struct gait_cpu_context *cpu, unsigned number, void *value_out,
                                              size_t size_bytes)
{
    return gait_cpu_vector_get(cpu, number < GAIT_CPU_FLOAT_ARGUMENT_COUNT ? number : GAIT_CPU_NO_REGISTER, value_out,
                               size_bytes);
}

static inline int gait_cpu_float_argument_set(struct gait_cpu_context *cpu, unsigned number, const void *value,
                                              size_t size_bytes)
{
    return gait_cpu_vector_set(cpu, number < GAIT_CPU_FLOAT_ARGUMENT_COUNT ? number : GAIT_CPU_NO_REGISTER, value,
                               size_bytes);
}

/* What a function of such a type returns, when it has returned. */
static inline int gait_cpu_float_result_get(const struct gait_cpu_context *cpu, void *value_out, size_t size_bytes)
{
    return gait_cpu_vector_get(cpu, 0, value_out, size_bytes);
}

static inline int gait_cpu_float_result_set(struct gait_cpu_context *cpu, const void *value, size_t size_bytes)
{
    return gait_cpu_vector_set(cpu, 0, value, size_bytes);
}

#ifdef __cplusplus
}
#endif

#endif
