/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace/packed_trace.h"

#include "support/check.h"
#include "support/random.h"
#include "support/trace_folder.h"
#include "trace/temporary_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct trace_folder folder;
static char pack_path[128];

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    trace_folder_make(&folder, "out");
    snprintf(pack_path, sizeof(pack_path), "%s/pack", folder.path);
}

static void pack_example(void)
{
    static const char *const paths[] = {"manifest.json", "100/modules.gait", "100/blocks.gait", "100/100.1.index.gait",
                                        "100/101.1.index.gait"};
    struct packed_file files[5];
    struct packed_amount amount;

    for (size_t i = 0; i < 5; i++)
        files[i] = (struct packed_file){folder.fd, paths[i]};
    CHECK_EQUAL(trace_pack_write(pack_path, files, 5, &amount, NULL), 0);
}

static void compare(int unpacked, const char *path)
{
    struct trace_folder other = {.fd = unpacked};
    size_t size, other_size;
    uint8_t *bytes = trace_folder_read(&folder, path, &size),
            *other_bytes = trace_folder_read(&other, path, &other_size);

    CHECK(size == other_size && memcmp(bytes, other_bytes, size) == 0);
    free(bytes);
    free(other_bytes);
}

static void what_was_packed_comes_out(void)
{
    struct temporary_folder *unpacked;
    int fd;

    begin();
    pack_example();
    CHECK_EQUAL(trace_unpack_open(pack_path, &unpacked, &fd, NULL), 0);
    compare(fd, "manifest.json");
    compare(fd, "100/blocks.gait");
    compare(fd, "100/101.1.index.gait");
    close(fd);
    temporary_folder_remove(unpacked);
    trace_folder_deinit(&folder);
}

static void packed_traces_are_opened_as_others(void)
{
    struct trace_files files;
    char path[128];

    begin();
    pack_example();
    CHECK_EQUAL(trace_files_open(&files, pack_path, NULL), 0);
    CHECK_EQUAL(files.count, 5);
    CHECK(files.unpacked != NULL);
    snprintf(path, sizeof(path), "%s", files.unpacked->path);
    CHECK_EQUAL(access(path, F_OK), 0);
    trace_files_close(&files);
    CHECK(access(path, F_OK) != 0);
    trace_folder_deinit(&folder);
}

/* ---- packs that somebody else has made --------------------------------------------------------------------------- */

static struct trace_bytes contents;
static size_t piece_bytes;

/* A chunk; all have the same size, as the plan for a stream wants it. */
static void put(const char *path, uint64_t file_bytes, uint64_t offset, size_t data_bytes)
{
    struct trace_packed packed = {.path_bytes = (uint32_t)strlen(path), .file_bytes = file_bytes, .offset = offset};

    trace_bytes_put(&contents, &packed, sizeof(packed));
    trace_bytes_put(&contents, path, packed.path_bytes);
    for (size_t i = 0; i < data_bytes; i++)
        trace_bytes_put(&contents, "x", 1);
    piece_bytes = sizeof(packed) + packed.path_bytes + data_bytes;
}

/* The first chunk, as large as those that follow. */
static void put_total(uint64_t total, size_t size_bytes)
{
    struct trace_packed packed = {.file_bytes = total};

    contents.size_bytes = 0;
    trace_bytes_put(&contents, &packed, sizeof(packed));
    for (size_t i = sizeof(packed); i < size_bytes; i++)
        trace_bytes_put(&contents, "", 1);
}

static int unpack(struct gait_error *err)
{
    int fd = openat(folder.fd, "out", O_RDONLY | O_DIRECTORY | O_CLOEXEC), result;

    unlinkat(folder.fd, "pack", 0);
    trace_folder_put_stream(&folder, &(struct trace_stream_plan){.name = "pack",
                                                                 .header = {.kind = TRACE_STREAM_PACK},
                                                                 .bytes = &contents,
                                                                 .piece_bytes = piece_bytes});
    result = trace_unpack_to(pack_path, fd, err);
    close(fd);
    return result;
}

static void refuse_contents(const char *part)
{
    struct gait_error err = {0};

    CHECK(unpack(&err) < 0);
    if (strstr(err.text, part) == NULL)
        CHECK_TEXT(err.text, part);
}

static void files_outside_are_not_written(void)
{
    static const char *const paths[] = {
        "../escaped",
        "/tmp/escaped",
        "100/../escaped",
        "names/../../escaped",
        "100/modules.gait/",
        "debug/.build-id/..",
        "100//a",
        "./manifest.json",
        "100/blocks.gait.new",
        "names/0.gait",
        "100",
        "names/zz.gait",
        "",
        "debug/.build-id/12/../../../../escaped.debug",
    };

    begin();
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        put_total(1, sizeof(struct trace_packed) + strlen(paths[i]) + 1);
        put(paths[i], 1, 0, 1);
        refuse_contents("a file in it that belongs to no trace");
    }
    CHECK(faccessat(folder.fd, "escaped", F_OK, 0) != 0 && access("/tmp/escaped", F_OK) != 0);
    CHECK_EQUAL(unlinkat(folder.fd, "out", AT_REMOVEDIR), 0);
    trace_folder_deinit(&folder);
}

