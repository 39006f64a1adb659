/* SPDX-License-Identifier: MIT */
/*
 * Reads the notes of static probes, and what they say of arguments, damaged at random, until the time is up: --seconds
 * N
 * --seed S. Texts end within the file, operands are evaluated or not; crashes and hangs end the program.
 */
#define _GNU_SOURCE
#include "arch/abi.h"
#include "elf/elf_memory.h"
#include "elf/probe_arguments.h"
#include "elf/sections.h"
#include "elf/static_probes.h"
#include "elf/symbol_file.h"
#include "gait/probe.h"
#include "support/fuzz_arguments.h"
#include "support/random.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CASE_SECONDS_MAX 60
#define NOTES_BYTES      4096u
#define DAMAGES_MAX      12u

GAIT_PROBE_SEMAPHORE(fuzzed, guarded);

/* A file that has nothing but names of sections and notes. */
struct file {
    Elf64_Ehdr header;
    Elf64_Shdr sections[4];
    char names[64];
    _Alignas(8) uint8_t notes[NOTES_BYTES];
};

static const char names[] = "\0.shstrtab\0.note.stapsdt\0.stapsdt.base";

static bool read_nothing(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    (void)context;
    memset(bytes_out, (int)address, size_bytes);
    return address % 3 != 0;
}

/* So that this program has some. */
static void pass(long number, const char *text)
{
    GAIT_PROBE(fuzzed, plain, number, text, *text, 5);
    GAIT_PROBE(fuzzed, nothing);
    GAIT_PROBE_IF_ENABLED(fuzzed, guarded, number * 2, text[number], &number);
}

static void make_file(struct file *made)
{
    struct symbol_file own;
    struct elf_section section;

    *made = (struct file){
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
             {.sh_name = 11, .sh_type = SHT_NOTE, .sh_offset = offsetof(struct file, notes)},
             {.sh_name = 25, .sh_type = SHT_PROGBITS, .sh_addr = 0x5000, .sh_size = 1}},
    };
    made->header.e_ident[EI_CLASS] = ELFCLASS64;
    made->header.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(made->names, names, sizeof(names));
    if (symbol_file_open("/proc/self/exe", &own) != 0)
        exit(2);
    for (unsigned i = 0; elf_section_get(&own.symbols, i, &section) == 0; i++)
        if (strcmp(section.name, ".note.stapsdt") == 0 && section.size_bytes <= NOTES_BYTES) {
            memcpy(made->notes, own.symbols.bytes + section.file_offset, section.size_bytes);
            made->sections[2].sh_size = section.size_bytes;
        }
    symbol_file_close(&own);
    if (made->sections[2].sh_size == 0)
        exit(2);
}

static void read_probe(const struct static_probe *probe, unsigned machine)
{
    static const struct elf_memory memory = {.read = read_nothing};
    uint64_t registers[16] = {1, 2, 3, 4, 5, 6, 7, 8}, value;
    struct probe_arguments arguments;

    if (strlen(probe->provider) != probe->provider_length || strlen(probe->name) != probe->name_length ||
        strlen(probe->arguments) != probe->arguments_length)
        abort();
    probe_arguments_parse(probe->arguments, probe->arguments_length, abi_probe_operands(machine), &arguments);
    if (arguments.count > PROBE_ARGUMENTS_MAX)
        abort();
    for (uint32_t i = 0; i < arguments.count; i++) {
        struct probe_operand *operand = &arguments.operands[i];

        if (operand->kind == PROBE_OPERAND_SYMBOL &&
            (operand->symbol < probe->arguments || operand->symbol_length == 0))
            abort();
        probe_operand_resolve(operand, 0x1000);
        probe_operand_move(operand, 0x7000);
        (void)probe_operand_evaluate(operand, (struct probe_registers){registers, 16}, &memory, &value);
    }
}

static uint64_t read_all(const struct file *file)
{
    struct static_probe_cursor cursor;
    struct static_probe probe;
    struct elf_symbols symbols;
    uint64_t count = 0;

    if (elf_symbols_parse(file, sizeof(*file), &symbols) != 0)
        return 0;
    static_probe_cursor_init(&cursor, &symbols);
    for (; static_probe_cursor_next(&cursor, &probe); count++)
        read_probe(&probe, count % 2 == 0 ? EM_X86_64 : EM_AARCH64);
    return count;
}

/* In the notes mostly, sometimes in headers. */
static void damage(struct random *random, struct file *file, uint64_t notes_bytes)
{
    static const char letters[] = "%@()$,[]-+ 0189axrbspid";
    uint64_t count = 1 + random_below(random, DAMAGES_MAX);

    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = random_below(random, notes_bytes);

        if (random_chance(random, 1, 12))
            ((uint8_t *)file->sections)[random_below(random, sizeof(file->sections))] = (uint8_t)random_edge(random);
        else if (random_chance(random, 1, 2))
            file->notes[at] = (uint8_t)letters[random_below(random, sizeof(letters) - 1)];
        else
            file->notes[at] = (uint8_t)random_edge(random);
    }
}

int main(int argc, char **argv)
{
    struct fuzz_arguments arguments;
    uint64_t cases = 0, probes = 0;
    struct file *copy = malloc(sizeof(*copy));
    struct file original;
    time_t start = time(NULL);

    if (copy == NULL || !fuzz_arguments_read(argc, argv, "", &arguments))
        return 2;
    pass(1, "text");
    make_file(&original);
    if (read_all(&original) < 3)
        return 2;
    for (; (uint64_t)(time(NULL) - start) < arguments.seconds; cases++) {
        struct random random;

        random_init(&random, random_seed_derive(arguments.seed, cases));
        alarm(CASE_SECONDS_MAX);
        *copy = original;
        damage(&random, copy, original.sections[2].sh_size);
        probes += read_all(copy);
    }
    printf("seed %" PRIu64 ": %" PRIu64 " damaged files with %" PRIu64 " probes\n", arguments.seed, cases, probes);
    free(copy);
    return 0;
}
