/* SPDX-License-Identifier: MIT */
/*
 * A pager handles Ctrl-C by itself and stays; so does the command that feeds it, until it is closed: else both would
 * read from the terminal, pager and shell. Lock: none; the flag is a signal handler's.
 */
#include "cli/screens/pager.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t is_interrupted;

static void note_interrupt(int signal_number)
{
    (void)signal_number;
    is_interrupted = 1;
}

/* NULL: none is wanted. */
static const char *pager_command(void)
{
    const char *command = getenv("PAGER");

    if (command == NULL)
        return "if command -v less >/dev/null; then exec less -R; else exec cat; fi";
    return command[0] == '\0' || strcmp(command, "cat") == 0 ? NULL : command;
}

/* In the child. A page that fits the terminal is shown without waiting for a key. */
static _Noreturn void run_pager(const char *command, const int pipe_ends[2])
{
    dup2(pipe_ends[0], STDIN_FILENO);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    setenv("LESS", "FRX", 0);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* Without a pager, all is written as it would be else. */
static void start(struct pager *pager, const char *command)
{
    int pipe_ends[2];
    FILE *stream;

    if (pipe(pipe_ends) != 0)
        return;
    stream = fdopen(pipe_ends[1], "w");
    pager->pid = stream == NULL ? -1 : fork();
    if (pager->pid == 0)
        run_pager(command, pipe_ends);
    close(pipe_ends[0]);
    if (pager->pid > 0) {
        pager->screen->stream = stream;
        /* Somebody waits for the first lines. */
        setvbuf(stream, NULL, _IOLBF, BUFSIZ);
        return;
    }
    pager->pid = 0;
    if (stream != NULL)
        fclose(stream);
    else
        close(pipe_ends[1]);
}

void pager_begin(struct pager *pager, struct screen *screen, bool is_wanted)
{
    struct sigaction interrupted = {.sa_handler = note_interrupt}, broken = {.sa_handler = SIG_IGN};
    const char *command = is_wanted && isatty(fileno(screen->stream)) ? pager_command() : NULL;

    *pager = (struct pager){.screen = screen, .stream = screen->stream};
    is_interrupted = 0;
    sigaction(SIGINT, &interrupted, &pager->interrupted);
    sigaction(SIGPIPE, &broken, &pager->broken);
    fflush(screen->stream);
    if (command != NULL)
        start(pager, command);
}

bool pager_is_read(const struct pager *pager)
{
    return !is_interrupted && !ferror(pager->screen->stream);
}

static void wait_for(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* A disk that is full is another thing, about which screen_finish complains. */
static bool is_closed_pipe(FILE *stream)
{
    struct pollfd end = {.fd = fileno(stream)};

    return poll(&end, 1, 0) > 0 && end.revents & (POLLERR | POLLHUP);
}

int pager_end(struct pager *pager)
{
    bool has_failed = fflush(pager->screen->stream) != 0 || ferror(pager->screen->stream);
    int status = 0;

    if (pager->pid != 0) {
        fclose(pager->screen->stream);
        wait_for(pager->pid);
        pager->screen->stream = pager->stream;
    } else if (is_interrupted) {
        status = 128 + SIGINT;
    } else if (has_failed && is_closed_pipe(pager->screen->stream)) {
        status = 128 + SIGPIPE;
    }
    sigaction(SIGINT, &pager->interrupted, NULL);
    sigaction(SIGPIPE, &pager->broken, NULL);
    return status;
}
