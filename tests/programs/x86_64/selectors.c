/* SPDX-License-Identifier: MIT */
/* The selectors of all segments, read in every way: into registers, memory and onto the stack. */
#include <stdint.h>
#include <stdio.h>

#define READ(name)                                                                                                     \
    do {                                                                                                               \
        uint64_t wide = ~0ull;                                                                                         \
        uint16_t stored = 0xffff;                                                                                      \
                                                                                                                       \
        __asm__ volatile("mov %%" #name ", %0" : "=r"(wide));                                                          \
        __asm__ volatile("mov %%" #name ", %0" : "=m"(stored));                                                        \
        printf(#name " %lx %x\n", (unsigned long)wide, stored);                                                        \
    } while (0)

int main(void)
{
    uint64_t pushed_fs, pushed_gs;

    READ(cs);
    READ(ds);
    READ(es);
    READ(fs);
    READ(gs);
    READ(ss);
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushq %%fs; popq %0; pushq %%gs; popq %1; lea 128(%%rsp), %%rsp"
                     : "=r"(pushed_fs), "=r"(pushed_gs)
                     :
                     : "memory");
    printf("pushed %lx %lx\n", (unsigned long)pushed_fs, (unsigned long)pushed_gs);
    return 0;
}
