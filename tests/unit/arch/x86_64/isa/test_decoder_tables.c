/* SPDX-License-Identifier: MIT */
/* The made tables hold together: every number in them names something that exists, and nothing is unreachable. */
#include "arch/x86_64/isa/decoder_tables.h"

#include "arch/x86_64/isa/decoder.h"
#include "arch/x86_64/isa/insn.h"

#include "support/check.h"

/* The linked tables do not tell their sizes: a copy of them does. */
#define x86_forms         copied_forms
#define x86_form_traits   copied_traits
#define x86_form_count    copied_form_count
#define x86_flag_effects  copied_flag_effects
#define x86_operand_forms copied_operand_forms
#define x86_operand_types copied_operand_types
#define x86_switches      copied_switches
#define x86_opcode_roots  copied_opcode_roots
#define x86_plain_roots   copied_plain_roots
#include "arch/x86_64/isa/decoder_tables.inc"
#undef x86_forms
#undef x86_form_traits
#undef x86_form_count
#undef x86_flag_effects
#undef x86_operand_forms
#undef x86_operand_types
#undef x86_switches
#undef x86_opcode_roots
#undef x86_plain_roots

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_form_reached[COUNT(copied_forms)];
static bool is_entry_reached[COUNT(copied_switches)];

static bool is_legacy(unsigned map)
{
    return map <= X86_MAP_3DNOW;
}

static bool is_evex(unsigned map)
{
    return map >= X86_MAP_EVEX1;
}

/* How many values the decoder gives to a selector; 0 where it never sets it. */
static unsigned selector_values(unsigned map, unsigned modrm_use, unsigned selector)
{
    switch (selector) {
    case X86_SELECT_PREFIX:
        return is_legacy(map) ? 6 : 4;
    case X86_SELECT_MOD_REGISTER:
        return modrm_use == X86_MODRM_NONE ? 0 : 2;
    case X86_SELECT_REG:
        return modrm_use == X86_MODRM_NONE ? 0 : 8;
    case X86_SELECT_RM:
        return modrm_use != X86_MODRM_NONE ? 8 : is_legacy(map) ? 2 : 0;
    case X86_SELECT_W:
        return 2;
    case X86_SELECT_LENGTH:
        return is_legacy(map) ? 0 : is_evex(map) ? 4 : 2;
    case X86_SELECT_BROADCAST:
        return is_evex(map) ? 2 : 0;
    case X86_SELECT_ADDRESS_SIZE:
        return is_legacy(map) ? 2 : 0;
    default:
        return 0;
    }
}

/* Follows a node through all values of its selectors. `seen` has a bit for each selector above it. */
static void follow(unsigned map, unsigned modrm_use, unsigned node, unsigned seen)
{
    if (!X86_NODE_IS_SWITCH(node)) {
        CHECK(node < COUNT(copied_forms));
        is_form_reached[node < COUNT(copied_forms) ? node : 0] = true;
        return;
    }

    size_t place = X86_NODE_PLACE(node);
    unsigned selector = place < COUNT(copied_switches) ? copied_switches[place] : X86_SELECTOR_COUNT;
    unsigned values = selector_values(map, modrm_use, selector);

    CHECK(values > 0);
    CHECK(place + values < COUNT(copied_switches));
    CHECK(!(seen & 1u << selector));
    if (values == 0 || place + values >= COUNT(copied_switches) || seen & 1u << selector)
        return;
    for (size_t i = place; i <= place + values; i++)
        is_entry_reached[i] = true;
    for (unsigned value = 0; value < values; value++)
        follow(map, modrm_use, copied_switches[place + 1 + value], seen | 1u << selector);
}

