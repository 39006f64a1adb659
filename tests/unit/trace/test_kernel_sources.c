/* SPDX-License-Identifier: MIT */
#include "trace/kernel_sources.h"

#include "support/check.h"
#include "support/kernel_trace.h"

#include <errno.h>
#include <unistd.h>

static struct trace_folder folder;
static struct kernel_sources sources;
static struct gait_error err;

static int read_bytes(const struct trace_bytes *bytes)
{
    unlinkat(folder.fd, "s.gait", 0);
    trace_folder_put_stream(
        &folder,
        &(struct trace_stream_plan){.name = "s.gait", .header = {.kind = TRACE_STREAM_KERNEL_SOURCES}, .bytes = bytes});
    return kernel_sources_read(&sources, folder.fd, "s.gait", &err);
}

static void definitions_are_found(void)
{
    kernel_trace_put_example(&folder);
    CHECK_EQUAL(kernel_sources_read(&sources, folder.fd, "kernel/sources.gait", &err), 0);
    CHECK_EQUAL(sources.source_count, 3);
    CHECK_TEXT(kernel_sources_find(&sources, 1)->spec, "tracepoint:clock:tick");
    CHECK_TEXT(kernel_sources_find(&sources, 2)->name, "tock");
    CHECK(kernel_sources_find(&sources, 0) == NULL);
    CHECK(kernel_sources_find(&sources, 3) == NULL);
    CHECK(kernel_sources_find(&sources, 1)->has_total);
    CHECK_EQUAL(kernel_sources_find(&sources, 1)->lost_count, 5);
    CHECK(!kernel_sources_find(&sources, 2)->has_total);
    CHECK_EQUAL(kernel_source_field(kernel_sources_find(&sources, 1), "text")->offset, 8);
    CHECK(kernel_source_field(kernel_sources_find(&sources, 1), "texts") == NULL);
    kernel_sources_deinit(&sources);
}

static void threads_have_the_name_of_the_time(void)
{
    CHECK_EQUAL(kernel_sources_read(&sources, folder.fd, "kernel/sources.gait", &err), 0);
    CHECK_TEXT(kernel_sources_thread(&sources, 100, 1249), "early");
    CHECK_TEXT(kernel_sources_thread(&sources, 100, 1250), "late");
    CHECK_TEXT(kernel_sources_thread(&sources, 100, UINT64_MAX), "late");
    CHECK_TEXT(kernel_sources_thread(&sources, 99, 1250), "");
    CHECK_TEXT(kernel_sources_thread(&sources, 101, 1250), "");
    kernel_sources_deinit(&sources);
}

static void functions_cover_addresses(void)
{
    CHECK_EQUAL(kernel_sources_read(&sources, folder.fd, "kernel/sources.gait", &err), 0);
    CHECK(kernel_sources_function(&sources, 0xfff) == NULL);
    CHECK_TEXT(kernel_sources_function(&sources, 0x1000)->name, "ticking");
    CHECK_TEXT(kernel_sources_function(&sources, 0x1fff)->name, "ticking");
    CHECK(kernel_sources_function(&sources, 0x2000) == NULL);
    kernel_sources_deinit(&sources);
}

static void what_is_not_known_is_passed_over(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    const struct kernel_definition other = {sizeof(other), 99};

    trace_bytes_put(&bytes, &other, sizeof(other));
    kernel_trace_put_source(&bytes, 1, "a", "b", NULL, 0);
    CHECK_EQUAL(read_bytes(&bytes), 0);
    CHECK_EQUAL(sources.source_count, 2);
    kernel_sources_deinit(&sources);
}

static void nonsense_is_refused(void)
{
    struct trace_bytes good = {.size_bytes = 0}, bad;
    const struct kernel_field field = {.size_bytes = 8, .count = 1, .type = KERNEL_FIELD_HEX, .name = "f"};

    kernel_trace_put_source(&good, 1, "a", "b", &field, 1);
    CHECK_EQUAL(read_bytes(&good), 0);
    kernel_sources_deinit(&sources);
    /* Any number that says how much there is, or which. */
    for (size_t at = 0; at < 32; at += 4) {
        const uint32_t huge = 0xfffffff0u;

        bad = good;
        memcpy(bad.bytes + at, &huge, sizeof(huge));
        if (at == 4 || at == 12) {
            CHECK_EQUAL(read_bytes(&bad), 0);
            kernel_sources_deinit(&sources);
        } else {
            CHECK_EQUAL(read_bytes(&bad), -EPROTO);
        }
    }
    bad = good;
    memset(bad.bytes + 32 + 12, 0xff, 4);
    CHECK_EQUAL(read_bytes(&bad), -EPROTO);
    bad = good;
    memset(bad.bytes + 32 + 16, 'x', KERNEL_FIELD_NAME_SIZE);
    CHECK_EQUAL(read_bytes(&bad), -EPROTO);
    bad = good;
    bad.size_bytes -= 8;
    CHECK_EQUAL(read_bytes(&bad), -EPROTO);
    bad.size_bytes = 0;
    kernel_trace_put_total(&bad, 1, 1, 1);
    CHECK_EQUAL(read_bytes(&bad), -EPROTO);
}

static void other_streams_are_refused(void)
{
    CHECK_EQUAL(kernel_sources_read(&sources, folder.fd, "kernel/0.events.gait", &err), -EPROTO);
    CHECK(strstr(err.text, "files were mixed up") != NULL);
    CHECK_EQUAL(kernel_sources_read(&sources, folder.fd, "nothing", &err), -ENOENT);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(definitions_are_found),     CHECK_CASE(threads_have_the_name_of_the_time),
        CHECK_CASE(functions_cover_addresses), CHECK_CASE(what_is_not_known_is_passed_over),
        CHECK_CASE(nonsense_is_refused),       CHECK_CASE(other_streams_are_refused),
    };
    int result;

    trace_folder_init(&folder);
    result = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    trace_folder_deinit(&folder);
    return result;
}
