/* SPDX-License-Identifier: MIT */
/* Sleeping until one of several rings has much to read, or asks for something, or something else happens. */
#ifndef GAIT_RING_RING_WAIT_H
#define GAIT_RING_RING_WAIT_H

#include <stddef.h>
#include <stdint.h>

struct ring_reader;

/* Another word that ends the sleep when it is, or gets, another value and somebody wakes; in this process. */
struct ring_wait_word {
    _Atomic uint32_t *word;
    uint32_t value;
};

/*
 * As ring_reader_wait, for all of them at once: at most that long. Where the system cannot wait for that many, it is a
 * short time.
 */
void ring_wait(struct ring_reader *const *readers, size_t count, struct ring_wait_word other, unsigned timeout_ms);

#endif
