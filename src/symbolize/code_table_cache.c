/* SPDX-License-Identifier: MIT */
/*
 * A file is written under another name and then renamed, so that readers see all of it or the one before. Tables are
 * read one by one when they are needed, into memory of our own, and checked then.
 */
#define _GNU_SOURCE
#include "symbolize/code_table_cache.h"

#include "base/alignment.h"
#include "symbolize/dwarf/dwarf_code.h"
#include "trace/crc32c.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES      4096
#define ID_BYTES_MIN    8
#define SUFFIX          ".code"
#define TABLE_BYTES_MAX (1u << 31)

static const uint8_t magic[8] = "gaitcode";

const char *code_table_cache_folder(char *text, size_t text_bytes)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = 0;

    if (cache != NULL && cache[0] == '/')
        length = snprintf(text, text_bytes, "%s/gait", cache);
    else if (home != NULL && home[0] == '/')
        length = snprintf(text, text_bytes, "%s/.cache/gait", home);
    return length <= 0 || (size_t)length >= text_bytes ? NULL : text;
}

static int path_of(const struct code_table_cache_name *name, const char *suffix, char *path, size_t path_bytes)
{
    char digits[2 * CODE_TABLE_CACHE_ID_BYTES + 1] = "";

    if (name->folder == NULL || name->id_bytes < ID_BYTES_MIN || name->id_bytes > CODE_TABLE_CACHE_ID_BYTES)
        return -ENOENT;
    for (size_t i = 0; i < name->id_bytes; i++)
        snprintf(digits + 2 * i, 3, "%02x", name->id[i]);
    return (size_t)snprintf(path, path_bytes, "%s/%s%s", name->folder, digits, suffix) < path_bytes ? 0 : -ENOENT;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int read_at(int fd, void *bytes, size_t size_bytes, uint64_t place)
{
    size_t used = 0;

    while (used < size_bytes) {
        ssize_t got = pread(fd, (char *)bytes + used, size_bytes - used, (off_t)(place + used));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -EPROTO;
        used += (size_t)got;
    }
    return 0;
}

static bool is_header(const struct code_table_cache_header *header, const struct code_table_cache_name *name,
                      uint64_t size_bytes)
{
    uint64_t lists = (uint64_t)header->range_count * sizeof(struct code_table_cache_range) +
                     (uint64_t)header->unit_count * sizeof(struct code_table_cache_unit);

    return memcmp(header->magic, magic, sizeof(magic)) == 0 && header->version == CODE_TABLE_CACHE_VERSION &&
           header->size_bytes == size_bytes && header->id_bytes == name->id_bytes &&
           memcmp(header->id, name->id, name->id_bytes) == 0 && lists <= size_bytes - sizeof(*header);
}

/* Takes over where tables are. The units are the same: both are by their names. */
static int take_units(struct code_units *units, const struct code_table_cache_unit *kept, size_t count,
                      uint64_t size_bytes)
{
    if (units->unit_count != count)
        return -EPROTO;
    for (size_t i = 0; i < count; i++) {
        if (units->units[i].unit != kept[i].unit || kept[i].place > size_bytes ||
            kept[i].size_bytes > size_bytes - kept[i].place || kept[i].size_bytes > TABLE_BYTES_MAX)
            return -EPROTO;
        units->units[i].kept_place = kept[i].place;
        units->units[i].kept_bytes = kept[i].size_bytes;
        units->units[i].kept_sum = kept[i].sum;
    }
    return 0;
}

static int take_lists(const struct code_table_cache_header *header, void *lists, struct code_units *units_out)
{
    const struct code_table_cache_range *kept = lists;
    struct dwarf_range *ranges = calloc(header->range_count + 1ull, sizeof(*ranges));
    int result = ranges == NULL ? -ENOMEM : 0;

    for (uint32_t i = 0; result == 0 && i < header->range_count; i++) {
        ranges[i] = (struct dwarf_range){kept[i].begin, kept[i].end, kept[i].unit};
        result = kept[i].begin < kept[i].end ? 0 : -EPROTO;
    }
    if (result == 0)
        result = code_units_make(units_out, ranges, header->range_count);
    free(ranges);
    if (result != 0)
        return result;
    result = take_units(units_out, (const void *)(kept + header->range_count), header->unit_count, header->size_bytes);
    if (result != 0)
        code_units_deinit(units_out);
    return result;
}

static int read_lists(int fd, const struct code_table_cache_header *header, struct code_units *units_out)
{
    size_t size_bytes = (size_t)header->range_count * sizeof(struct code_table_cache_range) +
                        (size_t)header->unit_count * sizeof(struct code_table_cache_unit);
    void *lists = malloc(size_bytes + 1);
    int result = lists == NULL ? -ENOMEM : read_at(fd, lists, size_bytes, sizeof(*header));

    if (result == 0 && crc32c(0, lists, size_bytes) != header->sum)
        result = -EPROTO;
    if (result == 0)
        result = take_lists(header, lists, units_out);
    free(lists);
    return result;
}

int code_table_cache_open(const struct code_table_cache_name *name, struct code_units *units_out, int *fd_out)
{
    struct code_table_cache_header header;
    char path[PATH_BYTES];
    struct stat status;
    int fd;

    if (path_of(name, SUFFIX, path, sizeof(path)) != 0)
        return -ENOENT;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return -ENOENT;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof(header) ||
        (uint64_t)status.st_size > CODE_TABLE_CACHE_FILE_BYTES || read_at(fd, &header, sizeof(header), 0) != 0 ||
        !is_header(&header, name, (uint64_t)status.st_size) || read_lists(fd, &header, units_out) != 0) {
        close(fd);
        return -ENOENT;
    }
    /* It was used: others are older. */
    (void)!futimens(fd, NULL);
    *fd_out = fd;
    return 0;
}

