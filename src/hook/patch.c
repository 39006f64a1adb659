/* SPDX-License-Identifier: MIT */
/* Reading what a patch is going to overwrite, so that it can be compared, copied and brought back. No state. */
#include "hook/patch.h"

#include "base/memory_functions.h"
#include "process/forced_memory.h"
#include "process/memory_probe.h"

#include <asm/errno.h>

static bool is_sound(const struct hook_plan *plan)
{
    uint64_t displaced = plan->displaced_end - plan->patch_at;

    return plan->method < HOOK_IMPOSSIBLE && plan->patch_bytes > 0 && plan->patch_bytes <= REDIRECT_BYTES_MAX &&
           displaced > 0 && displaced <= HOOK_DISPLACED_BYTES_MAX && plan->hop_bytes <= REDIRECT_BYTES_MAX;
}

int patch_prepare(struct patch *patch, const struct hook_plan *plan, const struct forced_memory *memory)
{
    if (engine_host() == NULL)
        return -EOPNOTSUPP;
    if (!is_sound(plan))
        return -EINVAL;
    *patch = (struct patch){.plan = *plan};
    if (forced_memory_read(memory, plan->patch_at, patch->original, plan->patch_bytes) != plan->patch_bytes)
        return -EFAULT;
    if (plan->hop_bytes > 0 &&
        forced_memory_read(memory, plan->hop_at, patch->hop_original, plan->hop_bytes) != plan->hop_bytes)
        return -EFAULT;
    return 0;
}

int patch_read_displaced(const struct patch *patch, const struct forced_memory *memory,
                         uint8_t displaced_out[HOOK_DISPLACED_BYTES_MAX])
{
    size_t size = (size_t)(patch->plan.displaced_end - patch->plan.patch_at);

    if (memory == NULL ? memory_probe_copy(patch->plan.patch_at, displaced_out, size) != 0
                       : forced_memory_read(memory, patch->plan.patch_at, displaced_out, size) != size)
        return -EFAULT;
    memcpy(displaced_out, patch->original, size < patch->plan.patch_bytes ? size : patch->plan.patch_bytes);
    return 0;
}

int patch_find_copy(const struct patch *patch, const struct forced_memory *memory, uint64_t pc, uint64_t *copy_out)
{
    uint8_t displaced[HOOK_DISPLACED_BYTES_MAX];
    int result = patch_read_displaced(patch, memory, displaced);

    return result != 0 ? result : trampoline_find_copy(patch->trampoline.start, &patch->plan, displaced, pc, copy_out);
}

/* The last instruction whose copy begins there or before. */
bool patch_find_original(const struct patch *patch, const struct forced_memory *memory, uint64_t pc,
                         uint64_t *original_out)
{
    const struct hook_plan *plan = &patch->plan;
    uint8_t displaced[HOOK_DISPLACED_BYTES_MAX];
    uint64_t copy, best = 0;

    if (patch_read_displaced(patch, memory, displaced) != 0)
        return false;
    for (uint64_t at = plan->patch_at; at < plan->displaced_end; at++)
        if (trampoline_find_copy(patch->trampoline.start, plan, displaced, at, &copy) == 0 && copy <= pc &&
            copy >= best) {
            *original_out = at;
            best = copy;
        }
    return best == pc;
}
