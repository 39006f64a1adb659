/* SPDX-License-Identifier: MIT */
/*
 * Every header and entry is copied out of the file by read_at(), which refuses what is not whole inside of it; offsets
 * and counts from the file are never used otherwise. No state, no lock. Neighbour: image.c, which reads what a loader
 * needs.
 */
#include "elf/symbols.h"

#include "base/memory_functions.h"

#include <asm/errno.h>
#include <linux/elf.h>

#define ELF_CLASS_64      2
#define ELF_LITTLE_ENDIAN 1
#define SYMBOL_KIND(info) ((info)&15)
#define KIND_NOTHING      0
#define KIND_FUNCTION     2
#define KIND_RESOLVER     10
#define TYPE_SYMBOLS      2
#define TYPE_DYNAMIC      11
#define MACHINE_RESERVED  0xff00

static int read_at(const struct elf_symbols *symbols, uint64_t offset, void *value_out, size_t size_bytes)
{
    if (offset > symbols->size_bytes || symbols->size_bytes - offset < size_bytes)
        return -ENOEXEC;
    memcpy(value_out, symbols->bytes + offset, size_bytes);
    return 0;
}

/* Whether `count` entries of that size are whole inside of the file. */
static bool is_inside(const struct elf_symbols *symbols, uint64_t offset, uint64_t count, uint64_t entry_bytes)
{
    return offset <= symbols->size_bytes && count <= (symbols->size_bytes - offset) / entry_bytes;
}

static bool is_known(const Elf64_Ehdr *header)
{
    return header->e_ident[EI_MAG0] == ELFMAG0 && header->e_ident[EI_MAG1] == ELFMAG1 &&
           header->e_ident[EI_MAG2] == ELFMAG2 && header->e_ident[EI_MAG3] == ELFMAG3 &&
           header->e_ident[EI_CLASS] == ELF_CLASS_64 && header->e_ident[EI_DATA] == ELF_LITTLE_ENDIAN &&
           (header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

static int read_table(struct elf_symbols *symbols, const Elf64_Ehdr *header, const Elf64_Shdr *section,
                      struct elf_symbol_table *table_out)
{
    Elf64_Shdr names;

    if (section->sh_link >= header->e_shnum || section->sh_entsize != sizeof(Elf64_Sym) ||
        read_at(symbols, header->e_shoff + (uint64_t)section->sh_link * sizeof(names), &names, sizeof(names)) != 0)
        return -ENOEXEC;
    if (!is_inside(symbols, section->sh_offset, section->sh_size / sizeof(Elf64_Sym), sizeof(Elf64_Sym)) ||
        !is_inside(symbols, names.sh_offset, names.sh_size, 1))
        return -ENOEXEC;
    table_out->offset = section->sh_offset;
    table_out->count = section->sh_size / sizeof(Elf64_Sym);
    table_out->names_offset = names.sh_offset;
    table_out->names_bytes = names.sh_size;
    return 0;
}

/* Section headers may be missing: then there are no names, which is no mistake. */
static int read_sections(struct elf_symbols *symbols, const Elf64_Ehdr *header)
{
    if (header->e_shnum == 0)
        return 0;
    if (header->e_shentsize != sizeof(Elf64_Shdr) ||
        !is_inside(symbols, header->e_shoff, header->e_shnum, sizeof(Elf64_Shdr)))
        return -ENOEXEC;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        Elf64_Shdr section;
        int result = read_at(symbols, header->e_shoff + i * sizeof(section), &section, sizeof(section));

        if (result == 0 && section.sh_type == TYPE_SYMBOLS)
            result = read_table(symbols, header, &section, &symbols->tables[0]);
        else if (result == 0 && section.sh_type == TYPE_DYNAMIC)
            result = read_table(symbols, header, &section, &symbols->tables[1]);
        if (result != 0)
            return result;
    }
    return 0;
}

int elf_symbols_parse(const void *bytes, size_t size_bytes, struct elf_symbols *symbols_out)
{
    struct elf_symbols symbols = {.bytes = bytes, .size_bytes = size_bytes};
    Elf64_Ehdr header;
    int result = read_at(&symbols, 0, &header, sizeof(header));

    if (result != 0 || !is_known(&header))
        return -ENOEXEC;
    if (header.e_phnum != 0 && (header.e_phentsize != sizeof(Elf64_Phdr) ||
                                !is_inside(&symbols, header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr))))
        return -ENOEXEC;
    symbols.machine = header.e_machine;
    symbols.program_headers = header.e_phoff;
    symbols.program_header_count = header.e_phnum;
    result = read_sections(&symbols, &header);
    if (result != 0)
        return result;
    *symbols_out = symbols;
    return 0;
}

