/* SPDX-License-Identifier: MIT */
#include "cli/closing_words.h"

#include "cli/screens/printable.h"
#include "hosted/figures.h"
#include "record/recording.h"
#include "symbolize/spelled_function.h"

#include <inttypes.h>

static void put_size(FILE *stream, uint64_t bytes)
{
    char text[FIGURE_BYTES];

    fputs(size_write(bytes, text), stream);
}

static void put_count(FILE *stream, uint64_t count)
{
    char text[FIGURE_BYTES];

    fputs(count_write(count, text), stream);
}

/* Of the threads that lost most. */
static void say_unwritten(const struct closing_words *words, FILE *stream)
{
    size_t named = words->unwritten_count < RECORDING_UNWRITTEN_MAX ? words->unwritten_count : RECORDING_UNWRITTEN_MAX;
    char clean[64];

    fputs("gait: ", stream);
    put_size(stream, words->unwritten_bytes);
    fputs(" of event records could not be written:", stream);
    for (size_t i = 0; i < named; i++) {
        fputs(i == 0 ? " " : ", ", stream);
        put_size(stream, words->unwritten[i].bytes);
        fprintf(stream, " of thread %" PRIu32 " (%s)", words->unwritten[i].tid,
                printable(clean, sizeof(clean), words->unwritten[i].name));
    }
    if (words->unwritten_count > named)
        fprintf(stream, " and those of %zu more", words->unwritten_count - named);
    fputs("\n", stream);
}

static const char *name_loss(const struct closing_words *words)
{
    if (words->lost_bytes != 0)
        return "some lost";
    if (words->is_cut)
        return "but not to the end";
    return words->unhooked_count == 0 ? "nothing lost" : "but not all that was asked for";
}

static void say_unhooked(const struct closing_words *words, FILE *stream)
{
    char name[256], clean[sizeof(name)];

    for (size_t i = 0; i < words->unhooked_count; i++)
        fprintf(stream, "gait: %s was not hooked: %s; gait spawn --follow call,ret records its calls\n",
                printable(clean, sizeof(clean), spelled_function(words->unhooked[i].name, name, sizeof(name))),
                words->unhooked[i].why);
    if (words->has_more_unhooked)
        fputs("gait: nor were others; gait report lists them\n", stream);
}

void closing_words_say(const struct closing_words *words, FILE *stream)
{
    char duration[FIGURE_BYTES];

    fputs("gait: recorded ", stream);
    put_count(stream, words->event_count);
    fprintf(stream, " %s in %s, %s: ", words->event_count == 1 ? "event" : "events",
            duration_write((double)words->duration_ns, duration), name_loss(words));
    put_size(stream, words->file_bytes);
    fprintf(stream, " in %s\n", words->path);
    if (words->deleted_pieces != 0)
        fprintf(stream, "gait: the oldest %" PRIu32 " %s deleted, and the events in %s\n", words->deleted_pieces,
                words->deleted_pieces == 1 ? "piece was" : "pieces were", words->deleted_pieces == 1 ? "it" : "them");
    if (words->left_count != 0)
        fprintf(stream, "gait: %" PRIu64 " %s not followed to the end; gait report says where and why\n",
                words->left_count, words->left_count == 1 ? "thread was" : "threads were");
    say_unhooked(words, stream);
    if (words->unwritten_bytes != 0)
        say_unwritten(words, stream);
    if (words->is_cut)
        fputs("gait: what the program did after that was not recorded\n", stream);
    if (words->lost_bytes <= words->unwritten_bytes)
        return;
    fputs("gait: ", stream);
    put_size(stream, words->lost_bytes - words->unwritten_bytes);
    fputs(" of event records were lost, because they came faster than they were written; --overflow block makes the "
          "program wait\n",
          stream);
}

void closing_words_say_waits(const struct closing_words *words, FILE *stream)
{
    char duration[FIGURE_BYTES];

    if (words->wait_count == 0) {
        fputs("gait: no thread waited for the disk\n", stream);
        return;
    }
    fprintf(stream, "gait: threads waited %s for the disk, ", duration_write((double)words->waited_ns, duration));
    put_count(stream, words->wait_count);
    fprintf(stream, " %s; a larger --buffer may help\n", words->wait_count == 1 ? "time" : "times");
}
