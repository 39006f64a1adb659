/* SPDX-License-Identifier: MIT */
/* The core's code in a program that has it built in, all code of the library where it is one. Stateless. */
#define _GNU_SOURCE
#include "libgait/own_module.h"

#include "base/own_code.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

struct own_module_search {
    uint64_t address;
    uint64_t start;
    uint64_t end;
    bool is_behind_program; /* the program itself comes first */
};

static int look_at_module(struct dl_phdr_info *info, size_t size, void *context)
{
    struct own_module_search *search = context;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum && search->is_behind_program; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + header->p_vaddr;

        if (header->p_type == PT_LOAD && search->address - start < header->p_memsz) {
            search->start = start;
            search->end = start + header->p_memsz;
            return 1;
        }
    }
    search->is_behind_program = true;
    return 0;
}

void own_module_find(uint64_t *start_out, uint64_t *end_out)
{
    struct own_module_search search = {
        .address = (uintptr_t)own_code_first,
        .start = (uintptr_t)own_code_first,
        .end = (uintptr_t)own_code_last,
    };

    (void)dl_iterate_phdr(look_at_module, &search);
    *start_out = search.start;
    *end_out = search.end;
}

void own_module_stay_loaded(void)
{
    Dl_info info;

    if (dladdr((const void *)&own_module_stay_loaded, &info) != 0 && info.dli_fname != NULL)
        (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}
