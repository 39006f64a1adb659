/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace/file_check.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <fcntl.h>
#include <unistd.h>

static struct trace_folder folder;

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
}

/* Checks all files, and expects one to be found so; all others to be good. */
static void expect(const char *path, enum file_verdict verdict, const char *part)
{
    struct trace_files files;
    struct file_checker checker;
    struct file_finding finding;
    bool is_found = path == NULL;

    CHECK_EQUAL(trace_files_open(&files, folder.path, NULL), 0);
    file_checker_init(&checker, &files);
    for (size_t i = 0; i < files.count; i++) {
        bool is_it = path != NULL && strcmp(files.files[i].path, path) == 0;

        file_checker_run(&checker, &files.files[i], &finding);
        if (finding.verdict != (is_it ? verdict : FILE_GOOD) || (is_it && strstr(finding.text, part) == NULL))
            CHECK_TEXT(finding.text, is_it ? part : "good");
        is_found = is_found || is_it;
    }
    CHECK(is_found);
    file_checker_deinit(&checker);
    trace_files_close(&files);
    trace_folder_deinit(&folder);
}

static void a_good_trace_is_good(void)
{
    begin();
    expect(NULL, FILE_GOOD, "");
    begin();
    expect("100/101.1.index.gait", FILE_GOOD, "5 chunks, 240 bytes, 10 events, 288 bytes lost");
    begin();
    expect("manifest.json", FILE_GOOD, "1 process, 2 threads");
}

static void change(const char *path, size_t cut, size_t at)
{
    size_t size;
    uint8_t *bytes = trace_folder_read(&folder, path, &size);

    if (at != 0)
        bytes[at] ^= 1;
    trace_folder_write(&folder, path, bytes, size - cut);
    free(bytes);
}

static void what_is_wrong_is_found(void)
{
    begin();
    change("100/101.1.index.gait", 64, 0);
    expect("100/101.1.index.gait", FILE_CUT_OFF, "after 5 chunks, at byte 584: there is no footer");
    begin();
    change("100/modules.gait", 0, 130);
    expect("100/modules.gait", FILE_DAMAGED, "after 0 chunks, at byte 64: the chunk's bytes have the wrong sum");
    begin();
    change("manifest.json", 2, 0);
    expect("manifest.json", FILE_DAMAGED, "line");
    begin();
    trace_folder_write(&folder, "notes", "", 0);
    expect("notes", FILE_FOREIGN, "does not belong");
    begin();
    CHECK_EQUAL(renameat(folder.fd, "100/101.1.index.gait", folder.fd, "100/102.1.index.gait"), 0);
    expect("100/102.1.index.gait", FILE_DAMAGED, "is that of thread 101");
}

static void events_need_their_blocks(void)
{
    begin();
    CHECK_EQUAL(unlinkat(folder.fd, "100/101.1.index.gait", 0), 0);
    CHECK_EQUAL(unlinkat(folder.fd, "100/blocks.gait", 0), 0);
    expect("100/100.1.index.gait", FILE_DAMAGED, "'100/blocks.gait' is missing");
}

static const struct check_case cases[] = {
    CHECK_CASE(a_good_trace_is_good),
    CHECK_CASE(what_is_wrong_is_found),
    CHECK_CASE(events_need_their_blocks),
};

CHECK_MAIN(cases)
