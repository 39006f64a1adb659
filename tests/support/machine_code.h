/* SPDX-License-Identifier: MIT */
/*
 * The little machine code that tests of executable memory need, for each CPU: a function that returns a constant, and
 * the one aligned store that changes the constant. Constants are below 65536.
 */
#ifndef GAIT_TESTS_MACHINE_CODE_H
#define GAIT_TESTS_MACHINE_CODE_H

#include "base/code_writer.h"

#include <stdint.h>

/* The offset and the size of the store. */
#define MACHINE_CODE_PATCH_OFFSET 4
#define MACHINE_CODE_PATCH_BYTES  4

#if defined(__x86_64__)

static inline uint32_t machine_code_patch(uint16_t constant)
{
    return constant;
}

/* nop; nop; nop; mov eax, constant; ret */
static inline void machine_code_put_function(struct code_writer *writer, uint16_t constant)
{
    code_writer_put_u32(writer, 0xb8909090);
    code_writer_put_u32(writer, machine_code_patch(constant));
    code_writer_put_u8(writer, 0xc3);
}

#elif defined(__aarch64__)

static inline uint32_t machine_code_patch(uint16_t constant)
{
    return 0x52800000 | (uint32_t)constant << 5;
}

/* nop; movz w0, constant; ret */
static inline void machine_code_put_function(struct code_writer *writer, uint16_t constant)
{
    code_writer_put_u32(writer, 0xd503201f);
    code_writer_put_u32(writer, machine_code_patch(constant));
    code_writer_put_u32(writer, 0xd65f03c0);
}

#endif

static inline unsigned machine_code_call(struct cache_pc pc)
{
    return ((unsigned (*)(void))(uintptr_t)pc.value)();
}

#endif
