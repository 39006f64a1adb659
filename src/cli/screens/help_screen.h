/* SPDX-License-Identifier: MIT */
/* The help of a command on a screen: paragraphs and options that are wider than that are wrapped anew. */
#ifndef GAIT_CLI_SCREENS_HELP_SCREEN_H
#define GAIT_CLI_SCREENS_HELP_SCREEN_H

struct command;
struct screen;

/* At most 80 columns are used, as many as there are where there are less. Examples and tables stay as they are. */
void help_screen_put(struct screen *screen, const struct command *command);

#endif
