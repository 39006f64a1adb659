/* SPDX-License-Identifier: MIT */
/*
 * Numbers what forms have in common (traits, flag effects, immediates, operand types, lists of operands), works out
 * which general registers a form touches by name and by field, and prints it all densely: nobody reads these tables.
 */
#include "print.h"

#include <stdlib.h>
#include <string.h>

/* A list of equal-sized things in which each stands once. */
struct unique {
    size_t item_size;
    size_t count;
    unsigned char *items;
};

/* The number of a run of items in the list; a run that stands there already is used again. */
static unsigned unique_add(struct unique *unique, const void *items, size_t count)
{
    for (size_t start = 0; start + count <= unique->count; start++)
        if (memcmp(unique->items + start * unique->item_size, items, count * unique->item_size) == 0)
            return (unsigned)start;
    unique->items = realloc(unique->items, (unique->count + count) * unique->item_size);
    if (unique->items == NULL)
        abort();
    memcpy(unique->items + unique->count * unique->item_size, items, count * unique->item_size);
    unique->count += count;
    return (unsigned)(unique->count - count);
}

static struct unique traits = {.item_size = sizeof(struct x86_traits)};
static struct unique flag_effects = {.item_size = sizeof(struct x86_flag_effect)};
static struct unique types = {.item_size = sizeof(struct x86_operand_type)};
static struct unique operands = {.item_size = sizeof(struct x86_operand_form)};

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static const char **mnemonics;
static size_t mnemonic_count;

static void collect_mnemonics(void)
{
    size_t count, unique_count = 0;
    const unsigned *forms = tree_forms(&count);

    mnemonics = calloc(count, sizeof(*mnemonics));
    if (mnemonics == NULL)
        abort();
    for (size_t i = 1; i < count; i++)
        mnemonics[i - 1] = form_get(forms[i])->mnemonic;
    qsort(mnemonics, count - 1, sizeof(*mnemonics), compare_names);
    for (size_t i = 0; i + 1 < count; i++)
        if (unique_count == 0 || strcmp(mnemonics[unique_count - 1], mnemonics[i]) != 0)
            mnemonics[unique_count++] = mnemonics[i];
    mnemonic_count = unique_count;
}

static unsigned mnemonic_number(const char *name)
{
    const char **found = bsearch(&name, mnemonics, mnemonic_count, sizeof(*mnemonics), compare_names);

    return (unsigned)(found - mnemonics) + 1;
}

void print_mnemonics(FILE *file)
{
    collect_mnemonics();
    fprintf(file, "/* SPDX-License-Identifier: MIT */\n/* Made by `make tables`. */\n");
    for (size_t i = 0; i < mnemonic_count; i++)
        fprintf(file, "X86_MNEMONIC(%s)\n", mnemonics[i]);
}

static bool is_gpr(uint8_t register_class)
{
    return register_class >= X86_REGISTER_GPR8 && register_class <= X86_REGISTER_GPR64;
}

static bool is_partial(uint8_t register_class)
{
    return register_class <= X86_REGISTER_GPR16;
}

/* What the access to a general register means for liveness. */
static uint8_t role_of(const struct form *form, const struct form_operand *operand)
{
    const uint8_t *classes = operand->type.register_class;
    uint8_t role = 0;

    if (operand->form.access & (X86_READ | X86_MAY_READ))
        role |= X86_ROLE_READ;
    if (classes[1] == X86_REGISTER_GPR8)
        role |= X86_ROLE_BYTE;
    if (!(operand->form.access & (X86_WRITE | X86_MAY_WRITE)))
        return role;
    role |= X86_ROLE_WRITE;
    if (operand->form.access & X86_MAY_WRITE || form->is_conditional || is_partial(classes[1]))
        role |= X86_ROLE_KEEPS;
    else if (is_partial(classes[0]))
        role |= X86_ROLE_KEEPS_16;
    return role;
}

/* The lanes of the sets that a role stands for, with the register's bit in them. */
static uint64_t gprs_of_role(uint8_t gpr, uint8_t role)
{
    x86_gpr_set bit = X86_GPR_BIT(gpr);

    return (role & X86_ROLE_READ ? X86_GPRS(X86_GPRS_READ, bit) : 0) |
           (role & X86_ROLE_WRITE ? X86_GPRS(X86_GPRS_WRITTEN, bit) : 0) |
           (role & X86_ROLE_KEEPS ? X86_GPRS(X86_GPRS_KEPT, bit) : 0) |
           (role & X86_ROLE_KEEPS_16 ? X86_GPRS(X86_GPRS_KEPT_16, bit) : 0);
}

