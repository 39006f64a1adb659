/* SPDX-License-Identifier: MIT */
/*
 * What the program does with signals. Where it has a handler the kernel is given ours, which finds the program's here.
 * One for the process. Handlers that a thread installs while it is not followed are not noticed at once: they run
 * natively until the next time that a thread begins to be followed, and such a thread is shown our handler as the one
 * before.
 */
#ifndef GAIT_STALKER_SIGNAL_ACTIONS_H
#define GAIT_STALKER_SIGNAL_ACTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct gait_cpu_context;
struct system_call;

/* As the kernel has it. */
struct signal_action {
    uint64_t handler;
    uint64_t flags;
    uint64_t restorer;
    uint64_t mask;
};

#define SIGNAL_COUNT      64
#define SIGNAL_MASK_BYTES 8
#define SIGNAL_MASK_ALL   UINT64_MAX

/* While a followed thread has it, our handler is in place; when the last one gives it up, the program's are put back.
 */
void signal_actions_acquire(void);
void signal_actions_release(void);

/* Puts our handler in the place of all that the program has. Any thread: each that begins to be followed. */
void signal_actions_take(void);

/*
 * The same for a program that is at its first instruction, and so has no handlers: asks for those alone whose end is
 * watched, and spares the thread the asking when it begins.
 */
void signal_actions_take_new(void);

/* The same from now on for SIGSYS, also where the program has no handler for it. */
void signal_actions_take_traps(void);

/* What the program has, or had last, for a signal that our handler got. Signal-safe. */
struct signal_action signal_actions_get(int signal);

/* Where a handler returns to. */
uint64_t signal_action_restorer(const struct signal_action *action);

/* Nobody handles the signal any more: it does what it does by itself. Signal-safe. */
void signal_actions_reset(int signal);

/* The handler was entered, and wanted to be so once only. In a signal handler. */
void signal_actions_use_up(int signal);

/* Whether the program has no handler: ours stands there to see the process end. */
bool signal_action_is_default(const struct signal_action *action);

/* Whether the program has it ignored, which the kernel does without us. */
bool signal_is_ignored(int signal);

/* Makes the program's rt_sigaction for it. */
long signal_actions_call(const struct system_call *call);

/* The calling thread's mask; returns the one before. */
uint64_t signal_mask_set(uint64_t mask);

/* Around a fork, for the child's sake. */
void signal_actions_lock(void);
void signal_actions_unlock(void);

/* ---- signals that are watched ------------------------------------------------------------------------------------ */

/*
 * Telling somebody of signals: of those that the program's handlers get, and of those that end the process. For the
 * latter our handler stands where the program has none; the program is not shown that, and the process ends as it would
 * have: by that signal, with its registers and what the kernel said of it.
 *
 * One for the process. The functions are called in a signal handler, on a stack of ours, with all signals blocked or
 * about to be; they may take no lock.
 */

/* A signal that nothing can stop. */
struct signal_death {
    int signal;
    int code;
    uint64_t address;                   /* of a fault */
    const struct gait_cpu_context *cpu; /* the program's registers, or those of a thread that is not followed */
    bool is_known;                      /* false: the thread was in our code, and these are the registers there */
};

struct signal_watcher {
    uint64_t deadly; /* bit n - 1: signal n ends the process where the program has no handler */
    void (*delivered)(int signal);
    void (*dying)(const struct signal_death *death);
};

/* From now on, for threads that begin to be followed; NULL: nobody. Must live until no signal can come to us. */
void signal_watch_set(const struct signal_watcher *watcher);

void signal_watch_delivered(int signal);
void signal_watch_dying(const struct signal_death *death);

#endif
