/* SPDX-License-Identifier: MIT */
/*
 * The unwind tables of all modules of this process. Whoever knows of a module adds it, whoever sees it go removes it;
 * or the list of mappings is gone through. Searching takes no lock, makes no system call and may be done in signal
 * handlers, between unwind_modules_enter and _leave; what changes the modules takes a lock. What is removed is given
 * back when no thread can be looking at it any more: nobody waits for that. Nothing of a module is read after its table
 * was made, so a module that goes unnoticed does no harm but that of a wrong stack. No libc; usable inside the target.
 */
#ifndef GAIT_UNWIND_UNWIND_MODULES_H
#define GAIT_UNWIND_UNWIND_MODULES_H

#include "base/list.h"
#include "base/mutex.h"
#include "unwind/rule_cache.h"
#include "unwind/unwind_table.h"

struct arch_frame_registers;
struct hooked_frames;
struct unwind_module_list;

/* One for each thread that searches. */
struct unwind_reader {
    struct list_node node;
    _Atomic uint64_t activity; /* odd: it is searching */
};

/* The modules at some time: that they change makes another one. */
struct unwind_view {
    struct rule_cache cache;
    uint64_t generation; /* another one for each view */
};

struct unwind_modules {
    struct mutex lock;
    const struct arch_frame_registers *registers;
    struct unwind_module_list *_Atomic current;
    const struct hooked_frames *_Atomic hooked; /* NULL: there are no hooks */
    struct list_node readers;                   /* of struct unwind_reader */
    struct unwind_module_list *retired;         /* the newest first */
};

/* -ENOMEM. */
MUST_USE int unwind_modules_init(struct unwind_modules *modules, const struct arch_frame_registers *registers);

/* With no thread in it any more. */
void unwind_modules_deinit(struct unwind_modules *modules);

/*
 * Walks ask for code that no module has. It must stay good until the modules go; NULL is for none. Any thread, at any
 * time.
 */
void unwind_modules_set_hooked(struct unwind_modules *modules, const struct hooked_frames *hooked);

void unwind_modules_add_reader(struct unwind_modules *modules, struct unwind_reader *reader);
void unwind_modules_remove_reader(struct unwind_modules *modules, struct unwind_reader *reader);

/*
 * Whether it was outside before, which _leave wants to know: a signal handler may come in between. Whoever retires
 * something makes all threads see the order of these stores by a system call, so that nothing but the compiler has to
 * be kept from changing it here.
 */
static inline bool unwind_modules_enter(struct unwind_reader *reader)
{
    uint64_t activity = atomic_load_explicit(&reader->activity, memory_order_relaxed);

    if (activity & 1)
        return false;
    atomic_store_explicit(&reader->activity, activity + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

static inline void unwind_modules_leave(struct unwind_reader *reader, bool was_outside)
{
    uint64_t activity = atomic_load_explicit(&reader->activity, memory_order_relaxed);

    if (was_outside)
        atomic_store_explicit(&reader->activity, activity + 1, memory_order_release);
}

/* The modules of now. Between enter and leave, and good until then. Pairs with the release in publish(). */
static inline struct unwind_view *unwind_modules_view(struct unwind_modules *modules)
{
    /* A list begins with its view. */
    return (struct unwind_view *)atomic_load_explicit(&modules->current, memory_order_acquire);
}

/*
 * A module whose ELF header is in memory at `base`. -ENOENT: it tells nothing of frames; -ENOEXEC: it is no module;
 * -EFAULT: what it should have is not there; -EEXIST: there is one already; -ENOMEM, -E2BIG.
 */
MUST_USE int unwind_modules_add(struct unwind_modules *modules, uint64_t base);

/* All modules that have code in the range. -ENOMEM. */
MUST_USE int unwind_modules_remove(struct unwind_modules *modules, uint64_t start, uint64_t end);

/*
 * Makes the modules those that are mapped: those that came are added, those that went or have another .eh_frame now
 * are removed. A module without a table, for whatever reason, is left out. -EBUSY: somebody changes them and the
 * caller does not want to wait; -ENOMEM; what mapping_list_visit gives. Without waiting, callable in signal handlers.
 */
MUST_USE int unwind_modules_refresh(struct unwind_modules *modules, bool may_wait);

/* The rule for code at an address; remembered. */
uint32_t unwind_view_rule(struct unwind_view *view, uint64_t pc);

/* The entry of .eh_frame about it. */
bool unwind_view_entry(const struct unwind_view *view, uint64_t pc, struct eh_frame_entry *entry_out);

#endif
