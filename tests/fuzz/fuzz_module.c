/* SPDX-License-Identifier: MIT */
/*
 * Reads a loaded image whose memory is damaged at random, until the time is up: --seconds N --seed S. Headers, the
 * dynamic section, hash tables, symbols, relocations and notes may have anything in them: there is an answer
 * or an error; crashes and hangs end the program. So with files: symbols, sections, imports. And with patterns.
 */
#define _GNU_SOURCE
#include "elf/build_id.h"
#include "elf/imports.h"
#include "elf/loaded_image.h"
#include "elf/loaded_imports.h"
#include "elf/loaded_symbols.h"
#include "elf/sections.h"
#include "elf/symbol_entries.h"
#include "elf/symbols.h"
#include "process/memory_pattern.h"
#include "support/fuzz_arguments.h"
#include "support/random.h"

#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

/* A case takes milliseconds. */
#define CASE_SECONDS_MAX 60
#define VISITS_MAX       20000u

/* A copy of the loader's image, as it is in memory; holes are zeroes. */
static uint8_t *original, *damaged;
static uint64_t image_base;
static size_t image_bytes;
static const char *image_path;

static bool read_copy(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    (void)context;
    if (address < image_base || address - image_base > image_bytes || image_bytes - (address - image_base) < size_bytes)
        return false;
    memcpy(bytes_out, damaged + (address - image_base), size_bytes);
    return true;
}

static const struct elf_memory memory = {.read = read_copy};

static int copy_image(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    (void)size_bytes;
    (void)context;
    if (info->dlpi_addr != getauxval(AT_BASE))
        return 0;
    image_base = info->dlpi_addr;
    image_path = info->dlpi_name;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz > image_bytes)
            image_bytes = info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    original = calloc(1, image_bytes);
    damaged = malloc(image_bytes);
    for (unsigned i = 0; i < info->dlpi_phnum && original != NULL; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            memcpy(original + info->dlpi_phdr[i].p_vaddr, (const void *)(image_base + info->dlpi_phdr[i].p_vaddr),
                   info->dlpi_phdr[i].p_memsz);
    return 1;
}

static void damage(struct random *random, uint8_t *bytes, size_t size_bytes, size_t changes)
{
    for (; changes > 0; changes--) {
        size_t at = random_below(random, size_bytes);
        uint64_t edge = random_edge(random);

        memcpy(bytes + at, &edge, size_bytes - at < sizeof(edge) ? size_bytes - at : 1 + random_below(random, 8));
    }
}

static bool take_symbol(void *context, const struct elf_loaded_symbol *symbol)
{
    if (strlen(symbol->name) != symbol->name_length)
        abort();
    return ++*(unsigned *)context < VISITS_MAX;
}

static bool take_import(void *context, const struct elf_loaded_import *import)
{
    if (strlen(import->name) != import->name_length)
        abort();
    return ++*(unsigned *)context < VISITS_MAX;
}

static void read_memory(struct random *random)
{
    struct elf_loaded_image image, sound;
    uint8_t build_id[64];
    unsigned visits = 0;
    size_t size_bytes;

    memcpy(damaged, original, image_bytes);
    if (elf_loaded_image_read(&memory, image_base, &sound) != 0)
        abort();
    /* Mostly where it counts. */
    damage(random, damaged, random_chance(random, 1, 2) ? 1024 : 0x2000, random_below(random, 6));
    damage(random, damaged + (sound.dynamic - image_base), (size_t)sound.dynamic_bytes, random_below(random, 6));
    (void)!elf_build_id_read(&memory, image_base, build_id, sizeof(build_id), &size_bytes);
    if (elf_loaded_image_read(&memory, image_base, &image) != 0)
        image = sound;
    (void)!elf_loaded_symbols_visit(&memory, &image, take_symbol, &visits);
    visits = 0;
    (void)!elf_loaded_imports_visit(&memory, &image, take_import, &visits);
}

static void read_file(struct random *random, const uint8_t *file, size_t size_bytes, uint8_t *copy)
{
    struct elf_symbol_entry entry;
    struct elf_section section;
    struct elf_symbols symbols;
    const char *name;
    size_t length;

    memcpy(copy, file, size_bytes);
    damage(random, copy, random_chance(random, 1, 2) ? sizeof(Elf64_Ehdr) : size_bytes, random_below(random, 10));
    damage(random, copy + size_bytes - size_bytes / 20, size_bytes / 20, random_below(random, 10));
    if (elf_symbols_parse(copy, size_bytes, &symbols) != 0)
        return;
    for (uint64_t i = 0; i < elf_symbols_count(&symbols) && i < VISITS_MAX; i++)
        if (elf_symbol_entry_get(&symbols, i, &entry) == 0 && memchr(entry.name, '\0', entry.name_length) != NULL)
            abort();
    for (unsigned i = 0; i < elf_sections_count(&symbols); i++)
        if (elf_section_get(&symbols, i, &section) == 0 && strlen(section.name) != section.name_length)
            abort();
    (void)!elf_imports_find(&symbols, random_u64(random) % 0x40000, &name, &length);
}

static void read_pattern(struct random *random)
{
    static const char letters[] = "0123456789abcdefABCDEF??????   ::xg\t";
    char text[1200];
    struct memory_pattern pattern;
    size_t length = random_below(random, random_chance(random, 1, 8) ? sizeof(text) : 40);

    for (size_t i = 0; i < length; i++)
        text[i] = letters[random_below(random, sizeof(letters) - 1)];
    if (memory_pattern_parse(text, length, &pattern) == 0 &&
        memory_pattern_find(&pattern, original, 4096, random_below(random, 5000)) > 4096)
        abort();
}

static uint8_t *load_file(const char *path, size_t *size_out)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes;

    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        exit(2);
    *size_out = (size_t)ftell(file);
    bytes = malloc(*size_out);
    rewind(file);
    if (bytes == NULL || fread(bytes, 1, *size_out, file) != *size_out)
        exit(2);
    fclose(file);
    return bytes;
}

int main(int argc, char **argv)
{
    struct fuzz_arguments arguments;
    uint64_t cases = 0;
    time_t start = time(NULL);
    uint8_t *file, *copy;
    size_t size_bytes;

    if (!fuzz_arguments_read(argc, argv, "", &arguments))
        return 2;
    dl_iterate_phdr(copy_image, NULL);
    if (original == NULL || damaged == NULL)
        return 2;
    file = load_file(image_path, &size_bytes);
    copy = malloc(size_bytes);
    if (copy == NULL)
        return 2;
    for (; (uint64_t)(time(NULL) - start) < arguments.seconds; cases++) {
        struct random random;

        random_init(&random, random_seed_derive(arguments.seed, cases));
        alarm(CASE_SECONDS_MAX);
        read_memory(&random);
        read_file(&random, file, size_bytes, copy);
        read_pattern(&random);
    }
    printf("seed %" PRIu64 ": %" PRIu64 " damaged images\n", arguments.seed, cases);
    free(file);
    free(copy);
    free(original);
    free(damaged);
    return 0;
}
