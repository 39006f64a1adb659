/* SPDX-License-Identifier: MIT */
/* Relocations that want the address of a symbol. What kind they are of is for a CPU to know, and not looked at. */
#include "elf/loaded_imports.h"

#include "elf/loaded_image.h"
#include "elf/loaded_symbols.h"

#include <asm/errno.h>
#include <linux/elf.h>

#define AT_ONCE         32u
#define RELOCATIONS_MAX (1u << 24)
#define KIND_TLS        6u

struct table {
    uint64_t address;
    uint64_t count;
    bool is_calls;
};

struct import_visit {
    const struct elf_memory *memory;
    const struct elf_loaded_image *image;
    uint64_t symbols;
    uint64_t names;
    uint64_t names_bytes;
    bool (*visit)(void *context, const struct elf_loaded_import *import);
    void *context;
};

/*
 * Thread storage has no address. Data that the image has copied from another one is where its symbol says, and no slot.
 */
static bool wants_address(const Elf64_Rela *relocation, const Elf64_Sym *symbol)
{
    bool is_copy = symbol->st_shndx != SHN_UNDEF && symbol->st_value == relocation->r_offset;

    return (symbol->st_info & 15) != KIND_TLS && !is_copy;
}

/* Whether to go on. What cannot be read, or has no name, is left out. */
static bool visit_one(const struct import_visit *all, const Elf64_Rela *relocation, bool is_call)
{
    uint64_t which = relocation->r_info >> 32;
    char name[ELF_LOADED_NAME_BYTES];
    struct elf_loaded_import import = {.name = name, .is_call = is_call};
    Elf64_Sym symbol;

    if (which == 0 ||
        !all->memory->read(all->memory->context, all->symbols + which * sizeof(symbol), &symbol, sizeof(symbol)) ||
        !wants_address(relocation, &symbol) || symbol.st_name == 0 || symbol.st_name >= all->names_bytes)
        return true;
    import.name_length =
        elf_loaded_name_read(all->memory, all->names + symbol.st_name, all->names_bytes - symbol.st_name, name);
    import.slot = relocation->r_offset + all->image->bias;
    import.is_own = symbol.st_shndx != SHN_UNDEF;
    if (import.name_length == 0 || import.slot < all->image->base || import.slot >= all->image->end ||
        !all->memory->read(all->memory->context, import.slot, &import.target, sizeof(import.target)))
        return true;
    return all->visit(all->context, &import);
}

static bool visit_table(const struct import_visit *all, const struct table *table)
{
    Elf64_Rela relocations[AT_ONCE];

    for (uint64_t i = 0; i < table->count; i++) {
        uint64_t left = table->count - i < AT_ONCE ? table->count - i : AT_ONCE;

        if (i % AT_ONCE == 0 && !all->memory->read(all->memory->context, table->address + i * sizeof(relocations[0]),
                                                   relocations, left * sizeof(relocations[0])))
            return true;
        if (!visit_one(all, &relocations[i % AT_ONCE], table->is_calls))
            return false;
    }
    return true;
}

static struct table find_table(const struct import_visit *all, uint64_t address_tag, uint64_t size_tag)
{
    struct table table = {0, 0, address_tag == DT_JMPREL};
    uint64_t size_bytes;

    if (elf_loaded_image_dynamic_address(all->memory, all->image, address_tag, &table.address) == 0 &&
        elf_loaded_image_dynamic(all->memory, all->image, size_tag, &size_bytes, NULL) == 0)
        table.count = size_bytes / sizeof(Elf64_Rela);
    if (table.count > RELOCATIONS_MAX)
        table.count = 0;
    return table;
}

int elf_loaded_imports_visit(const struct elf_memory *memory, const struct elf_loaded_image *image,
                             bool (*visit)(void *context, const struct elf_loaded_import *import), void *context)
{
    struct import_visit all = {.memory = memory, .image = image, .visit = visit, .context = context};
    struct table calls, others;

    if (elf_loaded_image_dynamic_address(memory, image, DT_SYMTAB, &all.symbols) != 0 ||
        elf_loaded_image_dynamic_address(memory, image, DT_STRTAB, &all.names) != 0 ||
        elf_loaded_image_dynamic(memory, image, DT_STRSZ, &all.names_bytes, NULL) != 0)
        return -ENOENT;
    calls = find_table(&all, DT_JMPREL, DT_PLTRELSZ);
    others = find_table(&all, DT_RELA, DT_RELASZ);
    if (calls.count == 0 && others.count == 0)
        return -ENOENT;
    if (visit_table(&all, &calls))
        (void)visit_table(&all, &others);
    return 0;
}
