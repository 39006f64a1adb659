/* SPDX-License-Identifier: MIT */
/*
 * Write xor execute, and how we live with it. Systems differ in whether memory may be writable and executable at once,
 * and whether it may become executable after it was written; here is the only place that knows. Invariant: a byte has
 * the same offset in both views. No lock: the owner has it. Neighbours: memory_map.c and memory_file.c map,
 * code_memory.c decides what is written when.
 */
#include "base/code_view.h"

#include "base/instruction_cache.h"
#include "base/memory_file.h"
#include "base/memory_map.h"

#include <asm/errno.h>

static int map_executable(struct code_view *view, unsigned access, uint64_t near, int fd)
{
    struct memory_request request = {
        .size_bytes = view->size_bytes,
        .access = access,
        .fd = fd,
    };
    void *start;
    int result;

    if (near != 0)
        request.within = memory_range_near(near);
    result = memory_map_request(&request, &start);
    if (result == 0)
        view->executable = start;
    return result;
}

static int map_rwx(struct code_view *view, uint64_t near)
{
    int result = map_executable(view, MEMORY_READ_WRITE | MEMORY_EXECUTE, near, -1);

    view->writable = view->executable;
    return result;
}

static int map_views_of_file(struct code_view *view, uint64_t near, int fd)
{
    struct memory_request request = {.size_bytes = view->size_bytes, .access = MEMORY_READ_WRITE, .fd = fd};
    void *writable;
    int result = map_executable(view, MEMORY_READ_EXECUTE, near, fd);

    if (result != 0)
        return result;
    result = memory_map_request(&request, &writable);
    if (result != 0) {
        memory_unmap(view->executable, view->size_bytes);
        return result;
    }
    view->writable = writable;
    return 0;
}

static int map_dual(struct code_view *view, uint64_t near)
{
    int fd;
    int result = memory_file_create("gait-code", view->size_bytes, true, &fd);

    if (result != 0)
        return result;
    result = map_views_of_file(view, near, fd);
    memory_file_close(fd);
    return result;
}

/* Also tries whether the memory may change back and forth. */
static int map_freeze(struct code_view *view, uint64_t near)
{
    int result = map_executable(view, MEMORY_READ_EXECUTE, near, -1);

    if (result != 0)
        return result;
    view->writable = view->executable;
    result = code_view_thaw(view, 0, view->size_bytes);
    if (result == 0)
        result = code_view_freeze(view, 0, view->size_bytes);
    if (result != 0)
        memory_unmap(view->executable, view->size_bytes);
    return result;
}

static int map_in_mode(struct code_view *view, uint64_t near)
{
    switch (view->mode) {
    case CODE_VIEW_RWX:
        return map_rwx(view, near);
    case CODE_VIEW_DUAL:
        return map_dual(view, near);
    case CODE_VIEW_FREEZE:
        return map_freeze(view, near);
    default:
        return -EINVAL;
    }
}

int code_view_map(size_t size_bytes, enum code_view_mode mode, uint64_t near, struct code_view *view_out)
{
    enum code_view_mode first = mode == CODE_VIEW_AUTO ? CODE_VIEW_RWX : mode;
    enum code_view_mode last = mode == CODE_VIEW_AUTO ? CODE_VIEW_FREEZE : mode;
    struct code_view view = {.size_bytes = memory_round_to_pages(size_bytes)};
    int result = -EINVAL;

    if (view.size_bytes == 0)
        return -EINVAL;
    for (view.mode = first; view.mode <= last; view.mode++) {
        result = map_in_mode(&view, near);
        if (result == 0) {
            *view_out = view;
            return 0;
        }
    }
    return result;
}

void code_view_unmap(struct code_view *view)
{
    if (view->writable != view->executable)
        memory_unmap(view->writable, view->size_bytes);
    memory_unmap(view->executable, view->size_bytes);
    *view = (struct code_view){0};
}

static int protect(const struct code_view *view, size_t offset, size_t size_bytes, unsigned access)
{
    size_t page = memory_page_size();
    size_t start = offset & ~(page - 1);

    return memory_protect(view->executable + start, memory_round_to_pages(offset + size_bytes) - start, access);
}

int code_view_thaw(const struct code_view *view, size_t offset, size_t size_bytes)
{
    return view->mode == CODE_VIEW_FREEZE ? protect(view, offset, size_bytes, MEMORY_READ_WRITE) : 0;
}

int code_view_freeze(const struct code_view *view, size_t offset, size_t size_bytes)
{
    instruction_cache_flush(view->writable + offset, view->executable + offset, size_bytes);
    return view->mode == CODE_VIEW_FREEZE ? protect(view, offset, size_bytes, MEMORY_READ_EXECUTE) : 0;
}
