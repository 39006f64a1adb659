/* SPDX-License-Identifier: MIT */
/*
 * What --probe of spawn and attach says: "usdt:PATH:PROVIDER:NAME", with types of arguments perhaps:
 * "usdt:python3:python:function__entry(str,str,int)". PATH is a program or library, by its path or the beginning of its
 * name; empty, or *, it is all that the process has. Stateless.
 */
#ifndef GAIT_CLI_OPTIONS_PROBE_OPTION_H
#define GAIT_CLI_OPTIONS_PROBE_OPTION_H

#include "base/attributes.h"
#include "gait/error.h"
#include "protocol/agent_call.h"
#include "ring/detail_declaration.h"

struct probe_option {
    char pattern[AGENT_PATTERN_BYTES];     /* as the agent has it: "MODULE!PROVIDER:NAME" */
    struct detail_declaration declaration; /* what arguments are, if that is said */
    char *path;                            /* of the one file that is meant, without links; NULL: it is not one */
};

/* -EINVAL: it is none, and err says what to write instead; -ENOMEM. Given back by probe_option_deinit. */
MUST_USE int probe_option_read(const char *text, struct probe_option *option_out, struct gait_error *err);
void probe_option_deinit(struct probe_option *option);

#endif
