/* SPDX-License-Identifier: MIT */
/*
 * Where the kernel's probes find what functions are called with: registers by the numbers that perf has for them, and
 * their places in what the kernel saves. Implemented once for each CPU in arch/<cpu>/host. Callable everywhere.
 */
#ifndef GAIT_ARCH_PERF_REGISTERS_H
#define GAIT_ARCH_PERF_REGISTERS_H

#include <stddef.h>
#include <stdint.h>

#define PERF_ARGUMENTS_MAX 8

struct perf_register {
    const char *name;      /* as assemblers write it, all of it */
    uint16_t perf_number;  /* its bit in perf's masks, too */
    uint16_t saved_offset; /* in struct pt_regs */
};

struct perf_registers {
    const struct perf_register *all; /* the general ones, by the machine's numbers */
    size_t count;
    uint8_t arguments[PERF_ARGUMENTS_MAX]; /* which of them have the arguments, in their order */
    size_t argument_count;
    uint8_t result;     /* which one has the result */
    uint16_t pc_number; /* perf's, of the pc, which is none of them */
};

/* Those of the CPU that this runs on. */
const struct perf_registers *perf_registers_host(void);

#endif
