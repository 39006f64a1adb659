/* SPDX-License-Identifier: MIT */
/* A line is "start-end rwxp offset device inode   path", taken a character at a time from whatever read() gives. */
#include "process/mapping_list.h"

#include "base/descriptor.h"
#include "base/raw_syscall.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>

#define BUFFER_BYTES 2048

enum mapping_part {
    PART_START,
    PART_END,
    PART_ACCESS,
    PART_OFFSET,
    PART_DEVICE,
    PART_INODE,
    PART_PATH,
};

static struct memory_range own;

struct mapping_line {
    enum mapping_part part;
    unsigned access_count;
    struct mapping mapping;
};

static void begin_line(struct mapping_line *line)
{
    line->part = PART_START;
    line->access_count = 0;
    line->mapping.start = line->mapping.end = line->mapping.file_offset = 0;
    line->mapping.path_length = 0;
}

static uint64_t digit_of(char character)
{
    return character <= '9' ? (uint64_t)(character - '0') : (uint64_t)(character - 'a' + 10);
}

static void take_path(struct mapping *mapping, char character)
{
    if (mapping->path_length == 0 && character == ' ')
        return;
    if (mapping->path_length < sizeof(mapping->path))
        mapping->path[mapping->path_length++] = character;
}

static void take_access(struct mapping *mapping, unsigned place, char character)
{
    bool *const places[] = {&mapping->is_readable, &mapping->is_writable, &mapping->is_executable, &mapping->is_shared};

    if (place < sizeof(places) / sizeof(places[0]))
        *places[place] = character == "rwxs"[place];
}

static void take_character(struct mapping_line *line, char character)
{
    struct mapping *mapping = &line->mapping;
    uint64_t *number = line->part == PART_START ? &mapping->start
                       : line->part == PART_END ? &mapping->end
                                                : &mapping->file_offset;

    switch (line->part) {
    case PART_START:
    case PART_END:
    case PART_OFFSET:
        if (character == '-' || character == ' ')
            line->part++;
        else
            *number = *number << 4 | digit_of(character);
        break;
    case PART_ACCESS:
        take_access(mapping, line->access_count++, character);
        if (character == ' ')
            line->part++;
        break;
    case PART_DEVICE:
    case PART_INODE:
        if (character == ' ')
            line->part++;
        break;
    case PART_PATH:
        take_path(mapping, character);
        break;
    }
}

void mapping_list_set_own(struct memory_range range)
{
    own = range;
}

static void end_line(struct mapping_line *line)
{
    if (line->mapping.start >= own.low && line->mapping.end <= own.high)
        line->mapping.path_length = line->mapping.file_offset = 0;
}

int mapping_list_visit(uint64_t start, uint64_t end, void (*visit)(void *context, const struct mapping *mapping),
                       void *context)
{
    static const char path[] = "/proc/thread-self/maps";
    long fd = descriptor_open(path, O_RDONLY);
    char buffer[BUFFER_BYTES];
    struct mapping_line line;
    long got;

    if (fd < 0)
        return (int)fd;
    begin_line(&line);
    while ((got = raw_syscall(__NR_read, fd, (long)buffer, sizeof(buffer), 0, 0, 0)) > 0) {
        for (long i = 0; i < got; i++) {
            if (buffer[i] != '\n') {
                take_character(&line, buffer[i]);
                continue;
            }
            end_line(&line);
            if (line.mapping.start < end && line.mapping.end > start)
                visit(context, &line.mapping);
            begin_line(&line);
        }
    }
    (void)raw_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
    return got < 0 ? (int)got : 0;
}
