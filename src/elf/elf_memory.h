/* SPDX-License-Identifier: MIT */
/* Memory that an image is loaded in, and that may not be there: how it is read. */
#ifndef GAIT_ELF_ELF_MEMORY_H
#define GAIT_ELF_ELF_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: not all of it can be read. */
struct elf_memory {
    bool (*read)(void *context, uint64_t address, void *bytes_out, size_t size_bytes);
    void *context;
};

#endif
