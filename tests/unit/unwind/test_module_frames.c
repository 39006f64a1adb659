/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "unwind/module_frames.h"

#include "arch/arch.h"
#include "support/check.h"
#include "support/frame_sections.h"
#include "support/plugin_modules.h"
#include "support/random.h"
#include "unwind/unwind_rule.h"

#include <elf.h>
#include <errno.h>
#include <sys/mman.h>

static const struct arch_frame_registers numbers = {.stack_pointer = 7, .frame_pointer = 6, .return_address = 16};

static void tables_are_those_of_the_section_in_memory(void)
{
    static struct loaded_frames loaded[LOADED_FRAMES_MAX];
    size_t count = loaded_frames_list(loaded);

    for (size_t i = 0; i < count; i++) {
        struct unwind_range range = {loaded[i].code_start, loaded[i].code_end};
        struct module_frames *frames;
        struct unwind_table table;

        CHECK_EQUAL(module_frames_create(loaded[i].base, &numbers, &frames), 0);
        CHECK_EQUAL(unwind_table_make(&table, &loaded[i].frame, range, &numbers), 0);
        CHECK_EQUAL(frames->base, loaded[i].base);
        CHECK_EQUAL(frames->table.row_count, table.row_count);
        CHECK(memcmp(frames->table.rows, table.rows, table.row_count * sizeof(table.rows[0])) == 0);
        CHECK(frames->table.frame.bytes != loaded[i].frame.bytes);
        CHECK(frames->table.frame.size_bytes <= loaded[i].frame.size_bytes);
        CHECK(module_frames_are_current(frames));
        unwind_table_deinit(&table);
        module_frames_destroy(frames);
    }
    CHECK(count >= 3);
}

static void what_is_no_module_is_an_error(void)
{
    struct module_frames *frames;
    uint8_t *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK_EQUAL(module_frames_create(0, &numbers, &frames), -EFAULT);
    CHECK_EQUAL(module_frames_create(UINT64_MAX - 100, &numbers, &frames), -EFAULT);
    CHECK_EQUAL(module_frames_create((uintptr_t)page, &numbers, &frames), -ENOEXEC);
    munmap(page + 4096, 4096);
    CHECK_EQUAL(module_frames_create((uintptr_t)page + 4090, &numbers, &frames), -EFAULT);
    munmap(page, 4096);
}

static void a_module_in_the_place_of_another_is_noticed(void)
{
    struct plugin_modules plugins;
    struct module_frames *frames;
    unsigned replaced = 0;

    plugin_modules_init(&plugins);
    for (unsigned i = 0; i < PLUGIN_COUNT; i++) {
        struct plugin first = plugin_load(&plugins, i), second;

        CHECK_EQUAL(module_frames_create(first.base, &numbers, &frames), 0);
        CHECK(module_frames_are_current(frames));
        plugin_unload(&first);
        CHECK(!module_frames_are_current(frames));
        second = plugin_load(&plugins, (i + 1) % PLUGIN_COUNT);
        replaced += second.base == first.base;
        CHECK(!module_frames_are_current(frames));
        plugin_unload(&second);
        module_frames_destroy(frames);
    }
    CHECK(replaced > 0);
    plugin_modules_deinit(&plugins);
}

/* The first pages of libc, with what its headers lead to, and some bytes of them changed. */
static void damaged_headers_do_no_harm(void)
{
    struct loaded_frames libc = loaded_frames_of("libc.so");
    uint8_t *copy = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct random random;
    unsigned failed = 0;

    random_init(&random, 17);
    for (unsigned round = 0; round < 2000; round++) {
        struct module_frames *frames;
        int result;

        memcpy(copy, (const void *)(uintptr_t)libc.base, 4096);
        for (unsigned i = 0; i < 1 + round % 30; i++)
            copy[random_below(&random, sizeof(Elf64_Ehdr) + 14 * sizeof(Elf64_Phdr))] = (uint8_t)random_u64(&random);
        result = module_frames_create((uintptr_t)copy, &numbers, &frames);
        if (result == 0)
            module_frames_destroy(frames);
        CHECK(result == 0 || result == -ENOEXEC || result == -ENOENT || result == -EFAULT || result == -E2BIG ||
              result == -ENOMEM);
        failed += result != 0;
    }
    CHECK(failed > 100);
    munmap(copy, 4096);
}

static const struct check_case cases[] = {
    CHECK_CASE(tables_are_those_of_the_section_in_memory),
    CHECK_CASE(what_is_no_module_is_an_error),
    CHECK_CASE(a_module_in_the_place_of_another_is_noticed),
    CHECK_CASE(damaged_headers_do_no_harm),
};

CHECK_MAIN(cases)
