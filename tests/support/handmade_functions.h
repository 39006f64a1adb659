/* SPDX-License-Identifier: MIT */
/* A small ELF file, made by hand, with functions that are known in all ways that there are. */
#ifndef GAIT_TESTS_HANDMADE_FUNCTIONS_H
#define GAIT_TESTS_HANDMADE_FUNCTIONS_H

#include <elf.h>
#include <stdint.h>

#define HANDMADE_CODE       0x1000u
#define HANDMADE_CODE_BYTES 256u
#define HANDMADE_DATA       0x2000u

struct handmade_functions {
    Elf64_Ehdr header;
    Elf64_Phdr segments[3];
    Elf64_Shdr sections[6];
    Elf64_Sym symbols[12];
    Elf64_Rela relocations[4];
    char names[160];
    char section_names[32];
    uint8_t code[HANDMADE_CODE_BYTES];
    uint8_t frame_header[8];
    uint8_t frame[512];
};

/*
 * first        0x1000..0x1010, also called __first, with label in it and a piece of its own in .eh_frame at 0x1004
 * sized        0x1020..0x1030, whose size only .eh_frame tells
 * resolver     0x1040..0x1048
 * assembly     0x1050..0x1058, of no type, with an entry in .eh_frame
 * first.cold   0x1060..0x1068
 *              0x1070..0x1080, without a name
 *              0x1080..0x1088, a part without a name
 * .plt         0x10c0..0x10d0
 *              0x10d8..0x10e0, of which .eh_frame says that the kernel makes its frame
 * long         0x10f0.., longer than the code
 */
void handmade_functions_make(struct handmade_functions *made);

#endif
