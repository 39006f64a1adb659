/* SPDX-License-Identifier: MIT */
/*
 * One pass over the instructions, in order. What is no instruction is stepped over byte by byte: it is data between
 * functions, and the next function starts at its own place anyway. Too many marks do no harm but that a short jump is
 * used where a plain one would do, so whatever may be an address of code is marked.
 */
#include "arch/x86_64/hook/branch_survey.h"

#include "arch/x86_64/isa/decoder.h"
#include "hook/jump_table.h"

/* How far a comparison with the number of cases is from the use of their table, in instructions. */
#define BOUND_NEARNESS 12

struct survey {
    struct hook_planner *planner;
    const struct hook_code *code;
    uint64_t bound;     /* what was compared with last */
    unsigned bound_age; /* how many instructions ago */
};

/* How many entries a table has for sure, that is used here. */
static uint64_t sure_count(const struct survey *survey)
{
    return survey->bound_age < BOUND_NEARNESS ? survey->bound + 1 : 0;
}

static void mark_table(const struct survey *survey, uint64_t table, enum jump_table_kind kind)
{
    hook_planner_add_table(survey->planner, survey->code, table, kind, sure_count(survey));
}

static void mark_memory(const struct survey *survey, const struct x86_insn *insn)
{
    if (insn->properties & X86_PC_RELATIVE) {
        hook_planner_add_pointer(survey->planner, insn->target);
        if (insn->mnemonic == X86_MNEMONIC_lea) {
            mark_table(survey, insn->target, JUMP_TABLE_DISTANCES);
            mark_table(survey, insn->target, JUMP_TABLE_POINTERS);
        }
    } else if (insn->base == X86_GPR_NONE && insn->index != X86_GPR_NONE && insn->scale == sizeof(uint64_t)) {
        mark_table(survey, (uint64_t)insn->displacement, JUMP_TABLE_POINTERS);
    }
}

static void note_bound(struct survey *survey, const struct x86_insn *insn)
{
    survey->bound_age++;
    if (insn->mnemonic == X86_MNEMONIC_cmp && insn->immediate_size != 0) {
        survey->bound = insn->immediate;
        survey->bound_age = 0;
    }
}

static void mark_insn(const struct survey *survey, const struct x86_insn *insn)
{
    switch (insn->flow) {
    case X86_FLOW_BRANCH:
    case X86_FLOW_BRANCH_COUNT:
    case X86_FLOW_TRANSACTION:
    case X86_FLOW_JUMP:
        hook_planner_add_branch(survey->planner, survey->code, insn->target, insn->flow != X86_FLOW_JUMP);
        return;
    case X86_FLOW_CALL:
        hook_planner_add_pointer(survey->planner, insn->target);
        return;
    default:
        break;
    }
    if (insn->is_memory)
        mark_memory(survey, insn);
    /* Code that stays at its address has it in immediates. */
    if (insn->immediate_size == 4 && insn->mnemonic == X86_MNEMONIC_mov)
        hook_planner_add_pointer(survey->planner, insn->immediate);
}

void x86_branch_survey(struct hook_planner *planner, const struct hook_code *code)
{
    struct survey survey = {.planner = planner, .code = code, .bound_age = BOUND_NEARNESS};
    struct x86_insn insn;

    for (uint64_t at = code->start; at < code->end;) {
        const uint8_t *bytes = code->bytes + (at - code->start);

        if (x86_decode(bytes, code->readable_end - at, app_pc_of(at), planner->module->decode_options, &insn) != 0) {
            at++;
            continue;
        }
        mark_insn(&survey, &insn);
        note_bound(&survey, &insn);
        at += insn.length;
    }
}
