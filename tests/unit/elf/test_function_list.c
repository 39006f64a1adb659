/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "elf/function_list.h"

#include "support/check.h"
#include "support/handmade_functions.h"
#include "support/random.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>

#define MUTATIONS 20000

static struct handmade_functions made;
static struct elf_function functions[64];
static struct elf_symbols symbols;
static struct eh_frame frame;
static struct elf_function_list list;

static int fill(const struct elf_symbols *names)
{
    list = (struct elf_function_list){.functions = functions, .capacity = 64};
    CHECK_EQUAL(elf_symbols_parse(&made, sizeof(made), &symbols), 0);
    CHECK_EQUAL(elf_function_list_frame(&symbols, &frame), 0);
    return elf_function_list_fill(&list, &symbols, names, &frame);
}

static bool has_name(const struct elf_function *function, const char *name)
{
    return function->name != NULL && function->name_length == strlen(name) &&
           memcmp(function->name, name, function->name_length) == 0;
}

static void all_functions_are_listed_once(void)
{
    static const struct {
        uint64_t start, size_bytes, covered_end;
        const char *name;
        bool has_frame, is_part, is_label, is_resolver;
    } expected[] = {
        {0x1000, 0x10, 0x1010, "first", .has_frame = true},
        {0x1004, 4, 0x1010, NULL, .has_frame = true, .is_part = true},
        {0x1008, 0, 0x1020, "label", .is_label = true},
        {0x1020, 0x10, 0x1030, "sized", .has_frame = true},
        {0x1040, 8, 0x1048, "resolver", .is_resolver = true},
        {0x1050, 8, 0x1058, "assembly", .has_frame = true},
        {0x1060, 8, 0x1068, "first.cold", .has_frame = true, .is_part = true},
        {0x1070, 0x10, 0x1080, NULL, .has_frame = true},
        {0x1080, 8, 0x1088, NULL, .has_frame = true, .is_part = true},
        {0x10f0, 0x10, 0x1100, "long", .is_part = false},
    };
    const size_t count = sizeof(expected) / sizeof(expected[0]);

    handmade_functions_make(&made);
    CHECK_EQUAL(fill(NULL), 0);
    CHECK_EQUAL(list.count, count);
    for (size_t i = 0; i < count && i < list.count; i++) {
        const struct elf_function *function = &functions[i];

        CHECK_EQUAL(function->start, expected[i].start);
        CHECK_EQUAL(function->size_bytes, expected[i].size_bytes);
        CHECK_EQUAL(function->covered_end, expected[i].covered_end);
        CHECK(expected[i].name == NULL ? function->name == NULL : has_name(function, expected[i].name));
        CHECK_EQUAL(function->frame_offset != 0, expected[i].has_frame);
        CHECK_EQUAL(function->is_part, expected[i].is_part);
        CHECK_EQUAL(function->is_label, expected[i].is_label);
        CHECK_EQUAL(function->is_resolver, expected[i].is_resolver);
    }
}

static void frames_are_found_by_their_offset(void)
{
    handmade_functions_make(&made);
    CHECK_EQUAL(fill(NULL), 0);
    for (size_t i = 0; i < list.count; i++) {
        size_t offset = functions[i].frame_offset - 1;
        struct eh_frame_entry entry;

        if (functions[i].frame_offset == 0)
            continue;
        CHECK_EQUAL(eh_frame_next(&frame, &offset, &entry), 1);
        CHECK_EQUAL(entry.start, functions[i].start);
    }
}

static void other_files_may_have_names(void)
{
    struct handmade_functions debug;
    struct elf_symbols names;

    handmade_functions_make(&made);
    handmade_functions_make(&debug);
    strcpy(debug.names + debug.symbols[3].st_name, "inner");
    debug.symbols[3].st_value = 0x1070;
    debug.symbols[3].st_info = STT_FUNC;
    CHECK_EQUAL(elf_symbols_parse(&debug, sizeof(debug), &names), 0);
    CHECK_EQUAL(fill(&names), 0);
    CHECK_EQUAL(list.count, 10);
    CHECK(has_name(elf_function_list_find(&list, 0x1070), "inner"));
}

static void functions_are_found_by_address(void)
{
    handmade_functions_make(&made);
    CHECK_EQUAL(fill(NULL), 0);
    CHECK(elf_function_list_find(&list, 0xfff) == NULL);
    CHECK(elf_function_list_find(&list, 0x1000) == &functions[0]);
    CHECK(elf_function_list_find(&list, 0x1003) == &functions[0]);
    CHECK(elf_function_list_find(&list, 0x1004) == &functions[1]);
    CHECK(elf_function_list_find(&list, 0x1035) == &functions[3]);
    CHECK(elf_function_list_find(&list, UINT64_MAX) == &functions[9]);
    list.count = 0;
    CHECK(elf_function_list_find(&list, 0x1000) == NULL);
}

