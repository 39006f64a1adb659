/* SPDX-License-Identifier: MIT */
/*
 * Tables of jumps are recognised by themselves: an address in the constants, with distances from it that lead into the
 * function that asks for it (gcc and clang, position-independent), or with pointers that do. Text or numbers do not.
 */
#include "hook/jump_table.h"

void hook_planner_add_branch(struct hook_planner *planner, const struct hook_code *code, uint64_t target,
                             bool is_conditional)
{
    if (target >= code->start && target < code->end)
        hook_planner_add_target(planner, target);
    else
        hook_planner_add_entry(planner, target, is_conditional);
}

/*
 * Entries of a table lead into the function that uses it, or into parts. Those may have no name: that is believed only
 * as far as the table surely goes, since what comes behind it may be another one.
 */
static bool is_own_code(const struct hook_planner *planner, const struct hook_code *code, uint64_t address,
                        bool is_sure)
{
    const struct elf_function *function;
    struct hook_code there;

    if (address >= code->start && address < code->end)
        return true;
    if (!hook_planner_code(planner, address, &there))
        return false;
    function = elf_function_list_find(planner->module->functions, address);
    return function != NULL && (function->is_part || function->is_label || (is_sure && function->name == NULL));
}

static bool read_distance(const struct hook_planner *planner, uint64_t table, uint64_t which, uint64_t *target_out)
{
    int32_t distance;

    if (!hook_planner_read(planner, table + which * sizeof(distance), &distance, sizeof(distance)))
        return false;
    *target_out = table + (uint64_t)(int64_t)distance;
    return true;
}

static bool read_pointer(const struct hook_planner *planner, uint64_t table, uint64_t which, uint64_t *target_out)
{
    uint64_t pointer;

    if (!hook_planner_read(planner, table + which * sizeof(pointer), &pointer, sizeof(pointer)))
        return false;
    *target_out = pointer - planner->module->load_bias;
    return true;
}

void hook_planner_add_table(struct hook_planner *planner, const struct hook_code *code, uint64_t table,
                            enum jump_table_kind kind, uint64_t sure_count)
{
    bool (*read)(const struct hook_planner *, uint64_t, uint64_t, uint64_t *) =
        kind == JUMP_TABLE_DISTANCES ? read_distance : read_pointer;
    uint64_t target;

    for (uint64_t i = 0; planner->table_budget != 0 && read(planner, table, i, &target) &&
                         is_own_code(planner, code, target, i < sure_count);
         i++) {
        hook_planner_add_branch(planner, code, target, true);
        planner->table_budget--;
    }
}
