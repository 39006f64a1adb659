/* SPDX-License-Identifier: MIT */
/* Where instructions begin is found by counting from the function's first. */
#include "hook/instruction_plan.h"

#include "arch/arch.h"
#include "arch/host_cpu.h"

#include <asm/errno.h>

/* Whether one begins at an address, counted from where a function does. */
static bool is_at_instruction(const struct hook_span *span, uint64_t start, uint64_t address)
{
    const struct arch *arch = arch_host();

    while (start < address) {
        struct arch_insn insn;

        if (arch == NULL ||
            arch->decode(span->bytes + (start - span->address), span->size_bytes - (start - span->address),
                         app_pc_of(start), host_cpu_decode_options(), &insn) != 0)
            return false;
        start += insn.length;
    }
    return start == address;
}

static const struct hook_span *span_of(const struct hook_module *module, uint64_t address)
{
    for (size_t i = 0; i < module->span_count; i++)
        if (address - module->spans[i].address < module->spans[i].size_bytes)
            return &module->spans[i];
    return NULL;
}

/*
 * The function at an address, of the list, or one that is made up for what begins in the middle of another: it has an
 * empty name, since those without any are known by their place in the list.
 */
static int find_function(const struct hook_planner *planner, uint64_t address, struct elf_function *made_up,
                         const struct elf_function **function_out)
{
    const struct hook_module *module = planner->module;
    const struct elf_function *found = elf_function_list_find(module->functions, address);
    const struct hook_span *span = span_of(module, address);

    if (span == NULL)
        return -EFAULT;
    if (found != NULL && found->start == address) {
        *function_out = found;
        return 0;
    }
    *made_up = (struct elf_function){.start = address, .name = ""};
    if (found != NULL && (found->size_bytes == 0 || address < found->start + found->size_bytes)) {
        if (found->start >= span->address && !is_at_instruction(span, found->start, address))
            return -EILSEQ;
        made_up->size_bytes = found->size_bytes == 0 ? 0 : found->start + found->size_bytes - address;
    }
    *function_out = made_up;
    return 0;
}

int hook_plan_address(struct hook_planner *planner, uint64_t address, struct hook_plan *plan_out)
{
    const struct elf_function *function;
    struct elf_function made_up;
    int result = find_function(planner, address, &made_up, &function);

    if (result == 0)
        hook_planner_plan(planner, function, plan_out);
    return result;
}

int hook_plan_instruction(struct hook_planner *planner, uint64_t address, struct hook_plan *plan_out)
{
    const struct elf_function *function;
    struct elf_function made_up;
    int result = find_function(planner, address, &made_up, &function);

    if (result != 0)
        return result;
    if (function != &made_up && hook_planner_is_part(planner, function)) {
        made_up = (struct elf_function){.start = address, .size_bytes = function->size_bytes, .name = ""};
        function = &made_up;
    }
    hook_planner_plan(planner, function, plan_out);
    return 0;
}
