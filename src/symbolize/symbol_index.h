/* SPDX-License-Identifier: MIT */
/* The code of a file by address: what elf_symbols_find_address finds, for many addresses. After making it does not
 * change. */
#ifndef GAIT_SYMBOLIZE_SYMBOL_INDEX_H
#define GAIT_SYMBOLIZE_SYMBOL_INDEX_H

#include "base/attributes.h"
#include "elf/symbols.h"

struct indexed_symbol {
    struct elf_symbol symbol;
    uint64_t which;       /* in the file */
    uint64_t covered_end; /* of this one and all before it, whatever ends last */
};

struct symbol_index {
    struct indexed_symbol *symbols; /* by address; of several at one address, the best name is last */
    size_t count;
};

/* The names stay where they are, in the file. -ENOMEM. */
MUST_USE int symbol_index_make(struct symbol_index *index, const struct elf_symbols *symbols);

/* The same of a file that has the names only; the code is in the other one. */
MUST_USE int symbol_index_make_for(struct symbol_index *index, const struct elf_symbols *names,
                                   const struct elf_symbols *code);
void symbol_index_deinit(struct symbol_index *index);

/* The code that an address is in, or begins. NULL: none covers it. */
const struct elf_symbol *symbol_index_find(const struct symbol_index *index, uint64_t address);

#endif
