/* SPDX-License-Identifier: MIT */
/*
 * One bit for each byte of code says that it is not to be had: somebody goes there, or a plan has got it. Code is
 * looked at piece by piece, from one known start to the next, so that data between functions puts nobody out of step.
 * What the instructions mean is the CPU's business (struct engine_hook).
 */
#include "hook/hook_plan.h"

#include "arch/engine.h"
#include "base/memory_functions.h"
#include "elf/frame_rows.h"
#include "hook/entry_only_names.h"
#include "hook/function_plan.h"
#include "hook/hook_planner.h"
#include "hook/stack_walkers.h"

#include <asm/errno.h>

/* Compilers make some tables of some hundred entries; this many are looked at for each byte of code. */
#define TABLE_ENTRIES_PER_BYTE 16

#define FUNCTION_ALIGNMENT     16

/* One bit for so many bytes says what is near to a plan. */
#define NEAR_UNIT 16

/*
 * A plan looks as far as short jumps reach (128 bytes), and at the jump there; or at all of a small function
 * (HOOK_DISPLACED_BYTES_MAX). What leads there by a short jump is not farther away than that once more.
 */
#define NEAR_BYTES 320

static const char *const method_names[] = {"jump", "jump into padding", "hop", "trap", "impossible"};

static const char *const obstacle_texts[] = {
#define HOOK_OBSTACLE(name, text) text,
#include "hook/hook_obstacles.def"
#undef HOOK_OBSTACLE
};

const char *hook_method_name(unsigned method)
{
    return method <= HOOK_IMPOSSIBLE ? method_names[method] : "";
}

const char *hook_obstacle_text(unsigned obstacle)
{
    return obstacle < sizeof(obstacle_texts) / sizeof(obstacle_texts[0]) ? obstacle_texts[obstacle] : "";
}

static size_t bitmap_bytes(const struct hook_span *span)
{
    return span->is_code ? (size_t)(span->size_bytes / 8 + 1) : 0;
}

static size_t near_bytes(const struct hook_span *span)
{
    return span->is_code ? (size_t)(span->size_bytes / NEAR_UNIT / 8 + 1) : 0;
}

size_t hook_planner_memory_bytes(const struct hook_module *module)
{
    size_t bytes = sizeof(struct frame_rows_storage) + module->functions->count / 8 + 1;

    for (size_t i = 0; i < module->span_count; i++)
        bytes += 2 * bitmap_bytes(&module->spans[i]) + near_bytes(&module->spans[i]);
    return bytes;
}

/* The span of [start, start + size); NULL: it is not whole in one. */
static const struct hook_span *find_span(const struct hook_planner *planner, uint64_t start, uint64_t size_bytes)
{
    const struct hook_module *module = planner->module;

    for (size_t i = 0; i < module->span_count; i++) {
        const struct hook_span *span = &module->spans[i];
        uint64_t within = start - span->address;

        if (start >= span->address && within < span->size_bytes && size_bytes <= span->size_bytes - within)
            return span;
    }
    return NULL;
}

static uint8_t *bitmap_of(const struct hook_planner *planner, const struct hook_span *span)
{
    return planner->taken[span - planner->module->spans];
}

static void set_bit(uint8_t *bitmap, uint64_t which)
{
    bitmap[which / 8] |= (uint8_t)(1u << which % 8);
}

static bool has_bit(const uint8_t *bitmap, uint64_t which)
{
    return bitmap[which / 8] >> which % 8 & 1;
}

bool hook_planner_code(const struct hook_planner *planner, uint64_t address, struct hook_code *code_out)
{
    const struct hook_span *span = find_span(planner, address, 1);

    if (span == NULL || !span->is_code)
        return false;
    code_out->bytes = span->bytes + (address - span->address);
    code_out->start = address;
    code_out->end = span->address + span->size_bytes;
    code_out->readable_end = code_out->end;
    return true;
}

bool hook_planner_read(const struct hook_planner *planner, uint64_t address, void *bytes_out, size_t size_bytes)
{
    const struct hook_span *span = find_span(planner, address, size_bytes);

    if (span == NULL)
        return false;
    memcpy(bytes_out, span->bytes + (address - span->address), size_bytes);
    return true;
}

void hook_planner_add_target(struct hook_planner *planner, uint64_t address)
{
    const struct hook_span *span = find_span(planner, address, 1);

    if (span == NULL || !span->is_code)
        return;
    set_bit(bitmap_of(planner, span), address - span->address);
}

