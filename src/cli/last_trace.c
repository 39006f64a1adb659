/* SPDX-License-Identifier: MIT */
/*
 * Recordings are called PROGRAM-YYYYMMDD-HHMMSS, and the second of a moment has a number behind it: who began last is
 * the one with the latest time, and of several the one whose manifest was written last.
 */
#define _GNU_SOURCE
#include "cli/last_trace.h"

#include "hosted/error_text.h"
#include "trace/trace_layout.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER     "traces"
#define TIME_BYTES 16u /* "20260131-120000" and the mark before it */

struct found_trace {
    char name[NAME_MAX + 1];
    char time[TIME_BYTES];
    struct timespec written;
};

static bool is_time(const char *text)
{
    for (unsigned i = 0; i < TIME_BYTES - 1; i++)
        if (i == 8 ? text[i] != '-' : text[i] < '0' || text[i] > '9')
            return false;
    return text[TIME_BYTES - 1] == '\0' || text[TIME_BYTES - 1] == '-';
}

/* The last part of the name that is one. False: nobody recorded that. */
static bool find_time(const char *name, char time_out[TIME_BYTES])
{
    for (const char *at = name + strlen(name); at > name; at--)
        if (at[-1] == '-' && strlen(at) >= TIME_BYTES - 1 && is_time(at)) {
            memcpy(time_out, at, TIME_BYTES - 1);
            time_out[TIME_BYTES - 1] = '\0';
            return true;
        }
    return false;
}

static bool is_later(const struct found_trace *left, const struct found_trace *right)
{
    int order = strcmp(left->time, right->time);

    if (order != 0)
        return order > 0;
    if (left->written.tv_sec != right->written.tv_sec)
        return left->written.tv_sec > right->written.tv_sec;
    return left->written.tv_nsec > right->written.tv_nsec;
}

static void look_at(DIR *folder, const char *name, struct found_trace *last)
{
    struct found_trace found;
    char path[NAME_MAX + sizeof("/" TRACE_MANIFEST_NAME) + 1];
    struct stat status;

    if (!find_time(name, found.time))
        return;
    snprintf(path, sizeof(path), "%s/" TRACE_MANIFEST_NAME, name);
    if (fstatat(dirfd(folder), path, &status, 0) != 0)
        return;
    snprintf(found.name, sizeof(found.name), "%s", name);
    found.written = status.st_mtim;
    if (last->name[0] == '\0' || is_later(&found, last))
        *last = found;
}

const char *last_trace_take(const char *command, struct gait_error *err)
{
    static char path[sizeof(FOLDER) + NAME_MAX + 2];
    struct found_trace last = {.name = ""};
    DIR *folder = opendir(FOLDER);
    struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL)
        look_at(folder, entry->d_name, &last);
    if (folder != NULL)
        closedir(folder);
    if (last.name[0] == '\0') {
        (void)error_set(err, EINVAL,
                        "cannot run 'gait %s': TRACE is missing, and there is none in ./" FOLDER "; try 'gait help %s'",
                        command, command);
        return NULL;
    }
    snprintf(path, sizeof(path), FOLDER "/%s", last.name);
    fprintf(stderr, "gait: this is %s, the last trace in ./" FOLDER "\n", path);
    return path;
}

bool last_trace_is_named_by(const char *word)
{
    return access(word, F_OK) == 0;
}
