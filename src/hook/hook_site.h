/* SPDX-License-Identifier: MIT */
/*
 * A hooked address: its patch, and the code that this leads to, a stub, and a trampoline with what the patch displaces;
 * or the one stub of a place where system calls are made. What is wanted at which address, and when code is patched, is
 * for hook/hook_table.c to say, which has the lock.
 */
#ifndef GAIT_HOOK_HOOK_SITE_H
#define GAIT_HOOK_HOOK_SITE_H

#include "base/attributes.h"
#include "base/pool.h"
#include "hook/hook_stub.h"
#include "hook/patch.h"
#include "process/near_memory.h"

#include <stdbool.h>
#include <stdint.h>

struct hook_site;
struct system_call_stub;

/* What is wanted at a site. All zeroes: nothing. */
struct site_wish {
    const struct hook_listeners *listeners;
    uint64_t replacement;
    bool is_recorded;  /* under the function's number */
    bool is_in_place;  /* of the replacement */
    bool is_goroutine; /* records are as HOOK_STUB_GOROUTINE has them */
    bool is_exit;      /* and of a return */
    bool is_ordered;   /* the site is patched, whatever else is wanted */
};

/* Machine code of a site. Its own memory is freed when the code's is. */
struct site_code {
    struct near_piece piece;
    struct hook_site *site;
    uint64_t entry;
    uint64_t target; /* of a stub: what it calls; of a jump: where it goes */
    unsigned parts;  /* of a stub: enum hook_stub_part */
};

struct hook_site {
    struct hook_function function;
    struct patch patch;
    struct site_code *trampoline;
    struct site_code *stub;        /* that the patch leads to, or led to; NULL: none, or straight to a replacement */
    struct system_call_stub *call; /* of a place of system calls, which has no trampoline; else NULL */
    uint32_t code_count;           /* pieces of code that there are, those given back too */
    bool is_probe;
    uint8_t use; /* free for who ordered it */
};

/* Where the code of sites is made. */
struct site_maker {
    const struct forced_memory *memory;
    struct near_memory *code;
    struct pool *codes; /* of struct site_code */
};

/* What a site is made for. */
struct site_purpose {
    const struct hook_plan *plan;
    const uint8_t *expected; /* what the displaced instructions should be; NULL: what is there */
    bool is_probe;
};

static inline bool site_wish_is_empty(const struct site_wish *wish)
{
    return wish->listeners == NULL && wish->replacement == 0 && !wish->is_recorded && !wish->is_ordered;
}

/*
 * Prepares the patch and writes the trampoline. -ESTALE: something else is there than expected; other errors as
 * patch_prepare, near_memory_begin, trampoline_write.
 */
MUST_USE int hook_site_init(struct hook_site *site, const struct site_purpose *purpose, const struct site_maker *maker);

/*
 * The same for an instruction that makes system calls, whose stub is written; `call`, which the caller has and keeps,
 * is filled.
 */
MUST_USE int hook_site_init_call(struct hook_site *site, const struct site_purpose *purpose,
                                 struct system_call_stub *call, const struct site_maker *maker);

/* A site that is never patched: its stub, whose address who wants it has, calls the function as it is. */
void hook_site_init_front(struct hook_site *site, uint64_t function);

/* Where the patch is to lead for what is wanted. */
struct site_lead {
    struct site_code *stub; /* NULL: straight to a replacement */
    uint64_t target;
};

/* The site's stub if that does what is wanted, or another one. Errors as hook_stub_write, near_memory_begin. */
MUST_USE int hook_site_lead(struct hook_site *site, const struct site_wish *wish, const struct site_maker *maker,
                            struct site_lead *lead_out);

/* Code that nothing leads to any more. NULL is fine. */
void site_code_release(struct site_code *code);

/* The end of the program's bytes that belong to a site, from patch_at on, without the jump of a hop. */
uint64_t hook_site_end(const struct hook_site *site);

/*
 * Where a displaced instruction is done: in the trampoline, or in the stub of a system call. False: none begins there
 * but the first, whose place leads to the stub. `memory` as patch_read_displaced.
 */
bool hook_site_find_copy(const struct hook_site *site, const struct forced_memory *memory, uint64_t pc,
                         uint64_t *copy_out);

/*
 * The other way: of an address in the trampoline, or in the stub of a system call, the instruction of the program.
 * False: the address is in the middle of its copy, if not of what the stub does besides.
 */
bool hook_site_find_original(const struct hook_site *site, const struct forced_memory *memory, uint64_t pc,
                             uint64_t *original_out);

#endif
