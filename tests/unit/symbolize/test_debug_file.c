/* SPDX-License-Identifier: MIT */
/* A program of three functions, stripped, with its symbols in a file of their own or packed, as binutils do it. */
#define _GNU_SOURCE
#include "symbolize/debug_file.h"

#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/gait-test-XXXXXX";
static uint8_t *bytes;
static struct elf_symbols symbols;

static bool run(const char *command)
{
    char line[8192];

    snprintf(line, sizeof(line), "cd %s && { %s; } >/dev/null 2>&1", folder, command);
    return system(line) == 0;
}

static void make_program(void)
{
    static const char commands[] =
        "printf 'int hidden_twice(int n);\\n"
        "__attribute__((noinline, noclone)) static int hidden(int n) { __asm__ volatile(\"\"); return n + 1; }\\n"
        "int main(int n, char **v) { (void)v; return hidden(n); }\\n' >p.c && "
        "cc -O1 -Wl,--build-id=sha1 -o p p.c && cp p stripped && strip stripped && cp stripped packed && "
        "objcopy --only-keep-debug p p.debug && "
        "xz -c p.debug >p.xz && objcopy --add-section .gnu_debugdata=p.xz packed && "
        "id=$(readelf -n p | awk '/Build ID/ { print $3 }') && "
        "mkdir -p debug/.build-id/$(echo $id | cut -c1-2) && "
        "cp p.debug debug/.build-id/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-).debug";

    if (mkdtemp(folder) == NULL)
        abort();
    if (!run("cc --version && xz --version && objcopy --version"))
        check_skip("there is no compiler, no objcopy or no xz");
    CHECK(run(commands));
}

static void read_file(const char *name)
{
    char path[256];
    struct stat status;
    int fd;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && fstat(fd, &status) == 0);
    bytes = malloc((size_t)status.st_size);
    CHECK_EQUAL(read(fd, bytes, (size_t)status.st_size), status.st_size);
    close(fd);
    CHECK_EQUAL(elf_symbols_parse(bytes, (size_t)status.st_size, &symbols), 0);
}

static bool has_hidden(const struct elf_symbols *names)
{
    struct elf_symbol symbol;

    for (uint64_t i = 0; i < elf_symbols_count(names); i++)
        if (elf_symbols_peek(names, i, &symbol) == 0 && symbol.name_length == 6 &&
            memcmp(symbol.name, "hidden", 6) == 0)
            return symbol.is_function && symbol.size_bytes != 0;
    return false;
}

static const char *debug_folders(void)
{
    static char folders[256];

    snprintf(folders, sizeof(folders), "/nowhere::%s/debug", folder);
    return folders;
}

static void files_are_found_by_their_build(void)
{
    struct debug_file debug;

    read_file("stripped");
    CHECK(!has_hidden(&symbols));
    CHECK_EQUAL(debug_file_open(&symbols, debug_folders(), &debug), 0);
    CHECK(has_hidden(&debug.symbols));
    debug_file_close(&debug);
    CHECK_EQUAL(elf_symbols_count(&debug.symbols), 0);
    CHECK_EQUAL(debug_file_open(&symbols, "/nowhere", &debug), -ENOENT);
    CHECK_EQUAL(debug_file_open(&symbols, "", &debug), -ENOENT);
    free(bytes);
}

static void files_are_found_by_their_name(void)
{
    static char path[256];
    struct debug_file debug;

    CHECK(run(
        "mkdir -p named/.debug && cp p.debug named/ && objcopy --add-gnu-debuglink=p.debug stripped named/program"));
    read_file("named/program");
    snprintf(path, sizeof(path), "%s/named/program", folder);
    CHECK_EQUAL(debug_file_open_named(&symbols, path, "", &debug), 0);
    CHECK(has_hidden(&debug.symbols));
    debug_file_close(&debug);
    CHECK(run("mv named/p.debug named/.debug/"));
    CHECK_EQUAL(debug_file_open_named(&symbols, path, "", &debug), 0);
    debug_file_close(&debug);
    /* Below a folder as /usr/lib/debug is one. */
    CHECK(run("mkdir -p debug/$PWD/named && mv named/.debug/p.debug debug/$PWD/named"));
    CHECK_EQUAL(debug_file_open_named(&symbols, path, "", &debug), -ENOENT);
    CHECK_EQUAL(debug_file_open_named(&symbols, path, debug_folders(), &debug), 0);
    debug_file_close(&debug);
    /* One of another build, or of none that is known. */
    CHECK(run("printf 'int main(void) { return 7; }' >r.c && cc -g -Wl,--build-id=sha1 -o named/p.debug r.c"));
    CHECK_EQUAL(debug_file_open_named(&symbols, path, "", &debug), -ENOENT);
    CHECK(run("cc -g -Wl,--build-id=none -o named/p.debug r.c"));
    CHECK_EQUAL(debug_file_open_named(&symbols, path, "", &debug), -ENOENT);
    free(bytes);
    read_file("stripped");
    CHECK_EQUAL(debug_file_open_named(&symbols, path, debug_folders(), &debug), -ENOENT);
    free(bytes);
}

static void packed_symbols_are_found(void)
{
    struct debug_file debug;

    read_file("packed");
    CHECK(!has_hidden(&symbols));
    CHECK_EQUAL(debug_file_open(&symbols, "", &debug), 0);
    CHECK(has_hidden(&debug.symbols));
    debug_file_close(&debug);
    /* Cut off in the middle of its section headers. */
    symbols.size_bytes -= 100;
    CHECK_EQUAL(debug_file_open(&symbols, "", &debug), -ENOENT);
    free(bytes);
}

static void files_of_other_builds_are_left_alone(void)
{
    struct debug_file debug;

    /* Another program under this one's name. */
    CHECK(run("printf 'int main(void) { return 5; }' >q.c && cc -g -Wl,--build-id=sha1 -o q q.c && "
              "cp q debug/.build-id/*/*.debug"));
    read_file("stripped");
    CHECK_EQUAL(debug_file_open(&symbols, debug_folders(), &debug), -ENOENT);
    CHECK(run("echo nonsense >$(echo debug/.build-id/*/*.debug)"));
    CHECK_EQUAL(debug_file_open(&symbols, debug_folders(), &debug), -ENOENT);
    free(bytes);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(files_are_found_by_their_build),
        CHECK_CASE(files_are_found_by_their_name),
        CHECK_CASE(packed_symbols_are_found),
        CHECK_CASE(files_of_other_builds_are_left_alone),
    };
    int status;
    char command[64];

    make_program();
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command) == 0 ? status : 1;
}
