/* SPDX-License-Identifier: MIT */
/*
 * The names of a module. What others can use of it, and what it uses of others, is in memory; all else is in its file,
 * which is opened only for that, and must be the one that is in memory. Stateless.
 */
#include "elf/build_id.h"
#include "elf/loaded_image.h"
#include "elf/loaded_imports.h"
#include "elf/loaded_symbols.h"
#include "elf/sections.h"
#include "elf/symbol_entries.h"
#include "elf/symbol_file.h"
#include "gait/process.h"
#include "hosted/error_text.h"
#include "libgait/export.h"
#include "process/memory_probe.h"
#include "process/module.h"
#include "process/module_files.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define NAME_BYTES 4096u

static int read_image(uint64_t base, const char *doing, struct elf_loaded_image *image_out, struct gait_error *err)
{
    if (elf_loaded_image_read(&memory_probe_reader, base, image_out) == 0)
        return 0;
    return error_set(err, ENOENT, "cannot %s: there is no module whose ELF header is at 0x%llx", doing,
                     (unsigned long long)base);
}

static uint32_t kind_of(unsigned kind)
{
    switch (kind) {
    case STT_OBJECT:
    case STT_COMMON:
        return GAIT_SYMBOL_DATA;
    case STT_FUNC:
        return GAIT_SYMBOL_FUNCTION;
    case STT_TLS:
        return GAIT_SYMBOL_THREAD_STORAGE;
    case STT_GNU_IFUNC:
        return GAIT_SYMBOL_RESOLVER;
    default:
        return GAIT_SYMBOL_OTHER;
    }
}

static uint32_t flags_of(unsigned binding)
{
    return (binding != STB_LOCAL ? GAIT_SYMBOL_GLOBAL : 0) | (binding == STB_WEAK ? GAIT_SYMBOL_WEAK : 0);
}

/* ---- in memory --------------------------------------------------------------------------------------------------- */

struct export_visit {
    gait_symbol_visit visit;
    void *context;
    size_t count;
};

static bool visit_export(void *context, const struct elf_loaded_symbol *symbol)
{
    struct export_visit *all = context;
    const struct gait_symbol found = {
        .size_bytes = sizeof(found),
        .name = symbol->name,
        .address = symbol->address,
        .extent_bytes = symbol->size_bytes,
        .kind = kind_of(symbol->kind),
        .flags = flags_of(symbol->binding) | GAIT_SYMBOL_EXPORTED,
    };

    if (symbol->address == 0 || symbol->binding == STB_LOCAL)
        return true;
    all->count++;
    return all->visit(all->context, &found);
}

EXPORT int gait_module_exports(uint64_t base, gait_symbol_visit visit, void *context, struct gait_error *err)
{
    struct export_visit all = {visit, context, 0};
    struct elf_loaded_image image;
    int result = read_image(base, "list exports", &image, err);

    if (result != 0)
        return result;
    if (visit == NULL)
        return error_set(err, EINVAL, "cannot list exports: visit is NULL");
    if (elf_loaded_symbols_visit(&memory_probe_reader, &image, visit_export, &all) != 0 || all.count == 0)
        return error_set(err, ENOENT, "the module at 0x%llx exports nothing", (unsigned long long)base);
    return 0;
}

struct import_listing {
    gait_import_visit visit;
    void *context;
    size_t count;
};

static bool visit_import(void *context, const struct elf_loaded_import *import)
{
    struct import_listing *all = context;
    const struct gait_import found = {
        .size_bytes = sizeof(found),
        .name = import->name,
        .slot = import->slot,
        .target = import->target,
        .is_call = import->is_call,
        .is_own = import->is_own,
    };

    all->count++;
    return all->visit(all->context, &found);
}

EXPORT int gait_module_imports(uint64_t base, gait_import_visit visit, void *context, struct gait_error *err)
{
    struct import_listing all = {visit, context, 0};
    struct elf_loaded_image image;
    int result = read_image(base, "list imports", &image, err);

    if (result != 0)
        return result;
    if (visit == NULL)
        return error_set(err, EINVAL, "cannot list imports: visit is NULL");
    if (elf_loaded_imports_visit(&memory_probe_reader, &image, visit_import, &all) != 0 || all.count == 0)
        return error_set(err, ENOENT, "the module at 0x%llx uses nothing of others", (unsigned long long)base);
    return 0;
}

/* ---- in its file ------------------------------------------------------------------------------------------------- */

/* Whether a file is what is in memory, as far as can be told: those without a build ID are taken at their word. */
static bool is_loaded_from(const struct module *module, const struct elf_symbols *symbols)
{
    const uint8_t *bytes;
    size_t size_bytes;

    if (elf_build_id_find(symbols, &bytes, &size_bytes) != 0)
        return module->build_id_bytes == 0;
    return size_bytes == module->build_id_bytes && memcmp(bytes, module->build_id, size_bytes) == 0;
}

