/* SPDX-License-Identifier: MIT */
/* Nothing is decoded: the two bytes of `syscall` are looked for, eight places at a time. No state. */
#include "arch/x86_64/hook/system_call_sites.h"

#include "arch/x86_64/hook/hook_code.h"
#include "hook/hook_planner.h"

#define NUMBER_OF_RETURN 15 /* rt_sigreturn */

/* `mov $15, %rax` or `%eax` right before it. */
bool x86_system_call_is_known(const struct hook_code *code, uint64_t before, uint64_t at)
{
    const uint8_t *bytes = code->bytes + (before - code->start);
    uint64_t length = at - before;

    return (length == 5 && bytes[0] == 0xb8 && bytes[1] == NUMBER_OF_RETURN && bytes[2] == 0) ||
           (length == 7 && bytes[0] == 0x48 && bytes[1] == 0xc7 && bytes[2] == 0xc0 && bytes[3] == NUMBER_OF_RETURN &&
            bytes[4] == 0);
}

#define EACH_BYTE(value) (0x0101010101010101u * (value))

/* Whether the second to eighth byte are 0x05 behind 0x0f anywhere; says so where they nearly are, too. */
static bool may_have_call(const uint8_t *bytes)
{
    uint64_t word, difference;

    __builtin_memcpy(&word, bytes, sizeof(word));
    difference = (word ^ EACH_BYTE(0x05u)) | ((word << 8) ^ EACH_BYTE(0x0fu));
    return ((difference - EACH_BYTE(0x01u)) & ~difference & EACH_BYTE(0x80u)) != 0;
}

/* Whatever the two bytes are there. */
uint64_t x86_system_call_next(const struct hook_code *code, uint64_t from)
{
    uint64_t size_bytes = code->end - code->start, readable_bytes = code->readable_end - code->start;
    uint64_t at = from - code->start;

    while (at < size_bytes && at + X86_SYSTEM_CALL_BYTES <= readable_bytes) {
        if (at + sizeof(uint64_t) <= readable_bytes && !may_have_call(code->bytes + at)) {
            at += sizeof(uint64_t) - 1;
            continue;
        }
        if (code->bytes[at] == 0x0f && code->bytes[at + 1] == 0x05)
            return code->start + at;
        at++;
    }
    return code->end;
}
