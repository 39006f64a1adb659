/* SPDX-License-Identifier: MIT */
/*
 * A value of up to two words is passed in registers, each word in one: in a vector register if there are only floats
 * and doubles in the word, else in a general one. All else is in memory. Classes that have to be where they are, for
 * they have a destructor, say, are passed by their address.
 */
#include "symbolize/dwarf/dwarf_passing.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#define WORD_BYTES  8u
#define WORDS_MAX   2u
#define DEPTH_MAX   16u
#define MEMBERS_MAX 64u

/* What a word of the value has in it. */
enum word_class {
    WORD_EMPTY,
    WORD_FLOATS,
    WORD_NUMBERS,
};

struct argument_passing {
    enum word_class words[WORDS_MAX];
    bool is_in_memory;
    bool is_by_address;
    bool is_vector; /* one register for all of it */
    bool is_unknown;
};

bool dwarf_passing_type(void *entry, void *type_out)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;

    return dwarf_formref_die(dwarf_attr_integrate(entry, DW_AT_type, &attribute), &type) != NULL &&
           dwarf_peel_type(&type, type_out) == 0;
}

uint64_t dwarf_passing_size(void *type)
{
    Dwarf_Word size_bytes;

    return dwarf_aggregate_size(type, &size_bytes) == 0 ? size_bytes : 0;
}

uint64_t dwarf_passing_number(void *entry, unsigned attribute)
{
    Dwarf_Attribute storage;
    Dwarf_Word number;

    return dwarf_formudata(dwarf_attr_integrate(entry, attribute, &storage), &number) == 0 ? number : 0;
}

static void add_word(struct argument_passing *passing, uint64_t offset, enum word_class class)
{
    if (offset / WORD_BYTES >= WORDS_MAX)
        passing->is_unknown = true;
    else if (passing->words[offset / WORD_BYTES] < class)
        passing->words[offset / WORD_BYTES] = class;
}

static void add_number(struct argument_passing *passing, Dwarf_Die *type, uint64_t offset)
{
    uint64_t size_bytes = dwarf_passing_size(type), encoding = dwarf_passing_number(type, DW_AT_encoding);
    bool is_float =
        dwarf_tag(type) == DW_TAG_base_type && (encoding == DW_ATE_float || encoding == DW_ATE_complex_float);

    if (size_bytes == 0 || size_bytes > WORDS_MAX * WORD_BYTES)
        passing->is_unknown = true;
    /* A long double is in neither kind of register. */
    else if (encoding == DW_ATE_float && size_bytes > WORD_BYTES)
        passing->is_in_memory = true;
    else
        for (uint64_t at = 0; at < size_bytes; at += WORD_BYTES)
            add_word(passing, offset + at, is_float ? WORD_FLOATS : WORD_NUMBERS);
}

static void add_value(struct argument_passing *passing, Dwarf_Die *type, uint64_t offset, unsigned depth);

static void add_members(struct argument_passing *passing, Dwarf_Die *type, uint64_t offset, unsigned depth)
{
    unsigned count = 0;
    Dwarf_Die member;

    for (int left = dwarf_child(type, &member); left == 0; left = dwarf_siblingof(&member, &member)) {
        int tag = dwarf_tag(&member);
        Dwarf_Die member_type;

        /* Those that are shared by all values have no place in one. */
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr_integrate(&member, DW_AT_external) ||
            dwarf_hasattr_integrate(&member, DW_AT_declaration))
            continue;
        if (++count > MEMBERS_MAX || !dwarf_passing_type(&member, &member_type)) {
            passing->is_unknown = true;
            return;
        }
        add_value(passing, &member_type, offset + dwarf_passing_number(&member, DW_AT_data_member_location), depth + 1);
    }
}

static void add_elements(struct argument_passing *passing, Dwarf_Die *type, uint64_t offset, unsigned depth)
{
    uint64_t size_bytes = dwarf_passing_size(type), element_bytes;
    Dwarf_Die element;

    if (!dwarf_passing_type(type, &element)) {
        passing->is_unknown = true;
        return;
    }
    element_bytes = dwarf_passing_size(&element);
    if (element_bytes == 0)
        passing->is_unknown = true;
    for (uint64_t at = 0; at + element_bytes <= size_bytes && !passing->is_unknown; at += element_bytes)
        add_value(passing, &element, offset + at, depth + 1);
}

static void add_value(struct argument_passing *passing, Dwarf_Die *type, uint64_t offset, unsigned depth)
{
    if (depth == DEPTH_MAX || passing->is_unknown) {
        passing->is_unknown = true;
        return;
    }
    switch (dwarf_tag(type)) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        add_members(passing, type, offset, depth);
        break;
    case DW_TAG_array_type:
        add_elements(passing, type, offset, depth);
        break;
    case DW_TAG_base_type:
    case DW_TAG_enumeration_type:
        add_number(passing, type, offset);
        break;
    case DW_TAG_ptr_to_member_type:
        /* Of functions they have two words, and nobody says so. */
        passing->is_unknown = true;
        break;
    default:
        add_word(passing, offset, WORD_NUMBERS);
        break;
    }
}

static struct argument_passing find_passing(Dwarf_Die *type)
{
    struct argument_passing passing = {.is_unknown = false};
    uint64_t size_bytes = dwarf_passing_size(type);

    passing.is_by_address = dwarf_passing_number(type, DW_AT_calling_convention) == DW_CC_pass_by_reference;
    passing.is_vector = dwarf_tag(type) == DW_TAG_array_type && dwarf_hasattr_integrate(type, DW_AT_GNU_vector);
    if (passing.is_by_address || passing.is_vector)
        return passing;
    passing.is_in_memory = size_bytes > WORDS_MAX * WORD_BYTES;
    if (!passing.is_in_memory)
        add_value(&passing, type, 0, 0);
    return passing;
}

bool dwarf_passing_is_in_memory(void *type)
{
    struct argument_passing passing = find_passing(type);
    uint64_t encoding = dwarf_passing_number(type, DW_AT_encoding);

    /* A long double alone is returned in a register of its own. */
    return passing.is_by_address || (passing.is_in_memory && encoding != DW_ATE_float);
}

bool dwarf_passing_count(void *type, struct detail_places *places)
{
    struct argument_passing passing = find_passing(type);
    uint64_t size_bytes = dwarf_passing_size(type);
    unsigned registers = 0, vectors = 0;

    for (unsigned i = 0; i < WORDS_MAX; i++) {
        registers += passing.words[i] == WORD_NUMBERS;
        vectors += passing.words[i] == WORD_FLOATS;
    }
    if (passing.is_unknown)
        return false;
    if (passing.is_by_address)
        detail_places_pass(places, 1, 0);
    else if (passing.is_vector)
        detail_places_pass(places, 0, 1);
    else if (passing.is_in_memory)
        /* A long double is at an even word. */
        detail_places_pass_stack(places, (uint32_t)((size_bytes + WORD_BYTES - 1) / WORD_BYTES) +
                                             (size_bytes == 2 * WORD_BYTES && places->stack_words % 2 != 0));
    else
        detail_places_pass(places, registers, vectors);
    return true;
}
