/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "symbolize/kept_debug.h"

#include "elf/build_id.h"
#include "elf/sections.h"
#include "elf/symbol_file.h"
#include "support/check.h"
#include "support/movable_program.h"
#include "support/trace_folder.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct trace_folder folder;
static struct movable_program program;
static char path[KEPT_DEBUG_PATH_BYTES];

static void begin(const char *flags)
{
    trace_folder_init(&folder);
    movable_program_make(&program, folder.path, "program", flags);
    kept_debug_path(&program.module, path);
}

/* What addr2line says of a function in that file. */
static void ask_line(const char *file, uint64_t address, char *text_out, size_t text_bytes)
{
    char command[512];
    FILE *lines;

    snprintf(command, sizeof(command), "addr2line -f -e %s/%s 0x%" PRIx64 " | tr '\\n' ' '", folder.path, file,
             address);
    lines = popen(command, "r");
    text_out[0] = '\0';
    if (lines == NULL || fgets(text_out, (int)text_bytes, lines) == NULL)
        text_out[0] = '\0';
    if (lines != NULL)
        pclose(lines);
}

static uint64_t place_of(const char *function)
{
    struct symbol_file file;
    struct elf_symbol symbol = {.address = 0};

    CHECK_EQUAL(symbol_file_open(program.path, &file), 0);
    CHECK_EQUAL(elf_symbols_find(&file.symbols, function, &symbol), 0);
    symbol_file_close(&file);
    return symbol.address;
}

static void lines_are_the_same_without_the_program(void)
{
    uint64_t second;
    char before[512], after[512];

    begin("-g");
    second = place_of("second");
    ask_line("program", second, before, sizeof(before));
    CHECK_EQUAL(kept_debug_write(&program.module, folder.fd), 0);
    CHECK_EQUAL(kept_debug_write(&program.module, folder.fd), -EEXIST);
    unlink(program.path);
    ask_line(path, second, after, sizeof(after));
    CHECK(strstr(before, "second ") != NULL && strstr(before, "program.c:3") != NULL);
    CHECK_TEXT(after, before);
    trace_folder_deinit(&folder);
}

static void neither_code_nor_data_is_taken_along(void)
{
    struct symbol_file file;
    struct elf_section section;
    struct stat whole, kept;
    char copy[256];
    const uint8_t *id;
    size_t id_bytes;

    begin("-g");
    CHECK_EQUAL(kept_debug_write(&program.module, folder.fd), 0);
    snprintf(copy, sizeof(copy), "%s/%s", folder.path, path);
    CHECK(stat(program.path, &whole) == 0 && stat(copy, &kept) == 0 && kept.st_size < whole.st_size);
    CHECK_EQUAL(symbol_file_open(copy, &file), 0);
    CHECK_EQUAL(elf_build_id_find(&file.symbols, &id, &id_bytes), 0);
    CHECK(id_bytes == program.module.build_id_bytes && memcmp(id, program.module.build_id, id_bytes) == 0);
    for (unsigned i = 0; elf_section_get(&file.symbols, i, &section) == 0; i++)
        if (section.type != SHT_NOBITS && section.type != SHT_NOTE)
            CHECK(!(section.flags & SHF_ALLOC));
    symbol_file_close(&file);
    trace_folder_deinit(&folder);
}

static void what_is_not_there_is_not_made(void)
{
    begin("");
    CHECK_EQUAL(kept_debug_write(&program.module, folder.fd), -ENOENT);
    trace_folder_deinit(&folder);
    begin("-g -Wl,--build-id=none");
    CHECK_TEXT(path, "");
    CHECK_EQUAL(kept_debug_write(&program.module, folder.fd), -ENOENT);
    trace_folder_deinit(&folder);
    begin("-g");
    program.module.build_id[3] ^= 1;
    CHECK_EQUAL(kept_debug_write(&program.module, folder.fd), -ENOENT);
    unlink(program.path);
    CHECK_EQUAL(kept_debug_write(&program.module, folder.fd), -ENOENT);
    CHECK(faccessat(folder.fd, "debug", F_OK, 0) != 0);
    trace_folder_deinit(&folder);
}

static void a_full_disk_leaves_nothing(void)
{
    struct rlimit before, limit;

    begin("-g3");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 2048;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_EQUAL(kept_debug_write(&program.module, folder.fd), -EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(faccessat(folder.fd, path, F_OK, 0) != 0);
    trace_folder_deinit(&folder);
}

/* Parts that several programs share are in a file of their own. */
static void shared_parts_are_taken_along(void)
{
    static const char commands[] = "cp program other && dwz -m shared program other";
    struct symbol_file file;
    struct elf_section section;
    bool is_shared = false;
    char found[128] = "";
    FILE *list;

    begin("-g -fno-eliminate-unused-debug-types");
    if (!movable_program_run(folder.path, "dwz --version") || !movable_program_run(folder.path, commands)) {
        trace_folder_deinit(&folder);
        return;
    }
    CHECK_EQUAL(symbol_file_open(program.path, &file), 0);
    for (unsigned i = 0; elf_section_get(&file.symbols, i, &section) == 0; i++)
        is_shared |= strcmp(section.name, ".gnu_debugaltlink") == 0;
    symbol_file_close(&file);
    CHECK_EQUAL(kept_debug_write(&program.module, folder.fd), 0);
    snprintf(found, sizeof(found), "find %s/debug -name '*.debug' | wc -l", folder.path);
    list = popen(found, "r");
    CHECK(list != NULL && fgets(found, sizeof(found), list) != NULL);
    pclose(list);
    CHECK_EQUAL(atoi(found), is_shared ? 2 : 1);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(lines_are_the_same_without_the_program), CHECK_CASE(neither_code_nor_data_is_taken_along),
    CHECK_CASE(what_is_not_there_is_not_made),          CHECK_CASE(a_full_disk_leaves_nothing),
    CHECK_CASE(shared_parts_are_taken_along),
};

CHECK_MAIN(cases)
