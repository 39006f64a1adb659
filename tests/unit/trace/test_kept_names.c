/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace/kept_names.h"

#include "support/check.h"
#include "support/kept_name_lookup.h"
#include "support/random.h"
#include "support/trace_folder.h"
#include "trace/chunk_encoder.h"
#include "trace/modules.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#define MANY 100000u /* more than go into one chunk */

static struct trace_folder folder;
static struct chunk_encoder *encoder;

static void begin(void)
{
    trace_folder_init(&folder);
    /* Without libzstd they stay as they are. */
    CHECK(chunk_encoder_create(true, &encoder) == 0 || chunk_encoder_create(false, &encoder) == 0);
}

static void end(void)
{
    chunk_encoder_destroy(encoder);
    trace_folder_deinit(&folder);
}

static void add(struct kept_names *names, uint64_t address, uint64_t size_bytes, const char *name)
{
    CHECK_EQUAL(kept_names_add(names, address, size_bytes, name, strlen(name)), 0);
}

static struct kept_names make(void)
{
    struct kept_names names = {.path = strdup("/usr/lib/library.so")};

    names.segments = calloc(2, sizeof(*names.segments));
    names.segments[0] = (struct trace_segment){0x1000, 0x401000, 0x800};
    names.segments[1] = (struct trace_segment){0x2000, 0x502000, 0x100};
    names.file = (struct trace_names){
        .machine = 62,
        .file_bytes = 12345,
        .file_crc = 77,
        .segment_count = 2,
        .build_id_bytes = 4,
        .build_id = {1, 2, 3, 0xfe},
    };
    add(&names, 0x401000, 0x100, "outer");
    add(&names, 0x401040, 0x10, "inner");
    add(&names, 0x401080, 0, "label");
    add(&names, 0x401200, 8, "longer");
    add(&names, 0x401200, 4, "better");
    add(&names, 0xfffffffffffffff0, 0x100, "wraps around");
    return names;
}

static const char *name_at(const struct kept_names *names, uint64_t address)
{
    const struct kept_function *function = kept_name_lookup(names, address);

    return function == NULL ? "" : names->text + function->name;
}

static void check_names(const struct kept_names *names)
{
    uint64_t address;

    CHECK_EQUAL(names->function_count, 6);
    CHECK_TEXT(name_at(names, 0x400fff), "");
    CHECK_TEXT(name_at(names, 0x401000), "outer");
    CHECK_TEXT(name_at(names, 0x40103f), "outer");
    CHECK_TEXT(name_at(names, 0x401040), "inner");
    CHECK_TEXT(name_at(names, 0x401050), "outer");
    CHECK_TEXT(name_at(names, 0x401080), "label");
    CHECK_TEXT(name_at(names, 0x401081), "outer");
    CHECK_TEXT(name_at(names, 0x401100), "");
    CHECK_TEXT(name_at(names, 0x401200), "better");
    CHECK_TEXT(name_at(names, 0x401203), "better");
    CHECK_TEXT(name_at(names, 0x401204), "longer");
    CHECK_TEXT(name_at(names, 0x401208), "");
    CHECK_EQUAL(kept_names_place(names, 0x1010, &address), 0);
    CHECK_EQUAL(address, 0x401010);
    CHECK_EQUAL(kept_names_place(names, 0x20ff, &address), 0);
    CHECK_EQUAL(address, 0x5020ff);
    CHECK_EQUAL(kept_names_place(names, 0x2100, &address), -ENOENT);
    CHECK_EQUAL(kept_names_place(names, 0xfff, &address), -ENOENT);
}

static void names_come_back_as_they_were(void)
{
    struct kept_names names = make(), read;

    begin();
    check_names(&names);
    CHECK_EQUAL(kept_names_write(&names, folder.fd, "n.gait", encoder, NULL), 0);
    CHECK_EQUAL(kept_names_write(&names, folder.fd, "n.gait", encoder, NULL), -EEXIST);
    CHECK_EQUAL(kept_names_read(&read, folder.fd, "n.gait", NULL), 0);
    check_names(&read);
    CHECK_TEXT(read.path, "/usr/lib/library.so");
    CHECK_EQUAL(read.file.machine, 62);
    CHECK_EQUAL(read.file.file_bytes, 12345);
    CHECK_EQUAL(read.file.file_crc, 77);
    kept_names_deinit(&read);
    kept_names_deinit(&names);
    end();
}

