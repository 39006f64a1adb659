/* SPDX-License-Identifier: MIT */
/* loop, loope, loopne, jrcxz and jecxz, taken and not, with 64 and 32 bits of rcx. */
#include <stdint.h>
#include <stdio.h>

#define COUNTING(name, branch)                                                                                         \
    uint64_t name(uint64_t count, uint64_t stop, uint64_t *count_out);                                                 \
    __asm__(".text\n.globl " #name "\n" #name ":\n"                                                                    \
            "    mov %rdi, %rcx\n"                                                                                     \
            "    mov $0, %eax\n"                                                                                       \
            "1:  inc %rax\n"                                                                                           \
            "    cmp %rsi, %rax\n" branch " 1b\n"                                                                      \
            "    mov %rcx, (%rdx)\n"                                                                                   \
            "    ret\n")

#define ZERO(name, branch)                                                                                             \
    uint64_t name(uint64_t count, uint64_t stop, uint64_t *count_out);                                                 \
    __asm__(".text\n.globl " #name "\n" #name ":\n"                                                                    \
            "    mov %rdi, %rcx\n"                                                                                     \
            "    mov $0, %eax\n"                                                                                       \
            "    stc\n" branch " 1f\n"                                                                                 \
            "    mov $1, %eax\n"                                                                                       \
            "1:  adc $0x10, %rax\n"                                                                                    \
            "    mov %rcx, (%rdx)\n"                                                                                   \
            "    ret\n")

COUNTING(count_loop, "    loop");
COUNTING(count_loope, "    loope");
COUNTING(count_loopne, "    loopne");
COUNTING(count_loop_32, "    addr32 loop");
COUNTING(count_loope_32, "    addr32 loope");
COUNTING(count_loopne_32, "    addr32 loopne");
ZERO(jump_rcxz, "    jrcxz");
ZERO(jump_ecxz, "    jecxz");

static const struct {
    const char *name;
    uint64_t (*function)(uint64_t count, uint64_t stop, uint64_t *count_out);
} cases[] = {{"loop", count_loop},       {"loope", count_loope},       {"loopne", count_loopne},
             {"loop 32", count_loop_32}, {"loope 32", count_loope_32}, {"loopne 32", count_loopne_32},
             {"jrcxz", jump_rcxz},       {"jecxz", jump_ecxz}};

int main(void)
{
    static const uint64_t counts[] = {1, 2, 5, 1000, 0x700000001, 0x700000003};
    static const uint64_t stops[] = {1, 3, 100};

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (unsigned j = 0; j < 18; j++) {
            uint64_t given = counts[j / 3], stop = stops[j % 3], left = 0, rounds;

            /* without a condition, or with 64 bits and none that comes true, it would take too long */
            if (i == 0 && given > 1000)
                continue;
            rounds = cases[i].function(given, stop, &left);
            printf("%s %lx until %lu: %lu rounds, %lx left\n", cases[i].name, (unsigned long)given, (unsigned long)stop,
                   (unsigned long)rounds, (unsigned long)left);
        }
    }
    printf("jrcxz 0: %lx, ", (unsigned long)jump_rcxz(0, 0, &(uint64_t){0}));
    printf("jecxz 0: %lx, ", (unsigned long)jump_ecxz(0, 0, &(uint64_t){0}));
    printf("jecxz 5<<32: %lx\n", (unsigned long)jump_ecxz(5ul << 32, 0, &(uint64_t){0}));
    return 0;
}
