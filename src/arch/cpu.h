/* SPDX-License-Identifier: MIT */
/*
 * A CPU: what gait has for it. One line in arch/cpus.def and one `const struct cpu cpu_<cpu>` in arch/<cpu>/cpu.c make
 * it known; docs/howto/add_architecture.md says what to write in which order. All CPUs are in every build, so that
 * files and code of each can be read everywhere.
 *
 * Constants: no libc, no state; usable inside the target, from any thread.
 */
#ifndef GAIT_ARCH_CPU_H
#define GAIT_ARCH_CPU_H

#include <stddef.h>

struct abi;
struct arch;
struct engine;

struct cpu {
    const char *name; /* of its folder in src/arch */
    const struct abi *abi;
    const struct arch *arch;     /* NULL: its instructions are not known */
    const struct engine *engine; /* NULL: threads cannot be followed, functions not hooked */
};

/* CPU number `index`, from 0 on; NULL: that many there are not. */
const struct cpu *cpu_at(size_t index);

/* The CPU that this program runs on. In arch/<cpu>/host. */
const struct cpu *cpu_host(void);

#endif
