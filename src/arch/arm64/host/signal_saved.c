/* SPDX-License-Identifier: MIT */
/* Handlers return by a register: there is no word to know a frame by. */
#include "arch/signal_saved.h"

uint64_t signal_saved_pc_at(uint64_t frame)
{
    (void)frame;
    return 0;
}

uint64_t signal_saved_sp_at(uint64_t frame)
{
    (void)frame;
    return 0;
}

uint64_t signal_saved_pc_in(uint64_t ucontext)
{
    (void)ucontext;
    return 0;
}

uint64_t signal_trap_distance(void)
{
    return 0;
}

uint64_t signal_restorer(void)
{
    return 0;
}
