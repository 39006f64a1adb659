/* SPDX-License-Identifier: MIT */
#include "arch/system_call_registers.h"

#include "arch/x86_64/isa/user_registers.h"

const uint8_t *system_call_instruction(size_t *size_out)
{
    static const uint8_t bytes[] = {0x0f, 0x05};

    *size_out = sizeof(bytes);
    return bytes;
}

void system_call_registers_set(struct thread_registers *registers, uint64_t place, long number, const long *arguments)
{
    struct x86_user_registers *user = x86_user_registers(registers);

    user->rip = place;
    user->orig_rax = UINT64_MAX;
    user->rax = (uint64_t)number;
    user->rdi = (uint64_t)arguments[0];
    user->rsi = (uint64_t)arguments[1];
    user->rdx = (uint64_t)arguments[2];
    user->r10 = (uint64_t)arguments[3];
    user->r8 = (uint64_t)arguments[4];
    user->r9 = (uint64_t)arguments[5];
}

/* xor of a register with itself: compilers clear those that a function used. Its length; 0: it is none. */
static size_t cleared_bytes(const uint8_t *bytes, size_t size_bytes)
{
    size_t prefix = size_bytes > 0 && (bytes[0] & 0xf0) == 0x40;

    if (size_bytes < prefix + 2 || bytes[prefix] != 0x31 || bytes[prefix + 1] < 0xc0 ||
        (bytes[prefix + 1] >> 3 & 7) != (bytes[prefix + 1] & 7))
        return 0;
    return prefix + 2;
}

unsigned system_call_return_words(const uint8_t *bytes, size_t size_bytes)
{
    unsigned words = 1;

    for (size_t i = 2, cleared; i < size_bytes; i += cleared) {
        cleared = cleared_bytes(bytes + i, size_bytes - i);
        if (bytes[i] == 0xc3) /* ret */
            return words;
        if ((bytes[i] == 0xc9 || bytes[i] == 0x5d) && words == 1) { /* leave, pop rbp */
            words = 2;
            cleared = 1;
        }
        if (cleared == 0)
            return 0;
    }
    return 0;
}

uint64_t system_call_registers_set_returning(struct thread_registers *registers, unsigned return_words,
                                             uint64_t words_out[SYSTEM_CALL_RETURN_WORDS_MAX])
{
    struct x86_user_registers *user = x86_user_registers(registers);
    uint64_t place = user->rsp - return_words * sizeof(uint64_t);

    words_out[0] = user->rbp;
    words_out[return_words - 1] = user->rip;
    user->rsp = place;
    if (return_words == 2)
        user->rbp = place;
    return place;
}

long system_call_registers_number(const struct thread_registers *registers)
{
    return (long)x86_user_registers_const(registers)->orig_rax;
}

long system_call_registers_result(const struct thread_registers *registers)
{
    return (long)x86_user_registers_const(registers)->rax;
}
