/* SPDX-License-Identifier: MIT */
/*
 * A note in a PT_NOTE segment: of a file, where symbols.c has found the headers to be inside of it, or in memory, where
 * segments are where the loader has put them.
 */
#include "elf/build_id.h"

#include "base/alignment.h"
#include "base/memory_functions.h"
#include "elf/symbols.h"

#include <asm/errno.h>
#include <linux/elf.h>

#define NOTE_BUILD_ID 3
#define OWNER         "GNU"

/* As far as notes in memory are looked at. */
#define LOADED_NOTES_BYTES 1024

/* Looks through notes, one behind the other. */
static int find_note(const uint8_t *notes, uint64_t size_bytes, const uint8_t **bytes_out, size_t *size_out)
{
    Elf64_Nhdr note;

    while (size_bytes >= sizeof(note)) {
        uint64_t name, contents;

        memcpy(&note, notes, sizeof(note));
        name = sizeof(note);
        contents = name + align_up(note.n_namesz, 4);
        if (contents > size_bytes || size_bytes - contents < note.n_descsz)
            return -ENOENT;
        if (note.n_type == NOTE_BUILD_ID && note.n_namesz == sizeof(OWNER) &&
            memcmp(notes + name, OWNER, sizeof(OWNER)) == 0) {
            *bytes_out = notes + contents;
            *size_out = note.n_descsz;
            return 0;
        }
        contents += align_up(note.n_descsz, 4);
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

/* ---- in memory --------------------------------------------------------------------------------------------------- */

struct loaded {
    const struct elf_memory *memory;
    uint64_t header_address;
    Elf64_Ehdr header;
};

static bool read_program_header(const struct loaded *loaded, unsigned which, Elf64_Phdr *header_out)
{
    const struct elf_memory *memory = loaded->memory;

    return memory->read(memory->context, loaded->header_address + loaded->header.e_phoff + which * sizeof(*header_out),
                        header_out, sizeof(*header_out));
}

/* What is to be added to the image's addresses: its header is the beginning of the file. */
static bool find_bias(const struct loaded *loaded, uint64_t *bias_out)
{
    Elf64_Phdr segment;

    for (unsigned i = 0; i < loaded->header.e_phnum; i++) {
        if (!read_program_header(loaded, i, &segment))
            return false;
        if (segment.p_type == PT_LOAD && segment.p_offset == 0) {
            *bias_out = loaded->header_address - segment.p_vaddr;
            return true;
        }
    }
    return false;
}

static int find_loaded_note(const struct loaded *loaded, uint64_t address, uint64_t size_bytes, uint8_t *bytes_out,
                            size_t capacity, size_t *size_out)
{
    uint8_t notes[LOADED_NOTES_BYTES];
    const uint8_t *found;
    size_t size;

    if (size_bytes > sizeof(notes))
        size_bytes = sizeof(notes);
    if (!loaded->memory->read(loaded->memory->context, address, notes, size_bytes) ||
        find_note(notes, size_bytes, &found, &size) != 0 || size > capacity)
        return -ENOENT;
    memcpy(bytes_out, found, size);
    *size_out = size;
    return 0;
}

int elf_build_id_read(const struct elf_memory *memory, uint64_t header_address, uint8_t *bytes_out, size_t capacity,
                      size_t *size_out)
{
    struct loaded loaded = {.memory = memory, .header_address = header_address};
    Elf64_Phdr segment;
    uint64_t bias;

    if (!memory->read(memory->context, header_address, &loaded.header, sizeof(loaded.header)) ||
        memcmp(loaded.header.e_ident, ELFMAG, SELFMAG) != 0 || loaded.header.e_ident[EI_CLASS] != ELFCLASS64 ||
        loaded.header.e_phentsize != sizeof(segment) || !find_bias(&loaded, &bias))
        return -ENOENT;
    for (unsigned i = 0; i < loaded.header.e_phnum; i++) {
        if (!read_program_header(&loaded, i, &segment))
            return -ENOENT;
        if (segment.p_type == PT_NOTE &&
            find_loaded_note(&loaded, bias + segment.p_vaddr, segment.p_filesz, bytes_out, capacity, size_out) == 0)
            return 0;
    }
    return -ENOENT;
}
