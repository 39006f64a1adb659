/* SPDX-License-Identifier: MIT */
/*
 * For each combination of selector values: find a sample that the oracle accepts, describe it, and find out which other
 * fields it does not tolerate by changing them one at a time. Then merge what differs only by size.
 */
#include "survey.h"

#include "oracle.h"

#include <stdlib.h>
#include <string.h>

struct map_encoding {
    enum sample_encoding encoding;
    uint8_t map;
};

static const struct map_encoding map_encodings[X86_MAP_COUNT] = {
    [X86_MAP_PRIMARY] = {SAMPLE_LEGACY, 0}, [X86_MAP_0F] = {SAMPLE_LEGACY, 1},   [X86_MAP_0F38] = {SAMPLE_LEGACY, 2},
    [X86_MAP_0F3A] = {SAMPLE_LEGACY, 3},    [X86_MAP_3DNOW] = {SAMPLE_3DNOW, 1}, [X86_MAP_VEX1] = {SAMPLE_VEX, 1},
    [X86_MAP_VEX2] = {SAMPLE_VEX, 2},       [X86_MAP_VEX3] = {SAMPLE_VEX, 3},    [X86_MAP_VEX5] = {SAMPLE_VEX, 5},
    [X86_MAP_VEX7] = {SAMPLE_VEX, 7},       [X86_MAP_XOP8] = {SAMPLE_XOP, 8},    [X86_MAP_XOP9] = {SAMPLE_XOP, 9},
    [X86_MAP_XOPA] = {SAMPLE_XOP, 10},      [X86_MAP_EVEX1] = {SAMPLE_EVEX, 1},  [X86_MAP_EVEX2] = {SAMPLE_EVEX, 2},
    [X86_MAP_EVEX3] = {SAMPLE_EVEX, 3},     [X86_MAP_EVEX5] = {SAMPLE_EVEX, 5},  [X86_MAP_EVEX6] = {SAMPLE_EVEX, 6},
};

static bool is_legacy(const struct sample *sample)
{
    return sample->encoding == SAMPLE_LEGACY || sample->encoding == SAMPLE_3DNOW;
}

/* What leads to the opcode itself in its map: prefixes and escapes are no instructions. */
static bool is_escape(enum x86_opcode_map map, uint8_t opcode)
{
    if (map == X86_MAP_PRIMARY)
        return (opcode >= 0x40 && opcode <= 0x4f) || opcode == 0x0f || opcode == 0x26 || opcode == 0x2e ||
               opcode == 0x36 || opcode == 0x3e || (opcode >= 0x64 && opcode <= 0x67) || opcode == 0xf0 ||
               opcode == 0xf2 || opcode == 0xf3 || opcode == 0xc4 || opcode == 0xc5 || opcode == 0x62;
    return map == X86_MAP_0F && (opcode == 0x0f || opcode == 0x38 || opcode == 0x3a);
}

static struct sample sample_at(enum x86_opcode_map map, uint8_t opcode, const unsigned values[X86_SELECTOR_COUNT])
{
    struct sample sample = {
        .encoding = map_encodings[map].encoding,
        .map = map_encodings[map].map,
        .opcode = opcode,
        .w = (uint8_t)values[X86_SELECT_W],
        .length = (uint8_t)values[X86_SELECT_LENGTH],
        .broadcast = (uint8_t)values[X86_SELECT_BROADCAST],
        .mod = values[X86_SELECT_MOD_REGISTER] ? 3 : 1,
        .reg = (uint8_t)values[X86_SELECT_REG],
        .rm = (uint8_t)values[X86_SELECT_RM],
        .prefix_67 = values[X86_SELECT_ADDRESS_SIZE] != 0,
    };

    sample.sib = (uint8_t)(((sample.reg + 1) & 7) << 3 | 3);
    if (is_legacy(&sample)) {
        sample.prefix_66 = values[X86_SELECT_PREFIX] & 1;
        sample.prefix_f3 = (values[X86_SELECT_PREFIX] & 6) == 2;
        sample.prefix_f2 = (values[X86_SELECT_PREFIX] & 6) == 4;
    } else {
        sample.pp = (uint8_t)values[X86_SELECT_PREFIX];
    }
    return sample;
}