static void add_roles(struct x86_traits *out, const struct form *form)
{
    static const int fields[] = {
        [X86_SOURCE_REG] = X86_ROLE_REG,
        [X86_SOURCE_RM] = X86_ROLE_RM,
        [X86_SOURCE_OPCODE] = X86_ROLE_OPCODE,
        [X86_SOURCE_VVVV] = X86_ROLE_VVVV,
    };

    for (int i = 0; i < form->operand_count; i++) {
        const struct form_operand *operand = &form->operands[i];

        if (operand->form.kind == X86_OPERAND_MEMORY && operand->form.source == X86_SOURCE_FIXED)
            out->gprs |= gprs_of_role(operand->form.fixed, X86_ROLE_READ);
        if (operand->form.kind != X86_OPERAND_REGISTER || !is_gpr(operand->type.register_class[1]))
            continue;
        if (operand->form.source == X86_SOURCE_FIXED)
            out->gprs |= gprs_of_role(operand->form.fixed, role_of(form, operand));
        else
            out->roles |= (uint32_t)role_of(form, operand) << 8 * fields[operand->form.source];
    }
}

/* Whether the decoder's short way is not for this form. */
static bool is_unusual(const struct form *form, const struct x86_traits *out)
{
    const uint32_t properties =
        X86_FORM_COUNT_IN_IMMEDIATE | X86_FORM_FLAGS_MAY_STAY | X86_FORM_STRING | X86_FORM_VECTOR_INDEX;

    for (int field = X86_ROLE_REG; field <= X86_ROLE_VVVV; field++)
        if (X86_ROLE_OF(out->roles, field) & X86_ROLE_BYTE)
            return true;
    return form->distinct != X86_DISTINCT_NONE || form->properties & properties || form->immediate.is_offset ||
           form->immediate.size_second || X86_ROLE_OF(out->roles, X86_ROLE_VVVV);
}

static unsigned traits_number(const struct form *form)
{
    struct x86_traits out = {
        .flow = form->flow,
        .insn_class = form->insn_class,
        .immediate = form->immediate,
        .forbidden = form->forbidden,
        .disp8_shift = (uint16_t)(form->disp8_shift[0] | form->disp8_shift[1] << 4 | form->disp8_shift[2] << 8),
        .flags = (uint8_t)unique_add(&flag_effects, &form->flags, 1),
        .distinct = form->distinct,
    };

    add_roles(&out, form);
    out.properties = form->properties | (is_unusual(form, &out) ? X86_FORM_UNUSUAL : 0);
    return unique_add(&traits, &out, 1);
}

/* By the final number. */
static unsigned traits_of_forms[X86_NODE_SWITCH];

static void print_form(FILE *file, size_t number, const struct form *form)
{
    struct x86_operand_form list[FORM_MAX_OPERANDS];

    for (int i = 0; i < form->operand_count; i++) {
        list[i] = form->operands[i].form;
        list[i].type = (uint8_t)unique_add(&types, &form->operands[i].type, 1);
    }
    traits_of_forms[number] = traits_number(form);
    fprintf(file, "{%u,%u,%u,%u},\n", mnemonic_number(form->mnemonic), traits_of_forms[number],
            unique_add(&operands, list, form->operand_count), form->operand_count);
}

static void print_traits(FILE *file)
{
    fprintf(file, "const struct x86_traits x86_form_traits[] = {\n");
    for (size_t i = 0; i < traits.count; i++) {
        const struct x86_traits *item = (const struct x86_traits *)traits.items + i;
        const struct x86_immediate_form *immediate = &item->immediate;

        fprintf(file, "{0x%llx,0x%x,0x%x,{{%u,%u,%u},%u,%u,%u,%u},", (unsigned long long)item->gprs, item->properties,
                item->roles, immediate->size[0], immediate->size[1], immediate->size[2], immediate->size_second,
                immediate->is_signed, immediate->is_relative, immediate->is_offset);
        fprintf(file, "0x%x,%u,%u,0x%x,%u,%u,0},\n", item->forbidden, item->flow, item->insn_class, item->disp8_shift,
                item->flags, item->distinct);
    }
    fprintf(file, "};\n\n");
}

static void print_forms(FILE *file)
{
    const struct x86_traits none = {.forbidden = X86_FIELD_ANY};
    size_t count;
    const unsigned *forms = tree_forms(&count);

    fprintf(file, "const struct x86_form x86_forms[] = {\n{0,%u,0,0},\n", unique_add(&traits, &none, 1));
    for (size_t i = 1; i < count; i++)
        print_form(file, i, form_get(forms[i]));
    fprintf(file, "};\n\nconst uint16_t x86_form_count = %zu;\n\n", count);
}

static void print_shared(FILE *file)
{
    fprintf(file, "const struct x86_flag_effect x86_flag_effects[] = {\n");
    for (size_t i = 0; i < flag_effects.count; i++) {
        const struct x86_flag_effect *effect = (const struct x86_flag_effect *)flag_effects.items + i;

        fprintf(file, "{0x%x,0x%x,0x%x,0},\n", effect->read, effect->written, effect->undefined);
    }
    fprintf(file, "};\n\nconst struct x86_operand_form x86_operand_forms[] = {\n");
    for (size_t i = 0; i < operands.count; i++) {
        const struct x86_operand_form *item = (const struct x86_operand_form *)operands.items + i;

        fprintf(file, "{%u,%u,%u,%u,%u,%u,%u,%u},\n", item->kind, item->source, item->access, item->visibility,
                item->type, item->fixed, item->memory_kind, item->is_overridable);
    }
    fprintf(file, "};\n\nconst struct x86_operand_type x86_operand_types[] = {\n");
    for (size_t i = 0; i < types.count; i++) {
        const struct x86_operand_type *item = (const struct x86_operand_type *)types.items + i;

        fprintf(file, "{{%u,%u,%u},{%u,%u,%u}},\n", item->register_class[0], item->register_class[1],
                item->register_class[2], item->size_bits[0], item->size_bits[1], item->size_bits[2]);
    }
    fprintf(file, "};\n\n");
}

