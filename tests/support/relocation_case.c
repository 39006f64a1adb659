/* SPDX-License-Identifier: MIT */
/*
 * The reader of code texts, and the loop over setups and random states. A case counts only if the laboratory could tell
 * in each setup: what cannot be told from any state is a failure of the case.
 */
#include "support/relocation_case.h"

#include "support/random.h"
#include "support/random_code.h"

#include <asm/errno.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATES_BY_END   8
#define STATES_BY_STEPS 3

/* ---- texts ----------------------------------------------------------------------------------------------------------
 */

struct reader {
    const struct relocation_lab *lab;
    struct relocation_code *code;
    size_t displacement; /* where one waits for the end of its instruction, or NO_DISPLACEMENT */
    uint64_t target;
};

#define NO_DISPLACEMENT SIZE_MAX

static bool put(struct reader *reader, uint64_t value, size_t size)
{
    struct relocation_code *code = reader->code;

    if (size > sizeof(code->bytes) - code->size)
        return false;
    memcpy(code->bytes + code->size, &value, size);
    code->size += size;
    return true;
}

static void end_insn(struct reader *reader)
{
    uint64_t end = relocation_lab_code_pc(reader->lab) + reader->code->size;
    uint32_t displacement = (uint32_t)(reader->target - end);

    if (reader->displacement != NO_DISPLACEMENT)
        memcpy(reader->code->bytes + reader->displacement, &displacement, sizeof(displacement));
    reader->displacement = NO_DISPLACEMENT;
}

static bool put_displacement(struct reader *reader, uint64_t target)
{
    reader->displacement = reader->code->size;
    reader->target = target;
    return put(reader, 0, 4);
}

/* Reads one token and returns where the next begins, or NULL. */
static const char *read_token(struct reader *reader, const char *text)
{
    char kind = isxdigit((unsigned char)*text) ? '0' : *text++;
    uint64_t data = (uint64_t)reader->lab->data.base, value = 0;
    char *end = (char *)text;

    if (strchr("0@#$", kind) != NULL && isxdigit((unsigned char)*text))
        value = strtoull(text, &end, 16);
    switch (kind) {
    case '0':
        return end == text + 2 && put(reader, value, 1) ? end : NULL;
    case '@':
        return end != text && put_displacement(reader, data + value) ? end : NULL;
    case '#':
        return end != text && put(reader, data + value, 8) ? end : NULL;
    case '$':
        return end != text && put(reader, relocation_lab_code_pc(reader->lab) + value, 8) ? end : NULL;
    case '|':
        end_insn(reader);
        reader->code->run_size = reader->code->size;
        return end;
    case ';':
        end_insn(reader);
        return end;
    default:
        return kind == ' ' ? end : NULL;
    }
}

bool relocation_code_read(const struct relocation_lab *lab, const char *text, struct relocation_code *code_out)
{
    struct reader reader = {lab, code_out, NO_DISPLACEMENT, 0};

    code_out->size = 0;
    code_out->run_size = SIZE_MAX;
    while (text != NULL && *text != 0)
        text = read_token(&reader, text);
    end_insn(&reader);
    if (code_out->run_size == SIZE_MAX)
        code_out->run_size = code_out->size;
    return text != NULL;
}

int relocation_code_copy(struct relocation_lab *lab, const struct relocation_setup *setup, const char *text)
{
    struct relocation_code code;

    if (!relocation_code_read(lab, text, &code))
        return -EINVAL;
    relocation_lab_place(lab, code.bytes, code.size);
    return relocation_lab_copy(lab, setup, code.run_size);
}

/* ---- copies ---------------------------------------------------------------------------------------------------------
 */

/* The next instruction of the copy. Constants at its end may look like some, too. */
static bool decode_next(const struct relocation_lab *lab, size_t offset, struct x86_insn *insn_out)
{
    uint64_t start = lab->map.cache_start.value;
    const struct arena *arena = start == (uint64_t)lab->far.base ? &lab->far : &lab->near;

    return offset < lab->copy_size && x86_decode(arena->base + offset, lab->copy_size - offset,
                                                 app_pc_of(start + offset), lab->options.decode_options, insn_out) == 0;
}

bool relocation_copy_insn(const struct relocation_lab *lab, unsigned which, struct x86_insn *insn_out)
{
    size_t offset = 0;

    while (decode_next(lab, offset, insn_out)) {
        if (which-- == 0)
            return true;
        offset += insn_out->length;
    }
    return false;
}

