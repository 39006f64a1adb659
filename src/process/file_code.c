/* SPDX-License-Identifier: MIT */
/* A file is found by its name, which may be that of another one by now: so the code around the place is compared, too.
 */
#include "process/file_code.h"

#include "base/alignment.h"
#include "base/memory_functions.h"
#include "base/raw_syscall.h"
#include "process/mapping_list.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>

/* What is compared: so much code, and no more than a mapping has, since those begin and end with pages. */
#define WINDOW_BYTES 64u

struct file_code_search {
    uint64_t address; /* of the window */
    uint64_t offset;  /* in the file */
    bool is_found;
    char path[MAPPING_PATH_BYTES_MAX + 1];
};

static void look_at(void *context, const struct mapping *mapping)
{
    struct file_code_search *search = context;

    search->is_found = mapping->path_length > 0 && mapping->path[0] == '/' &&
                       mapping->path_length < sizeof(mapping->path) && !mapping->is_writable && !mapping->is_shared &&
                       mapping->start <= search->address && search->address < mapping->end;
    if (!search->is_found)
        return;
    search->offset = search->address - mapping->start + mapping->file_offset;
    memcpy(search->path, mapping->path, mapping->path_length);
    search->path[mapping->path_length] = '\0';
}

static bool read_file(const struct file_code_search *search, uint8_t *bytes)
{
    long fd = raw_syscall(__NR_openat, AT_FDCWD, (long)search->path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0, 0, 0);
    long got;

    if (fd < 0)
        return false;
    do
        got = raw_syscall(__NR_pread64, fd, (long)bytes, WINDOW_BYTES, (long)search->offset, 0, 0);
    while (got == -EINTR);
    (void)raw_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
    return got == WINDOW_BYTES;
}

bool file_code_behind_breakpoint(uint64_t address, void *bytes_out, size_t size_bytes)
{
    struct file_code_search search = {.address = align_down(address, WINDOW_BYTES)};
    const uint8_t *memory = (const uint8_t *)(uintptr_t)search.address, *breakpoint;
    size_t place = address - search.address;
    uint8_t file[WINDOW_BYTES];

    if (place + size_bytes > WINDOW_BYTES || mapping_list_visit(address, address + size_bytes, look_at, &search) != 0 ||
        !search.is_found || !read_file(&search, file))
        return false;
    breakpoint = memory + place;
    for (size_t i = 0; i < WINDOW_BYTES; i++)
        if (memory[i] != file[i] && memory[i] != breakpoint[(i + WINDOW_BYTES - place) % size_bytes])
            return false;
    if (memcmp(file + place, breakpoint, size_bytes) == 0)
        return false;
    memcpy(bytes_out, file + place, size_bytes);
    return true;
}
