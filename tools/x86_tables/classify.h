/* SPDX-License-Identifier: MIT */
/* Sorts an instruction: its control flow, its class and its properties, from its name and libZydis' categories. */
#ifndef GAIT_TOOLS_X86_TABLES_CLASSIFY_H
#define GAIT_TOOLS_X86_TABLES_CLASSIFY_H

#include "form.h"

#include <Zydis/Zydis.h>

/* Fills flow, insn_class and properties of a form whose name and operands are known. */
void classify_form(const ZydisDecodedInstruction *insn, struct form *form);

/* The properties that follow from the operands alone. */
uint32_t classify_operands(const struct form *form);

#endif
