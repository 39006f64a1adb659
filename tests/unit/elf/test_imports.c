/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "elf/imports.h"

#include "elf/symbols.h"
#include "support/check.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static uint8_t *bytes;
static size_t size_bytes;
static struct elf_symbols symbols;

/* This program. */
static void begin(void)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat status;

    CHECK(fd >= 0 && fstat(fd, &status) == 0);
    size_bytes = (size_t)status.st_size;
    bytes = malloc(size_bytes);
    CHECK(bytes != NULL && read(fd, bytes, size_bytes) == (ssize_t)size_bytes);
    close(fd);
    CHECK_EQUAL(elf_symbols_parse(bytes, size_bytes, &symbols), 0);
}

/* Visits all slots that relocations name; how many have a name. */
static unsigned count_named(const char *wanted, bool *is_found)
{
    const Elf64_Ehdr *header = (const void *)bytes;
    const Elf64_Shdr *sections = (const void *)(bytes + header->e_shoff);
    unsigned named = 0;
    const char *name;
    size_t length;

    for (unsigned i = 0; i < header->e_shnum; i++)
        for (uint64_t at = 0; sections[i].sh_type == SHT_RELA && at < sections[i].sh_size; at += sizeof(Elf64_Rela)) {
            const Elf64_Rela *relocation = (const void *)(bytes + sections[i].sh_offset + at);

            if (elf_imports_find(&symbols, relocation->r_offset, &name, &length) != 0)
                continue;
            named++;
            *is_found |= length == strlen(wanted) && memcmp(name, wanted, length) == 0;
        }
    return named;
}

static void slots_have_the_names_that_are_looked_up(void)
{
    bool is_found = false;
    const char *name;
    size_t length;

    begin();
    CHECK(count_named("malloc", &is_found) > 5);
    CHECK(is_found);
    CHECK_EQUAL(elf_imports_find(&symbols, 1, &name, &length), -ENOENT);
    free(bytes);
}

static void damaged_files_give_no_names(void)
{
    bool is_found = false;

    begin();
    /* Each byte of the headers of sections, and the dynamic symbols' names. */
    const Elf64_Ehdr *header = (const void *)bytes;
    uint64_t start = header->e_shoff, end = start + header->e_shnum * sizeof(Elf64_Shdr);

    for (uint64_t at = start; at < end; at += 5) {
        uint8_t before = bytes[at];
        const char *name;
        size_t length;

        bytes[at] ^= 0xff;
        (void)!elf_imports_find(&symbols, 0x4000, &name, &length);
        bytes[at] = before;
    }
    memset(bytes + symbols.tables[1].names_offset, 'x', symbols.tables[1].names_bytes);
    count_named("malloc", &is_found);
    CHECK(!is_found);
    free(bytes);
}

static const struct check_case cases[] = {
    CHECK_CASE(slots_have_the_names_that_are_looked_up),
    CHECK_CASE(damaged_files_give_no_names),
};

CHECK_MAIN(cases)
