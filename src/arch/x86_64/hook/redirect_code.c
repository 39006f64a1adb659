/* SPDX-License-Identifier: MIT */
/* Jumps of 5 bytes, short ones of 2, and the trap of 1, as bytes to be written over code. No state. */
#include "arch/engine.h"
#include "arch/x86_64/hook/hook_code.h"
#include "arch/x86_64/isa/encoder_branch.h"
#include "base/address.h"
#include "hook/hook_plan.h"

#include <asm/errno.h>

#define JUMP_NEAR       0xe9
#define JUMP_NEAR_BYTES 5
#define JUMP_SHORT      0xeb
#define HOP_BYTES       2
#define TRAP            0xcc

static int put_jump(uint8_t *bytes, uint64_t at, uint64_t target)
{
    uint64_t distance = target - (at + JUMP_NEAR_BYTES);

    if (!address_fits_rel32(at + JUMP_NEAR_BYTES, target))
        return -ERANGE;
    bytes[0] = JUMP_NEAR;
    for (unsigned i = 0; i < 4; i++)
        bytes[1 + i] = (uint8_t)(distance >> 8 * i);
    return 0;
}

static int put_hop(const struct hook_plan *plan, uint64_t target, struct redirect *redirect)
{
    uint64_t from = plan->patch_at + HOP_BYTES;

    if (!address_fits_rel8(from, plan->hop_at))
        return -ERANGE;
    redirect->bytes[0] = JUMP_SHORT;
    redirect->bytes[1] = (uint8_t)(plan->hop_at - from);
    return put_jump(redirect->hop, plan->hop_at, target);
}

int x86_redirect_make(const struct hook_plan *plan, uint64_t target, struct redirect *redirect_out)
{
    switch (plan->method) {
    case HOOK_JUMP:
    case HOOK_JUMP_INTO_PADDING:
        return plan->patch_bytes == JUMP_NEAR_BYTES ? put_jump(redirect_out->bytes, plan->patch_at, target) : -EINVAL;
    case HOOK_HOP:
        return plan->patch_bytes == HOP_BYTES && plan->hop_bytes == JUMP_NEAR_BYTES
                   ? put_hop(plan, target, redirect_out)
                   : -EINVAL;
    case HOOK_TRAP:
        redirect_out->bytes[0] = TRAP;
        return plan->patch_bytes == 1 ? 0 : -EINVAL;
    default:
        return -EINVAL;
    }
}

bool x86_redirect_reaches(uint64_t from, uint64_t target)
{
    return address_fits_rel32(from, target);
}

void x86_redirect_jump(struct code_writer *writer, uint64_t target)
{
    x86_jmp_absolute(writer, cache_pc_of(target));
}
