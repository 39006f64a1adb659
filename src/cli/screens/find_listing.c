/* SPDX-License-Identifier: MIT */
/* Names come from files that are not trusted: for people what could move a cursor is replaced, for JSON escaped. */
#include "cli/screens/find_listing.h"

#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/figures.h"
#include "symbolize/demangle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES   512
#define HOW_COLUMNS  30
#define DIGITS_BYTES 24

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* A function without a name is called by its place in the module. */
static void copy_name(const struct find_listing *listing, const struct elf_function *function, char *name)
{
    char text[NAME_BYTES];

    if (function->name == NULL)
        snprintf(text, sizeof(text), "%s+0x%" PRIx64, last_part(listing->path), function->start);
    else
        snprintf(text, sizeof(text), "%.*s", (int)(function->name_length & INT16_MAX), function->name);
    printable(name, NAME_BYTES, text);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void put_line(const struct find_listing *listing, const struct elf_function *function,
                     const struct hook_plan *plan)
{
    char name[NAME_BYTES], spelled[NAME_BYTES], digits[DIGITS_BYTES], how[64], *plain;
    struct screen *screen = listing->screen;

    copy_name(listing, function, name);
    plain = demangle(name);
    snprintf(digits, sizeof(digits), "%16" PRIx64, function->start + listing->bias);
    screen_put(screen, SCREEN_FAINT, 0, digits);
    screen_print(screen, " %8" PRIu64 "  ", function->size_bytes);
    if (listing->is_hookable) {
        snprintf(how, sizeof(how), "%s%s", hook_method_name(plan->method), plan->is_entry_only ? ", entry only" : "");
        screen_put(screen, plan->method >= HOOK_TRAP ? SCREEN_CHANGED : SCREEN_PLAIN, HOW_COLUMNS, how);
    }
    screen_print(screen, "%s  ", plain == NULL ? name : printable(spelled, sizeof(spelled), plain));
    screen_put(screen, SCREEN_FAINT, 0, last_part(listing->path));
    if (plain != NULL) {
        screen_print(screen, "  ");
        screen_put(screen, SCREEN_FAINT, 0, name);
    }
    if (listing->is_hookable && plan->obstacle != HOOK_NO_OBSTACLE)
        screen_print(screen, "  (%s)", hook_obstacle_text(plan->obstacle));
    screen_print(screen, "\n");
    free(plain);
}

static void put_summary(const struct find_listing *listing, const char *what, const struct find_counts *counts)
{
    struct screen *screen = listing->screen;
    char share[FIGURE_BYTES];

    screen_put(screen, SCREEN_STRONG, 0, what);
    screen_print(screen, ": %" PRIu64 " function%s", counts->functions, counts->functions == 1 ? "" : "s");
    for (unsigned i = 0; listing->is_hookable && i <= HOOK_IMPOSSIBLE; i++)
        screen_print(screen, "%s%s %" PRIu64 " (%s)", i == 0 ? ": " : ", ", hook_method_name(i), counts->methods[i],
                     share_write((double)counts->methods[i], (double)counts->functions, share));
    if (listing->is_hookable)
        screen_print(screen, "; entry only %" PRIu64, counts->entry_only);
    screen_print(screen, "\n");
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_function_json(struct find_listing *listing, const struct elf_function *function,
                              const struct hook_plan *plan)
{
    struct json_writer *json = &listing->json;
    char name[NAME_BYTES], *plain;

    snprintf(name, sizeof(name), "%.*s", (int)(function->name_length & INT16_MAX),
             function->name == NULL ? "" : function->name);
    plain = demangle(name);
    json_writer_open_line(json, json->depth, NULL, '{');
    json_writer_address(json, "address", function->start + listing->bias);
    json_writer_count(json, "size", function->size_bytes);
    json_writer_text(json, "name", function->name == NULL ? NULL : name);
    if (plain != NULL)
        json_writer_text(json, "demangled", plain);
    free(plain);
    if (listing->is_hookable) {
        json_writer_text(json, "method", hook_method_name(plan->method));
        json_writer_address(json, "patch_at", plan->patch_at + listing->bias);
        json_writer_count(json, "patch_bytes", plan->patch_bytes);
        json_writer_count(json, "displaced_bytes", plan->displaced_end - plan->patch_at);
        json_writer_bool(json, "entry_only", plan->is_entry_only);
        json_writer_text(json, "obstacle", hook_obstacle_text(plan->obstacle));
    }
    json_writer_close(json, '}');
}

static void put_summary_json(struct find_listing *listing, const struct find_counts *counts)
{
    struct json_writer *json = &listing->json;

    json_writer_open(json, "summary", '{');
    json_writer_count(json, "functions", counts->functions);
    for (unsigned i = 0; listing->is_hookable && i <= HOOK_IMPOSSIBLE; i++)
        json_writer_count(json, hook_method_name(i), counts->methods[i]);
    if (listing->is_hookable)
        json_writer_count(json, "entry only", counts->entry_only);
    json_writer_close(json, '}');
}

/* ---- listings ---------------------------------------------------------------------------------------------------- */

void find_listing_begin(struct find_listing *listing)
{
    if (!listing->is_json)
        return;
    listing->json = (struct json_writer){.stream = listing->screen->stream, .layout = JSON_SPACED};
    json_writer_open(&listing->json, NULL, '{');
    json_writer_open(&listing->json, "modules", '[');
}

void find_listing_begin_module(struct find_listing *listing, const char *path, uint64_t bias)
{
    listing->path = path;
    listing->bias = bias;
    listing->counts = (struct find_counts){0};
    listing->module_count++;
    if (!listing->is_json)
        return;
    json_writer_open_line(&listing->json, listing->json.depth, NULL, '{');
    json_writer_text(&listing->json, "path", path);
    if (!listing->is_summary)
        json_writer_open(&listing->json, "functions", '[');
}

static void count(struct find_counts *counts, const struct hook_plan *plan)
{
    counts->functions++;
    counts->methods[plan->method]++;
    counts->entry_only += plan->is_entry_only;
}

void find_listing_add(struct find_listing *listing, const struct elf_function *function, const struct hook_plan *plan)
{
    count(&listing->counts, plan);
    count(&listing->total, plan);
    if (listing->is_summary)
        return;
    if (listing->is_json)
        put_function_json(listing, function, plan);
    else
        put_line(listing, function, plan);
}

void find_listing_end_module(struct find_listing *listing)
{
    char path[NAME_BYTES];

    if (listing->is_json) {
        if (!listing->is_summary) {
            json_writer_close(&listing->json, ']');
            json_writer_break(&listing->json, listing->json.depth);
        }
        put_summary_json(listing, &listing->counts);
        json_writer_close(&listing->json, '}');
    } else if ((listing->is_hookable || listing->is_summary) && listing->counts.functions != 0) {
        put_summary(listing, printable(path, sizeof(path), last_part(listing->path)), &listing->counts);
    }
}

void find_listing_end(struct find_listing *listing)
{
    if (listing->is_json) {
        json_writer_close(&listing->json, ']');
        json_writer_break(&listing->json, listing->json.depth);
        put_summary_json(listing, &listing->total);
        json_writer_close(&listing->json, '}');
        fputs("\n", listing->screen->stream);
    } else if ((listing->is_hookable || listing->is_summary) && listing->module_count > 1 &&
               listing->total.functions != 0) {
        put_summary(listing, "all", &listing->total);
    }
}
