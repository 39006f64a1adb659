/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "symbolize/kept_trace.h"

#include "support/check.h"
#include "support/movable_program.h"
#include "support/trace_folder.h"
#include "symbolize/kept_module.h"
#include "trace/kept_names.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static struct trace_folder folder, programs;
static struct movable_program with_id, without_id;

static void put_module(struct trace_bytes *bytes, const struct recorded_module *module, uint64_t time)
{
    struct trace_module record = {
        .change = TRACE_MODULE_LOADED,
        .time = time,
        .start = module->start,
        .end = module->end,
        .file_offset = module->file_offset,
        .build_id_bytes = module->build_id_bytes,
    };

    memcpy(record.build_id, module->build_id, sizeof(record.build_id));
    trace_bytes_put_module(bytes, &record, module->path);
}

/* A manifest whose counter counts nanoseconds from a moment in `seconds` on. */
static void put_manifest(int seconds)
{
    struct timespec now;
    char text[1024];
    int length;

    clock_gettime(CLOCK_REALTIME, &now);
    length =
        snprintf(text, sizeof(text),
                 "{\"format\": \"gait trace\", \"version\": 1, \"program\": \"p\", \"arguments\": [], \"events\": [],"
                 "\"with_times\": false, \"began_unix_ns\": %lld, \"ended\": \"exit\", \"clocks\": ["
                 "{\"counter\": 1000, \"monotonic_ns\": 1000}, {\"counter\": 5000000001000, \"monotonic_ns\": "
                 "5000000001000}], \"processes\": []}",
                 ((long long)now.tv_sec + seconds) * 1000000000);
    trace_folder_write(&folder, "manifest.json", text, (size_t)length);
}

/* Two processes with both programs. */
static void begin(int seconds)
{
    struct trace_bytes bytes = {.size_bytes = 0};

    trace_folder_init(&programs);
    trace_folder_init(&folder);
    movable_program_make(&with_id, programs.path, "with", "");
    movable_program_make(&without_id, programs.path, "without", "-Wl,--build-id=none");
    put_module(&bytes, &with_id.module, 2000);
    put_module(&bytes, &without_id.module, 2000);
    put_module(&bytes, &(struct recorded_module){.path = (char *)(uintptr_t) "/nowhere/at/all", .start = 1, .end = 2},
               2000);
    trace_folder_make(&folder, "7");
    trace_folder_make(&folder, "8");
    for (unsigned i = 0; i < 2; i++)
        trace_folder_put_stream(&folder, &(struct trace_stream_plan){
                                             .name = i == 0 ? "7/modules.gait" : "8/modules.gait",
                                             .header = {.kind = TRACE_STREAM_MODULES},
                                             .bytes = &bytes,
                                         });
    put_manifest(seconds);
}

static void end(void)
{
    trace_folder_deinit(&folder);
    trace_folder_deinit(&programs);
}

static const struct foreign_roots *roots;

static int keep(int where, struct kept_outcome *outcome, struct gait_error *err)
{
    struct trace_files files;
    int result;

    CHECK_EQUAL(trace_files_open(&files, folder.path, NULL), 0);
    result = kept_trace_write(&files, where, roots, outcome, err);
    trace_files_close(&files);
    return result;
}

static void names_of_all_files_are_kept_once(void)
{
    struct kept_outcome outcome;
    struct kept_names names;

    begin(10);
    CHECK_EQUAL(keep(folder.fd, &outcome, NULL), 0);
    CHECK_EQUAL(outcome.kept_count, 2);
    CHECK(outcome.function_count > 6 && outcome.left_count >= 1);
    unlink(with_id.path);
    unlink(without_id.path);
    without_id.module.loaded = 2000;
    CHECK_EQUAL(kept_module_read(folder.fd, &with_id.module, &names), 0);
    kept_names_deinit(&names);
    CHECK_EQUAL(kept_module_read(folder.fd, &without_id.module, &names), 0);
    CHECK_EQUAL(names.file.from, 0);
    kept_names_deinit(&names);
    CHECK_EQUAL(keep(folder.fd, &outcome, NULL), 0);
    CHECK_EQUAL(outcome.kept_count, 0);
    end();
}

/* It was mapped before it became what it is. */
static void names_of_a_changed_file_are_for_what_was_mapped_since(void)
{
    struct kept_outcome outcome;
    struct kept_names names;

    begin(-1000);
    CHECK_EQUAL(keep(folder.fd, &outcome, NULL), 0);
    CHECK_EQUAL(outcome.left_count, 2);
    without_id.module.loaded = 2000;
    CHECK_EQUAL(kept_module_read(folder.fd, &without_id.module, &names), -ESTALE);
    /* About when it was made. */
    without_id.module.loaded = 2000000000000;
    CHECK_EQUAL(kept_module_read(folder.fd, &without_id.module, &names), 0);
    CHECK(names.file.from > 900000000000 && names.file.from < 2000000000000);
    kept_names_deinit(&names);
    end();
}

static void another_folder_gets_what_the_trace_lacks(void)
{
    struct kept_outcome outcome;
    struct trace_folder other;

    begin(10);
    trace_folder_init(&other);
    CHECK_EQUAL(keep(other.fd, &outcome, NULL), 0);
    CHECK_EQUAL(outcome.kept_count, 2);
    CHECK(faccessat(folder.fd, "names", F_OK, 0) != 0 && faccessat(other.fd, "names", F_OK, 0) == 0);
    trace_folder_deinit(&other);
    CHECK_EQUAL(keep(folder.fd, &outcome, NULL), 0);
    trace_folder_init(&other);
    CHECK_EQUAL(keep(other.fd, &outcome, NULL), 0);
    CHECK_EQUAL(outcome.kept_count, 0);
    trace_folder_deinit(&other);
    end();
}

static void a_full_disk_is_said(void)
{
    struct kept_outcome outcome;
    struct rlimit before, limit;
    struct gait_error err;

    begin(10);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 128;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_EQUAL(keep(folder.fd, &outcome, &err), -EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK_TEXT(err.text, "cannot keep the names of functions in the trace: File too large");
    CHECK_EQUAL(unlinkat(folder.fd, "names", AT_REMOVEDIR), 0);
    end();
}

static int count(void *context, const struct recorded_module *module)
{
    unsigned *counts = context;

    counts[module->build_id_bytes == 0]++;
    return counts[0] + counts[1] == counts[2] ? -EINTR : 0;
}

static void files_are_visited_once_by_build(void)
{
    unsigned counts[3] = {0};
    struct trace_files files;

    begin(10);
    CHECK_EQUAL(trace_files_open(&files, folder.path, NULL), 0);
    CHECK_EQUAL(kept_trace_visit(&files, count, counts), 0);
    CHECK_EQUAL(counts[0], 1);
    CHECK_EQUAL(counts[1], 2);
    counts[0] = counts[1] = 0;
    counts[2] = 2;
    CHECK_EQUAL(kept_trace_visit(&files, count, counts), -EINTR);
    trace_files_close(&files);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(names_of_all_files_are_kept_once),
    CHECK_CASE(names_of_a_changed_file_are_for_what_was_mapped_since),
    CHECK_CASE(another_folder_gets_what_the_trace_lacks),
    CHECK_CASE(a_full_disk_is_said),
    CHECK_CASE(files_are_visited_once_by_build),
};

CHECK_MAIN(cases)
