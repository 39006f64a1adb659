/* SPDX-License-Identifier: MIT */
/*
 * Loading an image: all of it is mapped writable, filled and relocated, then each segment gets its own access and
 * everything between them none. Invariant: nothing is writable and executable at once. Neighbours: image.c knows the
 * format, memory_map.c the system.
 */
#include "elf/image_load.h"

#include "base/instruction_cache.h"
#include "elf/image.h"

#include <asm/errno.h>

#define ALIGNMENT_IN_RANGE_MAX (64u * 1024) /* what memory_map_request gives in a range */

static int map(const struct elf_image *image, struct memory_range within, uint8_t **start_out)
{
    struct memory_request request = {
        .size_bytes = elf_image_span(image), .access = MEMORY_READ_WRITE, .within = within, .fd = -1};
    bool anywhere = within.low == 0 && within.high == 0;
    void *start;
    int result;

    if (!anywhere && image->alignment > ALIGNMENT_IN_RANGE_MAX)
        return -EINVAL;
    if (anywhere)
        result = memory_map_aligned(request.size_bytes, image->alignment, &start);
    else
        result = memory_map_request(&request, &start);
    if (result == 0)
        *start_out = start;
    return result;
}

/* The first and one past the last page of addresses, as offsets from low. */
static uint64_t pages_begin(const struct elf_image *image, uint64_t address)
{
    return (address - image->low) & ~(uint64_t)(memory_page_size() - 1);
}

static uint64_t pages_end(const struct elf_image *image, uint64_t address)
{
    return memory_round_to_pages(address - image->low);
}

static bool segments_share_pages(const struct elf_image *image)
{
    for (size_t i = 1; i < image->segment_count; i++) {
        const struct elf_segment *before = &image->segments[i - 1];

        if (pages_begin(image, image->segments[i].address) < pages_end(image, before->address + before->memory_bytes))
            return true;
    }
    return false;
}

static int protect_segment(const struct elf_image *image, const struct elf_segment *segment, uint8_t *start)
{
    uint64_t begin = pages_begin(image, segment->address);
    uint64_t end = pages_end(image, segment->address + segment->memory_bytes);

    if ((segment->access & MEMORY_EXECUTE) != 0)
        instruction_cache_flush(start + begin, start + begin, end - begin);
    return memory_protect(start + begin, end - begin, segment->access);
}

/* Whole pages only: the end of the last one may hold data that stays writable. */
static int protect_read_only(const struct elf_image *image, uint8_t *start)
{
    struct elf_span span = image->read_only;
    uint64_t begin, end;

    if (span.size_bytes == 0)
        return 0;
    begin = pages_begin(image, span.address);
    end = pages_begin(image, span.address + span.size_bytes);
    return end > begin ? memory_protect(start + begin, end - begin, MEMORY_READ) : 0;
}

static int protect(const struct elf_image *image, uint8_t *start)
{
    int result = memory_protect(start, memory_round_to_pages(elf_image_span(image)), MEMORY_NO_ACCESS);

    for (size_t i = 0; i < image->segment_count && result == 0; i++)
        result = protect_segment(image, &image->segments[i], start);
    return result == 0 ? protect_read_only(image, start) : result;
}

static bool has_writable_code(const struct elf_image *image)
{
    for (size_t i = 0; i < image->segment_count; i++) {
        unsigned both = MEMORY_WRITE | MEMORY_EXECUTE;

        if ((image->segments[i].access & both) == both)
            return true;
    }
    return false;
}

int elf_image_load(const struct elf_image *image, struct memory_range within, struct elf_loaded *loaded_out)
{
    struct elf_part whole;
    uint8_t *start;
    int result = elf_image_check_self_contained(image);

    if (result != 0)
        return result;
    if (segments_share_pages(image) || has_writable_code(image))
        return -ENOEXEC;
    result = map(image, within, &start);
    if (result != 0)
        return result;
    whole = (struct elf_part){image->low, elf_image_span(image), start};
    elf_image_copy(image, &whole);
    result = elf_image_relocate(image, &whole, (uintptr_t)start);
    if (result == 0)
        result = protect(image, start);
    if (result != 0) {
        memory_unmap(start, elf_image_span(image));
        return result;
    }
    *loaded_out = (struct elf_loaded){
        .start = start,
        .size_bytes = elf_image_span(image),
        .entry = image->entry != 0 ? (uintptr_t)start + (image->entry - image->low) : 0,
    };
    return 0;
}

void elf_image_unload(struct elf_loaded *loaded)
{
    memory_unmap(loaded->start, loaded->size_bytes);
    *loaded = (struct elf_loaded){0};
}
