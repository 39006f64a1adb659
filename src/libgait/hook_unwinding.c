/* SPDX-License-Identifier: MIT */
/*
 * Libraries export their unwinders. A program may have its own, linked into it, which only its symbol table tells. The
 * C library loads libgcc_s when somebody first asks for a backtrace or cancels a thread: it is loaded now, to be hooked
 * before that.
 */
#define _GNU_SOURCE
#include "libgait/hook_unwinding.h"

#include "elf/function_list.h"
#include "hook/hook_table.h"
#include "hook/hook_unwinders.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define FOUND_MAX   64
#define MODULES_MAX 1024

struct search {
    struct hook_table *table;
    char *modules[MODULES_MAX]; /* paths; "": the program */
    size_t module_count;
    uint64_t found[FOUND_MAX]; /* several modules give the same answer */
    size_t found_count;
};

static bool is_new(struct search *search, uint64_t address)
{
    for (size_t i = 0; i < search->found_count; i++)
        if (search->found[i] == address)
            return false;
    if (search->found_count == FOUND_MAX)
        return false;
    search->found[search->found_count++] = address;
    return true;
}

static bool attach(struct search *search, const struct hook_unwinder *unwinder, uint64_t address,
                   const struct hook_plan *plan)
{
    const struct hook_target target = {.address = address, .plan = plan};
    struct hook_attachment *attachment;

    return is_new(search, address) && hook_table_attach(search->table, &target, &unwinder->listener, &attachment) == 0;
}

/* Kept for later: while modules are enumerated, none may be opened. */
static int note_module(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;

    (void)size;
    if (search->module_count < MODULES_MAX)
        search->modules[search->module_count++] = strdup(info->dlpi_name);
    return 0;
}

static void look_into(struct search *search, const char *name)
{
    const struct hook_unwinder *unwinder;
    void *module = dlopen(name[0] == '\0' ? NULL : name, RTLD_LAZY | RTLD_NOLOAD);

    if (module == NULL)
        return;
    for (size_t i = 0; (unwinder = hook_unwinder_at(i)) != NULL; i++) {
        void *function = dlsym(module, unwinder->name);

        if (function != NULL)
            (void)attach(search, unwinder, (uintptr_t)function, NULL);
    }
    dlclose(module);
}

static bool attach_named(void *context, const struct elf_function *function, const struct hook_plan *plan)
{
    const struct hook_unwinder *unwinder;

    for (size_t i = 0; function->name != NULL && (unwinder = hook_unwinder_at(i)) != NULL; i++)
        if (strlen(unwinder->name) == function->name_length &&
            memcmp(unwinder->name, function->name, function->name_length) == 0)
            return attach(context, unwinder, plan->address, plan);
    return false;
}

int hook_unwinding_begin(struct hook_table *table)
{
    struct search search = {.table = table};
    int result = hook_table_begin(table);

    if (result != 0)
        return result;
    (void)dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_LOCAL);
    (void)!hook_table_plan_module(table, getauxval(AT_ENTRY), attach_named, &search);
    (void)dl_iterate_phdr(note_module, &search);
    for (size_t i = 0; i < search.module_count; i++) {
        if (search.modules[i] != NULL)
            look_into(&search, search.modules[i]);
        free(search.modules[i]);
    }
    return hook_table_commit(table);
}
