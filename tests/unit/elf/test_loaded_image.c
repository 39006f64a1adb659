/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "elf/loaded_image.h"

#include "base/memory_map.h"
#include "process/memory_probe.h"
#include "support/check.h"
#include "support/random.h"

#include <errno.h>
#include <link.h>
#include <sys/auxv.h>

static unsigned compared;

static int compare(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    uint64_t base = UINT64_MAX;
    struct elf_loaded_image image;
    unsigned segment = 0;

    (void)size_bytes;
    (void)context;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_offset == 0)
            base = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    CHECK_EQUAL(elf_loaded_image_read(&memory_probe_reader, base, &image), 0);
    CHECK_EQUAL(image.base, base);
    CHECK_EQUAL(image.bias, info->dlpi_addr);
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];

        if (header->p_type == PT_DYNAMIC)
            CHECK_EQUAL(image.dynamic, info->dlpi_addr + header->p_vaddr);
        if (header->p_type != PT_LOAD)
            continue;
        CHECK_EQUAL(image.segments[segment].start, info->dlpi_addr + header->p_vaddr);
        CHECK_EQUAL(image.segments[segment].end, info->dlpi_addr + header->p_vaddr + header->p_memsz);
        CHECK_EQUAL(image.segments[segment].access & MEMORY_EXECUTE, header->p_flags & PF_X ? MEMORY_EXECUTE : 0);
        CHECK_EQUAL(image.segments[segment].access & MEMORY_WRITE, header->p_flags & PF_W ? MEMORY_WRITE : 0);
        CHECK(image.end >= image.segments[segment].end);
        segment++;
    }
    CHECK_EQUAL(image.segment_count, segment);
    compared++;
    return 0;
}

static void all_that_is_loaded_is_described(void)
{
    struct elf_loaded_image image;

    dl_iterate_phdr(compare, NULL);
    CHECK(compared >= 3);
    CHECK_EQUAL(elf_loaded_image_read(&memory_probe_reader, getauxval(AT_SYSINFO_EHDR), &image), 0);
    CHECK(image.dynamic != 0);
}

static void dynamic_entries_are_found(void)
{
    struct elf_loaded_image image;
    uint64_t value = 0, place = 0, names = 0;

    CHECK_EQUAL(elf_loaded_image_read(&memory_probe_reader, getauxval(AT_BASE), &image), 0);
    CHECK_EQUAL(elf_loaded_image_dynamic(&memory_probe_reader, &image, DT_STRSZ, &value, &place), 0);
    CHECK(value > 100);
    CHECK_EQUAL(*(const uint64_t *)(uintptr_t)place, value);
    CHECK_EQUAL(elf_loaded_image_dynamic_address(&memory_probe_reader, &image, DT_STRTAB, &names), 0);
    CHECK(names > image.base && names < image.end);
    CHECK_EQUAL(elf_loaded_image_dynamic(&memory_probe_reader, &image, DT_NEEDED, &value, NULL), -ENOENT);
}

static void what_is_no_image_is_refused(void)
{
    static const char text[4096] = "\177ELF is how it begins";
    struct elf_loaded_image image;

    CHECK_EQUAL(elf_loaded_image_read(&memory_probe_reader, (uintptr_t)text, &image), -ENOEXEC);
    CHECK_EQUAL(elf_loaded_image_read(&memory_probe_reader, 0x10, &image), -EFAULT);
    CHECK_EQUAL(elf_loaded_image_read(&memory_probe_reader, UINT64_MAX - 10, &image), -EFAULT);
}

static void damaged_headers_do_no_harm(void)
{
    static _Alignas(64) uint8_t copy[1024];
    struct elf_loaded_image image;
    struct random random;
    unsigned good = 0;
    uint64_t value;

    random_init(&random, 5);
    for (unsigned i = 0; i < 20000; i++) {
        memcpy(copy, (const void *)getauxval(AT_BASE), sizeof(copy));
        for (unsigned j = 0; j < 1 + i % 5; j++)
            copy[random_below(&random, sizeof(copy))] = (uint8_t)random_edge(&random);
        if (elf_loaded_image_read(&memory_probe_reader, (uintptr_t)copy, &image) != 0)
            continue;
        good++;
        CHECK(image.end > image.base);
        CHECK(image.segment_count <= ELF_LOADED_SEGMENTS_MAX);
        (void)!elf_loaded_image_dynamic(&memory_probe_reader, &image, DT_DEBUG, &value, NULL);
    }
    CHECK(good > 1000 && good < 20000);
}

static const struct check_case cases[] = {
    CHECK_CASE(all_that_is_loaded_is_described),
    CHECK_CASE(dynamic_entries_are_found),
    CHECK_CASE(what_is_no_image_is_refused),
    CHECK_CASE(damaged_headers_do_no_harm),
};

CHECK_MAIN(cases)
