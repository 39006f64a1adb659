/* SPDX-License-Identifier: MIT */
/*
 * What is mapped now is locked piece by piece, ours left out. Each piece twice: first only what is present, which fails
 * if no more may be locked and for no other reason; then all of it, which may fail for what cannot be accessed, as
 * mlockall ignores it, too. What is mapped later is the kernel's: ours is locked with it then, where it is small.
 * Neighbours: base/memory_area.h knows what is ours.
 */
#include "process/memory_lock.h"

#include "base/memory_area.h"
#include "base/raw_syscall.h"
#include "process/mapping_list.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/mman.h>

#define KERNEL_HALF (1ull << 63)

struct locking {
    long flags;
    long result;
    uint64_t end; /* what is below was locked */
};

static long call(long number, const struct mapping *mapping, long flags)
{
    return raw_syscall(number, (long)mapping->start, (long)(mapping->end - mapping->start), flags, 0, 0, 0);
}

static bool is_the_programs(const struct mapping *mapping)
{
    return mapping->start < KERNEL_HALF && !memory_area_overlaps(mapping->start, mapping->end);
}

/* Another thread may have unmapped it meanwhile, which gives the same error. */
static bool is_gone(const struct mapping *mapping)
{
    return call(__NR_msync, mapping, MS_ASYNC) == -ENOMEM;
}

static void lock_one(void *context, const struct mapping *mapping)
{
    struct locking *locking = context;
    long result;

    if (locking->result != 0 || !is_the_programs(mapping))
        return;
    result = call(__NR_mlock2, mapping, MLOCK_ONFAULT);
    if (result == -ENOMEM && is_gone(mapping))
        return;
    locking->result = result;
    locking->end = mapping->start;
    if (result == 0 && !(locking->flags & MCL_ONFAULT) && mapping_access(mapping) != MEMORY_NO_ACCESS)
        (void)call(__NR_mlock, mapping, 0);
}

static void unlock_one(void *context, const struct mapping *mapping)
{
    (void)context;
    if (is_the_programs(mapping))
        (void)call(__NR_munlock, mapping, 0);
}

static long make(long flags)
{
    return raw_syscall_for_program(__NR_mlockall, flags, 0, 0, 0, 0, 0);
}

long memory_lock_all(long flags)
{
    struct locking locking = {.flags = flags};
    long result;

    if (!(flags & MCL_CURRENT) || flags & ~(long)(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
        return make(flags);
    /* Whether the program may make this call at all. */
    result = make(0);
    if (result != -EINVAL)
        return result;
    /* Without a list nothing can be left out, but nothing has to be provided. */
    if (mapping_list_visit(0, UINT64_MAX, lock_one, &locking) != 0)
        return make(flags | MCL_ONFAULT);
    if (locking.result != 0 && mapping_list_visit(0, locking.end, unlock_one, NULL) != 0)
        return locking.result;
    if (locking.result == 0 && flags & MCL_FUTURE)
        locking.result = make(flags & ~(long)MCL_CURRENT);
    return locking.result;
}
