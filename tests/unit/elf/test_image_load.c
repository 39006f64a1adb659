/* SPDX-License-Identifier: MIT */
#include "elf/image_load.h"

#include "arch/abi.h"
#include "elf/image.h"
#include "support/check.h"
#include "support/core_exercise.h"
#include "support/core_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static const char *const names[] = {CORE_IMAGE, CORE_IMAGE_PACKED};

/* Reads and parses one of the images; false: this build has none of that name. */
static bool read_image(const char *name, uint8_t **bytes_out, struct elf_image *image_out)
{
    size_t size = 0;

    *bytes_out = core_image_read(name, &size);
    if (*bytes_out == NULL) {
        CHECK(strcmp(name, CORE_IMAGE) != 0);
        return false;
    }
    CHECK_EQUAL(elf_image_parse(*bytes_out, size, abi_host()->elf, image_out), 0);
    return true;
}

static size_t count_undefined(const uint8_t *bytes)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(bytes + header->e_shoff);
    size_t undefined = 0;

    for (int i = 0; i < header->e_shnum; i++) {
        const Elf64_Sym *symbols = (const Elf64_Sym *)(bytes + sections[i].sh_offset);

        if (sections[i].sh_type != SHT_SYMTAB && sections[i].sh_type != SHT_DYNSYM)
            continue;
        for (size_t symbol = 1; symbol < sections[i].sh_size / sizeof(Elf64_Sym); symbol++)
            undefined += symbols[symbol].st_shndx == SHN_UNDEF;
    }
    return undefined;
}

static void the_core_without_libc_imports_nothing(void)
{
    for (size_t i = 0; i < 2; i++) {
        struct elf_image image;
        uint8_t *bytes;

        if (!read_image(names[i], &bytes, &image))
            continue;
        CHECK_EQUAL(count_undefined(bytes), 0);
        CHECK_EQUAL(image.needed_count, 0);
        CHECK(!image.has_other_relocations);
        CHECK(!image.has_thread_storage);
        CHECK_EQUAL(elf_image_check_self_contained(&image), 0);
        CHECK((i == 0 ? image.relocations : image.packed_relocations).size_bytes > 0);
        for (size_t s = 0; s < image.segment_count; s++)
            CHECK(image.segments[s].access != (MEMORY_READ_WRITE | MEMORY_EXECUTE));
        free(bytes);
    }
}

static void run_image(const struct elf_image *image, struct memory_range within)
{
    struct elf_loaded loaded = {.start = NULL};
    uint64_t (*entry)(uint64_t);

    CHECK_EQUAL(elf_image_load(image, within, &loaded), 0);
    if (loaded.start == NULL)
        return;
    CHECK(memory_range_holds(within, (uintptr_t)loaded.start, loaded.size_bytes));
    entry = (uint64_t(*)(uint64_t))(uintptr_t)loaded.entry;
    for (uint64_t seed = 1; seed < 10; seed++) {
        CHECK_EQUAL(entry(seed), core_exercise(seed));
        CHECK(core_exercise(seed) != 0);
    }
    CHECK(entry(1) != entry(2) && entry(2) != entry(4));
    elf_image_unload(&loaded);
    CHECK(loaded.start == NULL);
}

/* Addresses that nobody uses now. */
static struct memory_range free_range(size_t size_bytes)
{
    void *start = NULL;

    CHECK_EQUAL(memory_reserve(size_bytes, &start), 0);
    memory_unmap(start, size_bytes);
    return (struct memory_range){(uintptr_t)start, (uintptr_t)start + size_bytes};
}

static void the_loaded_core_computes_what_the_linked_one_does(void)
{
    for (size_t i = 0; i < 2; i++) {
        struct elf_image image;
        uint8_t *bytes;

        if (!read_image(names[i], &bytes, &image))
            continue;
        run_image(&image, (struct memory_range){0, 0});
        run_image(&image, memory_range_near((uintptr_t)&run_image));
        run_image(&image, free_range(64 << 20));
        free(bytes);
    }
}

static void two_copies_have_their_own_data(void)
{
    struct elf_image image;
    struct elf_loaded first, second;
    uint8_t *bytes;

    if (!read_image(CORE_IMAGE, &bytes, &image))
        return;
    CHECK_EQUAL(elf_image_load(&image, (struct memory_range){0, 0}, &first), 0);
    CHECK_EQUAL(elf_image_load(&image, (struct memory_range){0, 0}, &second), 0);
    CHECK(first.start != second.start);
    CHECK_EQUAL(((uint64_t(*)(uint64_t))(uintptr_t)first.entry)(7), core_exercise(7));
    elf_image_unload(&first);
    CHECK_EQUAL(((uint64_t(*)(uint64_t))(uintptr_t)second.entry)(8), core_exercise(8));
    elf_image_unload(&second);
    free(bytes);
}

/* The kernel says so without a fault. */
static bool is_writable(void *place)
{
    int zero = open("/dev/zero", O_RDONLY);
    bool writable = read(zero, place, 1) == 1;

    close(zero);
    return writable;
}

static void segments_have_their_own_access(void)
{
    struct elf_image image;
    struct elf_loaded loaded;
    uint8_t *bytes;

    if (!read_image(CORE_IMAGE, &bytes, &image))
        return;
    CHECK_EQUAL(elf_image_load(&image, (struct memory_range){0, 0}, &loaded), 0);
    for (size_t i = 0; i < image.segment_count; i++) {
        uint64_t last = image.segments[i].address + image.segments[i].memory_bytes - 1;

        CHECK_EQUAL(is_writable(loaded.start + last), (image.segments[i].access & MEMORY_WRITE) != 0);
    }
    /* Whole pages of constants that needed relocation are read-only; a small image may have none. */
    if (image.read_only.size_bytes >= memory_page_size())
        CHECK(!is_writable(loaded.start + image.read_only.address));
    elf_image_unload(&loaded);
    free(bytes);
}

static void images_that_cannot_be_loaded_leave_nothing_behind(void)
{
    struct elf_loaded loaded = {.start = NULL};
    struct elf_image image, changed;
    uint8_t *bytes;

    if (!read_image(CORE_IMAGE, &bytes, &image))
        return;
    changed = image;
    changed.needed_count = 1;
    CHECK_EQUAL(elf_image_load(&changed, (struct memory_range){0, 0}, &loaded), -ENOEXEC);
    changed = image;
    changed.segments[0].access |= MEMORY_WRITE | MEMORY_EXECUTE;
    CHECK_EQUAL(elf_image_load(&changed, (struct memory_range){0, 0}, &loaded), -ENOEXEC);
    changed = image;
    changed.segments[0].memory_bytes = changed.segments[1].address + 1;
    CHECK_EQUAL(elf_image_load(&changed, (struct memory_range){0, 0}, &loaded), -ENOEXEC);
    changed = image;
    changed.alignment = 1 << 20;
    CHECK_EQUAL(elf_image_load(&changed, free_range(64 << 20), &loaded), -EINVAL);
    CHECK_EQUAL(elf_image_load(&image, free_range(4096), &loaded), -ENOMEM);
    CHECK(loaded.start == NULL);
    free(bytes);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_core_without_libc_imports_nothing),
    CHECK_CASE(the_loaded_core_computes_what_the_linked_one_does),
    CHECK_CASE(two_copies_have_their_own_data),
    CHECK_CASE(segments_have_their_own_access),
    CHECK_CASE(images_that_cannot_be_loaded_leave_nothing_behind),
};

CHECK_MAIN(cases)
