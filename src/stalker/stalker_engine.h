/* SPDX-License-Identifier: MIT */
/*
 * The engine: the threads that are followed, the caches that they run in, and what all of them share. Lock order:
 * engine, cache, source.
 */
#ifndef GAIT_STALKER_STALKER_ENGINE_H
#define GAIT_STALKER_STALKER_ENGINE_H

#include "base/address.h"
#include "base/attributes.h"
#include "base/hash_map.h"
#include "base/interval_map.h"
#include "base/list.h"
#include "base/memory_map.h"
#include "base/mutex.h"
#include "gait/stalker.h"
#include "stalker/call_piece.h"
#include "stalker/code_cache.h"
#include "stalker/code_source.h"
#include "stalker/exclusion.h"
#include "stalker/quiet_range.h"

#include <stdbool.h>
#include <stdint.h>

struct gait_observer;
struct block_draft;
struct stalker_thread;
struct call_teller;
struct system_call;
struct thread_chooser;
struct thread_visit;
struct engine;
struct follow_configuration;
struct gait_stalker_statistics;
struct stalker_engine;

/* All zero: as it should be. */
struct stalker_engine_options {
    bool without_links;
    bool without_lookup;
    bool without_adjacent;
    bool narrow_tables;       /* of indirect branches, at first; where every fork is a followed thread's */
    bool callbacks_followed;  /* what excluded code calls elsewhere is observed */
    uint64_t program_entry;   /* where the program begins; 0 once it has */
    size_t code_bytes_max;    /* of a cache, before its oldest code is forgotten; 0: no limit */
    size_t slab_bytes;        /* of hot memory mapped at a time; 0: the engine's choice */
    enum code_view_mode view; /* of executable memory; in an engine, one that the system allows */
    int trust;                /* negative: code is compared each time that it runs; positive: until it was found
                                 unchanged that often; 0: where it can be written without a system call */
};

/* Is told when the program has changed its mappings in a range. In the engine, without a lock. */
struct mapping_watcher {
    void (*changed)(void *context, uint64_t start, uint64_t end, bool may_execute);
    void *context;
};

/* Is told what becomes of threads for which it has set `watch`. */
struct thread_watcher {
    /* Around the moment in which memory is copied: what it has must be whole then. With all locks of ours, the last. */
    void (*hold)(void);
    /* In the child, too. */
    void (*let_go)(void);
    /* It is followed no more. In the engine, on that thread or while it is stopped. */
    void (*ended)(struct stalker_thread *thread);
    /* In a child that was just forked: the thread is not there. */
    void (*forgotten)(struct stalker_thread *thread);
    /* The same: it is there, and what it had in a ring is the parent's. */
    void (*forked)(struct stalker_thread *thread);
};

/*
 * Is told of processes that come, and are replaced, by the thread that does it: in the engine, without a lock of ours
 * but in child_began, where nobody else is. What is announced may not happen.
 */
struct process_watcher {
    void (*fork_begins)(void *context);
    void (*fork_failed)(void *context);
    /* In the child. True: it is followed, and the ring is its own; false: it is not, and nobody reads the ring. */
    bool (*child_began)(void *context);
    /* About to execute a program, or else to make a process that shares our memory; and it has not done so, or has. */
    void (*call_begins)(void *context, struct stalker_thread *thread, bool is_exec, const struct system_call *call);
    void (*call_ended)(void *context, struct stalker_thread *thread);
    /* The last thread has left because nobody is there any more who reads, or in a child that is not followed. */
    void (*all_left)(void *context);
    /* Whether whoever reads is gone: then all threads leave. Cheap, no lock. */
    bool (*is_abandoned)(void *context);
    void *context;
};

