/* SPDX-License-Identifier: MIT */
/* Putting the agent into another process, and taking its memory away again. */
#ifndef GAIT_INJECT_AGENT_LOAD_H
#define GAIT_INJECT_AGENT_LOAD_H

#include "base/attributes.h"
#include "gait/error.h"
#include "inject/remote.h"

/* Maps and writes the agent by means of a stopped thread. */
MUST_USE int agent_load(struct tracee *tracee, struct remote_agent *agent_out, struct gait_error *err);

/*
 * Finds one that is in the process, whoever has put it there, if it is the same as ours: -ENOENT: there is none, or
 * that of another build. In what is found, no segments are listed.
 */
MUST_USE int agent_load_find(pid_t pid, struct remote_agent *agent_out);

/* Unmaps it. No thread may be in it. */
MUST_USE int agent_unload(struct tracee *tracee, const struct remote_agent *agent, struct gait_error *err);

#endif
