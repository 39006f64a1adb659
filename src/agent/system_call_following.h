/* SPDX-License-Identifier: MIT */
/* System calls of followed threads, in their detail lanes (stalker/call_telling.h). One for the process. */
#ifndef GAIT_AGENT_SYSTEM_CALL_FOLLOWING_H
#define GAIT_AGENT_SYSTEM_CALL_FOLLOWING_H

struct agent_options;
struct stalker_engine;

/* As the options say; nothing, if they ask for nothing. Before threads are followed, behind function_watch_begin. */
void system_call_following_begin(struct stalker_engine *engine, const struct agent_options *options);

#endif
