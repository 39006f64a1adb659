/* SPDX-License-Identifier: MIT */
/*
 * libdwfl finds the files that belong together. Units are read by ourselves where they are as nearly all are
 * (dwarf_reader.h), from bytes that all threads share; what is left, as split units, is read by libdw, which is slower
 * and for one thread: then the file is opened once more. What libdw has read stays in memory until it is closed, so it
 * is closed now and then. Functions that the linker has thrown away are left in debug information, at addresses where
 * no code is: they are passed over.
 */
#define _GNU_SOURCE
#include "symbolize/dwarf/dwarf_code.h"

#include "symbolize/dwarf/dwarf_package.h"
#include "symbolize/dwarf/dwarf_range_list.h"
#include "symbolize/dwarf/dwarf_reader.h"
#include "symbolize/dwarf/dwarf_session.h"
#include "symbolize/dwarf/dwarf_unit.h"

#include <errno.h>
#include <stdlib.h>

#define UNITS_FOR_LIBDW 512 /* then it is opened again */

/* What threads share. */
struct dwarf_bytes {
    struct dwarf_file file;
    struct dwarf_file shared; /* that dwz has put aside */
    struct dwarf_package_file package_file;
    struct dwarf_package package; /* of split units */
    bool has_package;
};

struct dwarf_code {
    char *path;
    char *folders;
    struct dwarf_session session; /* empty where it is somebody else's */
    struct dwarf_bytes *own_bytes;
    const struct dwarf_bytes *bytes; /* NULL: only libdw can read it */
    struct dwarf_extent extent;
    struct dwarf_reader reader;
    struct dwarf_session slow; /* for units that libdw reads; opened when it is needed */
    size_t slow_count;
};

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void forget_bytes(struct dwarf_bytes *bytes)
{
    if (bytes == NULL)
        return;
    dwarf_file_deinit(&bytes->file);
    dwarf_file_deinit(&bytes->shared);
    if (bytes->has_package)
        dwarf_package_deinit(&bytes->package);
    dwarf_package_file_close(&bytes->package_file);
    free(bytes);
}

/* NULL: it cannot be read by ourselves. */
static struct dwarf_bytes *take_bytes(Dwarf *dwarf)
{
    struct dwarf_bytes *bytes = calloc(1, sizeof(*bytes));
    struct dwarf_sections sections;
    Dwarf *other = dwarf_getalt(dwarf);
    int result;

    if (bytes == NULL)
        return NULL;
    result = dwarf_session_sections(dwarf, &sections) ? dwarf_file_init(&bytes->file, &sections, NULL) : -ENOTSUP;
    if (result == 0 && other != NULL)
        result = dwarf_session_sections(other, &sections) ? dwarf_file_init(&bytes->shared, &sections, NULL) : -ENOTSUP;
    if (result == 0 && other != NULL)
        bytes->file.shared = &bytes->shared;
    if (result == 0)
        return bytes;
    forget_bytes(bytes);
    return NULL;
}

/* libdw (of elfutils 0.188) knows split units in files of their own only. */
static void take_package(struct dwarf_bytes *bytes, const char *path)
{
    if (dwarf_package_file_open(&bytes->package_file, path) == 0)
        bytes->has_package = dwarf_package_init(&bytes->package, &bytes->package_file.sections,
                                                bytes->package_file.index, &bytes->file.sections) == 0;
}

static void begin_reading(struct dwarf_code *code)
{
    if (code->bytes == NULL)
        return;
    dwarf_reader_init(&code->reader, &code->bytes->file, &code->extent);
    if (code->bytes->has_package)
        code->reader.package = &code->bytes->package;
}

static struct dwarf_code *create(const char *path, const char *folders)
{
    struct dwarf_code *code = calloc(1, sizeof(*code));

    if (code == NULL)
        return NULL;
    code->path = strdup(path);
    code->folders = strdup(folders);
    if (code->path != NULL && code->folders != NULL)
        return code;
    dwarf_code_close(code);
    return NULL;
}

int dwarf_code_open(const char *path, const char *folders, struct dwarf_code **code_out)
{
    struct dwarf_code *code = create(path, folders);

    if (code == NULL)
        return -ENOMEM;
    if (dwarf_session_begin(&code->session, path, folders) != 0) {
        dwarf_code_close(code);
        return -ENOENT;
    }
    code->extent = code->session.extent;
    code->own_bytes = take_bytes(code->session.dwarf);
    code->bytes = code->own_bytes;
    if (code->own_bytes != NULL)
        take_package(code->own_bytes, path);
    begin_reading(code);
    *code_out = code;
    return 0;
}