static void copy_is_what_is_linked(void)
{
    CHECK_EQUAL(x86_form_count, COUNT(copied_forms));
    CHECK_EQUAL(copied_form_count, COUNT(copied_forms));
    CHECK(memcmp(x86_forms, copied_forms, sizeof(copied_forms)) == 0);
    CHECK(memcmp(x86_form_traits, copied_traits, sizeof(copied_traits)) == 0);
    CHECK(memcmp(x86_switches, copied_switches, sizeof(copied_switches)) == 0);
    CHECK(memcmp(x86_opcode_roots, copied_opcode_roots, sizeof(copied_opcode_roots)) == 0);
    CHECK(memcmp(x86_plain_roots, copied_plain_roots, sizeof(copied_plain_roots)) == 0);
    CHECK(memcmp(x86_operand_forms, copied_operand_forms, sizeof(copied_operand_forms)) == 0);
    CHECK(memcmp(x86_operand_types, copied_operand_types, sizeof(copied_operand_types)) == 0);
    CHECK(memcmp(x86_flag_effects, copied_flag_effects, sizeof(copied_flag_effects)) == 0);
}

static void every_switch_and_form_is_reached_and_none_leads_astray(void)
{
    for (unsigned map = 0; map < X86_MAP_COUNT; map++) {
        for (unsigned opcode = 0; opcode < 256; opcode++) {
            struct x86_opcode_root root = copied_opcode_roots[map][opcode];

            CHECK(root.modrm_use <= X86_MODRM_REGISTER);
            follow(map, root.modrm_use, root.node, 0);
        }
    }
    for (size_t i = 0; i < COUNT(copied_forms); i++)
        CHECK(is_form_reached[i]);
    for (size_t i = 0; i < COUNT(copied_switches); i++)
        CHECK(is_entry_reached[i]);
}

/* The form that a node leads to with a value for each selector. */
static unsigned form_of(unsigned node, const uint8_t values[X86_SELECTOR_COUNT])
{
    while (X86_NODE_IS_SWITCH(node)) {
        const uint16_t *entry = &copied_switches[X86_NODE_PLACE(node)];

        node = entry[1 + values[entry[0]]];
    }
    return node;
}

/* Modrm, and w as the ninth bit. */
static void check_plain_root(unsigned map, unsigned opcode, unsigned modrm_and_w)
{
    struct x86_opcode_root root = copied_opcode_roots[map][opcode];
    const struct x86_plain_root *plain = &copied_plain_roots[map][opcode];
    uint8_t values[X86_SELECTOR_COUNT] = {
        [X86_SELECT_MOD_REGISTER] = (modrm_and_w & 0xc0) == 0xc0,
        [X86_SELECT_REG] = modrm_and_w >> 3 & 7,
        [X86_SELECT_RM] = modrm_and_w & 7,
        [X86_SELECT_W] = (uint8_t)(modrm_and_w >> 8),
    };

    for (unsigned i = 0; i < 2; i++) {
        uint16_t node = plain->nodes[i];

        CHECK(X86_PLAIN_MODRM_USE(plain->traits[i]) == root.modrm_use ||
              X86_PLAIN_MODRM_USE(plain->traits[i]) == X86_PLAIN_OTHER);
        CHECK_EQUAL(X86_PLAIN_MODRM_USE(plain->traits[i]), X86_PLAIN_MODRM_USE(plain->traits[0]));
        CHECK_EQUAL(X86_PLAIN_TRAITS(plain->traits[i]), X86_NODE_IS_SWITCH(node) ? 0u : copied_forms[node].traits);
    }
    if (root.modrm_use == X86_MODRM_NONE) {
        values[X86_SELECT_MOD_REGISTER] = values[X86_SELECT_REG] = 0;
        values[X86_SELECT_RM] &= 1;
    }
    CHECK_EQUAL(form_of(plain->nodes[values[X86_SELECT_MOD_REGISTER]], values), form_of(root.node, values));
}

static void without_prefixes_both_roots_lead_to_the_same_forms(void)
{
    for (unsigned map = 0; map < X86_PLAIN_MAP_COUNT; map++)
        for (unsigned opcode = 0; opcode < 256; opcode++)
            for (unsigned modrm_and_w = 0; modrm_and_w < 512; modrm_and_w++)
                check_plain_root(map, opcode, modrm_and_w);
}

