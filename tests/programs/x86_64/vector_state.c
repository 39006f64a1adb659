/* SPDX-License-Identifier: MIT */
/* Vector, mask and x87 registers and their control words live on across calls, loops and indirect branches. */
#include <cpuid.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void xmm_across(const void *in, void *out, void (*callee)(void));
void ymm_across(const void *in, void *out, void (*callee)(void));
void zmm_across(const void *in, void *out, void (*callee)(void));
void mask_across(const void *in, void *out, void (*callee)(void));
void x87_across(const void *in, void *out, void (*callee)(void));
uint64_t control_across(uint64_t mxcsr_and_control, void (*callee)(void));
void vector_leaf(void);

#define BRANCHES                                                                                                       \
    "    call vector_leaf\n"                                                                                           \
    "    mov $50, %ecx\n"                                                                                              \
    "7:  call *%rdx\n"                                                                                                 \
    "    lea 8f(%rip), %rax\n"                                                                                         \
    "    jmp *%rax\n"                                                                                                  \
    "    ud2\n"                                                                                                        \
    "8:  dec %ecx\n"                                                                                                   \
    "    jnz 7b\n"

#define FUNCTION(name, body) __asm__(".text\n.globl " name "\n" name ":\n.altmacro\n" body "    ret\n.noaltmacro\n")

FUNCTION("vector_leaf", "");
FUNCTION("xmm_across",
         ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
         "    movups \\n*16(%rdi), %xmm\\n\n.endr\n" BRANCHES ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
         "    movups %xmm\\n, \\n*16(%rsi)\n.endr\n");
FUNCTION("ymm_across",
         ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
         "    vmovups \\n*32(%rdi), %ymm\\n\n.endr\n" BRANCHES ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
         "    vmovups %ymm\\n, \\n*32(%rsi)\n.endr\n    vzeroupper\n");
FUNCTION("zmm_across",
         ".irp n, 0,1,2,3,4,5,6,7,15,16,17,18,30,31\n"
         "    vmovups \\n*64(%rdi), %zmm\\n\n.endr\n" BRANCHES ".irp n, 0,1,2,3,4,5,6,7,15,16,17,18,30,31\n"
         "    vmovups %zmm\\n, \\n*64(%rsi)\n.endr\n    vzeroupper\n");
FUNCTION("mask_across", ".irp n, 0,1,2,3,4,5,6,7\n    kmovw \\n*2(%rdi), %k\\n\n.endr\n" BRANCHES
                        ".irp n, 0,1,2,3,4,5,6,7\n    kmovw %k\\n, \\n*2(%rsi)\n.endr\n");
FUNCTION("x87_across", ".irp n, 0,1,2,3,4,5,6,7\n    fldl \\n*8(%rdi)\n.endr\n" BRANCHES
                       ".irp n, 7,6,5,4,3,2,1,0\n    fstpl \\n*8(%rsi)\n.endr\n");
FUNCTION("control_across", "    mov %rsi, %rdx\n    push %rdi\n    ldmxcsr (%rsp)\n    fldcw 4(%rsp)\n" BRANCHES
                           "    movq $0, (%rsp)\n    stmxcsr (%rsp)\n    fnstcw 4(%rsp)\n    pop %rax\n"
                           "    push $0x1f80\n    ldmxcsr (%rsp)\n    movl $0x37f, (%rsp)\n    fldcw (%rsp)\n"
                           "    pop %rcx\n");

static uint8_t in[2048], out[2048];

static void show(const char *what, void (*across)(const void *, void *, void (*)(void)), size_t bytes)
{
    uint64_t sum = 0;

    memset(out, 0, sizeof(out));
    across(in, out, vector_leaf);
    for (size_t i = 0; i < bytes; i++)
        sum = sum * 31 + out[i];
    printf("%s: %016lx\n", what, (unsigned long)sum);
}

int main(void)
{
    double numbers[8] = {1, -2.5, 1e300, 0.125, 3.14159, -0.0, 7, 42};

    for (unsigned i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i * 37 + 11);
    show("xmm", xmm_across, 256);
    if (__builtin_cpu_supports("avx"))
        show("ymm", ymm_across, 512);
    if (__builtin_cpu_supports("avx512f")) {
        show("zmm", zmm_across, 2048);
        show("masks", mask_across, 16);
    }
    memcpy(in, numbers, sizeof(numbers));
    show("x87", x87_across, sizeof(numbers));
    printf("controls: %lx\n", (unsigned long)control_across(0x027f00003f80, vector_leaf));
    printf("controls: %lx\n", (unsigned long)control_across(0x0f7f00009fc0, vector_leaf));
    return 0;
}
