/* SPDX-License-Identifier: MIT */
/* What lies in the 128 bytes below the stack pointer lives on across direct, conditional and indirect jumps. */
#include <stdint.h>
#include <stdio.h>

uint64_t red_zone_across(uint64_t seed, const void *unused, uint64_t rounds);

__asm__(".data\n"
        "targets: .quad first_target, second_target\n"
        ".text\n"
        ".globl red_zone_across\n"
        "red_zone_across:\n"
        ".altmacro\n"
        ".irp slot, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n"
        "    lea \\slot(%rdi), %rax\n"
        "    mov %rax, -8*\\slot(%rsp)\n"
        ".endr\n"
        "1:  mov %edx, %eax\n"
        "    and $1, %eax\n"
        "    lea targets(%rip), %rcx\n"
        "    jmp *(%rcx,%rax,8)\n"
        "    ud2\n"
        "first_target:\n"
        "    incq -8(%rsp)\n"
        "    jmp 2f\n"
        "second_target:\n"
        "    incq -128(%rsp)\n"
        "    mov -64(%rsp), %r8\n"
        "    lea 2f(%rip), %r9\n"
        "    mov %r9, -64(%rsp)\n"
        "    jmp *-64(%rsp)\n"
        "2:  mov %rdx, %rax\n"
        "    and $1, %eax\n"
        "    jnz 3f\n"
        "    mov %r8, -64(%rsp)\n"
        "    jmp 4f\n"
        "3:  test %r8, %r8\n"
        "    jz 4f\n"
        "    mov %r8, -64(%rsp)\n"
        "4:  dec %rdx\n"
        "    jnz 1b\n"
        "    mov $0, %eax\n"
        ".irp slot, 1,2,3,4,5,6,7,9,10,11,12,13,14,15,16\n"
        "    imul $31, %rax, %rax\n"
        "    add -8*\\slot(%rsp), %rax\n"
        ".endr\n"
        "    ret\n"
        ".noaltmacro\n");

/* A leaf whose locals the compiler keeps in the red zone. */
static __attribute__((noinline)) unsigned leaf(unsigned value)
{
    volatile unsigned local[20];

    for (unsigned i = 0; i < 20; i++)
        local[i] = value + i;
    switch (value % 7) {
    case 0:
        local[3] ^= 0x10;
        break;
    case 1:
        local[4] += local[5];
        break;
    case 2:
        local[9] -= local[8] * 3;
        break;
    case 3:
        local[11] |= 0x1000;
        break;
    case 4:
        local[0] = local[19];
        break;
    case 5:
        local[13] = ~local[12];
        break;
    default:
        break;
    }
    unsigned sum = 0;
    for (unsigned i = 0; i < 20; i++)
        sum = sum * 17 + local[i];
    return sum;
}

int main(void)
{
    unsigned sum = 0;

    printf("%016lx\n", (unsigned long)red_zone_across(1000, NULL, 1));
    printf("%016lx\n", (unsigned long)red_zone_across(77777, NULL, 1000));
    for (unsigned i = 0; i < 10000; i++)
        sum = sum * 3 + leaf(i);
    printf("%08x\n", sum);
    return 0;
}
