/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/line_printer.h"

#include "elf/symbol_file.h"
#include "support/random.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_PER_FUNCTION 8

bool line_printer_module(const char *path, struct recorded_module *module_out)
{
    struct symbol_file file;
    bool is_found = false;

    if (symbol_file_open(path, &file) != 0)
        return false;
    *module_out = (struct recorded_module){.path = (char *)(uintptr_t)path, .unloaded = UINT64_MAX};
    for (uint64_t i = 0; i < file.symbols.program_header_count && !is_found; i++) {
        Elf64_Phdr segment;

        memcpy(&segment, file.symbols.bytes + file.symbols.program_headers + i * sizeof(segment), sizeof(segment));
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
            continue;
        module_out->start = segment.p_vaddr;
        module_out->end = segment.p_vaddr + segment.p_filesz;
        module_out->file_offset = segment.p_offset;
        is_found = true;
    }
    symbol_file_close(&file);
    return is_found;
}

static bool get_function(const struct elf_symbols *symbols, uint64_t which, struct elf_symbol *symbol_out)
{
    return elf_symbols_get(symbols, which, symbol_out) == 0 && symbol_out->is_function && symbol_out->size_bytes != 0;
}

static size_t count_functions(const struct elf_symbols *symbols)
{
    struct elf_symbol symbol;
    size_t count = 0;

    for (uint64_t i = 0; i < elf_symbols_count(symbols); i++)
        count += get_function(symbols, i, &symbol);
    return count;
}

uint64_t *line_printer_addresses(const char *path, size_t count_max, size_t *count_out)
{
    uint64_t *addresses = calloc(count_max + PLACES_PER_FUNCTION, sizeof(*addresses));
    struct symbol_file file;
    struct elf_symbol symbol;
    struct random random;
    size_t used = 0, stride;

    *count_out = 0;
    if (addresses == NULL || symbol_file_open(path, &file) != 0)
        return addresses;
    random_init(&random, 7);
    stride = count_functions(&file.symbols) * PLACES_PER_FUNCTION / (count_max + 1) + 1;
    for (unsigned round = 0; round < 64 && used < count_max; round++)
        for (uint64_t i = 0, which = 0; i < elf_symbols_count(&file.symbols) && used < count_max; i++) {
            if (!get_function(&file.symbols, i, &symbol) || which++ % stride != 0)
                continue;
            if (round == 0)
                addresses[used++] = symbol.address;
            for (unsigned k = 1; k < PLACES_PER_FUNCTION && symbol.size_bytes > 8; k++)
                addresses[used++] = symbol.address + random_below(&random, symbol.size_bytes);
        }
    symbol_file_close(&file);
    *count_out = used < count_max ? used : count_max;
    return addresses;
}

/* printf would take as long as finding what is printed. */
static void put_number(FILE *out, uint64_t number, unsigned base, unsigned digits_min)
{
    char digits[24], *at = digits + sizeof(digits);

    *--at = '\0';
    for (unsigned i = 0; number != 0 || i < digits_min; i++, number /= base)
        *--at = "0123456789abcdef"[number % base];
    if (base == 16)
        fputs_unlocked("0x", out);
    fputs_unlocked(at, out);
}

static void put_frame(FILE *out, const struct symbol_frame *frame)
{
    fputs_unlocked(frame->function, out);
    putc_unlocked('\n', out);
    fputs_unlocked(frame->file == NULL ? "??" : frame->file, out);
    putc_unlocked(':', out);
    if (frame->line == 0)
        putc_unlocked('?', out);
    else
        put_number(out, frame->line, 10, 1);
    putc_unlocked('\n', out);
}

void line_printer_print(struct symbolizer *symbolizer, const struct recorded_module *module, const uint64_t *addresses,
                        size_t count, FILE *out)
{
    struct symbol_address *wanted = calloc(count + 1, sizeof(*wanted));
    struct symbol_place place;

    for (size_t i = 0; wanted != NULL && i < count; i++)
        wanted[i] = (struct symbol_address){module, addresses[i]};
    if (wanted != NULL)
        symbolizer_prepare(symbolizer, wanted, count);
    free(wanted);
    for (size_t i = 0; i < count; i++) {
        put_number(out, addresses[i], 16, 16);
        putc_unlocked('\n', out);
        symbolizer_find(symbolizer, module, addresses[i], &place);
        for (size_t k = 0; k < place.count; k++)
            put_frame(out, &place.frames[k]);
    }
}
