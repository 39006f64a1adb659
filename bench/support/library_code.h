/* SPDX-License-Identifier: MIT */
/* The machine code of real libraries, as it is loaded in this process. */
#ifndef GAIT_BENCH_LIBRARY_CODE_H
#define GAIT_BENCH_LIBRARY_CODE_H

#include <stddef.h>
#include <stdint.h>

struct library_code {
    const char *name;
    const uint8_t *bytes;
    size_t size;
};

/* Loads the library and finds its executable segment. Returns 0 or -ENOENT. */
int library_code_load(const char *name, struct library_code *code_out) __attribute__((warn_unused_result));

#endif
