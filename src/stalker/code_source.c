/* SPDX-License-Identifier: MIT */
/*
 * Reads /proc/thread-self/maps, line by line through a small buffer; /proc/self is the main thread's, and empty when
 * that has ended. Invariant: regions are those of some moment, less what
 * was forgotten since. Without /proc, a descriptor for it, or memory, nothing is executable that was not known before.
 */
#include "stalker/code_source.h"

#include "base/descriptor.h"
#include "base/raw_syscall.h"
#include "base/time_counter.h"
#include "process/mapping_list.h"
#include "stalker/block.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <stdbool.h>

/* Of the counter: a millisecond or some. */
#define HOLE_TIME    (1u << 22)
#define BUFFER_BYTES 4096

/* As far as anybody looks ahead. */
#define BYTES_ENOUGH 4096

/* The parts of a line that matter: "start-end rwxp ...". */
enum part {
    PART_START,
    PART_END,
    PART_ACCESS,
    PART_REST,
};

struct line {
    enum part part;
    uint64_t start, end;
    unsigned access_count;
    bool readable, writable, executable, shared;
};

static const struct line empty_line;

void code_source_init(struct code_source *source)
{
    *source = (struct code_source){0};
    interval_map_init(&source->regions);
    interval_map_init(&source->unreadable);
    interval_map_init(&source->written);
}

void code_source_deinit(struct code_source *source)
{
    interval_map_deinit(&source->regions);
    interval_map_deinit(&source->unreadable);
    interval_map_deinit(&source->written);
}

static unsigned digit_of(char character)
{
    return character <= '9' ? (unsigned)(character - '0') : (unsigned)(character - 'a' + 10);
}

static void take_access(struct line *line, char character)
{
    if (line->access_count == 0)
        line->readable = character == 'r';
    if (line->access_count == 1)
        line->writable = character == 'w';
    if (line->access_count == 2)
        line->executable = character == 'x';
    if (line->access_count == 3)
        line->shared = character == 's';
    if (++line->access_count == 4)
        line->part = PART_REST;
}

static void take_character(struct line *line, char character)
{
    switch (line->part) {
    case PART_START:
        if (character == '-')
            line->part = PART_END;
        else
            line->start = line->start << 4 | digit_of(character);
        break;
    case PART_END:
        if (character == ' ')
            line->part = PART_ACCESS;
        else
            line->end = line->end << 4 | digit_of(character);
        break;
    case PART_ACCESS:
        take_access(line, character);
        break;
    case PART_REST:
        break;
    }
}

static void take_line(struct code_source *source, const struct line *line) REQUIRES(source->lock)
{
    struct interval_map *map = line->readable ? &source->regions : &source->unreadable;

    if (line->part == PART_REST && line->executable &&
        interval_map_insert(map, line->start, line->end, line->readable && (line->writable || line->shared)) != 0)
        source->is_blind = true;
}

static void read_regions(struct code_source *source) REQUIRES(source->lock)
{
    static const char path[] = "/proc/thread-self/maps";
    long fd = descriptor_open(path, O_RDONLY);
    struct line line = empty_line;
    char buffer[BUFFER_BYTES];
    long got;

    source->is_blind = fd < 0;
    if (fd < 0)
        return;
    interval_map_deinit(&source->regions);
    interval_map_deinit(&source->unreadable);
    source->is_partial = false;
    while ((got = raw_syscall(__NR_read, fd, (long)buffer, sizeof(buffer), 0, 0, 0)) > 0) {
        for (long i = 0; i < got; i++) {
            if (buffer[i] != '\n') {
                take_character(&line, buffer[i]);
                continue;
            }
            take_line(source, &line);
            line = empty_line;
        }
    }
    raw_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
}

