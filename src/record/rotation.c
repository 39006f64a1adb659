/* SPDX-License-Identifier: MIT */
/* Files say by their names of which piece they are, so no list of them is kept: threads may be many. */
#include "record/rotation.h"

#include "hosted/growing_array.h"
#include "trace/trace_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void rotation_init(struct rotation *rotation, const struct rotation_options *options, uint64_t now_ns)
{
    *rotation = (struct rotation){.options = *options, .began_ns = now_ns};
}

void rotation_deinit(struct rotation *rotation)
{
    free(rotation->pieces);
    rotation->pieces = NULL;
    rotation->piece_count = 0;
}

uint32_t rotation_piece(const struct rotation *rotation)
{
    return rotation->piece_count == 0 ? 1 : rotation->pieces[rotation->piece_count - 1].number;
}

bool rotation_is_due(const struct rotation *rotation, uint64_t now_ns, uint64_t written_bytes)
{
    const struct rotation_options *options = &rotation->options;
    uint64_t bytes = written_bytes - rotation->began_bytes;

    if (bytes == 0)
        return false;
    return (options->bytes != 0 && bytes >= options->bytes) ||
           (options->age_ns != 0 && now_ns - rotation->began_ns >= options->age_ns);
}

/* Forgets those that are not kept. */
static void forget_old(struct rotation *rotation)
{
    size_t keep = rotation->options.keep == 0 ? SIZE_MAX : rotation->options.keep;

    if (rotation->piece_count <= keep)
        return;
    memmove(rotation->pieces, rotation->pieces + rotation->piece_count - keep, keep * sizeof(*rotation->pieces));
    rotation->piece_count = keep;
}

int rotation_turn(struct rotation *rotation, uint64_t now_ns, uint64_t counter, uint64_t written_bytes)
{
    /* Until the first turn nobody asks when the first piece began: it is with the recording. */
    size_t count = rotation->piece_count == 0 ? 1 : rotation->piece_count;
    struct manifest_piece *pieces;

    if (ARRAY_RESERVE_NEXT(rotation->pieces, count) != 0)
        return -ENOMEM;
    pieces = rotation->pieces;
    if (rotation->piece_count == 0)
        pieces[0] = (struct manifest_piece){.number = 1};
    pieces[count] = (struct manifest_piece){.number = pieces[count - 1].number + 1, .from = counter};
    rotation->piece_count = count + 1;
    rotation->began_ns = now_ns;
    rotation->began_bytes = written_bytes;
    forget_old(rotation);
    return 0;
}

static int delete_file(struct rotation *rotation, int folder, const char *path)
{
    struct stat status;

    if (fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) != 0 || unlinkat(folder, path, 0) != 0)
        return errno == ENOENT ? 0 : -errno;
    rotation->deleted_bytes += (uint64_t)status.st_size;
    return 0;
}

int rotation_delete_old(struct rotation *rotation, const char *trace)
{
    struct trace_files files;
    int first = 0, result;

    if (rotation->piece_count == 0 || rotation->pieces[0].number == 1)
        return 0;
    result = trace_files_open(&files, trace, NULL);
    if (result != 0)
        return result;
    for (size_t i = 0; i < files.count; i++)
        if (files.files[i].piece != 0 && files.files[i].piece < rotation->pieces[0].number) {
            result = delete_file(rotation, files.folder, files.files[i].path);
            first = first == 0 ? result : first;
        }
    trace_files_close(&files);
    return first;
}

void rotation_describe(const struct rotation *rotation, struct manifest *manifest)
{
    manifest->pieces = rotation->pieces;
    manifest->piece_count = rotation->piece_count;
}
