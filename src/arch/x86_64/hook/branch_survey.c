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

struct survey {
    struct hook_planner *planner;
    const struct hook_code *code;
};

/* Entries of a table lead into the function that uses it, or into parts that belong to some function. */
static bool is_own_code(const struct survey *survey, uint64_t address)
{
    const struct elf_function *function;
    struct hook_code code;

    if (address >= survey->code->start && address < survey->code->end)
        return true;
    if (!hook_planner_code(survey->planner, address, &code))
        return false;
    function = elf_function_list_find(survey->planner->module->functions, address);
    return function != NULL && (function->is_part || function->is_label);
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
    uint64_t target;

    for (uint64_t i = 0; *budget != 0 && read(survey, table, i, &target) && is_own_code(survey, target); i++) {
        hook_planner_add_target(survey->planner, target);
        *budget -= 1;
    }
}

static void mark_memory(const struct survey *survey, const struct x86_insn *insn)
{
    if (insn->properties & X86_PC_RELATIVE) {
        hook_planner_add_target(survey->planner, insn->target);
        if (insn->mnemonic == X86_MNEMONIC_lea) {
            mark_table(survey, insn->target, read_distance);
            mark_table(survey, insn->target, read_pointer);
        }
    } else if (insn->base == X86_GPR_NONE && insn->index != X86_GPR_NONE && insn->scale == sizeof(uint64_t)) {
        mark_table(survey, (uint64_t)insn->displacement, read_pointer);
    }
}

static void mark_insn(const struct survey *survey, const struct x86_insn *insn)
{
    switch (insn->flow) {
    case X86_FLOW_JUMP:
    case X86_FLOW_BRANCH:
    case X86_FLOW_BRANCH_COUNT:
    case X86_FLOW_CALL:
    case X86_FLOW_TRANSACTION:
        hook_planner_add_target(survey->planner, insn->target);
        return;
    default:
        break;
    }
    if (insn->is_memory)
        mark_memory(survey, insn);
    /* Code that stays at its address has it in immediates. */
    if (insn->immediate_size == 4 && insn->mnemonic == X86_MNEMONIC_mov)
        hook_planner_add_target(survey->planner, insn->immediate);
}

void x86_branch_survey(struct hook_planner *planner, const struct hook_code *code)
{
    struct survey survey = {planner, code};
    struct x86_insn insn;

    for (uint64_t at = code->start; at < code->end;) {
        const uint8_t *bytes = code->bytes + (at - code->start);

        if (x86_decode(bytes, code->end - at, app_pc_of(at), planner->module->decode_options, &insn) != 0) {
            at++;
            continue;
        }
        mark_insn(&survey, &insn);
        at += insn.length;
    }
}