bool relocation_copy_find(const struct relocation_lab *lab, unsigned mnemonic, struct x86_insn *insn_out)
{
    for (unsigned i = 0; relocation_copy_insn(lab, i, insn_out); i++)
        if (insn_out->mnemonic == mnemonic)
            return true;
    return false;
}

/* ---- setups ---------------------------------------------------------------------------------------------------------
 */

void relocation_setup_for_each(void (*callback)(void *context, const struct relocation_setup *setup), void *context)
{
    for (unsigned i = 0; i < 8; i++) {
        struct relocation_setup setup = {
            .is_far = i & 1,
            .options =
                {
                    .spill = i & 2 ? X86_SPILL_STACK : X86_SPILL_SEGMENT,
                    .return_address = i & 4 ? X86_RETURN_TO_COPY : X86_RETURN_TO_ORIGINAL,
                    .decode_options = random_code_decode_options(),
                },
        };

        callback(context, &setup);
    }
}

const char *relocation_setup_name(const struct relocation_setup *setup, char *text, size_t text_bytes)
{
    snprintf(text, text_bytes, "%s, spills %s, returns to the %s", setup->is_far ? "far" : "near",
             setup->options.spill == X86_SPILL_STACK ? "on the stack" : "in slots",
             setup->options.return_address == X86_RETURN_TO_COPY ? "copy" : "original");
    return text;
}

/* ---- trials ---------------------------------------------------------------------------------------------------------
 */

struct trial {
    struct relocation_lab *lab;
    const struct relocation_case *tried;
    struct relocation_code code;
    unsigned failures;
};

static void fail(struct trial *trial, const struct relocation_setup *setup, const char *report)
{
    char name[64];

    trial->failures++;
    printf("%s (%s): %s\n", trial->tried->name, relocation_setup_name(setup, name, sizeof(name)), report);
}

typedef enum relocation_verdict comparison(struct relocation_lab *lab, const struct relocation_setup *setup,
                                           char *report, size_t report_bytes);

static void compare_states(struct trial *trial, struct relocation_setup *setup, comparison *compare, unsigned states)
{
    char report[512] = "";
    unsigned told = 0;

    for (unsigned i = 0; i < states; i++) {
        struct random random;
        enum relocation_verdict verdict;

        random_init(&random, i);
        relocation_lab_randomize(trial->lab, &random, &setup->initial);
        verdict = compare(trial->lab, setup, report, sizeof(report));
        if (verdict == RELOCATION_DIFFERENT) {
            fail(trial, setup, report);
            return;
        }
        told += verdict == RELOCATION_EQUAL;
    }
    if (told == 0)
        fail(trial, setup, "it cannot be told whether original and copy are equal");
}

static void try_setup(void *context, const struct relocation_setup *setup)
{
    struct trial *trial = context;
    unsigned options = trial->tried->options;
    bool is_refused = options & RELOCATION_REFUSED || (setup->is_far && options & RELOCATION_NEAR_ONLY);
    struct relocation_setup own = *setup;
    char report[64];
    int result;

    if (options & RELOCATION_RETURN_SHOWS && setup->options.return_address == X86_RETURN_TO_COPY)
        return;
    own.sp_may_stray = options & RELOCATION_SP_STRAYS;
    result = relocation_lab_copy(trial->lab, &own, trial->code.run_size);
    if (result != (is_refused ? -EOPNOTSUPP : 0)) {
        snprintf(report, sizeof(report), "relocation says %d", result);
        fail(trial, setup, report);
        return;
    }
    if (is_refused)
        return;
    compare_states(trial, &own, relocation_lab_compare, STATES_BY_END);
    if (!(options & RELOCATION_ENDS_ONLY))
        compare_states(trial, &own, relocation_lab_compare_steps, STATES_BY_STEPS);
}

unsigned relocation_case_try(struct relocation_lab *lab, const struct relocation_case *tried)
{
    struct trial trial = {.lab = lab, .tried = tried};

    if (!relocation_code_read(lab, tried->code, &trial.code)) {
        printf("%s: this is no text of code: %s\n", tried->name, tried->code);
        return 1;
    }
    relocation_lab_place(lab, trial.code.bytes, trial.code.size);
    relocation_setup_for_each(try_setup, &trial);
    return trial.failures;
}

unsigned relocation_cases_try(struct relocation_lab *lab, const struct relocation_case *cases, size_t count)
{
    unsigned failures = 0;

    for (size_t i = 0; i < count; i++)
        failures += relocation_case_try(lab, &cases[i]);
    return failures;
}
