/* SPDX-License-Identifier: MIT */
/*
 * Long output for a person: on a terminal it goes through $PAGER, or less. The writer asks now and then whether
 * the pager still reads: not after Ctrl-C, nor when the pager was left or the pipe closed. One at a time.
 */
#ifndef GAIT_CLI_SCREENS_PAGER_H
#define GAIT_CLI_SCREENS_PAGER_H

#include "cli/screens/screen.h"

#include <signal.h>
#include <sys/types.h>

struct pager {
    struct screen *screen;
    FILE *stream; /* that the screen had before */
    pid_t pid;    /* of the pager; 0: there is none */
    struct sigaction interrupted;
    struct sigaction broken;
};

/* Begins; the screen writes to the pager, if it is a terminal's and one is wanted. */
void pager_begin(struct pager *pager, struct screen *screen, bool is_wanted);

/* False: what is written from now on is not read. */
bool pager_is_read(const struct pager *pager);

/*
 * Waits until the person has read all, and gives the screen back as it was. 0, or the exit status of who has nothing to
 * add, since Ctrl-C or a closed pipe ended it: 130 and 141, as if the signal had. A pager may be left at any time.
 */
int pager_end(struct pager *pager);

#endif
