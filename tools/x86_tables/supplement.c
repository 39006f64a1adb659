/* SPDX-License-Identifier: MIT */
/*
 * Answers for instructions in supplement.def as oracle.c does for those that libZydis knows: which encodings are
 * valid, and what their forms are.
 */
#include "supplement.h"

#include "classify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum entry_encoding {
    LEGACY = SAMPLE_LEGACY,
    VEX = SAMPLE_VEX,
    EVEX = SAMPLE_EVEX,
};

enum { MEMORY, REGISTER };

#define ANY (-1)

struct entry {
    int encoding, map, pp, w, opcode, digit, kind, broadcast, lengths;
    const char *name, *operands;
    uint8_t shifts[3];
    bool allows_zeroing;
};

static const struct entry entries[] = {
#define SUPPLEMENT(encoding, map, pp, w, opcode, digit, kind, broadcast, lengths, name, operands, a, b, c, zeroing)    \
    {encoding, map, pp, w, opcode, digit, kind, broadcast, lengths, #name, operands, {a, b, c}, zeroing},
#include "supplement.def"
#undef SUPPLEMENT
};

/* One operand of an entry, read from its text. */
struct spec {
    char access;
    char source[8];
    char kind[16];
};

static int prefix_number(const struct sample *sample)
{
    if (sample->encoding != SAMPLE_LEGACY)
        return sample->pp;
    return sample->prefix_f2 ? 3 : sample->prefix_f3 ? 2 : sample->prefix_66;
}

/* Most opcodes have no entry, and are asked about millions of times. */
static bool has_entries(const struct sample *sample)
{
    static bool is_known, known[SAMPLE_EVEX + 1][16][256];

    for (size_t i = 0; !is_known && i < sizeof(entries) / sizeof(entries[0]); i++)
        known[entries[i].encoding][entries[i].map][entries[i].opcode] = true;
    is_known = true;
    return known[sample->encoding][sample->map][sample->opcode];
}

static const struct entry *find(const struct sample *sample)
{
    if (!has_entries(sample))
        return NULL;
    /* The operand-size prefix beside f2 and f3 changes nothing that these instructions know. */
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        const struct entry *entry = &entries[i];

        if (entry->encoding == (int)sample->encoding && entry->map == sample->map && entry->opcode == sample->opcode &&
            entry->pp == prefix_number(sample) && entry->w == sample->w &&
            entry->kind == (sample->mod == 3 ? REGISTER : MEMORY) && entry->broadcast == sample->broadcast &&
            (entry->lengths >> sample->length & 1) && (entry->digit == ANY || entry->digit == sample->reg))
            return entry;
    }
    return NULL;
}

/* Reads the operands of an entry. Returns how many there are. */
static int parse(const struct entry *entry, struct spec specs[FORM_MAX_OPERANDS])
{
    char text[128];
    int count = 0;
    char *rest = NULL;

    snprintf(text, sizeof(text), "%s", entry->operands);
    for (char *part = strtok_r(text, ",", &rest); part != NULL; part = strtok_r(NULL, ",", &rest)) {
        struct spec *spec = &specs[count++];

        memset(spec, 0, sizeof(*spec));
        if (sscanf(part, " %c %7s %15s", &spec->access, spec->source, spec->kind) < 2) {
            fprintf(stderr, "x86_tables: cannot read the operands of %s\n", entry->name);
            exit(1);
        }
    }
    return count;
}

bool supplement_covers(const struct sample *sample)
{
    return find(sample) != NULL;
}

static bool is(const char *text, const char *other)
{
    return strcmp(text, other) == 0;
}

/* Whether the register that a field names exists, given how many of its kind there are. */
static bool register_exists(const struct spec *spec, bool bit3, bool bit4)
{
    if (is(spec->kind, "tile") || is(spec->kind, "mask"))
        return !bit3 && !bit4;
    if (spec->kind[0] == 'r')
        return !bit4;
    return true;
}

static bool fields_are_valid(const struct sample *sample, const struct spec *specs, int count)
{
    bool uses_vvvv = false, uses_mask = false;

    for (int i = 0; i < count; i++) {
        const struct spec *spec = &specs[i];

        if (is(spec->source, "vvvv")) {
            uses_vvvv = true;
            if (!register_exists(spec, sample->vvvv & 8, sample->v_high))
                return false;
        } else if (is(spec->source, "mask")) {
            uses_mask = true;
        } else if (is(spec->source, "reg") && !register_exists(spec, sample->r, sample->r_high)) {
            return false;
        } else if (is(spec->source, "rm") && !register_exists(spec, sample->b, sample->x)) {
            return false;
        }
    }
    if (!uses_vvvv && (sample->vvvv || sample->v_high))
        return false;
    return uses_mask || (!sample->aaa && !sample->z);
}

static bool tiles_are_distinct(const struct sample *sample, const struct spec *specs, int count)
{
    int tiles = 0;

    for (int i = 0; i < count; i++)
        tiles += is(specs[i].kind, "tile");
    return tiles < 3 || (sample->reg != sample->rm && sample->reg != sample->vvvv && sample->rm != sample->vvvv);
}

bool supplement_accepts(const struct sample *sample)
{
    const struct entry *entry = find(sample);
    struct spec specs[FORM_MAX_OPERANDS];
    int count = parse(entry, specs);

    if (sample->lock || !fields_are_valid(sample, specs, count) || !tiles_are_distinct(sample, specs, count))
        return false;
    if (sample->z && (!entry->allows_zeroing || sample->aaa == 0))
        return false;
    /* Tiles are loaded row by row: there must be an index that says how far apart. */
    return entry->kind == REGISTER || !is(specs[0].kind, "tile") || sample->rm == 4;
}

