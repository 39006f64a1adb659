/* SPDX-License-Identifier: MIT */
#include "elf/build_id.h"

#include "elf/symbols.h"
#include "support/check.h"

#include <elf.h>
#include <errno.h>

/* A file of two headers and some notes. */
struct file {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint32_t notes[16];
};

static struct file make_file(void)
{
    struct file file = {
        .header = {.e_ident = ELFMAG,
                   .e_type = ET_DYN,
                   .e_phoff = offsetof(struct file, segment),
                   .e_phnum = 1,
                   .e_phentsize = sizeof(Elf64_Phdr)},
        .segment = {.p_type = PT_NOTE, .p_offset = offsetof(struct file, notes), .p_filesz = 10 * 4},
        /* "GNU" with another type, then "GNU" with the ID. */
        .notes = {4, 2, 1, 0x554e47, 0xffff, 4, 4, NT_GNU_BUILD_ID, 0x554e47, 0x04030201},
    };

    file.header.e_ident[EI_CLASS] = ELFCLASS64;
    file.header.e_ident[EI_DATA] = ELFDATA2LSB;
    return file;
}

static int find(const struct file *file, const uint8_t **bytes_out, size_t *size_out)
{
    struct elf_symbols symbols;

    CHECK_EQUAL(elf_symbols_parse(file, sizeof(*file), &symbols), 0);
    return elf_build_id_find(&symbols, bytes_out, size_out);
}

static void it_is_found_behind_other_notes(void)
{
    struct file file = make_file();
    const uint8_t *bytes = NULL;
    size_t size = 0;

    CHECK_EQUAL(find(&file, &bytes, &size), 0);
    CHECK_EQUAL(size, 4);
    CHECK(memcmp(bytes, "\1\2\3\4", 4) == 0);
}

static void notes_that_are_not_whole_are_not_read(void)
{
    const uint8_t *bytes;
    size_t size;

    for (uint64_t length = 0; length < 40; length++) {
        struct file file = make_file();

        file.segment.p_filesz = length;
        CHECK_EQUAL(find(&file, &bytes, &size), -ENOENT);
    }
    for (int word = 0; word < 2; word++) {
        struct file file = make_file();

        file.notes[word] = UINT32_MAX;
        CHECK_EQUAL(find(&file, &bytes, &size), -ENOENT);
    }
}

static void segments_outside_of_the_file_are_not_read(void)
{
    struct file file = make_file();
    const uint8_t *bytes;
    size_t size;

    file.segment.p_offset = UINT64_MAX - 8;
    CHECK_EQUAL(find(&file, &bytes, &size), -ENOENT);
    file.segment.p_offset = sizeof(file);
    CHECK_EQUAL(find(&file, &bytes, &size), -ENOENT);
}

static const struct check_case cases[] = {
    CHECK_CASE(it_is_found_behind_other_notes),
    CHECK_CASE(notes_that_are_not_whole_are_not_read),
    CHECK_CASE(segments_outside_of_the_file_are_not_read),
};

CHECK_MAIN(cases)
