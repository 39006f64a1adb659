/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "elf/loaded_imports.h"

#include "elf/loaded_image.h"
#include "process/memory_probe.h"
#include "support/check.h"
#include "support/random.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

extern char **environ;

static struct elf_loaded_image own_image(void)
{
    struct elf_loaded_image image = {.base = 0};
    Dl_info info;

    CHECK(dladdr((const void *)&own_image, &info) != 0);
    CHECK_EQUAL(elf_loaded_image_read(&memory_probe_reader, (uintptr_t)info.dli_fbase, &image), 0);
    return image;
}

struct counts {
    unsigned all;
    unsigned resolved;
    unsigned with_getppid;
};

/* To which slots lead whose functions were not called yet. */
static bool is_own_code(uint64_t address)
{
    Dl_info info, own;

    return dladdr((const void *)(uintptr_t)address, &info) != 0 &&
           dladdr((const void *)(uintptr_t)is_own_code, &own) != 0 && info.dli_fbase == own.dli_fbase;
}

static bool count(void *context, const struct elf_loaded_import *import)
{
    struct counts *counts = context;
    void *expected;

    /* First: what is called here may be resolved by that. */
    CHECK_EQUAL(*(const uint64_t *)(uintptr_t)import->slot, import->target);
    CHECK_EQUAL(strlen(import->name), import->name_length);
    expected = dlsym(RTLD_DEFAULT, import->name);
    counts->all += import->is_own || !is_own_code(import->target);
    counts->resolved += expected != NULL && import->target == (uintptr_t)expected;
    if (strcmp(import->name, "getppid") == 0) {
        CHECK(!import->is_own);
        CHECK_EQUAL(import->target, (uintptr_t)expected);
        counts->with_getppid++;
    }
    return true;
}

static void slots_have_the_names_of_what_they_lead_to(void)
{
    struct elf_loaded_image image = own_image();
    struct counts counts = {0};

    /* So that it is resolved, however late that is done. */
    CHECK(getppid() > 0);
    CHECK_EQUAL(elf_loaded_imports_visit(&memory_probe_reader, &image, count, &counts), 0);
    CHECK(counts.all > 8);
    CHECK(counts.resolved * 4 > counts.all);
    CHECK_EQUAL(counts.with_getppid, 1);
}

static bool stop(void *context, const struct elf_loaded_import *import)
{
    (void)import;
    return ++*(unsigned *)context < 3;
}

static void a_visit_can_be_ended(void)
{
    struct elf_loaded_image image = own_image();
    unsigned seen = 0;

    CHECK_EQUAL(elf_loaded_imports_visit(&memory_probe_reader, &image, stop, &seen), 0);
    CHECK_EQUAL(seen, 3);
}

static void the_vdso_wants_nothing(void)
{
    struct elf_loaded_image image;
    unsigned seen = 0;

    CHECK_EQUAL(elf_loaded_image_read(&memory_probe_reader, getauxval(AT_SYSINFO_EHDR), &image), 0);
    CHECK_EQUAL(elf_loaded_imports_visit(&memory_probe_reader, &image, stop, &seen), -ENOENT);
}

static struct {
    uint64_t places[8];
    uint8_t values[8];
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

static bool check_slot(void *context, const struct elf_loaded_import *import)
{
    const struct elf_loaded_image *image = context;

    CHECK(import->slot >= image->base && import->slot < image->end);
    return true;
}

static void damaged_tables_do_no_harm(void)
{
    const struct elf_memory damaged = {.read = read_damaged};
    struct elf_loaded_image image = own_image();
    struct random random;

    random_init(&random, 8);
    for (unsigned i = 0; i < 2000; i++) {
        damage.count = 1 + i % 8;
        for (unsigned j = 0; j < damage.count; j++) {
            uint64_t place = i % 2 == 0 ? image.dynamic : image.segments[0].start + 0x200;
            uint64_t span = i % 2 == 0 ? image.dynamic_bytes : image.segments[0].end - place;

            damage.places[j] = place + random_below(&random, span);
            damage.values[j] = (uint8_t)random_u64(&random);
        }
        (void)!elf_loaded_imports_visit(&damaged, &image, check_slot, &image);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(slots_have_the_names_of_what_they_lead_to),
    CHECK_CASE(a_visit_can_be_ended),
    CHECK_CASE(the_vdso_wants_nothing),
    CHECK_CASE(damaged_tables_do_no_harm),
};

CHECK_MAIN(cases)
