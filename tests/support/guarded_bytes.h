/* SPDX-License-Identifier: MIT */
/* Bytes that end right before a page that cannot be read: whoever reads past them crashes. */
#ifndef GAIT_TESTS_GUARDED_BYTES_H
#define GAIT_TESTS_GUARDED_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct guarded_bytes {
    uint8_t *pages;
    uint8_t *end; /* the first byte that cannot be read */
};

/* Maps the pages; ends the program if that fails. */
void guarded_bytes_init(struct guarded_bytes *guarded);

void guarded_bytes_deinit(struct guarded_bytes *guarded);

/* Puts the bytes at the very end, at most a page of them. Returns where they are. */
uint8_t *guarded_bytes_put(const struct guarded_bytes *guarded, const uint8_t *bytes, size_t size_bytes);

/* Puts bytes that are written as "48 8b 05" there. Stores how many there are. */
uint8_t *guarded_bytes_put_hex(const struct guarded_bytes *guarded, const char *hex, size_t *size_out);

#endif
