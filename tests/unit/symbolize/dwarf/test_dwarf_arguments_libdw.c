/* SPDX-License-Identifier: MIT */
#include "symbolize/dwarf/dwarf_arguments.h"

#include "support/check.h"
#include "support/described_functions.h"
#include "support/random.h"
#include "support/trace_folder.h"

#include <elf.h>
#include <errno.h>
#include <link.h>

extern const char __executable_start[];

static struct dwarf_arguments *file;
static struct dwarf_function function;

/* As the file of this program has it. */
static uint64_t place_of(const void *address)
{
    const ElfW(Ehdr) *header = (const void *)__executable_start;

    return (uintptr_t)address - (header->e_type == ET_DYN ? (uintptr_t)__executable_start : 0);
}

static void find(const void *address)
{
    CHECK_EQUAL(dwarf_arguments_find(file, place_of(address), &function), 0);
}

static void check_argument(unsigned which, const char *name, enum detail_type type, unsigned place)
{
    const struct detail_field *field = &function.declaration.fields[which];

    CHECK_TEXT(function.arguments[which].name, name);
    CHECK_EQUAL(field->type, type);
    CHECK_EQUAL(field->place, place);
}

static void types_are_told_from_each_other(void)
{
    find(described_plain);
    CHECK(function.declaration.is_given && !function.declaration.is_partial);
    CHECK_EQUAL(function.declaration.count, 6);
    check_argument(0, "text", DETAIL_TYPE_STRING, 0);
    check_argument(1, "number", DETAIL_TYPE_I32, 1);
    check_argument(2, "small", DETAIL_TYPE_U8, 2);
    check_argument(3, "truth", DETAIL_TYPE_TRUTH, 3);
    check_argument(4, "letter", DETAIL_TYPE_CHARACTER, 4);
    check_argument(5, "sign", DETAIL_TYPE_I32, 5);
    CHECK_EQUAL(function.declaration.result.type, DETAIL_TYPE_U32);
    CHECK_TEXT(dwarf_enumerator_find(&function.arguments[5], -1), "DESCRIBED_MINUS");
    CHECK_TEXT(dwarf_enumerator_find(&function.result, 5), "DESCRIBED_GREEN");
    CHECK(dwarf_enumerator_find(&function.result, 1) == NULL);
    CHECK(dwarf_enumerator_find(&function.arguments[1], 5) == NULL);
}

static void only_pointers_to_char_are_strings(void)
{
    find(described_strings);
    check_argument(0, "text", DETAIL_TYPE_STRING, 0);
    check_argument(1, "bytes", DETAIL_TYPE_POINTER, 1);
    check_argument(2, "list", DETAIL_TYPE_POINTER, 2);
    CHECK_EQUAL(function.declaration.result.type, DETAIL_TYPE_STRING);
    CHECK_EQUAL(function.declaration.result.place, 0);
}

static void floats_are_in_vectors(void)
{
    find(described_doubles);
    check_argument(0, "a", DETAIL_TYPE_DOUBLE, DETAIL_PLACE_VECTOR);
    check_argument(1, "b", DETAIL_TYPE_I32, 0);
    check_argument(2, "c", DETAIL_TYPE_FLOAT, DETAIL_PLACE_VECTOR + 1);
    check_argument(3, "d", DETAIL_TYPE_SKIPPED, DETAIL_PLACE_NONE);
    check_argument(4, "e", DETAIL_TYPE_DOUBLE, DETAIL_PLACE_VECTOR + 2);
    CHECK_EQUAL(function.declaration.result.place, DETAIL_PLACE_VECTOR);
}

static void more_may_follow(void)
{
    find(described_variadic);
    CHECK_EQUAL(function.declaration.count, 1);
    CHECK(function.declaration.is_partial);
}

static void what_is_not_there_is_not_found(void)
{
    struct dwarf_arguments *none = NULL;

    CHECK_EQUAL(dwarf_arguments_find(file, place_of(described_plain) + 1, &function), -ENOENT);
    CHECK_EQUAL(dwarf_arguments_find(file, 0, &function), -ENOENT);
    CHECK_EQUAL(dwarf_arguments_find(file, UINT64_MAX, &function), -ENOENT);
    CHECK_EQUAL(dwarf_arguments_open("/dev/null", &none), -ENOENT);
    CHECK_EQUAL(dwarf_arguments_open("/no/such/file", &none), -ENOENT);
    dwarf_arguments_close(NULL);
}

/* Debug information that was damaged: errors, or something else that is wrong, but nothing worse. */
static void files_may_be_damaged(void)
{
    const void *const places[] = {(const void *)described_plain, (const void *)described_structs,
                                  (const void *)described_many};
    struct trace_folder folder;
    struct random random;
    uint8_t *bytes, *copy;
    long size_bytes;
    char path[128];
    FILE *self = fopen("/proc/self/exe", "r");

    trace_folder_init(&folder);
    snprintf(path, sizeof(path), "%s/damaged", folder.path);
    fseek(self, 0, SEEK_END);
    size_bytes = ftell(self);
    rewind(self);
    bytes = malloc((size_t)size_bytes);
    copy = malloc((size_t)size_bytes);
    CHECK_EQUAL(fread(bytes, 1, (size_t)size_bytes, self), (size_t)size_bytes);
    fclose(self);
    random_init(&random, 23);
    for (unsigned round = 0; round < 12; round++) {
        struct dwarf_arguments *damaged;

        memcpy(copy, bytes, (size_t)size_bytes);
        for (unsigned i = 0; i < 20000; i++)
            copy[4096 + random_below(&random, (uint64_t)size_bytes - 4096)] ^=
                (uint8_t)(1u << random_below(&random, 8));
        trace_folder_write(&folder, "damaged", copy, (size_t)size_bytes);
        if (dwarf_arguments_open(path, &damaged) != 0)
            continue;
        for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++)
            if (dwarf_arguments_find(damaged, place_of(places[i]), &function) == 0)
                CHECK(function.declaration.count <= DETAIL_FIELDS_MAX);
        dwarf_arguments_close(damaged);
    }
    free(copy);
    free(bytes);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(types_are_told_from_each_other), CHECK_CASE(only_pointers_to_char_are_strings),
    CHECK_CASE(floats_are_in_vectors),          CHECK_CASE(more_may_follow),
    CHECK_CASE(what_is_not_there_is_not_found), CHECK_CASE(files_may_be_damaged),
};

int main(void)
{
    int status;

    if (dwarf_arguments_open("/proc/self/exe", &file) != 0)
        check_skip("this test was built without debug information");
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    dwarf_arguments_close(file);
    return status;
}
