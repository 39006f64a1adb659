/* SPDX-License-Identifier: MIT */
/*
 * Only headers and symbol tables are read at first, into memory of our own: files with debug information are large. All
 * that is loaded of a file is read when a stub is asked for; a stripped file is read whole, for the names that may be
 * packed in it. The vdso has no file: what this machine's kernel has mapped here stands in for it, if the build is the
 * same.
 */
#include "symbolize/module_symbols.h"

#include "arch/arch.h"
#include "elf/build_id.h"
#include "elf/imports.h"
#include "symbolize/kept_module.h"
#include "trace/modules.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#define STUB_INSNS_MAX 2 /* a landing mark, and the jump */
#define VDSO_PATH      "[vdso]"
#define PATH_BYTES     256 /* of what is in a trace */

static const char changed[] = "has changed since";

static bool has_own_table(const struct elf_symbols *symbols)
{
    return symbols->tables[0].count != 0;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static const char *problem_of(int result)
{
    switch (-result) {
    case 0:
        return NULL;
    case ENOENT:
    case ENOTDIR:
        return "is gone";
    case ENOEXEC:
    case EISDIR:
    case EINVAL:
    case ESPIPE:
        return "is no program or library";
    case ENOMEM:
        return "is too large for the memory";
    case EACCES:
    case EPERM:
        return "may not be read";
    default:
        return "cannot be read";
    }
}

/* How long the image at that address is: up to the end of its section headers, which are its last part. */
static size_t vdso_bytes(const Elf64_Ehdr *header)
{
    uint64_t size_bytes = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;

    return memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || size_bytes > (1u << 20) ? 0 : (size_t)size_bytes;
}

static int open_vdso(struct symbol_file *file_out)
{
    const void *image = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
    size_t size_bytes = image == NULL ? 0 : vdso_bytes(image);
    struct symbol_file file = {.size_bytes = size_bytes};

    if (size_bytes == 0)
        return -ENOENT;
    file.memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (file.memory == MAP_FAILED)
        return -ENOMEM;
    memcpy(file.memory, image, size_bytes);
    if (elf_symbols_parse(file.memory, size_bytes, &file.symbols) != 0) {
        symbol_file_close(&file);
        return -ENOENT;
    }
    *file_out = file;
    return 0;
}

static bool is_vdso(const struct module_symbols *file)
{
    return strcmp(file->path, VDSO_PATH) == 0;
}

static bool is_as_recorded(const struct module_symbols *file)
{
    const uint8_t *build_id;
    size_t size_bytes;

    /* Without an ID nobody can tell; the kernel, though, is hardly ever the same. */
    if (file->build_id_bytes == 0)
        return !is_vdso(file);
    return elf_build_id_find(&file->file.symbols, &build_id, &size_bytes) == 0 && size_bytes == file->build_id_bytes &&
           memcmp(build_id, file->build_id, size_bytes) == 0;
}

/* Names that were taken out of the file. Where there are none, its own ones are all there is. */
static void open_debug(struct module_symbols *file, const char *folders)
{
    struct symbol_file whole;

    if (has_own_table(&file->file.symbols) || is_vdso(file) || symbol_file_open_whole(file->path, &whole) != 0)
        return;
    if ((debug_file_open_named(&whole.symbols, file->path, folders, &file->debug) == 0 ||
         debug_file_open(&whole.symbols, folders, &file->debug) == 0) &&
        symbol_index_make_for(&file->debug_index, &file->debug.symbols, &file->file.symbols) != 0)
        debug_file_close(&file->debug);
    symbol_file_close(&whole);
}

static const char *open_file(struct module_symbols *file, const char *debug_folders)
{
    const char *problem =
        problem_of(is_vdso(file) ? open_vdso(&file->file) : symbol_file_open(file->path, &file->file));

    if (problem != NULL)
        return problem;
    if (!is_as_recorded(file))
        return file->build_id_bytes == 0 ? "is gone" : changed;
    if (symbol_index_make(&file->index, &file->file.symbols) != 0)
        return problem_of(-ENOMEM);
    open_debug(file, debug_folders);
    return NULL;
}

/* ---- what was kept ----------------------------------------------------------------------------------------------- */

/* What to say of a file that cannot be used, if it is known whether names were kept. */
static const char *explain(const char *problem, int kept)
{
    if (problem == changed && kept != -ENOENT && kept != -ESTALE)
        return kept == 0 ? "has changed since; the names are those that were kept"
                         : "has changed since, and the names that were kept are damaged";
    if (kept == -EPROTO)
        return "cannot be used, and the names that were kept are damaged";
    return kept == 0 ? NULL : problem;
}

/* Forgets what was read of the file itself. */
static void forget(struct module_symbols *file)
{
    symbol_index_deinit(&file->index);
    symbol_index_deinit(&file->debug_index);
    if (file->file.memory != NULL)
        symbol_file_close(&file->file);
    debug_file_close(&file->debug);
    free(file->path);
    file->path = NULL;
}

static void use_kept(struct module_symbols *file, const struct recorded_module *module, int trace,
                     const struct kept_names *kept)
{
    char path[PATH_BYTES];

    forget(file);
    kept_module_debug_path(trace, module, path, sizeof(path));
    file->path = strdup(path);
    file->kept = *kept;
    file->has_kept = true;
    if (file->path == NULL || kept_module_index(&file->kept, &file->index) != 0)
        file->problem = problem_of(-ENOMEM);
}

/* Of a file without an ID, only what was kept tells whether it is the one that was recorded. */
static void try_kept(struct module_symbols *file, const struct recorded_module *module, int trace)
{
    struct kept_names kept;
    int result;

    if (file->problem == NULL && file->build_id_bytes != 0)
        return;
    result = kept_module_read(trace, module, &kept);
    if (file->problem == NULL && (result == -ESTALE || (result == 0 && !kept_module_is_file(&kept, file->path))))
        file->problem = changed;
    else if (file->problem == NULL) {
        if (result == 0)
            kept_names_deinit(&kept);
        return;
    }
    file->problem = explain(file->problem, result);
    if (result == 0)
        use_kept(file, module, trace, &kept);
}

void module_symbols_open(struct module_symbols *file, const struct recorded_module *module, const char *debug_folders)
{
    module_symbols_open_kept(file, module, debug_folders, -1);
}

void module_symbols_open_kept(struct module_symbols *file, const struct recorded_module *module,
                              const char *debug_folders, int trace)
{
    *file = (struct module_symbols){
        .path = strdup(module->path),
        .wanted_path = strdup(module->path),
        .build_id_bytes = module->build_id_bytes,
        .loaded_at = module->loaded,
    };
    memcpy(file->build_id, module->build_id, sizeof(file->build_id));
    file->problem =
        file->path == NULL || file->wanted_path == NULL ? problem_of(-ENOMEM) : open_file(file, debug_folders);
    if (file->wanted_path != NULL)
        try_kept(file, module, trace);
}

void module_symbols_close(struct module_symbols *file)
{
    forget(file);
    if (file->loaded.memory != NULL)
        symbol_file_close(&file->loaded);
    kept_names_deinit(&file->kept);
    free(file->wanted_path);
    *file = (struct module_symbols){0};
}

bool module_symbols_is_of(const struct module_symbols *file, const struct recorded_module *module)
{
    return file->wanted_path != NULL && file->build_id_bytes == module->build_id_bytes &&
           memcmp(file->build_id, module->build_id, sizeof(file->build_id)) == 0 &&
           strcmp(file->wanted_path, module->path) == 0 &&
           (file->build_id_bytes != 0 || file->loaded_at == module->loaded);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

int module_symbols_place(const struct module_symbols *file, const struct recorded_module *module, uint64_t address,
                         uint64_t *place_out)
{
    if (file->has_kept)
        return kept_names_place(&file->kept, address - module->start + module->file_offset, place_out);
    if (file->problem != NULL)
        return -ENOENT;
    return elf_symbols_address_at(&file->file.symbols, address - module->start + module->file_offset, place_out);
}

const struct elf_symbol *module_symbols_symbol(const struct module_symbols *file, uint64_t place)
{
    const struct elf_symbol *symbol = symbol_index_find(&file->debug_index, place);

    return symbol != NULL ? symbol : symbol_index_find(&file->index, place);
}

/* NULL: what is loaded cannot be read. */
static const struct elf_symbols *get_loaded(struct module_symbols *file)
{
    if (is_vdso(file))
        return &file->file.symbols;
    if (file->loaded.memory == NULL && !file->has_no_loaded)
        file->has_no_loaded = symbol_file_open_loaded(file->path, &file->loaded) != 0;
    return file->has_no_loaded ? NULL : &file->loaded.symbols;
}

/* Stubs have no names of their own: they jump to where a slot points that the dynamic linker fills. */
int module_symbols_stub(struct module_symbols *file, uint64_t place, const char **name_out, size_t *length_out)
{
    /* Those that were kept are among the symbols. */
    const struct elf_symbols *symbols = file->problem != NULL || file->has_kept ? NULL : get_loaded(file);
    const struct arch *arch = symbols == NULL ? NULL : arch_by_elf_machine(symbols->machine);
    struct arch_insn insn = {.flow = ARCH_FLOW_NEXT};
    const uint8_t *code;
    uint64_t available;

    if (arch == NULL || elf_symbols_code(symbols, place, &code, &available) != 0)
        return -ENOENT;
    for (unsigned i = 0; i < STUB_INSNS_MAX && insn.flow == ARCH_FLOW_NEXT; i++) {
        if (arch->decode(code, available, app_pc_of(place), 0, &insn) != 0)
            return -ENOENT;
        place += insn.length;
        code += insn.length;
        available -= insn.length;
    }
    if (insn.flow != ARCH_FLOW_JUMP_INDIRECT || !(insn.properties & ARCH_PC_RELATIVE))
        return -ENOENT;
    return elf_imports_find(symbols, insn.memory_address, name_out, length_out);
}
