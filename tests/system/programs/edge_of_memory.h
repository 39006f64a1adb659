/* SPDX-License-Identifier: MIT */
/*
 * Places at the end of memory: what is put there can be read to its last byte, and nothing behind it. For programs
 * whose calls are compared as text.
 */
#ifndef GAIT_TESTS_SYSTEM_PROGRAMS_EDGE_OF_MEMORY_H
#define GAIT_TESTS_SYSTEM_PROGRAMS_EDGE_OF_MEMORY_H

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EDGE_PAGE_BYTES 4096

/* A copy of the bytes, behind which there is nothing. One page for each. */
static inline void *edge_copy(const void *bytes, size_t size_bytes)
{
    size_t room = (size_bytes + EDGE_PAGE_BYTES - 1) / EDGE_PAGE_BYTES * EDGE_PAGE_BYTES;
    char *pages = mmap(NULL, room + EDGE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED)
        _exit(1);
    munmap(pages + room, EDGE_PAGE_BYTES);
    return memcpy(pages + room - size_bytes, bytes, size_bytes);
}

#endif
