/* SPDX-License-Identifier: MIT */
/* Who wants the records of detail lanes at once, instead of a file. */
#ifndef GAIT_RECORD_DETAIL_HEARER_H
#define GAIT_RECORD_DETAIL_HEARER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ring_module;

struct detail_hearer {
    /* Whole records of a thread, in their order, as they came out of the ring: not looked at yet. -ENOMEM and others.
     */
    int (*hear)(void *context, pid_t pid, uint32_t tid, const uint8_t *bytes, size_t size_bytes);
    /* A file, or a part of it, was mapped to be executed, or is gone; NULL: nobody wants to know. */
    void (*module)(void *context, pid_t pid, const struct ring_module *module, const char *path);
    void *context;
};

#endif
