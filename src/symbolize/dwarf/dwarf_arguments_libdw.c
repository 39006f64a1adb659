/* SPDX-License-Identifier: MIT */
/*
 * Places follow from types, one argument after the other, by the calling convention for C of x86-64. What is passed by
 * value and is no single number is passed over, but its registers are counted. Debug information may be damaged: depths
 * and counts are bounded, and what is not understood ends the list of arguments.
 */
#include "symbolize/dwarf/dwarf_arguments.h"

#include "base/hash_map.h"
#include "hosted/growing_array.h"
#include "symbolize/dwarf/dwarf_passing.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAP_AT_FIRST 64

_Static_assert(sizeof(Dwarf_Die) == DWARF_DIE_BYTES, "as the header has it");

/* The functions of a unit are gathered when one of them is looked for. */
struct dwarf_arguments {
    Dwfl *session;
    Dwarf *dwarf;
    struct hash_map units;     /* that were gone through, by their place in memory */
    struct hash_map functions; /* numbers of those below, by address */
    Dwarf_Die *entries;
    size_t count;
    size_t capacity;
};

/* ---- files ------------------------------------------------------------------------------------------------------- */

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

int dwarf_arguments_open(const char *path, struct dwarf_arguments **file_out)
{
    struct dwarf_arguments *file = calloc(1, sizeof(*file));
    Dwfl_Module *module = NULL;
    Dwarf_Addr bias;

    if (file == NULL || hash_map_init(&file->units, MAP_AT_FIRST) != 0 ||
        hash_map_init(&file->functions, MAP_AT_FIRST) != 0) {
        dwarf_arguments_close(file);
        return -ENOMEM;
    }
    file->session = dwfl_begin(&callbacks);
    if (file->session != NULL) {
        dwfl_report_begin(file->session);
        module = dwfl_report_offline(file->session, path, path, -1);
        (void)dwfl_report_end(file->session, NULL, NULL);
    }
    if (module != NULL)
        file->dwarf = dwfl_module_getdwarf(module, &bias);
    if (file->dwarf == NULL) {
        dwarf_arguments_close(file);
        return -ENOENT;
    }
    *file_out = file;
    return 0;
}

