/* SPDX-License-Identifier: MIT */
/* A command's manual page, made from its help: gait-spawn(1) says what `gait help spawn` says. Stateless. */
#ifndef GAIT_CLI_SCREENS_MANUAL_PAGE_H
#define GAIT_CLI_SCREENS_MANUAL_PAGE_H

struct command;
struct screen;

/* Writes the source of the page, for man. */
void manual_page_put(struct screen *screen, const struct command *command);

#endif
