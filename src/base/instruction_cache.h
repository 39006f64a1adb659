/* SPDX-License-Identifier: MIT */
/*
 * Making code that was just written visible to instruction fetch. Implemented once for each CPU in arch/<cpu>/host. Not
 * a way to touch code: only base/code_memory.h is, and it calls this. Callable from any thread, in signal handlers and
 * inside the target.
 */
#ifndef GAIT_BASE_INSTRUCTION_CACHE_H
#define GAIT_BASE_INSTRUCTION_CACHE_H

#include <stddef.h>

/*
 * After it returns, this thread and every thread that synchronizes with it afterwards fetches what was written: size
 * bytes at `written` in the view that was written through, which run at `executable`. Both may be the same.
 */
void instruction_cache_flush(const void *written, const void *executable, size_t size_bytes);

#endif
