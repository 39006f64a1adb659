/* SPDX-License-Identifier: MIT */
/* What is typed is taken only from a terminal that is ours at the moment: reading another's would stop us. */
#include "cli/held_start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#define LOOK_MS 50

int held_start_terminal(void)
{
    return open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

static bool is_ours(int terminal)
{
    pid_t group = tcgetpgrp(terminal);

    return group == -1 || group == getpgrp();
}

/* Takes a line that was typed; the end of input is one too. */
static bool take_line(int terminal)
{
    char line[256];
    ssize_t got = read(terminal, line, sizeof(line));

    return got >= 0 || (errno != EINTR && errno != EAGAIN);
}

void held_start_wait(const struct held_start *held)
{
    while (!held->is_over(held->context)) {
        bool is_asked = held->terminal != -1 && is_ours(held->terminal);
        struct pollfd waited[] = {
            {.fd = is_asked ? held->terminal : -1, .events = POLLIN},
            {.fd = held->other, .events = POLLIN},
        };

        if (poll(waited, 2, LOOK_MS) > 0 && waited[0].revents != 0 && take_line(held->terminal))
            return;
    }
}