static uint8_t vector_class(char letter)
{
    return letter == 'x' ? X86_REGISTER_XMM : letter == 'y' ? X86_REGISTER_YMM : X86_REGISTER_ZMM;
}

static void describe_register(const struct spec *spec, unsigned length, uint8_t *class_out, uint16_t *bits_out)
{
    static const struct {
        const char *name;
        uint8_t register_class;
        uint16_t bits;
    } kinds[] = {
        {"r8", X86_REGISTER_GPR8, 8},    {"r16", X86_REGISTER_GPR16, 16}, {"r32", X86_REGISTER_GPR32, 32},
        {"r64", X86_REGISTER_GPR64, 64}, {"mask", X86_REGISTER_MASK, 64}, {"tile", X86_REGISTER_TILE, 8192},
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (is(spec->kind, kinds[i].name)) {
            *class_out = kinds[i].register_class;
            *bits_out = kinds[i].bits;
            return;
        }
    }
    *class_out = vector_class(spec->kind[length]);
    *bits_out = (uint16_t)(128 << (*class_out - X86_REGISTER_XMM));
}

static void describe_operand(const struct spec *spec, unsigned length, struct form *form)
{
    struct form_operand *operand = &form->operands[form->operand_count++];
    uint8_t register_class = X86_REGISTER_NONE;
    uint16_t bits = 0;
    unsigned sizes[3];

    operand->form.access = spec->access == 'R' ? X86_READ : spec->access == 'W' ? X86_WRITE : X86_READ | X86_WRITE;
    operand->form.visibility = X86_EXPLICIT;
    operand->form.kind = X86_OPERAND_REGISTER;
    if (is(spec->source, "mem")) {
        operand->form.kind = X86_OPERAND_MEMORY;
        operand->form.source = X86_SOURCE_RM;
        operand->form.is_overridable = 1;
        if (sscanf(spec->kind, "%u/%u/%u", &sizes[0], &sizes[1], &sizes[2]) == 3)
            bits = (uint16_t)sizes[length];
    } else if (is(spec->source, "imm")) {
        operand->form.kind = X86_OPERAND_IMMEDIATE;
        operand->form.source = X86_SOURCE_IMMEDIATE;
        bits = (uint16_t)atoi(spec->kind);
        for (int size = 0; size < 3; size++)
            form->immediate.size[size] = (uint8_t)(bits / 8);
    } else if (is(spec->source, "mask")) {
        operand->form.source = X86_SOURCE_MASK;
        register_class = X86_REGISTER_MASK;
        bits = 64;
    } else {
        operand->form.source = is(spec->source, "reg")  ? X86_SOURCE_REG
                               : is(spec->source, "rm") ? X86_SOURCE_RM
                                                        : X86_SOURCE_VVVV;
        describe_register(spec, length, &register_class, &bits);
    }
    for (int size = 0; size < 3; size++) {
        operand->type.register_class[size] = register_class;
        operand->type.size_bits[size] = bits;
    }
}

static uint8_t class_of(const struct sample *sample, const struct spec *specs, int count)
{
    for (int i = 0; i < count; i++)
        if (is(specs[i].kind, "tile"))
            return X86_CLASS_AMX;
    if (sample->encoding == SAMPLE_EVEX)
        return X86_CLASS_AVX512;
    return sample->encoding == SAMPLE_VEX && specs[0].kind[0] >= 'x' ? X86_CLASS_AVX : X86_CLASS_GENERAL;
}

/* Comparisons leave their result in the flags. */
static bool writes_flags(const struct entry *entry)
{
    return strncmp(entry->name, "vcomx", 5) == 0 || strncmp(entry->name, "vucomx", 6) == 0 ||
           strncmp(entry->name, "vcomis", 6) == 0 || (strncmp(entry->name, "cmp", 3) == 0 && entry->encoding == VEX);
}

/* The flags that the condition in a cmpccxadd looks at are those of its own comparison: none are read. */
static void add_flags(const struct entry *entry, struct form *form)
{
    struct form_operand *operand;

    if (!writes_flags(entry))
        return;
    form->flags.written = X86_FLAGS_STATUS;
    operand = &form->operands[form->operand_count++];
    operand->form.kind = X86_OPERAND_REGISTER;
    operand->form.access = X86_WRITE;
    operand->form.visibility = X86_HIDDEN;
    for (int size = 0; size < 3; size++) {
        operand->type.register_class[size] = X86_REGISTER_FLAGS;
        operand->type.size_bits[size] = 64;
    }
}

void supplement_describe(const struct sample *sample, struct form *form_out)
{
    const struct entry *entry = find(sample);
    unsigned length = sample->length == 3 ? 2 : sample->length;
    struct spec specs[FORM_MAX_OPERANDS];
    int count = parse(entry, specs);
    struct form form;

    memset(&form, 0, sizeof(form));
    snprintf(form.mnemonic, sizeof(form.mnemonic), "%s", entry->name);
    for (int i = 0; i < count; i++)
        describe_operand(&specs[i], length, &form);
    add_flags(entry, &form);
    for (int size = 0; size < 3; size++)
        form.disp8_shift[size] = entry->shifts[length];
    form.insn_class = class_of(sample, specs, count);
    form.properties = classify_operands(&form) | X86_MAY_FAULT;
    if (entry->kind == MEMORY)
        form.properties |= X86_FORM_SEGMENT_OVERRIDE;
    if (strncmp(entry->name, "tileload", 8) == 0)
        form.properties |= X86_MEMORY_SCATTERED;
    if (count > 1 && is(specs[1].source, "mask") && specs[0].kind[0] >= 'x')
        form.properties |= X86_FORM_MASK_MERGES;
    *form_out = form;
}
