/* SPDX-License-Identifier: MIT */
/* The file is known by its name. Other files of that name only cost time; other processes' are none of our business. */
#include "stalker/self_writing.h"

#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "base/text_parse.h"
#include "stalker/invalidate.h"
#include "stalker/program_memory.h"
#include "stalker/stalker_engine.h"
#include "stalker/system_call.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>

#define PATH_BYTES_MAX 64

static bool may_write(uint64_t flags)
{
    return (flags & O_ACCMODE) != O_RDONLY;
}

/* Copies the path, as far as it is as long as those that are looked for. False: it is longer, or nobody can read it. */
static bool get_path(uint64_t address, char *path)
{
    for (unsigned i = 0; i < PATH_BYTES_MAX; i++) {
        if ((i == 0 || (address + i) % MEMORY_PAGE_MIN == 0) && !program_memory_is_readable((address + i) & ~7ull, 8))
            return false;
        path[i] = ((const char *)(uintptr_t)address)[i];
        if (path[i] == '\0')
            return true;
    }
    return false;
}

static const char *behind(const char *path, const char *prefix)
{
    while (*prefix != '\0')
        if (*path++ != *prefix++)
            return NULL;
    return path;
}

/* "self", "thread-self" or our number, and whatever follows. */
static bool is_own(const char *name)
{
    uint64_t pid = 0;
    size_t length = 0;

    if (behind(name, "self/") != NULL || behind(name, "thread-self/") != NULL)
        return true;
    while (name[length] != '/' && name[length] != '\0')
        length++;
    return text_parse_decimal(name, length, &pid) == 0 && pid == (uint64_t)raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);
}

static bool is_memory(const char *path)
{
    const char *last = path, *name = behind(path, "/proc/");

    for (const char *at = path; *at != '\0'; at++)
        if (*at == '/')
            last = at + 1;
    if (!text_equal(last, "mem"))
        return false;
    return path[0] != '/' || (name != NULL && is_own(name));
}

bool self_writing_begins(const struct system_call *call)
{
    uint64_t address = (uint64_t)call->arguments[1], flags = (uint64_t)call->arguments[2];
    char path[PATH_BYTES_MAX];

    switch (call->number) {
#ifdef __NR_open
    case __NR_open:
        address = (uint64_t)call->arguments[0];
        flags = (uint64_t)call->arguments[1];
        break;
#endif
    case __NR_openat2:
        /* Which stand in memory. */
        flags = O_RDWR;
        break;
    default:
        break;
    }
    return may_write(flags) && get_path(address, path) && is_memory(path);
}

void self_writing_distrust(struct stalker_engine *engine)
{
    mutex_lock(&engine->translation_lock);
    engine->options.trust = -1;
    mutex_unlock(&engine->translation_lock);
    stalker_invalidate(engine, 0, UINT64_MAX);
}
