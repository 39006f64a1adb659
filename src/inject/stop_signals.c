/* SPDX-License-Identifier: MIT */
#include "inject/stop_signals.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t was_sent;
static volatile sig_atomic_t was_typed;

static void note_sent(int signal)
{
    (void)signal;
    was_sent = 1;
}

static void note_typed(int signal)
{
    (void)signal;
    was_typed = 1;
}

void stop_signals_take(void)
{
    struct sigaction action = {.sa_handler = note_sent};

    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    action.sa_handler = note_typed;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGQUIT, &action, NULL);
}

void stop_signals_forget(void)
{
    was_sent = was_typed = 0;
}

bool stop_signals_were_sent(void)
{
    return was_sent != 0;
}

bool stop_signals_were_typed(void)
{
    return was_typed != 0;
}

void stop_signals_forget_typed(void)
{
    was_typed = 0;
}
