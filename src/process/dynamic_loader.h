/* SPDX-License-Identifier: MIT */
/*
 * The dynamic loader of this process, by what it keeps for debuggers (struct r_debug, link maps): glibc's and musl's,
 * also in a process whose loader has not run yet, and the one inside of a static program. All that is the loader's is
 * copied by the kernel: it may be changing or corrupt. Raw system calls, no locks, no libc; callable from any thread,
 * also in the middle of the loader, and inside the target.
 */
#ifndef GAIT_PROCESS_DYNAMIC_LOADER_H
#define GAIT_PROCESS_DYNAMIC_LOADER_H

#include "base/attributes.h"
#include "process/auxiliary_vector.h"

#include <stdbool.h>
#include <stdint.h>

struct dynamic_loader {
    struct auxiliary_vector start;
    uint64_t program;       /* where the program's ELF header is; 0: it is not loaded */
    uint64_t base;          /* where the loader's is; 0: there is none */
    uint64_t notification;  /* the function that it calls when its list is about to change, and when it has; 0: none */
    uint64_t debug;         /* its struct r_debug; 0: not known yet */
    uint64_t debug_pointer; /* where it will say where that is; 0: it will not */
    bool hides_namespaces;  /* it announces no others than the program's (glibc before 2.35) */
};

/* -ENOENT: there is none, or it is not known how to ask it; what is known of the program is filled in all the same. */
MUST_USE int dynamic_loader_find(struct dynamic_loader *loader_out);

enum loader_state {
    LOADER_CONSISTENT,
    LOADER_ADDING,
    LOADER_REMOVING,
};

/* A module, as the loader has it. */
struct loader_entry {
    uint64_t link_map;
    uint64_t bias;
    uint64_t name; /* the address of a text */
    uint64_t dynamic;
    unsigned namespace_number;
};

struct loader_visitor {
    void *context;
    /* Whether to go through its list. There is one for each namespace, also if it is empty. */
    bool (*begin)(void *context, unsigned namespace_number, enum loader_state state);
    void (*take)(void *context, const struct loader_entry *entry);
};

/*
 * Goes through all lists. -EAGAIN: the loader has not made its list yet; -EFAULT, -ELOOP: what it has makes no sense,
 * what was visited before may be wrong.
 */
MUST_USE int dynamic_loader_visit(struct dynamic_loader *loader, const struct loader_visitor *visitor);

#endif
