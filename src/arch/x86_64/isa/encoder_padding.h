/* SPDX-License-Identifier: MIT */
/*
 * Filling and alignment. See encoder.h for the conventions.
 */
#ifndef GAIT_ARCH_X86_64_ISA_ENCODER_PADDING_H
#define GAIT_ARCH_X86_64_ISA_ENCODER_PADDING_H

#include "base/code_writer.h"

#include <stddef.h>

/* Does nothing in that many bytes, in as few instructions as possible: one for each 15 bytes. */
void x86_nops(struct code_writer *writer, size_t size_bytes);

/* Fills with nops until the next byte runs at a multiple of alignment, a power of two. */
void x86_align(struct code_writer *writer, size_t alignment);

/*
 * Fills with nops until the field of size_bytes (1, 2, 4 or 8) that begins lead_bytes after the next byte lies inside
 * one aligned 8-byte word, so that one store changes it while other threads run it. For the displacement of
 * a near jmp: x86_align_field(writer, 1, 4).
 */
static inline void x86_align_field(struct code_writer *writer, size_t lead_bytes, size_t size_bytes)
{
    size_t at = (size_t)(code_writer_pc(writer).value + lead_bytes) % 8;

    if (at + size_bytes > 8)
        x86_nops(writer, 8 - at);
}

#endif