/* Opcodes that lead elsewhere, and those whose instructions the decoder reads by itself. */
static void prefixes_and_escapes_have_no_form(void)
{
    static const uint8_t none[] = {0x0f, 0x26, 0x2e, 0x36, 0x3e, 0x40, 0x4f, 0x62, 0x64,
                                   0x65, 0x66, 0x67, 0xc4, 0xc5, 0xf0, 0xf2, 0xf3};

    for (size_t i = 0; i < sizeof(none); i++) {
        CHECK_EQUAL(copied_opcode_roots[X86_MAP_PRIMARY][none[i]].node, X86_FORM_INVALID);
        CHECK_EQUAL(X86_PLAIN_MODRM_USE(copied_plain_roots[X86_MAP_PRIMARY][none[i]].traits[0]), X86_PLAIN_OTHER);
    }
    CHECK_EQUAL(X86_PLAIN_MODRM_USE(copied_plain_roots[X86_MAP_PRIMARY][0x8f].traits[0]), X86_PLAIN_OTHER);
    CHECK_EQUAL(X86_PLAIN_MODRM_USE(copied_plain_roots[X86_MAP_0F][0x0f].traits[0]), X86_PLAIN_OTHER);
    CHECK_EQUAL(X86_PLAIN_MODRM_USE(copied_plain_roots[X86_MAP_0F][0x38].traits[0]), X86_PLAIN_OTHER);
    CHECK_EQUAL(X86_PLAIN_MODRM_USE(copied_plain_roots[X86_MAP_0F][0x3a].traits[0]), X86_PLAIN_OTHER);
    CHECK_EQUAL(copied_opcode_roots[X86_MAP_0F][0x0f].node, X86_FORM_INVALID);
    CHECK_EQUAL(copied_opcode_roots[X86_MAP_0F][0x38].node, X86_FORM_INVALID);
    CHECK_EQUAL(copied_opcode_roots[X86_MAP_0F][0x3a].node, X86_FORM_INVALID);
}

static void check_registers(const struct x86_traits *traits)
{
    x86_gpr_set written = X86_GPRS_OF(traits->gprs, X86_GPRS_WRITTEN);

    CHECK_EQUAL(X86_GPRS_OF(traits->gprs, X86_GPRS_KEPT) & ~written, 0);
    CHECK_EQUAL(X86_GPRS_OF(traits->gprs, X86_GPRS_KEPT_16) & ~written, 0);
    for (int field = X86_ROLE_REG; field <= X86_ROLE_VVVV; field++) {
        unsigned role = X86_ROLE_OF(traits->roles, field);

        CHECK(role < 2 * X86_ROLE_BYTE);
        CHECK(!(role & (X86_ROLE_KEEPS | X86_ROLE_KEEPS_16)) || role & X86_ROLE_WRITE);
    }
}

