/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE

#include "base/memory_map.h"
#include "stalker/program_memory.h"
#include "stalker/system_call.h"
#include "support/check.h"
#include "support/stalker_lab.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

#define PAGE 4096

static struct stalker_lab lab;

static bool is_changed(long number, uint64_t start, size_t size, long flags, uint64_t to)
{
    const struct system_call call = {number, {(long)start, (long)size, PAGE, flags, (long)to, 0}};

    return own_memory_is_changed_by(lab.engine, &call);
}

static void check_is_ours(uint64_t place)
{
    uint64_t page = place & ~(uint64_t)(PAGE - 1);

    CHECK(is_changed(SYS_munmap, page, PAGE, 0, 0));
    CHECK(is_changed(SYS_munmap, page - PAGE, 3 * PAGE, 0, 0));
    CHECK(is_changed(SYS_mprotect, page, PAGE, 0, 0));
    CHECK(is_changed(SYS_pkey_mprotect, page, PAGE, 0, 0));
    CHECK(is_changed(SYS_mmap, page, PAGE, MAP_FIXED | MAP_PRIVATE, 0));
    CHECK(is_changed(SYS_mremap, page, PAGE, 0, 0));
    CHECK(is_changed(SYS_mremap, PAGE, PAGE, MREMAP_FIXED | MREMAP_MAYMOVE, page));
    /* The kernel finds another place. */
    CHECK(!is_changed(SYS_mmap, page, PAGE, MAP_PRIVATE, 0));
    CHECK(!is_changed(SYS_mremap, PAGE, PAGE, MREMAP_MAYMOVE, page));
}

static void what_is_ours_cannot_be_changed(void)
{
    const struct block *block;
    void *memory;

    stalker_lab_init(&lab, &(struct stalker_lab_options){.fill = STALKER_LAB_LEAVES});
    lab.engine->image = (struct memory_range){1ull << 40, (1ull << 40) + PAGE};
    CHECK_EQUAL(memory_map(PAGE, &memory), 0);
    check_is_ours((uintptr_t)memory);
    check_is_ours(1ull << 40);
    check_is_ours((uintptr_t)lab.engine->system_calls);
    block = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base), false);
    check_is_ours(block->entry.value);
    memory_unmap(memory, PAGE);
    stalker_lab_deinit(&lab);
}

static void what_is_the_programs_can(void)
{
    uint8_t *page;

    stalker_lab_init(&lab, NULL);
    lab.engine->image = (struct memory_range){1ull << 40, (1ull << 40) + PAGE};
    page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(!is_changed(SYS_munmap, (uintptr_t)page, PAGE, 0, 0));
    CHECK(!is_changed(SYS_mmap, (uintptr_t)page, PAGE, MAP_FIXED | MAP_PRIVATE, 0));
    CHECK(!is_changed(SYS_munmap, (1ull << 40) + PAGE, PAGE, 0, 0));
    /* The kernel knows what is wrong with those. */
    CHECK(!is_changed(SYS_munmap, 1ull << 40, 0, 0, 0));
    CHECK(!is_changed(SYS_munmap, 1ull << 40, SIZE_MAX, 0, 0));
    /* Who follows itself unmaps what it likes. */
    lab.engine->image = (struct memory_range){0, 0};
    CHECK(!is_changed(SYS_munmap, (uintptr_t)lab.engine->system_calls, PAGE, 0, 0));
    munmap(page, PAGE);
    stalker_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_ours_cannot_be_changed),
    CHECK_CASE(what_is_the_programs_can),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif
