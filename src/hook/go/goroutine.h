/* SPDX-License-Identifier: MIT */
/*
 * Goroutines, as stubs of Go's functions find them: in a register, by Go's convention for calls. Their stacks are
 * moved, and they go on on other threads, so calls are told with the goroutine and how high its stack is. No libc;
 * inside the target.
 */
#ifndef GAIT_HOOK_GO_GOROUTINE_H
#define GAIT_HOOK_GO_GOROUTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hook_thread;

/* Where a goroutine has its number, in the Go that a program was built with; 0: not known, and nothing is told so. */
extern uint64_t hook_goroutine_number_at __attribute__((visibility("hidden")));

/*
 * Finds that by the version that a program's file says it was built with; `bytes` are the file's. False: it is not
 * Go's, or a version that is not known.
 */
bool hook_goroutines_find(const uint8_t *bytes, size_t size_bytes);

/*
 * Writes the record of a stub whose function is entered, or about to return, with that goroutine (the register) and
 * stack pointer; and before it that the thread runs the goroutine, if that was not told yet.
 */
void hook_goroutine_record(struct hook_thread *thread, uint64_t stub, uint64_t goroutine, uint64_t sp);

#endif
