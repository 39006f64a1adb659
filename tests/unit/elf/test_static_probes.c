/* SPDX-License-Identifier: MIT */
/* This program has probes itself, which are looked for in its own file; what is wrong in one is made up. */
#include "elf/static_probes.h"

#include "elf/symbol_file.h"
#include "elf/symbols.h"
#include "gait/probe.h"
#include "support/check.h"

#include <elf.h>

GAIT_PROBE_SEMAPHORE(gait_test, guarded);

static int pass_probes(int number)
{
    GAIT_PROBE(gait_test, plain, number);
    GAIT_PROBE(gait_test, nothing);
    GAIT_PROBE_IF_ENABLED(gait_test, guarded, number, "text");
    return number;
}

static const char names[] = "\0.shstrtab\0.note.stapsdt\0.stapsdt.base";

/* A file that is all sections: names, notes, and the one by which it is known that it was moved. */
struct file {
    Elf64_Ehdr header;
    Elf64_Shdr sections[4];
    char names[sizeof(names)];
    _Alignas(8) uint8_t notes[256];
};

#define NOTE_HEADER_BYTES 20u

static size_t put_note(struct file *file, size_t at, const uint64_t addresses[3], const char *texts, size_t texts_bytes)
{
    const Elf64_Nhdr header = {8, (uint32_t)(24 + texts_bytes), 3};

    memcpy(file->notes + at, &header, sizeof(header));
    memcpy(file->notes + at + 12, "stapsdt", 8);
    memcpy(file->notes + at + NOTE_HEADER_BYTES, addresses, 24);
    memcpy(file->notes + at + NOTE_HEADER_BYTES + 24, texts, texts_bytes);
    return (at + NOTE_HEADER_BYTES + 24 + texts_bytes + 3) & ~(size_t)3;
}

static struct file make_file(size_t notes_bytes)
{
    struct file file = {
        .header = {.e_ident = ELFMAG,
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_shoff = offsetof(struct file, sections),
                   .e_shnum = 4,
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shstrndx = 1},
        .sections =
            {{0},
             {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct file, names), .sh_size = sizeof(names)},
             {.sh_name = 11, .sh_type = SHT_NOTE, .sh_offset = offsetof(struct file, notes), .sh_size = notes_bytes},
             {.sh_name = 25, .sh_type = SHT_PROGBITS, .sh_addr = 0x5000, .sh_size = 1}},
    };

    file.header.e_ident[EI_CLASS] = ELFCLASS64;
    file.header.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(file.names, names, sizeof(names));
    return file;
}

static size_t count(const struct file *file, struct static_probe *last_out)
{
    struct static_probe_cursor cursor;
    struct elf_symbols symbols;
    size_t found = 0;

    CHECK_EQUAL(elf_symbols_parse(file, sizeof(*file), &symbols), 0);
    static_probe_cursor_init(&cursor, &symbols);
    while (static_probe_cursor_next(&cursor, last_out))
        found++;
    return found;
}

static void a_file_tells_of_its_probes(void)
{
    static const char *const arguments[] = {"plain", "nothing", "guarded"};
    struct static_probe_cursor cursor;
    struct static_probe probe;
    struct symbol_file file;
    unsigned seen = 0;

    CHECK_EQUAL(pass_probes(3), 3);
    CHECK_EQUAL(symbol_file_open("/proc/self/exe", &file), 0);
    static_probe_cursor_init(&cursor, &file.symbols);
    while (static_probe_cursor_next(&cursor, &probe))
        for (unsigned i = 0; i < 3; i++) {
            const uint8_t *code;
            uint64_t available;

            if (strcmp(probe.provider, "gait_test") != 0 || strcmp(probe.name, arguments[i]) != 0)
                continue;
            seen |= 1u << i;
            CHECK_EQUAL(elf_symbols_code(&file.symbols, probe.address, &code, &available), 0);
            CHECK_EQUAL(probe.semaphore != 0, i == 2);
            CHECK_EQUAL(probe.arguments_length == 0, i == 1);
            CHECK_EQUAL(strchr(probe.arguments, ' ') != NULL, i == 2);
        }
    CHECK_EQUAL(seen, 7);
    symbol_file_close(&file);
}

static void what_was_moved_is_where_it_is_now(void)
{
    struct file file = make_file(0);
    struct static_probe probe;

    file.sections[2].sh_size = put_note(&file, 0, (uint64_t[]){0x1000, 0x4000, 0x2000}, "a\0b\0-4@%eax", 12);
    CHECK_EQUAL(count(&file, &probe), 1);
    CHECK_EQUAL(probe.address, 0x2000);
    CHECK_EQUAL(probe.semaphore, 0x3000);
    CHECK_TEXT(probe.arguments, "-4@%eax");
    file.sections[3].sh_addr = 0;
    CHECK_EQUAL(count(&file, &probe), 1);
    CHECK_EQUAL(probe.address, 0x1000);
    CHECK_EQUAL(probe.semaphore, 0x2000);
}

static void code_that_was_left_out_has_none(void)
{
    struct file file = make_file(0);
    struct static_probe probe;
    size_t at = put_note(&file, 0, (uint64_t[]){0, 0x5000, 0}, "a\0b\0", 5);

    at = put_note(&file, at, (uint64_t[]){0x1000, 0x5000, 0}, "a\0c\0", 5);
    file.sections[2].sh_size = at;
    CHECK_EQUAL(count(&file, &probe), 1);
    CHECK_TEXT(probe.name, "c");
    CHECK_EQUAL(probe.semaphore, 0);
}

static void texts_that_do_not_end_are_passed_over(void)
{
    struct file file = make_file(0);
    struct static_probe probe;
    size_t at = put_note(&file, 0, (uint64_t[]){0x1000, 0x5000, 0}, "abcdefgh", 8);

    at = put_note(&file, at, (uint64_t[]){0x1000, 0x5000, 0}, "\0b\0c", 5);
    at = put_note(&file, at, (uint64_t[]){0x1000, 0x5000, 0}, "a\0b\0c", 6);
    file.sections[2].sh_size = at;
    CHECK_EQUAL(count(&file, &probe), 1);
    CHECK_TEXT(probe.arguments, "c");
}

/* Whatever stands there, nothing is read outside of it; sanitizers see. */
static void wrong_sizes_end_nowhere_else(void)
{
    struct static_probe probe;

    for (size_t word = 0; word < 3; word++)
        for (unsigned value = 0; value < 64; value++) {
            struct file file = make_file(0);
            uint32_t size = value < 32 ? value : UINT32_MAX - (value - 32);

            file.sections[2].sh_size = put_note(&file, 0, (uint64_t[]){0x1000, 0x5000, 0}, "a\0b\0c", 6);
            memcpy(file.notes + 4 * word, &size, sizeof(size));
            CHECK(count(&file, &probe) <= 2);
        }
    for (uint64_t size = 0; size < 80; size++) {
        struct file file = make_file(0);

        (void)put_note(&file, 0, (uint64_t[]){0x1000, 0x5000, 0}, "a\0b\0c", 6);
        file.sections[2].sh_size = size;
        CHECK(count(&file, &probe) <= 1);
        file.sections[2].sh_offset = UINT64_MAX - size;
        CHECK_EQUAL(count(&file, &probe), 0);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(a_file_tells_of_its_probes),      CHECK_CASE(what_was_moved_is_where_it_is_now),
    CHECK_CASE(code_that_was_left_out_has_none), CHECK_CASE(texts_that_do_not_end_are_passed_over),
    CHECK_CASE(wrong_sizes_end_nowhere_else),
};

CHECK_MAIN(cases)
