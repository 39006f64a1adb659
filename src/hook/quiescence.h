/* SPDX-License-Identifier: MIT */
/* The other side of hook_quiescence in hook_stub.h: threads say when they look at what may be taken away. */
#ifndef GAIT_HOOK_QUIESCENCE_H
#define GAIT_HOOK_QUIESCENCE_H

struct hook_thread;

/* Once, before threads are watched. */
void hook_quiescence_prepare(void);

/* Between these, what the thread finds stays. Not nested. No fence: it is up to whoever waits. */
void hook_busy_begin(struct hook_thread *thread);
void hook_busy_end(struct hook_thread *thread);

#endif