static void links_are_not_followed(void)
{
    begin();
    CHECK_EQUAL(symlinkat("../escaped", folder.fd, "out/manifest.json"), 0);
    put_total(1, sizeof(struct trace_packed) + 14);
    put("manifest.json", 1, 0, 1);
    refuse_contents("a file is in it twice");
    CHECK(faccessat(folder.fd, "escaped", F_OK, 0) != 0);
    trace_folder_deinit(&folder);
}

static void sizes_have_to_be_right(void)
{
    size_t chunk = sizeof(struct trace_packed) + strlen("1/blocks.gait") + 4;

    begin();
    put_total(8, chunk);
    put("1/blocks.gait", 8, 0, 4);
    put("1/blocks.gait", 8, 4, 4);
    CHECK_EQUAL(unpack(NULL), 0);
    put_total(8, chunk);
    put("2/blocks.gait", 8, 0, 4);
    put("2/blocks.gait", 8, 0, 4);
    refuse_contents("do not fit together");
    put_total(8, chunk);
    put("3/blocks.gait", 6, 0, 4);
    put("3/blocks.gait", 6, 4, 4);
    refuse_contents("do not fit together");
    put_total(8, chunk);
    put("4/blocks.gait", 8, 0, 4);
    put("5/blocks.gait", 4, 0, 4);
    refuse_contents("ends too early");
    put_total(4, chunk);
    put("6/blocks.gait", 4, 0, 4);
    put("7/blocks.gait", 4, 0, 4);
    refuse_contents("more in it than it says");
    put_total(9, chunk);
    put("8/blocks.gait", 4, 0, 4);
    refuse_contents("less in it than it says");
    put_total(8, chunk);
    put("9/blocks.gait", 4, 0, 4);
    put("8/blocks.gait", 4, 0, 4);
    refuse_contents("twice");
    contents.size_bytes = 0;
    put("1/blocks.gait", 4, 0, 4);
    refuse_contents("does not say how much");
    put_total(UINT64_MAX, chunk);
    refuse_contents("TMPDIR can name another place");
    trace_folder_deinit(&folder);
}

static void refuse(const char *path, const char *part)
{
    struct temporary_folder *unpacked;
    struct gait_error err = {0};
    int fd;

    CHECK(trace_unpack_open(path, &unpacked, &fd, &err) < 0);
    if (strstr(err.text, part) == NULL)
        CHECK_TEXT(err.text, part);
}

static void other_files_are_refused(void)
{
    char path[128];

    begin();
    snprintf(path, sizeof(path), "%s/100/blocks.gait", folder.path);
    refuse(path, "one file of a trace, and not all of it");
    refuse("/dev/null", "nor a packed trace");
    refuse("/nowhere", "No such file");
    snprintf(path, sizeof(path), "%s/manifest.json", folder.path);
    refuse(path, "nor a packed trace");
    trace_folder_deinit(&folder);
}

static void damaged_packs_are_refused(void)
{
    struct random random;
    uint8_t *bytes, *copy;
    size_t size;

    begin();
    random_init(&random, 5);
    pack_example();
    bytes = trace_folder_read(&folder, "pack", &size);
    copy = malloc(size);
    for (unsigned i = 0; i < 300; i++) {
        size_t at = random_below(&random, size);
        struct temporary_folder *unpacked;
        int fd;

        memcpy(copy, bytes, size);
        copy[at] ^= (uint8_t)(1u << random_below(&random, 8));
        trace_folder_write(&folder, "pack", copy, i % 2 == 0 ? size : at);
        if (trace_unpack_open(pack_path, &unpacked, &fd, NULL) != 0)
            continue;
        /* Nobody looks at when it was packed. */
        CHECK(i % 2 == 0);
        compare(fd, "100/blocks.gait");
        close(fd);
        temporary_folder_remove(unpacked);
    }
    free(bytes);
    free(copy);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_packed_comes_out),     CHECK_CASE(packed_traces_are_opened_as_others),
    CHECK_CASE(files_outside_are_not_written), CHECK_CASE(links_are_not_followed),
    CHECK_CASE(sizes_have_to_be_right),        CHECK_CASE(other_files_are_refused),
    CHECK_CASE(damaged_packs_are_refused),
};

CHECK_MAIN(cases)