struct stalker_engine {
    struct stalker_engine_options options;
    const struct mapping_watcher *watcher;       /* NULL: nobody; set before the first thread is followed */
    const struct process_watcher *processes;     /* the same */
    const struct thread_watcher *thread_watcher; /* the same */
    const struct call_teller *teller;            /* the same */
    const struct thread_chooser *chooser;        /* of threads that are observed; NULL: all are */
    struct memory_range image;                   /* of our own code; none: this process follows itself */
    _Atomic bool is_abandoned;                   /* all threads leave as soon as they come here */
    const struct engine *machine;
    struct mutex lock;
    struct list_node threads;  /* followed */
    struct list_node parked;   /* no longer followed; their structs are kept until nobody can be leaving through them */
    struct code_cache *caches; /* one for each configuration; the list is under lock */
    struct code_source source;
    struct hash_map nothing;          /* no blocks: for threads that are to come to the engine each time */
    struct hash_map natives;          /* functions that followed threads call natively, by address */
    _Atomic bool has_natives;         /* whether there are any */
    _Atomic uint64_t epoch;           /* reclaim.c */
    _Atomic uint32_t mapping_changes; /* how often followed threads changed their mappings */
    const struct gait_observer *_Atomic observer;
    struct exclusions exclusions;
    struct quiet_ranges quiet;
    struct call_pieces pieces;
    struct code_cache *quiet_cache;    /* one of the caches; NULL until something is excluded */
    struct code_cache *paused_cache;   /* one of the caches; NULL until a thread is paused */
    struct hash_map probe_points;      /* addresses with call probes; call_probe.c */
    _Atomic bool has_probes;           /* whether there are any, or were */
    struct interval_map probe_borders; /* addresses in the middle of blocks that have some; under translation_lock */
    struct slab probe_memory;
    uint32_t probe_id;
    struct thread_visit *visits; /* to threads that are not followed; thread_visit.c */
    uint64_t event_bytes_lost;   /* of threads that are no longer followed */
    uint8_t *system_calls;       /* by number: whether the engine has a part in it; below 2 GiB */
    struct block_draft *draft;   /* of the block that is translated, under translation_lock */
    struct mutex translation_lock;
};

/*
 * -EOPNOTSUPP: not on this CPU yet; -ENOMEM; -EACCES, -EPERM, -ENOSYS: the system does not allow such executable
 * memory. The caller owns the engine.
 */
MUST_USE int stalker_engine_create(const struct stalker_engine_options *options, struct stalker_engine **engine_out);

/* No thread may be followed. NULL is fine. */
void stalker_engine_destroy(struct stalker_engine *engine);

/* Lets followed threads call the function at that address natively. -ENOMEM. */
MUST_USE int stalker_engine_add_native(struct stalker_engine *engine, struct app_pc function);

/* Whether an address is such a function. Any thread, no lock. */
bool stalker_engine_is_native(const struct stalker_engine *engine, struct app_pc function);

/*
 * The cache for threads that are followed that way; made if there is none. Only while the lock is held, or a thread
 * is followed in it, it is sure to stay. -ENOMEM.
 */
MUST_USE int stalker_engine_cache(struct stalker_engine *engine, const struct follow_configuration *configuration,
                                  struct code_cache **cache_out) REQUIRES(engine->lock);

/* The same if there is one, else NULL. */
struct code_cache *stalker_engine_find_cache(struct stalker_engine *engine,
                                             const struct follow_configuration *configuration) REQUIRES(engine->lock);

/* ---- figures ----------------------------------------------------------------------------------------------------- */

/* What the engine has and how much memory it takes. Any thread. */

/* Fills all fields but size_bytes. */
void stalker_statistics_read(struct stalker_engine *engine, struct gait_stalker_statistics *statistics_out);

/* ---- looking at blocks ------------------------------------------------------------------------------------------- */

/* Looking at translations: where that of a block is, and which of the program's instructions a place in it stands for.
 */

/* A block and its translation, as far as it runs often. */
struct block_extent {
    struct app_pc start;
    uint64_t size_bytes;
    struct cache_pc code;
    uint64_t code_bytes;
};

/* Any thread, not in the engine. -ENOENT: no block that begins there is translated for threads followed that way. */
MUST_USE int block_lookup(struct stalker_engine *engine, const struct follow_configuration *configuration,
                          struct app_pc start, struct block_extent *extent_out);

/*
 * Where the program is, or goes on, when a thread is at a place in translated code. Any thread, not in the engine.
 * -ENOENT: nothing is known of that place, or only together with the thread's registers.
 */
MUST_USE int block_lookup_original(struct stalker_engine *engine, const struct follow_configuration *configuration,
                                   struct cache_pc place, struct app_pc *original_out);

/* ---- the observer ------------------------------------------------------------------------------------------------ */

/* Telling somebody what the engine does. Called where it happens, by the thread that does it. */

/* From now on; NULL: nobody. The observer must live until no thread can be in the engine any more. */
void observer_set(struct stalker_engine *engine, const struct gait_observer *observer);

/* What happened. Nothing if nobody wants to know. */
void observer_entered(struct stalker_thread *thread);
void observer_translated(const struct code_cache *cache, const struct block *block);
void observer_linked(const struct code_cache *cache, struct block_exit *exit, const struct block *to);

#endif
