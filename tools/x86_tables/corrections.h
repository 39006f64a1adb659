/* SPDX-License-Identifier: MIT */
/* What libZydis 4.0 does not say, or says wrongly, about instructions that it knows. */
#ifndef GAIT_TOOLS_X86_TABLES_CORRECTIONS_H
#define GAIT_TOOLS_X86_TABLES_CORRECTIONS_H

#include "form.h"

/* Corrects a form that was read out of libZydis; to be called before it is classified. */
void corrections_apply(struct form *form);

#endif
