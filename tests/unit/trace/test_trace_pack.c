/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace/packed_trace.h"

#include "support/check.h"
#include "support/trace_folder.h"
#include "trace/stream_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static struct trace_folder folder;
static char path[128];

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    snprintf(path, sizeof(path), "%s/pack", folder.path);
}

static int pack(const char *first, const char *second, struct packed_amount *amount, struct gait_error *err)
{
    const struct packed_file files[] = {{folder.fd, first}, {folder.fd, second}};

    return trace_pack_write(path, files, 2, amount, err);
}

static void files_follow_each_other(void)
{
    struct packed_amount amount;
    struct stream_reader reader;
    struct stream_chunk chunk;
    struct trace_packed packed;
    size_t size;
    uint8_t *bytes;

    begin();
    trace_folder_write(&folder, "empty", "", 0);
    bytes = trace_folder_read(&folder, "manifest.json", &size);
    CHECK_EQUAL(pack("manifest.json", "empty", &amount, NULL), 0);
    CHECK_EQUAL(amount.file_bytes, size);
    CHECK_EQUAL(stream_reader_open(&reader, folder.fd, "pack", NULL), 0);
    CHECK_EQUAL(reader.header.kind, TRACE_STREAM_PACK);
    CHECK(stream_reader_next(&reader, &chunk));
    memcpy(&packed, chunk.bytes, sizeof(packed));
    CHECK_EQUAL(packed.file_bytes, size);
    CHECK_EQUAL(packed.path_bytes, 0);
    CHECK(stream_reader_next(&reader, &chunk));
    CHECK_EQUAL(chunk.size_bytes, sizeof(packed) + 13 + size);
    CHECK(memcmp(chunk.bytes + sizeof(packed), "manifest.json", 13) == 0);
    CHECK(memcmp(chunk.bytes + sizeof(packed) + 13, bytes, size) == 0);
    CHECK(stream_reader_next(&reader, &chunk));
    CHECK_EQUAL(chunk.size_bytes, sizeof(packed) + 5);
    CHECK(!stream_reader_next(&reader, &chunk));
    CHECK_EQUAL(reader.end.state, STREAM_COMPLETE);
    CHECK_EQUAL(amount.packed_bytes, lseek(reader.fd, 0, SEEK_END));
    stream_reader_close(&reader);
    free(bytes);
    trace_folder_deinit(&folder);
}

static void nothing_is_overwritten(void)
{
    struct packed_amount amount;
    struct gait_error err;
    size_t size;
    uint8_t *bytes;

    begin();
    trace_folder_write(&folder, "pack", "mine", 4);
    CHECK_EQUAL(pack("manifest.json", "100/blocks.gait", &amount, &err), -EEXIST);
    CHECK(strstr(err.text, "it is there already") != NULL);
    bytes = trace_folder_read(&folder, "pack", &size);
    CHECK(size == 4 && memcmp(bytes, "mine", 4) == 0);
    free(bytes);
    trace_folder_deinit(&folder);
}

static void a_failure_leaves_nothing(void)
{
    struct packed_amount amount;
    struct rlimit before, limit;
    struct gait_error err;

    begin();
    CHECK_EQUAL(pack("manifest.json", "nothing", &amount, &err), -ENOENT);
    CHECK(strstr(err.text, "cannot pack 'nothing'") != NULL);
    CHECK_EQUAL(pack("manifest.json", "100", &amount, &err), -EPROTO);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 200;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_EQUAL(pack("manifest.json", "100/blocks.gait", &amount, &err), -EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(strstr(err.text, "File too large; -o can name another place") != NULL);
    CHECK(faccessat(folder.fd, "pack", F_OK, 0) != 0 && faccessat(folder.fd, "pack.part", F_OK, 0) != 0);
    snprintf(path, sizeof(path), "%s/nowhere/pack", folder.path);
    CHECK_EQUAL(pack("manifest.json", "100/blocks.gait", &amount, &err), -ENOENT);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(files_follow_each_other),
    CHECK_CASE(nothing_is_overwritten),
    CHECK_CASE(a_failure_leaves_nothing),
};

CHECK_MAIN(cases)
