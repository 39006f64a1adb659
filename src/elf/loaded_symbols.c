/* SPDX-License-Identifier: MIT */
/*
 * How many dynamic symbols there are follows from the hash tables only: the old one says it, of the new one the longest
 * chain has to be followed to its end. Symbols are read some at a time, names one at a time.
 */
#include "elf/loaded_symbols.h"

#include "elf/loaded_image.h"

#include <asm/errno.h>
#include <linux/elf.h>

#define TAG_GNU_HASH    0x6ffffef5u
#define SYMBOLS_MAX     (1u << 24)
#define AT_ONCE         32u
#define NAME_PIECE      64u
#define KIND(info)      ((info)&15u)
#define BINDING(info)   ((info) >> 4)
#define KIND_TLS        6u
#define SECTION_NUMBERS 0xff00u

struct gnu_hash {
    uint32_t bucket_count;
    uint32_t first; /* of the symbols that are in it */
    uint32_t bloom_words;
    uint32_t bloom_shift;
};

static bool read_memory(const struct elf_memory *memory, uint64_t address, void *bytes_out, size_t size_bytes)
{
    return memory->read(memory->context, address, bytes_out, size_bytes);
}

/* The symbol behind the last one of a chain; 0: it has no end. Chains are short. */
static uint32_t end_of_chain(const struct elf_memory *memory, uint64_t chains, uint32_t first, uint32_t symbol)
{
    uint32_t hash;

    for (; symbol < SYMBOLS_MAX; symbol++) {
        if (!read_memory(memory, chains + (uint64_t)(symbol - first) * sizeof(hash), &hash, sizeof(hash)))
            return 0;
        if (hash & 1)
            return symbol + 1;
    }
    return 0;
}

static uint32_t count_by_gnu_hash(const struct elf_memory *memory, uint64_t table)
{
    uint32_t buckets[AT_ONCE], last = 0;
    struct gnu_hash hash;
    uint64_t bucket;

    if (!read_memory(memory, table, &hash, sizeof(hash)) || hash.bucket_count > SYMBOLS_MAX ||
        hash.bloom_words > SYMBOLS_MAX)
        return 0;
    bucket = table + sizeof(hash) + (uint64_t)hash.bloom_words * sizeof(uint64_t);
    for (uint32_t i = 0; i < hash.bucket_count; i++) {
        uint32_t left = hash.bucket_count - i < AT_ONCE ? hash.bucket_count - i : AT_ONCE;

        if (i % AT_ONCE == 0 &&
            !read_memory(memory, bucket + (uint64_t)i * sizeof(buckets[0]), buckets, left * sizeof(buckets[0])))
            return 0;
        last = buckets[i % AT_ONCE] > last ? buckets[i % AT_ONCE] : last;
    }
    if (last < hash.first)
        return hash.first < SYMBOLS_MAX ? hash.first : 0;
    return end_of_chain(memory, bucket + (uint64_t)hash.bucket_count * sizeof(buckets[0]), hash.first, last);
}

static uint32_t count_symbols(const struct elf_memory *memory, const struct elf_loaded_image *image)
{
    uint32_t words[2];
    uint64_t table;

    if (elf_loaded_image_dynamic_address(memory, image, DT_HASH, &table) == 0 &&
        read_memory(memory, table, words, sizeof(words)) && words[1] < SYMBOLS_MAX)
        return words[1];
    if (elf_loaded_image_dynamic_address(memory, image, TAG_GNU_HASH, &table) == 0)
        return count_by_gnu_hash(memory, table);
    return 0;
}

