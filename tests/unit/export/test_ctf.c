/* SPDX-License-Identifier: MIT */
#include "export/export_format.h"

#include "support/check.h"
#include "support/export_lab.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static struct export_lab lab;
static struct trace_folder target;
static char path[128];

static void begin(void)
{
    export_lab_init(&lab);
    trace_folder_init(&target);
    snprintf(path, sizeof(path), "%s/out", target.path);
    lab.job.path = path;
}

static void end(void)
{
    trace_folder_deinit(&target);
    export_lab_deinit(&lab);
}

static unsigned count_of(const uint8_t *bytes, size_t size_bytes, const char *text)
{
    unsigned count = 0;
    size_t length = strlen(text) + 1;

    for (size_t i = 0; i + length <= size_bytes; i++)
        count += memcmp(bytes + i, text, length) == 0;
    return count;
}

static void each_thread_is_a_stream(void)
{
    static const unsigned counts[] = {5, 5, 3};
    size_t size_bytes;
    uint8_t *bytes;

    begin();
    CHECK_EQUAL(export_lab_write(&lab, "ctf"), 0);
    bytes = trace_folder_read(&target, "out/metadata", &size_bytes);
    CHECK(memcmp(bytes, "/* CTF 1.8 */", 13) == 0);
    free(bytes);
    for (unsigned i = 0; i < 3; i++) {
        char name[64];

        snprintf(name, sizeof(name), "out/process_100.1_thread_%u.1", 100 + i);
        bytes = trace_folder_read(&target, name, &size_bytes);
        /* Calls begin and end by name. */
        CHECK_EQUAL(count_of(bytes, size_bytes, "example+0x1100"), 2 * counts[i]);
        free(bytes);
    }
    end();
}

static void an_empty_folder_is_used(void)
{
    begin();
    CHECK_EQUAL(mkdir(path, 0755), 0);
    CHECK_EQUAL(export_lab_write(&lab, "ctf"), 0);
    CHECK_EQUAL(faccessat(target.fd, "out/metadata", R_OK, 0), 0);
    end();
}

static void what_is_there_stays(void)
{
    size_t size_bytes;
    uint8_t *bytes;

    begin();
    trace_folder_make(&target, "out");
    trace_folder_write(&target, "out/letter", "dear", 4);
    CHECK_EQUAL(export_lab_write(&lab, "ctf"), -EEXIST);
    CHECK(strstr(lab.err.text, "it is there already") != NULL);
    bytes = trace_folder_read(&target, "out/letter", &size_bytes);
    CHECK_EQUAL(size_bytes, 4);
    free(bytes);
    CHECK_EQUAL(faccessat(target.fd, "out/metadata", R_OK, 0), -1);
    end();
}

static void what_can_be_read_is_written(void)
{
    begin();
    trace_folder_write(&lab.folder, "100/100.1.index.gait", "?", 1);
    CHECK(export_lab_write(&lab, "ctf") < 0);
    CHECK(strstr(lab.err.text, "100.1.index.gait") != NULL);
    CHECK_EQUAL(faccessat(target.fd, "out/process_100.1_thread_102.1", R_OK, 0), 0);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(each_thread_is_a_stream),
    CHECK_CASE(an_empty_folder_is_used),
    CHECK_CASE(what_is_there_stays),
    CHECK_CASE(what_can_be_read_is_written),
};

CHECK_MAIN(cases)
