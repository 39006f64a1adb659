/* SPDX-License-Identifier: MIT */
/* A file may have many of them; only of those that are kept the name is looked for, which takes a while. */
#include "agent/unhooked_function.h"

#include "base/text_format.h"
#include "elf/symbols.h"
#include "process/mapping_list.h"
#include "ring/ring_region.h"
#include "ring/unhooked_log.h"

/* What is behind the last slash. */
static void put_module(struct text_writer *text, const struct mapping *mapping)
{
    size_t start = mapping->path_length;

    while (start > 0 && mapping->path[start - 1] != '/')
        start--;
    text_put_bytes(text, mapping->path + start, mapping->path_length - start);
}

static void put_name(struct text_writer *text, const struct unhooked_function *function)
{
    struct elf_symbol symbol;

    put_module(text, function->mapping);
    if (function->name != NULL) {
        text_format(text, "!%s", function->name);
    } else if (elf_symbols_find_address(function->symbols, function->address, &symbol) == 0 &&
               symbol.address == function->address) {
        text_put_char(text, '!');
        text_put_bytes(text, symbol.name, symbol.name_length);
    } else {
        text_put_string(text, "+0x");
        text_put_hex(text, function->address, 1);
    }
}

void unhooked_function_tell(struct ring_region *ring, const struct unhooked_function *function)
{
    struct ring_unhooked entry = {.is_named = function->is_named};
    struct text_writer text;

    if (ring_region_not_hooked(ring) < RING_UNHOOKED_KEPT) {
        text_init(&text, entry.name, sizeof(entry.name));
        put_name(&text, function);
        text_init(&text, entry.why, sizeof(entry.why));
        text_put_string(&text, function->why);
    }
    unhooked_log_add(ring, &entry);
}
