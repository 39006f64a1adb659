/* SPDX-License-Identifier: MIT */
/*
 * Reading /proc/self/task by raw system calls: getdents64 for the list, the file `stat` for a thread's state. Signal 0
 * says whether a tid belongs to this process, but also finds a main thread that has ended while others go on; its
 * state gives it away. No state, no lock.
 */
#include "process/thread_list.h"

#include "base/descriptor.h"
#include "base/raw_syscall.h"
#include "base/text_format.h"
#include "base/text_parse.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/stat.h>
#include <stdint.h>

#define TASK_FOLDER     "/proc/self/task"
#define LIST_BYTES      1024
#define STAT_PATH_BYTES 64
#define STAT_BYTES      128 /* the tid, a name of at most 64 characters and the state */

/* What getdents64 writes. */
struct directory_entry {
    uint64_t inode;
    int64_t next;
    uint16_t size_bytes;
    uint8_t type;
    char name[];
};

int thread_current(void)
{
    return (int)raw_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0);
}

static long open_for_reading(const char *path, int flags)
{
    return descriptor_open(path, O_RDONLY | flags);
}

static void close_file(long fd)
{
    (void)raw_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
}

/* "." and ".." are no numbers. */
static bool tid_of_name(const char *name, int *tid_out)
{
    uint64_t number;
    size_t length = 0;

    while (name[length] != '\0')
        length++;
    if (text_parse_decimal(name, length, &number) != 0 || number == 0 || number > INT32_MAX)
        return false;
    *tid_out = (int)number;
    return true;
}

/* Returns whether to go on. */
static bool visit_entries(const uint8_t *entries, long size_bytes, thread_visit visit, void *context)
{
    const struct directory_entry *entry;
    int tid;

    for (long at = 0; at < size_bytes; at += entry->size_bytes) {
        entry = (const struct directory_entry *)(entries + at);
        if (tid_of_name(entry->name, &tid) && !visit(context, tid))
            return false;
    }
    return true;
}

int thread_list_visit(thread_visit visit, void *context)
{
    _Alignas(struct directory_entry) uint8_t entries[LIST_BYTES];
    long fd = open_for_reading(TASK_FOLDER, O_DIRECTORY);
    long size;

    if (fd < 0)
        return (int)fd;
    do
        size = raw_syscall(__NR_getdents64, fd, (long)entries, sizeof(entries), 0, 0, 0);
    while (size > 0 && visit_entries(entries, size, visit, context));
    close_file(fd);
    return size < 0 ? (int)size : 0;
}

struct tid_array {
    int *tids;
    size_t capacity;
    size_t count;
};

static bool store_tid(void *context, int tid)
{
    struct tid_array *array = context;

    if (array->count < array->capacity)
        array->tids[array->count] = tid;
    array->count++;
    return true;
}

int thread_list_read(int *tids, size_t capacity, size_t *count_out)
{
    struct tid_array array = {.tids = tids, .capacity = capacity};
    int result = thread_list_visit(store_tid, &array);

    if (result == 0)
        *count_out = array.count;
    return result;
}

/* A folder has a link for each folder in it, one for itself and one in its parent. */
int thread_list_count(size_t *count_out)
{
    struct statx folder = {0};
    long result = raw_syscall(__NR_statx, AT_FDCWD, (long)TASK_FOLDER, 0, STATX_NLINK, (long)&folder, 0);

    if (result != 0)
        return (int)result;
    *count_out = folder.stx_nlink < 2 ? 0 : folder.stx_nlink - 2;
    return 0;
}

static enum thread_state state_of_letter(char letter)
{
    switch (letter) {
    case 'R':
        return THREAD_RUNNING;
    case 'S':
        return THREAD_SLEEPING;
    case 'D':
        return THREAD_UNINTERRUPTIBLE;
    case 'T':
        return THREAD_STOPPED;
    case 't':
        return THREAD_TRACED;
    case 'Z':
    case 'X':
    case 'x':
        return THREAD_ENDED;
    default:
        return THREAD_STATE_OTHER;
    }
}

/* Reads the beginning of the thread's stat file and returns its size, or -errno. */
static long read_stat(int tid, char *bytes, size_t capacity)
{
    char path[STAT_PATH_BYTES];
    struct text_writer text;
    long fd, size;

    text_init(&text, path, sizeof(path));
    text_format(&text, TASK_FOLDER "/%d/stat", tid);
    fd = open_for_reading(path, 0);
    if (fd < 0)
        return fd;
    size = raw_syscall(__NR_read, fd, (long)bytes, (long)capacity, 0, 0, 0);
    close_file(fd);
    return size;
}

int thread_state_read(int tid, enum thread_state *state_out)
{
    char bytes[STAT_BYTES];
    long size = read_stat(tid, bytes, sizeof(bytes));

    if (size < 0)
        return size == -ENOENT ? -ESRCH : (int)size;
    /* "tid (name) state ...": the name may contain anything, what follows it has no parentheses. */
    while (size > 0 && bytes[size - 1] != ')')
        size--;
    if (size == 0 || size + 1 >= (long)sizeof(bytes))
        return -EIO;
    *state_out = state_of_letter(bytes[size + 1]);
    return 0;
}

static bool is_in_process(int tid)
{
    long pid = raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);

    return tid > 0 && raw_syscall(__NR_tgkill, pid, tid, 0, 0, 0, 0) == 0;
}

bool thread_exists(int tid)
{
    enum thread_state state;

    if (!is_in_process(tid))
        return false;
    if (thread_state_read(tid, &state) == 0)
        return state != THREAD_ENDED;
    return is_in_process(tid);
}