/* Regions that touch are one; what holds for one of those that are looked at holds for all. */
static size_t bytes_from(const struct code_source *source, uint64_t pc, bool *is_changeable_out)
{
    struct interval region;
    uint64_t end = pc;

    *is_changeable_out = false;
    while (end - pc < BYTES_ENOUGH && interval_map_find(&source->regions, end, &region)) {
        end = region.end;
        *is_changeable_out |= region.value != 0;
    }
    return (size_t)(end - pc);
}

/*
 * Whether it was found a moment ago that there is no code. A thread that is there comes again and again as long as
 * signals keep it from trying; it must not take longer each time than the next signal does.
 */
static bool is_hole(const struct code_source *source, uint64_t pc)
{
    return source->hole_time != 0 && source->hole == pc && time_counter() - source->hole_time < HOLE_TIME;
}

size_t code_source_bytes(struct code_source *source, struct app_pc pc, bool *is_changeable_out)
{
    bool is_changeable;
    size_t bytes;

    mutex_lock(&source->lock);
    bytes = bytes_from(source, pc.value, &is_changeable);
    /* An instruction that goes on behind what is known is looked for, too. */
    if (bytes < BLOCK_INSN_BYTES_MAX && !is_hole(source, pc.value)) {
        read_regions(source);
        bytes = bytes_from(source, pc.value, &is_changeable);
        if (bytes < BLOCK_INSN_BYTES_MAX) {
            source->hole = pc.value;
            source->hole_time = time_counter();
        }
    }
    mutex_unlock(&source->lock);
    if (is_changeable_out != NULL)
        *is_changeable_out = is_changeable;
    return bytes;
}

bool code_source_is_blind(struct code_source *source)
{
    bool is_blind;

    mutex_lock(&source->lock);
    is_blind = source->is_blind;
    mutex_unlock(&source->lock);
    return is_blind;
}

bool code_source_is_unreadable(struct code_source *source, struct app_pc pc)
{
    struct interval region;
    bool is_unreadable;

    mutex_lock(&source->lock);
    is_unreadable = interval_map_find(&source->unreadable, pc.value, &region);
    mutex_unlock(&source->lock);
    return is_unreadable;
}

void code_source_forget(struct code_source *source, uint64_t start, uint64_t end, bool may_execute)
{
    struct interval before;

    mutex_lock(&source->lock);
    /* What ended where the range begins may go on there now. */
    if (may_execute && interval_map_find(&source->regions, start - 1, &before))
        start = before.start;
    source->hole_time = 0;
    if (interval_map_remove(&source->regions, start, end) != 0) {
        interval_map_deinit(&source->regions);
        source->is_partial = true;
    }
    mutex_unlock(&source->lock);
}

void code_source_note_writing(struct code_source *source, uint64_t start, uint64_t end)
{
    mutex_lock(&source->lock);
    if (start < end && interval_map_overlaps(&source->regions, start, end) &&
        (interval_map_remove(&source->written, start, end) != 0 ||
         interval_map_insert(&source->written, start, end, 0) != 0))
        source->is_written_unknown = true;
    mutex_unlock(&source->lock);
}

bool code_source_is_unwritten(struct code_source *source, struct app_pc pc)
{
    struct interval written;
    bool is_unwritten;

    mutex_lock(&source->lock);
    is_unwritten = !source->is_written_unknown && !interval_map_find(&source->written, pc.value, &written);
    mutex_unlock(&source->lock);
    return is_unwritten;
}

void code_source_learn(struct code_source *source, const struct mapping *mapping)
{
    bool is_code = mapping->is_readable && mapping->is_executable;

    mutex_lock(&source->lock);
    source->hole_time = 0;
    /* Where something is missing, code that goes on from one mapping to the next would seem to end. */
    if (!source->is_partial && (interval_map_remove(&source->regions, mapping->start, mapping->end) != 0 ||
                                (is_code && interval_map_insert(&source->regions, mapping->start, mapping->end,
                                                                mapping->is_writable || mapping->is_shared) != 0))) {
        interval_map_deinit(&source->regions);
        source->is_partial = true;
    }
    mutex_unlock(&source->lock);
}