uint64_t elf_symbols_count(const struct elf_symbols *symbols)
{
    return symbols->tables[0].count + symbols->tables[1].count;
}

/* Finds a name and where it ends: at its NUL, or at the @ of a version. */
static int read_name(const struct elf_symbols *symbols, const struct elf_symbol_table *table, uint64_t offset,
                     struct elf_symbol *symbol)
{
    const char *names = (const char *)symbols->bytes + table->names_offset;
    size_t length = 0;

    if (offset >= table->names_bytes)
        return -ENOENT;
    while (offset + length < table->names_bytes && names[offset + length] != '\0' &&
           (names[offset + length] != '@' || length == 0))
        length++;
    if (length == 0 || offset + length == table->names_bytes)
        return -ENOENT;
    symbol->name = names + offset;
    symbol->name_length = length;
    return 0;
}

int elf_symbols_peek(const struct elf_symbols *symbols, uint64_t which, struct elf_symbol *symbol_out)
{
    const struct elf_symbol_table *table = &symbols->tables[0];
    struct elf_symbol symbol = {0};
    Elf64_Sym entry;

    if (which >= table->count) {
        which -= table->count;
        table = &symbols->tables[1];
    }
    if (which >= table->count || read_at(symbols, table->offset + which * sizeof(entry), &entry, sizeof(entry)) != 0)
        return -ENOENT;

    unsigned kind = SYMBOL_KIND(entry.st_info);

    /* Assembly may leave the kind out. */
    if (entry.st_shndx == SHN_UNDEF || entry.st_shndx >= MACHINE_RESERVED ||
        (kind != KIND_FUNCTION && kind != KIND_RESOLVER && kind != KIND_NOTHING))
        return -ENOENT;
    if (read_name(symbols, table, entry.st_name, &symbol) != 0)
        return -ENOENT;
    symbol.address = entry.st_value;
    symbol.size_bytes = entry.st_size;
    symbol.is_resolver = kind == KIND_RESOLVER;
    symbol.is_function = kind != KIND_NOTHING;
    symbol.is_local = ELF64_ST_BIND(entry.st_info) == STB_LOCAL;
    *symbol_out = symbol;
    return 0;
}

int elf_symbols_get(const struct elf_symbols *symbols, uint64_t which, struct elf_symbol *symbol_out)
{
    struct elf_symbol symbol;
    const uint8_t *code;
    uint64_t available;

    if (elf_symbols_peek(symbols, which, &symbol) != 0 ||
        elf_symbols_code(symbols, symbol.address, &code, &available) != 0)
        return -ENOENT;
    *symbol_out = symbol;
    return 0;
}

static bool has_name(const struct elf_symbol *symbol, const char *name)
{
    for (size_t i = 0; i < symbol->name_length; i++)
        if (name[i] != symbol->name[i])
            return false;
    return name[symbol->name_length] == '\0';
}

uint64_t elf_symbols_measure(const struct elf_symbols *symbols, uint64_t address)
{
    const uint8_t *code;
    uint64_t size_bytes;
    struct elf_symbol other;

    if (elf_symbols_code(symbols, address, &code, &size_bytes) != 0)
        return 0;
    for (uint64_t i = 0; i < elf_symbols_count(symbols); i++)
        if (elf_symbols_get(symbols, i, &other) == 0 && other.address > address && other.address - address < size_bytes)
            size_bytes = other.address - address;
    return size_bytes;
}

