/* SPDX-License-Identifier: MIT */
/* A program that tidies up: it maps over, protects and unmaps all that it does not know. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define RANGES_MAX 1000

static struct {
    uintptr_t start, end;
} ranges[RANGES_MAX];
static int range_count;

/* Memory that no file, stack or heap of a program's is: none of it is there unless somebody else is. */
static void find_ranges(void)
{
    char line[512], access[8], name[400];
    FILE *file = fopen("/proc/self/maps", "r");
    unsigned long start, end;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), library = (uintptr_t)&fopen;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL && range_count < RANGES_MAX) {
        name[0] = 0;
        if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %399s", &start, &end, access, name) < 3)
            continue;
        if (name[0] == '[' || (name[0] == '/' && strncmp(name, "/memfd", 6) != 0))
            continue;
        /* The C library and the loader have some, too, between their files. */
        if (access[2] != 'x' && (start >> 32 == here >> 32 || start >> 32 == library >> 32))
            continue;
        ranges[range_count].start = start;
        ranges[range_count++].end = end;
    }
    if (file != NULL)
        fclose(file);
}

static int work(int value)
{
    char text[64];

    snprintf(text, sizeof(text), "%d %f", value, value * 1.5);
    return (int)strlen(text) + text[0];
}

int main(void)
{
    int sum = 0;

    find_ranges();
    for (int i = 0; i < range_count; i++) {
        size_t size = ranges[i].end - ranges[i].start;
        void *start = (void *)ranges[i].start;

        mprotect(start, size, PROT_NONE);
        mmap(start, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        munmap(start, size);
        sum += work(i);
    }
    for (int i = 0; i < 10; i++)
        sum = work(i);
    printf("%d\n", sum);
    return 0;
}
