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

#define SHELTER_CODE_BYTES 104u /* with what makes it a multiple of 8 */

/* An instruction whose operand is the word of that number behind the code. */
static uint8_t *put_with_word(uint8_t *place, const uint8_t *start, const uint8_t *opcode, size_t opcode_bytes,
                              unsigned word)
{
    const uint8_t *next = place + opcode_bytes + sizeof(uint32_t);
    uint32_t distance = (uint32_t)(start + SHELTER_CODE_BYTES + word * sizeof(uint64_t) - next);

    __builtin_memcpy(place, opcode, opcode_bytes);
    __builtin_memcpy(place + opcode_bytes, &distance, sizeof(distance));
    return place + opcode_bytes + sizeof(distance);
}

static uint8_t *put(uint8_t *place, const void *bytes, size_t size_bytes)
{
    __builtin_memcpy(place, bytes, size_bytes);
    return place + size_bytes;
}

size_t system_call_shelter(uint8_t bytes_out[SYSTEM_CALL_SHELTER_BYTES], const struct thread_registers *back,
                           uint64_t mask)
{
    /* syscall; then rt_sigprocmask(SIG_SETMASK, &mask, NULL, 8), without changing flags */
    static const uint8_t call[] = {0x0f, 0x05, 0xb8, 14, 0, 0, 0, 0xbf, 2, 0, 0, 0};
    static const uint8_t load_mask[] = {0x48, 0x8d, 0x35};
    static const uint8_t set_mask[] = {0xba, 0, 0, 0, 0, 0x41, 0xba, 8, 0, 0, 0, 0x0f, 0x05};
    /* mov to rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11: what system calls change, or have their arguments in */
    static const uint8_t loads[][3] = {{0x48, 0x8b, 0x05}, {0x48, 0x8b, 0x0d}, {0x48, 0x8b, 0x15},
                                       {0x48, 0x8b, 0x35}, {0x48, 0x8b, 0x3d}, {0x4c, 0x8b, 0x05},
                                       {0x4c, 0x8b, 0x0d}, {0x4c, 0x8b, 0x15}, {0x4c, 0x8b, 0x1d}};
    static const uint8_t jump[] = {0xff, 0x25};
    const struct x86_user_registers *user = x86_user_registers_const(back);
    const uint64_t words[] = {mask,     user->rax, user->rcx, user->rdx, user->rsi, user->rdi,
                              user->r8, user->r9,  user->r10, user->r11, user->rip};
    uint8_t *place = bytes_out;
    unsigned word = 0;

    _Static_assert(SHELTER_CODE_BYTES + sizeof(words) <= SYSTEM_CALL_SHELTER_BYTES, "there is room");
    __builtin_memset(bytes_out, 0xcc, SYSTEM_CALL_SHELTER_BYTES);
    place = put(place, call, sizeof(call));
    place = put_with_word(place, bytes_out, load_mask, sizeof(load_mask), word++);
    place = put(place, set_mask, sizeof(set_mask));
    for (; word <= sizeof(loads) / sizeof(loads[0]); word++)
        place = put_with_word(place, bytes_out, loads[word - 1], sizeof(loads[0]), word);
    (void)put_with_word(place, bytes_out, jump, sizeof(jump), word);
    (void)put(bytes_out + SHELTER_CODE_BYTES, words, sizeof(words));
    return SHELTER_CODE_BYTES + sizeof(words);
}

long system_call_registers_number(const struct thread_registers *registers)
{
    return (long)x86_user_registers_const(registers)->orig_rax;
}

long system_call_registers_result(const struct thread_registers *registers)
{
    return (long)x86_user_registers_const(registers)->rax;
}