/* Some forms want fields to be something, or registers to differ: looks for values that are accepted. */
static bool find_accepted(struct sample *sample)
{
    struct sample start = *sample;
    unsigned masks = start.encoding == SAMPLE_EVEX ? 2 : 1;
    unsigned registers = is_legacy(&start) ? 1 : 8;
    unsigned extensions = !is_legacy(&start) && start.mod == 3 ? 2 : 1;

    for (unsigned aaa = 0; aaa < masks; aaa++) {
        for (unsigned b = 0; b < extensions; b++) {
            for (unsigned vvvv = 0; vvvv < registers; vvvv++) {
                *sample = start;
                sample->aaa = (uint8_t)aaa;
                sample->vvvv = (uint8_t)vvvv;
                sample->b |= (uint8_t)b;
                if (oracle_accepts(sample))
                    return true;
            }
        }
    }
    *sample = start;
    return false;
}

/* A register for vvvv that is neither 0 nor any other that the sample names. */
static uint8_t other_register(const struct sample *sample)
{
    uint8_t candidate = 1;

    while (candidate == sample->reg || candidate == sample->rm || candidate == (sample->sib >> 3 & 7))
        candidate++;
    return candidate;
}

static uint16_t find_forbidden_vvvv(const struct sample *accepted)
{
    struct sample sample = *accepted;
    uint16_t forbidden = 0;

    if (is_legacy(accepted))
        return 0;
    if (accepted->vvvv == 0) {
        sample.vvvv = other_register(accepted);
        if (!oracle_accepts(&sample))
            forbidden |= X86_FIELD_V;
    }
    sample.vvvv |= 8;
    if (!oracle_accepts(&sample))
        forbidden |= X86_FIELD_V_EIGHT;
    return forbidden;
}

static uint16_t find_forbidden_mask(const struct sample *accepted)
{
    struct sample sample = *accepted;
    uint16_t forbidden = 0;

    if (accepted->encoding != SAMPLE_EVEX)
        return 0;
    sample.v_high = 1;
    if (!oracle_accepts(&sample))
        forbidden |= X86_FIELD_V_HIGH;
    sample = *accepted;
    sample.r_high = 1;
    if (!oracle_accepts(&sample))
        forbidden |= X86_FIELD_R_HIGH;
    sample = *accepted;
    if (accepted->aaa == 0) {
        sample.aaa = 1;
        if (!oracle_accepts(&sample)) {
            forbidden |= X86_FIELD_MASKED;
            sample.aaa = 0;
        }
    } else {
        forbidden |= X86_FIELD_UNMASKED;
    }
    sample.z = 1;
    if (!oracle_accepts(&sample))
        forbidden |= X86_FIELD_ZEROING;
    return forbidden;
}

static uint16_t find_forbidden_address(const struct sample *accepted)
{
    struct sample sample = *accepted;
    uint16_t forbidden = 0;

    if (accepted->no_modrm)
        return 0;
    if (accepted->mod == 3) {
        sample.x = 1;
        if (!oracle_accepts(&sample))
            forbidden |= X86_FIELD_X;
        sample = *accepted;
        if (accepted->b == 0) {
            sample.b = 1;
            if (!oracle_accepts(&sample))
                forbidden |= X86_FIELD_B;
        }
        return forbidden;
    }
    sample.mod = 0;
    sample.rm = 5;
    if (!oracle_accepts(&sample))
        forbidden |= X86_FIELD_PC_BASE;
    sample = *accepted;
    if (!is_legacy(accepted)) {
        sample.prefix_67 = true;
        if (!oracle_accepts(&sample))
            forbidden |= X86_FIELD_ADDRESS_32;
    }
    return forbidden;
}

static uint16_t find_forbidden(const struct sample *accepted)
{
    struct sample sample = *accepted;
    uint16_t forbidden = 0;

    if (is_legacy(accepted)) {
        sample.lock = true;
        if (!oracle_accepts(&sample))
            forbidden |= X86_FIELD_LOCK;
        sample = *accepted;
    }
    if (!accepted->no_modrm) {
        /* The other b too: registers that must differ may have become equal. */
        sample.r = 1;
        if (!oracle_accepts(&sample)) {
            sample.b ^= 1;
            if (!oracle_accepts(&sample))
                forbidden |= X86_FIELD_R;
        }
    }
    return (uint16_t)(forbidden | find_forbidden_vvvv(accepted) | find_forbidden_mask(accepted) |
                      find_forbidden_address(accepted));
}