static void many_names_take_several_chunks(void)
{
    struct kept_names names = {.path = strdup("/a")}, read;
    char text[64];

    begin();
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(text, sizeof(text), "function_with_number_%u", i);
        add(&names, 0x1000 + 16ull * i, 16, text);
    }
    CHECK_EQUAL(kept_names_write(&names, folder.fd, "n.gait", encoder, NULL), 0);
    CHECK_EQUAL(kept_names_read(&read, folder.fd, "n.gait", NULL), 0);
    CHECK_EQUAL(read.function_count, MANY);
    CHECK_TEXT(name_at(&read, 0x1000), "function_with_number_0");
    CHECK_TEXT(name_at(&read, 0x1000 + 16 * 32768 + 5), "function_with_number_32768");
    CHECK_TEXT(name_at(&read, 0x1000 + 16 * (MANY - 1) + 15), "function_with_number_99999");
    kept_names_deinit(&read);
    kept_names_deinit(&names);
    end();
}

static void a_file_without_functions_is_known_too(void)
{
    struct kept_names names = {.path = strdup("/a")}, read;

    begin();
    CHECK_EQUAL(kept_names_write(&names, folder.fd, "n.gait", encoder, NULL), 0);
    CHECK_EQUAL(kept_names_read(&read, folder.fd, "n.gait", NULL), 0);
    CHECK_EQUAL(read.function_count, 0);
    CHECK_TEXT(name_at(&read, 0), "");
    kept_names_deinit(&read);
    kept_names_deinit(&names);
    end();
}

static void files_are_called_by_build_or_path(void)
{
    struct recorded_module module = {.path = (char *)(uintptr_t) "/usr/lib/library.so", .loaded = 500};
    struct kept_names names = make();
    char name[KEPT_NAME_BYTES], other[KEPT_NAME_BYTES];

    kept_names_file(&module, name);
    CHECK(strncmp(name, "path-", 5) == 0 && strlen(name) == 5 + 16 + 5);
    module.path = (char *)(uintptr_t) "/usr/lib/library.so.1";
    kept_names_file(&module, other);
    CHECK(strcmp(name, other) != 0);
    CHECK(!kept_names_are_of(&names, &module));
    module.build_id_bytes = 4;
    memcpy(module.build_id, names.file.build_id, 4);
    kept_names_file(&module, name);
    CHECK_TEXT(name, "010203fe.gait");
    CHECK(kept_names_are_of(&names, &module));
    module.build_id[0] = 9;
    CHECK(!kept_names_are_of(&names, &module));
    kept_names_deinit(&names);
}

static void what_was_mapped_before_a_change_is_another_file(void)
{
    struct recorded_module module = {.path = (char *)(uintptr_t) "/usr/lib/library.so", .loaded = 500};
    struct kept_names names = make();

    names.file.build_id_bytes = 0;
    CHECK(kept_names_are_of(&names, &module));
    names.file.from = 500;
    CHECK(kept_names_are_of(&names, &module));
    names.file.from = 501;
    CHECK(!kept_names_are_of(&names, &module));
    kept_names_deinit(&names);
}

static void refuse(const char *part)
{
    struct kept_names read;
    struct gait_error err = {0};

    CHECK(kept_names_read(&read, folder.fd, "n.gait", &err) != 0);
    if (strstr(err.text, part) == NULL)
        CHECK_TEXT(err.text, part);
}

/* A stream with right sums whose contents are these. */
static void put(uint32_t kind, const struct trace_bytes *bytes, size_t piece_bytes)
{
    unlinkat(folder.fd, "n.gait", 0);
    trace_folder_put_stream(
        &folder, &(struct trace_stream_plan){
                     .name = "n.gait", .header = {.kind = kind}, .bytes = bytes, .piece_bytes = piece_bytes});
}

