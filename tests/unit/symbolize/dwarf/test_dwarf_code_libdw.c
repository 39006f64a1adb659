/* SPDX-License-Identifier: MIT */
/*
 * Every function of a program, in all forms that debug information comes in: the same frames as addr2line and
 * llvm-addr2line see. Forms that addr2line cannot read are compared with what it says of the same code in another.
 *
 * time limit: 240 s
 * configurations: debug-gcc asan-gcc
 */
#include "symbolize/dwarf/dwarf_code.h"

#include "support/built_program.h"
#include "support/check.h"
#include "support/line_printer.h"
#include "support/table_compare.h"

#include <errno.h>

#define OPTIONS " -std=c++17 -O2 -Wl,--build-id=sha1 "

static struct built_program program;
static bool has_llvm;
static struct symbolizer_options options = {.has_no_cache = true};

/* Builds the program without any tricks, and asks addr2line. */
static void build_plain(const char *flags)
{
    char command[512];

    snprintf(command, sizeof(command), "g++" OPTIONS "%s -o plain part.cc main.cc", flags);
    CHECK(built_program_run(&program, command));
    built_program_take_addresses(&program, "plain");
    CHECK(program.count > 2000);
    CHECK(built_program_ask(&program, "addr2line", "plain", "answer"));
}

/* What is read by gait itself is what libdw reads, at every place where something changes. */
static void expect_as_libdw(const char *path)
{
    size_t count = 0;

    CHECK_EQUAL(table_compare_program(path, &count), 0);
    CHECK(count > 1000);
}

/* The same code in another form. */
static void expect_same(const char *command, const char *name, enum built_program_strictness strictness)
{
    CHECK(built_program_run(&program, command));
    expect_as_libdw(built_program_path(&program, name));
    CHECK_EQUAL(built_program_compare(&program, name, "answer", &options, strictness), 0);
    if (has_llvm) {
        CHECK(built_program_ask(&program, "llvm-addr2line", name, "second"));
        CHECK_EQUAL(built_program_compare(&program, name, "second", &options, COMPARE_LINES), 0);
    }
}

static void dwarf_4_is_read_in_all_forms(void)
{
    build_plain("-gdwarf-4");
    expect_same("true", "plain", COMPARE_ALL);
    expect_same("objcopy --compress-debug-sections=zlib-gnu plain old && readelf -S old | grep -q zdebug", "old",
                COMPARE_ALL);
    expect_same("g++" OPTIONS "-gdwarf-4 -gsplit-dwarf -o split part.cc main.cc && ls *.dwo && "
                "readelf -S split | grep -q debug_addr",
                "split", COMPARE_ALL);
}

static void dwarf_5_is_read_in_all_forms(void)
{
    build_plain("-gdwarf-5");
    expect_same("true", "plain", COMPARE_NUMBERS);
    expect_same("objcopy --compress-debug-sections=zlib plain zlib && readelf -St zlib | grep -q ZLIB", "zlib",
                COMPARE_NUMBERS);
    expect_same("rm *.dwo; g++" OPTIONS "-gdwarf-5 -gsplit-dwarf -o split part.cc main.cc && ls *.dwo && "
                "readelf -S split | grep -q debug_addr",
                "split", COMPARE_NUMBERS);
}

static void programs_optimized_as_a_whole_at_fixed_addresses_are_read(void)
{
    build_plain("-g -flto -no-pie");
    expect_same("true", "plain", COMPARE_NUMBERS);
}

