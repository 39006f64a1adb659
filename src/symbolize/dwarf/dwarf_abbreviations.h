/* SPDX-License-Identifier: MIT */
/*
 * The table of abbreviations of a unit: what its entries look like. It is read once and made into what a quick walk
 * over entries needs: which of them may have code below them, where the attributes are that are needed, and how to
 * get behind all of the others. Once it is read it does not change.
 */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_ABBREVIATIONS_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_ABBREVIATIONS_H

#include "base/attributes.h"
#include "symbolize/dwarf/dwarf_cursor.h"

/* Attributes that are of interest. */
enum dwarf_field {
    DWARF_FIELD_NONE,
    DWARF_FIELD_LOW_PC,
    DWARF_FIELD_HIGH_PC,
    DWARF_FIELD_RANGES,
    DWARF_FIELD_ABSTRACT_ORIGIN,
    DWARF_FIELD_SPECIFICATION,
    DWARF_FIELD_NAME,
    DWARF_FIELD_LINKAGE_NAME,
    DWARF_FIELD_CALL_FILE,
    DWARF_FIELD_CALL_LINE,
    DWARF_FIELD_CALL_COLUMN,
    DWARF_FIELD_DECL_FILE,
    DWARF_FIELD_DECL_LINE,
    DWARF_FIELD_DECL_COLUMN,
    DWARF_FIELD_STMT_LIST,
    DWARF_FIELD_COMP_DIR,
    DWARF_FIELD_LANGUAGE,
    DWARF_FIELD_STR_OFFSETS_BASE,
    DWARF_FIELD_ADDR_BASE,
    DWARF_FIELD_RNGLISTS_BASE,
    DWARF_FIELD_DWO_NAME,
    DWARF_FIELD_DWO_ID,
    DWARF_FIELD_RANGES_BASE,
    DWARF_FIELDS,
};

/* What may be below an entry. */
enum dwarf_kind {
    DWARF_KIND_OTHER,    /* nothing of interest */
    DWARF_KIND_FUNCTION, /* it is one, or one that was put into another */
    DWARF_KIND_INLINED,
    DWARF_KIND_BLOCK, /* functions */
    DWARF_KIND_TYPE,  /* functions, in some languages */
};

/* A step over attributes. */
enum dwarf_step_kind {
    DWARF_STEP_END,
    DWARF_STEP_BYTES,
    DWARF_STEP_SIBLING, /* four bytes which say where the next entry is that is not below this one */
    DWARF_STEP_LEB,
    DWARF_STEP_TEXT,
    DWARF_STEP_BLOCK, /* that begins with its length, of so many bytes */
    DWARF_STEP_LEB_BLOCK,
};

struct dwarf_step {
    uint8_t kind;
    uint8_t size_bytes;
};

struct dwarf_attribute {
    uint16_t form;
    uint8_t field;
    struct dwarf_step step;
    int64_t constant; /* the value, where the form says that it is here */
};

struct dwarf_abbreviation {
    uint32_t first_attribute;
    uint32_t attribute_count;
    uint32_t first_step;
    uint16_t tag;
    uint8_t kind;
    bool has_children;
    bool is_known; /* there is one with that number */
};

/* What sizes of values depend on. */
struct dwarf_sizes {
    uint8_t offset_bytes;
    uint8_t address_bytes;
    uint8_t reference_bytes; /* of places in other units */
};

struct dwarf_abbreviations {
    struct dwarf_abbreviation *entries; /* by their numbers */
    size_t entry_count;
    struct dwarf_attribute *attributes;
    size_t attribute_count;
    size_t attribute_capacity;
    struct dwarf_step *steps;
    size_t step_count;
    size_t step_capacity;
    uint64_t read_bytes; /* that the table has */
};

/* Which part of which table is to be read. */
struct dwarf_abbreviations_wanted {
    struct dwarf_span section;
    uint64_t place;
    struct dwarf_sizes sizes;
    uint64_t last; /* nothing behind the one with this number; 0: all */
};

/* Reads a table. -ENOTSUP: it is damaged, or has something that is not known here; -ENOMEM. */
MUST_USE int dwarf_abbreviations_read(struct dwarf_abbreviations *table_out,
                                      const struct dwarf_abbreviations_wanted *wanted);
void dwarf_abbreviations_deinit(struct dwarf_abbreviations *table);

/* How values of a form are passed over. -ENOTSUP: it is not known. */
MUST_USE int dwarf_form_step(uint64_t form, struct dwarf_sizes sizes, struct dwarf_step *step_out);

/* Goes behind something, by one step. */
static inline void dwarf_step_take(struct dwarf_step step, struct dwarf_cursor *cursor)
{
    switch (step.kind) {
    case DWARF_STEP_BYTES:
    case DWARF_STEP_SIBLING:
        dwarf_cursor_skip(cursor, step.size_bytes);
        break;
    case DWARF_STEP_LEB:
        dwarf_cursor_skip_leb(cursor);
        break;
    case DWARF_STEP_TEXT:
        (void)dwarf_cursor_text(cursor);
        break;
    case DWARF_STEP_BLOCK:
        dwarf_cursor_skip(cursor, dwarf_cursor_number(cursor, step.size_bytes));
        break;
    case DWARF_STEP_LEB_BLOCK:
        dwarf_cursor_skip(cursor, dwarf_cursor_uleb(cursor));
        break;
    default:
        break;
    }
}

#endif
