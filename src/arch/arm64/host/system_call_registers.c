/* SPDX-License-Identifier: MIT */
/* x0 to x30, sp, pc, pstate, as the kernel has them. svc #0; the number is in x8. */
#include "arch/system_call_registers.h"

#define X8 8
#define PC 32

const uint8_t *system_call_instruction(size_t *size_out)
{
    static const uint8_t bytes[] = {0x01, 0x00, 0x00, 0xd4};

    *size_out = sizeof(bytes);
    return bytes;
}

void system_call_registers_set(struct thread_registers *registers, uint64_t place, long number, const long *arguments)
{
    for (unsigned i = 0; i < 6; i++)
        registers->words[i] = (uint64_t)arguments[i];
    registers->words[X8] = (uint64_t)number;
    registers->words[PC] = place;
}

unsigned system_call_return_words(const uint8_t *bytes, size_t size_bytes)
{
    (void)bytes;
    (void)size_bytes;
    return 0;
}

uint64_t system_call_registers_set_returning(struct thread_registers *registers, unsigned return_words,
                                             uint64_t words_out[SYSTEM_CALL_RETURN_WORDS_MAX])
{
    (void)registers;
    (void)return_words;
    (void)words_out;
    return 0;
}

size_t system_call_shelter(uint8_t bytes_out[SYSTEM_CALL_SHELTER_BYTES], const struct thread_registers *back,
                           uint64_t mask)
{
    (void)bytes_out;
    (void)back;
    (void)mask;
    return 0;
}

long system_call_registers_number(const struct thread_registers *registers)
{
    return (long)registers->words[8];
}

long system_call_registers_result(const struct thread_registers *registers)
{
    return (long)registers->words[0];
}
