/* SPDX-License-Identifier: MIT */
/* Instructions that are younger than libZydis 4.0, from supplement.def. */
#ifndef GAIT_TOOLS_X86_TABLES_SUPPLEMENT_H
#define GAIT_TOOLS_X86_TABLES_SUPPLEMENT_H

#include "form.h"
#include "sample.h"

/* Whether the sample's opcode, with its prefix, width, length and kind of operand, belongs to the supplement. */
bool supplement_covers(const struct sample *sample);

/* Whether a covered sample is valid. */
bool supplement_accepts(const struct sample *sample);

void supplement_describe(const struct sample *sample, struct form *form_out);

#endif