void dwarf_arguments_close(struct dwarf_arguments *file)
{
    if (file == NULL)
        return;
    if (file->session != NULL)
        dwfl_end(file->session);
    hash_map_deinit(&file->units);
    hash_map_deinit(&file->functions);
    free(file->entries);
    free(file);
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static bool is_text(Dwarf_Die *pointer)
{
    Dwarf_Die type;
    const char *name;

    if (!dwarf_passing_type(pointer, &type) || dwarf_tag(&type) != DW_TAG_base_type)
        return false;
    name = dwarf_diename(&type);
    return name != NULL && strcmp(name, "char") == 0;
}

static enum detail_type number_type(uint64_t size_bytes, bool has_sign)
{
    switch (size_bytes) {
    case 1:
        return has_sign ? DETAIL_TYPE_I8 : DETAIL_TYPE_U8;
    case 2:
        return has_sign ? DETAIL_TYPE_I16 : DETAIL_TYPE_U16;
    case 4:
        return has_sign ? DETAIL_TYPE_I32 : DETAIL_TYPE_U32;
    case 8:
        return has_sign ? DETAIL_TYPE_I64 : DETAIL_TYPE_U64;
    default:
        return DETAIL_TYPE_SKIPPED;
    }
}

static enum detail_type base_type(Dwarf_Die *type, uint64_t size_bytes)
{
    const char *name = dwarf_diename(type);

    switch (dwarf_passing_number(type, DW_AT_encoding)) {
    case DW_ATE_boolean:
        return size_bytes == 1 ? DETAIL_TYPE_TRUTH : number_type(size_bytes, false);
    case DW_ATE_float:
        return size_bytes == 4 ? DETAIL_TYPE_FLOAT : size_bytes == 8 ? DETAIL_TYPE_DOUBLE : DETAIL_TYPE_SKIPPED;
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char:
        if (name != NULL && strcmp(name, "char") == 0)
            return DETAIL_TYPE_CHARACTER;
        return number_type(size_bytes, dwarf_passing_number(type, DW_AT_encoding) == DW_ATE_signed_char);
    case DW_ATE_signed:
        return number_type(size_bytes, true);
    case DW_ATE_unsigned:
    case DW_ATE_UTF:
        return number_type(size_bytes, false);
    default:
        return DETAIL_TYPE_SKIPPED;
    }
}

/* Enumerations have a sign if one of their values is below zero. */
static bool has_negative(Dwarf_Die *enumeration)
{
    Dwarf_Attribute attribute;
    Dwarf_Sword value;
    Dwarf_Die entry;
    int left = dwarf_child(enumeration, &entry);

    for (; left == 0; left = dwarf_siblingof(&entry, &entry))
        if (dwarf_tag(&entry) == DW_TAG_enumerator &&
            dwarf_formsdata(dwarf_attr(&entry, DW_AT_const_value, &attribute), &value) == 0 && value < 0)
            return true;
    return false;
}

/* DETAIL_TYPE_SKIPPED: it is no single number. */
static enum detail_type detail_type_of(Dwarf_Die *type)
{
    uint64_t size_bytes = dwarf_passing_size(type);

    switch (dwarf_tag(type)) {
    case DW_TAG_base_type:
        return base_type(type, size_bytes);
    case DW_TAG_enumeration_type:
        return number_type(size_bytes, has_negative(type));
    case DW_TAG_pointer_type:
        return is_text(type) ? DETAIL_TYPE_STRING : DETAIL_TYPE_POINTER;
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_unspecified_type: /* nullptr_t */
        return DETAIL_TYPE_POINTER;
    default:
        return DETAIL_TYPE_SKIPPED;
    }
}

static bool is_float(enum detail_type type)
{
    return type == DETAIL_TYPE_FLOAT || type == DETAIL_TYPE_DOUBLE;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static void describe(struct dwarf_argument *argument, Dwarf_Die *entry, Dwarf_Die *type)
{
    const char *name = entry == NULL ? NULL : dwarf_diename(entry);

    *argument = (struct dwarf_argument){.is_enumeration = dwarf_tag(type) == DW_TAG_enumeration_type};
    if (name != NULL)
        strncpy(argument->name, name, sizeof(argument->name) - 1);
    memcpy(argument->type, type, sizeof(*type));
}

/* False: it is not understood, and so are the places of those behind it. */
static bool take_argument(struct dwarf_function *function, struct detail_places *places, Dwarf_Die *entry)
{
    struct detail_declaration *declaration = &function->declaration;
    struct detail_field *field = &declaration->fields[declaration->count];
    enum detail_type kind;
    Dwarf_Die type;

    if (declaration->count == DETAIL_FIELDS_MAX || !dwarf_passing_type(entry, &type))
        return false;
    kind = detail_type_of(&type);
    *field = (struct detail_field){.type = (uint8_t)kind, .place = DETAIL_PLACE_NONE};
    if (kind == DETAIL_TYPE_SKIPPED) {
        if (!dwarf_passing_count(&type, places))
            return false;
    } else {
        field->place = is_float(kind) ? detail_places_next_vector(places) : detail_places_next(places);
    }
    describe(&function->arguments[declaration->count], entry, &type);
    declaration->count++;
    return true;
}

static void take_result(struct dwarf_function *function, struct detail_places *places, Dwarf_Die *entry)
{
    enum detail_type kind;
    Dwarf_Die type;

    if (!dwarf_passing_type(entry, &type))
        return;
    kind = detail_type_of(&type);
    function->declaration.result =
        (struct detail_field){.type = (uint8_t)kind, .place = is_float(kind) ? DETAIL_PLACE_VECTOR : 0};
    describe(&function->result, NULL, &type);
    /* Who calls it says where a large one goes, in the register of the first argument. */
    if (kind == DETAIL_TYPE_SKIPPED && dwarf_passing_is_in_memory(&type))
        detail_places_pass(places, 1, 0);
}

static void take_function(struct dwarf_function *function, Dwarf_Die *entry)
{
    struct detail_places places = {0};
    Dwarf_Die child;
    int left;

    *function = (struct dwarf_function){.declaration = {.is_given = 1}};
    take_result(function, &places, entry);
    for (left = dwarf_child(entry, &child); left == 0; left = dwarf_siblingof(&child, &child)) {
        int tag = dwarf_tag(&child);

        if (tag == DW_TAG_unspecified_parameters ||
            (tag == DW_TAG_formal_parameter && !take_argument(function, &places, &child))) {
            function->declaration.is_partial = 1;
            return;
        }
    }
}

/* Keeps a function that has code. */
static int keep(Dwarf_Die *entry, void *context)
{
    struct dwarf_arguments *file = context;
    Dwarf_Addr address;

    if (dwarf_lowpc(entry, &address) != 0)
        return DWARF_CB_OK;
    if (ARRAY_RESERVE(file->entries, file->capacity, file->count + 1) != 0)
        return DWARF_CB_ABORT;
    file->entries[file->count] = *entry;
    /* Of several the first one counts. */
    if (hash_map_insert(&file->functions, address, file->count) == 0)
        file->count++;
    hash_map_reclaim(&file->functions);
    return DWARF_CB_OK;
}

/* Some compilers leave out the table of which unit has which addresses. */
static bool find_unit(Dwarf *dwarf, uint64_t address, Dwarf_Die *unit_out)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die entry;

    if (dwarf_addrdie(dwarf, address, unit_out) != NULL)
        return true;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &entry, NULL) == 0)
        if (dwarf_haspc(&entry, address) == 1) {
            *unit_out = entry;
            return true;
        }
    return false;
}

/* Whether there was anything new. */
static bool gather_unit(struct dwarf_arguments *file, uint64_t address)
{
    size_t before = file->count;
    Dwarf_Die unit;

    if (!find_unit(file->dwarf, address, &unit) || hash_map_insert(&file->units, (uint64_t)(uintptr_t)unit.cu, 0) != 0)
        return false;
    hash_map_reclaim(&file->units);
    (void)dwarf_getfuncs(&unit, keep, file, 0);
    return file->count != before;
}

int dwarf_arguments_find(struct dwarf_arguments *file, uint64_t address, struct dwarf_function *function_out)
{
    uint64_t which;

    if (!hash_map_lookup(&file->functions, address, &which) &&
        (!gather_unit(file, address) || !hash_map_lookup(&file->functions, address, &which)))
        return -ENOENT;
    take_function(function_out, &file->entries[which]);
    return 0;
}

const char *dwarf_enumerator_find(const struct dwarf_argument *argument, int64_t value)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type, entry;
    Dwarf_Sword number;

    if (!argument->is_enumeration)
        return NULL;
    memcpy(&type, argument->type, sizeof(type));
    for (int left = dwarf_child(&type, &entry); left == 0; left = dwarf_siblingof(&entry, &entry))
        if (dwarf_tag(&entry) == DW_TAG_enumerator &&
            dwarf_formsdata(dwarf_attr(&entry, DW_AT_const_value, &attribute), &number) == 0 && number == value)
            return dwarf_diename(&entry);
    return NULL;
}
