/* SPDX-License-Identifier: MIT */
/*
 * Probes are planned in the order of the file, when all of them are known to be places that somebody goes to: so none
 * displaces another one.
 */
#include "agent/probe_hooks.h"

#include "agent/hook_details.h"
#include "agent/hook_set.h"
#include "agent/probe_set.h"
#include "elf/static_probes.h"
#include "elf/symbols.h"
#include "hook/hook_image.h"
#include "hook/instruction_plan.h"
#include "hook/listener_call.h"

#include <asm/errno.h>

/* A thread comes by. */
static void passed(struct gait_invocation *invocation)
{
    struct detail_lane *lane = hook_details_lane(listener_call_thread(invocation));

    if (lane != NULL)
        probe_set_passed(invocation->data, lane, invocation->cpu, invocation->depth);
}

/* Nobody else may have its bytes. */
static void take_bytes(struct hook_image *image, const struct hook_plan *plan)
{
    for (uint32_t i = 0; i < plan->patch_bytes; i++)
        hook_planner_add_pointer(&image->planner, plan->patch_at + i);
}

static int arm(void *context, struct set_probe *probe, uint64_t file_address)
{
    struct hook_image *image = context;
    const uint8_t *bytes;
    struct hook_plan plan;
    struct hook_wish wish = {
        .plan = &plan,
        .is_probe = true,
        .listeners = {{.enter = passed, .data = probe, .flags = HOOK_LISTENER_GENERAL_ONLY}},
        .listener_count = 1,
    };
    uint64_t available;
    int result = hook_plan_instruction(&image->planner, file_address, &plan);

    if (result != 0)
        return result;
    if (plan.method == HOOK_IMPOSSIBLE ||
        elf_symbols_code(&image->file.symbols, plan.patch_at, &bytes, &available) != 0)
        return -EOPNOTSUPP;
    take_bytes(image, &plan);
    wish.expected = bytes;
    hook_plan_move(&plan, set_probe_address(probe) - file_address);
    return hook_set_add(&wish);
}

static void mark_all(const struct elf_symbols *symbols, struct hook_image *image)
{
    struct static_probe_cursor cursor;
    struct static_probe probe;

    static_probe_cursor_init(&cursor, symbols);
    while (static_probe_cursor_next(&cursor, &probe))
        hook_planner_add_pointer(&image->planner, probe.address);
}

uint64_t probe_hooks_add(const struct probe_search *search, struct hook_image *image)
{
    if (search->wanted == 0)
        return 0;
    mark_all(search->symbols, image);
    return probe_set_add(search, arm, image);
}
