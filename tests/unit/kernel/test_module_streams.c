/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "kernel/module_streams.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <errno.h>
#include <unistd.h>

#define NOBODY 4194304u /* more than any process has */

static struct trace_folder folder;
static struct chunk_encoder *encoder;
static struct module_streams *streams;
static struct modules modules;
static struct gait_error err;

static void begin(void)
{
    trace_folder_init(&folder);
    CHECK_EQUAL(chunk_encoder_create(false, &encoder), 0);
    CHECK_EQUAL(module_streams_create(folder.fd, encoder, &streams), 0);
}

static void read_back(uint32_t pid)
{
    char path[64];

    CHECK_EQUAL(module_streams_end(streams), 0);
    chunk_encoder_destroy(encoder);
    snprintf(path, sizeof(path), "%" PRIu32 "/modules.gait", pid);
    CHECK_EQUAL(modules_read(&modules, folder.fd, path, &err), 0);
    CHECK_EQUAL(modules.end.state, STREAM_COMPLETE);
}

static void end(void)
{
    modules_deinit(&modules);
    trace_folder_deinit(&folder);
}

static void map(uint32_t pid, uint64_t start, const char *path, uint64_t time)
{
    module_streams_map(
        streams,
        &(struct perf_mapping){
            .pid = pid, .time = time, .start = start, .size_bytes = 0x1000, .file_offset = 0x2000, .path = path});
}

static void what_was_mapped_before_and_after_is_written(void)
{
    begin();
    module_streams_execute(streams, NOBODY, 10);
    map(NOBODY, 0x1000, "/bin/first", 20);
    module_streams_want(streams, NOBODY);
    module_streams_want(streams, NOBODY);
    map(NOBODY, 0x5000, "/lib/second", 30);
    module_streams_execute(streams, NOBODY, 40);
    map(NOBODY, 0x1000, "/bin/third", 50);
    read_back(NOBODY);
    CHECK_EQUAL(modules.count, 3);
    CHECK_TEXT(modules_find(&modules, 0x1800, 25, 25)->path, "/bin/first");
    CHECK_EQUAL(modules_find(&modules, 0x1800, 25, 25)->file_offset, 0x2000);
    CHECK_TEXT(modules_find(&modules, 0x5000, 35, 35)->path, "/lib/second");
    CHECK(modules_find(&modules, 0x5000, 45, 45) == NULL);
    CHECK_TEXT(modules_find(&modules, 0x1800, 55, 55)->path, "/bin/third");
    end();
}

static void nobody_else_has_a_file(void)
{
    begin();
    module_streams_execute(streams, NOBODY, 10);
    map(NOBODY, 0x1000, "/bin/first", 20);
    module_streams_want(streams, 0);
    CHECK_EQUAL(module_streams_end(streams), 0);
    chunk_encoder_destroy(encoder);
    CHECK_EQUAL(rmdir(folder.path), 0);
}

/* Of this process, which is there: with build IDs where files have some. */
static void files_are_known_by_their_build_ids(void)
{
    bool has_id = false;

    begin();
    module_streams_want(streams, (uint32_t)getpid());
    read_back((uint32_t)getpid());
    CHECK(modules.count >= 2);
    for (size_t i = 0; i < modules.count; i++)
        has_id |= modules.modules[i].build_id_bytes != 0;
    CHECK(has_id);
    end();
}

static void a_number_comes_again(void)
{
    begin();
    module_streams_execute(streams, NOBODY, 10);
    map(NOBODY, 0x1000, "/bin/first", 20);
    module_streams_execute(streams, NOBODY + 1, 10);
    map(NOBODY + 1, 0x1000, "/bin/other", 20);
    module_streams_want(streams, NOBODY);
    module_streams_exit(streams, NOBODY);
    module_streams_fork(streams, NOBODY, NOBODY + 1, 60);
    read_back(NOBODY);
    CHECK_TEXT(modules_find(&modules, 0x1800, 30, 30)->path, "/bin/first");
    CHECK_TEXT(modules_find(&modules, 0x1800, 70, 70)->path, "/bin/other");
    end();
}

static void a_folder_that_is_there_is_somebody_elses(void)
{
    begin();
    trace_folder_make(&folder, "4194304");
    module_streams_want(streams, NOBODY);
    CHECK_EQUAL(module_streams_end(streams), -EEXIST);
    chunk_encoder_destroy(encoder);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_mapped_before_and_after_is_written), CHECK_CASE(nobody_else_has_a_file),
    CHECK_CASE(files_are_known_by_their_build_ids),          CHECK_CASE(a_number_comes_again),
    CHECK_CASE(a_folder_that_is_there_is_somebody_elses),
};

CHECK_MAIN(cases)
