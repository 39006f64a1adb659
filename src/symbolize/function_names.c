/* SPDX-License-Identifier: MIT */
/*
 * Files are read when they are first asked for, and kept with the build ID that was wanted of them. They are read into
 * memory, so that nobody can change them meanwhile.
 */
#include "symbolize/function_names.h"

#include "arch/arch.h"
#include "elf/build_id.h"
#include "elf/imports.h"
#include "symbolize/symbol_index.h"
#include "trace/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX (4ll << 30)
#define STUB_INSNS_MAX 2 /* a landing mark, and the jump */

struct function_file {
    struct function_file *next;
    const struct module *module; /* the first one that wanted it: its path and build ID */
    const char *problem;         /* NULL: the names can be used */
    uint8_t *bytes;
    struct elf_symbols symbols;
    struct symbol_index index;
};

void function_names_init(struct function_names *names)
{
    names->files = NULL;
}

void function_names_deinit(struct function_names *names)
{
    while (names->files != NULL) {
        struct function_file *file = names->files;

        names->files = file->next;
        symbol_index_deinit(&file->index);
        free(file->bytes);
        free(file);
    }
}

/* NULL, or what is wrong. */
static const char *read_bytes(int fd, uint8_t **bytes_out, size_t *size_out)
{
    struct stat status;
    size_t used = 0;
    uint8_t *bytes;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0 || status.st_size > FILE_BYTES_MAX)
        return "is no program or library";
    bytes = malloc((size_t)status.st_size);
    if (bytes == NULL)
        return "is too large for the memory";
    while (used < (size_t)status.st_size) {
        ssize_t count = read(fd, bytes + used, (size_t)status.st_size - used);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            free(bytes);
            return "cannot be read";
        }
        used += (size_t)count;
    }
    *bytes_out = bytes;
    *size_out = used;
    return NULL;
}

static int is_as_recorded(const struct elf_symbols *symbols, const struct module *module)
{
    const uint8_t *build_id;
    size_t size_bytes;

    /* Without an ID nobody can tell. */
    if (module->build_id_bytes == 0)
        return 1;
    return elf_build_id_find(symbols, &build_id, &size_bytes) == 0 && size_bytes == module->build_id_bytes &&
           memcmp(build_id, module->build_id, size_bytes) == 0;
}

static const char *read_file(struct function_file *file)
{
    int fd = open(file->module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const char *problem;
    size_t size_bytes;

    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? "is gone" : "may not be read";
    problem = read_bytes(fd, &file->bytes, &size_bytes);
    close(fd);
    if (problem != NULL)
        return problem;
    if (elf_symbols_parse(file->bytes, size_bytes, &file->symbols) != 0)
        return "is no program or library";
    if (!is_as_recorded(&file->symbols, file->module))
        return "has changed since";
    return symbol_index_make(&file->index, &file->symbols) == 0 ? NULL : "is too large for the memory";
}

static int is_same(const struct module *left, const struct module *right)
{
    return strcmp(left->path, right->path) == 0 && left->build_id_bytes == right->build_id_bytes &&
           memcmp(left->build_id, right->build_id, sizeof(left->build_id)) == 0;
}

/* NULL: there is no memory. */
static struct function_file *get_file(struct function_names *names, const struct module *module)
{
    struct function_file *file = names->files;

    while (file != NULL && !is_same(file->module, module))
        file = file->next;
    if (file != NULL)
        return file;
    file = calloc(1, sizeof(*file));
    if (file == NULL)
        return NULL;
    file->module = module;
    file->problem = read_file(file);
    file->next = names->files;
    names->files = file;
    return file;
}

/*
 * Programs call other libraries through stubs, which have no names of their own: they jump to where a slot points that
 * the dynamic linker fills. False: this is none.
 */
static bool name_stub(const struct elf_symbols *symbols, uint64_t address, char *text, size_t text_bytes)
{
    const struct arch *arch = arch_by_elf_machine(symbols->machine);
    struct arch_insn insn = {.flow = ARCH_FLOW_NEXT};
    const uint8_t *code;
    const char *name;
    uint64_t available;
    size_t length;

    if (arch == NULL || elf_symbols_code(symbols, address, &code, &available) != 0)
        return false;
    for (unsigned i = 0; i < STUB_INSNS_MAX && insn.flow == ARCH_FLOW_NEXT; i++) {
        if (arch->decode(code, available, app_pc_of(address), 0, &insn) != 0)
            return false;
        address += insn.length;
        code += insn.length;
        available -= insn.length;
    }
    if (insn.flow != ARCH_FLOW_JUMP_INDIRECT || !(insn.properties & ARCH_PC_RELATIVE) ||
        elf_imports_find(symbols, insn.memory_address, &name, &length) != 0)
        return false;
    snprintf(text, text_bytes, "%.*s@plt", length > INT16_MAX ? INT16_MAX : (int)length, name);
    return true;
}

const char *function_names_find(struct function_names *names, const struct module *module, uint64_t address, char *text,
                                size_t text_bytes)
{
    uint64_t offset = address - module->start + module->file_offset, place;
    const char *slash = strrchr(module->path, '/');
    struct function_file *file = get_file(names, module);
    const struct elf_symbol *symbol;

    snprintf(text, text_bytes, "%s+0x%" PRIx64, slash == NULL ? module->path : slash + 1, offset);
    if (file == NULL)
        return "is too large for the memory";
    if (file->problem != NULL)
        return file->problem;
    if (elf_symbols_address_at(&file->symbols, offset, &place) != 0)
        return NULL;
    symbol = symbol_index_find(&file->index, place);
    if (symbol == NULL) {
        (void)name_stub(&file->symbols, place, text, text_bytes);
        return NULL;
    }

    int length = symbol->name_length > INT16_MAX ? INT16_MAX : (int)symbol->name_length;

    if (place == symbol->address)
        snprintf(text, text_bytes, "%.*s", length, symbol->name);
    else
        snprintf(text, text_bytes, "%.*s+0x%" PRIx64, length, symbol->name, place - symbol->address);
    return NULL;
}

int function_names_place(struct function_names *names, const struct module *module, uint64_t address,
                         uint64_t *place_out)
{
    struct function_file *file = get_file(names, module);

    if (file == NULL || file->problem != NULL)
        return -ENOENT;
    return elf_symbols_address_at(&file->symbols, address - module->start + module->file_offset, place_out);
}
