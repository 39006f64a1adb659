/* SPDX-License-Identifier: MIT */
/* Translating a block anew while threads run in its translation. */
#ifndef GAIT_STALKER_RECOMPILE_H
#define GAIT_STALKER_RECOMPILE_H

#include "base/address.h"
#include "base/attributes.h"

struct follow_configuration;
struct stalker_engine;

/*
 * Translates the block that begins at an address again, for threads that are followed that way, and puts the new
 * translation in the place of the old one. -ENOENT: that block is not translated; -EFAULT: no code can be read there
 * any more; -ENOMEM and what executable memory gives: then the block is forgotten, and translated when somebody needs
 * it.
 */
MUST_USE int stalker_recompile(struct stalker_engine *engine, const struct follow_configuration *configuration,
                               struct app_pc start);

#endif