static void contents_are_not_trusted(void)
{
    struct trace_names file = {.size_bytes = sizeof(file), .function_count = 1};
    struct trace_functions functions = {.count = 1, .address_bytes = 1, .size_bytes = 1, .name_bytes = 2};
    static const struct {
        struct trace_functions functions;
        const char *bytes;
    } wrong[] = {
        {{1, 1, 1, 3}, "\1\1ab"},         /* not as many bytes */
        {{1, 1, 1, 2}, "\1\1ab"},         /* a name without an end */
        {{2, 1, 1, 2}, "\1\1a"},          /* fewer than it says */
        {{0, 1, 1, 2}, "\1\1a"},          /* more than it says */
        {{1, 1, 1, 2}, "\x81\1a"},        /* a number without an end */
        {{1, 0, 2, 2}, "\1\1a"},          /* in another column */
        {{1, 0xffffffff, 3, 2}, "\1\1a"}, /* wraps around */
        {{2, 2, 2, 4}, "\1\1\1\1a\0b"},   /* more functions than the file says */
        {{0, 0, 0, 0}, ""},               /* fewer */
    };
    struct trace_bytes bytes;

    begin();
    for (size_t i = 0; i <= sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct trace_functions *here = i == 0 ? &functions : &wrong[i - 1].functions;
        uint32_t sum = here->address_bytes + here->size_bytes + here->name_bytes;
        struct kept_names read;

        bytes = (struct trace_bytes){.size_bytes = 0};
        trace_bytes_put(&bytes, &file, sizeof(file));
        trace_bytes_put(&bytes, here, sizeof(*here));
        trace_bytes_put(&bytes, i == 0 ? "\1\1a" : wrong[i - 1].bytes, i == 1 || i == 2 ? 4 : sum < 16 ? sum : 4);
        put(TRACE_STREAM_NAMES, &bytes, sizeof(file));
        if (i != 0) {
            refuse("not a list of functions");
            continue;
        }
        CHECK_EQUAL(kept_names_read(&read, folder.fd, "n.gait", NULL), 0);
        CHECK_TEXT(name_at(&read, 1), "a");
        kept_names_deinit(&read);
    }
    bytes.size_bytes = 8;
    put(TRACE_STREAM_NAMES, &bytes, 0);
    refuse("not a list of functions");
    file.segment_count = 0x10000000;
    bytes.size_bytes = 0;
    trace_bytes_put(&bytes, &file, sizeof(file));
    put(TRACE_STREAM_NAMES, &bytes, 0);
    refuse("not a list of functions");
    put(TRACE_STREAM_MODULES, &bytes, 0);
    refuse("not one of names");
    end();
}

/* Whatever is wrong with a file, it is refused as a whole, or nothing is. */
static void damaged_files_are_refused(void)
{
    struct kept_names names = make(), read;
    struct random random;
    uint8_t *bytes, *copy;
    size_t size;

    begin();
    random_init(&random, 20);
    CHECK_EQUAL(kept_names_write(&names, folder.fd, "n.gait", encoder, NULL), 0);
    bytes = trace_folder_read(&folder, "n.gait", &size);
    copy = malloc(size);
    for (size_t length = 0; length < size; length++) {
        trace_folder_write(&folder, "n.gait", bytes, length);
        CHECK(kept_names_read(&read, folder.fd, "n.gait", NULL) != 0);
    }
    for (unsigned i = 0; i < 3000; i++) {
        size_t at = random_below(&random, size);

        memcpy(copy, bytes, size);
        copy[at] ^= (uint8_t)(1u << random_below(&random, 8));
        trace_folder_write(&folder, "n.gait", copy, size);
        if (kept_names_read(&read, folder.fd, "n.gait", NULL) != 0)
            continue;
        /* Nobody looks at padding and times. */
        check_names(&read);
        kept_names_deinit(&read);
    }
    free(copy);
    free(bytes);
    kept_names_deinit(&names);
    end();
}

static void nothing_is_left_where_there_is_no_room(void)
{
    struct kept_names names = {.path = strdup("/a")};
    struct rlimit before, limit;
    char text[64];

    begin();
    for (unsigned i = 0; i < 4000; i++) {
        snprintf(text, sizeof(text), "%u%u", i * 2654435761u, i * 40503u);
        add(&names, 16ull * i, 16, text);
    }
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_EQUAL(kept_names_write(&names, folder.fd, "n.gait", encoder, NULL), -EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(faccessat(folder.fd, "n.gait", F_OK, 0) != 0 && faccessat(folder.fd, "n.gait.new", F_OK, 0) != 0);
    CHECK_EQUAL(kept_names_write(&names, folder.fd, "n.gait", encoder, NULL), 0);
    kept_names_deinit(&names);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(names_come_back_as_they_were),
    CHECK_CASE(many_names_take_several_chunks),
    CHECK_CASE(a_file_without_functions_is_known_too),
    CHECK_CASE(files_are_called_by_build_or_path),
    CHECK_CASE(what_was_mapped_before_a_change_is_another_file),
    CHECK_CASE(contents_are_not_trusted),
    CHECK_CASE(damaged_files_are_refused),
    CHECK_CASE(nothing_is_left_where_there_is_no_room),
};

CHECK_MAIN(cases)
