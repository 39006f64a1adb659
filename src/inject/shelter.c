/* SPDX-License-Identifier: MIT */
/*
 * Linkers begin each part of a file on a page of its own, so what is executed is followed by zeroes up to the end of
 * its last page. Writing there changes the process's own copy of that page.
 */
#include "inject/shelter.h"

#include "arch/system_call_registers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Some more in front, so that it is not the end of a table of zeroes. */
#define ZEROES (SYSTEM_CALL_SHELTER_BYTES + 64)

static bool is_zero(pid_t pid, uint64_t address)
{
    static const uint8_t zeroes[ZEROES];
    uint8_t bytes[ZEROES];

    return process_memory_read(pid, address, bytes, sizeof(bytes)) == 0 && memcmp(bytes, zeroes, sizeof(bytes)) == 0;
}

/* Where a private mapping of a file that is executed ends; 0: the line is of something else. */
static uint64_t end_of_code(const char *line)
{
    uint64_t start, end, inode;
    char access[8];

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %" SCNu64, &start, &end, access, &inode) != 4 ||
        strcmp(access, "r-xp") != 0 || inode == 0 || end - start < ZEROES)
        return 0;
    return end;
}

uint64_t shelter_find(pid_t pid)
{
    char path[64], line[4096 + 256];
    uint64_t found = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    file = fopen(path, "re");
    while (file != NULL && found == 0 && fgets(line, sizeof(line), file) != NULL) {
        uint64_t end = end_of_code(line);

        if (end != 0 && is_zero(pid, end - ZEROES))
            found = end - SYSTEM_CALL_SHELTER_BYTES;
    }
    if (file != NULL)
        fclose(file);
    return found;
}

int shelter_enter(struct tracee *thread, uint64_t shelter, long number, const long arguments[6], uint64_t *mask_out)
{
    struct thread_registers registers, back;
    uint8_t bytes[SYSTEM_CALL_SHELTER_BYTES];
    size_t size;
    int result = tracee_get_registers(thread, &registers);

    if (result == 0)
        result = tracee_get_mask(thread, mask_out);
    if (result != 0)
        return result;
    back = registers;
    thread_registers_take_restart(&back);
    size = system_call_shelter(bytes, &back, *mask_out);
    result = size == 0 ? -EOPNOTSUPP : process_memory_write(thread->pid, shelter, bytes, size);
    if (result != 0)
        return result;
    system_call_registers_set(&registers, shelter, number, arguments);
    result = tracee_set_registers(thread, &registers);
    /* Only then: what is there unblocks them again. */
    return result == 0 ? tracee_set_mask(thread, UINT64_MAX) : result;
}

void shelter_clear(pid_t pid, uint64_t shelter)
{
    static const uint8_t zeroes[SYSTEM_CALL_SHELTER_BYTES];

    (void)!process_memory_write(pid, shelter, zeroes, sizeof(zeroes));
}
