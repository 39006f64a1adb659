/* SPDX-License-Identifier: MIT */
/* Asks libZydis, and the supplement for what it does not know yet, what an encoding means. */
#ifndef GAIT_TOOLS_X86_TABLES_ORACLE_H
#define GAIT_TOOLS_X86_TABLES_ORACLE_H

#include "form.h"
#include "sample.h"

/* Must be called once. */
void oracle_init(void);

/* Whether the sample is an instruction at all. */
bool oracle_accepts(const struct sample *sample);

/* Whether and how a modrm byte follows the opcode, as far as an accepted sample shows it. */
enum x86_modrm_use oracle_modrm_use(const struct sample *sample);

/* Describes an accepted sample. */
void oracle_describe(const struct sample *sample, struct form *form_out);

#endif
