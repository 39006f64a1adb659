/* SPDX-License-Identifier: MIT */
/*
 * One pass over the instructions, in order. What is no instruction is stepped over byte by byte: it is data between
 * functions, and the next function starts at its own place anyway. Too many marks do no harm but that a short jump is
 * used where a plain one would do, so whatever may be an address of code is marked.
 *
 * Tables of jumps are recognised by themselves: an address in the constants, with distances from it that lead into the
 * function that asks for it (gcc and clang, position-independent), or with pointers that do. Text or numbers do not.
 */
#include "arch/x86_64/hook/branch_survey.h"

#include "arch/x86_64/isa/decoder.h"
#include "hook/hook_surveyor.h"

/* How far a comparison with the number of cases is from the use of their table, in instructions. */
#define BOUND_NEARNESS 12

struct survey {
    struct hook_planner *planner;
    const struct hook_code *code;
    uint64_t bound;     /* what was compared with last */
    unsigned bound_age; /* how many instructions ago */
};

static bool is_within(const struct survey *survey, uint64_t address)
{
    return address >= survey->code->start && address < survey->code->end;
}

/*
 * Entries of a table lead into the function that uses it, or into parts. Those may have no name: that is believed only
 * as far as the table surely goes, since what comes behind it may be another one.
 */
static bool is_own_code(const struct survey *survey, uint64_t address, bool is_sure)
{
    const struct elf_function *function;
    struct hook_code code;

    if (is_within(survey, address))
        return true;
    if (!hook_planner_code(survey->planner, address, &code))
        return false;
    function = elf_function_list_find(survey->planner->module->functions, address);
    return function != NULL && (function->is_part || function->is_label || (is_sure && function->name == NULL));
}

static void mark_branch(const struct survey *survey, uint64_t target, bool is_conditional)
{
    if (is_within(survey, target))
        hook_planner_add_target(survey->planner, target);
    else
        hook_planner_add_entry(survey->planner, target, is_conditional);
}

static bool read_distance(const struct survey *survey, uint64_t table, uint64_t which, uint64_t *target_out)
{
    int32_t distance;

    if (!hook_planner_read(survey->planner, table + which * sizeof(distance), &distance, sizeof(distance)))
        return false;
    *target_out = table + (uint64_t)(int64_t)distance;
    return true;
}

static bool read_pointer(const struct survey *survey, uint64_t table, uint64_t which, uint64_t *target_out)
{
    uint64_t pointer;

    if (!hook_planner_read(survey->planner, table + which * sizeof(pointer), &pointer, sizeof(pointer)))
        return false;
    *target_out = pointer - survey->planner->module->load_bias;
    return true;
}

static void mark_table(const struct survey *survey, uint64_t table,
                       bool (*read)(const struct survey *survey, uint64_t table, uint64_t which, uint64_t *target_out))
{
    uint64_t *budget = &survey->planner->table_budget;
    uint64_t sure = survey->bound_age < BOUND_NEARNESS ? survey->bound + 1 : 0;
    uint64_t target;

    for (uint64_t i = 0; *budget != 0 && read(survey, table, i, &target) && is_own_code(survey, target, i < sure);
         i++) {
        mark_branch(survey, target, true);
        *budget -= 1;
    }
}

static void mark_memory(const struct survey *survey, const struct x86_insn *insn)
{
    if (insn->properties & X86_PC_RELATIVE) {
        hook_planner_add_pointer(survey->planner, insn->target);
        if (insn->mnemonic == X86_MNEMONIC_lea) {
            mark_table(survey, insn->target, read_distance);
            mark_table(survey, insn->target, read_pointer);
        }
    } else if (insn->base == X86_GPR_NONE && insn->index != X86_GPR_NONE && insn->scale == sizeof(uint64_t)) {
        mark_table(survey, (uint64_t)insn->displacement, read_pointer);
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
        mark_branch(survey, insn->target, insn->flow != X86_FLOW_JUMP);
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
