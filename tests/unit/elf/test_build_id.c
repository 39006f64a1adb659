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

/* ---- in memory --------------------------------------------------------------------------------------------------- */

/* Memory of ours that begins at an address of our choice. */
struct region {
    const void *bytes;
    uint64_t start;
    size_t size_bytes;
};

static bool read_region(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    const struct region *region = context;

    if (address < region->start || address - region->start > region->size_bytes ||
        region->size_bytes - (address - region->start) < size_bytes)
        return false;
    memcpy(bytes_out, (const uint8_t *)region->bytes + (address - region->start), size_bytes);
    return true;
}

/* A file as it is loaded: its first segment is all of it, and the notes are in there. */
struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segments[2];
    uint32_t notes[16];
};

static struct image make_image(void)
{
    struct file file = make_file();
    struct image image = {
        .header = file.header,
        .segments = {{.p_type = PT_LOAD, .p_offset = 0, .p_vaddr = 0x400000, .p_filesz = sizeof(image)},
                     {.p_type = PT_NOTE, .p_vaddr = 0x400000 + offsetof(struct image, notes), .p_filesz = 10 * 4}},
    };

    image.header.e_phoff = offsetof(struct image, segments);
    image.header.e_phnum = 2;
    memcpy(image.notes, file.notes, sizeof(image.notes));
    return image;
}

static int read_image(const struct image *image, size_t size_bytes, uint8_t *id, size_t capacity, size_t *size_out)
{
    struct region region = {image, 0x7000000, size_bytes};
    const struct elf_memory memory = {read_region, &region};

    return elf_build_id_read(&memory, region.start, id, capacity, size_out);
}

static void it_is_found_where_the_image_is_loaded(void)
{
    struct image image = make_image();
    uint8_t id[8] = {0};
    size_t size = 0;

    CHECK_EQUAL(read_image(&image, sizeof(image), id, sizeof(id), &size), 0);
    CHECK_EQUAL(size, 4);
    CHECK(memcmp(id, "\1\2\3\4", 4) == 0);
    CHECK_EQUAL(read_image(&image, sizeof(image), id, 3, &size), -ENOENT);
}

static void memory_that_is_missing_is_no_image(void)
{
    struct image image = make_image();
    uint8_t id[8];
    size_t size;

    for (size_t length = 0; length < offsetof(struct image, notes) + 40; length++)
        CHECK_EQUAL(read_image(&image, length, id, sizeof(id), &size), -ENOENT);
    image.header.e_phoff = UINT64_MAX - 3;
    CHECK_EQUAL(read_image(&image, sizeof(image), id, sizeof(id), &size), -ENOENT);
    image = make_image();
    image.segments[0].p_offset = 0x1000;
    CHECK_EQUAL(read_image(&image, sizeof(image), id, sizeof(id), &size), -ENOENT);
    image = make_image();
    image.segments[1].p_vaddr = UINT64_MAX;
    CHECK_EQUAL(read_image(&image, sizeof(image), id, sizeof(id), &size), -ENOENT);
    image = make_image();
    image.header.e_ident[1] = 'F';
    CHECK_EQUAL(read_image(&image, sizeof(image), id, sizeof(id), &size), -ENOENT);
}

static const struct check_case cases[] = {
    CHECK_CASE(it_is_found_behind_other_notes),
    CHECK_CASE(notes_that_are_not_whole_are_not_read),
    CHECK_CASE(segments_outside_of_the_file_are_not_read),
    CHECK_CASE(it_is_found_where_the_image_is_loaded),
    CHECK_CASE(memory_that_is_missing_is_no_image),
};

CHECK_MAIN(cases)
