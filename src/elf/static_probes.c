/* SPDX-License-Identifier: MIT */
/*
 * A file may have been moved to other addresses after it was linked. Sections that are not loaded, as that of the
 * notes, keep what they say then; but each note says where section .stapsdt.base was, and the section's header where it
 * is.
 */
#include "elf/static_probes.h"

#include "base/alignment.h"
#include "base/memory_functions.h"
#include "elf/sections.h"
#include "elf/symbols.h"

#include <linux/elf.h>

#define NOTES_SECTION ".note.stapsdt"
#define BASE_SECTION  ".stapsdt.base"
#define OWNER         "stapsdt"
#define NOTE_TYPE     3
#define TYPE_NOTE     7 /* SHT_NOTE, of sections */

/* What the contents of a note begin with; three texts follow. */
struct note_addresses {
    uint64_t probe;
    uint64_t base;
    uint64_t semaphore;
};

static bool has_name(const struct elf_section *section, const char *name, size_t length)
{
    return section->name_length == length && memcmp(section->name, name, length) == 0;
}

void static_probe_cursor_init(struct static_probe_cursor *cursor, const struct elf_symbols *symbols)
{
    unsigned count = elf_sections_count(symbols);
    struct elf_section section;

    *cursor = (struct static_probe_cursor){.symbols = symbols};
    for (unsigned i = 0; i < count && cursor->base == 0; i++)
        if (elf_section_get(symbols, i, &section) == 0 && has_name(&section, BASE_SECTION, sizeof(BASE_SECTION) - 1))
            cursor->base = section.address;
}

/* Goes on to the next section with notes of probes. */
static bool enter_section(struct static_probe_cursor *cursor)
{
    const struct elf_symbols *symbols = cursor->symbols;
    struct elf_section section;

    while (elf_section_get(symbols, cursor->next_section, &section) == 0) {
        cursor->next_section++;
        if (section.type != TYPE_NOTE || !has_name(&section, NOTES_SECTION, sizeof(NOTES_SECTION) - 1) ||
            section.file_offset > symbols->size_bytes || section.size_bytes > symbols->size_bytes - section.file_offset)
            continue;
        cursor->notes = symbols->bytes + section.file_offset;
        cursor->notes_bytes = section.size_bytes;
        return true;
    }
    return false;
}

/* A text that is ended within what is left, which goes on behind it. */
static bool take_text(const uint8_t **at, uint64_t *left, const char **text_out, size_t *length_out)
{
    uint64_t length = 0;

    while (length < *left && (*at)[length] != '\0')
        length++;
    if (length == *left)
        return false;
    *text_out = (const char *)*at;
    *length_out = (size_t)length;
    *at += length + 1;
    *left -= length + 1;
    return true;
}

static bool read_contents(const struct static_probe_cursor *cursor, const uint8_t *contents, uint64_t size_bytes,
                          struct static_probe *probe_out)
{
    struct note_addresses addresses;
    uint64_t moved;

    if (size_bytes < sizeof(addresses))
        return false;
    memcpy(&addresses, contents, sizeof(addresses));
    contents += sizeof(addresses);
    size_bytes -= sizeof(addresses);
    moved = cursor->base != 0 && addresses.base != 0 ? cursor->base - addresses.base : 0;
    /* Of code that the linker has left out. */
    if (addresses.probe == 0)
        return false;
    probe_out->address = addresses.probe + moved;
    probe_out->semaphore = addresses.semaphore == 0 ? 0 : addresses.semaphore + moved;
    return take_text(&contents, &size_bytes, &probe_out->provider, &probe_out->provider_length) &&
           take_text(&contents, &size_bytes, &probe_out->name, &probe_out->name_length) &&
           take_text(&contents, &size_bytes, &probe_out->arguments, &probe_out->arguments_length) &&
           probe_out->provider_length != 0 && probe_out->name_length != 0;
}

/* Takes a note off those that are left. False: it is none of a probe. */
static bool take_note(struct static_probe_cursor *cursor, struct static_probe *probe_out)
{
    const uint8_t *note = cursor->notes;
    uint64_t name = sizeof(Elf64_Nhdr), contents, end;
    Elf64_Nhdr header;

    memcpy(&header, note, sizeof(header));
    contents = name + align_up(header.n_namesz, 4);
    end = contents + align_up(header.n_descsz, 4);
    if (contents > cursor->notes_bytes || cursor->notes_bytes - contents < header.n_descsz) {
        cursor->notes_bytes = 0;
        return false;
    }
    end = end < cursor->notes_bytes ? end : cursor->notes_bytes;
    cursor->notes += end;
    cursor->notes_bytes -= end;
    return header.n_type == NOTE_TYPE && header.n_namesz == sizeof(OWNER) &&
           memcmp(note + name, OWNER, sizeof(OWNER)) == 0 &&
           read_contents(cursor, note + contents, header.n_descsz, probe_out);
}

bool static_probe_cursor_next(struct static_probe_cursor *cursor, struct static_probe *probe_out)
{
    for (;;) {
        while (cursor->notes_bytes >= sizeof(Elf64_Nhdr))
            if (take_note(cursor, probe_out))
                return true;
        if (!enter_section(cursor))
            return false;
    }
}