static void separate_files_are_found(void)
{
    char folders[256];

    build_plain("-g");
    CHECK(built_program_run(&program, "objcopy --only-keep-debug plain plain.debug && cp plain bare && strip bare"));
    CHECK(built_program_compare(&program, "bare", "answer", &options, COMPARE_NUMBERS) != 0);
    /* By name, beside it and in .debug. */
    CHECK(built_program_run(&program, "mkdir -p named/.debug && cp plain.debug named && "
                                      "objcopy --add-gnu-debuglink=plain.debug bare named/bare"));
    CHECK_EQUAL(built_program_compare(&program, "named/bare", "answer", &options, COMPARE_NUMBERS), 0);
    CHECK(built_program_run(&program, "mv named/plain.debug named/.debug"));
    CHECK_EQUAL(built_program_compare(&program, "named/bare", "answer", &options, COMPARE_NUMBERS), 0);
    CHECK(built_program_run(&program, "rm -r named/.debug"));
    CHECK(built_program_compare(&program, "named/bare", "answer", &options, COMPARE_NUMBERS) != 0);
    /* By build ID. */
    CHECK(built_program_run(&program, "id=$(readelf -n plain | awk '/Build ID/ { print $3 }') && "
                                      "mkdir -p debug/.build-id/$(echo $id | cut -c1-2) && cp plain.debug "
                                      "debug/.build-id/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-).debug"));
    snprintf(folders, sizeof(folders), "/nowhere:%s/debug", program.folder);
    options.debug_folders = folders;
    CHECK_EQUAL(built_program_compare(&program, "bare", "answer", &options, COMPARE_NUMBERS), 0);
    /* One of another build is not used. */
    CHECK(built_program_run(&program, "g++ -g -O0 -Wl,--build-id=sha1 -o other part.cc main.cc && "
                                      "cp other debug/.build-id/*/*.debug"));
    CHECK(built_program_compare(&program, "bare", "answer", &options, COMPARE_NUMBERS) != 0);
    options.debug_folders = NULL;
}

static void shared_debug_information_is_read(void)
{
    if (!built_program_run(&program, "dwz --version")) {
        printf("there is no dwz: not tried\n");
        return;
    }
    build_plain("-gdwarf-5");
    CHECK(built_program_run(&program, "cp plain one && g++ -g -O1 -o two part.cc main.cc && dwz -m common one two && "
                                      "readelf -S one | grep -q gnu_debugaltlink"));
    CHECK_EQUAL(built_program_compare(&program, "one", "answer", &options, COMPARE_NUMBERS), 0);
    expect_as_libdw(built_program_path(&program, "one"));
    /* Within one file. */
    expect_same("cp plain alone && dwz alone", "alone", COMPARE_NUMBERS);
}

/* Split units that were put into one file, which is all that is left of them. */
static void try_package(const char *tool, const char *compiler, const char *answer,
                        enum built_program_strictness strictness)
{
    char command[512];

    snprintf(command, sizeof(command), "%s --version", tool);
    if (!built_program_run(&program, command)) {
        printf("there is no %s: not tried\n", tool);
        return;
    }
    snprintf(command, sizeof(command),
             "rm -f *.dwo; %s -gsplit-dwarf -o packed part.cc main.cc && %s -e packed -o packed.dwp && rm *.dwo",
             compiler, tool);
    CHECK(built_program_run(&program, command));
    CHECK_EQUAL(built_program_compare(&program, "packed", answer, &options, strictness), 0);
    CHECK(built_program_run(&program, "rm packed.dwp"));
    CHECK(built_program_compare(&program, "packed", answer, &options, strictness) != 0);
}

static void packages_are_read(void)
{
    build_plain("-gdwarf-4");
    try_package("dwp", "g++" OPTIONS "-gdwarf-4", "answer", COMPARE_ALL);
}

static void other_compilers_are_read(void)
{
    if (!built_program_run(&program, "clang++ --version")) {
        printf("there is no clang++: not tried\n");
        return;
    }
    CHECK(built_program_run(&program, "clang++" OPTIONS "-gdwarf-4 -o plain part.cc main.cc"));
    built_program_take_addresses(&program, "plain");
    CHECK(built_program_ask(&program, "addr2line", "plain", "answer"));
    expect_same("true", "plain", COMPARE_ALL);
    /* This addr2line does not see what clang puts into functions in DWARF 5. */
    if (!has_llvm)
        return;
    CHECK(built_program_run(&program, "clang++" OPTIONS "-gdwarf-5 -o plain part.cc main.cc"));
    built_program_take_addresses(&program, "plain");
    CHECK(built_program_ask(&program, "llvm-addr2line", "plain", "second"));
    CHECK_EQUAL(built_program_compare(&program, "plain", "second", &options, COMPARE_LINES), 0);
    expect_as_libdw(built_program_path(&program, "plain"));
    /* What gcc writes of DWARF 5 this tool may not come to an end with. */
    try_package("llvm-dwp", "clang++" OPTIONS "-gdwarf-5", "second", COMPARE_LINES);
}

