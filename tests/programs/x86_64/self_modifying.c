/* SPDX-License-Identifier: MIT */
/* Code on a writable page: rewritten between calls, patched inside of a loop, and patched by itself just ahead. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static uint8_t *page;

/* mov $value, %eax; ret */
static void write_constant(uint8_t *at, uint32_t value)
{
    *at = 0xb8;
    memcpy(at + 1, &value, sizeof(value));
    at[5] = 0xc3;
}

static unsigned rewritten(void)
{
    unsigned (*function)(void) = (unsigned (*)(void))(uintptr_t)page;
    unsigned sum = 0;

    for (unsigned i = 0; i < 100; i++) {
        write_constant(page, i * i);
        sum = sum * 3 + function();
    }
    return sum;
}

/* Other instructions at the same place, of other lengths. */
static unsigned reshaped(void)
{
    static const uint8_t shapes[][8] = {
        {0x89, 0xf8, 0xff, 0xc0, 0xc3},                  /* mov %edi, %eax; inc %eax; ret */
        {0x8d, 0x04, 0xbf, 0xc3},                        /* lea (%rdi,%rdi,4), %eax; ret */
        {0x31, 0xc0, 0xeb, 0x01, 0xcc, 0xff, 0xc8, 0xc3} /* xor %eax, %eax; jmp +1; int3; dec %eax; ret */
    };
    unsigned (*function)(unsigned) = (unsigned (*)(unsigned))(uintptr_t)(page + 64);
    unsigned sum = 0;

    for (unsigned i = 0; i < 99; i++) {
        memcpy(page + 64, shapes[i % 3], sizeof(shapes[0]));
        sum = sum * 3 + function(i);
    }
    return sum;
}

/* A loop that adds to the immediate of its own first instruction, then one that writes the instruction it meets next.
 */
static unsigned patches_itself(void)
{
    static const uint8_t loop[] = {
        0x31, 0xc0,                            /* xor %eax, %eax */
        0xb9, 0x64, 0,    0,    0,             /* mov $100, %ecx */
        0x05, 1,    0,    0,    0,             /* again: add $1, %eax */
        0x83, 0x05, 0xf5, 0xff, 0xff, 0xff, 3, /* addl $3, again+1(%rip) */
        0xff, 0xc9, 0x75, 0xf0,                /* dec %ecx; jnz again */
        0x40, 0x88, 0x3d, 1,    0,    0,    0, /* mov %dil, ahead+1(%rip) */
        0x05, 0,    0,    0,    0,             /* ahead: add $0, %eax */
        0xc3,
    };
    unsigned (*function)(unsigned) = (unsigned (*)(unsigned))(uintptr_t)(page + 256);
    unsigned sum = 0;

    memcpy(page + 256, loop, sizeof(loop));
    for (unsigned i = 0; i < 20; i++)
        sum = sum * 3 + function(i);
    return sum;
}

int main(void)
{
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 1;
    printf("rewritten %08x\n", rewritten());
    printf("reshaped %08x\n", reshaped());
    printf("patches itself %08x\n", patches_itself());
    return 0;
}
