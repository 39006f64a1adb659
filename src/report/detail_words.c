/* SPDX-License-Identifier: MIT */
#include "report/report_words.h"

#include "symbolize/call_arguments.h"
#include "symbolize/function_names.h"
#include "trace/detail_text.h"
#include "view/trace_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ARGUMENTS_SHOWN 3

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

static void write_registers(const struct detail_count *count, char *text, size_t text_bytes)
{
    size_t used = 0;

    for (unsigned i = 0; i < ARGUMENTS_SHOWN; i++)
        used += (size_t)snprintf(text + used, text_bytes - used, "%s0x%" PRIx64, i == 0 ? "" : ", ",
                                 count->last_arguments[i]);
    snprintf(text + used, text_bytes - used, ", ...");
}

/* The last call, as far as it is kept. */
static void write_arguments(struct call_arguments *known, const struct recorded_module *module,
                            const struct detail_count *count, char bytes[DETAIL_TEXT_BYTES])
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

static void write_result(struct call_arguments *known, const struct recorded_module *module,
                         const struct detail_count *count, char bytes[DETAIL_TEXT_BYTES])
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
    const struct recorded_module *module = modules_find(&details->report->trace->processes[process].modules,
                                                        count->address, count->last_time, count->last_time);

    snprintf(detail_out->name, sizeof(detail_out->name), "0x%" PRIx64, count->address);
    if (module != NULL)
        (void)function_names_find(details->names, module, count->address, detail_out->name, sizeof(detail_out->name));
    write_arguments(&details->arguments, module, count, detail_out->arguments);
    write_result(&details->arguments, module, count, detail_out->result);
}

void report_probe_write_arguments(const struct probe_count *count, char bytes[DETAIL_TEXT_BYTES])
{
    struct detail_text text;

    detail_text_init(&text, bytes, DETAIL_TEXT_BYTES);
    probe_text_put_arguments(&text, (struct detail_values){count->last_values, count->last_bytes});
}
