/* SPDX-License-Identifier: MIT */
/*
 * Readings of two clocks are a few dozen nanoseconds apart. A line through two of them errs by no more than that for
 * what happened between them. The line ends now and begins one to two seconds ago: clocks need not be steady for
 * longer. The kernel's formula is a line, too.
 *
 * Each event is converted: divisions are done once for a line, not for an event.
 */
#include "kernel/perf_clock.h"

#include "base/memory_barrier.h"
#include "base/memory_map.h"
#include "base/time_counter.h"
#include "hosted/system_clock.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define READINGS    16
#define LINE_NS     1000000000u /* how long a line is at least, once there was so much time */
#define SHORTEST_NS 2000000u    /* and at first */
#define SLOPE_SHIFT 48u
#define NEAR_NS     ((int64_t)1 << 40) /* so far the slope errs by less than a tick */

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

static uint64_t time_by_formula(const struct perf_clock_formula *formula, uint64_t counter)
{
    return formula->zero + (uint64_t)((wide)counter * formula->multiplier >> formula->shift);
}

/* The reading that took least time. */
static struct perf_clock_pair read_pair(void)
{
    struct perf_clock_pair best = {0, 0};
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < READINGS; i++) {
        uint64_t before = time_counter(), now = system_clock_ns(CLOCK_MONOTONIC_RAW), took = time_counter() - before;

        if (took < least) {
            least = took;
            best = (struct perf_clock_pair){before + took / 2, now};
        }
    }
    return best;
}

/* What the first page of any event says. Between two equal values of its lock nothing changed. */
static bool read_formula(const struct perf_event_mmap_page *page, struct perf_clock_formula *formula_out)
{
    const volatile struct perf_event_mmap_page *seen = page;
    uint32_t lock;
    bool is_there;

    do {
        lock = seen->lock;
        memory_barrier();
        is_there = seen->cap_user_time_zero && seen->time_mult != 0;
        *formula_out = (struct perf_clock_formula){seen->time_zero, seen->time_mult, seen->time_shift};
        memory_barrier();
    } while (seen->lock != lock);
    return is_there;
}

static bool find_formula(struct perf_clock_formula *formula_out)
{
    struct perf_event_attr attr = {
        .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1};
    size_t page_bytes = memory_page_size();
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    void *page;
    bool is_there = false;

    if (fd < 0)
        return false;
    page = mmap(NULL, page_bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED) {
        is_there = read_formula(page, formula_out);
        munmap(page, page_bytes);
    }
    close(fd);
    return is_there;
}

void perf_clock_init(struct perf_clock *clock)
{
    *clock = (struct perf_clock){.has_formula = false};
    clock->has_formula = find_formula(&clock->formula);
    clock->from = clock->middle = clock->to = read_pair();
}

void perf_clock_choose(const struct perf_clock *clock, struct perf_event_attr *attr)
{
    attr->use_clockid = !clock->has_formula;
    attr->clockid = clock->has_formula ? 0 : CLOCK_MONOTONIC_RAW;
}

static void set_slope(struct perf_clock *clock)
{
    uint64_t nanoseconds = clock->to.raw_ns - clock->from.raw_ns, ticks = clock->to.counter - clock->from.counter;

    if (clock->has_formula)
        clock->slope = (uint64_t)(((wide)1 << (SLOPE_SHIFT + clock->formula.shift)) / clock->formula.multiplier);
    else
        clock->slope = (uint64_t)(((wide)ticks << SLOPE_SHIFT) / nanoseconds);
}

void perf_clock_update(struct perf_clock *clock)
{
    struct perf_clock_pair now;

    if (clock->has_formula) {
        uint64_t counter = time_counter();

        clock->from = (struct perf_clock_pair){counter, time_by_formula(&clock->formula, counter)};
        set_slope(clock);
        return;
    }
    do
        now = read_pair();
    while (now.raw_ns < clock->from.raw_ns + SHORTEST_NS);
    if (now.raw_ns - clock->middle.raw_ns >= LINE_NS) {
        clock->from = clock->middle;
        clock->middle = now;
    }
    clock->to = now;
    set_slope(clock);
}

uint64_t perf_clock_counter(const struct perf_clock *clock, uint64_t time)
{
    int64_t distance = (int64_t)(time - clock->from.raw_ns);

    if (clock->slope != 0 && distance < NEAR_NS && distance > -NEAR_NS)
        return clock->from.counter + (uint64_t)(int64_t)(((signed_wide)distance * clock->slope) >> SLOPE_SHIFT);
    if (clock->has_formula)
        return (uint64_t)(((wide)(time - clock->formula.zero) << clock->formula.shift) / clock->formula.multiplier);

    uint64_t nanoseconds = clock->to.raw_ns - clock->from.raw_ns, ticks = clock->to.counter - clock->from.counter;

    return clock->from.counter +
           (uint64_t)(int64_t)(nanoseconds == 0 ? distance : (signed_wide)distance * ticks / nanoseconds);
}

uint64_t perf_clock_now(const struct perf_clock *clock)
{
    return clock->has_formula ? time_by_formula(&clock->formula, time_counter()) : system_clock_ns(CLOCK_MONOTONIC_RAW);
}