static int open_path(const struct module *module, const char *path, const char *doing, struct symbol_file *file_out,
                     struct gait_error *err)
{
    int result = symbol_file_open(path, file_out);

    if (result != 0)
        return error_set(err, result, "cannot %s of %s: %s", doing, path, strerror(-result));
    if (is_loaded_from(module, &file_out->symbols))
        return 0;
    symbol_file_close(file_out);
    return error_set(err, ESTALE, "cannot %s of %s: it has another build ID than what is in memory; it was replaced",
                     doing, path);
}

/* The file of the module at a base, and what is to be added to its addresses. */
static int open_file(uint64_t base, const char *doing, struct symbol_file *file_out, uint64_t *bias_out,
                     struct gait_error *err)
{
    struct module_files files;
    const struct module_file *file;
    struct module module;
    int result;

    if (module_describe(base, &module) != 0)
        return error_set(err, ENOENT, "cannot %s: there is no module whose ELF header is at 0x%llx", doing,
                         (unsigned long long)base);
    result = module_files_init(&files);
    if (result != 0)
        return error_set(err, result, "cannot %s: which file is mapped there is not known: %s", doing,
                         strerror(-result));
    file = module_files_at(&files, base);
    if (file == NULL || file->base != base || file->is_vdso)
        result = error_set(err, ENOENT, "cannot %s: the module at 0x%llx has no file", doing, (unsigned long long)base);
    else
        result = open_path(&module, file->path, doing, file_out, err);
    module_files_deinit(&files);
    *bias_out = module.bias;
    return result;
}

/* Names may have a version behind them. */
static const char *copy_name(const char *name, size_t length, char copy_out[NAME_BYTES])
{
    size_t used = length < NAME_BYTES - 1 ? length : NAME_BYTES - 1;

    memcpy(copy_out, name, used);
    copy_out[used] = '\0';
    return copy_out;
}

static bool visit_entry(const struct elf_symbol_entry *entry, uint64_t bias, gait_symbol_visit visit, void *context)
{
    bool has_address = entry->section < SHN_LORESERVE && entry->kind != STT_TLS;
    char name[NAME_BYTES];
    const struct gait_symbol symbol = {
        .size_bytes = sizeof(symbol),
        .name = copy_name(entry->name, entry->name_length, name),
        .address = entry->address + (has_address ? bias : 0),
        .extent_bytes = entry->size_bytes,
        .kind = kind_of(entry->kind),
        .flags =
            flags_of(entry->binding) | (entry->is_dynamic && entry->binding != STB_LOCAL ? GAIT_SYMBOL_EXPORTED : 0),
    };

    return visit(context, &symbol);
}

EXPORT int gait_module_symbols(uint64_t base, gait_symbol_visit visit, void *context, struct gait_error *err)
{
    struct elf_symbol_entry entry;
    struct symbol_file file;
    uint64_t bias, count = 0;
    int result;

    if (visit == NULL)
        return error_set(err, EINVAL, "cannot list symbols: visit is NULL");
    result = open_file(base, "list symbols", &file, &bias, err);
    if (result != 0)
        return result;
    for (uint64_t i = 0; i < elf_symbols_count(&file.symbols); i++) {
        if (elf_symbol_entry_get(&file.symbols, i, &entry) != 0 || entry.section == SHN_UNDEF ||
            entry.kind == STT_FILE || entry.kind == STT_SECTION)
            continue;
        count++;
        if (!visit_entry(&entry, bias, visit, context))
            break;
    }
    symbol_file_close(&file);
    return count != 0
               ? 0
               : error_set(err, ENOENT, "the file of the module at 0x%llx has no symbols", (unsigned long long)base);
}

EXPORT int gait_module_sections(uint64_t base, gait_section_visit visit, void *context, struct gait_error *err)
{
    struct elf_section section;
    struct symbol_file file;
    uint64_t bias;
    int result;

    if (visit == NULL)
        return error_set(err, EINVAL, "cannot list sections: visit is NULL");
    result = open_file(base, "list sections", &file, &bias, err);
    if (result != 0)
        return result;
    /* The first one stands for none. */
    for (unsigned i = 1; i < elf_sections_count(&file.symbols); i++) {
        struct gait_section found = {.size_bytes = sizeof(found)};

        if (elf_section_get(&file.symbols, i, &section) != 0)
            continue;
        found.name = section.name;
        found.address = section.flags & SHF_ALLOC ? section.address + bias : 0;
        found.extent_bytes = section.size_bytes;
        found.file_offset = section.file_offset;
        found.flags = section.flags;
        found.type = section.type;
        if (!visit(context, &found))
            break;
    }
    symbol_file_close(&file);
    return 0;
}
