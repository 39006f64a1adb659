/* SPDX-License-Identifier: MIT */
/* Asks the dynamic loader where the executable segment of a library is. */
#define _GNU_SOURCE
#include "support/library_code.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

static int find_segment(struct dl_phdr_info *info, size_t size, void *context)
{
    struct library_code *code = context;

    (void)size;
    if (strstr(info->dlpi_name, code->name) == NULL)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];

        if (header->p_type == PT_LOAD && header->p_flags & PF_X) {
            code->bytes = (const uint8_t *)(info->dlpi_addr + header->p_vaddr);
            code->size = header->p_memsz;
            return 1;
        }
    }
    return 0;
}

int library_code_load(const char *name, struct library_code *code_out)
{
    *code_out = (struct library_code){.name = name};
    if (dlopen(name, RTLD_LAZY) == NULL)
        return -ENOENT;
    dl_iterate_phdr(find_segment, code_out);
    return code_out->bytes == NULL ? -ENOENT : 0;
}
