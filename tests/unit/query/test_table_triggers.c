/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "support/check.h"
#include "support/query_text.h"

static struct trace_folder folder;

static const char *ask(const char *sql)
{
    return query_text(folder.path, sql);
}

static void begin(void)
{
    trace_folder_init(&folder);
    query_text_put_hooked(&folder);
}

static void end(void)
{
    trace_folder_deinit(&folder);
}

static void triggers_have_a_time(void)
{
    begin();
    CHECK_TEXT(ask("select * from triggers"), "manual|now|1250|200|-\n");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(triggers_have_a_time),
};

CHECK_MAIN(cases)
