/* SPDX-License-Identifier: MIT */
/*
 * The lines come from the unit's line program; the scopes from its tree of entries, walked from the top. An entry's
 * attributes are read once, in one go: looking each one up is what takes long. A damaged tree may lead in circles: no
 * more entries are visited than there are bytes in the unit.
 */
#include "symbolize/dwarf/dwarf_unit.h"

#include "base/hash_map.h"
#include "symbolize/code_table_builder.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX    400
#define MAP_AT_FIRST 256
#define PATH_BYTES   4096
#define RANGES_MAX   100000

struct unit_reading {
    const struct dwarf_extent *extent;
    struct code_table_builder builder;
    struct hash_map names; /* texts, by the entry that has the name */
    struct hash_map paths; /* numbers of files, by where libdw has their names */
    const char *folder;    /* that the compiler ran in; NULL: not known */
    Dwarf_Files *files;    /* that entries name by number; NULL: there are none */
    size_t file_count;
    bool has_linkage_names; /* of the language: names alone say little */
    bool is_flat;           /* of C and C++: types have no code, but for those in functions */
    const char *last_path;  /* lines mostly come from the same file as the one before */
    uint16_t last_file;
    uint64_t entries_left;
};

/* What is of interest of an entry. Those that it does not have have the code 0. */
struct entry_attributes {
    Dwarf_Attribute low_pc, high_pc, ranges, origin, name, linkage_name, call_file, call_line, call_column;
};

/* ---- files and lines --------------------------------------------------------------------------------------------- */

/* libdw puts the folder in front of some paths already, which shows where it is a relative one. */
static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static uint16_t add_path(struct unit_reading *unit, const char *path)
{
    char whole[PATH_BYTES];

    if (path[0] == '/' || unit->folder == NULL || is_below(path, unit->folder))
        return code_table_builder_add_file(&unit->builder, path);
    snprintf(whole, sizeof(whole), "%s/%s", unit->folder, path);
    return code_table_builder_add_file(&unit->builder, whole);
}

/* 0: not known. */
static uint16_t get_file(struct unit_reading *unit, const char *path)
{
    uint64_t number = 0;

    if (path == NULL || path == unit->last_path)
        return path == NULL ? 0 : unit->last_file;
    if (!hash_map_lookup(&unit->paths, (uint64_t)(uintptr_t)path, &number)) {
        number = add_path(unit, path);
        (void)!hash_map_set(&unit->paths, (uint64_t)(uintptr_t)path, number);
        hash_map_reclaim(&unit->paths);
    }
    unit->last_path = path;
    unit->last_file = (uint16_t)number;
    return (uint16_t)number;
}

static uint16_t narrow(uint64_t column)
{
    return column > UINT16_MAX ? 0 : (uint16_t)column;
}

static uint32_t narrow_line(uint64_t line)
{
    return line > UINT32_MAX ? 0 : (uint32_t)line;
}

static bool has_code(const struct unit_reading *unit, uint64_t address)
{
    uint64_t place = address + unit->extent->distance;

    return address != 0 && place >= unit->extent->begin && place <= unit->extent->end;
}

static void take_line(struct unit_reading *unit, Dwarf_Line *line)
{
    struct source_location place = {.file = 0};
    int number = 0, column = 0;
    Dwarf_Addr address;
    bool is_end = false;

    if (dwarf_lineaddr(line, &address) != 0 || !has_code(unit, address))
        return;
    (void)dwarf_lineendsequence(line, &is_end);
    if (!is_end) {
        (void)dwarf_lineno(line, &number);
        (void)dwarf_linecol(line, &column);
        place = (struct source_location){get_file(unit, dwarf_linesrc(line, NULL, NULL)), narrow((unsigned)column),
                                         (uint32_t)number};
    }
    code_table_builder_add_line(&unit->builder, address + unit->extent->distance, place);
}

static void take_lines(struct unit_reading *unit, Dwarf_Die *entry)
{
    Dwarf_Lines *lines;
    size_t count = 0;

    if (dwarf_getsrclines(entry, &lines, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++)
        take_line(unit, dwarf_onesrcline(lines, i));
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

static int take_attribute(Dwarf_Attribute *attribute, void *context)
{
    struct entry_attributes *entry = context;

    switch (dwarf_whatattr(attribute)) {
    case DW_AT_low_pc:
        entry->low_pc = *attribute;
        break;
    case DW_AT_high_pc:
        entry->high_pc = *attribute;
        break;
    case DW_AT_ranges:
        entry->ranges = *attribute;
        break;
    case DW_AT_abstract_origin:
    case DW_AT_specification:
        entry->origin = *attribute;
        break;
    case DW_AT_name:
        entry->name = *attribute;
        break;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        entry->linkage_name = *attribute;
        break;
    case DW_AT_call_file:
        entry->call_file = *attribute;
        break;
    case DW_AT_call_line:
        entry->call_line = *attribute;
        break;
    case DW_AT_call_column:
        entry->call_column = *attribute;
        break;
    default:
        break;
    }
    return DWARF_CB_OK;
}

static uint64_t number_of(Dwarf_Attribute *attribute)
{
    Dwarf_Word value = 0;

    if (attribute->code != 0)
        (void)dwarf_formudata(attribute, &value);
    return value;
}

/* The name that linkers know, of the entry or of what it refers to; NULL: it has none. */
static const char *linkage_name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;

    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) == NULL &&
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute) == NULL)
        return NULL;
    return dwarf_formstring(&attribute);
}

