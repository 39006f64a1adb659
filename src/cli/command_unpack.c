/* SPDX-License-Identifier: MIT */
/* gait unpack: a packed trace as a folder again. */
#define _GNU_SOURCE
#include "cli/command.h"

#include "cli/options/arguments.h"
#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/error_text.h"
#include "trace/packed_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDERS_OPEN 8

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)place;
    (void)(kind == FTW_DP ? rmdir(path) : unlink(path));
    return 0;
}

/* The folder is ours from its making on; what is wrong with the file leaves nothing behind. */
static int unpack(const char *file, const char *folder, struct gait_error *err)
{
    int fd, result;

    if (mkdir(folder, 0777) != 0)
        return error_set(err, errno, "cannot make the folder '%s': %s; try another name", folder,
                         errno == EEXIST ? "it is there already" : strerror(errno));
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return error_set(err, errno, "cannot open the folder '%s': %s", folder, strerror(errno));
    result = trace_unpack_to(file, fd, err);
    close(fd);
    if (result != 0)
        (void)nftw(folder, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
    return result;
}

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"FILE", "FOLDER"};
    struct argument_rules rules = {"unpack", NULL, 0, names, 2};
    const char *paths[2];
    char clean[512];
    enum command_status status = arguments_parse(call, &rules, paths);

    if (status != COMMAND_DONE)
        return status;
    if (unpack(paths[0], paths[1], call->error) != 0)
        return COMMAND_FAILED;
    screen_print(call->screen, "the trace is %s\n", printable(clean, sizeof(clean), paths[1]));
    return COMMAND_DONE;
}

extern const struct command command_unpack;
const struct command command_unpack = {
    .name = "unpack",
    .arguments = "FILE FOLDER",
    .summary = "a packed trace as a folder again",
    .details = "Makes the folder, and unpacks into it what gait pack has packed. Other commands\n"
               "read packed traces as they are, but unpack them each time: this is for large\n"
               "ones, and for other programs. Debug information is below FOLDER/debug, where\n"
               "debuggers find it if they are pointed to it.\n"
               "\n"
               "Examples:\n"
               "  gait unpack slow.gaitpack slow\n",
    .run = run,
};
