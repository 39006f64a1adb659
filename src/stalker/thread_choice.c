/* SPDX-License-Identifier: MIT */
/* A thread that is not wanted is inactive, as if it had asked for that itself (exclusion.c). */
#include "stalker/thread_choice.h"

#include "process/thread_name.h"
#include "stalker/event_buffer.h"
#include "stalker/exclusion.h"
#include "stalker/follow.h"
#include "stalker/stalker_engine.h"
#include "stalker/thread.h"

int thread_choice_begin(struct stalker_engine *engine, const struct thread_chooser *chooser)
{
    int result = exclusion_prepare(engine);

    if (result == 0)
        engine->chooser = chooser;
    return result;
}

/* Whoever reads its events is told, and it is chosen or not. */
static void take_name(struct stalker_thread *thread, const char *name)
{
    const struct thread_chooser *chooser = thread->engine->chooser;

    if (thread->events != NULL)
        event_buffer_set_name(thread->events, name);
    if (chooser != NULL)
        exclusion_set_inactive(thread, !chooser->wants(chooser->context, thread->tid, name));
}

void thread_choice_ask(struct stalker_thread *thread)
{
    char name[THREAD_NAME_BYTES];

    if (thread->engine->chooser == NULL && (thread->events == NULL || thread->events->ring == NULL))
        return;
    if (thread->tid == stalker_current_tid())
        thread_name_own(name);
    else
        thread_name_of(thread->tid, name);
    take_name(thread, name);
}

void thread_choice_named(struct stalker_thread *thread)
{
    char name[THREAD_NAME_BYTES];

    thread_name_own(name);
    take_name(thread, name);
}
