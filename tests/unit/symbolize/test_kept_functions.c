/* SPDX-License-Identifier: MIT */
#include "symbolize/kept_functions.h"

#include "elf/symbol_file.h"
#include "support/check.h"
#include "support/kept_name_lookup.h"
#include "support/movable_program.h"
#include "support/trace_folder.h"
#include "symbolize/symbol_index.h"
#include "trace/kept_names.h"

#include <unistd.h>

static struct trace_folder folder;

static const char *name_at(const struct kept_names *names, const struct recorded_module *module, uint64_t address)
{
    const struct kept_function *function;
    uint64_t place;

    if (kept_names_place(names, address - module->start + module->file_offset, &place) != 0)
        return "no code";
    function = kept_name_lookup(names, place);
    return function == NULL ? "none" : names->text + function->name;
}

static bool has_name(const struct kept_names *names, const char *name)
{
    for (size_t i = 0; i < names->function_count; i++)
        if (strcmp(names->text + names->functions[i].name, name) == 0)
            return true;
    return false;
}

static void functions_and_stubs_are_gathered(void)
{
    struct movable_program program;
    struct kept_names names;
    uint64_t first;

    trace_folder_init(&folder);
    movable_program_make(&program, folder.path, "program", "-fno-plt -fplt");
    first = movable_program_address(&program, "first");
    CHECK(kept_functions_gather(&program.module, &names) == NULL);
    CHECK_TEXT(name_at(&names, &program.module, first), "first");
    CHECK_TEXT(name_at(&names, &program.module, first + 1), "first");
    CHECK_TEXT(name_at(&names, &program.module, movable_program_address(&program, "main")), "main");
    CHECK(has_name(&names, "puts@plt"));
    CHECK_TEXT(names.path, program.path);
    CHECK(kept_names_are_of(&names, &program.module));
    CHECK(names.file.build_id_bytes != 0 && names.file.file_crc == 0);
    kept_names_deinit(&names);
    trace_folder_deinit(&folder);
}

/* A search in what was gathered finds what one in the file does, at each address. */
static void nothing_that_can_be_found_is_left_out(void)
{
    struct recorded_module module = {.path = (char *)(uintptr_t) "/proc/self/exe"};
    struct kept_names names;
    struct symbol_file file;
    struct symbol_index index;
    uint64_t found = 0, start, end;

    CHECK(kept_functions_gather(&module, &names) == NULL);
    CHECK_EQUAL(symbol_file_open("/proc/self/exe", &file), 0);
    CHECK_EQUAL(symbol_index_make(&index, &file.symbols), 0);
    CHECK(names.function_count <= index.count + 1000 && names.file.segment_count >= 1);
    start = names.segments[0].address;
    end = start + names.segments[0].size_bytes;
    for (uint64_t address = start; address < end; address++) {
        const struct elf_symbol *symbol = symbol_index_find(&index, address);
        const struct kept_function *function = kept_name_lookup(&names, address);
        const char *name = function == NULL ? "" : names.text + function->name;

        if (symbol == NULL) {
            if (function != NULL && strstr(name, "@plt") == NULL)
                CHECK_TEXT(name, "");
            continue;
        }
        found++;
        if (strlen(name) != symbol->name_length || memcmp(name, symbol->name, symbol->name_length) != 0)
            CHECK_TEXT(name, symbol->name);
    }
    CHECK(found > 1000);
    symbol_index_deinit(&index);
    symbol_file_close(&file);
    kept_names_deinit(&names);
}

static void problem(const struct recorded_module *module, const char *expected)
{
    struct kept_names names;
    const char *found = kept_functions_gather(module, &names);

    CHECK_TEXT(found == NULL ? "" : found, expected);
    if (found == NULL)
        kept_names_deinit(&names);
}

static void other_files_are_not_gathered(void)
{
    struct movable_program program;

    trace_folder_init(&folder);
    movable_program_make(&program, folder.path, "program", "");
    program.module.build_id[0] ^= 1;
    problem(&program.module, "has changed since");
    unlink(program.path);
    problem(&program.module, "is gone");
    trace_folder_write(&folder, "program", "\177ELF and nothing else", 21);
    problem(&program.module, "is no program or library");
    problem(&(struct recorded_module){.path = (char *)(uintptr_t) "/tmp"}, "is no program or library");
    problem(&(struct recorded_module){.path = (char *)(uintptr_t) "/dev/zero"}, "is no program or library");
    problem(&(struct recorded_module){.path = (char *)(uintptr_t) "[vdso]"}, "is gone");
    problem(&(struct recorded_module){.path = (char *)(uintptr_t) "relative"}, "is gone");
    trace_folder_deinit(&folder);
}

static void without_a_build_id_there_is_a_sum(void)
{
    struct movable_program program;
    struct kept_names names;

    trace_folder_init(&folder);
    movable_program_make(&program, folder.path, "program", "-Wl,--build-id=none");
    CHECK_EQUAL(program.module.build_id_bytes, 0);
    CHECK(kept_functions_gather(&program.module, &names) == NULL);
    CHECK(names.file.build_id_bytes == 0 && names.file.file_crc != 0);
    kept_names_deinit(&names);
    trace_folder_deinit(&folder);
}

/* As some systems leave them. */
static void packed_names_are_unpacked(void)
{
    struct movable_program program;
    struct kept_names names;
    uint64_t second;

    trace_folder_init(&folder);
    movable_program_make(&program, folder.path, "program", "");
    second = movable_program_address(&program, "second");
    if (!movable_program_run(folder.path, "objcopy --only-keep-debug program d && xz d && strip program && "
                                          "objcopy --add-section .gnu_debugdata=d.xz program"))
        check_skip("there is no objcopy, or no xz");
    CHECK(kept_functions_gather(&program.module, &names) == NULL);
    CHECK_TEXT(name_at(&names, &program.module, second), "second");
    CHECK(has_name(&names, "puts@plt"));
    kept_names_deinit(&names);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_and_stubs_are_gathered), CHECK_CASE(nothing_that_can_be_found_is_left_out),
    CHECK_CASE(other_files_are_not_gathered),     CHECK_CASE(without_a_build_id_there_is_a_sum),
    CHECK_CASE(packed_names_are_unpacked),
};

CHECK_MAIN(cases)
