/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

static struct call_text_run run;

static void modes_and_flags(void)
{
    struct call_text *text = call_text_run_init(&run);

    file_text_put_mode(text, S_IFREG | 0644);
    CHECK_TEXT(run.buffer, "S_IFREG|0644");
    call_text_run_clear(&run);
    file_text_put_mode(text, S_IFDIR | S_ISVTX | 0777);
    CHECK_TEXT(run.buffer, "S_IFDIR|S_ISVTX|0777");
    call_text_run_clear(&run);
    file_text_put_open_flags(&run.out, O_RDWR | O_CREAT | O_CLOEXEC);
    CHECK_TEXT(run.buffer, "O_RDWR|O_CREAT|O_CLOEXEC");
}

static void files_tell_size_or_device(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct stat info = {.st_mode = S_IFREG | 0600, .st_size = 12};

    file_text_put_stat(text, &info);
    CHECK_TEXT(run.buffer, "{st_mode=S_IFREG|0600, st_size=12, ...}");
    info.st_mode = S_IFCHR | 0620;
    info.st_rdev = makedev(136, 1);
    call_text_run_clear(&run);
    file_text_put_stat(text, &info);
    CHECK_TEXT(run.buffer, "{st_mode=S_IFCHR|0620, st_rdev=makedev(0x88, 0x1), ...}");
}

static void file_systems(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct statfs info = {.f_type = 0xef53, .f_bsize = 4096, .f_namelen = 255, .f_flags = 0x1020};

    file_text_put_statfs(text, &info);
    CHECK_TEXT(run.buffer,
               "{f_type=EXT2_SUPER_MAGIC, f_bsize=4096, f_blocks=0, f_bfree=0, f_bavail=0, f_files=0, f_ffree=0, "
               "f_fsid={val=[0, 0]}, f_namelen=255, f_frsize=0, f_flags=ST_VALID|ST_RELATIME}");
}

static void ways_to_open(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_BENEATH};

    file_text_put_open_how(text, AT(&how), sizeof(how));
    file_text_put_open_how(text, 0x10, 8);
    CHECK_TEXT(run.buffer, "{flags=O_RDONLY, resolve=RESOLVE_BENEATH}0x10");
}

static void entries_are_counted(void)
{
    struct call_text *text = call_text_run_init(&run);
    unsigned char entries[72] = {[16] = 24, [24 + 16] = 24, [48 + 16] = 0};
    char expected[64];

    file_text_put_entries(text, AT(entries), 48);
    snprintf(expected, sizeof(expected), "%p /* 2 entries */", (void *)entries);
    CHECK_TEXT(run.buffer, expected);
    /* The third one cannot be read. */
    text = call_text_run_init(&run);
    file_text_put_entries(text, AT(entries), sizeof(entries));
    snprintf(expected, sizeof(expected), "%p /* at least 2 entries */", (void *)entries);
    CHECK_TEXT(run.buffer, expected);
}

static const struct check_case cases[] = {
    CHECK_CASE(modes_and_flags), CHECK_CASE(files_tell_size_or_device), CHECK_CASE(file_systems),
    CHECK_CASE(ways_to_open),    CHECK_CASE(entries_are_counted),
};

CHECK_MAIN(cases)