static void check_immediate(const struct x86_immediate_form *immediate)
{
    for (int size = 0; size < 3; size++) {
        uint8_t bytes = immediate->size[size];

        CHECK(bytes == 0 || bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
    }
    CHECK(immediate->size_second <= 1);
    CHECK(!immediate->is_relative || immediate->is_signed);
}

static void forms_name_what_exists(void)
{
    static bool is_used[COUNT(copied_traits)];

    CHECK(copied_traits[copied_forms[X86_FORM_INVALID].traits].forbidden & X86_FIELD_ANY);
    for (size_t i = 1; i < COUNT(copied_forms); i++) {
        const struct x86_form *form = &copied_forms[i];

        CHECK(form->mnemonic > X86_MNEMONIC_NONE && form->mnemonic < X86_MNEMONIC_COUNT);
        CHECK(form->traits < COUNT(copied_traits));
        CHECK(copied_traits[form->traits].forbidden < 2 * X86_FIELD_ADDRESS_32);
        is_used[form->traits] = true;
        CHECK((size_t)form->operands + form->operand_count <= COUNT(copied_operand_forms));
    }
    for (size_t i = 0; i < COUNT(copied_traits); i++)
        CHECK(is_used[i] || i == copied_forms[X86_FORM_INVALID].traits);
}

static void traits_are_possible_and_stand_once(void)
{
    for (size_t i = 0; i < COUNT(copied_traits); i++) {
        const struct x86_traits *traits = &copied_traits[i];

        CHECK(traits->flow <= X86_FLOW_TRANSACTION);
        CHECK(traits->insn_class <= X86_CLASS_XOP);
        CHECK(traits->flags < COUNT(copied_flag_effects));
        CHECK(traits->distinct <= X86_DISTINCT_DESTINATION);
        check_registers(traits);
        check_immediate(&traits->immediate);
        for (size_t other = 0; other < i; other++)
            CHECK(memcmp(traits, &copied_traits[other], sizeof(*traits)) != 0);
    }
}

static void operands_name_what_exists(void)
{
    for (size_t i = 0; i < COUNT(copied_operand_forms); i++) {
        const struct x86_operand_form *operand = &copied_operand_forms[i];

        CHECK(operand->kind > X86_OPERAND_NONE && operand->kind <= X86_OPERAND_TARGET);
        CHECK(operand->source <= X86_SOURCE_OFFSET);
        CHECK(operand->access < 2 * X86_MAY_WRITE);
        CHECK(operand->visibility >= X86_EXPLICIT && operand->visibility <= X86_HIDDEN);
        CHECK(operand->memory_kind <= X86_MEMORY_VECTOR);
        CHECK(operand->type < COUNT(copied_operand_types));
        CHECK(operand->kind != X86_OPERAND_TARGET || operand->source == X86_SOURCE_RELATIVE);
        CHECK(operand->kind == X86_OPERAND_MEMORY || !operand->is_overridable);
    }
    for (size_t i = 0; i < COUNT(copied_operand_types); i++) {
        for (int size = 0; size < 3; size++)
            CHECK(copied_operand_types[i].register_class[size] <= X86_REGISTER_OTHER);
    }
}

static void flag_effects_are_plausible(void)
{
    for (size_t i = 0; i < COUNT(copied_flag_effects); i++) {
        CHECK_EQUAL(copied_flag_effects[i].undefined & ~copied_flag_effects[i].written, 0);
        CHECK_EQUAL(copied_flag_effects[i].kept, 0);
    }
}

static void mnemonics_are_names(void)
{
    CHECK_TEXT(x86_mnemonic_name(X86_MNEMONIC_NONE), "(bad)");
    CHECK_TEXT(x86_mnemonic_name(X86_MNEMONIC_COUNT), "(bad)");
    CHECK_TEXT(x86_mnemonic_name(X86_MNEMONIC_mov), "mov");
    for (unsigned i = 1; i < X86_MNEMONIC_COUNT; i++) {
        const char *name = x86_mnemonic_name(i);

        CHECK(strlen(name) > 0 && strlen(name) < 24);
        CHECK_EQUAL(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(name));
        CHECK(i == 1 || strcmp(x86_mnemonic_name(i - 1), name) < 0);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(copy_is_what_is_linked),
    CHECK_CASE(every_switch_and_form_is_reached_and_none_leads_astray),
    CHECK_CASE(without_prefixes_both_roots_lead_to_the_same_forms),
    CHECK_CASE(prefixes_and_escapes_have_no_form),
    CHECK_CASE(forms_name_what_exists),
    CHECK_CASE(traits_are_possible_and_stand_once),
    CHECK_CASE(operands_name_what_exists),
    CHECK_CASE(flag_effects_are_plausible),
    CHECK_CASE(mnemonics_are_names),
};

CHECK_MAIN(cases)
