/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/program_memories.h"

#include "support/check.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct live_memory live;

static size_t get(uint64_t address, void *out, size_t size_bytes)
{
    return live.memory.read(live.memory.context, address, out, size_bytes);
}

static void memory_is_read_as_far_as_it_goes(void)
{
    char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char out[3 * 4096];

    CHECK_EQUAL(munmap(pages + 2 * 4096, 4096), 0);
    memset(pages, 'x', 2 * 4096);
    live_memory_init(&live, getpid());
    CHECK_EQUAL(get((uintptr_t)pages, out, 10), 10);
    CHECK_EQUAL(out[9], 'x');
    CHECK_EQUAL(get((uintptr_t)pages + 4090, out, 4096), 4096);
    CHECK_EQUAL(get((uintptr_t)pages + 4096, out, 2 * 4096), 4096);
    CHECK_EQUAL(get((uintptr_t)pages + 2 * 4096, out, 1), 0);
    munmap(pages, 2 * 4096);
}

static void what_changes_is_seen_after_a_turn(void)
{
    char byte = 'a', out = 0;

    live_memory_init(&live, getpid());
    CHECK_EQUAL(get((uintptr_t)&byte, &out, 1), 1);
    *(volatile char *)&byte = 'b';
    live_memory_turn_to(&live, getpid());
    CHECK_EQUAL(get((uintptr_t)&byte, &out, 1), 1);
    CHECK_EQUAL(out, 'b');
}

static void nonsense_is_nothing(void)
{
    char out[16];

    live_memory_init(&live, getpid());
    CHECK_EQUAL(get(0, out, 1), 0);
    CHECK_EQUAL(get(UINT64_MAX, out, 16), 0);
    CHECK_EQUAL(get(UINT64_MAX - 3, out, 2), 0);
    live_memory_turn_to(&live, 0x7fffffff);
    CHECK_EQUAL(get((uintptr_t)out, out, 1), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(memory_is_read_as_far_as_it_goes),
    CHECK_CASE(what_changes_is_seen_after_a_turn),
    CHECK_CASE(nonsense_is_nothing),
};

CHECK_MAIN(cases)
