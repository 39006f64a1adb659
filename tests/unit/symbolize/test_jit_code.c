/* SPDX-License-Identifier: MIT */
#include "symbolize/jit_code.h"

#include "support/check.h"
#include "support/random.h"
#include "support/trace_folder.h"
#include "symbolize/symbolizer.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

static struct trace_folder folder;
static uint8_t bytes[4096];
static size_t used;

static void put(const void *value, size_t size_bytes)
{
    memcpy(bytes + used, value, size_bytes);
    used += size_bytes;
}

static void put_head(enum jit_dump_kind kind, size_t size_bytes, uint64_t time)
{
    put(&(struct jit_dump_record){kind, (uint32_t)(sizeof(struct jit_dump_record) + size_bytes), time},
        sizeof(struct jit_dump_record));
}

static void put_load(uint64_t address, const char *name, uint64_t time)
{
    put_head(JIT_DUMP_LOAD, sizeof(struct jit_dump_load) + strlen(name) + 1 + 16, time);
    put(&(struct jit_dump_load){.address = address, .size_bytes = 16}, sizeof(struct jit_dump_load));
    put(name, strlen(name) + 1);
    put("\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\xc3", 16);
}

static void put_line(uint64_t address, uint32_t line, const char *file)
{
    uint32_t discriminator = 0;

    put(&address, 8);
    put(&line, 4);
    put(&discriminator, 4);
    put(file, strlen(file) + 1);
}

static void make_dump(void)
{
    used = 0;
    put(&(struct jit_dump_header){.magic = JIT_DUMP_MAGIC, .version = 1, .size_bytes = 40, .pid = 77}, 40);
    put_head(JIT_DUMP_LINES, 16 + 23 + 18, 10);
    put(&(struct jit_dump_lines){0x7000, 2}, 16);
    put_line(0x7000, 3, "script");
    put_line(0x7008, 4, "\xff");
    put_load(0x7000, "first", 10);
    put_load(0x8000, "other", 15);
    put_load(0x7000, "second", 20);
    put_head(JIT_DUMP_MOVE, sizeof(struct jit_dump_move), 30);
    put(&(struct jit_dump_move){.from = 0x8000, .to = 0x9000, .size_bytes = 16}, sizeof(struct jit_dump_move));
    put_head(JIT_DUMP_CLOSE, 0, 40);
    trace_folder_write(&folder, "dump", bytes, used);
}

static const char *path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder.path, name);
    return path;
}

static void expect(const struct named_code *code, uint64_t address, uint64_t time, const char *name)
{
    const struct named_range *range = named_code_find(code, address, time);

    CHECK_TEXT(range == NULL ? "" : named_code_name(code, range), name);
}

static void dumps_tell_what_was_where_and_when(void)
{
    struct jit_code code;

    make_dump();
    jit_code_init(&code);
    CHECK_EQUAL(jit_code_read_dump(&code, path_of("dump"), 0), 0);
    jit_code_finish(&code);
    expect(&code.functions, 0x7004, 9, "");
    expect(&code.functions, 0x7004, 10, "first");
    expect(&code.functions, 0x700f, UINT64_MAX, "second");
    expect(&code.functions, 0x7010, UINT64_MAX, "");
    expect(&code.functions, 0x9000, 29, "");
    expect(&code.functions, 0x9000, 30, "other");
    expect(&code.lines, 0x7000, 10, "script");
    CHECK_EQUAL(named_code_find(&code.lines, 0x7007, 10)->line, 3);
    CHECK_EQUAL(named_code_find(&code.lines, 0x700f, 10)->line, 4);
    expect(&code.lines, 0x700f, 10, "script");
    jit_code_deinit(&code);
}

