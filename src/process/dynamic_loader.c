/* SPDX-License-Identifier: MIT */
/*
 * Loaders say where their struct r_debug is by a symbol, and by an entry that programs have for that in their dynamic
 * section, which is filled in when the loader begins. musl's symbol is a pointer, which is relocated only then, too.
 */
#include "process/dynamic_loader.h"

#include "elf/loaded_image.h"
#include "elf/loaded_symbols.h"
#include "elf/symbol_entries.h"
#include "elf/symbol_file.h"
#include "process/memory_probe.h"

#include <asm/errno.h>
#include <linux/elf.h>

#define ENTRIES_MAX    65536u
#define NAMESPACES_MAX 256u
/* From this version on, r_debug says where that of the next namespace is. */
#define VERSION_NAMESPACES 2

/* What debuggers and loaders have agreed on. */
struct loader_debug {
    int32_t version;
    uint64_t map;
    uint64_t notification;
    int32_t state;
    uint64_t base;
};

struct loader_debug_extended {
    struct loader_debug common;
    uint64_t next;
};

struct loader_map {
    uint64_t bias;
    uint64_t name;
    uint64_t dynamic;
    uint64_t next;
    uint64_t previous;
};

/* ---- finding it -------------------------------------------------------------------------------------------------- */

/* The beginning of the file with the program headers at that address: they follow the ELF header closely. */
static uint64_t find_program(const struct auxiliary_vector *start)
{
    Elf64_Ehdr header;
    uint64_t page = start->program_headers & ~(uint64_t)4095;

    if (start->program_headers == 0 || memory_probe_copy(page, &header, sizeof(header)) != 0 ||
        __builtin_memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || page + header.e_phoff != start->program_headers)
        return 0;
    return page;
}

/* Whether an image is a loader, by the names that it has. */
static bool take_symbols(struct dynamic_loader *loader, uint64_t base)
{
    const struct elf_memory *memory = &memory_probe_reader;
    struct elf_loaded_image image;
    uint64_t other;

    if (base == 0 || elf_loaded_image_read(memory, base, &image) != 0 ||
        elf_loaded_symbols_find(memory, &image, "_dl_debug_state", &loader->notification) != 0)
        return false;
    loader->base = base;
    /* That name is of the same version of glibc as telling of namespaces. musl has no namespaces. */
    if (elf_loaded_symbols_find(memory, &image, "_r_debug", &loader->debug) == 0)
        loader->hides_namespaces = elf_loaded_symbols_find(memory, &image, "__rseq_offset", &other) != 0;
    (void)!elf_loaded_symbols_find(memory, &image, "_dl_debug_addr", &loader->debug_pointer);
    return true;
}

/* The entry that a program has for its loader to fill in. */
static bool take_program_entry(struct dynamic_loader *loader)
{
    struct elf_loaded_image image;
    uint64_t value;

    return loader->program != 0 && elf_loaded_image_read(&memory_probe_reader, loader->program, &image) == 0 &&
           elf_loaded_image_dynamic(&memory_probe_reader, &image, DT_DEBUG, &value, &loader->debug_pointer) == 0;
}

/* A static program has its loader inside, with names only in its file. */
static bool take_static(struct dynamic_loader *loader)
{
    struct elf_loaded_image image;
    struct elf_symbol_entry notification, debug;
    struct symbol_file file;
    bool is_found;

    if (loader->program == 0 || elf_loaded_image_read(&memory_probe_reader, loader->program, &image) != 0 ||
        symbol_file_open("/proc/self/exe", &file) != 0)
        return false;
    is_found = elf_symbol_entry_find(&file.symbols, "_dl_debug_state", &notification) == 0 &&
               elf_symbol_entry_find(&file.symbols, "_r_debug", &debug) == 0;
    if (is_found) {
        loader->base = loader->program;
        loader->notification = notification.address + image.bias;
        loader->debug = debug.address + image.bias;
    }
    symbol_file_close(&file);
    return is_found;
}

/* Where its struct is, if that can be known by now. */
static bool locate_debug(struct dynamic_loader *loader, struct loader_debug *debug_out)
{
    uint64_t address = loader->debug;

    if (address == 0 && loader->debug_pointer != 0 &&
        memory_probe_copy(loader->debug_pointer, &address, sizeof(address)) != 0)
        return false;
    /* A pointer that was not relocated yet leads nowhere, or to something without a version. */
    if (address == 0 || memory_probe_copy(address, debug_out, sizeof(*debug_out)) != 0 || debug_out->version < 1 ||
        debug_out->version > 0xffff || debug_out->notification == 0)
        return false;
    loader->debug = address;
    return true;
}

int dynamic_loader_find(struct dynamic_loader *loader_out)
{
    struct dynamic_loader loader = {.debug = 0};
    struct loader_debug debug;
    bool is_found;

    if (auxiliary_vector_read(&loader.start) != 0) {
        *loader_out = loader;
        return -ENOENT;
    }
    loader.program = find_program(&loader.start);
    /* A loader may be the program, too, whose argument is what it loads. */
    is_found = take_symbols(&loader, loader.start.loader) || take_symbols(&loader, loader.program);
    if (!is_found && loader.start.loader != 0)
        is_found = take_program_entry(&loader) && locate_debug(&loader, &debug);
    if (!is_found && loader.start.loader == 0)
        is_found = take_static(&loader);
    if (loader.notification == 0 && is_found && locate_debug(&loader, &debug))
        loader.notification = debug.notification;
    *loader_out = loader;
    return is_found && loader.notification != 0 ? 0 : -ENOENT;
}

/* ---- its lists --------------------------------------------------------------------------------------------------- */

static int visit_maps(uint64_t address, unsigned namespace_number, const struct loader_visitor *visitor)
{
    for (unsigned count = 0; address != 0; count++) {
        struct loader_entry entry = {.link_map = address, .namespace_number = namespace_number};
        struct loader_map map;

        if (count == ENTRIES_MAX)
            return -ELOOP;
        if (memory_probe_copy(address, &map, sizeof(map)) != 0)
            return -EFAULT;
        entry.bias = map.bias;
        entry.name = map.name;
        entry.dynamic = map.dynamic;
        visitor->take(visitor->context, &entry);
        address = map.next;
    }
    return 0;
}

static enum loader_state state_of(const struct loader_debug *debug)
{
    return debug->state == 1 ? LOADER_ADDING : debug->state == 2 ? LOADER_REMOVING : LOADER_CONSISTENT;
}

int dynamic_loader_visit(struct dynamic_loader *loader, const struct loader_visitor *visitor)
{
    struct loader_debug_extended debug;
    uint64_t address;

    if (!locate_debug(loader, &debug.common))
        return -EAGAIN;
    address = loader->debug;
    for (unsigned number = 0; address != 0; number++) {
        int result = 0;

        if (number == NAMESPACES_MAX)
            return -ELOOP;
        if (memory_probe_copy(address, &debug.common, sizeof(debug.common)) != 0)
            return -EFAULT;
        debug.next = 0;
        if (debug.common.version >= VERSION_NAMESPACES && memory_probe_copy(address, &debug, sizeof(debug)) != 0)
            return -EFAULT;
        if (number == 0 && debug.common.map == 0)
            return -EAGAIN;
        if (visitor->begin(visitor->context, number, state_of(&debug.common)))
            result = visit_maps(debug.common.map, number, visitor);
        if (result != 0)
            return result;
        address = debug.next;
    }
    return 0;
}
