/* SPDX-License-Identifier: MIT */
/* All sixteen conditions, near and far encoded, for every combination of the flags they look at. */
#include <stdint.h>
#include <stdio.h>

uint64_t conditions_short(uint64_t flags);
uint64_t conditions_long(uint64_t flags);

/* Bit n of the result: condition n was taken. mov, lea and bt leave alone what is still to be looked at. */
#define CONDITIONS "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"

__asm__(".text\n"
        ".globl conditions_short\n"
        "conditions_short:\n"
        "    mov $0, %eax\n"
        ".altmacro\n"
        ".irp n, " CONDITIONS "\n"
        "    push %rdi\n"
        "    popfq\n"
        "    .byte 0x70 + \\n, 2\n"
        "    jmp 1f\n"
        "    lea (1 << \\n)(%rax), %rax\n"
        "1:\n"
        ".endr\n"
        "    ret\n"
        ".globl conditions_long\n"
        "conditions_long:\n"
        "    mov $0, %eax\n"
        "    push %rdi\n"
        "    popfq\n"
        ".irp n, " CONDITIONS "\n"
        "    .byte 0x0f, 0x80 + \\n\n"
        "    .long 5\n"
        "    jmp 1f\n"
        "    .skip 3, 0xcc\n"
        "    lea (1 << \\n)(%rax), %rax\n"
        "1:\n"
        ".endr\n"
        "    ret\n"
        ".noaltmacro\n");

int main(void)
{
    static const unsigned bits[] = {0x1, 0x4, 0x40, 0x80, 0x800};
    int wrong = 0;

    for (unsigned combination = 0; combination < 32; combination++) {
        uint64_t flags = 0x202, taken;

        for (unsigned i = 0; i < 5; i++)
            flags |= combination >> i & 1 ? bits[i] : 0;
        taken = conditions_short(flags);
        wrong += taken != conditions_long(flags);
        printf("flags %03lx: taken %04lx\n", (unsigned long)flags, (unsigned long)taken);
    }
    return wrong != 0;
}