static uint8_t distinct_rule(const struct sample *sample, const struct form *form)
{
    int tiles = 0;

    if (strncmp(form->mnemonic, "vfcm", 4) == 0 || strncmp(form->mnemonic, "vfmulc", 6) == 0 ||
        strncmp(form->mnemonic, "vfmaddc", 7) == 0)
        return X86_DISTINCT_DESTINATION;
    for (int i = 0; i < form->operand_count; i++) {
        const struct form_operand *operand = &form->operands[i];

        if (operand->form.kind == X86_OPERAND_REGISTER && operand->type.register_class[1] == X86_REGISTER_TILE)
            tiles++;
        if (operand->form.kind == X86_OPERAND_MEMORY && operand->form.memory_kind == X86_MEMORY_VECTOR &&
            (operand->form.access & X86_READ) && form->operands[0].form.kind == X86_OPERAND_REGISTER &&
            form->operands[0].form.source == X86_SOURCE_REG)
            return sample->encoding == SAMPLE_VEX ? X86_DISTINCT_GATHER_VEX : X86_DISTINCT_GATHER_EVEX;
    }
    return tiles == 3 ? X86_DISTINCT_TILES : X86_DISTINCT_NONE;
}

static unsigned form_at(struct sample sample, enum x86_modrm_use modrm_use)
{
    struct form form;

    sample.no_modrm = modrm_use == X86_MODRM_NONE;
    if (sample.no_modrm)
        sample.b = sample.rm;
    if (modrm_use == X86_MODRM_REGISTER)
        sample.mod = 3;
    if (!find_accepted(&sample))
        return X86_FORM_INVALID;
    oracle_describe(&sample, &form);
    form.forbidden = find_forbidden(&sample);
    form.distinct = distinct_rule(&sample, &form);
    return form_intern(&form);
}

unsigned survey_place(const struct survey *survey, const unsigned values[X86_SELECTOR_COUNT])
{
    unsigned place = 0;

    for (int s = 0; s < X86_SELECTOR_COUNT; s++)
        place = place * survey->sizes[s] + (survey->sizes[s] > 1 ? values[s] : 0);
    return place;
}

/* Calls visit for every combination of values. */
static void for_each_place(struct survey *survey, void (*visit)(struct survey *, unsigned *, void *), void *data)
{
    for (unsigned place = 0; place < survey->total; place++) {
        unsigned values[X86_SELECTOR_COUNT], rest = place;

        for (int s = X86_SELECTOR_COUNT - 1; s >= 0; s--) {
            values[s] = rest % survey->sizes[s];
            rest /= survey->sizes[s];
        }
        visit(survey, values, data);
    }
}

static void set_sizes(struct survey *survey, enum x86_opcode_map map)
{
    struct sample kind = {.encoding = map_encodings[map].encoding};

    for (int s = 0; s < X86_SELECTOR_COUNT; s++)
        survey->sizes[s] = 1;
    survey->sizes[X86_SELECT_PREFIX] = is_legacy(&kind) ? 6 : 4;
    survey->sizes[X86_SELECT_W] = 2;
    if (is_legacy(&kind))
        survey->sizes[X86_SELECT_ADDRESS_SIZE] = 2;
    else
        survey->sizes[X86_SELECT_LENGTH] = kind.encoding == SAMPLE_EVEX ? 4 : 2;
    if (kind.encoding == SAMPLE_EVEX)
        survey->sizes[X86_SELECT_BROADCAST] = 2;
    if (survey->modrm_use != X86_MODRM_NONE) {
        survey->sizes[X86_SELECT_MOD_REGISTER] = 2;
        survey->sizes[X86_SELECT_REG] = 8;
        survey->sizes[X86_SELECT_RM] = 8;
    } else {
        survey->sizes[X86_SELECT_RM] = 2;
    }
    survey->total = 1;
    for (int s = 0; s < X86_SELECTOR_COUNT; s++)
        survey->total *= survey->sizes[s];
}

struct visit_context {
    enum x86_opcode_map map;
    uint8_t opcode;
};

static void visit_ask(struct survey *survey, unsigned *values, void *data)
{
    const struct visit_context *context = data;

    survey->forms[survey_place(survey, values)] =
        form_at(sample_at(context->map, context->opcode, values), survey->modrm_use);
}

static unsigned *entry(struct survey *survey, const unsigned *values, enum x86_selector selector, unsigned value)
{
    unsigned changed[X86_SELECTOR_COUNT];

    memcpy(changed, values, sizeof(changed));
    changed[selector] = value;
    return &survey->forms[survey_place(survey, changed)];
}

