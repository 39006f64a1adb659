/* SPDX-License-Identifier: MIT */
#include "view/call_focus.h"

#include "support/check.h"
#include "support/hooked_calls.h"

static struct trace_folder folder;
static struct view_trace trace;
static struct view_functions functions;
static struct function_choice choice;
static struct call_focuses focuses;
static char text[1024];

static void begin(const char *calls, const char *const *pattern)
{
    struct call_graph_missing missing = {.gaps = 0};

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    hooked_calls_put(&folder, 100, calls);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
    function_choice_init(&choice, &functions, pattern, 1);
    call_focuses_init(&focuses, &choice, 10);
    CHECK_EQUAL(call_focuses_read(&focuses, 0, &missing, NULL), 0);
    call_focuses_sort(&focuses);
}

static void end(void)
{
    call_focuses_deinit(&focuses);
    function_choice_deinit(&choice);
    view_functions_deinit(&functions);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void put_below(const struct call_graph *graph, uint32_t node)
{
    for (uint32_t child = graph->nodes[node].first_child; child != CALL_GRAPH_NONE; child = graph->nodes[child].next) {
        const struct call_graph_node *shown = &graph->nodes[child];
        char part[96];

        snprintf(part, sizeof(part), "%s%s:%" PRIu64 "/%" PRIu64 "(",
                 strstr(view_functions_at(&functions, shown->function)->name, "0x") + 2,
                 shown->again == CALL_GRAPH_NONE ? "" : "again", shown->calls, shown->total);
        strcat(text, part);
        put_below(graph, child);
        strcat(text, ") ");
    }
}

/* "function:calls/total(below) " */
static const char *shape(const struct call_graph *graph)
{
    text[0] = '\0';
    put_below(graph, CALL_GRAPH_ROOT);
    return text;
}

static void a_function_stands_between_callers_and_callees(void)
{
    static const char *const pattern = "*0x1100";

    begin("<0@2000 <1@2010 <2@2020 >2@2030 >1@2040 <2@2050 <1@2060 >1@2090 >2@2095 >0@2100 <1@2200 >1@2201", &pattern);
    CHECK_EQUAL(focuses.count, 1);
    CHECK_EQUAL(focuses.focuses[0].calls, 3);
    CHECK_TEXT(shape(&focuses.focuses[0].callers), "1100:3/61(1000:1/30() 1200:1/30(1000:1/30() ) ) ");
    CHECK_TEXT(shape(&focuses.focuses[0].callees), "1100:3/61(1200:1/10() ) ");
    CHECK_EQUAL(call_focus_top(&focuses.focuses[0].callees)->self, 51);
    end();
}

/* The outermost call has all the time. */
static void calls_within_itself_are_told_as_such(void)
{
    static const char *const pattern = "*0x1100";

    begin("<0@2000 <1@2010 <1@2020 <1@2030 >1@2040 >1@2050 >1@2060 >0@2100", &pattern);
    CHECK_EQUAL(focuses.focuses[0].calls, 3);
    CHECK_TEXT(shape(&focuses.focuses[0].callers), "1100:3/50(1000:1/50() 1100again:2/0() ) ");
    CHECK_TEXT(shape(&focuses.focuses[0].callees), "1100:1/50(1100again:2/30() ) ");
    end();
}

static void several_functions_each_have_their_own(void)
{
    static const char *const pattern = "*";

    begin("<0@2000 <1@2010 >1@2040 >0@2100", &pattern);
    CHECK_EQUAL(focuses.count, 2);
    CHECK_TEXT(shape(&focuses.focuses[0].callees), "1000:1/100(1100:1/30() ) ");
    CHECK_TEXT(shape(&focuses.focuses[1].callees), "1100:1/30() ");
    CHECK_TEXT(shape(&focuses.focuses[1].callers), "1100:1/30(1000:1/30() ) ");
    end();
}

static void nothing_is_found_of_what_was_not_called(void)
{
    static const char *const pattern = "nothing";

    begin("<0@2000 >0@2100", &pattern);
    CHECK_EQUAL(focuses.count, 0);
    CHECK_EQUAL(choice.matched_count, 0);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(a_function_stands_between_callers_and_callees),
    CHECK_CASE(calls_within_itself_are_told_as_such),
    CHECK_CASE(several_functions_each_have_their_own),
    CHECK_CASE(nothing_is_found_of_what_was_not_called),
};

CHECK_MAIN(cases)
