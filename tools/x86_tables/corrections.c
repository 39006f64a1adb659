/* SPDX-License-Identifier: MIT */
/*
 * Corrections to libZydis' description, each with its reason. The comparison test knows the same list by its effect:
 * tests/data/x86_decoder_differences says for each which instructions may differ, and how.
 */
#include "corrections.h"

#include <string.h>

static bool is_named(const struct form *form, const char *name)
{
    return strcmp(form->mnemonic, name) == 0;
}

/* Adds an access to the first operand that is the given fixed general register. */
static void add_access(struct form *form, enum x86_gpr gpr, uint8_t access)
{
    for (int i = 0; i < form->operand_count; i++) {
        struct form_operand *operand = &form->operands[i];
        uint8_t reg = operand->type.register_class[1];

        if (operand->form.kind == X86_OPERAND_REGISTER && operand->form.source == X86_SOURCE_FIXED &&
            operand->form.fixed == gpr && reg >= X86_REGISTER_GPR8 && reg <= X86_REGISTER_GPR64) {
            operand->form.access |= access;
            return;
        }
    }
}

void corrections_apply(struct form *form)
{
    /* al is the index into the table before it is the result. */
    if (is_named(form, "xlat"))
        add_access(form, X86_RAX, X86_READ);
    /* A source of zero leaves the destination alone; a selector that may not be seen does too. */
    if (is_named(form, "bsf") || is_named(form, "bsr") || is_named(form, "lar") || is_named(form, "lsl"))
        form->is_conditional = true;
}
