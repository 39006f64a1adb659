/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "gait/process.h"

#include "support/check.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

int test_exported_value = 4;
static __thread int test_thread_value = 5;

static struct gait_error error;

static uint64_t base_of(const char *library)
{
    const struct link_map *map = dlopen(library, RTLD_NOW);

    return map == NULL ? 0 : map->l_addr;
}

static uint64_t own_base(void)
{
    Dl_info info;

    CHECK(dladdr((const void *)&own_base, &info) != 0);
    return (uintptr_t)info.dli_fbase;
}

struct search {
    const char *name;
    struct gait_symbol symbol;
    unsigned found;
    unsigned count;
};

static bool search_symbol(void *context, const struct gait_symbol *symbol)
{
    struct search *search = context;

    search->count++;
    if (strcmp(symbol->name, search->name) == 0) {
        search->found++;
        search->symbol = *symbol;
    }
    return true;
}

static void exports_are_what_others_link_with(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    struct search search = {.name = "getppid"};

    CHECK_EQUAL(gait_module_exports(base_of("libc.so.6"), search_symbol, &search, &error), 0);
    CHECK(search.count > 1000);
    CHECK_EQUAL(search.found, 1);
    CHECK_EQUAL(search.symbol.address, (uintptr_t)dlsym(libc, "getppid"));
    CHECK_EQUAL(search.symbol.kind, GAIT_SYMBOL_FUNCTION);
    CHECK(search.symbol.flags & GAIT_SYMBOL_EXPORTED);
    search = (struct search){.name = "__vdso_getcpu"};
    CHECK_EQUAL(gait_module_exports(getauxval(AT_SYSINFO_EHDR), search_symbol, &search, &error), 0);
    CHECK_EQUAL(search.found, 1);
    CHECK_EQUAL(gait_module_exports((uintptr_t)&search, search_symbol, &search, &error), -ENOENT);
    CHECK_EQUAL(gait_module_exports(base_of("libc.so.6"), NULL, &search, &error), -EINVAL);
}

static void symbols_are_all_that_the_file_has(void)
{
    struct search search = {.name = "search_symbol"};

    CHECK_EQUAL(gait_module_symbols(own_base(), search_symbol, &search, &error), 0);
    CHECK_EQUAL(search.found, 1);
    CHECK_EQUAL(search.symbol.address, (uintptr_t)search_symbol);
    CHECK_EQUAL(search.symbol.kind, GAIT_SYMBOL_FUNCTION);
    CHECK_EQUAL(search.symbol.flags, 0);
    search = (struct search){.name = "test_exported_value"};
    CHECK_EQUAL(gait_module_symbols(own_base(), search_symbol, &search, &error), 0);
    CHECK(search.found >= 1);
    CHECK_EQUAL(search.symbol.address, (uintptr_t)&test_exported_value);
    CHECK_EQUAL(search.symbol.kind, GAIT_SYMBOL_DATA);
    CHECK(search.symbol.flags & GAIT_SYMBOL_GLOBAL);
    search = (struct search){.name = "test_thread_value"};
    test_thread_value++;
    CHECK_EQUAL(gait_module_symbols(own_base(), search_symbol, &search, &error), 0);
    CHECK_EQUAL(search.found, 1);
    CHECK_EQUAL(search.symbol.kind, GAIT_SYMBOL_THREAD_STORAGE);
    CHECK_EQUAL(gait_module_symbols(getauxval(AT_SYSINFO_EHDR), search_symbol, &search, &error), -ENOENT);
    CHECK_EQUAL(gait_module_symbols(0x10, search_symbol, &search, &error), -ENOENT);
}

static unsigned import_count;

static bool search_import(void *context, const struct gait_import *import)
{
    import_count++;
    if (strcmp(import->name, context) == 0) {
        CHECK_EQUAL(import->target, *(const uint64_t *)(uintptr_t)import->slot);
        return false;
    }
    return true;
}

static void imports_are_what_it_uses_of_others(void)
{
    char name[] = "dlsym", none[] = "nobody has this";
    unsigned up_to;

    CHECK_EQUAL(gait_module_imports(own_base(), search_import, name, &error), 0);
    up_to = import_count;
    import_count = 0;
    CHECK_EQUAL(gait_module_imports(own_base(), search_import, none, &error), 0);
    CHECK(import_count > up_to);
    CHECK_EQUAL(gait_module_imports(getauxval(AT_SYSINFO_EHDR), search_import, name, &error), -ENOENT);
}

static unsigned sections_found;

static bool search_section(void *context, const struct gait_section *section)
{
    uint64_t here = (uintptr_t)search_section;

    (void)context;
    if (strcmp(section->name, ".text") == 0) {
        CHECK(here >= section->address && here < section->address + section->extent_bytes);
        sections_found++;
    }
    if (strcmp(section->name, ".symtab") == 0) {
        CHECK_EQUAL(section->address, 0);
        sections_found++;
    }
    return true;
}

static void sections_are_where_they_are_loaded(void)
{
    CHECK_EQUAL(gait_module_sections(own_base(), search_section, NULL, &error), 0);
    CHECK_EQUAL(sections_found, 2);
}

static void build(const char *path, int number)
{
    char command[512];

    snprintf(command, sizeof(command),
             "echo 'int get(void) { return %d; }' | cc -shared -fPIC -Wl,--build-id -o %s.new -x c - && mv %s.new %s",
             number, path, path, path);
    if (system(command) != 0)
        check_skip("there is no C compiler named cc");
}

static void a_file_that_was_replaced_is_not_taken_for_the_other(void)
{
    char folder[] = "/tmp/gait-names-XXXXXX", path[64];
    struct search search = {.name = "get"};
    uint64_t base;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/library.so", folder);
    build(path, 1);
    base = base_of(path);
    CHECK_EQUAL(gait_module_symbols(base, search_symbol, &search, &error), 0);
    CHECK(search.found >= 1);
    build(path, 2);
    /* The kernel says that it was deleted, and nothing has that name. */
    CHECK_EQUAL(gait_module_symbols(base, search_symbol, &search, &error), -ENOENT);
    search.found = 0;
    CHECK_EQUAL(gait_module_exports(base, search_symbol, &search, &error), 0);
    CHECK_EQUAL(search.found, 1);
    unlink(path);
    rmdir(folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(exports_are_what_others_link_with),
    CHECK_CASE(symbols_are_all_that_the_file_has),
    CHECK_CASE(imports_are_what_it_uses_of_others),
    CHECK_CASE(sections_are_where_they_are_loaded),
    CHECK_CASE(a_file_that_was_replaced_is_not_taken_for_the_other),
};

CHECK_MAIN(cases)
