/* SPDX-License-Identifier: MIT */
#include "cli/closing_words.h"

#include <inttypes.h>

#define KIB 1024.0
#define MIB (1024.0 * KIB)
#define GIB (1024.0 * MIB)

/* In the largest unit of which there is one. */
static void put_size(FILE *stream, uint64_t bytes)
{
    double size = (double)bytes;

    if (size < KIB)
        fprintf(stream, "%" PRIu64 " bytes", bytes);
    else if (size < MIB)
        fprintf(stream, "%.1f KiB", size / KIB);
    else if (size < GIB)
        fprintf(stream, "%.1f MiB", size / MIB);
    else
        fprintf(stream, "%.1f GiB", size / GIB);
}

/* 1,234,567 */
static void put_count(FILE *stream, uint64_t count)
{
    if (count >= 1000) {
        put_count(stream, count / 1000);
        fprintf(stream, ",%03u", (unsigned)(count % 1000));
    } else {
        fprintf(stream, "%u", (unsigned)count);
    }
}

void closing_words_say(const struct closing_words *words, FILE *stream)
{
    fputs("gait: recorded ", stream);
    put_count(stream, words->event_count);
    fprintf(stream, " %s in %.3f s, %s: ", words->event_count == 1 ? "event" : "events",
            (double)words->duration_ns / 1e9, words->lost_bytes == 0 ? "nothing lost" : "some lost");
    put_size(stream, words->file_bytes);
    fprintf(stream, " in %s\n", words->path);
    if (words->deleted_pieces != 0)
        fprintf(stream, "gait: the oldest %" PRIu32 " %s deleted, and the events in %s\n", words->deleted_pieces,
                words->deleted_pieces == 1 ? "piece was" : "pieces were", words->deleted_pieces == 1 ? "it" : "them");
    if (words->left_count != 0)
        fprintf(stream, "gait: %" PRIu64 " %s not followed to the end; gait report says where and why\n",
                words->left_count, words->left_count == 1 ? "thread was" : "threads were");
    if (words->lost_bytes == 0)
        return;
    fputs("gait: ", stream);
    put_size(stream, words->lost_bytes);
    fputs(" of event records were lost, because they came faster than they were written; --overflow block makes the "
          "program wait\n",
          stream);
}

void closing_words_say_waits(const struct closing_words *words, FILE *stream)
{
    if (words->wait_count == 0) {
        fputs("gait: no thread waited for the disk\n", stream);
        return;
    }
    fprintf(stream, "gait: threads waited %.3f s for the disk, ", (double)words->waited_ns / 1e9);
    put_count(stream, words->wait_count);
    fprintf(stream, " %s; a larger --buffer may help\n", words->wait_count == 1 ? "time" : "times");
}
