/* SPDX-License-Identifier: MIT */
/* A function of one byte with no room behind it, which only a breakpoint could stop, and others. Ends with 3. */
#include <stdio.h>

void tight(void);
void tight_too(void);

__asm__(".pushsection .text\n"
        ".globl tight\n.type tight, @function\n.p2align 4\ntight: ret\n.size tight, 1\n"
        ".globl tight_too\n.type tight_too, @function\ntight_too: ret\n.size tight_too, 1\n"
        ".fill 300, 1, 0xc3\n"
        ".popsection");

__attribute__((noinline)) static int twice(int number)
{
    __asm__ volatile(".fill 8, 1, 0x90" : "+r"(number));
    return 2 * number;
}

__attribute__((noinline)) static int thrice(int number)
{
    __asm__ volatile(".fill 8, 1, 0x90" : "+r"(number));
    return 3 * number;
}

int main(void)
{
    tight();
    tight_too();
    printf("%d\n", twice(21) + thrice(1));
    return 3;
}
