/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "report/report_graph.h"

#include "hosted/json_writer.h"
#include "support/check.h"
#include "support/trace_folder.h"

#include <stdlib.h>
#include <string.h>

static struct trace_folder folder;
static struct view_trace trace;
static struct view_functions functions;
static struct report_graph shown;
static struct call_graph graph;

/* 0 calls itself and 1; all in all 1000 ticks. */
static void begin(double min_share)
{
    uint32_t outer, again, inner;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
    CHECK_EQUAL(view_functions_number(&functions, 0, 0x401100, 2000), 0);
    CHECK_EQUAL(view_functions_number(&functions, 0, 0x401200, 2000), 1);
    CHECK_EQUAL(call_graph_init(&graph, 10, 100), 0);
    outer = call_graph_enter(&graph, CALL_GRAPH_ROOT, 0);
    again = call_graph_enter(&graph, outer, 0);
    inner = call_graph_enter(&graph, again, 1);
    call_graph_leave(&graph, inner, 10, 10, 0);
    call_graph_leave(&graph, again, 500, 490, 0);
    call_graph_leave(&graph, outer, 1000, 500, 0);
    call_graph_sort(&graph);
    report_graph_init(&shown, &functions, min_share);
}

static void end(void)
{
    call_graph_deinit(&graph);
    view_functions_deinit(&functions);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static char *write_process(void)
{
    char *text;
    size_t size;
    struct json_writer json = {.stream = open_memstream(&text, &size), .layout = JSON_DENSE};

    report_graph_put_process(&shown, &json, &trace.processes[0], &graph);
    fclose(json.stream);
    return text;
}

static void a_process_is_an_object_of_paths(void)
{
    char *text;

    begin(0);
    text = write_process();
    CHECK(strncmp(text, "{\"pid\":100,\"image\":1,\"command\":\"./example --fast\",\"total_ns\":1000,\"callees\":[{",
                  strlen("{\"pid\":100,")) == 0);
    CHECK(strstr(text, "\"self_ns\":990,\"again\":false,\"callees\":[{\"function\":\"example+0x1100\"") != NULL);
    CHECK(strstr(text, "\"calls\":1,\"total_ns\":10,\"self_ns\":10,\"again\":false,\"callees\":[]}") != NULL);
    free(text);
    end();
}

static void what_has_too_small_a_share_is_left_out(void)
{
    char *text;

    begin(0.05);
    text = write_process();
    CHECK(strstr(text, "example+0x1200") == NULL);
    CHECK(strstr(text, "\"again\":true") != NULL);
    CHECK(report_graph_share(&shown, 500) == 0.5);
    free(text);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(a_process_is_an_object_of_paths),
    CHECK_CASE(what_has_too_small_a_share_is_left_out),
};

CHECK_MAIN(cases)
