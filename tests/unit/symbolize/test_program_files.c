/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "symbolize/program_files.h"

#include "support/check.h"
#include "support/random.h"
#include "support/trace_folder.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static struct program_files files;

static bool has(const char *name)
{
    for (size_t i = 0; i < files.count; i++)
        if (strcmp(basename(files.paths[i]), name) == 0)
            return true;
    return false;
}

static void a_program_and_the_libraries_that_it_needs_are_found(void)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    self[length < 0 ? 0 : length] = '\0';
    CHECK_EQUAL(program_files_of_program(self, &files), 0);
    CHECK_TEXT(files.paths[0], self);
    CHECK(has("libc.so.6"));
    program_files_deinit(&files);
    CHECK_EQUAL(files.count, 0);
}

static void programs_are_found_as_a_shell_finds_them(void)
{
    CHECK_EQUAL(program_files_of_program("sh", &files), 0);
    CHECK(files.count >= 2 && has("libc.so.6"));
    program_files_deinit(&files);
    CHECK_EQUAL(program_files_of_program("no-such-program", &files), -ENOENT);
    CHECK_EQUAL(program_files_of_program("/no/such/program", &files), -ENOENT);
    setenv("PATH", ":/nowhere", 1);
    CHECK_EQUAL(program_files_of_program("sh", &files), -ENOENT);
}

static void scripts_are_run_by_others(void)
{
    static const char text[] = "#! /bin/sh -e\ntrue\n";
    struct trace_folder folder;
    char path[128], shell[4096] = "";

    trace_folder_init(&folder);
    trace_folder_write(&folder, "script", text, sizeof(text) - 1);
    snprintf(path, sizeof(path), "%s/script", folder.path);
    chmod(path, 0755);
    CHECK(realpath("/bin/sh", shell) != NULL);
    CHECK_EQUAL(program_files_of_program(path, &files), 0);
    CHECK_TEXT(files.paths[0], shell);
    program_files_deinit(&files);
    trace_folder_deinit(&folder);
}

static void a_process_has_what_is_mapped(void)
{
    CHECK_EQUAL(program_files_of_process(getpid(), &files), 0);
    CHECK(has("test_program_files") && has("libc.so.6"));
    CHECK(files.count > 0 && strcmp(basename(files.paths[0]), "test_program_files") == 0);
    program_files_deinit(&files);
    CHECK_EQUAL(program_files_of_process(1 << 30, &files), -ENOENT);
}

/* Whatever a file says: what is found, and not more, is in the list. */
static void files_may_be_damaged(void)
{
    struct trace_folder folder;
    struct random random;
    size_t size_bytes = 0;
    uint8_t *bytes;
    char path[128];

    trace_folder_init(&folder);
    bytes = malloc(1 << 20);
    FILE *file = fopen("/bin/true", "r");
    size_bytes = file == NULL ? 0 : fread(bytes, 1, 1 << 20, file);
    CHECK(size_bytes > 1000);
    if (file != NULL)
        fclose(file);
    snprintf(path, sizeof(path), "%s/damaged", folder.path);
    random_init(&random, 11);
    for (unsigned round = 0; round < 300; round++) {
        uint8_t *copy = malloc(size_bytes);
        size_t cut = random_chance(&random, 1, 4) ? random_below(&random, size_bytes) : size_bytes;

        memcpy(copy, bytes, size_bytes);
        for (unsigned i = 0; i < 8; i++) {
            uint64_t edge = random_edge(&random);

            /* Headers, or anywhere. */
            memcpy(copy + random_below(&random, (i < 6 ? 1000 : size_bytes) - 8), &edge, sizeof(edge));
        }
        trace_folder_write(&folder, "damaged", copy, cut);
        CHECK_EQUAL(program_files_of_program(path, &files), 0);
        program_files_deinit(&files);
        free(copy);
    }
    free(bytes);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_program_and_the_libraries_that_it_needs_are_found),
    CHECK_CASE(a_process_has_what_is_mapped),
    CHECK_CASE(scripts_are_run_by_others),
    CHECK_CASE(files_may_be_damaged),
    CHECK_CASE(programs_are_found_as_a_shell_finds_them),
};

CHECK_MAIN(cases)