int dwarf_code_share(const struct dwarf_code *code, struct dwarf_code **code_out)
{
    struct dwarf_code *other = create(code->path, code->folders);

    if (other == NULL)
        return -ENOMEM;
    other->extent = code->extent;
    other->bytes = code->bytes;
    begin_reading(other);
    *code_out = other;
    return 0;
}

void dwarf_code_close(struct dwarf_code *code)
{
    if (code == NULL)
        return;
    if (code->bytes != NULL)
        dwarf_reader_deinit(&code->reader);
    forget_bytes(code->own_bytes);
    dwarf_session_end(&code->slow);
    dwarf_session_end(&code->session);
    free(code->path);
    free(code->folders);
    free(code);
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

/* The debug information, for libdw to read; NULL: it cannot be opened any more. */
static Dwarf *open_slow(struct dwarf_code *code)
{
    if (code->slow_count++ % UNITS_FOR_LIBDW == 0) {
        dwarf_session_end(&code->slow);
        if (dwarf_session_begin(&code->slow, code->path, code->folders) != 0)
            return NULL;
    }
    return code->slow.dwarf;
}

static int add_unit(struct dwarf_range_list *list, const struct dwarf_extent *extent, Dwarf_Die *unit)
{
    struct dwarf_range range = {.unit = dwarf_dieoffset(unit)};
    Dwarf_Addr base;
    ptrdiff_t place = 0;
    int result = 0;

    while (result == 0 && (place = dwarf_ranges(unit, place, &base, &range.begin, &range.end)) > 0)
        result = dwarf_range_list_add(list, extent, range);
    return result;
}

/* Some units do not say it themselves, but a table does. */
static int add_from_table(struct dwarf_range_list *list, const struct dwarf_extent *extent, Dwarf *dwarf)
{
    Dwarf_Aranges *table;
    size_t count = 0;
    int result = 0;

    if (dwarf_getaranges(dwarf, &table, &count) != 0)
        return 0;
    for (size_t i = 0; result == 0 && i < count; i++) {
        struct dwarf_range range;
        Dwarf_Word length;
        Dwarf_Off unit;

        if (dwarf_getarangeinfo(dwarf_onearange(table, i), &range.begin, &length, &unit) != 0)
            continue;
        range.end = range.begin + length;
        range.unit = unit;
        result = dwarf_range_list_add(list, extent, range);
    }
    return result;
}

static int read_slowly(struct dwarf_code *code, struct dwarf_range_list *list)
{
    Dwarf *dwarf = open_slow(code);
    Dwarf_CU *unit = NULL;
    Dwarf_Die entry;
    int result = 0;

    if (dwarf == NULL)
        return 0;
    while (result == 0 && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &entry, NULL) == 0)
        result = add_unit(list, &code->extent, &entry);
    return result == 0 ? add_from_table(list, &code->extent, dwarf) : result;
}

int dwarf_code_ranges(struct dwarf_code *code, struct dwarf_range **ranges_out, size_t *count_out)
{
    struct dwarf_range_list list = {.count = 0};
    int result = code->bytes == NULL ? -ENOTSUP : dwarf_range_list_read(&list, &code->bytes->file, &code->extent);

    if (result == -ENOTSUP) {
        list.count = 0;
        result = read_slowly(code, &list);
    }
    if (result != 0) {
        free(list.ranges);
        return result;
    }
    *ranges_out = list.ranges;
    *count_out = list.count;
    return 0;
}

static int make_slowly(struct dwarf_code *code, uint64_t unit, void **block_out, size_t *size_out, bool *is_whole_out)
{
    Dwarf *dwarf = open_slow(code);
    Dwarf_Die entry;

    if (dwarf == NULL || dwarf_offdie(dwarf, unit, &entry) == NULL)
        return -ENOENT;
    return dwarf_unit_make_table(&entry, &code->extent, block_out, size_out, is_whole_out);
}

int dwarf_code_make_table(struct dwarf_code *code, uint64_t unit, void **block_out, size_t *size_out,
                          bool *is_whole_out)
{
    int result = code->bytes == NULL ? -ENOTSUP : dwarf_reader_make_table(&code->reader, unit, block_out, size_out);

    if (result == -ENOTSUP || result == -ENOENT)
        return make_slowly(code, unit, block_out, size_out, is_whole_out);
    if (result == 0)
        *is_whole_out = true;
    return result;
}
