/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "symbolize/kept_module.h"

#include "support/check.h"
#include "support/movable_program.h"
#include "support/trace_folder.h"
#include "symbolize/function_names.h"
#include "symbolize/kept_functions.h"
#include "symbolize/symbol_index.h"
#include "trace/chunk_encoder.h"
#include "trace/kept_names.h"
#include "trace/modules.h"

#include <errno.h>
#include <unistd.h>

static struct trace_folder folder;
static struct recorded_module module = {
    .path = (char *)(uintptr_t) "/lib/a.so", .build_id_bytes = 3, .build_id = {0xab, 1, 2}, .loaded = 100};

static struct kept_names make(void)
{
    struct kept_names names = {.path = strdup("/lib/a.so"), .segments = calloc(1, sizeof(struct trace_segment))};

    names.file.build_id_bytes = 3;
    memcpy(names.file.build_id, module.build_id, 3);
    CHECK_EQUAL(kept_names_add(&names, 0x1000, 16, "one", 3), 0);
    CHECK_EQUAL(kept_names_add(&names, 0x1004, 4, "two", 3), 0);
    return names;
}

static void keep(void)
{
    struct chunk_encoder *encoder;
    struct kept_names names = make();

    trace_folder_make(&folder, "names");
    CHECK_EQUAL(chunk_encoder_create(true, &encoder), 0);
    CHECK_EQUAL(kept_names_write(&names, folder.fd, "written", encoder, NULL), 0);
    CHECK_EQUAL(renameat(folder.fd, "written", folder.fd, "names/ab0102.gait"), 0);
    chunk_encoder_destroy(encoder);
    kept_names_deinit(&names);
}

static void names_are_found_by_build(void)
{
    struct kept_names names;

    trace_folder_init(&folder);
    CHECK_EQUAL(kept_module_read(folder.fd, &module, &names), -ENOENT);
    keep();
    CHECK_EQUAL(kept_module_read(-1, &module, &names), -ENOENT);
    CHECK_EQUAL(kept_module_read(folder.fd, &module, &names), 0);
    CHECK_EQUAL(names.function_count, 2);
    kept_names_deinit(&names);
    /* Somebody has renamed it. */
    CHECK_EQUAL(renameat(folder.fd, "names/ab0102.gait", folder.fd, "names/cd0102.gait"), 0);
    module.build_id[0] = 0xcd;
    CHECK_EQUAL(kept_module_read(folder.fd, &module, &names), -ENOENT);
    trace_folder_write(&folder, "names/cd0102.gait", "nothing", 7);
    CHECK_EQUAL(kept_module_read(folder.fd, &module, &names), -EPROTO);
    module.build_id[0] = 0xab;
    trace_folder_deinit(&folder);
}

static void they_become_an_index(void)
{
    struct kept_names names = make();
    struct symbol_index index;

    CHECK_EQUAL(kept_module_index(&names, &index), 0);
    CHECK_TEXT(symbol_index_find(&index, 0x1003)->name, "one");
    CHECK_TEXT(symbol_index_find(&index, 0x1004)->name, "two");
    CHECK_TEXT(symbol_index_find(&index, 0x1008)->name, "one");
    CHECK(symbol_index_find(&index, 0x1010) == NULL && symbol_index_find(&index, 0xfff) == NULL);
    symbol_index_deinit(&index);
    kept_names_deinit(&names);
}

static void files_are_compared_by_their_sums(void)
{
    struct kept_names names = make();
    char path[128];

    trace_folder_init(&folder);
    snprintf(path, sizeof(path), "%s/file", folder.path);
    CHECK(!kept_module_is_file(&names, path));
    trace_folder_write(&folder, "file", "123456789", 9);
    names.file.file_bytes = 9;
    CHECK(!kept_module_is_file(&names, path));
    names.file.file_crc = 0xe3069283;
    CHECK(kept_module_is_file(&names, path));
    trace_folder_write(&folder, "file", "123456780", 9);
    CHECK(!kept_module_is_file(&names, path));
    CHECK(!kept_module_is_file(&names, "/tmp"));
    kept_names_deinit(&names);
    trace_folder_deinit(&folder);
}

static void debug_information_is_where_the_trace_is(void)
{
    struct recorded_module other = {.path = (char *)(uintptr_t) "/lib/a.so"};
    char path[256];

    trace_folder_init(&folder);
    kept_module_debug_path(folder.fd, &module, path, sizeof(path));
    CHECK_TEXT(path, "");
    trace_folder_make(&folder, "debug");
    trace_folder_make(&folder, "debug/.build-id");
    trace_folder_make(&folder, "debug/.build-id/ab");
    trace_folder_write(&folder, "debug/.build-id/ab/0102.debug", "x", 1);
    kept_module_debug_path(folder.fd, &module, path, sizeof(path));
    CHECK_EQUAL(access(path, R_OK), 0);
    CHECK(strstr(path, "/debug/.build-id/ab/0102.debug") != NULL);
    kept_module_debug_path(-1, &module, path, sizeof(path));
    CHECK_TEXT(path, "");
    kept_module_debug_path(folder.fd, &other, path, sizeof(path));
    CHECK_TEXT(path, "");
    trace_folder_deinit(&folder);
}

/* ---- in place of files ------------------------------------------------------------------------------------------- */

static struct trace_folder programs;
static struct movable_program program;