static void the_capacity_suffices_and_is_kept(void)
{
    size_t capacity;

    handmade_functions_make(&made);
    CHECK_EQUAL(fill(NULL), 0);
    capacity = elf_function_list_capacity(&symbols, &frame);
    CHECK_EQUAL(capacity, 12 + 10);
    list.capacity = capacity;
    CHECK_EQUAL(elf_function_list_fill(&list, &symbols, NULL, &frame), 0);
    list.capacity = 12;
    CHECK_EQUAL(elf_function_list_fill(&list, &symbols, NULL, &frame), -ENOSPC);
    CHECK_EQUAL(elf_function_list_capacity(&symbols, &(struct eh_frame){0}), 12);
    list.capacity = 64;
    CHECK_EQUAL(elf_function_list_fill(&list, &symbols, NULL, NULL), 0);
    CHECK_EQUAL(list.count, 7);
    made.segments[2].p_type = PT_NULL;
    CHECK_EQUAL(elf_function_list_frame(&symbols, &frame), -ENOENT);
}

static uint8_t *read_whole(const char *path, size_t *size_out)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;

    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    *size_out = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*size_out);
    if (fread(bytes, 1, *size_out, file) != *size_out)
        abort();
    fclose(file);
    return bytes;
}

static void a_library_has_all_functions_that_the_loader_knows(void)
{
    size_t size = 0, unnamed = 0;
    Dl_info info;
    uint8_t *bytes;

    CHECK(dladdr((void *)(uintptr_t)gnu_get_libc_version, &info) != 0);
    bytes = read_whole(info.dli_fname, &size);
    CHECK_EQUAL(elf_symbols_parse(bytes, size, &symbols), 0);
    CHECK_EQUAL(elf_function_list_frame(&symbols, &frame), 0);
    list = (struct elf_function_list){.capacity = elf_function_list_capacity(&symbols, &frame)};
    list.functions = calloc(list.capacity, sizeof(*list.functions));
    CHECK_EQUAL(elf_function_list_fill(&list, &symbols, NULL, &frame), 0);
    CHECK(list.count > 1000);
    for (size_t i = 0; i < list.count; i++) {
        CHECK(i == 0 || list.functions[i].start > list.functions[i - 1].start);
        unnamed += list.functions[i].name == NULL && !list.functions[i].is_part;
    }
    CHECK(unnamed > 100);
    for (uint64_t i = 0; i < elf_symbols_count(&symbols); i++) {
        struct elf_symbol symbol;
        const struct elf_function *function;

        if (elf_symbols_get(&symbols, i, &symbol) != 0 || !symbol.is_function)
            continue;
        function = elf_function_list_find(&list, symbol.address);
        CHECK(function != NULL && function->start == symbol.address && function->size_bytes >= symbol.size_bytes);
        CHECK(function != NULL && !function->is_label && function->name != NULL);
    }
    free(list.functions);
    free(bytes);
}

static uint64_t checksum;

static void try_bytes(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size == 0 ? 1 : size);

    memcpy(exact, bytes, size);
    if (elf_symbols_parse(exact, size, &symbols) == 0) {
        if (elf_function_list_frame(&symbols, &frame) != 0)
            frame = (struct eh_frame){0};
        list = (struct elf_function_list){.functions = functions, .capacity = 64};
        if (elf_function_list_fill(&list, &symbols, NULL, &frame) == 0)
            CHECK(list.count <= elf_function_list_capacity(&symbols, &frame));
        for (size_t i = 0; i < list.count; i++)
            for (size_t j = 0; j < functions[i].name_length; j++)
                checksum += (uint8_t)functions[i].name[j];
    }
    free(exact);
}

static void truncated_and_mutated_files_do_no_harm(void)
{
    static struct handmade_functions mutated;
    struct random random;

    handmade_functions_make(&made);
    random_init(&random, 12);
    for (size_t cut = 0; cut < sizeof(made); cut += 3)
        try_bytes((const uint8_t *)&made, cut);
    for (unsigned round = 0; round < MUTATIONS; round++) {
        uint8_t *bytes = (uint8_t *)&mutated;

        mutated = made;
        for (uint64_t changes = 1 + random_below(&random, 4); changes > 0; changes--) {
            size_t at = random_below(&random, sizeof(made) - 8);
            uint64_t edge = random_edge(&random);

            if (random_chance(&random, 1, 2))
                memcpy(bytes + at, &edge, 8);
            else
                bytes[at] = (uint8_t)random_u64(&random);
        }
        try_bytes(bytes, sizeof(mutated));
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(all_functions_are_listed_once),
    CHECK_CASE(frames_are_found_by_their_offset),
    CHECK_CASE(other_files_may_have_names),
    CHECK_CASE(functions_are_found_by_address),
    CHECK_CASE(the_capacity_suffices_and_is_kept),
    CHECK_CASE(a_library_has_all_functions_that_the_loader_knows),
    CHECK_CASE(truncated_and_mutated_files_do_no_harm),
};

CHECK_MAIN(cases)
