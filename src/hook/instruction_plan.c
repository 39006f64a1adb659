/* SPDX-License-Identifier: MIT */
/*
 * Where instructions begin is found by counting from the function's first.
 *
 * Instructions that make system calls are shorter than a jump on some CPUs. Then what stands before it is taken along,
 * the number that is loaded mostly; or what stands behind it, a comparison mostly; or a short jump takes its place, to
 * padding near by. Instructions that are taken along do the same wherever they are: bytes are copied, nothing is
 * translated. Nobody comes to any byte that is overwritten but to the first, except from the kernel: behind the call,
 * and, when it is made again, to it.
 */
#include "hook/instruction_plan.h"

#include "arch/arch.h"
#include "arch/engine.h"
#include "arch/host_cpu.h"
#include "hook/hook_planner.h"
#include "hook/padding.h"

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

/* ---- system calls ------------------------------------------------------------------------------------------------ */

/* So many instructions before the call are remembered. */
#define BEFORE_MAX 4

struct call_site_walk {
    struct hook_planner *planner;
    const struct engine_hook *machine;
    const struct hook_code *code;
    struct hook_instruction before[BEFORE_MAX]; /* the nearest first */
    unsigned before_count;                      /* that stand one behind the other, right before this place */
};

/* One at the end of the code may reach over it. */
static bool look(const struct call_site_walk *walk, uint64_t at, struct hook_instruction *instruction_out)
{
    struct hook_code readable = *walk->code;

    readable.end = readable.readable_end;
    return at < readable.end && walk->machine->look(walk->planner, &readable, at, instruction_out);
}

static void settle(const struct call_site_walk *walk, struct hook_plan *plan, enum hook_method method, uint64_t end)
{
    uint64_t patch_end;

    plan->method = (uint8_t)method;
    plan->obstacle = HOOK_NO_OBSTACLE;
    plan->patch_bytes = method == HOOK_HOP ? walk->machine->sizes.hop : walk->machine->sizes.jump;
    plan->displaced_end = end;
    patch_end = plan->patch_at + plan->patch_bytes;
    hook_planner_take(walk->planner, plan->patch_at, patch_end > end ? patch_end : end);
}

/* The first bytes of a function are left for a hook of it. */
static bool plan_before(const struct call_site_walk *walk, uint64_t at, struct hook_plan *plan)
{
    uint64_t start = at, end = at + walk->machine->system_call_bytes;
    unsigned jump_bytes = walk->machine->sizes.jump;

    for (unsigned i = 0; i < walk->before_count && end - start < jump_bytes; i++) {
        if (!(walk->before[i].flags & HOOK_INSTRUCTION_IS_COPYABLE))
            return false;
        start -= walk->before[i].length;
    }
    if (end - start < jump_bytes || start < walk->code->start + walk->machine->sizes.entry ||
        hook_planner_is_taken(walk->planner, start + 1, end))
        return false;
    plan->patch_at = start;
    settle(walk, plan, HOOK_JUMP, end);
    return true;
}

static bool plan_behind(const struct call_site_walk *walk, uint64_t at, struct hook_plan *plan)
{
    uint64_t end = at + walk->machine->sizes.jump, pc = at + walk->machine->system_call_bytes;
    struct hook_instruction insn = {.flags = HOOK_INSTRUCTION_IS_COPYABLE};

    while (pc < end && insn.flags & HOOK_INSTRUCTION_IS_COPYABLE) {
        if (!look(walk, pc, &insn) || !(insn.flags & (HOOK_INSTRUCTION_IS_COPYABLE | HOOK_INSTRUCTION_IS_RETURN)))
            return false;
        pc += insn.length;
    }
    if (pc > walk->code->end || hook_planner_is_taken(walk->planner, at + 1, pc < end ? pc : end))
        return false;
    if (pc < end && !hook_padding_is_free(walk->planner, pc, end, walk->code->end))
        return false;
    plan->patch_at = at;
    settle(walk, plan, pc < end ? HOOK_JUMP_INTO_PADDING : HOOK_JUMP, pc);
    return true;
}

static bool plan_hop(const struct call_site_walk *walk, uint64_t at, struct hook_plan *plan)
{
    const struct engine_patch_sizes *sizes = &walk->machine->sizes;
    uint64_t from = at + sizes->hop, end = at + walk->machine->system_call_bytes, jump_at;
    uint64_t low = from < sizes->hop_reach_back ? 0 : from - sizes->hop_reach_back;

    if (sizes->hop == 0 || from > end || hook_planner_is_taken(walk->planner, at + 1, end) ||
        !hook_padding_find(walk->planner, low, from + sizes->hop_reach, sizes->jump, &jump_at))
        return false;
    hook_planner_take(walk->planner, jump_at, jump_at + sizes->jump);
    plan->hop_at = jump_at;
    plan->hop_bytes = sizes->jump;
    plan->patch_at = at;
    settle(walk, plan, HOOK_HOP, end);
    return true;
}

static void plan_call(const struct call_site_walk *walk, uint64_t at, unsigned length, struct hook_plan *plan)
{
    *plan = (struct hook_plan){
        .address = at,
        .patch_at = at,
        .displaced_end = at + length,
        .method = HOOK_IMPOSSIBLE,
        .obstacle = HOOK_NOT_MOVABLE,
        .is_entry_only = true,
    };
    if (length != walk->machine->system_call_bytes)
        return;
    plan->obstacle = HOOK_KNOWN_BY_BYTES;
    if (walk->before_count > 0 && walk->machine->is_known_call(walk->code, at - walk->before[0].length, at))
        return;
    plan->obstacle = HOOK_BRANCH_INSIDE;
    if (!plan_before(walk, at, plan) && !plan_behind(walk, at, plan))
        (void)plan_hop(walk, at, plan);
}

static void remember(struct call_site_walk *walk, const struct hook_instruction *insn)
{
    for (unsigned i = BEFORE_MAX - 1; i > 0; i--)
        walk->before[i] = walk->before[i - 1];
    walk->before[0] = *insn;
    walk->before_count += walk->before_count < BEFORE_MAX;
}

static void find_in_code(struct call_site_walk *walk, hook_system_call_taker take, void *context)
{
    const struct hook_code *code = walk->code;
    struct hook_instruction insn;
    struct hook_plan plan;

    if (walk->machine->next_system_call(code, code->start) == code->end)
        return;
    for (uint64_t at = code->start; at < code->end;) {
        /* What is no instruction is data: the next function starts at its own place. */
        if (!look(walk, at, &insn)) {
            walk->before_count = 0;
            at++;
            continue;
        }
        if (insn.flags & HOOK_INSTRUCTION_IS_CALL) {
            plan_call(walk, at, insn.length, &plan);
            take(context, &plan);
        }
        remember(walk, &insn);
        at += insn.length;
    }
}

static void find_in_span(struct hook_planner *planner, const struct hook_span *span, hook_system_call_taker take,
                         void *context)
{
    uint64_t start = span->address, end = span->address + span->size_bytes;

    while (start < end) {
        uint64_t next = hook_planner_next_start(planner, start);
        struct hook_code code = {span->bytes + (start - span->address), start, next, end};
        struct call_site_walk walk = {.planner = planner, .machine = planner->machine, .code = &code};

        find_in_code(&walk, take, context);
        start = next;
    }
}

void hook_planner_find_system_calls(struct hook_planner *planner, hook_system_call_taker take, void *context)
{
    for (size_t i = 0; i < planner->module->span_count; i++)
        if (planner->module->spans[i].is_code)
            find_in_span(planner, &planner->module->spans[i], take, context);
}
