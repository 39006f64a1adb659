/* SPDX-License-Identifier: MIT */
/*
 * A dump is read record by record. Lines come before the code that they are of, and end where it does; so they are kept
 * until then. Times count only where there are any: names in a map hold from the beginning, and the last one counts.
 */
#define _GNU_SOURCE
#include "symbolize/jit_code.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES       4096
#define LINE_BYTES       8192
#define RECORD_BYTES_MAX (64u << 20)
#define SAME_FILE        "\xff"

_Static_assert(sizeof(struct jit_dump_header) == 40, "in files");
_Static_assert(sizeof(struct jit_dump_record) == 16, "in files");
_Static_assert(sizeof(struct jit_dump_load) == 40, "in files");
_Static_assert(sizeof(struct jit_dump_move) == 48, "in files");

void jit_code_init(struct jit_code *code)
{
    named_code_init(&code->functions);
    named_code_init(&code->lines);
}

void jit_code_deinit(struct jit_code *code)
{
    named_code_deinit(&code->functions);
    named_code_deinit(&code->lines);
}

void jit_code_finish(struct jit_code *code)
{
    named_code_finish(&code->functions);
    named_code_finish(&code->lines);
}

/* Of this user, or of root: others could put anything there. */
static FILE *open_file(const char *path, int64_t since)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    FILE *file = NULL;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_mtim.tv_sec >= since &&
        (status.st_uid == geteuid() || status.st_uid == 0 || geteuid() == 0))
        file = fdopen(fd, "r");
    if (file == NULL)
        close(fd);
    return file;
}

/* ---- maps -------------------------------------------------------------------------------------------------------- */

/* "address size name", in hexadecimal digits. What is no such line is passed over. */
static int add_map_line(struct jit_code *code, const char *line)
{
    struct named_range range = {.begin = 0};
    char *rest;

    range.begin = strtoull(line, &rest, 16);
    if (rest == line || *rest != ' ')
        return 0;
    line = rest + 1;
    range.end = range.begin + strtoull(line, &rest, 16);
    if (rest == line || *rest != ' ' || rest[1] == '\0' || range.end <= range.begin)
        return 0;
    return named_code_add(&code->functions, &range, rest + 1, strlen(rest + 1));
}

int jit_code_read_map(struct jit_code *code, const char *path, int64_t since)
{
    FILE *file = open_file(path, since);
    char line[LINE_BYTES];
    size_t before = code->functions.count;
    int result = 0;

    if (file == NULL)
        return -ENOENT;
    while (result == 0 && fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        result = add_map_line(code, line);
    }
    fclose(file);
    return result != 0 ? result : code->functions.count == before ? -EPROTO : 0;
}

/* ---- dumps ------------------------------------------------------------------------------------------------------- */

struct jit_dump {
    struct jit_code *code;
    FILE *file;
    char *bytes; /* of the record, behind its head */
    size_t size_bytes;
    char *lines; /* those that wait for their code: a record */
    size_t lines_bytes;
};

/* One line out of a record; false: there is no whole one. */
static bool take_line(const char *bytes, size_t size_bytes, size_t *place, struct named_range *line_out,
                      const char **file_out)
{
    size_t left = size_bytes - *place, length;

    if (left < 17)
        return false;
    memcpy(&line_out->begin, bytes + *place, 8);
    memcpy(&line_out->line, bytes + *place + 8, 4);
    *file_out = bytes + *place + 16;
    length = strnlen(*file_out, left - 16);
    if (length == left - 16)
        return false;
    *place += 16 + length + 1;
    return true;
}

/* The lines that waited, up to the end of the code. */
static int add_lines(struct jit_dump *dump, uint64_t begin, uint64_t end, uint64_t time)
{
    struct jit_dump_lines head;
    struct named_range line = {.time = time}, before = {.begin = 0};
    const char *file, *before_file = NULL;
    size_t place = sizeof(head);
    int result = 0;

    if (dump->lines == NULL || dump->lines_bytes < sizeof(head))
        return 0;
    memcpy(&head, dump->lines, sizeof(head));
    for (uint64_t i = 0; head.address == begin && result == 0 && i < head.count; i++) {
        if (!take_line(dump->lines, dump->lines_bytes, &place, &line, &file))
            break;
        if (strcmp(file, SAME_FILE) == 0)
            file = before_file;
        before.end = line.begin;
        if (before_file != NULL && before.begin >= begin && before.end <= end && before.end != 0)
            result = named_code_add(&dump->code->lines, &before, before_file, strlen(before_file));
        before = line;
        before_file = file;
    }
    before.end = end;
    if (result == 0 && before_file != NULL && before.begin >= begin)
        result = named_code_add(&dump->code->lines, &before, before_file, strlen(before_file));
    free(dump->lines);
    dump->lines = NULL;
    return result;
}

