/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/hook_lab.h"

#include "base/code_memory.h"
#include "hook/hook_record.h"
#include "hook/hook_thread.h"
#include "ring/ring_events.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUNCTIONS_MAX 512
#define TEXT_MAX      65536

static struct code_memory *code;
static struct hook_lab_function functions[FUNCTIONS_MAX];
static unsigned function_count;
static struct ring_region *region;
static struct ring_events *events;
static uint32_t space;
static char told[TEXT_MAX], taken[TEXT_MAX], recorded[TEXT_MAX];
static _Atomic size_t told_length;
static size_t recorded_length;
static bool is_telling_stacks;

static void fail(const char *what)
{
    printf("hook_lab: %s\n", what);
    exit(1);
}

static int *errno_place(void)
{
    return &errno;
}

void hook_lab_begin(void)
{
    const struct hook_threads_options options = {.errno_location = errno_place};
    const struct ring_options ring = {.buffer_bytes = 1 << 16, .buffer_count = 4, .overflow = RING_DROP};
    const struct code_memory_options memory = {.size_bytes = 1 << 20, .near = (uintptr_t)hook_lab_begin};

    if (hook_threads_begin(&options) != 0 || code_memory_create(&memory, &code) != 0 ||
        ring_region_create(&ring, &region) != 0 || ring_events_open(dup(region->fd), &events) != 0)
        fail("cannot begin");
    space = ring_region_new_space(region);
    hook_recording_begin(region, space);
}

static void tell(char kind, char name)
{
    size_t at = atomic_fetch_add(&told_length, 2);

    if (at + 2 >= TEXT_MAX)
        return;
    told[at] = kind;
    told[at + 1] = name;
}

static void entered(struct gait_invocation *invocation)
{
    const struct hook_lab_function *function = invocation->data;

    tell(function->stub.landing.value == 0 ? '?' : '+', function->name);
}

static void left(struct gait_invocation *invocation)
{
    const struct hook_lab_function *function = invocation->data;

    tell(invocation->point == GAIT_INVOCATION_UNWOUND ? '!' : '-', function->name);
}

/* As a trampoline is: near, and leads to what may be far. */
static uint64_t write_trampoline(void *target)
{
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0}; /* to the address that follows it */
    struct code_writer writer;

    if (code_memory_reserve(code, sizeof(jump) + sizeof(target), &writer) != 0)
        fail("cannot write a trampoline");
    code_writer_put_bytes(&writer, jump, sizeof(jump));
    code_writer_put_u64(&writer, (uintptr_t)target);
    if (code_memory_commit(code, &writer) != 0)
        fail("cannot write a trampoline");
    return writer.base_pc.value;
}

static struct hook_lab_function *write_stub(void *target, unsigned parts, const struct hook_listener *listeners,
                                            uint32_t count)
{
    struct hook_lab_function *function = &functions[function_count++];
    struct hook_listeners *list = calloc(1, sizeof(*list) + count * sizeof(*listeners));
    const struct event_block block = {.start = (uintptr_t)function, .size_bytes = 1};
    bool is_near = address_fits_rel32(code_memory_start(code).value, (uintptr_t)target);
    struct hook_stub_request request = {&function->function, is_near ? (uintptr_t)target : write_trampoline(target),
                                        parts};
    struct code_writer writer;

    list->count = list->places = list->last_serial = count;
    list->is_general_only = true;
    for (uint32_t i = 0; i < count; i++) {
        list->items[i] = listeners[i];
        list->items[i].place = i;
        list->items[i].serial = i + 1;
        if (list->items[i].data == NULL)
            list->items[i].data = function;
        list->is_general_only &= (listeners[i].flags & HOOK_LISTENER_GENERAL_ONLY) != 0;
    }
    function->function.address = function->function.trampoline = (uintptr_t)target;
    function->function.record_number = function_count;
    atomic_store(&function->function.listeners, count == 0 ? NULL : list);
    if (!ring_region_add_block(region, space, function_count, &block) ||
        code_memory_reserve(code, HOOK_STUB_BYTES_MAX, &writer) != 0 ||
        hook_stub_write(&writer, &request, &function->stub) != 0 || code_memory_commit(code, &writer) != 0)
        fail("cannot write a stub");
    return function;
}

void *hook_lab_hook_with(void *target, unsigned parts, const struct hook_listener *listeners, uint32_t count)
{
    return (void *)(uintptr_t)write_stub(target, parts, listeners, count)->stub.entry.value;
}

void *hook_lab_hook(void *target, char name, unsigned parts)
{
    static const struct hook_listener listener = {
        .enter = entered, .leave = left, .flags = HOOK_LISTENER_GENERAL_ONLY | HOOK_LISTENER_UNWOUND};
    void *stub = hook_lab_hook_with(target, parts, &listener, parts & HOOK_STUB_LISTEN ? 1 : 0);

    hook_lab_last()->name = name;
    return stub;
}

struct hook_lab_function *hook_lab_last(void)
{
    return &functions[function_count - 1];
}

const char *hook_lab_told(void)
{
    size_t length = atomic_exchange(&told_length, 0);

    if (length > TEXT_MAX - 2)
        length = TEXT_MAX - 2;
    memcpy(taken, told, length);
    taken[length] = '\0';
    return taken;
}

static char kind_of(const struct gait_event *event)
{
    if (event->kind & (GAIT_EVENT_SUSPEND | GAIT_EVENT_RESUME))
        return event->kind == GAIT_EVENT_SUSPEND ? '<' : '>';
    return event->kind == GAIT_EVENT_ENTER ? '+' : event->is_unwound ? '!' : '-';
}

static int take_events(void *context, const struct gait_event *batch, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count && recorded_length + 3 < TEXT_MAX; i++) {
        const struct gait_event *event = &batch[i];
        const struct hook_lab_function *function = (const void *)(uintptr_t)event->location;

        if (event->kind & (GAIT_EVENT_SUSPEND | GAIT_EVENT_RESUME) && !is_telling_stacks)
            continue;
        recorded[recorded_length++] = kind_of(event);
        recorded[recorded_length++] = function->name;
    }
    return 0;
}

const char *hook_lab_recorded_with_stacks(void)
{
    const char *text;

    is_telling_stacks = true;
    text = hook_lab_recorded();
    is_telling_stacks = false;
    return text;
}

const char *hook_lab_recorded(void)
{
    const struct event_receiver receiver = {.process = take_events};

    recorded_length = 0;
    if (ring_events_drain(events, &receiver) != 0)
        fail("cannot read records");
    recorded[recorded_length] = '\0';
    return recorded;
}
