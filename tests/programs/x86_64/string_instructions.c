/* SPDX-License-Identifier: MIT */
/* rep movs, stos, scas, cmps and lods of all widths, forwards and backwards, with branches in between. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint8_t source[256], destination[256];

/* rdi, rsi and rcx afterwards, relative to what they were, and the flags' ZF. */
static void run(const char *name, int width, int backward, long count)
{
    uint8_t *to = destination + 100, *from = source + 100;
    uint64_t value = 0x0706050403020100, sum = 0;

    memset(destination, 0xee, sizeof(destination));
    memcpy(destination + 90, source + 90, 20);
    destination[112] ^= 0xff;
#define CASE(text, string_insn, bytes)                                                                                 \
    if (strcmp(name, text) == 0 && width == bytes)                                                                     \
    __asm__ volatile("test %4, %4\n\tjz 1f\n\tstd\n1:\tcmp $0, %%rcx\n\t" string_insn "\n\tjmp 2f\n\tud2\n2:\tcld"     \
                     : "+D"(to), "+S"(from), "+c"(count), "+a"(value)                                                  \
                     : "r"(backward)                                                                                   \
                     : "memory", "cc")
#define WIDTHS(text, prefix, stem)                                                                                     \
    CASE(text, prefix stem "b", 1);                                                                                    \
    CASE(text, prefix stem "w", 2);                                                                                    \
    CASE(text, prefix stem "l", 4);                                                                                    \
    CASE(text, prefix stem "q", 8)
    WIDTHS("movs", "rep ", "movs");
    WIDTHS("stos", "rep ", "stos");
    WIDTHS("lods", "rep ", "lods");
    WIDTHS("scas", "repne ", "scas");
    WIDTHS("cmps", "repe ", "cmps");
    for (unsigned i = 0; i < sizeof(destination); i++)
        sum = sum * 31 + destination[i];
    printf("%s %d %s: to %ld from %ld left %ld value %lx sum %016lx\n", name, width, backward ? "down" : "up",
           (long)(to - destination), (long)(from - source), count, (unsigned long)value, (unsigned long)sum);
}

int main(void)
{
    static const char *const names[] = {"movs", "stos", "lods", "scas", "cmps"};

    for (unsigned i = 0; i < sizeof(source); i++)
        source[i] = (uint8_t)(i * 7);
    for (unsigned i = 0; i < 5; i++) {
        for (int width = 1; width <= 8; width *= 2) {
            for (int backward = 0; backward < 2; backward++) {
                run(names[i], width, backward, 9);
                run(names[i], width, backward, 0);
            }
        }
    }
    return 0;
}
