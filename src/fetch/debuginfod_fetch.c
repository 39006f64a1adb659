/* SPDX-License-Identifier: MIT */
/*
 * A program of its own that the command carries and runs: it asks servers for a file, by the client library of
 * debuginfod, and says where what came is kept. Loading that library takes a dynamic loader, which a command in one
 * piece does not have.
 *
 *     debuginfod_fetch debuginfo|executable BUILD-ID
 *
 * 0, and a line with the path: it is there. 1: it is not. 2: nobody can be asked, since the library is not installed.
 * The library itself reads the variables DEBUGINFOD_*, and writes to standard error if they say so.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

enum fetch_status { FETCH_FOUND = 0, FETCH_NOT_FOUND = 1, FETCH_IMPOSSIBLE = 2 };

/* As the library has them; without a length the ID is text. Its header need not be installed. */
typedef void *begin_function(void);
typedef int find_function(void *client, const unsigned char *id, int id_bytes, char **path_out);

static const char *name_of_question(const char *kind)
{
    if (strcmp(kind, "debuginfo") == 0)
        return "debuginfod_find_debuginfo";
    return strcmp(kind, "executable") == 0 ? "debuginfod_find_executable" : NULL;
}

/* Nothing is given back: the process ends. */
static enum fetch_status fetch(const char *question, const char *id)
{
    void *library = dlopen("libdebuginfod.so.1", RTLD_LAZY);
    begin_function *begin = library == NULL ? NULL : (begin_function *)dlsym(library, "debuginfod_begin");
    find_function *find = library == NULL ? NULL : (find_function *)dlsym(library, question);
    void *client = begin == NULL || find == NULL ? NULL : begin();
    char *path = NULL;

    if (client == NULL)
        return FETCH_IMPOSSIBLE;
    if (find(client, (const unsigned char *)id, 0, &path) < 0 || path == NULL)
        return FETCH_NOT_FOUND;
    return puts(path) < 0 || fflush(stdout) != 0 ? FETCH_NOT_FOUND : FETCH_FOUND;
}

int main(int argc, char **argv)
{
    const char *question = argc == 3 ? name_of_question(argv[1]) : NULL;

    if (question == NULL) {
        fputs("usage: debuginfod_fetch debuginfo|executable BUILD-ID\n", stderr);
        return FETCH_IMPOSSIBLE;
    }
    /* Nobody waits for an answer any more when the command is gone. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    return fetch(question, argv[2]);
}
