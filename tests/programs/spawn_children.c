/* SPDX-License-Identifier: MIT */
/* Children by posix_spawn, popen and system, with pipes to and from them. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *const environment[] = {"PATH=/bin:/usr/bin", "WORD=given", NULL};

static int spawn(char *script, char *text, size_t size)
{
    char *arguments[] = {"sh", "-c", script, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2], status = -1;
    ssize_t length;
    pid_t child;

    if (pipe(ends) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    if (posix_spawn(&child, "/bin/sh", &actions, NULL, arguments, environment) != 0)
        return -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    length = read(ends[0], text, size - 1);
    text[length > 0 ? length : 0] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int main(void)
{
    char text[100] = {0};
    FILE *stream;
    pid_t child;
    int status;

    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 0; i < 5; i++) {
        status = spawn("echo $WORD; exit 3", text, sizeof(text));
        printf("spawned: %d, %s", status, text);
    }
    status = posix_spawn(&child, "/nonexistent", NULL, NULL, environment, environment);
    printf("cannot spawn: %s\n", strerror(status));
    stream = popen("echo read from a child; exit 4", "r");
    printf("popen: %s", fgets(text, sizeof(text), stream) != NULL ? text : "nothing\n");
    printf("pclose: %d\n", WEXITSTATUS(pclose(stream)));
    status = system("echo by the shell; exit 5");
    printf("system: %d\n", WEXITSTATUS(status));
    return 0;
}
