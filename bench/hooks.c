/* SPDX-License-Identifier: MIT */
/*
 * What does a hook cost, on entering and leaving a function together? Recording hooks write two records with times; so
 * beside them stands what two bare reads of the counter take. Listeners are empty functions; "ordinary" ones may use
 * vector registers, which are saved for them. The time of the call itself is taken off. Rounds are short and many, and
 * the best of each counts.
 */
#include "base/code_memory.h"
#include "base/time_counter.h"
#include "hook/hook_record.h"
#include "hook/hook_stub.h"
#include "hook/hook_thread.h"
#include "ring/ring_region.h"
#include "support/stopwatch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 2000
#define CALLS  2000

typedef unsigned called_function(unsigned);

static __attribute__((noinline)) unsigned called(unsigned value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

static void listen(struct gait_invocation *invocation)
{
    (void)invocation;
}

enum way {
    WAY_NATIVE,
    WAY_COUNTER,
    WAY_RECORD,
    WAY_GENERAL,
    WAY_ORDINARY,
    WAYS,
};

static called_function *volatile functions[WAYS] = {[WAY_NATIVE] = called};

static size_t call_many(called_function *function)
{
    for (unsigned i = 0; i < CALLS; i++)
        function(i);
    return CALLS;
}

static size_t run_native(void *context)
{
    (void)context;
    return call_many(functions[WAY_NATIVE]);
}

/* Between two calls, as hooks have them: reads right behind each other would wait for each other. */
static size_t run_counter(void *context)
{
    called_function *function = functions[WAY_NATIVE];
    uint64_t sum = 0;

    (void)context;
    for (unsigned i = 0; i < CALLS; i++) {
        sum += __builtin_ia32_rdtsc();
        function(i);
        sum += __builtin_ia32_rdtsc();
    }
    __asm__ volatile("" : : "r"(sum));
    return CALLS;
}

static size_t run_record(void *context)
{
    (void)context;
    return call_many(functions[WAY_RECORD]);
}

static size_t run_general(void *context)
{
    (void)context;
    return call_many(functions[WAY_GENERAL]);
}

static size_t run_ordinary(void *context)
{
    (void)context;
    return call_many(functions[WAY_ORDINARY]);
}

static void *hook(struct code_memory *code, unsigned parts, uint32_t flags)
{
    struct hook_function *function = calloc(1, sizeof(*function));
    struct hook_listeners *list = calloc(1, sizeof(*list) + sizeof(list->items[0]));
    struct hook_stub_request request = {function, (uintptr_t)called, parts | HOOK_STUB_RETURNS};
    struct hook_stub stub;
    struct code_writer writer;

    *list = (struct hook_listeners){.count = 1, .places = 1, .last_serial = 1, .is_general_only = flags != 0};
    list->items[0] = (struct hook_listener){.enter = listen, .leave = listen, .flags = flags, .serial = 1};
    function->address = function->trampoline = (uintptr_t)called;
    function->record_number = 1;
    atomic_store(&function->listeners, list);
    if (code_memory_reserve(code, HOOK_STUB_BYTES_MAX, &writer) != 0 ||
        hook_stub_write(&writer, &request, &stub) != 0 || code_memory_commit(code, &writer) != 0)
        return NULL;
    return (void *)(uintptr_t)stub.entry.value;
}

static int make_hooks(void)
{
    const struct code_memory_options memory = {.size_bytes = 1 << 16, .near = (uintptr_t)called};
    const struct ring_options options = {.overflow = RING_OVERWRITE};
    const struct hook_threads_options threads = {0};
    struct code_memory *code;
    struct ring_region *region;

    if (hook_threads_begin(&threads) != 0 || code_memory_create(&memory, &code) != 0 ||
        ring_region_create(&options, &region) != 0)
        return -1;
    hook_recording_begin(region, ring_region_new_space(region));
    functions[WAY_RECORD] = (called_function *)hook(code, HOOK_STUB_RECORD, 0);
    functions[WAY_GENERAL] = (called_function *)hook(code, HOOK_STUB_LISTEN, HOOK_LISTENER_GENERAL_ONLY);
    functions[WAY_ORDINARY] = (called_function *)hook(code, HOOK_STUB_LISTEN, 0);
    for (unsigned i = 0; i < WAYS; i++)
        if (i != WAY_COUNTER && functions[i] == NULL)
            return -1;
    return 0;
}

int main(void)
{
    struct contestant contestants[WAYS] = {
        [WAY_NATIVE] = {.name = "the call alone", .run = run_native},
        [WAY_COUNTER] = {.name = "two bare reads of the counter", .run = run_counter},
        [WAY_RECORD] = {.name = "recording hook", .run = run_record},
        [WAY_GENERAL] = {.name = "general-only listener", .run = run_general},
        [WAY_ORDINARY] = {.name = "ordinary listener", .run = run_ordinary},
    };
    double native, counter;

    if (make_hooks() != 0) {
        printf("hooks: not on this machine\n");
        return 1;
    }
    stopwatch_compare(contestants, WAYS, ROUNDS, NULL);
    native = contestants[WAY_NATIVE].best_ns;
    counter = contestants[WAY_COUNTER].best_ns - native;
    printf("| enter and leave | ns | times two reads |\n|---|---|---|\n");
    printf("| %s | %.1f | |\n", contestants[WAY_NATIVE].name, native);
    for (unsigned i = WAY_COUNTER; i < WAYS; i++)
        printf("| %s | %.1f | %.2f |\n", contestants[i].name, contestants[i].best_ns - native,
               (contestants[i].best_ns - native) / counter);
    return 0;
}
