/* SPDX-License-Identifier: MIT */
/*
 * What system calls are made to do instead: fail, return something, wait, come with a signal; chosen by their number
 * and by how many of them a thread has made. One for the process; each thread counts for itself.
 */
#ifndef GAIT_AGENT_SYSTEM_CALL_INJECTION_H
#define GAIT_AGENT_SYSTEM_CALL_INJECTION_H

#include <stdbool.h>
#include <stdint.h>

struct agent_injection;
struct agent_options;
struct hook_thread;

/* As the options say: they stay where they are until the end. */
void system_call_injection_begin(const struct agent_options *options);
void system_call_injection_end(void);

/* Whether something may happen to calls of that number. */
bool system_call_injection_concerns(uint64_t number);

/* The thread is about to make one: what happens to it. NULL: nothing. */
const struct agent_injection *system_call_injection_pick(struct hook_thread *thread, uint64_t number);

/* One that was picked, as a number from 1 on, and by that number; 0 is none. */
uint64_t system_call_injection_number(const struct agent_injection *injection);
const struct agent_injection *system_call_injection_by_number(uint64_t number);

/* Waits that long, whatever signals come. */
void system_call_injection_wait(uint64_t delay_ns);

/* Sends the calling thread a signal. */
void system_call_injection_signal(uint32_t signal);

#endif