static void print_switches(FILE *file)
{
    size_t count;
    const uint16_t *switches = tree_switches(&count);

    fprintf(file, "const uint16_t x86_switches[] = {\n");
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%u,%s", switches[i], i % 24 == 23 ? "\n" : "");
    fprintf(file, "\n};\n\n");
}

static void print_roots(FILE *file, const struct x86_opcode_root roots[X86_MAP_COUNT][256])
{
    fprintf(file, "const struct x86_opcode_root x86_opcode_roots[X86_MAP_COUNT][256] = {\n");
    for (int map = 0; map < X86_MAP_COUNT; map++) {
        fprintf(file, "{\n");
        for (int opcode = 0; opcode < 256; opcode++)
            fprintf(file, "{%u,%u},%s", roots[map][opcode].node, roots[map][opcode].modrm_use,
                    opcode % 12 == 11 ? "\n" : "");
        fprintf(file, "\n},\n");
    }
    fprintf(file, "};\n");
}

/* Where a node leads without prefixes, as long as nothing else matters but what modrm names. */
static uint16_t plain_node(uint16_t node, bool names_register)
{
    size_t count;
    const uint16_t *switches = tree_switches(&count);

    while (X86_NODE_IS_SWITCH(node)) {
        const uint16_t *entry = &switches[X86_NODE_PLACE(node)];

        if (entry[0] == X86_SELECT_PREFIX || entry[0] == X86_SELECT_ADDRESS_SIZE)
            node = entry[1];
        else if (entry[0] == X86_SELECT_MOD_REGISTER)
            node = entry[1 + names_register];
        else
            break;
    }
    return node;
}

/* Whether a byte begins something else than an instruction's opcode, or may do so. */
static bool is_other(int map, int byte)
{
    static const uint8_t primary[] = {0x0f, 0x26, 0x2e, 0x36, 0x3e, 0x62, 0x64, 0x65,
                                      0x66, 0x67, 0x8f, 0xc4, 0xc5, 0xf0, 0xf2, 0xf3};

    if (map == X86_MAP_0F)
        return byte == 0x0f || byte == 0x38 || byte == 0x3a;
    return (byte & 0xf0) == 0x40 || memchr(primary, byte, sizeof(primary)) != NULL;
}

/* The number of a form's traits; 0 for a switch. */
static unsigned node_traits(uint16_t node)
{
    return X86_NODE_IS_SWITCH(node) ? 0 : traits_of_forms[node];
}

static void print_plain_roots(FILE *file, const struct x86_opcode_root roots[X86_MAP_COUNT][256])
{
    fprintf(file, "\nconst struct x86_plain_root x86_plain_roots[X86_PLAIN_MAP_COUNT][256] = {\n");
    for (int map = 0; map < X86_PLAIN_MAP_COUNT; map++) {
        fprintf(file, "{\n");
        for (int opcode = 0; opcode < 256; opcode++) {
            struct x86_opcode_root root = roots[map][opcode];
            uint16_t memory = plain_node(root.node, false), reg = plain_node(root.node, true);
            unsigned use = is_other(map, opcode) ? X86_PLAIN_OTHER : root.modrm_use;
            unsigned modrm = use << X86_PLAIN_MODRM_SHIFT;

            fprintf(file, "{{%u,%u},{%u,%u}},%s", memory, reg, node_traits(memory) | modrm, node_traits(reg) | modrm,
                    opcode % 6 == 5 ? "\n" : "");
        }
        fprintf(file, "\n},\n");
    }
    fprintf(file, "};\n");
}

void print_tables(FILE *file, const struct x86_opcode_root roots[X86_MAP_COUNT][256])
{
    fprintf(file, "/* SPDX-License-Identifier: MIT */\n/* Made by `make tables`. */\n");
    print_forms(file);
    print_traits(file);
    print_shared(file);
    print_switches(file);
    print_roots(file, roots);
    print_plain_roots(file, roots);
    if (types.count > 256 || flag_effects.count > 256 || operands.count > 65535 ||
        traits.count > 1u << X86_PLAIN_MODRM_SHIFT) {
        fprintf(stderr, "x86_tables: too many types, flag effects, operands or traits for their numbers\n");
        exit(1);
    }
    fprintf(stderr, "traits %zu, flag effects %zu, operand types %zu, operands %zu\n", traits.count, flag_effects.count,
            types.count, operands.count);
}
