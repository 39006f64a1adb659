/* SPDX-License-Identifier: MIT */
/*
 * What becomes of an instruction that cannot be encoded. Invariant: once failed, a writer stays failed and takes no
 * more bytes. No lock: a writer belongs to one thread. Its neighbours encoder_form.c and label.c find the failures.
 */
#include "arch/x86_64/isa/encoder_failure.h"

#include "base/assert.h"
#include "base/code_writer.h"

void x86_encoder_fail(struct code_writer *writer)
{
    writer->overflowed = true;
}

void x86_encoder_refuse(struct code_writer *writer, const char *why)
{
    ASSERT(false, why);
    (void)why;
    x86_encoder_fail(writer);
}
