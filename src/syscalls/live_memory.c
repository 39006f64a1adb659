/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/program_memories.h"

#include "base/alignment.h"

#include <string.h>
#include <sys/uio.h>

/* Reads as far as there is memory: a page at a time, since one that is missing fails all that is asked for with it. */
static size_t read_pages(int tid, uint64_t address, void *bytes_out, size_t size_bytes)
{
    size_t done = 0;

    while (done < size_bytes) {
        size_t room = align_rest(address + done, MEMORY_PAGE_MIN);
        size_t wanted = size_bytes - done < room ? size_bytes - done : room;
        struct iovec here = {(char *)bytes_out + done, wanted}, there = {(void *)(uintptr_t)(address + done), wanted};
        ssize_t got = process_vm_readv(tid, &here, 1, &there, 1, 0);

        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

static size_t read_memory(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    struct live_memory *live = context;
    uint64_t page = align_down(address, MEMORY_PAGE_MIN), at = address - page;

    if (address + size_bytes < address)
        return 0;
    if (at + size_bytes > sizeof(live->bytes))
        return read_pages(live->tid, address, bytes_out, size_bytes);
    if (live->held_bytes == 0 || live->page != page) {
        live->page = page;
        live->held_bytes = read_pages(live->tid, page, live->bytes, sizeof(live->bytes));
    }
    if (at >= live->held_bytes)
        return 0;
    if (size_bytes > live->held_bytes - at)
        size_bytes = live->held_bytes - at;
    memcpy(bytes_out, live->bytes + at, size_bytes);
    return size_bytes;
}

void live_memory_init(struct live_memory *live, int tid)
{
    live->memory = (struct call_memory){read_memory, live};
    live_memory_turn_to(live, tid);
}

void live_memory_turn_to(struct live_memory *live, int tid)
{
    live->tid = tid;
    live->held_bytes = 0;
}
