/* SPDX-License-Identifier: MIT */
#include "cli/screens/report_sections.h"

#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/figures.h"
#include "trace/manifest.h"

#include <inttypes.h>

#define TEXT_BYTES 256
/* More are only counted: the manifest has them all. */
#define SHOWN_MAX 20u

/* Seconds from the beginning of the recording. */
static double seconds_at(const struct manifest *manifest, uint64_t counter)
{
    const struct clock_pair *first = manifest->clocks, *last = &manifest->clocks[manifest->clock_count - 1];
    double ticks = (double)(int64_t)(counter - first->counter);

    if (last->counter == first->counter)
        return 0;
    return ticks * (double)(last->monotonic_ns - first->monotonic_ns) / (double)(last->counter - first->counter) / 1e9;
}

static void put_more(struct screen *screen, uint64_t count)
{
    if (count != 0)
        screen_print(screen, "           and %" PRIu64 " more\n", count);
}

static void put_triggers(struct screen *screen, const struct manifest *manifest)
{
    size_t shown = manifest->trigger_count < SHOWN_MAX ? manifest->trigger_count : SHOWN_MAX;
    char clean[TEXT_BYTES], moment[FIGURE_BYTES];

    for (size_t i = 0; i < shown; i++) {
        const struct manifest_trigger *trigger = &manifest->triggers[i];

        screen_put(screen, SCREEN_STRONG, 11, "trigger");
        screen_print(screen, "%s", printable(clean, sizeof(clean), trigger->kind));
        if (trigger->text[0] != '\0')
            screen_print(screen, " (%s)", printable(clean, sizeof(clean), trigger->text));
        screen_print(screen, " at %s", moment_write(seconds_at(manifest, trigger->time), moment));
        if (trigger->tid != 0)
            screen_print(screen, ", thread %" PRIu32, trigger->tid);
        screen_print(screen, "\n");
    }
    put_more(screen, manifest->trigger_count - shown + manifest->triggers_left_out);
}

static void put_windows(struct screen *screen, const struct manifest *manifest)
{
    size_t shown = manifest->window_count < SHOWN_MAX ? manifest->window_count : SHOWN_MAX;
    char from[FIGURE_BYTES], to[FIGURE_BYTES];

    for (size_t i = 0; i < shown; i++) {
        const struct manifest_window *window = &manifest->windows[i];

        screen_put(screen, SCREEN_STRONG, 11, "kept");
        screen_print(screen, "from %s to %s%s\n", moment_write(seconds_at(manifest, window->from), from),
                     moment_write(seconds_at(manifest, window->to), to),
                     window->is_cut ? "; what came before was too much for the memory" : "");
    }
    put_more(screen, manifest->window_count - shown);
    if (manifest->is_flight && manifest->window_count == 0) {
        screen_put(screen, SCREEN_STRONG, 11, "kept");
        screen_print(screen, "nothing: there was no trigger\n");
    }
}

static void put_pieces(struct screen *screen, const struct manifest *manifest)
{
    uint32_t deleted = manifest_deleted_pieces(manifest);
    char from[FIGURE_BYTES];

    if (manifest->piece_count == 0)
        return;
    screen_put(screen, SCREEN_STRONG, 11, "pieces");
    if (deleted == 0)
        screen_print(screen, "%zu\n", manifest->piece_count);
    else
        screen_print(screen, "the last %zu of %zu; what came before %s is deleted\n", manifest->piece_count,
                     manifest->piece_count + deleted,
                     moment_write(seconds_at(manifest, manifest->pieces[0].from), from));
}

void report_windows(struct screen *screen, const struct manifest *manifest)
{
    if (manifest->clock_count == 0)
        return;
    put_triggers(screen, manifest);
    put_windows(screen, manifest);
    put_pieces(screen, manifest);
}
