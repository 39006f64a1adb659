/* SPDX-License-Identifier: MIT */
#include "symbolize/code_table_cache.h"

#include "support/check.h"
#include "support/random.h"
#include "support/trace_folder.h"
#include "symbolize/code_table_builder.h"
#include "symbolize/dwarf/dwarf_code.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "0102030405060708090a.code"

static const struct dwarf_range ranges[] = {{0x1000, 0x2000, 12}, {0x3000, 0x3100, 40}, {0x4000, 0x4100, 77}};
static const uint8_t id[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static struct trace_folder folder;
static struct code_table_cache_name name = {.id = id, .id_bytes = sizeof(id)};

static void give_table(struct code_unit *unit, const char *text)
{
    struct code_table_builder builder;
    size_t size_bytes;
    void *block;

    code_table_builder_init(&builder);
    code_table_builder_add_line(
        &builder, 0x1000,
        (struct source_location){code_table_builder_add_file(&builder, text), 0, (uint32_t)unit->unit});
    CHECK_EQUAL(code_table_builder_finish(&builder, &block, &size_bytes), 0);
    code_table_builder_deinit(&builder);
    CHECK_EQUAL(code_unit_set_table(unit, block, size_bytes), 0);
    unit->is_whole = true;
}

/* Writes the first unit's table. */
static void write_first(void)
{
    struct code_units units;

    CHECK_EQUAL(code_units_make(&units, ranges, 3), 0);
    give_table(&units.units[0], "/src/first.c");
    give_table(&units.units[2], "/src/torn.c");
    units.units[2].is_whole = false;
    CHECK_EQUAL(code_table_cache_write(&name, &units, -1), 0);
    code_units_deinit(&units);
}

static void expect_table(int fd, struct code_unit *unit, const char *text)
{
    const struct code_line *line;

    CHECK_EQUAL(code_table_cache_read(fd, unit), 0);
    CHECK(unit->is_whole && unit->is_from_cache);
    line = code_table_line(&unit->table, 0x1000);
    CHECK(line != NULL && line->line == unit->unit);
    CHECK_TEXT(line == NULL ? "" : code_table_file(&unit->table, line->file), text);
}

static void what_was_written_is_read(void)
{
    struct code_units units;
    int fd, second;

    write_first();
    CHECK_EQUAL(code_table_cache_open(&name, &units, &fd), 0);
    CHECK_EQUAL(units.unit_count, 3);
    CHECK_EQUAL(units.range_count, 3);
    CHECK(units.units[0].kept_bytes != 0 && units.units[1].kept_bytes == 0 && units.units[2].kept_bytes == 0);
    /* More is added; what is there already is taken along, read or not. */
    give_table(&units.units[1], "/src/second.c");
    CHECK_EQUAL(code_table_cache_write(&name, &units, fd), 0);
    code_units_deinit(&units);
    CHECK_EQUAL(code_table_cache_open(&name, &units, &second), 0);
    expect_table(second, &units.units[0], "/src/first.c");
    expect_table(second, &units.units[1], "/src/second.c");
    code_units_deinit(&units);
    close(fd);
    close(second);
}

static void other_files_are_not_used(void)
{
    static const uint8_t other[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11};
    struct code_table_cache_name wrong = {.folder = name.folder, .id = other, .id_bytes = sizeof(other)};
    struct code_units units;
    char from[128], to[128];
    int fd;

    CHECK_EQUAL(code_table_cache_open(&wrong, &units, &fd), -ENOENT);
    /* Under a name that it should not have. */
    snprintf(from, sizeof(from), "%s/" FILE_NAME, folder.path);
    snprintf(to, sizeof(to), "%s/0102030405060708090b.code", folder.path);
    CHECK_EQUAL(link(from, to), 0);
    CHECK_EQUAL(code_table_cache_open(&wrong, &units, &fd), -ENOENT);
    wrong.folder = NULL;
    CHECK_EQUAL(code_table_cache_open(&wrong, &units, &fd), -ENOENT);
    wrong = (struct code_table_cache_name){.folder = name.folder, .id = id, .id_bytes = 4};
    CHECK_EQUAL(code_table_cache_open(&wrong, &units, &fd), -ENOENT);
    CHECK_EQUAL(unlink(to), 0);
}

/* The padding, and what is behind the end of a short ID. */
static bool is_unused(size_t place)
{
    return (place >= offsetof(struct code_table_cache_header, padding) &&
            place < offsetof(struct code_table_cache_header, id)) ||
           (place >= offsetof(struct code_table_cache_header, id) + sizeof(id) &&
            place < sizeof(struct code_table_cache_header));
}

/* Any byte that is wrong is noticed. */
static void damaged_files_are_not_used(void)
{
    struct code_units units;
    struct random random;
    size_t size_bytes;
    uint8_t *bytes;
    int fd;

    write_first();
    bytes = trace_folder_read(&folder, FILE_NAME, &size_bytes);
    random_init(&random, 5);
    for (unsigned round = 0; round < 500; round++) {
        size_t place = random_below(&random, size_bytes);
        uint8_t change = (uint8_t)(1 + random_below(&random, 255));

        bytes[place] ^= change;
        trace_folder_write(&folder, FILE_NAME, bytes, size_bytes);
        bytes[place] ^= change;
        if (code_table_cache_open(&name, &units, &fd) != 0)
            continue;
        CHECK(code_table_cache_read(fd, &units.units[0]) == -EPROTO || is_unused(place));
        code_units_deinit(&units);
        close(fd);
    }
    for (size_t i = 0; i < size_bytes; i += 7) {
        trace_folder_write(&folder, FILE_NAME, bytes, i);
        CHECK_EQUAL(code_table_cache_open(&name, &units, &fd), -ENOENT);
    }
    free(bytes);
}

static void folders_are_made_or_done_without(void)
{
    struct code_table_cache_name deep = name, wrong = name;
    struct code_units units;
    char path[128];
    int fd;

    snprintf(path, sizeof(path), "%s/a/b/c", folder.path);
    deep.folder = path;
    CHECK_EQUAL(code_units_make(&units, ranges, 3), 0);
    CHECK_EQUAL(code_table_cache_write(&deep, &units, -1), 0);
    wrong.folder = "/dev/null/nowhere";
    CHECK(code_table_cache_write(&wrong, &units, -1) < 0);
    wrong.folder = "/proc/nowhere";
    CHECK(code_table_cache_write(&wrong, &units, -1) < 0);
    code_units_deinit(&units);
    CHECK_EQUAL(code_table_cache_open(&deep, &units, &fd), 0);
    code_units_deinit(&units);
    close(fd);
    CHECK_EQUAL(code_table_cache_open(&wrong, &units, &fd), -ENOENT);
}

static void the_folder_is_the_users(void)
{
    char text[64];

    setenv("HOME", "/users/somebody", 1);
    unsetenv("XDG_CACHE_HOME");
    CHECK_TEXT(code_table_cache_folder(text, sizeof(text)), "/users/somebody/.cache/gait");
    setenv("XDG_CACHE_HOME", "/var/cache/mine", 1);
    CHECK_TEXT(code_table_cache_folder(text, sizeof(text)), "/var/cache/mine/gait");
    setenv("XDG_CACHE_HOME", "relative", 1);
    CHECK_TEXT(code_table_cache_folder(text, sizeof(text)), "/users/somebody/.cache/gait");
    unsetenv("HOME");
    CHECK(code_table_cache_folder(text, sizeof(text)) == NULL);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(what_was_written_is_read),   CHECK_CASE(other_files_are_not_used),
        CHECK_CASE(damaged_files_are_not_used), CHECK_CASE(folders_are_made_or_done_without),
        CHECK_CASE(the_folder_is_the_users),
    };
    int status;

    trace_folder_init(&folder);
    name.folder = folder.path;
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    trace_folder_deinit(&folder);
    return status;
}
