/* SPDX-License-Identifier: MIT */
/*
 * Sorted by address. Code may lie in other code, so the nearest symbol before an address need not cover it: the search
 * goes back from there, but not beyond where everything ends too early.
 */
#include "symbolize/symbol_index.h"

#include "base/partition_point.h"

#include <errno.h>
#include <stdlib.h>

static int compare(const void *left_symbol, const void *right_symbol)
{
    const struct indexed_symbol *first = left_symbol, *second = right_symbol;
    int result = elf_symbol_compare(&first->symbol, &second->symbol);

    /* Of names that are as good, the first one in the file. */
    return result != 0 ? result : first->which > second->which ? -1 : 1;
}

static void note_ends(struct symbol_index *index)
{
    uint64_t end = 0;

    for (size_t i = 0; i < index->count; i++) {
        const struct elf_symbol *symbol = &index->symbols[i].symbol;
        uint64_t own_end = symbol->address + (symbol->size_bytes == 0 ? 1 : symbol->size_bytes);

        /* A size that wraps around is nonsense, and covers nothing. */
        end = own_end > end && own_end > symbol->address ? own_end : end;
        index->symbols[i].covered_end = end;
    }
}

int symbol_index_make(struct symbol_index *index, const struct elf_symbols *symbols)
{
    return symbol_index_make_for(index, symbols, symbols);
}

static bool is_code(const struct elf_symbol *symbol, const struct elf_symbols *code)
{
    const uint8_t *bytes;
    uint64_t available;

    return elf_symbols_code(code, symbol->address, &bytes, &available) == 0;
}

int symbol_index_make_for(struct symbol_index *index, const struct elf_symbols *names, const struct elf_symbols *code)
{
    uint64_t count = elf_symbols_count(names);

    *index = (struct symbol_index){.count = 0};
    if (count == 0)
        return 0;
    index->symbols = calloc(count, sizeof(*index->symbols));
    if (index->symbols == NULL)
        return -ENOMEM;
    for (uint64_t i = 0; i < count; i++)
        if (elf_symbols_peek(names, i, &index->symbols[index->count].symbol) == 0 &&
            is_code(&index->symbols[index->count].symbol, code))
            index->symbols[index->count++].which = i;
    qsort(index->symbols, index->count, sizeof(*index->symbols), compare);
    note_ends(index);
    return 0;
}

void symbol_index_deinit(struct symbol_index *index)
{
    free(index->symbols);
    *index = (struct symbol_index){.count = 0};
}

/* How many symbols begin at the address or before it. */
static size_t count_up_to(const struct symbol_index *index, uint64_t address)
{
    return PARTITION_POINT(index->count, i, index->symbols[i].symbol.address <= address);
}

const struct elf_symbol *symbol_index_find(const struct symbol_index *index, uint64_t address)
{
    for (size_t i = count_up_to(index, address); i > 0 && index->symbols[i - 1].covered_end > address; i--) {
        const struct elf_symbol *symbol = &index->symbols[i - 1].symbol;

        if (address - symbol->address < symbol->size_bytes || symbol->address == address)
            return symbol;
    }
    return NULL;
}