void hook_planner_add_pointer(struct hook_planner *planner, uint64_t address)
{
    const struct hook_span *span = find_span(planner, address, 1);

    if (span == NULL || !span->is_code)
        return;
    set_bit(bitmap_of(planner, span), address - span->address);
    set_bit(planner->called[span - planner->module->spans], address - span->address);
}

static void add_pointers_of(struct hook_planner *planner, const struct hook_span *span)
{
    uint64_t pointer;

    for (uint64_t at = -span->address % sizeof(pointer); at + sizeof(pointer) <= span->size_bytes;
         at += sizeof(pointer)) {
        memcpy(&pointer, span->bytes + at, sizeof(pointer));
        hook_planner_add_target(planner, pointer - planner->module->load_bias);
    }
}

void hook_planner_add_pointers(struct hook_planner *planner)
{
    const struct hook_module *module = planner->module;

    for (size_t i = 0; i < module->span_count; i++)
        if (!module->spans[i].is_code)
            add_pointers_of(planner, &module->spans[i]);
}

void hook_planner_add_entry(struct hook_planner *planner, uint64_t address, bool is_conditional)
{
    const struct elf_function_list *list = planner->module->functions;
    const struct elf_function *function = elf_function_list_find(list, address);

    if (function == NULL || function->start != address) {
        hook_planner_add_pointer(planner, address);
        return;
    }
    hook_planner_add_target(planner, address);
    if (is_conditional)
        set_bit(planner->crossed, (uint64_t)(function - list->functions));
}

/* Behind padding, at an address as functions have it: parts are put one behind the other. */
static bool is_aligned(const struct hook_planner *planner, const struct elf_function *function)
{
    return function->start % FUNCTION_ALIGNMENT == 0 && function != planner->module->functions->functions &&
           function[-1].covered_end < function->start;
}

/*
 * Whether others jump to it, or run into it: the parts of functions whose names are gone, if somebody does so on a
 * condition; and names in hand-written code that .eh_frame says nothing of, as those of interpreters, which have their
 * frame all the time.
 */
static bool may_be_jumped_to(const struct hook_planner *planner, const struct elf_function *listed)
{
    const struct elf_function_list *list = planner->module->functions;

    if (listed->name == NULL)
        return has_bit(planner->crossed, (uint64_t)(listed - list->functions)) && !is_aligned(planner, listed);
    return planner->module->frame != NULL && listed->frame_offset == 0 && listed->start % FUNCTION_ALIGNMENT != 0;
}

bool hook_planner_is_part(const struct hook_planner *planner, const struct elf_function *function)
{
    const struct elf_function *listed = elf_function_list_find(planner->module->functions, function->start);
    const struct hook_span *span = find_span(planner, function->start, 1);

    if (function->is_part)
        return true;
    return listed != NULL && listed->start == function->start && span != NULL && span->is_code &&
           may_be_jumped_to(planner, listed) &&
           !has_bit(planner->called[span - planner->module->spans], function->start - span->address);
}

static bool has_any_bit(const uint8_t *bitmap, uint64_t start, uint64_t end)
{
    for (uint64_t i = start; i < end; i++)
        if (has_bit(bitmap, i))
            return true;
    return false;
}

bool hook_planner_is_taken(const struct hook_planner *planner, uint64_t start, uint64_t end)
{
    const struct hook_span *span = find_span(planner, start, end - start);

    if (end <= start)
        return false;
    if (span == NULL || !span->is_code)
        return true;
    return has_any_bit(bitmap_of(planner, span), start - span->address, end - span->address);
}

bool hook_planner_is_entered(const struct hook_planner *planner, uint64_t start, uint64_t end)
{
    const struct hook_span *span = find_span(planner, start, end - start);

    if (end <= start)
        return false;
    if (span == NULL || !span->is_code)
        return true;
    return has_any_bit(planner->called[span - planner->module->spans], start - span->address, end - span->address);
}

void hook_planner_take(struct hook_planner *planner, uint64_t start, uint64_t end)
{
    for (uint64_t address = start; address < end; address++)
        hook_planner_add_target(planner, address);
}

void hook_planner_give_back(struct hook_planner *planner, uint64_t start, uint64_t end)
{
    const struct hook_span *span = find_span(planner, start, end - start);

    if (span == NULL || !span->is_code || start == end)
        return;
    for (uint64_t i = start - span->address; i < end - span->address; i++)
        bitmap_of(planner, span)[i / 8] &= (uint8_t) ~(1u << (i % 8));
}

