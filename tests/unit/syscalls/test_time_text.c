/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

static struct call_text_run run;

static void times_of_all_kinds(void)
{
    struct call_text *text = call_text_run_init(&run);
    const struct itimerspec spec = {{1, 2}, {3, 4}};
    const struct itimerval interval = {{1, 2}, {3, 4}};

    time_text_put_itimerspec(text, &spec);
    CHECK_TEXT(run.buffer, "{it_interval={tv_sec=1, tv_nsec=2}, it_value={tv_sec=3, tv_nsec=4}}");
    call_text_run_clear(&run);
    time_text_put_itimerval(text, &interval);
    CHECK_TEXT(run.buffer, "{it_interval={tv_sec=1, tv_usec=2}, it_value={tv_sec=3, tv_usec=4}}");
    call_text_run_clear(&run);
    time_text_put_tms(text, (const int64_t[4]){101, 0, 7, 0});
    CHECK_TEXT(run.buffer, "{tms_utime=101 /* 1.01 s */, tms_stime=0, tms_cutime=7 /* 0.07 s */, tms_cstime=0}");
}

static void dates_are_comments(void)
{
    struct call_text *text = call_text_run_init(&run);
    const struct timespec now = {0, UTIME_NOW}, left = {0, UTIME_OMIT}, then = {1, 2};

    setenv("TZ", "UTC", 1);
    tzset();
    time_text_put_utime(text, &now);
    time_text_put_utime(text, &left);
    time_text_put_utime(text, &then);
    CHECK_TEXT(run.buffer, "UTIME_NOWUTIME_OMIT{tv_sec=1, tv_nsec=2} /* 1970-01-01T00:00:01.000000002+0000 */");
    call_text_run_clear(&run);
    time_text_put_date(text, INT64_MAX, 0);
    CHECK_TEXT(run.buffer, "");
}

static const struct check_case cases[] = {
    CHECK_CASE(times_of_all_kinds),
    CHECK_CASE(dates_are_comments),
};

CHECK_MAIN(cases)
