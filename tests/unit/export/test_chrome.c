/* SPDX-License-Identifier: MIT */
#include "export/export_format.h"

#include "support/check.h"
#include "support/export_lab.h"
#include "trace/json_reader.h"

static struct export_lab lab;

static void calls_begin_and_end(void)
{
    export_lab_init(&lab);
    export_lab_choose(&lab, EXPORT_LAB_HOOKED);
    CHECK_EQUAL(export_lab_write(&lab, "chrome"), 0);
    CHECK(strstr(lab.output, "[\n{\"ph\":\"M\",\"pid\":100,\"tid\":102,\"name\":\"process_name\","
                             "\"args\":{\"name\":\"./example --fast\"}},\n"
                             "{\"ph\":\"B\",\"pid\":100,\"tid\":102,\"ts\":1.000,\"name\":\"example+0x1000\",\"cat\":"
                             "\"example\"},\n"
                             "{\"ph\":\"B\",\"pid\":100,\"tid\":102,\"ts\":1.100,\"name\":\"example+0x1100\",\"cat\":"
                             "\"example\"},\n") != NULL);
    CHECK(strstr(lab.output, "\"ts\":1.250},\n{\"ph\":\"E\",\"pid\":100,\"tid\":102,\"ts\":1.300},\n") != NULL);
    CHECK_EQUAL(export_lab_count(&lab, "\"ph\":\"B\""), 6);
    CHECK_EQUAL(export_lab_count(&lab, "\"ph\":\"E\""), 6);
    export_lab_deinit(&lab);
}

static void what_is_not_sure_is_marked(void)
{
    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "chrome"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "\"args\":{\"end\":\"unwound\"}"), 1);
    CHECK_EQUAL(export_lab_count(&lab, "\"args\":{\"end\":\"cut off\"}"), 2);
    CHECK_EQUAL(export_lab_count(&lab, "\"ph\":\"i\",\"pid\":100,\"tid\":101"), 4);
    CHECK_EQUAL(export_lab_count(&lab, "\"name\":\"lost\",\"cat\":\"gait\",\"args\":{\"lost bytes\":72}}"), 4);
    export_lab_deinit(&lab);
}

static void names_of_threads_are_told(void)
{
    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "chrome"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "process_name"), 1);
    CHECK_EQUAL(export_lab_count(&lab, "thread_name"), 2);
    CHECK_EQUAL(export_lab_count(&lab, "\"tid\":101,\"name\":\"thread_name\",\"args\":{\"name\":\"worker\"}"), 1);
    export_lab_deinit(&lab);
}

static void nasty_names_are_text(void)
{
    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "chrome"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "\"\\u003ci>\\u0026\\\"\\\\;\xef\xbf\xbd\xef\xbf\xbd\\u003ci>+0x1100\""), 1);
    CHECK_EQUAL(export_lab_count(&lab, "<"), 0);
    export_lab_deinit(&lab);
}

static void it_is_json_also_without_calls(void)
{
    struct json_value *value;

    export_lab_init(&lab);
    for (size_t count = 0; count <= 3; count += 3) {
        lab.job.thread_count = count;
        CHECK_EQUAL(export_lab_write(&lab, "chrome"), 0);
        CHECK_EQUAL(json_read("it", lab.output, lab.output_bytes, &value, &lab.err), 0);
        CHECK_TEXT(lab.err.text, "");
        json_free(value);
    }
    export_lab_deinit(&lab);
}

static void what_can_be_read_is_written(void)
{
    export_lab_init(&lab);
    trace_folder_write(&lab.folder, "100/100.1.index.gait", "?", 1);
    CHECK(export_lab_write(&lab, "chrome") < 0);
    CHECK(strstr(lab.err.text, "100.1.index.gait") != NULL);
    CHECK_EQUAL(export_lab_count(&lab, "\"ph\":\"B\""), 5 + 6);
    CHECK_TEXT(lab.output + lab.output_bytes - 3, "}}\n");
    export_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_begin_and_end),           CHECK_CASE(what_is_not_sure_is_marked),
    CHECK_CASE(names_of_threads_are_told),     CHECK_CASE(nasty_names_are_text),
    CHECK_CASE(it_is_json_also_without_calls), CHECK_CASE(what_can_be_read_is_written),
};

CHECK_MAIN(cases)
