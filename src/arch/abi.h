/* SPDX-License-Identifier: MIT */
/*
 * What Linux, ELF files and compilers agree on for a CPU: numbers and tables, apart from the code that it executes,
 * which is in arch.h. A `const struct abi abi_<cpu>` in arch/<cpu>/abi/abi.c that arch/<cpu>/cpu.c names; every CPU has
 * one. All of them are in every build, so that files of any
 * CPU can be read everywhere.
 *
 * Constants: no libc, no state; usable inside the target, from any thread.
 */
#ifndef GAIT_ARCH_ABI_H
#define GAIT_ARCH_ABI_H

#include "elf/image.h"
#include "elf/probe_arguments.h"

#include <stdbool.h>
#include <stdint.h>

/* Where a tracer finds a register of a stopped thread: in a register set of ptrace (NT_*), from some byte on. */
struct abi_register_place {
    unsigned set;
    unsigned offset;
    unsigned size_bytes;
};

/*
 * Whether the CPU compares return addresses with what calls left, in a process: /proc/<pid>/status has a line that
 * begins with `line` and has `word` in it. Then `remedy` is what makes a program start without.
 */
struct abi_return_guard {
    const char *line; /* NULL: no system does that, so far */
    const char *word;
    const char *remedy;
};

struct abi {
    const char *name; /* of the CPU's folder in src/arch */
    struct elf_machine elf;
    uint32_t audit_arch;                   /* AUDIT_ARCH_*, of its 64-bit system calls */
    unsigned vector_set;                   /* the register set with all vector registers */
    struct abi_register_place call_number; /* at the beginning of a system call: which one the kernel will make */
    struct abi_register_place call_result; /* at its end */
    struct abi_return_guard return_guard;
    const char *const
        *frame_steps; /* functions of libraries that go from a frame to its caller; NULL behind the last */
    probe_operand_reader read_probe_operand; /* as the CPU's assembler writes it */
};

/* NULL: a machine whose conventions gait does not know. */
const struct abi *abi_by_elf_machine(unsigned machine);

/* That machine's read_probe_operand, or NULL. */
probe_operand_reader abi_probe_operands(unsigned machine);

/* Of the CPU that this program runs on. Never NULL. */
const struct abi *abi_host(void);

#endif
