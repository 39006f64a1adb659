/* SPDX-License-Identifier: MIT */
/* A list of files, each opened once for its path and build ID; the others do the work. */
#include "symbolize/symbolizer.h"

#include "symbolize/module_file.h"
#include "trace/modules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 4096

struct symbolizer_file {
    struct symbolizer_file *next;
    struct module_file file;
};

void symbolizer_init(struct symbolizer *symbolizer, const struct symbolizer_options *options)
{
    *symbolizer = (struct symbolizer){.trace = -1};
    if (options != NULL)
        symbolizer->options = *options;
    name_store_init(&symbolizer->names);
}

void symbolizer_use_trace(struct symbolizer *symbolizer, int folder)
{
    symbolizer->trace = folder;
}

void symbolizer_deinit(struct symbolizer *symbolizer)
{
    while (symbolizer->files != NULL) {
        struct symbolizer_file *file = symbolizer->files;

        symbolizer->files = file->next;
        module_file_close(&file->file);
        free(file);
    }
    name_store_deinit(&symbolizer->names);
}

/* NULL: there is no memory. */
static struct symbolizer_file *get_file(struct symbolizer *symbolizer, const struct module *module)
{
    struct symbolizer_file **link = &symbolizer->files, *file;

    while (*link != NULL && !module_file_is_of(&(*link)->file, module))
        link = &(*link)->next;
    file = *link;
    if (file == NULL) {
        file = calloc(1, sizeof(*file));
        if (file == NULL)
            return NULL;
        module_file_open_kept(&file->file, module, symbolizer->trace);
    } else {
        *link = file->next;
    }
    file->next = symbolizer->files;
    symbolizer->files = file;
    return file;
}

/* ---- one address ------------------------------------------------------------------------------------------------- */

/* By the place in the file. */
static const char *name_place(struct symbolizer *symbolizer, const struct module *module, uint64_t address)
{
    const char *slash = strrchr(module->path, '/');
    char text[NAME_BYTES];
    int length = snprintf(text, sizeof(text), "%s+0x%" PRIx64, slash == NULL ? module->path : slash + 1,
                          address - module->start + module->file_offset);

    return name_store_put(&symbolizer->names, text, length < NAME_BYTES ? (size_t)length : NAME_BYTES - 1);
}

/* NULL: it is no stub. */
static const char *name_stub(struct symbolizer *symbolizer, struct symbolizer_file *file, uint64_t place)
{
    char text[NAME_BYTES];
    const char *name;
    size_t length;

    if (module_file_stub(&file->file, place, &name, &length) != 0 || length >= sizeof(text))
        return NULL;
    memcpy(text, name, length);
    text[length] = '\0';
    name = name_store_put_function(&symbolizer->names, text, length);
    length = (size_t)snprintf(text, sizeof(text), "%s@plt", name);
    return name_store_put(&symbolizer->names, text, length < sizeof(text) ? length : sizeof(text) - 1);
}

/* Names that were kept have those of stubs among them. */
static bool name_kept_stub(struct symbolizer *symbolizer, const struct elf_symbol *symbol, struct symbol_place *place)
{
    const size_t suffix = strlen("@plt");
    char text[NAME_BYTES];
    const char *name;
    size_t length;

    if (symbol->name_length <= suffix || memcmp(symbol->name + symbol->name_length - suffix, "@plt", suffix) != 0)
        return false;
    name = name_store_put_function(&symbolizer->names, symbol->name, symbol->name_length - suffix);
    length = (size_t)snprintf(text, sizeof(text), "%s@plt", name);
    place->frames[0].function =
        name_store_put(&symbolizer->names, text, length < sizeof(text) ? length : sizeof(text) - 1);
    return true;
}

/* By symbol tables. False: there is no symbol. */
static bool name_symbol(struct symbolizer *symbolizer, struct symbolizer_file *file, uint64_t address,
                        struct symbol_place *place)
{
    const struct elf_symbol *symbol = module_file_symbol(&file->file, address);

    if (symbol == NULL)
        return false;
    if (name_kept_stub(symbolizer, symbol, place))
        return true;
    place->symbol = name_store_put(&symbolizer->names, symbol->name, symbol->name_length);
    place->distance = address - symbol->address;
    place->frames[0].function = name_store_put_function(&symbolizer->names, symbol->name, symbol->name_length);
    return true;
}

void symbolizer_find(struct symbolizer *symbolizer, const struct module *module, uint64_t address,
                     struct symbol_place *place_out)
{
    struct symbolizer_file *file = get_file(symbolizer, module);
    uint64_t place;

    place_out->count = 1;
    place_out->frames[0] = (struct symbol_frame){.function = NULL};
    place_out->symbol = NULL;
    place_out->distance = 0;
    place_out->problem = file == NULL ? "is too large for the memory" : file->file.problem;
    if (file != NULL && module_file_place(&file->file, module, address, &place) == 0 &&
        !name_symbol(symbolizer, file, place, place_out))
        place_out->frames[0].function = name_stub(symbolizer, file, place);
    if (place_out->frames[0].function == NULL)
        place_out->frames[0].function = name_place(symbolizer, module, address);
}

void symbolizer_find_function(struct symbolizer *symbolizer, const struct module *module, uint64_t address,
                              struct symbol_function *function_out)
{
    struct symbol_place place;

    symbolizer_find(symbolizer, module, address, &place);
    *function_out = (struct symbol_function){.name = place.frames[place.count - 1].function, .problem = place.problem};
}

const char *symbolizer_path(struct symbolizer *symbolizer, const struct module *module)
{
    struct symbolizer_file *file = get_file(symbolizer, module);

    return file == NULL || file->file.path == NULL ? "" : file->file.path;
}

int symbolizer_place(struct symbolizer *symbolizer, const struct module *module, uint64_t address, uint64_t *place_out)
{
    struct symbolizer_file *file = get_file(symbolizer, module);

    return file == NULL ? -ENOENT : module_file_place(&file->file, module, address, place_out);
}

/* ---- many addresses ---------------------------------------------------------------------------------------------- */

void symbolizer_prepare(struct symbolizer *symbolizer, const struct symbol_address *addresses, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)get_file(symbolizer, addresses[i].module);
}