static void keep_program(const char *flags)
{
    struct chunk_encoder *encoder;
    struct kept_names names;
    char name[KEPT_NAME_BYTES], path[KEPT_NAME_BYTES + 8];

    trace_folder_init(&folder);
    trace_folder_init(&programs);
    movable_program_make(&program, programs.path, "program", flags);
    CHECK(kept_functions_gather(&program.module, &names) == NULL);
    trace_folder_make(&folder, "names");
    kept_names_file(&program.module, name);
    snprintf(path, sizeof(path), "names/%s", name);
    CHECK_EQUAL(chunk_encoder_create(true, &encoder), 0);
    CHECK_EQUAL(kept_names_write(&names, folder.fd, path, encoder, NULL), 0);
    chunk_encoder_destroy(encoder);
    kept_names_deinit(&names);
}

static void end_program(void)
{
    trace_folder_deinit(&programs);
    trace_folder_deinit(&folder);
}

/* What an address is called, and what is said of the file. */
static void expect(uint64_t address, const char *name, const char *problem)
{
    struct function_names names;
    const char *said;
    char text[256];

    function_names_init(&names);
    function_names_use_trace(&names, folder.fd);
    said = function_names_find(&names, &program.module, address, text, sizeof(text));
    CHECK_TEXT(text, name);
    CHECK_TEXT(said == NULL ? "" : said, problem);
    function_names_deinit(&names);
}

static void names_stand_in_for_a_file_that_is_gone(void)
{
    uint64_t second;

    keep_program("");
    second = movable_program_address(&program, "second");
    expect(second + 1, "second+0x1", "");
    unlink(program.path);
    expect(second, "second", "");
    expect(second + 1, "second+0x1", "");
    end_program();
}

/* The other one has other code at the same places. */
static void names_stand_in_for_a_file_that_has_changed(void)
{
    static const char *const flags[] = {"", "-Wl,--build-id=none"};
    struct movable_program other;

    for (unsigned i = 0; i < 2; i++) {
        uint64_t second;

        keep_program(flags[i]);
        second = movable_program_address(&program, "second");
        expect(second, "second", "");
        movable_program_make(&other, programs.path, "program", i == 0 ? "-O0 -pg" : "-O0 -pg -Wl,--build-id=none");
        expect(second, "second", "has changed since; the names are those that were kept");
        end_program();
    }
}

/* Without an ID: it is as it was when names were kept, but something else was mapped before. */
static void a_file_that_changed_while_it_was_recorded_is_not_used(void)
{
    char name[KEPT_NAME_BYTES], path[KEPT_NAME_BYTES + 8], place[64];
    struct chunk_encoder *encoder;
    struct kept_names names;
    uint64_t second;

    keep_program("-Wl,--build-id=none");
    second = movable_program_address(&program, "second");
    snprintf(place, sizeof(place), "program+0x%" PRIx64, second - program.module.start + program.module.file_offset);
    CHECK_EQUAL(kept_module_read(folder.fd, &program.module, &names), 0);
    kept_names_file(&program.module, name);
    snprintf(path, sizeof(path), "names/%s", name);
    unlinkat(folder.fd, path, 0);
    names.file.from = program.module.loaded + 1;
    CHECK_EQUAL(chunk_encoder_create(true, &encoder), 0);
    CHECK_EQUAL(kept_names_write(&names, folder.fd, path, encoder, NULL), 0);
    chunk_encoder_destroy(encoder);
    kept_names_deinit(&names);
    expect(second, place, "has changed since");
    program.module.loaded += 1;
    expect(second, "second", "");
    end_program();
}

static void debug_information_of_a_changed_file_is_not_used(void)
{
    struct function_names names;
    struct movable_program other;

    keep_program("");
    function_names_init(&names);
    CHECK_TEXT(function_names_path(&names, &program.module), program.path);
    function_names_deinit(&names);
    movable_program_make(&other, programs.path, "program", "-g -O0");
    function_names_init(&names);
    function_names_use_trace(&names, folder.fd);
    CHECK_TEXT(function_names_path(&names, &program.module), "");
    function_names_deinit(&names);
    end_program();
}

static void damaged_names_are_not_used(void)
{
    uint64_t second;
    char name[KEPT_NAME_BYTES], path[KEPT_NAME_BYTES + 8], place[64];

    keep_program("");
    second = movable_program_address(&program, "second");
    snprintf(place, sizeof(place), "program+0x%" PRIx64, second - program.module.start + program.module.file_offset);
    kept_names_file(&program.module, name);
    snprintf(path, sizeof(path), "names/%s", name);
    trace_folder_write(&folder, path, "nothing", 7);
    expect(second, "second", "");
    unlink(program.path);
    expect(second, place, "cannot be used, and the names that were kept are damaged");
    unlinkat(folder.fd, path, 0);
    expect(second, place, "is gone");
    end_program();
}

static const struct check_case cases[] = {
    CHECK_CASE(names_are_found_by_build),
    CHECK_CASE(they_become_an_index),
    CHECK_CASE(files_are_compared_by_their_sums),
    CHECK_CASE(debug_information_is_where_the_trace_is),
    CHECK_CASE(names_stand_in_for_a_file_that_is_gone),
    CHECK_CASE(names_stand_in_for_a_file_that_has_changed),
    CHECK_CASE(a_file_that_changed_while_it_was_recorded_is_not_used),
    CHECK_CASE(debug_information_of_a_changed_file_is_not_used),
    CHECK_CASE(damaged_names_are_not_used),
};

CHECK_MAIN(cases)
