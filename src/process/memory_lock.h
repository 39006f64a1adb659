/* SPDX-License-Identifier: MIT */
/*
 * Locking all memory of a program, as mlockall() does it. What is ours is not to be locked with it: a ring has room for
 * hundreds of gigabytes of which little is ever used, and mlockall() would provide all of it, or find that it is more
 * than the process may lock. Raw system calls, no locks, no memory but the stack's: any thread, inside the target.
 */
#ifndef GAIT_PROCESS_MEMORY_LOCK_H
#define GAIT_PROCESS_MEMORY_LOCK_H

/* What mlockall() with these flags gives, 0 or -errno, for a program that is alone in its process. */
long memory_lock_all(long flags);

#endif