static struct code_name add_name(struct unit_reading *unit, const char *linkage_name, const char *name)
{
    if (linkage_name != NULL)
        return (struct code_name){code_table_builder_add_text(&unit->builder, linkage_name), false};
    return (struct code_name){name == NULL ? 0 : code_table_builder_add_text(&unit->builder, name),
                              unit->has_linkage_names};
}

/* A function that is put into others often is named by all of them, by where its own entry is. */
static struct code_name name_by_origin(struct unit_reading *unit, Dwarf_Attribute *origin)
{
    struct code_name name = {0};
    uint64_t key, known;
    Dwarf_Die die;

    if (dwarf_formref_die(origin, &die) == NULL)
        return name;
    key = (uint64_t)(uintptr_t)die.addr;
    if (hash_map_lookup(&unit->names, key, &known))
        return (struct code_name){(uint32_t)known, known >> 32 != 0};
    name = add_name(unit, linkage_name_of(&die), dwarf_diename(&die));
    (void)!hash_map_set(&unit->names, key, name.text | (uint64_t)name.is_plain << 32);
    hash_map_reclaim(&unit->names);
    return name;
}

static struct code_name name_of(struct unit_reading *unit, struct entry_attributes *entry)
{
    const char *linkage_name = entry->linkage_name.code == 0 ? NULL : dwarf_formstring(&entry->linkage_name);

    if (linkage_name == NULL && entry->origin.code != 0)
        return name_by_origin(unit, &entry->origin);
    return add_name(unit, linkage_name, entry->name.code == 0 ? NULL : dwarf_formstring(&entry->name));
}

static struct source_location call_of(struct unit_reading *unit, struct entry_attributes *entry)
{
    struct source_location place = {.line = narrow_line(number_of(&entry->call_line)),
                                    .column = narrow(number_of(&entry->call_column))};
    uint64_t file = number_of(&entry->call_file);

    if (entry->call_file.code != 0 && unit->files != NULL && file < unit->file_count)
        place.file = get_file(unit, dwarf_filesrc(unit->files, file, NULL, NULL));
    return place;
}

/* From DWARF 5 on the first file has the number 0, which libdw takes for none. */
static const char *declaring_file(struct unit_reading *unit, Dwarf_Die *die)
{
    const char *file = dwarf_decl_file(die);
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Half version = 0;
    Dwarf_Die own;

    if (file != NULL || unit->files == NULL || unit->file_count == 0 ||
        dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) == NULL || attribute.cu != die->cu ||
        dwarf_formudata(&attribute, &number) != 0 || number != 0 ||
        dwarf_cu_die(die->cu, &own, &version, NULL, NULL, NULL, NULL, NULL) == NULL || version < 5)
        return file;
    return dwarf_filesrc(unit->files, 0, NULL, NULL);
}

static struct source_location declaration_of(struct unit_reading *unit, Dwarf_Die *die)
{
    struct source_location place = {.file = get_file(unit, declaring_file(unit, die))};
    int line = 0, column = 0;

    if (place.file == 0)
        return place;
    (void)dwarf_decl_line(die, &line);
    (void)dwarf_decl_column(die, &column);
    place.line = line < 0 ? 0 : (uint32_t)line;
    place.column = narrow((unsigned)column);
    return place;
}

/* ---- scopes ------------------------------------------------------------------------------------------------------ */

static void add_range(struct unit_reading *unit, uint32_t scope, uint64_t begin, uint64_t end)
{
    if (has_code(unit, begin) && has_code(unit, end))
        code_table_builder_add_range(&unit->builder, scope, begin + unit->extent->distance,
                                     end + unit->extent->distance);
}

static void add_ranges(struct unit_reading *unit, uint32_t scope, Dwarf_Die *die, struct entry_attributes *entry)
{
    Dwarf_Addr base, begin, end;
    ptrdiff_t place = 0;

    if (entry->low_pc.code != 0 && entry->high_pc.code != 0) {
        if (dwarf_formaddr(&entry->low_pc, &begin) != 0)
            return;
        if (dwarf_formaddr(&entry->high_pc, &end) != 0)
            end = begin + number_of(&entry->high_pc);
        add_range(unit, scope, begin, end);
        return;
    }
    for (unsigned i = 0; i < RANGES_MAX && (place = dwarf_ranges(die, place, &base, &begin, &end)) > 0; i++)
        add_range(unit, scope, begin, end);
}

