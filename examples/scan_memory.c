/* SPDX-License-Identifier: MIT */
/*
 * Looks for a text in all memory of its heap and of its own data, reads around each place where it is, and reads from
 * where there is nothing.
 *
 *   build/examples/scan_memory
 *
 * Shows: what is mapped, patterns with wildcards, and reading and writing that cannot crash. Uses gait/process.h.
 */
#include "gait/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char kept[] = "password=tulip";

static bool print_place(void *context, uint64_t address)
{
    char text[32];

    (void)context;
    if (gait_memory_read_text(address, text, sizeof(text)) > 0)
        printf("        0x%lx: %s\n", (unsigned long)address, text);
    return true;
}

static bool scan_range(void *context, const struct gait_range *range)
{
    const char *pattern = context;
    bool is_data = range->access == (GAIT_ACCESS_READ | GAIT_ACCESS_WRITE);

    if (!is_data || (strcmp(range->path, "[heap]") != 0 && strstr(range->path, "scan_memory") == NULL))
        return true;
    printf("    %s, %lu KiB\n", range->path, (unsigned long)(range->end - range->start) / 1024);
    (void)gait_memory_scan(range->start, range->end, pattern, print_place, NULL, NULL);
    return true;
}

int main(void)
{
    /* "pass????=" */
    static char pattern[] = "70 61 73 73 ?? ?? ?? ?? 3d";
    char *copy = strdup(kept);
    struct gait_error err;
    uint64_t word;

    if (copy == NULL)
        return 1;
    memcpy(copy + 9, "rose\0", 5);
    /* Else what was printed before is found, too. */
    setbuf(stdout, NULL);
    printf("Where passwords are:\n");
    if (gait_process_ranges(0, UINT64_MAX, scan_range, pattern, &err) != 0) {
        fprintf(stderr, "scan_memory: %s\n", err.text);
        return 1;
    }
    printf("Reading from 0x1000: %s\n",
           gait_memory_read(0x1000, &word, sizeof(word)) == 0 ? "worked" : "no such memory");
    printf("Writing to our own code: %s\n",
           gait_memory_write((uintptr_t)main, "", 1) == 0 ? "worked" : "not allowed, and nothing happened");
    free(copy);
    return 0;
}
