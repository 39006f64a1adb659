/* SPDX-License-Identifier: MIT */
/* Code made, protected, run and unmapped, and other code made at the same address. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define CODE_BYTES 4096

/* Compiles a chain of "x = x * factor + term": imul $factor, %edi, %edi; add $term, %edi; ...; mov %edi, %eax; ret */
static size_t compile(uint8_t *at, unsigned steps, unsigned seed)
{
    uint8_t *start = at;

    for (unsigned i = 0; i < steps; i++) {
        uint32_t factor = seed * 2 + i * 2 + 1, term = seed ^ i;

        *at++ = 0x69;
        *at++ = 0xff;
        memcpy(at, &factor, 4);
        at += 4;
        *at++ = 0x81;
        *at++ = 0xc7;
        memcpy(at, &term, 4);
        at += 4;
    }
    *at++ = 0x89;
    *at++ = 0xf8;
    *at++ = 0xc3;
    return (size_t)(at - start);
}

static unsigned run(uint8_t *code, unsigned value)
{
    unsigned (*function)(unsigned) = (unsigned (*)(unsigned))(uintptr_t)code;
    unsigned result = value;

    for (int i = 0; i < 10; i++)
        result = function(result);
    return result;
}

/* At the given address if not NULL. */
static uint8_t *map_compiled(uint8_t *wanted, unsigned steps, unsigned seed)
{
    int fixed = wanted != NULL ? MAP_FIXED : 0;
    uint8_t *code = mmap(wanted, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);

    compile(code, steps, seed);
    mprotect(code, CODE_BYTES, PROT_READ | PROT_EXEC);
    return code;
}

int main(void)
{
    uint8_t *code = map_compiled(NULL, 3, 17), *reserved = code;

    printf("first %08x\n", run(code, 1));
    /* unmapped and mapped again */
    for (unsigned i = 0; i < 20; i++) {
        munmap(code, CODE_BYTES);
        code = map_compiled(reserved, i + 1, i);
        printf("again %u: %08x\n", i, run(code, i));
    }
    /* replaced without an unmap */
    for (unsigned i = 0; i < 20; i++) {
        code = map_compiled(reserved, 30 - i, i * 3);
        printf("over %u: %08x\n", i, run(code, i));
    }
    /* made writable and executable in turns */
    for (unsigned i = 0; i < 20; i++) {
        mprotect(code, CODE_BYTES, PROT_READ | PROT_WRITE);
        compile(code, i + 2, i * 5);
        mprotect(code, CODE_BYTES, PROT_READ | PROT_EXEC);
        printf("turn %u: %08x\n", i, run(code, i));
    }
    return munmap(code, CODE_BYTES);
}