static int take_load(struct jit_dump *dump, uint64_t time)
{
    struct jit_dump_load load;
    struct named_range range = {.time = time};
    const char *name = dump->bytes + sizeof(load);
    size_t length;
    int result;

    if (dump->size_bytes <= sizeof(load))
        return -EPROTO;
    memcpy(&load, dump->bytes, sizeof(load));
    length = strnlen(name, dump->size_bytes - sizeof(load));
    range.begin = load.address;
    range.end = load.address + load.size_bytes;
    if (range.end <= range.begin)
        return 0;
    result = named_code_add(&dump->code->functions, &range, name, length);
    return result != 0 ? result : add_lines(dump, range.begin, range.end, time);
}

/* The name of what was moved is that of what was last put where it came from. */
static int take_move(struct jit_dump *dump, uint64_t time)
{
    struct named_code *functions = &dump->code->functions;
    struct named_range range = {.time = time};
    struct jit_dump_move move;

    if (dump->size_bytes < sizeof(move))
        return -EPROTO;
    memcpy(&move, dump->bytes, sizeof(move));
    range.begin = move.to;
    range.end = move.to + move.size_bytes;
    for (size_t i = functions->count; i > 0 && range.end > range.begin; i--)
        if (functions->ranges[i - 1].begin == move.from) {
            char *name = strdup(named_code_name(functions, &functions->ranges[i - 1]));
            int result = name == NULL ? -ENOMEM : named_code_add(functions, &range, name, strlen(name));

            free(name);
            return result;
        }
    return 0;
}

static int take_record(struct jit_dump *dump, const struct jit_dump_record *head)
{
    switch (head->kind) {
    case JIT_DUMP_LOAD:
        return take_load(dump, head->time);
    case JIT_DUMP_MOVE:
        return take_move(dump, head->time);
    case JIT_DUMP_LINES:
        free(dump->lines);
        dump->lines = dump->bytes;
        dump->lines_bytes = dump->size_bytes;
        dump->bytes = NULL;
        return 0;
    default:
        return 0;
    }
}

/* 1: there are no more. */
static int read_record(struct jit_dump *dump)
{
    struct jit_dump_record head;
    int result;

    /* A runtime that was killed leaves half a record. */
    if (fread(&head, sizeof(head), 1, dump->file) != 1 || head.kind == JIT_DUMP_CLOSE)
        return 1;
    if (head.size_bytes < sizeof(head) || head.size_bytes > RECORD_BYTES_MAX)
        return -EPROTO;
    dump->size_bytes = head.size_bytes - sizeof(head);
    dump->bytes = malloc(dump->size_bytes + 1);
    if (dump->bytes == NULL)
        return -ENOMEM;
    if (fread(dump->bytes, 1, dump->size_bytes, dump->file) == dump->size_bytes)
        result = take_record(dump, &head);
    else
        result = 1;
    free(dump->bytes);
    dump->bytes = NULL;
    return result;
}

int jit_code_read_dump(struct jit_code *code, const char *path, int64_t since)
{
    struct jit_dump dump = {.code = code, .file = open_file(path, since)};
    struct jit_dump_header header;
    int result = 0;

    if (dump.file == NULL)
        return -ENOENT;
    if (fread(&header, sizeof(header), 1, dump.file) != 1 || header.magic != JIT_DUMP_MAGIC ||
        header.version != JIT_DUMP_VERSION || header.size_bytes < sizeof(header) ||
        fseek(dump.file, header.size_bytes, SEEK_SET) != 0)
        result = -EPROTO;
    while (result == 0)
        result = read_record(&dump);
    free(dump.lines);
    fclose(dump.file);
    return result > 0 ? 0 : result;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* The number that the process has for itself. */
static uint32_t inner_pid(uint32_t pid)
{
    char path[64], line[256];
    uint32_t inner = pid;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%u/status", pid);
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "NSpid:", 6) == 0) {
            const char *last = strrchr(line, '\t');

            inner = last == NULL ? pid : (uint32_t)strtoul(last, NULL, 10);
        }
    if (file != NULL)
        fclose(file);
    return inner;
}

static int read_dumps(struct jit_code *code, const char *pattern, int64_t since)
{
    int result = -ENOENT;
    glob_t found;

    if (glob(pattern, 0, NULL, &found) != 0)
        return -ENOENT;
    for (size_t i = 0; i < found.gl_pathc && result != 0; i++)
        result = jit_code_read_dump(code, found.gl_pathv[i], since);
    globfree(&found);
    return result;
}

void jit_code_read_process(struct jit_code *code, uint32_t pid, int64_t since)
{
    const char *home = getenv("HOME"), *folder = getenv("JITDUMPDIR");
    char path[PATH_BYTES];
    int result;

    snprintf(path, sizeof(path), "/tmp/jit-%u.dump", pid);
    result = jit_code_read_dump(code, path, since);
    snprintf(path, sizeof(path), "%s/.debug/jit/*/jit-%u.dump",
             folder != NULL ? folder
             : home == NULL ? ""
                            : home,
             pid);
    if (result != 0)
        result = read_dumps(code, path, since);
    snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
    if (result != 0)
        result = jit_code_read_map(code, path, since);
    snprintf(path, sizeof(path), "/proc/%u/root/tmp/perf-%u.map", pid, inner_pid(pid));
    if (result != 0)
        (void)!jit_code_read_map(code, path, since);
    jit_code_finish(code);
}
