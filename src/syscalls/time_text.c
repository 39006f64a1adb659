/* SPDX-License-Identifier: MIT */
#include "syscalls/subject_texts.h"

#include "syscalls/constant_set.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <time.h>

struct pair {
    int64_t first, second;
};

static struct pair pair_of(const void *bytes)
{
    struct pair pair;

    memcpy(&pair, bytes, sizeof(pair));
    return pair;
}

void time_text_put_timespec(const struct call_text *text, const void *timespec)
{
    struct pair pair = pair_of(timespec);

    text_format(text->out, "{tv_sec=%ld, tv_nsec=%ld}", (long)pair.first, (long)pair.second);
}

void time_text_put_timeval(const struct call_text *text, const void *timeval)
{
    struct pair pair = pair_of(timeval);

    text_format(text->out, "{tv_sec=%ld, tv_usec=%ld}", (long)pair.first, (long)pair.second);
}

void time_text_put_timezone(const struct call_text *text, const void *zone)
{
    int32_t values[2];

    memcpy(values, zone, sizeof(values));
    text_format(text->out, "{tz_minuteswest=%d, tz_dsttime=%d}", values[0], values[1]);
}

void time_text_put_itimerval(const struct call_text *text, const void *itimerval)
{
    text_put_string(text->out, "{it_interval=");
    time_text_put_timeval(text, itimerval);
    text_put_string(text->out, ", it_value=");
    time_text_put_timeval(text, (const char *)itimerval + sizeof(struct pair));
    text_put_char(text->out, '}');
}

void time_text_put_itimerspec(const struct call_text *text, const void *itimerspec)
{
    text_put_string(text->out, "{it_interval=");
    time_text_put_timespec(text, itimerspec);
    text_put_string(text->out, ", it_value=");
    time_text_put_timespec(text, (const char *)itimerspec + sizeof(struct pair));
    text_put_char(text->out, '}');
}

void time_text_put_date(const struct call_text *text, int64_t seconds, int64_t nanoseconds)
{
    time_t time = (time_t)seconds;
    struct tm parts;
    char date[64];

    if ((seconds == 0 && nanoseconds == 0) || nanoseconds < 0 || nanoseconds > 999999999)
        return;
    if (localtime_r(&time, &parts) == NULL || strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts) == 0)
        return;
    text_format(text->out, " /* %s", date);
    if (nanoseconds != 0)
        text_format(text->out, ".%09ld", (long)nanoseconds);
    strftime(date, sizeof(date), "%z", &parts);
    text_format(text->out, "%s */", date);
}

void time_text_put_utimbuf(const struct call_text *text, const void *utimbuf)
{
    struct pair pair = pair_of(utimbuf);

    text_format(text->out, "{actime=%ld", (long)pair.first);
    time_text_put_date(text, pair.first, 0);
    text_format(text->out, ", modtime=%ld", (long)pair.second);
    time_text_put_date(text, pair.second, 0);
    text_put_char(text->out, '}');
}

/* Ticks, of which there are a hundred in a second, and the seconds as a comment. */
static void put_ticks(const struct call_text *text, const char *label, int64_t ticks)
{
    text_format(text->out, "%s%ld", label, (long)ticks);
    if (ticks != 0)
        text_format(text->out, " /* %ld.%02ld s */", (long)(ticks / 100), (long)(ticks % 100));
}

void time_text_put_tms(const struct call_text *text, const void *tms)
{
    struct pair own = pair_of(tms), children = pair_of((const char *)tms + sizeof(own));

    put_ticks(text, "{tms_utime=", own.first);
    put_ticks(text, ", tms_stime=", own.second);
    put_ticks(text, ", tms_cutime=", children.first);
    put_ticks(text, ", tms_cstime=", children.second);
    text_put_char(text->out, '}');
}

void time_text_put_timex(const struct call_text *text, const void *bytes)
{
    struct timex timex;

    memcpy(&timex, bytes, sizeof(timex));
    text_put_string(text->out, "{modes=");
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_timex_modes, timex.modes);
    text_format(text->out, ", offset=%ld, freq=%ld, maxerror=%ld, esterror=%ld, status=", timex.offset, timex.freq,
                timex.maxerror, timex.esterror);
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_timex_status, (uint32_t)timex.status);
    text_format(text->out, ", constant=%ld, precision=%ld, tolerance=%ld, time=", timex.constant, timex.precision,
                timex.tolerance);
    time_text_put_timeval(text, &timex.time);
    text_format(text->out,
                ", tick=%ld, ppsfreq=%ld, jitter=%ld, shift=%d, stabil=%ld, jitcnt=%ld, calcnt=%ld, errcnt=%ld, "
                "stbcnt=%ld, tai=%d}",
                timex.tick, timex.ppsfreq, timex.jitter, timex.shift, timex.stabil, timex.jitcnt, timex.calcnt,
                timex.errcnt, timex.stbcnt, timex.tai);
}

void time_text_put_utime(const struct call_text *text, const void *timespec)
{
    struct pair pair = pair_of(timespec);

    if (pair.second == UTIME_NOW)
        text_put_string(text->out, "UTIME_NOW");
    else if (pair.second == UTIME_OMIT)
        text_put_string(text->out, "UTIME_OMIT");
    else {
        time_text_put_timespec(text, timespec);
        time_text_put_date(text, pair.first, pair.second);
    }
}
