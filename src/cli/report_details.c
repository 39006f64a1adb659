/* SPDX-License-Identifier: MIT */
#include "cli/report_details.h"

#include "cli/duration.h"
#include "cli/printable.h"
#include "cli/screen.h"
#include "symbolize/function_names.h"
#include "view/trace_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES      512
#define ARGUMENTS_SHOWN 3

static void put_time(struct screen *screen, const struct detail_count *count, double nanoseconds)
{
    char text[DURATION_BYTES];

    screen_print(screen, " %11s", count->returns == 0 ? "-" : duration_write(nanoseconds, text));
}

static void write_registers(const struct detail_count *count, char *text, size_t text_bytes)
{
    size_t used = 0;

    for (unsigned i = 0; i < ARGUMENTS_SHOWN; i++)
        used += (size_t)snprintf(text + used, text_bytes - used, "%s0x%" PRIx64, i == 0 ? "" : ", ",
                                 count->last_arguments[i]);
    snprintf(text + used, text_bytes - used, ", ...");
}

/* The last call, as far as it is kept. */
static void write_arguments(struct call_arguments *known, const struct module *module, const struct detail_count *count,
                            char bytes[DETAIL_TEXT_BYTES])
{
    const struct detail_values values = {count->last_values.bytes, count->last_values.size_bytes};
    struct detail_enter enter = {.record = {.kind = DETAIL_ENTER, .function = count->address}};
    struct detail_text text;

    memcpy(enter.arguments, count->last_arguments, sizeof(enter.arguments));
    detail_text_init(&text, bytes, DETAIL_TEXT_BYTES);
    call_arguments_put(known, module, &enter, NULL, values, &text);
    if (text.used == 0)
        write_registers(count, bytes, DETAIL_TEXT_BYTES);
}

static void write_result(struct call_arguments *known, const struct module *module, const struct detail_count *count,
                         char bytes[DETAIL_TEXT_BYTES])
{
    const struct detail_values values = {count->last_result.bytes, count->last_result.size_bytes};
    const struct detail_leave leave = {
        .record = {.kind = DETAIL_LEAVE, .function = count->address},
        .value = count->last_value,
    };
    struct detail_text text;

    detail_text_init(&text, bytes, DETAIL_TEXT_BYTES);
    if (count->returns <= count->left)
        return;
    call_arguments_put_result(known, module, &leave, values, &text);
    if (text.used == 0)
        snprintf(bytes, DETAIL_TEXT_BYTES, "0x%" PRIx64, count->last_value);
}

void report_detail_write(struct report_details *details, size_t process, const struct detail_count *count,
                         struct report_detail *detail_out)
{
    const struct module *module = modules_find(&details->report->trace->processes[process].modules, count->address,
                                               count->last_time, count->last_time);

    snprintf(detail_out->name, sizeof(detail_out->name), "0x%" PRIx64, count->address);
    if (module != NULL)
        (void)function_names_find(details->names, module, count->address, detail_out->name, sizeof(detail_out->name));
    write_arguments(&details->arguments, module, count, detail_out->arguments);
    write_result(&details->arguments, module, count, detail_out->result);
}

static void put_count(struct report_details *details, struct screen *screen, size_t process,
                      const struct detail_count *count)
{
    double average = count->returns == 0 ? 0 : (double)count->total / (double)count->returns;
    struct report_detail detail;
    char clean[sizeof(detail.name)];

    report_detail_write(details, process, count, &detail);
    screen_print(screen, "%14" PRIu64, count->calls);
    put_time(screen, count, (double)count->shortest * details->tick_ns);
    put_time(screen, count, average * details->tick_ns);
    put_time(screen, count, (double)count->longest * details->tick_ns);
    screen_print(screen, "  %s(%s)", printable(clean, sizeof(clean), detail.name), detail.arguments);
    screen_print(screen, "%s%s\n", detail.result[0] == '\0' ? "" : " = ", detail.result);
}

static void put_process(struct report_details *details, struct screen *screen, size_t process, size_t limit)
{
    const struct detail_counts *counts = &details->report->processes[process].details;
    size_t shown = counts->count < limit ? counts->count : limit;
    char heading[TEXT_BYTES];

    snprintf(heading, sizeof(heading), "%14s %11s %11s %11s  details of process %" PRIu32 "; with the last arguments",
             "calls", "shortest", "average", "longest", details->report->trace->processes[process].pid);
    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0, heading);
    screen_print(screen, "\n");
    for (size_t i = 0; i < shown; i++)
        put_count(details, screen, process, &counts->counts[i]);
    if (shown < counts->count)
        screen_print(screen, "and %zu more; --limit shows them\n", counts->count - shown);
}

int report_details_init(struct report_details *details, const struct trace_report *report, struct function_names *names)
{
    details->report = report;
    details->names = names;
    details->tick_ns = view_clock_tick_ns(&report->trace->clock);
    return call_arguments_init(&details->arguments, names);
}

void report_details_deinit(struct report_details *details)
{
    call_arguments_deinit(&details->arguments);
}

void report_details_show(struct report_details *details, struct screen *screen, size_t limit)
{
    for (size_t i = 0; i < details->report->trace->process_count; i++)
        if (details->report->processes[i].details.count != 0)
            put_process(details, screen, i, limit);
}
