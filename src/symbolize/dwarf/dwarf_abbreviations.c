/* SPDX-License-Identifier: MIT */
/* Numbers of abbreviations run from 1 on without gaps, as compilers write them; a list by number has room for some. */
#include "symbolize/dwarf/dwarf_abbreviations.h"

#include "hosted/growing_array.h"
#include "symbolize/dwarf/dwarf_names.h"

#include <errno.h>
#include <stdlib.h>

#define NUMBERS_MAX    (1u << 20)
#define ITEMS_MAX      (1u << 24)
#define STEP_SIZE_MAX  255
#define ATTRIBUTES_MAX 256 /* of an entry; compilers need a tenth of that */

static enum dwarf_field field_of(uint64_t name)
{
    switch (name) {
    case DWARF_AT_LOW_PC:
        return DWARF_FIELD_LOW_PC;
    case DWARF_AT_HIGH_PC:
        return DWARF_FIELD_HIGH_PC;
    case DWARF_AT_RANGES:
        return DWARF_FIELD_RANGES;
    case DWARF_AT_ABSTRACT_ORIGIN:
        return DWARF_FIELD_ABSTRACT_ORIGIN;
    case DWARF_AT_SPECIFICATION:
        return DWARF_FIELD_SPECIFICATION;
    case DWARF_AT_NAME:
        return DWARF_FIELD_NAME;
    case DWARF_AT_LINKAGE_NAME:
    case DWARF_AT_MIPS_LINKAGE_NAME:
        return DWARF_FIELD_LINKAGE_NAME;
    case DWARF_AT_CALL_FILE:
        return DWARF_FIELD_CALL_FILE;
    case DWARF_AT_CALL_LINE:
        return DWARF_FIELD_CALL_LINE;
    case DWARF_AT_CALL_COLUMN:
        return DWARF_FIELD_CALL_COLUMN;
    case DWARF_AT_DECL_FILE:
        return DWARF_FIELD_DECL_FILE;
    case DWARF_AT_DECL_LINE:
        return DWARF_FIELD_DECL_LINE;
    case DWARF_AT_DECL_COLUMN:
        return DWARF_FIELD_DECL_COLUMN;
    case DWARF_AT_STMT_LIST:
        return DWARF_FIELD_STMT_LIST;
    case DWARF_AT_COMP_DIR:
        return DWARF_FIELD_COMP_DIR;
    case DWARF_AT_LANGUAGE:
        return DWARF_FIELD_LANGUAGE;
    case DWARF_AT_STR_OFFSETS_BASE:
        return DWARF_FIELD_STR_OFFSETS_BASE;
    case DWARF_AT_ADDR_BASE:
    case DWARF_AT_GNU_ADDR_BASE:
        return DWARF_FIELD_ADDR_BASE;
    case DWARF_AT_RNGLISTS_BASE:
        return DWARF_FIELD_RNGLISTS_BASE;
    case DWARF_AT_DWO_NAME:
    case DWARF_AT_GNU_DWO_NAME:
        return DWARF_FIELD_DWO_NAME;
    case DWARF_AT_GNU_DWO_ID:
        return DWARF_FIELD_DWO_ID;
    case DWARF_AT_GNU_RANGES_BASE:
        return DWARF_FIELD_RANGES_BASE;
    default:
        return DWARF_FIELD_NONE;
    }
}

static enum dwarf_kind kind_of(uint64_t tag)
{
    switch (tag) {
    case DWARF_TAG_SUBPROGRAM:
        return DWARF_KIND_FUNCTION;
    case DWARF_TAG_INLINED_SUBROUTINE:
        return DWARF_KIND_INLINED;
    case DWARF_TAG_LEXICAL_BLOCK:
    case DWARF_TAG_TRY_BLOCK:
    case DWARF_TAG_CATCH_BLOCK:
    case DWARF_TAG_WITH_STMT:
    case DWARF_TAG_NAMESPACE:
    case DWARF_TAG_MODULE:
        return DWARF_KIND_BLOCK;
    case DWARF_TAG_CLASS_TYPE:
    case DWARF_TAG_STRUCTURE_TYPE:
    case DWARF_TAG_UNION_TYPE:
    case DWARF_TAG_INTERFACE_TYPE:
    case DWARF_TAG_ENUMERATION_TYPE:
    case DWARF_TAG_VARIANT_PART:
    case DWARF_TAG_VARIANT:
        return DWARF_KIND_TYPE;
    default:
        return DWARF_KIND_OTHER;
    }
}

/* ---- forms ------------------------------------------------------------------------------------------------------- */