int code_table_cache_read(int fd, struct code_unit *unit)
{
    void *block = malloc(unit->kept_bytes + 1ull);
    int result = block == NULL ? -ENOMEM : read_at(fd, block, unit->kept_bytes, unit->kept_place);

    if (result == 0 && crc32c(0, block, unit->kept_bytes) != unit->kept_sum)
        result = -EPROTO;
    if (result == 0)
        result = code_unit_set_table(unit, block, unit->kept_bytes);
    if (result != 0) {
        free(block);
        return result;
    }
    unit->is_whole = true;
    unit->is_from_cache = true;
    return 0;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* All folders up to it; those that are there already are fine. */
static int make_folders(const char *folder)
{
    char path[PATH_BYTES];
    size_t length = strlen(folder);

    if (length == 0 || length >= sizeof(path))
        return -ENOENT;
    memcpy(path, folder, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        path[i] = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST && i == length)
            return -errno;
        path[i] = folder[i];
    }
    return 0;
}

static int write_at(int fd, const void *bytes, size_t size_bytes, uint64_t place)
{
    size_t used = 0;

    while (used < size_bytes) {
        ssize_t put = pwrite(fd, (const char *)bytes + used, size_bytes - used, (off_t)(place + used));

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put == 0 ? -EIO : -errno;
        used += (size_t)put;
    }
    return 0;
}

/* The bytes of a table that is to be written, in memory or in the file before; NULL: it has none. */
static const void *bytes_of(const struct code_unit *unit, int old_fd, void **copy_out, uint32_t *size_out)
{
    *copy_out = NULL;
    if (unit->state == CODE_UNIT_READY && unit->is_whole) {
        *size_out = unit->table.header->size_bytes;
        return unit->block;
    }
    if (unit->state != CODE_UNIT_NEW || unit->kept_bytes == 0 || old_fd < 0)
        return NULL;
    *copy_out = malloc(unit->kept_bytes);
    *size_out = unit->kept_bytes;
    if (*copy_out != NULL && (read_at(old_fd, *copy_out, unit->kept_bytes, unit->kept_place) != 0 ||
                              crc32c(0, *copy_out, unit->kept_bytes) != unit->kept_sum)) {
        free(*copy_out);
        *copy_out = NULL;
    }
    return *copy_out;
}

static int write_tables(int fd, const struct code_units *units, int old_fd, struct code_table_cache_unit *kept,
                        uint64_t *end)
{
    for (size_t i = 0; i < units->unit_count; i++) {
        uint32_t size_bytes = 0;
        uint64_t place = align_up(*end, 8);
        void *copy;
        const void *bytes = bytes_of(&units->units[i], old_fd, &copy, &size_bytes);
        int result = 0;

        kept[i] = (struct code_table_cache_unit){.unit = units->units[i].unit};
        if (bytes != NULL && place + size_bytes <= CODE_TABLE_CACHE_FILE_BYTES) {
            kept[i] =
                (struct code_table_cache_unit){units->units[i].unit, place, size_bytes, crc32c(0, bytes, size_bytes)};
            result = write_at(fd, bytes, size_bytes, place);
            *end = place + size_bytes;
        }
        free(copy);
        if (result != 0)
            return result;
    }
    return 0;
}

