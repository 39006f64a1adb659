/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace/trace_files.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <errno.h>

static void files_are_listed_in_order(void)
{
    static const struct {
        const char *path;
        enum trace_file_kind kind;
        uint32_t tid;
    } expected[] = {
        {"manifest.json", TRACE_FILE_MANIFEST, 0},
        {"9/blocks.gait", TRACE_FILE_BLOCKS, 0},
        {"9/9.1.index.gait", TRACE_FILE_INDEX, 9},
        {"9/9.1.index.3.gait", TRACE_FILE_INDEX, 9},
        {"9/9.1.index.12.gait", TRACE_FILE_INDEX, 9},
        {"9/9.12.index.gait", TRACE_FILE_INDEX, 9},
        {"9/10.1.index.gait", TRACE_FILE_INDEX, 10},
        {"9/10.1.detail.2.gait", TRACE_FILE_DETAIL, 10},
        {"10/modules.gait", TRACE_FILE_MODULES, 0},
        {"names/0a1b.gait", TRACE_FILE_NAMES, 0},
        {"names/path-0123456789abcdef.gait", TRACE_FILE_NAMES, 0},
        {"debug/.build-id/0a/1b2c.debug", TRACE_FILE_DEBUG, 0},
        {"007", TRACE_FILE_OTHER, 0},
        {"12", TRACE_FILE_OTHER, 0},
        {"debug/.build-id/0A", TRACE_FILE_OTHER, 0},
        {"debug/.build-id/0a/1b2c", TRACE_FILE_OTHER, 0},
        {"debug/something", TRACE_FILE_OTHER, 0},
        {"names/0A1B.gait", TRACE_FILE_OTHER, 0},
        {"names/0a1.gait", TRACE_FILE_OTHER, 0},
        {"names/path-01.gait", TRACE_FILE_OTHER, 0},
        {"9/09.1.index.gait", TRACE_FILE_OTHER, 0},
        {"9/9.1.index", TRACE_FILE_OTHER, 0},
        {"9/9.1.index.02.gait", TRACE_FILE_OTHER, 0},
        {"9/9.1.index.1.gait", TRACE_FILE_OTHER, 0},
        {"9/9.1.index.2.gait.new", TRACE_FILE_OTHER, 0},
        {"9/9.1.index.gait.2", TRACE_FILE_OTHER, 0},
    };
    struct trace_folder folder;
    struct trace_files files;

    trace_folder_init(&folder);
    trace_folder_make(&folder, "9");
    trace_folder_make(&folder, "10");
    trace_folder_make(&folder, "007");
    trace_folder_make(&folder, "names");
    trace_folder_make(&folder, "debug");
    trace_folder_make(&folder, "debug/.build-id");
    trace_folder_make(&folder, "debug/.build-id/0a");
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        if (strcmp(expected[i].path, "007") != 0)
            trace_folder_write(&folder, expected[i].path, "", 0);
    CHECK_EQUAL(trace_files_open(&files, folder.path, NULL), 0);
    CHECK_EQUAL(files.count, sizeof(expected) / sizeof(expected[0]));
    for (size_t i = 0; i < files.count; i++) {
        CHECK_TEXT(files.files[i].path, expected[i].path);
        CHECK_EQUAL(files.files[i].kind, expected[i].kind);
        if (expected[i].kind == TRACE_FILE_INDEX)
            CHECK_EQUAL(files.files[i].tid, expected[i].tid);
    }
    CHECK_EQUAL(files.files[5].generation, 12);
    CHECK_EQUAL(files.files[0].piece, 0);
    CHECK_EQUAL(files.files[2].piece, 1);
    CHECK_EQUAL(files.files[4].piece, 12);
    CHECK_EQUAL(trace_files_pieces(&files, 0), 1);
    CHECK_EQUAL(trace_files_pieces(&files, 2), 3);
    CHECK_EQUAL(trace_files_pieces(&files, 4), 1);
    CHECK_EQUAL(trace_files_pieces(&files, 6), 1);
    CHECK_EQUAL(trace_files_pieces(&files, files.count - 1), 1);
    trace_files_close(&files);
    trace_folder_deinit(&folder);
}

static void paths_mean_files_of_traces_or_nothing(void)
{
    static const char *const wrong[] = {
        "",
        "/",
        ".",
        "..",
        "manifest.json/",
        "/manifest.json",
        "9",
        "9/",
        "9/../manifest.json",
        "../9/blocks.gait",
        "names/../9/blocks.gait",
        "debug/.build-id/0a/../1b.debug",
        "debug/.build-id/../0a/1b.debug",
        "9/9/blocks.gait",
        "names/",
        "names/.gait",
        "debug/1b2c.debug",
        "debug/.build-id/0a1b.debug",
        "debug/.build-id/0a/.debug",
    };
    struct trace_file file;
    char long_path[1000];

    CHECK(trace_file_parse("9.2/7.1.detail.3.gait", &file));
    CHECK(file.kind == TRACE_FILE_DETAIL && file.pid == 9 && file.image == 2 && file.tid == 7 && file.piece == 3);
    CHECK_TEXT(file.path, "9.2/7.1.detail.3.gait");
    CHECK(trace_file_parse("names/0a1b.gait", &file) && file.kind == TRACE_FILE_NAMES && file.pid == 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (trace_file_parse(wrong[i], &file))
            CHECK_TEXT(wrong[i], "no file of a trace");
    memset(long_path, '1', sizeof(long_path));
    long_path[sizeof(long_path) - 1] = '\0';
    CHECK(!trace_file_parse(long_path, &file));
}

static void streams_are_called_after_their_threads(void)
{
    char name[TRACE_THREAD_NAME_BYTES];

    trace_thread_name(&(struct trace_file){.kind = TRACE_FILE_INDEX, .tid = 7, .generation = 2}, name);
    CHECK_TEXT(name, "7.2.index.gait");
    trace_thread_name(&(struct trace_file){.kind = TRACE_FILE_DETAIL, .tid = 7, .generation = 2, .piece = 1}, name);
    CHECK_TEXT(name, "7.2.detail.gait");
    trace_thread_name(&(struct trace_file){.kind = TRACE_FILE_DETAIL, .tid = 7, .generation = 2, .piece = 30}, name);
    CHECK_TEXT(name, "7.2.detail.30.gait");
}

static void refuse(const char *path, int code, const char *part)
{
    struct trace_files files;
    struct gait_error err = {0};

    CHECK_EQUAL(trace_files_open(&files, path, &err), -code);
    if (strstr(err.text, part) == NULL)
        CHECK_TEXT(err.text, part);
}

static void what_is_no_trace_is_explained(void)
{
    struct trace_folder folder;

    trace_folder_init(&folder);
    refuse(folder.path, ENOENT, "there is no trace in it");
    trace_folder_write(&folder, "something", "", 0);
    refuse(folder.path, ENOENT, "there is no trace in it");
    refuse("/nowhere", ENOENT, "there is no such folder");
    refuse("/dev/null", ENOTDIR, "neither a folder");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(files_are_listed_in_order),
    CHECK_CASE(paths_mean_files_of_traces_or_nothing),
    CHECK_CASE(streams_are_called_after_their_threads),
    CHECK_CASE(what_is_no_trace_is_explained),
};

CHECK_MAIN(cases)