static int set_step(struct dwarf_step *step_out, enum dwarf_step_kind kind, unsigned size_bytes)
{
    *step_out = (struct dwarf_step){(uint8_t)kind, (uint8_t)size_bytes};
    return 0;
}

int dwarf_form_step(uint64_t form, struct dwarf_sizes sizes, struct dwarf_step *step_out)
{
    switch (form) {
    case DWARF_FORM_FLAG_PRESENT:
    case DWARF_FORM_IMPLICIT_CONST:
        return set_step(step_out, DWARF_STEP_BYTES, 0);
    case DWARF_FORM_DATA1:
    case DWARF_FORM_FLAG:
    case DWARF_FORM_REF1:
    case DWARF_FORM_STRX1:
    case DWARF_FORM_ADDRX1:
        return set_step(step_out, DWARF_STEP_BYTES, 1);
    case DWARF_FORM_DATA2:
    case DWARF_FORM_REF2:
    case DWARF_FORM_STRX2:
    case DWARF_FORM_ADDRX2:
        return set_step(step_out, DWARF_STEP_BYTES, 2);
    case DWARF_FORM_STRX3:
    case DWARF_FORM_ADDRX3:
        return set_step(step_out, DWARF_STEP_BYTES, 3);
    case DWARF_FORM_DATA4:
    case DWARF_FORM_REF4:
    case DWARF_FORM_REF_SUP4:
    case DWARF_FORM_STRX4:
    case DWARF_FORM_ADDRX4:
        return set_step(step_out, DWARF_STEP_BYTES, 4);
    case DWARF_FORM_DATA8:
    case DWARF_FORM_REF8:
    case DWARF_FORM_REF_SIG8:
    case DWARF_FORM_REF_SUP8:
        return set_step(step_out, DWARF_STEP_BYTES, 8);
    case DWARF_FORM_DATA16:
        return set_step(step_out, DWARF_STEP_BYTES, 16);
    case DWARF_FORM_ADDR:
        return set_step(step_out, DWARF_STEP_BYTES, sizes.address_bytes);
    case DWARF_FORM_REF_ADDR:
        return set_step(step_out, DWARF_STEP_BYTES, sizes.reference_bytes);
    case DWARF_FORM_STRP:
    case DWARF_FORM_LINE_STRP:
    case DWARF_FORM_SEC_OFFSET:
    case DWARF_FORM_STRP_SUP:
    case DWARF_FORM_GNU_REF_ALT:
    case DWARF_FORM_GNU_STRP_ALT:
        return set_step(step_out, DWARF_STEP_BYTES, sizes.offset_bytes);
    case DWARF_FORM_SDATA:
    case DWARF_FORM_UDATA:
    case DWARF_FORM_REF_UDATA:
    case DWARF_FORM_STRX:
    case DWARF_FORM_ADDRX:
    case DWARF_FORM_GNU_ADDR_INDEX:
    case DWARF_FORM_GNU_STR_INDEX:
    case DWARF_FORM_LOCLISTX:
    case DWARF_FORM_RNGLISTX:
        return set_step(step_out, DWARF_STEP_LEB, 0);
    case DWARF_FORM_STRING:
        return set_step(step_out, DWARF_STEP_TEXT, 0);
    case DWARF_FORM_BLOCK1:
        return set_step(step_out, DWARF_STEP_BLOCK, 1);
    case DWARF_FORM_BLOCK2:
        return set_step(step_out, DWARF_STEP_BLOCK, 2);
    case DWARF_FORM_BLOCK4:
        return set_step(step_out, DWARF_STEP_BLOCK, 4);
    case DWARF_FORM_BLOCK:
    case DWARF_FORM_EXPRLOC:
        return set_step(step_out, DWARF_STEP_LEB_BLOCK, 0);
    default:
        return -ENOTSUP;
    }
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static int add_attribute(struct dwarf_abbreviations *table, const struct dwarf_attribute *attribute)
{
    if (table->attribute_count >= ITEMS_MAX ||
        ARRAY_RESERVE(table->attributes, table->attribute_capacity, table->attribute_count + 1) != 0)
        return -ENOMEM;
    table->attributes[table->attribute_count++] = *attribute;
    return 0;
}

/* Bytes behind bytes are one step. */
static int add_step(struct dwarf_abbreviations *table, size_t first, struct dwarf_step step)
{
    struct dwarf_step *last = table->step_count == first ? NULL : &table->steps[table->step_count - 1];

    if (step.kind == DWARF_STEP_BYTES && last != NULL && last->kind == DWARF_STEP_BYTES &&
        last->size_bytes + step.size_bytes <= STEP_SIZE_MAX) {
        last->size_bytes = (uint8_t)(last->size_bytes + step.size_bytes);
        return 0;
    }
    if (step.kind == DWARF_STEP_BYTES && step.size_bytes == 0)
        return 0;
    if (table->step_count >= ITEMS_MAX || ARRAY_RESERVE(table->steps, table->step_capacity, table->step_count + 1) != 0)
        return -ENOMEM;
    table->steps[table->step_count++] = step;
    return 0;
}

/* NULL: the number is not one that compilers give, or there is no memory. */
static struct dwarf_abbreviation *add_entry(struct dwarf_abbreviations *table, uint64_t number)
{
    if (number >= NUMBERS_MAX || ARRAY_RESERVE_ZEROED(table->entries, table->entry_count, (size_t)number + 1) != 0)
        return NULL;
    return &table->entries[number];
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int take_attribute(struct dwarf_abbreviations *table, struct dwarf_abbreviation *entry, uint64_t name,
                          struct dwarf_attribute attribute, struct dwarf_sizes sizes)
{
    int result = dwarf_form_step(attribute.form, sizes, &attribute.step);
    struct dwarf_step step = attribute.step;

    if (name == DWARF_AT_SIBLING && attribute.form == DWARF_FORM_REF4)
        step.kind = DWARF_STEP_SIBLING;
    if (result == 0)
        result = add_step(table, entry->first_step, step);
    if (result == 0)
        result = add_attribute(table, &attribute);
    return ++entry->attribute_count > ATTRIBUTES_MAX ? -ENOTSUP : result;
}

static int read_attributes(struct dwarf_abbreviations *table, struct dwarf_abbreviation *entry,
                           struct dwarf_cursor *cursor, struct dwarf_sizes sizes)
{
    for (;;) {
        uint64_t name = dwarf_cursor_uleb(cursor), form = dwarf_cursor_uleb(cursor);
        struct dwarf_attribute attribute = {.form = (uint16_t)form, .field = (uint8_t)field_of(name)};
        int result;

        if (cursor->has_failed || form > UINT16_MAX)
            return -ENOTSUP;
        if (name == 0 && form == 0)
            return add_step(table, entry->first_step, (struct dwarf_step){DWARF_STEP_END, 0});
        if (form == DWARF_FORM_IMPLICIT_CONST)
            attribute.constant = dwarf_cursor_sleb(cursor);
        result = take_attribute(table, entry, name, attribute, sizes);
        if (result != 0)
            return result;
    }
}

static int read_entries(struct dwarf_abbreviations *table, struct dwarf_cursor *cursor, struct dwarf_sizes sizes,
                        uint64_t last)
{
    uint64_t number;

    while ((number = dwarf_cursor_uleb(cursor)) != 0) {
        uint64_t tag = dwarf_cursor_uleb(cursor);
        struct dwarf_abbreviation *entry = add_entry(table, number), read;
        int result;

        if (entry == NULL || entry->is_known)
            return -ENOTSUP;
        read = (struct dwarf_abbreviation){.first_attribute = (uint32_t)table->attribute_count,
                                           .first_step = (uint32_t)table->step_count,
                                           .tag = tag > UINT16_MAX ? 0 : (uint16_t)tag,
                                           .kind = (uint8_t)kind_of(tag),
                                           .has_children = dwarf_cursor_byte(cursor) != 0,
                                           .is_known = true};
        result = read_attributes(table, &read, cursor, sizes);
        if (result != 0)
            return result;
        *entry = read;
        if (number == last)
            break;
    }
    return cursor->has_failed ? -ENOTSUP : 0;
}

int dwarf_abbreviations_read(struct dwarf_abbreviations *table_out, const struct dwarf_abbreviations_wanted *wanted)
{
    struct dwarf_abbreviations table = {.entry_count = 0};
    struct dwarf_cursor cursor = dwarf_cursor_at(wanted->section, wanted->place);
    const uint8_t *begin = cursor.at;
    int result = cursor.has_failed ? -ENOTSUP : read_entries(&table, &cursor, wanted->sizes, wanted->last);

    if (result != 0) {
        dwarf_abbreviations_deinit(&table);
        return result;
    }
    table.read_bytes = (uint64_t)(cursor.at - begin);
    *table_out = table;
    return 0;
}

void dwarf_abbreviations_deinit(struct dwarf_abbreviations *table)
{
    free(table->entries);
    free(table->attributes);
    free(table->steps);
    *table = (struct dwarf_abbreviations){.entry_count = 0};
}