uint64_t hook_planner_next_start(const struct hook_planner *planner, uint64_t address)
{
    const struct elf_function_list *list = planner->module->functions;
    const struct elf_function *before = elf_function_list_find(list, address);
    const struct elf_function *next = before == NULL ? list->functions : before + 1;
    struct hook_code code;

    if (!hook_planner_code(planner, address, &code))
        return address;
    if (next < list->functions + list->count && next->start < code.end)
        return next->start;
    return code.end;
}

uint64_t hook_planner_function_end(const struct hook_planner *planner, const struct elf_function *function)
{
    struct hook_code code;

    if (function->size_bytes == 0 || !hook_planner_code(planner, function->start, &code))
        return hook_planner_next_start(planner, function->start);
    return function->size_bytes < code.end - code.start ? function->start + function->size_bytes : code.end;
}

/* ---- what matters ------------------------------------------------------------------------------------------------ */

void hook_planner_add_near(struct hook_planner *planner, uint64_t address)
{
    const struct hook_span *span = find_span(planner, address, 1);
    uint64_t place, start, end;

    if (span == NULL || !span->is_code)
        return;
    place = address - span->address;
    start = place < NEAR_BYTES ? 0 : (place - NEAR_BYTES) / NEAR_UNIT * NEAR_UNIT;
    end = place + NEAR_BYTES < span->size_bytes ? place + NEAR_BYTES : span->size_bytes;
    for (uint64_t at = start; at < end; at += NEAR_UNIT)
        set_bit(planner->near[span - planner->module->spans], at / NEAR_UNIT);
}

bool hook_planner_is_near(const struct hook_planner *planner, uint64_t address)
{
    const struct hook_span *span = find_span(planner, address, 1);

    return span != NULL && span->is_code &&
           has_bit(planner->near[span - planner->module->spans], (address - span->address) / NEAR_UNIT);
}

static bool is_any_near(const struct hook_planner *planner, const struct hook_span *span, uint64_t start, uint64_t end)
{
    return has_any_bit(planner->near[span - planner->module->spans], (start - span->address) / NEAR_UNIT,
                       (end - 1 - span->address) / NEAR_UNIT + 1);
}

/* Code that stays at its address may have addresses anywhere; what has no name may be a part, which others tell. */
static bool can_pass_over(const struct hook_planner *planner, const struct hook_interest *interest)
{
    const struct hook_module *module = planner->module;
    const struct elf_function_list *list = module->functions;

    if (interest == NULL || planner->machine->may_matter == NULL)
        return false;
    if (planner->module_start != 0)
        return false;
    for (uint64_t i = 0; i < list->count; i++)
        if (has_bit(interest->functions, i) &&
            (list->functions[i].name == NULL || list->functions[i].is_part || list->functions[i].is_label))
            return false;
    return true;
}

static void mark_system_calls(struct hook_planner *planner, const struct hook_code *code)
{
    uint64_t (*next)(const struct hook_code *code, uint64_t from) = planner->machine->next_system_call;

    for (uint64_t at = next(code, code->start); at < code->end; at = next(code, at + 1))
        hook_planner_add_near(planner, at);
}