static void damaged_dumps_do_no_harm(void)
{
    struct random random;
    struct jit_code code;
    size_t whole;

    make_dump();
    whole = used;
    random_init(&random, 13);
    for (unsigned round = 0; round < 600; round++) {
        make_dump();
        for (unsigned i = 0; i < 4; i++)
            bytes[40 + random_below(&random, whole - 40)] = (uint8_t)random_below(&random, 256);
        trace_folder_write(&folder, "dump", bytes, 40 + random_below(&random, whole - 40));
        jit_code_init(&code);
        (void)!jit_code_read_dump(&code, path_of("dump"), 0);
        jit_code_finish(&code);
        for (uint64_t address = 0x6ff0; address < 0x9020; address += 8) {
            (void)named_code_find(&code.functions, address, UINT64_MAX);
            (void)named_code_find(&code.lines, address, UINT64_MAX);
        }
        jit_code_deinit(&code);
    }
}

static void maps_are_read_line_by_line(void)
{
    static const char text[] = "7f0000001000 20 lambda in script.js:5\n"
                               "nonsense\n"
                               "7f0000001000 zz bad\n"
                               "7f0000002000 10 old\n"
                               "7f0000002000 10 _ZN3jit4codeEv\n"
                               "ffffffffffffffff 20 wraps\n";
    struct jit_code code;

    trace_folder_write(&folder, "map", text, sizeof(text) - 1);
    jit_code_init(&code);
    CHECK_EQUAL(jit_code_read_map(&code, path_of("map"), 0), 0);
    jit_code_finish(&code);
    CHECK_EQUAL(code.functions.count, 3);
    expect(&code.functions, 0x7f000000101f, UINT64_MAX, "lambda in script.js:5");
    expect(&code.functions, 0x7f0000002000, UINT64_MAX, "_ZN3jit4codeEv");
    expect(&code.functions, 0x7f0000002010, UINT64_MAX, "");
    jit_code_deinit(&code);
}

static void files_of_former_processes_are_not_used(void)
{
    struct jit_code code;

    make_dump();
    jit_code_init(&code);
    CHECK_EQUAL(jit_code_read_map(&code, path_of("map"), time(NULL) + 100), -ENOENT);
    CHECK_EQUAL(jit_code_read_dump(&code, path_of("dump"), time(NULL) + 100), -ENOENT);
    CHECK_EQUAL(jit_code_read_map(&code, path_of("nothing"), 0), -ENOENT);
    CHECK_EQUAL(jit_code_read_dump(&code, path_of("map"), 0), -EPROTO);
    CHECK_EQUAL(jit_code_read_map(&code, path_of("dump"), 0), -EPROTO);
    CHECK_EQUAL(jit_code_read_map(&code, "/dev/zero", 0), -ENOENT);
    jit_code_deinit(&code);
}

/* As a runtime does it, under this process's own number. */
static void the_symbolizer_finds_the_map_of_a_process(void)
{
    struct symbol_process process = {.pid = (uint32_t)getpid(), .began = time(NULL) - 100};
    struct symbolizer symbolizer;
    struct symbol_place place;
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    file = fopen(path, "we");
    CHECK(file != NULL && fputs("5000 100 made\n", file) >= 0 && fclose(file) == 0);
    symbolizer_init(&symbolizer, &(struct symbolizer_options){.has_no_cache = true});
    symbolizer_find_made(&symbolizer, &process, 0x5012, UINT64_MAX, &place);
    CHECK_TEXT(place.frames[0].function, "made");
    CHECK_EQUAL(place.distance, 0x12);
    symbolizer_find_made(&symbolizer, &process, 0x6000, UINT64_MAX, &place);
    CHECK_TEXT(place.frames[0].function, "0x6000");
    symbolizer_deinit(&symbolizer);
    CHECK_EQUAL(unlink(path), 0);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(dumps_tell_what_was_where_and_when),
        CHECK_CASE(damaged_dumps_do_no_harm),
        CHECK_CASE(maps_are_read_line_by_line),
        CHECK_CASE(files_of_former_processes_are_not_used),
        CHECK_CASE(the_symbolizer_finds_the_map_of_a_process),
    };
    int status;

    trace_folder_init(&folder);
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    trace_folder_deinit(&folder);
    return status;
}
