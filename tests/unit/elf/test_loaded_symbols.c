/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "elf/loaded_symbols.h"

#include "elf/loaded_image.h"
#include "process/memory_probe.h"
#include "support/check.h"
#include "support/random.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>
#include <time.h>

static struct elf_loaded_image read_image(uint64_t base)
{
    struct elf_loaded_image image = {.base = 0};

    CHECK_EQUAL(elf_loaded_image_read(&memory_probe_reader, base, &image), 0);
    return image;
}

struct comparison {
    void *handle;
    unsigned count;
    unsigned imports;
    unsigned same;
};

static bool compare(void *context, const struct elf_loaded_symbol *symbol)
{
    struct comparison *comparison = context;

    CHECK_EQUAL(strlen(symbol->name), symbol->name_length);
    if (symbol->address == 0) {
        comparison->imports++;
        return true;
    }
    comparison->count++;
    if (symbol->kind == STT_FUNC)
        comparison->same += dlsym(comparison->handle, symbol->name) == (void *)(uintptr_t)symbol->address;
    return true;
}

static void names_are_those_that_the_loader_finds(void)
{
    struct comparison comparison = {.handle = dlopen("libc.so.6", RTLD_NOW)};
    struct elf_loaded_image image = read_image(((const struct link_map *)comparison.handle)->l_addr);
    uint64_t address = 0;

    CHECK_EQUAL(elf_loaded_symbols_visit(&memory_probe_reader, &image, compare, &comparison), 0);
    CHECK(comparison.count > 1500);
    CHECK(comparison.imports > 3);
    /* Some have several versions, and some are not for programs. */
    CHECK(comparison.same > 1000);
    CHECK_EQUAL(elf_loaded_symbols_find(&memory_probe_reader, &image, "qsort", &address), 0);
    CHECK_EQUAL(address, (uintptr_t)dlsym(comparison.handle, "qsort"));
    CHECK_EQUAL(elf_loaded_symbols_find(&memory_probe_reader, &image, "qsor", &address), -ENOENT);
    CHECK_EQUAL(elf_loaded_symbols_find(&memory_probe_reader, &image, "qsort_and_more", &address), -ENOENT);
    /* Imported, not defined. */
    CHECK_EQUAL(elf_loaded_symbols_find(&memory_probe_reader, &image, "_dl_argv", &address), -ENOENT);
}

static void the_vdso_has_names(void)
{
    struct elf_loaded_image image = read_image(getauxval(AT_SYSINFO_EHDR));
    uint64_t address = 0;
    struct timespec time = {0};
    int (*gettime)(clockid_t clock, struct timespec * time);

    CHECK_EQUAL(elf_loaded_symbols_find(&memory_probe_reader, &image, "__vdso_clock_gettime", &address), 0);
    CHECK(address > image.base && address < image.end);
    memcpy(&gettime, &address, sizeof(gettime));
    CHECK_EQUAL(gettime(CLOCK_MONOTONIC, &time), 0);
    CHECK(time.tv_sec > 0);
}

static bool stop_at_third(void *context, const struct elf_loaded_symbol *symbol)
{
    unsigned *count = context;

    (void)symbol;
    return ++*count < 3;
}

static void a_visit_can_be_ended(void)
{
    struct elf_loaded_image image = read_image(getauxval(AT_BASE));
    unsigned count = 0;

    CHECK_EQUAL(elf_loaded_symbols_visit(&memory_probe_reader, &image, stop_at_third, &count), 0);
    CHECK_EQUAL(count, 3);
}

/* The loader's read-only parts and dynamic section, with some bytes of them wrong. */
static struct {
    uint64_t start;
    uint64_t end;
    uint64_t places[16];
    uint8_t values[16];
    unsigned count;
} damage;

static bool read_damaged(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    (void)context;
    if (memory_probe_copy(address, bytes_out, size_bytes) != 0)
        return false;
    for (unsigned i = 0; i < damage.count; i++)
        if (damage.places[i] - address < size_bytes)
            ((uint8_t *)bytes_out)[damage.places[i] - address] = damage.values[i];
    return true;
}

static bool count_symbol(void *context, const struct elf_loaded_symbol *symbol)
{
    CHECK(symbol->name_length < ELF_LOADED_NAME_BYTES);
    ++*(unsigned *)context;
    return *(unsigned *)context < 2000;
}

static void damaged_tables_do_no_harm(void)
{
    const struct elf_memory damaged = {.read = read_damaged};
    struct elf_loaded_image image = read_image(getauxval(AT_BASE));
    struct random random;
    unsigned count = 0, whole = 0;

    random_init(&random, 77);
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t place = i % 2 == 0 ? image.dynamic : image.segments[0].start;
        uint64_t span = i % 2 == 0 ? image.dynamic_bytes : 0x600;

        damage.count = 1 + i % 8;
        for (unsigned j = 0; j < damage.count; j++) {
            damage.places[j] = place + random_below(&random, span);
            damage.values[j] = (uint8_t)random_u64(&random);
        }
        count = 0;
        whole += elf_loaded_symbols_visit(&damaged, &image, count_symbol, &count) == 0;
    }
    CHECK(whole > 100 && whole < 3000);
}

static const struct check_case cases[] = {
    CHECK_CASE(names_are_those_that_the_loader_finds),
    CHECK_CASE(the_vdso_has_names),
    CHECK_CASE(a_visit_can_be_ended),
    CHECK_CASE(damaged_tables_do_no_harm),
};

CHECK_MAIN(cases)
