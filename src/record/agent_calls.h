/* SPDX-License-Identifier: MIT */
/* What an agent is asked to do with system calls: which it reports, and which it answers itself. */
#ifndef GAIT_RECORD_AGENT_CALLS_H
#define GAIT_RECORD_AGENT_CALLS_H

#include "protocol/agent_call.h"

#include <stdint.h>

struct injections;
struct system_call_set;

/* The calls of a set are reported, with so many bytes of strings and buffers, as far as that is possible. */
void agent_calls_choose(struct agent_options *agent, const struct system_call_set *set, uint32_t string_bytes);

/* At most AGENT_INJECTIONS_MAX, which is how many can be asked for. */
void agent_calls_inject(struct agent_options *agent, const struct injections *injections);

#endif
