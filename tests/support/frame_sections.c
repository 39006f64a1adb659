/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/frame_sections.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct listing {
    struct loaded_frames *frames;
    size_t count;
};

static void take_segment(const struct dl_phdr_info *info, const ElfW(Phdr) * segment, struct loaded_frames *found)
{
    uint64_t start = info->dlpi_addr + segment->p_vaddr;

    if (segment->p_type == PT_LOAD && segment->p_offset == 0)
        found->base = start;
    if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
        found->code_start = start;
        found->code_end = start + segment->p_memsz;
    }
    if (segment->p_type == PT_GNU_EH_FRAME)
        found->header = (struct eh_frame){(const uint8_t *)(uintptr_t)start, segment->p_memsz, start};
}

static int take_module(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    struct listing *listing = context;
    struct loaded_frames found = {.name = info->dlpi_name};
    uint64_t address;

    (void)size_bytes;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        take_segment(info, &info->dlpi_phdr[i], &found);
    if (found.header.bytes == NULL || eh_frame_find(&found.header, &address) != 0 ||
        listing->count == LOADED_FRAMES_MAX)
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

        if (info->dlpi_phdr[i].p_type == PT_LOAD && address >= start && address < start + info->dlpi_phdr[i].p_filesz)
            found.frame = (struct eh_frame){(const uint8_t *)(uintptr_t)address,
                                            start + info->dlpi_phdr[i].p_filesz - address, address};
    }
    if (found.frame.bytes != NULL)
        listing->frames[listing->count++] = found;
    return 0;
}

size_t loaded_frames_list(struct loaded_frames frames_out[LOADED_FRAMES_MAX])
{
    struct listing listing = {frames_out, 0};

    dl_iterate_phdr(take_module, &listing);
    return listing.count;
}

struct loaded_frames loaded_frames_of(const char *name)
{
    static struct loaded_frames frames[LOADED_FRAMES_MAX];
    size_t count = loaded_frames_list(frames);

    for (size_t i = 0; i < count; i++)
        if (strstr(frames[i].name, name) != NULL)
            return frames[i];
    fprintf(stderr, "%s is not loaded\n", name);
    abort();
}

void made_section_put(struct made_section *section, const void *bytes, size_t size_bytes)
{
    if (size_bytes > sizeof(section->bytes) - section->size_bytes)
        abort();
    memcpy(section->bytes + section->size_bytes, bytes, size_bytes);
    section->size_bytes += size_bytes;
}

void made_section_put_number(struct made_section *section, uint64_t number, size_t size_bytes)
{
    made_section_put(section, &number, size_bytes);
}

static void set_length(struct made_section *section, size_t start)
{
    uint32_t length = (uint32_t)(section->size_bytes - start - 4);

    memcpy(section->bytes + start, &length, sizeof(length));
}

size_t made_section_add_common(struct made_section *section, const char *letters, const uint8_t *data,
                               size_t data_bytes)
{
    /* The frame is sp + 8, the return address is below it. */
    static const uint8_t program[] = {0x0c, 7, 8, 0x80 | 16, 1};
    size_t start = section->size_bytes;

    made_section_put_number(section, 0, 4);
    made_section_put_number(section, 0, 4);
    made_section_put_number(section, 1, 1);
    made_section_put(section, letters, strlen(letters) + 1);
    made_section_put_number(section, 1, 1);    /* code */
    made_section_put_number(section, 0x78, 1); /* data: -8 */
    made_section_put_number(section, 16, 1);
    if (letters[0] == 'z') {
        made_section_put_number(section, data_bytes, 1);
        made_section_put(section, data, data_bytes);
    }
    made_section_put(section, program, sizeof(program));
    set_length(section, start);
    return start;
}

size_t made_section_add_usual(struct made_section *section)
{
    static const uint8_t encoding = 0x1b;

    return made_section_add_common(section, "zR", &encoding, 1);
}

void made_section_add_entry(struct made_section *section, size_t common, uint64_t start, uint32_t length,
                            const uint8_t *program, size_t program_bytes)
{
    size_t record = section->size_bytes;

    made_section_put_number(section, 0, 4);
    made_section_put_number(section, section->size_bytes - common, 4);
    made_section_put_number(section, start - (section->address + section->size_bytes), 4);
    made_section_put_number(section, length, 4);
    made_section_put_number(section, 0, 1);
    made_section_put(section, program, program_bytes);
    set_length(section, record);
}

struct eh_frame made_section_frame(const struct made_section *section)
{
    return (struct eh_frame){section->bytes, section->size_bytes, section->address};
}
