/* SPDX-License-Identifier: MIT */
#include "export/export_format.h"

#include "support/check.h"
#include "support/export_lab.h"
#include "trace/json_reader.h"

static struct export_lab lab;

static void each_call_is_an_object(void)
{
    export_lab_init(&lab);
    export_lab_choose(&lab, EXPORT_LAB_HOOKED);
    CHECK_EQUAL(export_lab_write(&lab, "json"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "\n"), 6);
    CHECK_EQUAL(export_lab_count(&lab,
                                 "{\"pid\":100,\"tid\":102,\"thread\":\"\",\"function\":\"example+0x1000\",\"module\":"
                                 "\"/nowhere/example\",\"depth\":0,\"begin_ns\":1000,\"duration_ns\":1000,"
                                 "\"self_ns\":700,\"flags\":[]}\n"),
                1);
    CHECK_EQUAL(export_lab_count(&lab, "\"flags\":[\"unwound\"]}\n"), 1);
    CHECK_EQUAL(export_lab_count(&lab, "\"flags\":[\"cut\"]}\n"), 2);
    export_lab_deinit(&lab);
}

static void losses_are_objects_too(void)
{
    export_lab_init(&lab);
    export_lab_choose(&lab, 1);
    CHECK_EQUAL(export_lab_write(&lab, "json"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "\n"), 5 + 4);
    CHECK_EQUAL(export_lab_count(&lab, ",\"lost_bytes\":72}\n"), 4);
    CHECK_EQUAL(export_lab_count(&lab, "\"thread\":\"worker\""), 9);
    export_lab_deinit(&lab);
}

static void every_line_is_json(void)
{
    char *next;

    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "json"), 0);
    for (char *line = lab.output; *line != '\0'; line = next) {
        struct json_value *value;

        next = strchr(line, '\n') + 1;
        CHECK_EQUAL(json_read("it", line, (size_t)(next - line), &value, &lab.err), 0);
        json_free(value);
    }
    CHECK_EQUAL(export_lab_count(&lab, "<"), 0);
    export_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(each_call_is_an_object),
    CHECK_CASE(losses_are_objects_too),
    CHECK_CASE(every_line_is_json),
};

CHECK_MAIN(cases)
