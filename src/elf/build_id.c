/* SPDX-License-Identifier: MIT */
/* A note in a PT_NOTE segment, which symbols.c has found to be inside of the file as far as its header goes. */
#include "elf/build_id.h"

#include "base/memory_functions.h"
#include "elf/symbols.h"

#include <asm/errno.h>
#include <linux/elf.h>

#define NOTE_BUILD_ID 3
#define OWNER         "GNU"

static uint64_t round_up(uint64_t size_bytes)
{
    return (size_bytes + 3) & ~(uint64_t)3;
}

/* Looks through notes, one behind the other. */
static int find_note(const uint8_t *notes, uint64_t size_bytes, const uint8_t **bytes_out, size_t *size_out)
{
    Elf64_Nhdr note;

    while (size_bytes >= sizeof(note)) {
        uint64_t name, contents;

        memcpy(&note, notes, sizeof(note));
        name = sizeof(note);
        contents = name + round_up(note.n_namesz);
        if (contents > size_bytes || size_bytes - contents < note.n_descsz)
            return -ENOENT;
        if (note.n_type == NOTE_BUILD_ID && note.n_namesz == sizeof(OWNER) &&
            memcmp(notes + name, OWNER, sizeof(OWNER)) == 0) {
            *bytes_out = notes + contents;
            *size_out = note.n_descsz;
            return 0;
        }
        contents += round_up(note.n_descsz);
        if (contents > size_bytes)
            return -ENOENT;
        notes += contents;
        size_bytes -= contents;
    }
    return -ENOENT;
}

int elf_build_id_find(const struct elf_symbols *symbols, const uint8_t **bytes_out, size_t *size_out)
{
    for (uint64_t i = 0; i < symbols->program_header_count; i++) {
        Elf64_Phdr header;

        /* That the headers are inside of the file was checked when it was parsed. */
        memcpy(&header, symbols->bytes + symbols->program_headers + i * sizeof(header), sizeof(header));
        if (header.p_type != PT_NOTE || header.p_offset > symbols->size_bytes ||
            header.p_filesz > symbols->size_bytes - header.p_offset)
            continue;
        if (find_note(symbols->bytes + header.p_offset, header.p_filesz, bytes_out, size_out) == 0)
            return 0;
    }
    return -ENOENT;
}