/* A function, or one that was put into another. Its number and one; 0: it has no code, as descriptions have none. */
static uint32_t take_scope(struct unit_reading *unit, Dwarf_Die *die, uint32_t around)
{
    bool is_inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine;
    struct entry_attributes entry = {.low_pc = {.code = 0}};
    uint32_t scope;

    (void)dwarf_getattrs(die, take_attribute, &entry, 0);
    if (entry.ranges.code == 0 && (entry.low_pc.code == 0 || entry.high_pc.code == 0))
        return 0;
    scope = code_table_builder_add_scope(&unit->builder, name_of(unit, &entry), is_inlined ? around : 0,
                                         is_inlined ? call_of(unit, &entry) : declaration_of(unit, die));
    if (scope != 0)
        add_ranges(unit, scope, die, &entry);
    return scope;
}

static bool may_hold_functions(const struct unit_reading *unit, int tag, bool is_in_function)
{
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_namespace:
    case DW_TAG_module:
        return true;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_variant_part:
    case DW_TAG_variant:
        return is_in_function || !unit->is_flat;
    default:
        return false;
    }
}

static void walk(struct unit_reading *unit, Dwarf_Die *parent, uint32_t around, bool is_in_function, unsigned depth)
{
    Dwarf_Die die;
    int left = depth == DEPTH_MAX ? 1 : dwarf_child(parent, &die);

    for (; left == 0 && unit->entries_left != 0; left = dwarf_siblingof(&die, &die)) {
        int tag = dwarf_tag(&die);
        bool is_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
        uint32_t scope = 0;

        unit->entries_left--;
        if (!may_hold_functions(unit, tag, is_in_function))
            continue;
        if (is_function)
            scope = take_scope(unit, &die, around);
        if (dwarf_haschildren(&die) == 1)
            walk(unit, &die, scope == 0 ? around : scope, is_in_function || is_function, depth + 1);
    }
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

/* The entry that has the functions: of a unit that is split, in another file. False: that is missing. */
static bool find_tree(Dwarf_Die *unit, Dwarf_Die *tree_out)
{
    Dwarf_Die split;
    uint8_t type = 0;

    *tree_out = *unit;
    if (dwarf_cu_info(unit->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) != 0 || type != DW_UT_skeleton)
        return true;
    if (split.cu == NULL || split.addr == NULL)
        return false;
    *tree_out = split;
    return true;
}

static const char *folder_of(Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;

    return dwarf_attr(unit, DW_AT_comp_dir, &attribute) == NULL ? NULL : dwarf_formstring(&attribute);
}

static bool is_c(int language)
{
    return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 || language == DW_LANG_C11;
}

static bool is_cpp(int language)
{
    return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
           language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14;
}

static void take_language(struct unit_reading *unit, int language)
{
    unit->is_flat = is_c(language) || is_cpp(language);
    /* The names of these are those that linkers see. */
    unit->has_linkage_names =
        !is_c(language) && language != DW_LANG_Mips_Assembler && language != DW_LANG_Go && language != -1;
}

static uint64_t bytes_of(Dwarf_Die *unit)
{
    Dwarf_Off begin = dwarf_dieoffset(unit) - dwarf_cuoffset(unit), next;
    size_t header_bytes;

    if (dwarf_next_unit(dwarf_cu_getdwarf(unit->cu), begin, &next, &header_bytes, NULL, NULL, NULL, NULL, NULL, NULL) !=
        0)
        return 0;
    return next - begin;
}

static void take_unit(struct unit_reading *unit, Dwarf_Die *entry, bool *is_whole_out)
{
    Dwarf_Die tree;

    unit->folder = folder_of(entry);
    take_lines(unit, entry);
    *is_whole_out = find_tree(entry, &tree);
    take_language(unit, dwarf_srclang(&tree));
    if (dwarf_getsrcfiles(&tree, &unit->files, &unit->file_count) != 0)
        unit->files = NULL;
    unit->entries_left = bytes_of(&tree);
    walk(unit, &tree, 0, false, 0);
}

int dwarf_unit_make_table(Dwarf_Die *entry, const struct dwarf_extent *extent, void **block_out, size_t *size_out,
                          bool *is_whole_out)
{
    struct unit_reading unit = {.extent = extent};
    int result = -ENOMEM;

    if (hash_map_init(&unit.names, MAP_AT_FIRST) != 0)
        return -ENOMEM;
    if (hash_map_init(&unit.paths, MAP_AT_FIRST) == 0) {
        code_table_builder_init(&unit.builder);
        take_unit(&unit, entry, is_whole_out);
        result = code_table_builder_finish(&unit.builder, block_out, size_out);
        code_table_builder_deinit(&unit.builder);
        hash_map_deinit(&unit.paths);
    }
    hash_map_deinit(&unit.names);
    return result;
}
