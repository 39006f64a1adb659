/* SPDX-License-Identifier: MIT */
/*
 * The names in a 64-bit ELF file, executable or library, as a span of bytes: functions and where their code is in the
 * file. The bytes may come from anywhere: nothing in them is trusted, everything is bounds-checked. Nothing is owned:
 * an elf_symbols points into the caller's bytes, which must not change. No system calls, no locks, no libc; usable
 * anywhere.
 */
#ifndef GAIT_ELF_SYMBOLS_H
#define GAIT_ELF_SYMBOLS_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* .symtab and .dynsym. */
#define ELF_SYMBOL_TABLES 2

struct elf_symbol_table {
    uint64_t offset; /* of the entries, in the file */
    uint64_t count;
    uint64_t names_offset;
    uint64_t names_bytes;
};

struct elf_symbols {
    const uint8_t *bytes;
    size_t size_bytes;
    unsigned machine; /* EM_* */
    uint64_t program_headers;
    uint64_t program_header_count;
    struct elf_symbol_table tables[ELF_SYMBOL_TABLES]; /* count 0: there is none */
};

struct elf_symbol {
    uint64_t address;
    uint64_t size_bytes; /* as the file says, else up to the next symbol; 0: unknown */
    const char *name;    /* points into the file; not ended by a NUL where a version follows */
    size_t name_length;  /* without the version */
    bool is_resolver;    /* its code finds the function to use when the program starts */
    bool is_function;
    bool is_local; /* no other file knows it by this name */
};

/* Reads the headers. -ENOEXEC: not a 64-bit little-endian ELF file, or one with something wrong in it. */
MUST_USE int elf_symbols_parse(const void *bytes, size_t size_bytes, struct elf_symbols *symbols_out);

/* How many entries there are in all tables. */
uint64_t elf_symbols_count(const struct elf_symbols *symbols);

/* Entry number `which`. -ENOENT: there is none, or it is no code that this file defines under a name. */
MUST_USE int elf_symbols_get(const struct elf_symbols *symbols, uint64_t which, struct elf_symbol *symbol_out);

/* The same, also of names for what is no code: what is there is not looked at, so it is quicker. */
MUST_USE int elf_symbols_peek(const struct elf_symbols *symbols, uint64_t which, struct elf_symbol *symbol_out);

/* How far it is from some code to the next symbol, or the end of its segment; 0: there is no code. Asks all symbols. */
uint64_t elf_symbols_measure(const struct elf_symbols *symbols, uint64_t address);

/* The code with that name; the size is found if the file does not say it. -ENOENT: there is none. */
MUST_USE int elf_symbols_find(const struct elf_symbols *symbols, const char *name, struct elf_symbol *symbol_out);

/* Whether people would rather read the first one's name. */
bool elf_symbol_has_plainer_name(const struct elf_symbol *symbol, const struct elf_symbol *other);

/* As sorting has it: by address, and of several names for an address the plainest one last. 0: no difference. */
int elf_symbol_compare(const struct elf_symbol *symbol, const struct elf_symbol *other);

/* The code that an address is in, or begins; of several names, one without underscores. -ENOENT: none covers it. */
MUST_USE int elf_symbols_find_address(const struct elf_symbols *symbols, uint64_t address,
                                      struct elf_symbol *symbol_out);

/* The address of the code that is at that place in the file. -ENOENT: no code is loaded from there. */
MUST_USE int elf_symbols_address_at(const struct elf_symbols *symbols, uint64_t file_offset, uint64_t *address_out);

/* The executable bytes at an address, up to the end of their segment. -ENOENT: there are none in the file. */
MUST_USE int elf_symbols_code(const struct elf_symbols *symbols, uint64_t address, const uint8_t **code_out,
                              uint64_t *available_out);

#endif
