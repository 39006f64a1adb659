/* SPDX-License-Identifier: MIT */
/*
 * Frames of signal handlers that are hooked themselves: where the kernel has put the address that the handler returns
 * to, by which process/stack_scan.h knows a frame, there is the landing of its stub. What they have interrupted is to
 * be found all the same by who changes code.
 */
#ifndef GAIT_HOOK_HANDLER_FRAMES_H
#define GAIT_HOOK_HANDLER_FRAMES_H

#include <stdint.h>

struct stack_scan;

/*
 * Looks at the frames of all hooked handlers that a thread is in, and on the stacks that those have interrupted. The
 * thread is the caller, or stands still; its stack pointer is `sp`. No locks.
 */
void handler_frames_visit(int tid, uint64_t sp, const struct stack_scan *scan);

#endif
