/* SPDX-License-Identifier: MIT */
/* A daemon: two forks, a session of its own, nothing inherited; it answers through a file that it was told. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int hangups;

static void on_hangup(int number)
{
    hangups += number == SIGHUP;
}

static void be_daemon(const char *path)
{
    char text[100];
    int fd, leads = setsid() == getpid();

    if (fork() != 0)
        _exit(0);
    signal(SIGHUP, on_hangup);
    chdir("/");
    umask(077);
    for (fd = 0; fd < 64; fd++)
        close(fd);
    open("/dev/null", O_RDWR);
    fd = open(path, O_WRONLY);
    raise(SIGHUP);
    snprintf(text, sizeof(text), "fd %d, led %d, leads %d, hung up %d\n", fd, leads, getsid(0) == getpid(), hangups);
    _exit(write(fd, text, strlen(text)) < 0);
}

int main(void)
{
    char folder[] = "/tmp/daemonXXXXXX", path[64], text[100] = "";
    int status, fd;

    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof(path), "%s/fifo", folder);
    if (mkfifo(path, 0600) != 0)
        return 1;
    if (fork() == 0)
        be_daemon(path);
    wait(&status);
    fd = open(path, O_RDONLY);
    if (read(fd, text, sizeof(text) - 1) <= 0)
        return 1;
    printf("status %d, %s", status, text);
    unlink(path);
    rmdir(folder);
    return 0;
}
