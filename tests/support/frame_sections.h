/* SPDX-License-Identifier: MIT */
/* .eh_frame to test with: the real ones of the modules in this process, and ones that are made by hand. */
#ifndef GAIT_TESTS_FRAME_SECTIONS_H
#define GAIT_TESTS_FRAME_SECTIONS_H

#include "elf/eh_frame.h"

/* Of a module. The section's size goes up to the end of its segment: its end mark says where it ends. */
struct loaded_frames {
    const char *name;
    uint64_t base; /* of its ELF header */
    struct eh_frame frame;
    struct eh_frame header; /* .eh_frame_hdr */
    uint64_t code_start;
    uint64_t code_end;
};

#define LOADED_FRAMES_MAX 32

/* All modules that have one; how many. */
size_t loaded_frames_list(struct loaded_frames frames_out[LOADED_FRAMES_MAX]);

/* The one whose name has that in it. Ends the program if there is none. */
struct loaded_frames loaded_frames_of(const char *name);

/* A section that is made by hand, for code at any address. */
struct made_section {
    uint8_t bytes[8192];
    size_t size_bytes;
    uint64_t address;
};

/* A common part with these letters, which has so many bytes of data for them. Returns where it is. */
size_t made_section_add_common(struct made_section *section, const char *letters, const uint8_t *data,
                               size_t data_bytes);

/* The usual one: "zR" with pointers of 32 bits, relative to themselves; the frame is sp + 8. */
size_t made_section_add_usual(struct made_section *section);

/* An entry with such pointers. */
void made_section_add_entry(struct made_section *section, size_t common, uint64_t start, uint32_t length,
                            const uint8_t *program, size_t program_bytes);

void made_section_put(struct made_section *section, const void *bytes, size_t size_bytes);
void made_section_put_number(struct made_section *section, uint64_t number, size_t size_bytes);

struct eh_frame made_section_frame(const struct made_section *section);

#endif
