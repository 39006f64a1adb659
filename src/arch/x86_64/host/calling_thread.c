/* SPDX-License-Identifier: MIT */
/*
 * A function that gives the address of a thread's variable adds two numbers in rax: what stands at fs:0, which is the
 * thread pointer itself, and the distance of the variable, which is part of the code or a word that the dynamic linker
 * has filled in.
 */
#include "arch/calling_thread.h"

#include "base/raw_syscall.h"
#include "stalker/program_memory.h"

#include <asm/prctl.h>
#include <asm/unistd.h>
#include <stddef.h>

uint64_t calling_thread_pointer(void)
{
    uint64_t base = 0;

    return raw_syscall(__NR_arch_prctl, ARCH_GET_FS, (long)&base, 0, 0, 0, 0) == 0 ? base : 0;
}

/* One instruction, which no signal comes into the middle of. */
uint64_t calling_thread_add(_Atomic uint64_t *word, uint64_t more)
{
    __asm__ volatile("xaddq %0, %1" : "+r"(more), "+m"(*word) : : "cc");
    return more;
}

void calling_thread_vectors(uint64_t values_out[CALLING_THREAD_VECTORS])
{
    __asm__ volatile("movq %%xmm0, 0(%0)\n\t"
                     "movq %%xmm1, 8(%0)\n\t"
                     "movq %%xmm2, 16(%0)\n\t"
                     "movq %%xmm3, 24(%0)\n\t"
                     "movq %%xmm4, 32(%0)\n\t"
                     "movq %%xmm5, 40(%0)\n\t"
                     "movq %%xmm6, 48(%0)\n\t"
                     "movq %%xmm7, 56(%0)"
                     :
                     : "r"(values_out)
                     : "memory");
}

struct accessor_reading {
    const struct variable_function *function;
    const uint8_t *at;
    const uint8_t *end;
    bool is_understood;
    bool has_pointer; /* it was added */
    uint64_t sum;
};

static bool pass(struct accessor_reading *reading, const char *code, size_t size_bytes)
{
    if ((size_t)(reading->end - reading->at) < size_bytes || __builtin_memcmp(reading->at, code, size_bytes) != 0)
        return false;
    reading->at += size_bytes;
    return true;
}

#define PASS(reading, code) pass(reading, code, sizeof(code) - 1)

/* The operand that ends the instruction. */
static uint64_t take_number(struct accessor_reading *reading, size_t size_bytes)
{
    int32_t word = 0;

    if ((size_t)(reading->end - reading->at) < size_bytes) {
        reading->is_understood = false;
        return 0;
    }
    __builtin_memcpy(&word, reading->at, size_bytes);
    reading->at += size_bytes;
    return (uint64_t)(int64_t)(size_bytes == 1 ? (int8_t)word : word);
}

static uint64_t take_word(struct accessor_reading *reading)
{
    uint64_t distance = take_number(reading, 4), offset = (uint64_t)(reading->at - reading->function->code);
    uint64_t place = reading->function->address + offset + distance, word = 0;

    if (place % sizeof(word) != 0 || !program_memory_is_readable(place, sizeof(word)))
        reading->is_understood = false;
    else
        word = *(const uint64_t *)(uintptr_t)place;
    return word;
}

static void add_pointer(struct accessor_reading *reading)
{
    reading->is_understood &= !reading->has_pointer;
    reading->has_pointer = true;
}

/* One instruction behind the other; what sets rax may only be the first. */
static void take_insn(struct accessor_reading *reading, bool is_first)
{
    if (is_first && PASS(reading, "\x48\x8b\x05")) /* mov rax, [rip + d] */
        reading->sum += take_word(reading);
    else if (is_first && PASS(reading, "\x48\xc7\xc0")) /* mov rax, d */
        reading->sum += take_number(reading, 4);
    else if (is_first && PASS(reading, "\x64\x48\x8b\x04\x25\0\0\0\0")) /* mov rax, fs:0 */
        add_pointer(reading);
    else if (!is_first && PASS(reading, "\x64\x48\x03\x04\x25\0\0\0\0")) /* add rax, fs:0 */
        add_pointer(reading);
    else if (!is_first && PASS(reading, "\x48\x03\x05")) /* add rax, [rip + d] */
        reading->sum += take_word(reading);
    else if (!is_first && PASS(reading, "\x48\x83\xc0")) /* add rax, d */
        reading->sum += take_number(reading, 1);
    else if (!is_first && (PASS(reading, "\x48\x05") || PASS(reading, "\x48\x8d\x80"))) /* add rax, d; lea */
        reading->sum += take_number(reading, 4);
    else
        reading->is_understood = false;
}

bool variable_function_read(uint64_t address, struct variable_function *function_out)
{
    if (!program_memory_is_readable(address, sizeof(function_out->code)))
        return false;
    function_out->address = address;
    __builtin_memcpy(function_out->code, (const void *)(uintptr_t)address, sizeof(function_out->code));
    return true;
}

uint64_t calling_thread_variable(const struct variable_function *function)
{
    struct accessor_reading reading = {
        .function = function,
        .at = function->code,
        .end = function->code + sizeof(function->code),
        .is_understood = true,
    };
    uint64_t pointer;
    bool is_first = true;

    (void)PASS(&reading, "\xf3\x0f\x1e\xfa"); /* endbr64 */
    for (; !PASS(&reading, "\xc3"); is_first = false) {
        take_insn(&reading, is_first);
        if (!reading.is_understood)
            return 0;
    }
    pointer = calling_thread_pointer();
    return reading.has_pointer && pointer != 0 ? pointer + reading.sum : 0;
}
