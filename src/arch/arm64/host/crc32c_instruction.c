/* SPDX-License-Identifier: MIT */
/* Not used yet on this CPU: whether it has the instruction is told by the kernel only, at the program's start. */
#include "base/crc32c_instruction.h"

bool crc32c_instruction_exists(void)
{
    return false;
}

uint32_t crc32c_instruction_run(uint32_t state, const void *bytes, size_t size_bytes)
{
    (void)bytes;
    (void)size_bytes;
    return state;
}
