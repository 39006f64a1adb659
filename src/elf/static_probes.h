/* SPDX-License-Identifier: MIT */
/*
 * The static probes of an ELF file (USDT): places in its code that the notes of section .note.stapsdt name, each with a
 * provider, a name, the places of its arguments, and often a semaphore. Nothing in the bytes is trusted. No system
 * calls, no locks, no libc; usable anywhere.
 */
#ifndef GAIT_ELF_STATIC_PROBES_H
#define GAIT_ELF_STATIC_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_symbols;

/* Texts point into the file and are ended by a NUL. Addresses are as the file's program headers have them. */
struct static_probe {
    uint64_t address;   /* of an instruction that does nothing */
    uint64_t semaphore; /* 16 bits that count those who look; 0: it has none */
    const char *provider;
    size_t provider_length;
    const char *name;
    size_t name_length;
    const char *arguments; /* see elf/probe_arguments.h */
    size_t arguments_length;
};

/* Goes through them, in the order of the file; the file stays where it is meanwhile. */
struct static_probe_cursor {
    const struct elf_symbols *symbols;
    unsigned next_section;
    const uint8_t *notes; /* of the section before that: what is left of it */
    uint64_t notes_bytes;
    uint64_t base; /* where the file has section .stapsdt.base; 0: nowhere */
};

void static_probe_cursor_init(struct static_probe_cursor *cursor, const struct elf_symbols *symbols);

/* The next one. False: there are no more. What is no whole note of a probe is passed over. */
bool static_probe_cursor_next(struct static_probe_cursor *cursor, struct static_probe *probe_out);

#endif