/* Piece by piece: the string table may end where nothing is mapped. */
size_t elf_loaded_name_read(const struct elf_memory *memory, uint64_t address, uint64_t bytes_max,
                            char name_out[ELF_LOADED_NAME_BYTES])
{
    size_t used = 0;

    if (bytes_max > ELF_LOADED_NAME_BYTES)
        bytes_max = ELF_LOADED_NAME_BYTES;
    while (used < bytes_max) {
        size_t piece = bytes_max - used < NAME_PIECE ? (size_t)bytes_max - used : NAME_PIECE;

        if (!read_memory(memory, address + used, name_out + used, piece))
            return 0;
        for (size_t end = used + piece; used < end; used++)
            if (name_out[used] == '\0')
                return used;
    }
    return 0;
}

static struct elf_loaded_symbol symbol_of(const struct elf_loaded_image *image, const Elf64_Sym *entry)
{
    struct elf_loaded_symbol symbol = {
        .size_bytes = entry->st_size,
        .kind = KIND(entry->st_info),
        .binding = BINDING(entry->st_info),
    };
    bool is_fixed = entry->st_shndx >= SECTION_NUMBERS || symbol.kind == KIND_TLS;

    if (entry->st_shndx != SHN_UNDEF)
        symbol.address = entry->st_value + (is_fixed ? 0 : image->bias);
    return symbol;
}

struct tables {
    uint64_t symbols;
    uint64_t names;
    uint64_t names_bytes;
    uint32_t count;
};

static int find_tables(const struct elf_memory *memory, const struct elf_loaded_image *image, struct tables *tables_out)
{
    if (elf_loaded_image_dynamic_address(memory, image, DT_SYMTAB, &tables_out->symbols) != 0 ||
        elf_loaded_image_dynamic_address(memory, image, DT_STRTAB, &tables_out->names) != 0 ||
        elf_loaded_image_dynamic(memory, image, DT_STRSZ, &tables_out->names_bytes, NULL) != 0)
        return -ENOENT;
    tables_out->count = count_symbols(memory, image);
    return tables_out->count == 0 ? -ENOENT : 0;
}

int elf_loaded_symbols_visit(const struct elf_memory *memory, const struct elf_loaded_image *image,
                             bool (*visit)(void *context, const struct elf_loaded_symbol *symbol), void *context)
{
    char name[ELF_LOADED_NAME_BYTES];
    Elf64_Sym entries[AT_ONCE];
    struct tables tables;
    int result = find_tables(memory, image, &tables);

    for (uint32_t i = 0; result == 0 && i < tables.count; i++) {
        const Elf64_Sym *entry = &entries[i % AT_ONCE];
        uint32_t left = tables.count - i < AT_ONCE ? tables.count - i : AT_ONCE;
        struct elf_loaded_symbol symbol;

        if (i % AT_ONCE == 0 &&
            !read_memory(memory, tables.symbols + (uint64_t)i * sizeof(*entry), entries, left * sizeof(*entry)))
            return -ENOENT;
        if (entry->st_name == 0 || entry->st_name >= tables.names_bytes)
            continue;
        symbol = symbol_of(image, entry);
        symbol.name = name;
        symbol.name_length =
            elf_loaded_name_read(memory, tables.names + entry->st_name, tables.names_bytes - entry->st_name, name);
        if (symbol.name_length != 0 && !visit(context, &symbol))
            break;
    }
    return result;
}

struct name_search {
    const char *name;
    uint64_t address;
};

static bool take_symbol(void *context, const struct elf_loaded_symbol *symbol)
{
    struct name_search *search = context;
    size_t i = 0;

    while (i < symbol->name_length && search->name[i] == symbol->name[i])
        i++;
    if (symbol->address != 0 && i == symbol->name_length && search->name[i] == '\0')
        search->address = symbol->address;
    return search->address == 0;
}

int elf_loaded_symbols_find(const struct elf_memory *memory, const struct elf_loaded_image *image, const char *name,
                            uint64_t *address_out)
{
    struct name_search search = {.name = name};
    int result = elf_loaded_symbols_visit(memory, image, take_symbol, &search);

    if (result != 0 || search.address == 0)
        return -ENOENT;
    *address_out = search.address;
    return 0;
}
