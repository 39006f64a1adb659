/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/screens/graph_screen.h"

#include "cli/screens/screen.h"
#include "support/check.h"
#include "support/trace_folder.h"
#include "view/call_tracker.h"

static struct trace_folder folder;
static struct view_trace trace;
static struct view_functions functions;
static struct screen screen;
static struct graph_screen shown;
static struct call_graph graph;
static char *text;
static size_t size;

static void begin(double min_share)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
    CHECK_EQUAL(view_functions_number(&functions, 0, 0x401100, 2000), 0);
    CHECK_EQUAL(view_functions_number(&functions, 0, 0x401200, 2000), 1);
    CHECK_EQUAL(call_graph_init(&graph, 10, 100), 0);
    screen = (struct screen){.stream = open_memstream(&text, &size), .width = 100};
    graph_screen_init(&shown, &screen, &functions, min_share);
}

static void end(const char *expected)
{
    fclose(screen.stream);
    CHECK_TEXT(text, expected);
    free(text);
    call_graph_deinit(&graph);
    view_functions_deinit(&functions);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

/* 0 calls itself and 1; all in all 1000 ticks. */
static void fill(uint32_t flags)
{
    uint32_t outer = call_graph_enter(&graph, CALL_GRAPH_ROOT, 0), again = call_graph_enter(&graph, outer, 0);
    uint32_t inner = call_graph_enter(&graph, again, 1);

    call_graph_leave(&graph, inner, 10, 10, flags);
    call_graph_leave(&graph, again, 500, 490, 0);
    call_graph_leave(&graph, outer, 1000, 500, 0);
    call_graph_sort(&graph);
}

static void a_function_that_comes_again_is_marked(void)
{
    begin(0);
    fill(0);
    graph_screen_put_process(&shown, &trace.processes[0], &graph);
    graph_screen_put_legend(&shown, 0, 0, &(struct call_graph_missing){.gaps = 0});
    end("process 100: ./example --fast\n"
        "\n"
        "      total       %        self       calls  function, and below it whom it calls\n"
        "   1.000 us 100.0 %      990 ns           1  example+0x1100\n"
        "     500 ns  50.0 %                       1    example+0x1100  (again)\n"
        "      10 ns   1.0 %       10 ns           1    example+0x1200\n"
        "\n");
}

static void what_is_not_shown_is_told(void)
{
    begin(0.05);
    fill(CALL_CUT);
    graph_screen_put_process(&shown, &trace.processes[0], &graph);
    graph_screen_put_legend(&shown, 3, 4, &(struct call_graph_missing){.gaps = 2, .lost_bytes = 72});
    end("process 100: ./example --fast\n"
        "\n"
        "      total       %        self       calls  function, and below it whom it calls\n"
        "   1.000 us 100.0 %      990 ns           1  example+0x1100\n"
        "     500 ns  50.0 %                       1    example+0x1100  (again)\n"
        "\n"
        "not shown, since each has less than 5 %: 1; --min-percent 0 shows them\n"
        "deeper calls: 3; --depth shows them\n"
        "calls left out, since there are too many different paths: 4; try less --depth\n"
        "places where events are missing: 2; bytes of them that were lost: 72\n");
}

static void times_that_are_not_exact_are_told(void)
{
    begin(0);
    fill(CALL_GUESSED | CALL_CUT | CALL_NO_RETURN);
    graph_screen_put_process(&shown, &trace.processes[0], &graph);
    fclose(screen.stream);
    free(text);
    screen.stream = open_memstream(&text, &size);
    graph_screen_put_legend(&shown, 0, 0, &(struct call_graph_missing){.gaps = 0});
    end("some calls had not ended when the recording did, or when events are missing: they took longer\n"
        "some calls were not seen to return: they took less\n");
}

static void guesses_are_told_above_and_shown_whatever_their_share(void)
{
    begin(0.05);
    fill(CALL_GUESSED);
    graph_screen_put_guesses(&shown, GUESSED_TIMES_SOME);
    graph_screen_put_process(&shown, &trace.processes[0], &graph);
    end("TIMES WITH ~ ARE GUESSED: these events have no times of their own, and lie\n"
        "somewhere between marks that do; gait spawn --times records them.\n"
        "Guesses are not compared with --min-percent: calls that have no other times stay.\n"
        "\n"
        "process 100: ./example --fast\n"
        "\n"
        "      total       %        self       calls  function, and below it whom it calls\n"
        "   1.000 us 100.0 %      990 ns           1  example+0x1100\n"
        "     500 ns  50.0 %                       1    example+0x1100  (again)\n"
        "     ~10 ns     1 %      ~10 ns           1    example+0x1200\n"
        "\n");
}

static const struct check_case cases[] = {
    CHECK_CASE(a_function_that_comes_again_is_marked),
    CHECK_CASE(what_is_not_shown_is_told),
    CHECK_CASE(guesses_are_told_above_and_shown_whatever_their_share),
    CHECK_CASE(times_that_are_not_exact_are_told),
};

CHECK_MAIN(cases)
