/* SPDX-License-Identifier: MIT */
/* Names and arguments come from files that are not trusted: they are shown through printable(), or as JSON. */
#include "cli/screens/probe_listing.h"

#include "base/glob.h"
#include "cli/options/nearest_name.h"
#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "elf/static_probes.h"
#include "hook/instruction_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES      512
#define ARGUMENTS_BYTES 1024
#define HOW_COLUMNS     20

static bool is_wanted(const struct probe_listing *listing, const struct static_probe *probe, const char *spelled)
{
    if (listing->pattern == NULL || glob_matches_string(listing->pattern, probe->name) ||
        glob_matches_string(listing->pattern, spelled))
        return true;
    nearest_names_offer(listing->nearest, probe->name, probe->name_length);
    return false;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* How it would be armed. */
static const char *method_of(struct function_survey *survey, const struct static_probe *probe, const char **why_out)
{
    struct hook_plan plan = {.method = HOOK_IMPOSSIBLE};

    *why_out = "";
    if (hook_plan_instruction(&survey->planner, probe->address, &plan) != 0)
        return hook_method_name(HOOK_IMPOSSIBLE);
    if (plan.obstacle != HOOK_NO_OBSTACLE)
        *why_out = hook_obstacle_text(plan.obstacle);
    return hook_method_name(plan.method);
}

static void put_line(const struct probe_listing *listing, struct function_survey *survey,
                     const struct static_probe *probe, const char *spelled, const char *path, uint64_t bias)
{
    char name[NAME_BYTES], arguments[ARGUMENTS_BYTES], digits[24];
    const char *why = "";

    snprintf(digits, sizeof(digits), "%16" PRIx64, probe->address + bias);
    screen_put(listing->screen, SCREEN_FAINT, 0, digits);
    screen_print(listing->screen, "  ");
    if (listing->is_hookable)
        screen_put(listing->screen, SCREEN_PLAIN, HOW_COLUMNS, method_of(survey, probe, &why));
    screen_print(listing->screen, "%s(%s)%s  ", printable(name, sizeof(name), spelled),
                 printable(arguments, sizeof(arguments), probe->arguments),
                 probe->semaphore == 0 ? "" : " with semaphore");
    screen_put(listing->screen, SCREEN_FAINT, 0, last_part(path));
    screen_print(listing->screen, why[0] == '\0' ? "\n" : "  (%s)\n", why);
}

static void put_object(struct probe_listing *listing, struct function_survey *survey, const struct static_probe *probe,
                       const char *path, uint64_t bias)
{
    struct json_writer *json = &listing->json;
    const char *why;

    json_writer_open_line(json, 2, NULL, '{');
    json_writer_text(json, "provider", probe->provider);
    json_writer_text(json, "name", probe->name);
    json_writer_text(json, "arguments", probe->arguments);
    json_writer_count(json, "address", probe->address + bias);
    json_writer_count(json, "semaphore", probe->semaphore == 0 ? 0 : probe->semaphore + bias);
    json_writer_text(json, "path", path);
    if (listing->is_hookable)
        json_writer_text(json, "method", method_of(survey, probe, &why));
    json_writer_close(json, '}');
}

void probe_listing_begin(struct probe_listing *listing)
{
    if (!listing->is_json)
        return;
    listing->json = (struct json_writer){.stream = listing->screen->stream, .layout = JSON_SPACED};
    json_writer_open(&listing->json, NULL, '[');
}

void probe_listing_end(struct probe_listing *listing)
{
    if (listing->is_json) {
        json_writer_close(&listing->json, ']');
        fputs("\n", listing->screen->stream);
    } else if (listing->is_summary) {
        screen_print(listing->screen, "%" PRIu64 " probes\n", listing->found);
    }
}

void probe_listing_add(struct probe_listing *listing, struct function_survey *survey, const char *path, uint64_t bias)
{
    struct static_probe_cursor cursor;
    struct static_probe probe;

    static_probe_cursor_init(&cursor, &survey->file.symbols);
    while (static_probe_cursor_next(&cursor, &probe)) {
        char spelled[NAME_BYTES];

        snprintf(spelled, sizeof(spelled), "%s:%s", probe.provider, probe.name);
        if (!is_wanted(listing, &probe, spelled))
            continue;
        if (listing->is_json)
            put_object(listing, survey, &probe, path, bias);
        else if (!listing->is_summary)
            put_line(listing, survey, &probe, spelled, path, bias);
        listing->found++;
    }
}
