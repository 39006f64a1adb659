/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/output/system_call_counts.h"

#include "support/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static struct system_call_counts counts;

static void add(uint64_t number, int64_t result, uint64_t ns)
{
    const struct system_call_event event = {
        .kind = SYSTEM_CALL_LEFT, .number = number, .result = result, .system_ns = ns, .cpu_ns = ns / 2};

    system_call_counts_add(&counts, &event);
}

static char *written(void (*put)(const struct system_call_counts *counts, FILE *stream))
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    put(&counts, stream);
    fclose(stream);
    return text;
}

static void the_longest_come_first(void)
{
    char *text;

    system_call_table_options_init(&counts.options);
    counts.options.is_wall_clock = true;
    add(SYS_read, 5, 1000000);
    add(SYS_read, -11, 2000000);
    add(SYS_write, 5, 1000000);
    add(5000, 0, 0);
    system_call_counts_add(&counts, &(const struct system_call_event){.kind = SYSTEM_CALL_ENTERED, .number = SYS_read});
    text = written(system_call_counts_put);
    CHECK_TEXT(text, "% time     seconds  usecs/call     calls    errors syscall\n"
                     "------ ----------- ----------- --------- --------- ----------------\n"
                     " 75.00    0.003000        1500         2         1 read\n"
                     " 25.00    0.001000        1000         1           write\n"
                     "  0.00    0.000000           0         1           others\n"
                     "------ ----------- ----------- --------- --------- ----------------\n"
                     "100.00    0.004000        1000         4         1 total\n");
    free(text);
    text = written(system_call_counts_put_json);
    CHECK_EQUAL(strstr(text, "{\"call\": \"read\", \"calls\": 2, \"errors\": 1, \"total_ns\": 3000000}") != NULL, 1);
    free(text);
}

static void tables_are_as_they_are_asked_for(void)
{
    char *text;

    memset(&counts, 0, sizeof(counts));
    system_call_table_options_init(&counts.options);
    CHECK_EQUAL(system_call_table_parse_columns("name,calls,shortest,longest,bogus", &counts.options), -EINVAL);
    CHECK_EQUAL(system_call_table_parse_columns("calls,calls", &counts.options), -EINVAL);
    CHECK_EQUAL(system_call_table_parse_columns("min-time,max-time,errors", &counts.options), 0);
    CHECK_EQUAL(system_call_table_parse_sort("bogus", &counts.options), -EINVAL);
    CHECK_EQUAL(system_call_table_parse_sort("name", &counts.options), 0);
    counts.options.overhead_ns = 100000;
    add(SYS_write, 5, 1000000);
    add(SYS_read, 5, 4000000);
    add(SYS_write, -5, 2000000);
    text = written(system_call_counts_put);
    CHECK_TEXT(text, "shortest  longest    errors syscall\n"
                     "-------- -------- --------- ----------------\n"
                     "0.001900 0.001900           read\n"
                     "0.000400 0.000900         1 write\n"
                     "-------- -------- --------- ----------------\n"
                     "0.000400 0.001900         1 total\n");
    free(text);
}

static const struct check_case cases[] = {CHECK_CASE(the_longest_come_first),
                                          CHECK_CASE(tables_are_as_they_are_asked_for)};

CHECK_MAIN(cases)
