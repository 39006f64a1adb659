/* SPDX-License-Identifier: MIT */
/* Exits of x86-64 blocks: their stubs and branches. As arch/engine.h has it. */
#ifndef GAIT_ARCH_X86_64_STALKER_EXIT_CODE_H
#define GAIT_ARCH_X86_64_STALKER_EXIT_CODE_H

#include "base/address.h"

#include <stdbool.h>
#include <stdint.h>

struct block_exit;
struct code_writer;

#define STUB_BYTES   20
#define BRANCH_BYTES 4 /* of a displacement */

void x86_write_stub(struct code_writer *cold, uint32_t number);
void x86_put_near_jump(struct code_writer *writer, struct cache_pc to);
bool x86_branch_reaches(const struct block_exit *exit, struct cache_pc to);
uint64_t x86_make_branch(const struct block_exit *exit, struct cache_pc to);

#endif