/* A program in another language, if there is a compiler for it. */
static void try_language(const char *compiler, const char *command)
{
    if (!built_program_run(&program, compiler)) {
        printf("there is no %s: not tried\n", compiler);
        return;
    }
    CHECK(built_program_run(&program, command));
    built_program_take_addresses(&program, "plain");
    CHECK(built_program_ask(&program, "addr2line", "plain", "answer"));
    expect_same("true", "plain", COMPARE_ALL);
}

static void other_languages_are_read(void)
{
    static const char rust[] =
        "printf 'use std::collections::HashMap;\\n"
        "fn tally(w: &[String]) -> HashMap<&str, usize> {\\n"
        "    let mut m = HashMap::new(); for x in w { *m.entry(x.as_str()).or_insert(0) += 1; } m }\\n"
        "fn main() { let w: Vec<String> = std::env::args().collect(); println!(\"{:?}\", tally(&w)); }\\n' >m.rs && ";
    static const char go[] = "printf 'package main\\nimport \"fmt\"\\n"
                             "type list struct{ names []string }\\n"
                             "func (l *list) add(s string) { l.names = append(l.names, s) }\\n"
                             "func main() { l := &list{}; l.add(\"a\"); fmt.Println(l.names) }\\n' >m.go && "
                             "GOCACHE=$PWD/go-cache GOFLAGS= go build -o plain m.go && rm -rf go-cache";
    char command[2048];

    snprintf(command, sizeof(command), "%s rustc -g -O -o plain m.rs", rust);
    try_language("rustc --version", command);
    snprintf(command, sizeof(command), "%s rustc -g -O -C symbol-mangling-version=v0 -o plain m.rs", rust);
    try_language("rustc --version", command);
    try_language("go version", go);
}

static void what_is_missing_is_said(void)
{
    struct dwarf_code *code = NULL;
    struct dwarf_range *ranges = NULL;
    bool is_whole = true;
    void *block = NULL;
    size_t count, size_bytes;

    CHECK_EQUAL(dwarf_code_open("/no/such/file", "", &code), -ENOENT);
    CHECK_EQUAL(dwarf_code_open("/dev/null", "", &code), -ENOENT);
    CHECK(built_program_run(&program, "rm -f *.dwo && g++" OPTIONS "-g -gsplit-dwarf -o split part.cc main.cc"));
    CHECK(built_program_run(&program, "rm *.dwo"));
    CHECK_EQUAL(dwarf_code_open(built_program_path(&program, "split"), "", &code), 0);
    CHECK_EQUAL(dwarf_code_ranges(code, &ranges, &count), 0);
    CHECK(count > 2);
    CHECK_EQUAL(dwarf_code_make_table(code, ranges[0].unit, &block, &size_bytes, &is_whole), 0);
    CHECK(!is_whole);
    free(block);
    CHECK_EQUAL(dwarf_code_make_table(code, 0x77777777, &block, &size_bytes, &is_whole), -ENOENT);
    free(ranges);
    dwarf_code_close(code);
    dwarf_code_close(NULL);
}

/* Any program: test_dwarf_code_libdw PROGRAM... */
static int compare_programs(int count, char **paths)
{
    size_t all = 0;

    for (int i = 0; i < count; i++) {
        size_t places = 0, differences = table_compare_program(paths[i], &places);

        printf("%s: %zu of %zu places differ\n", paths[i], differences, places);
        all += differences;
    }
    return all != 0;
}

int main(int count, char **words)
{
    static const struct check_case cases[] = {
        CHECK_CASE(dwarf_4_is_read_in_all_forms),
        CHECK_CASE(dwarf_5_is_read_in_all_forms),
        CHECK_CASE(programs_optimized_as_a_whole_at_fixed_addresses_are_read),
        CHECK_CASE(separate_files_are_found),
        CHECK_CASE(shared_debug_information_is_read),
        CHECK_CASE(packages_are_read),
        CHECK_CASE(other_compilers_are_read),
        CHECK_CASE(other_languages_are_read),
        CHECK_CASE(what_is_missing_is_said),
    };
    int status;

    if (count > 1)
        return compare_programs(count - 1, words + 1);
    built_program_init(&program);
    has_llvm = built_program_run(&program, "llvm-addr2line --version");
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    built_program_deinit(&program);
    return status;
}
