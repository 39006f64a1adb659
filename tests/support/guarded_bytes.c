/* SPDX-License-Identifier: MIT */
/* Two pages, the second without access. */
#define _GNU_SOURCE
#include "support/guarded_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES    4096u
#define MAX_HEX_BYTES 64

void guarded_bytes_init(struct guarded_bytes *guarded)
{
    guarded->pages = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guarded->pages == MAP_FAILED || mprotect(guarded->pages + PAGE_BYTES, PAGE_BYTES, PROT_NONE) != 0) {
        perror("cannot map guarded pages");
        exit(1);
    }
    guarded->end = guarded->pages + PAGE_BYTES;
}

void guarded_bytes_deinit(struct guarded_bytes *guarded)
{
    munmap(guarded->pages, 2 * PAGE_BYTES);
    memset(guarded, 0, sizeof(*guarded));
}

uint8_t *guarded_bytes_put(const struct guarded_bytes *guarded, const uint8_t *bytes, size_t size_bytes)
{
    return memcpy(guarded->end - size_bytes, bytes, size_bytes);
}

uint8_t *guarded_bytes_put_hex(const struct guarded_bytes *guarded, const char *hex, size_t *size_out)
{
    uint8_t bytes[MAX_HEX_BYTES];
    size_t size_bytes = 0;
    char *after;

    for (; size_bytes < sizeof(bytes); hex = after) {
        unsigned long byte = strtoul(hex, &after, 16);

        if (after == hex)
            break;
        bytes[size_bytes++] = (uint8_t)byte;
    }
    *size_out = size_bytes;
    return guarded_bytes_put(guarded, bytes, size_bytes);
}