static int write_file(int fd, const struct code_table_cache_name *name, const struct code_units *units, int old_fd)
{
    struct code_table_cache_header header = {.version = CODE_TABLE_CACHE_VERSION,
                                             .id_bytes = (uint32_t)name->id_bytes,
                                             .range_count = (uint32_t)units->range_count,
                                             .unit_count = (uint32_t)units->unit_count};
    size_t ranges_bytes = units->range_count * sizeof(struct code_table_cache_range);
    size_t lists_bytes = ranges_bytes + units->unit_count * sizeof(struct code_table_cache_unit);
    struct code_table_cache_range *ranges = calloc(1, lists_bytes + 1);
    int result = ranges == NULL ? -ENOMEM : 0;

    header.size_bytes = sizeof(header) + lists_bytes;
    if (header.size_bytes > CODE_TABLE_CACHE_FILE_BYTES)
        result = -E2BIG;
    for (size_t i = 0; result == 0 && i < units->range_count; i++)
        ranges[i] = (struct code_table_cache_range){units->ranges[i].begin, units->ranges[i].end,
                                                    units->units[units->ranges[i].unit].unit};
    if (result == 0)
        result = write_tables(fd, units, old_fd, (void *)(ranges + units->range_count), &header.size_bytes);
    if (result == 0) {
        memcpy(header.magic, magic, sizeof(magic));
        memcpy(header.id, name->id, name->id_bytes);
        header.sum = crc32c(0, ranges, lists_bytes);
        result = write_at(fd, ranges, lists_bytes, sizeof(header));
    }
    if (result == 0)
        result = write_at(fd, &header, sizeof(header), 0);
    free(ranges);
    return result;
}

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

static bool is_ours(const char *name)
{
    size_t length = strlen(name), suffix = strlen(SUFFIX);

    return length > suffix && strcmp(name + length - suffix, SUFFIX) == 0;
}

/* The size of all files, and the one that was used longest ago but for the newest. */
static uint64_t look_around(int folder, char *oldest, size_t oldest_bytes)
{
    struct timespec time = {.tv_sec = 0};
    uint64_t total = 0;
    struct dirent *entry;
    int copy = dup(folder);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);

    oldest[0] = '\0';
    if (list == NULL) {
        if (copy >= 0)
            close(copy);
        return 0;
    }
    rewinddir(list);
    while ((entry = readdir(list)) != NULL) {
        struct stat status;

        if (!is_ours(entry->d_name) || fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        total += (uint64_t)status.st_size;
        if (oldest[0] == '\0' || status.st_mtim.tv_sec < time.tv_sec ||
            (status.st_mtim.tv_sec == time.tv_sec && status.st_mtim.tv_nsec < time.tv_nsec)) {
            time = status.st_mtim;
            snprintf(oldest, oldest_bytes, "%s", entry->d_name);
        }
    }
    closedir(list);
    return total;
}

static void delete_oldest(const char *path)
{
    char oldest[256];
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    while (folder >= 0 && look_around(folder, oldest, sizeof(oldest)) > CODE_TABLE_CACHE_ALL_BYTES && oldest[0] != '\0')
        if (unlinkat(folder, oldest, 0) != 0)
            break;
    if (folder >= 0)
        close(folder);
}

int code_table_cache_write(const struct code_table_cache_name *name, const struct code_units *units, int fd)
{
    char path[PATH_BYTES], draft[PATH_BYTES], suffix[64];
    int result, out;

    snprintf(suffix, sizeof(suffix), ".%d.new", (int)getpid());
    if (path_of(name, SUFFIX, path, sizeof(path)) != 0 || path_of(name, suffix, draft, sizeof(draft)) != 0)
        return -ENOENT;
    result = make_folders(name->folder);
    if (result != 0)
        return result;
    (void)unlink(draft);
    out = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (out < 0)
        return -errno;
    result = write_file(out, name, units, fd);
    if (close(out) != 0 && result == 0)
        result = -errno;
    if (result == 0 && rename(draft, path) != 0)
        result = -errno;
    if (result != 0)
        (void)unlink(draft);
    else
        delete_oldest(name->folder);
    return result;
}
