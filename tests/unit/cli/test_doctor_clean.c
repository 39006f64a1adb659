/* SPDX-License-Identifier: MIT */
#include "cli/doctor_clean.h"

#include "kernel/tracefs.h"
#include "support/check.h"

#include <fcntl.h>
#include <unistd.h>

static struct gait_error err;

static bool is_ours(const char *line, const char *expected)
{
    size_t length;
    const char *name = doctor_clean_name(line, &length);

    return name != NULL && length == strlen(expected) && memcmp(name, expected, length) == 0;
}

static void only_probes_of_our_name_are_meant(void)
{
    size_t length;

    CHECK(is_ours("p:gait/one /bin/bash:0x1234", "gait/one"));
    CHECK(is_ours("r16:gait_test/two vfs_read", "gait_test/two"));
    CHECK(doctor_clean_name("p:kprobes/gait vfs_read", &length) == NULL);
    CHECK(doctor_clean_name("p:gait vfs_read", &length) == NULL);
    CHECK(doctor_clean_name("", &length) == NULL);
    CHECK_EQUAL(length, 0);
}

static bool has_probe(const char *name)
{
    char *text;
    size_t size;
    bool is_there;

    if (tracefs_read("dynamic_events", &text, &size, &err) != 0)
        return false;
    is_there = strstr(text, name) != NULL;
    free(text);
    return is_there;
}

/* One is made by its name, as somebody might, and is gone afterwards. */
static void what_was_left_is_removed(void)
{
    static const char left[] = "p:gait_left/over /bin/sh:0x1000\n";
    const char *folder;
    char path[128];
    size_t removed, kept;
    int fd;

    if (tracefs_find(&folder, &err) != 0)
        check_skip(err.text);
    snprintf(path, sizeof(path), "%s/uprobe_events", folder);
    fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0 || write(fd, left, strlen(left)) != (ssize_t)strlen(left))
        check_skip("no probe can be made by name here");
    close(fd);
    CHECK(has_probe("gait_left/over"));
    CHECK_EQUAL(doctor_clean(&removed, &kept, &err), 0);
    CHECK_EQUAL(removed, 1);
    CHECK_EQUAL(kept, 0);
    CHECK(!has_probe("gait_left/over"));
}

static const struct check_case cases[] = {
    CHECK_CASE(only_probes_of_our_name_are_meant),
    CHECK_CASE(what_was_left_is_removed),
};

CHECK_MAIN(cases)