static void mark_near(struct hook_planner *planner, const struct hook_interest *interest)
{
    const struct hook_module *module = planner->module;

    for (uint64_t i = 0; i < module->functions->count; i++)
        if (has_bit(interest->functions, i))
            hook_planner_add_near(planner, module->functions->functions[i].start);
    for (size_t i = 0; interest->has_system_calls && i < module->span_count; i++) {
        struct hook_code code;

        if (hook_planner_code(planner, module->spans[i].address, &code))
            mark_system_calls(planner, &code);
    }
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

/* Each start is a place that somebody goes to. */
static void survey_span(struct hook_planner *planner, const struct hook_span *span, bool passes_over)
{
    uint64_t start = span->address, end = span->address + span->size_bytes;

    while (start < end) {
        uint64_t next = hook_planner_next_start(planner, start);
        struct hook_code code = {span->bytes + (start - span->address), start, next, end};

        if (!passes_over || is_any_near(planner, span, start, next) || planner->machine->may_matter(planner, &code))
            planner->machine->survey(planner, &code);
        if (next < end)
            hook_planner_add_target(planner, next);
        start = next;
    }
}

static bool are_spans_good(const struct hook_module *module)
{
    if (module->span_count > HOOK_SPANS_MAX)
        return false;
    for (size_t i = 0; i < module->span_count; i++) {
        const struct hook_span *span = &module->spans[i];

        if (span->size_bytes == 0 || span->address + span->size_bytes < span->address)
            return false;
        for (size_t other = 0; other < i; other++)
            if (span->address < module->spans[other].address + module->spans[other].size_bytes &&
                module->spans[other].address < span->address + span->size_bytes)
                return false;
    }
    return true;
}

static void find_extent(struct hook_planner *planner)
{
    planner->module_start = UINT64_MAX;
    for (size_t i = 0; i < planner->module->span_count; i++) {
        const struct hook_span *span = &planner->module->spans[i];
        uint64_t end = span->address + span->size_bytes;

        planner->module_start = span->address < planner->module_start ? span->address : planner->module_start;
        planner->module_end = end > planner->module_end ? end : planner->module_end;
    }
}

static const struct engine_hook *hook_machine(unsigned machine)
{
    const struct engine *engine = engine_by_elf_machine(machine);

    return engine == NULL ? NULL : engine->hook;
}

int hook_planner_init(struct hook_planner *planner, const struct hook_module *module, void *memory)
{
    return hook_planner_init_for(planner, module, NULL, memory);
}

int hook_planner_init_for(struct hook_planner *planner, const struct hook_module *module,
                          const struct hook_interest *interest, void *memory)
{
    bool passes_over;
    uint8_t *bitmap = (uint8_t *)memory + sizeof(struct frame_rows_storage);

    *planner = (struct hook_planner){.module = module, .rows = memory};
    planner->machine = hook_machine(module->machine);
    if (planner->machine == NULL)
        return -EOPNOTSUPP;
    if (!are_spans_good(module))
        return -EINVAL;
    find_extent(planner);
    planner->stack_walkers = hook_stack_walkers_find(module->functions);
    planner->crossed = bitmap;
    bitmap += module->functions->count / 8 + 1;
    for (size_t i = 0; i < module->span_count; i++) {
        planner->taken[i] = bitmap;
        planner->called[i] = bitmap + bitmap_bytes(&module->spans[i]);
        planner->near[i] = bitmap + 2 * bitmap_bytes(&module->spans[i]);
        bitmap += 2 * bitmap_bytes(&module->spans[i]) + near_bytes(&module->spans[i]);
        planner->table_budget += module->spans[i].is_code ? module->spans[i].size_bytes * TABLE_ENTRIES_PER_BYTE : 0;
    }
    passes_over = can_pass_over(planner, interest);
    if (passes_over)
        mark_near(planner, interest);
    for (size_t i = 0; i < module->span_count; i++)
        if (module->spans[i].is_code)
            survey_span(planner, &module->spans[i], passes_over);
    return 0;
}

void hook_planner_plan(struct hook_planner *planner, const struct elf_function *function, struct hook_plan *plan_out)
{
    struct hook_code code;

    *plan_out = (struct hook_plan){
        .address = function->start,
        .patch_at = function->start,
        .displaced_end = function->start,
        .method = HOOK_IMPOSSIBLE,
        .is_entry_only = hook_is_entry_only_name(function->name, function->name_length) ||
                         hook_stack_walkers_look_at(planner->stack_walkers, function->name, function->name_length),
    };
    if (hook_planner_is_part(planner, function))
        plan_out->obstacle = HOOK_NOT_A_FUNCTION;
    else if (!hook_planner_code(planner, function->start, &code))
        plan_out->obstacle = HOOK_NOT_MAPPED;
    else if (hook_is_signal_return_name(function->name, function->name_length))
        plan_out->obstacle = HOOK_KNOWN_BY_BYTES;
    else if (hook_is_returned_into_name(function->name, function->name_length))
        plan_out->obstacle = HOOK_RETURN_INSIDE;
    else
        function_plan_make(planner, function, plan_out);
}

/* The padding that belongs to a plan: behind the function, and where the jump is. */
void hook_planner_release(struct hook_planner *planner, const struct hook_plan *plan)
{
    uint64_t patch_end = plan->patch_at + plan->patch_bytes;

    if (plan->method == HOOK_IMPOSSIBLE)
        return;
    if (patch_end > plan->displaced_end)
        hook_planner_give_back(planner, plan->displaced_end, patch_end);
    hook_planner_give_back(planner, plan->hop_at, plan->hop_at + plan->hop_bytes);
}

void hook_plan_move(struct hook_plan *plan, uint64_t bias)
{
    plan->address += bias;
    plan->patch_at += bias;
    plan->displaced_end += bias;
    if (plan->hop_bytes > 0)
        plan->hop_at += bias;
}