/* Hands a symbol out, with the size that the next one leaves to it if it does not say its own. */
static int deliver(const struct elf_symbols *symbols, struct elf_symbol symbol, struct elf_symbol *symbol_out)
{
    if (symbol.size_bytes == 0)
        symbol.size_bytes = elf_symbols_measure(symbols, symbol.address);
    *symbol_out = symbol;
    return 0;
}

int elf_symbols_find(const struct elf_symbols *symbols, const char *name, struct elf_symbol *symbol_out)
{
    struct elf_symbol symbol, best = {0};
    bool found = false;

    for (uint64_t i = 0; i < elf_symbols_count(symbols); i++) {
        if (elf_symbols_get(symbols, i, &symbol) != 0 || !has_name(&symbol, name))
            continue;
        if (!found || (best.size_bytes == 0 && symbol.size_bytes != 0))
            best = symbol;
        found = true;
    }
    return found ? deliver(symbols, best, symbol_out) : -ENOENT;
}

/*
 * Of two names for the same code, the one for programs: those with more underscores in front are for the library, and
 * so are those that only the library itself knows.
 */
bool elf_symbol_has_plainer_name(const struct elf_symbol *symbol, const struct elf_symbol *other)
{
    size_t i = 0;

    while (i < symbol->name_length && i < other->name_length && symbol->name[i] == '_' && other->name[i] == '_')
        i++;
    if (i < symbol->name_length && i < other->name_length && (symbol->name[i] == '_') != (other->name[i] == '_'))
        return other->name[i] == '_';
    return !symbol->is_local && other->is_local;
}

int elf_symbol_compare(const struct elf_symbol *symbol, const struct elf_symbol *other)
{
    if (symbol->address != other->address)
        return symbol->address < other->address ? -1 : 1;
    return elf_symbol_has_plainer_name(symbol, other) - elf_symbol_has_plainer_name(other, symbol);
}

int elf_symbols_find_address(const struct elf_symbols *symbols, uint64_t address, struct elf_symbol *symbol_out)
{
    struct elf_symbol symbol, best = {0};
    bool found = false;

    for (uint64_t i = 0; i < elf_symbols_count(symbols); i++) {
        if (elf_symbols_get(symbols, i, &symbol) != 0 || symbol.address > address)
            continue;
        if (address - symbol.address >= symbol.size_bytes && symbol.address != address)
            continue;
        if (!found || symbol.address > best.address ||
            (symbol.address == best.address && elf_symbol_has_plainer_name(&symbol, &best)))
            best = symbol;
        found = true;
    }
    return found ? deliver(symbols, best, symbol_out) : -ENOENT;
}

int elf_symbols_code(const struct elf_symbols *symbols, uint64_t address, const uint8_t **code_out,
                     uint64_t *available_out)
{
    for (uint64_t i = 0; i < symbols->program_header_count; i++) {
        Elf64_Phdr header;
        uint64_t within;

        if (read_at(symbols, symbols->program_headers + i * sizeof(header), &header, sizeof(header)) != 0)
            return -ENOENT;
        within = address - header.p_vaddr;
        if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) || address < header.p_vaddr ||
            within >= header.p_filesz || !is_inside(symbols, header.p_offset, header.p_filesz, 1))
            continue;
        *code_out = symbols->bytes + header.p_offset + within;
        *available_out = header.p_filesz - within;
        return 0;
    }
    return -ENOENT;
}

int elf_symbols_address_at(const struct elf_symbols *symbols, uint64_t file_offset, uint64_t *address_out)
{
    for (uint64_t i = 0; i < symbols->program_header_count; i++) {
        Elf64_Phdr header;

        if (read_at(symbols, symbols->program_headers + i * sizeof(header), &header, sizeof(header)) != 0)
            return -ENOENT;
        if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) || file_offset < header.p_offset ||
            file_offset - header.p_offset >= header.p_filesz)
            continue;
        *address_out = header.p_vaddr + (file_offset - header.p_offset);
        return 0;
    }
    return -ENOENT;
}
