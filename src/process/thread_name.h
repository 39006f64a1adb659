/* SPDX-License-Identifier: MIT */
/* The names that threads of this process have. Raw system calls, no locks, no memory: any thread, inside the target. */
#ifndef GAIT_PROCESS_THREAD_NAME_H
#define GAIT_PROCESS_THREAD_NAME_H

/* With the NUL. */
#define THREAD_NAME_BYTES 16

/* The calling thread's. */
void thread_name_own(char name_out[THREAD_NAME_BYTES]);

/* Any other's; "" if there is no such thread, or no /proc. */
void thread_name_of(int tid, char name_out[THREAD_NAME_BYTES]);

#endif