/* Three tiles must differ, so the diagonal was refused: it is the decoder's rule, not another form. */
static void visit_fill_tile_diagonal(struct survey *survey, unsigned *values, void *data)
{
    unsigned *here = &survey->forms[survey_place(survey, values)];
    unsigned neighbour = *entry(survey, values, X86_SELECT_RM, (values[X86_SELECT_RM] + 1) & 7);

    (void)data;
    if (*here == X86_FORM_INVALID && values[X86_SELECT_REG] == values[X86_SELECT_RM] && neighbour != X86_FORM_INVALID &&
        form_get(neighbour)->distinct == X86_DISTINCT_TILES)
        *here = neighbour;
}

static void visit_merge_legacy(struct survey *survey, unsigned *values, void *data)
{
    unsigned *at[2][2];
    unsigned prefix = values[X86_SELECT_PREFIX];

    (void)data;
    if (prefix & 1 || values[X86_SELECT_W])
        return;
    for (unsigned with_66 = 0; with_66 < 2; with_66++) {
        for (unsigned w = 0; w < 2; w++) {
            unsigned changed[X86_SELECTOR_COUNT];

            memcpy(changed, values, sizeof(changed));
            changed[X86_SELECT_PREFIX] = prefix + with_66;
            changed[X86_SELECT_W] = w;
            at[with_66][w] = &survey->forms[survey_place(survey, changed)];
        }
    }
    if (*at[0][0] && *at[0][1] && *at[1][0] && *at[1][1] == *at[0][1]) {
        unsigned merged = form_merge((unsigned[]){*at[1][0], *at[0][0], *at[0][1]});

        if (merged != 0)
            *at[0][0] = *at[0][1] = *at[1][0] = *at[1][1] = merged;
    }
}

static void visit_merge_lengths(struct survey *survey, unsigned *values, void *data)
{
    unsigned *at[4];
    unsigned lengths = survey->sizes[X86_SELECT_LENGTH];

    (void)data;
    if (values[X86_SELECT_LENGTH] != 0)
        return;
    for (unsigned length = 0; length < lengths; length++)
        at[length] = entry(survey, values, X86_SELECT_LENGTH, length);
    if (*at[0] == 0 || *at[1] == 0 || (lengths == 4 && *at[2] == 0))
        return;
    unsigned merged = form_merge((unsigned[]){*at[0], *at[1], lengths == 4 ? *at[2] : *at[1]});

    if (merged != 0)
        for (unsigned length = 0; length < (lengths == 4 ? 3u : 2u); length++)
            *at[length] = merged;
}

/* Looks through the opcode's encodings for one that is an instruction, and how that one uses modrm. */
static enum x86_modrm_use find_modrm_use(enum x86_opcode_map map, uint8_t opcode)
{
    for (unsigned prefix = 0; prefix < 4; prefix++) {
        for (unsigned reg = 0; reg < 8; reg++) {
            unsigned values[X86_SELECTOR_COUNT] = {[X86_SELECT_PREFIX] = prefix, [X86_SELECT_REG] = reg};
            struct sample sample = sample_at(map, opcode, values);

            if (find_accepted(&sample))
                return oracle_modrm_use(&sample);
        }
    }
    return X86_MODRM_USED;
}

void survey_init(struct survey *survey, enum x86_opcode_map map, uint8_t opcode)
{
    struct visit_context context = {map, opcode};
    unsigned values[X86_SELECTOR_COUNT] = {0};
    struct sample sample = sample_at(map, opcode, values);

    memset(survey, 0, sizeof(*survey));
    survey->modrm_use = find_modrm_use(map, opcode);
    set_sizes(survey, map);
    survey->forms = calloc(survey->total, sizeof(*survey->forms));
    if (survey->forms == NULL)
        abort();
    if (is_escape(map, opcode))
        return;
    for_each_place(survey, visit_ask, &context);
    if (survey->modrm_use != X86_MODRM_NONE)
        for_each_place(survey, visit_fill_tile_diagonal, NULL);
    if (is_legacy(&sample))
        for_each_place(survey, visit_merge_legacy, NULL);
    else
        for_each_place(survey, visit_merge_lengths, NULL);
}

void survey_deinit(struct survey *survey)
{
    free(survey->forms);
    survey->forms = NULL;
}
