/* SPDX-License-Identifier: MIT */
/*
 * Libraries export their unwinders. A program may have its own, linked into it, which only its symbol table tells. The
 * C library loads libgcc_s when somebody first asks for a backtrace or cancels a thread: it is loaded now, to be hooked
 * before that.
 */
#define _GNU_SOURCE
#include "libgait/hook_unwinding.h"

#include "base/counters.h"
#include "elf/symbol_file.h"
#include "hook/hook_table.h"
#include "hook/hook_unwinders.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define FOUND_MAX   64
#define MODULES_MAX 1024

struct function_search {
    struct hook_table *table;
    char *modules[MODULES_MAX]; /* paths; "": the program */
    size_t module_count;
    uint64_t program_bias;     /* from addresses of its file to those in memory */
    uint64_t found[FOUND_MAX]; /* several modules give the same answer */
    size_t found_count;
};

static bool is_new(struct function_search *search, uint64_t address)
{
    for (size_t i = 0; i < search->found_count; i++)
        if (search->found[i] == address)
            return false;
    if (search->found_count == FOUND_MAX)
        return false;
    search->found[search->found_count++] = address;
    return true;
}

/* What cannot be hooked is left as it is. */
static void attach(struct function_search *search, const struct hook_unwinder *unwinder, uint64_t address)
{
    const struct hook_target target = {.address = address};
    struct hook_attachment *attachment;

    if (is_new(search, address) && hook_table_attach(search->table, &target, unwinder->listener, &attachment) != 0)
        counter_add(COUNTER_hook_unwinders_missing, 1);
}

/* Kept for later: while modules are enumerated, none may be opened. */
static int note_module(struct dl_phdr_info *info, size_t size, void *context)
{
    struct function_search *search = context;

    (void)size;
    /* The first one is the program. */
    if (search->module_count == 0)
        search->program_bias = info->dlpi_addr;
    if (search->module_count < MODULES_MAX)
        search->modules[search->module_count++] = strdup(info->dlpi_name);
    return 0;
}

static void look_into(struct function_search *search, const char *name)
{
    struct hook_unwinder unwinder;
    void *module = dlopen(name[0] == '\0' ? NULL : name, RTLD_LAZY | RTLD_NOLOAD);

    if (module == NULL)
        return;
    for (size_t i = 0; hook_unwinder_at(i, &unwinder); i++) {
        void *function = dlsym(module, unwinder.name);

        if (function != NULL)
            attach(search, &unwinder, (uintptr_t)function);
    }
    dlclose(module);
}

static void attach_named(struct function_search *search, const struct elf_symbol *symbol)
{
    struct hook_unwinder unwinder;

    for (size_t i = 0; hook_unwinder_at(i, &unwinder); i++)
        if (strlen(unwinder.name) == symbol->name_length &&
            memcmp(unwinder.name, symbol->name, symbol->name_length) == 0)
            attach(search, &unwinder, search->program_bias + symbol->address);
}

static void look_into_program(struct function_search *search)
{
    struct symbol_file file;
    struct elf_symbol symbol;

    if (symbol_file_open("/proc/self/exe", &file) != 0)
        return;
    for (uint64_t i = 0; i < elf_symbols_count(&file.symbols); i++)
        if (elf_symbols_peek(&file.symbols, i, &symbol) == 0 && symbol.is_function)
            attach_named(search, &symbol);
    symbol_file_close(&file);
}

int hook_unwinding_begin(struct hook_table *table)
{
    struct function_search search = {.table = table};
    int result = hook_table_begin(table);

    if (result != 0)
        return result;
    (void)dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_LOCAL);
    (void)dl_iterate_phdr(note_module, &search);
    look_into_program(&search);
    for (size_t i = 0; i < search.module_count; i++) {
        if (search.modules[i] != NULL)
            look_into(&search, search.modules[i]);
        free(search.modules[i]);
    }
    return hook_table_commit(table);
}
