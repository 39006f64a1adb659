/* SPDX-License-Identifier: MIT */
/*
 * Takes call stacks as raw addresses while libraries come and go, and says afterwards whose the addresses were: what
 * was loaded when is noted with its time, so that an address means what it meant then, also if something else is there
 * now.
 *
 *   build/examples/module_timeline
 *
 * Shows: an observer of modules, stacks that stay right, and time stamps. Uses gait/process.h, gait/stack.h and
 * gait/clock.h.
 */
#define _GNU_SOURCE
#include "gait/clock.h"
#include "gait/process.h"
#include "gait/stack.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX 256
#define STACKS_MAX 16
#define FRAMES_MAX 32

/* ---- what happens, with its time --------------------------------------------------------------------------------- */
static struct {
    bool is_load;
    uint64_t base, end, time;
    char path[128];
} events[EVENTS_MAX];
static int event_count;

static void note(const struct gait_module *module, uint64_t time, bool is_load)
{
    if (event_count == EVENTS_MAX)
        return;
    events[event_count].is_load = is_load;
    events[event_count].base = module->base;
    events[event_count].end = module->end;
    events[event_count].time = time;
    strncpy(events[event_count++].path, module->path, sizeof(events[0].path) - 1);
}

static void loaded(void *context, const struct gait_module *module, uint64_t time)
{
    (void)context;
    note(module, time, true);
}

static void unloaded(void *context, const struct gait_module *module, uint64_t time)
{
    (void)context;
    note(module, time, false);
}

static struct {
    struct gait_stack stack;
    uint64_t pcs[FRAMES_MAX];
} taken[STACKS_MAX];
static int taken_count;

/* Called back by the library. */
static int compare(const void *left, const void *right)
{
    if (taken_count < STACKS_MAX) {
        taken[taken_count].stack = (struct gait_stack){
            .size_bytes = sizeof(struct gait_stack),
            .pcs = taken[taken_count].pcs,
            .capacity = FRAMES_MAX,
        };
        taken_count += gait_stack_capture(&taken[taken_count].stack) == 0;
    }
    return *(const int *)left - *(const int *)right;
}

/* ---- afterwards -------------------------------------------------------------------------------------------------- */
static void print_address(uint64_t pc, uint64_t time)
{
    int found = -1;

    for (int i = 0; i < event_count && events[i].time <= time; i++)
        if (pc >= events[i].base && pc < events[i].end)
            found = events[i].is_load ? i : -1;
    if (found < 0)
        printf("    %012lx nobody's\n", (unsigned long)pc);
    else
        printf("    %012lx %s+0x%lx\n", (unsigned long)pc, events[found].path,
               (unsigned long)(pc - events[found].base));
}

/* In a namespace of its own a library is loaded once more, and unloaded again. */
static void sort_elsewhere(int *numbers)
{
    typedef void sort_function(void *, size_t, size_t, int (*)(const void *, const void *));
    void *library = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW | RTLD_LOCAL);
    sort_function *sort;

    if (library == NULL)
        return;
    *(void **)&sort = dlsym(library, "qsort");
    if (sort != NULL)
        sort(numbers, 2, sizeof(int), compare);
    dlclose(library);
}

int main(void)
{
    const struct gait_module_listener listener = {sizeof(listener), NULL, loaded, unloaded};
    struct gait_module_observer *observer;
    struct gait_clock_pair begin, end;
    int numbers[] = {2, 1};
    struct gait_error err;

    gait_clock_read(&begin);
    if (gait_module_observer_create(&listener, &observer, NULL, &err) != 0 || gait_stack_watch_modules(&err) != 0) {
        fprintf(stderr, "module_timeline: %s\n", err.text);
        return 1;
    }
    qsort(numbers, 2, sizeof(int), compare);
    sort_elsewhere(numbers);
    sort_elsewhere(numbers);
    gait_module_observer_destroy(observer);
    gait_clock_read(&end);

    for (int i = 0; i < taken_count; i++) {
        const struct gait_stack *stack = &taken[i].stack;

        printf("A stack, after %lu us:\n",
               (unsigned long)(gait_clock_to_ns(&begin, &end, stack->time) - begin.monotonic_ns) / 1000);
        for (size_t j = 0; j < stack->count && j < 6; j++)
            print_address(stack->pcs[j], stack->time);
    }
    printf("%d modules came and went meanwhile.\n", event_count);
    return 0;
}
