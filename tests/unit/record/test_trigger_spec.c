/* SPDX-License-Identifier: MIT */
#include "record/trigger_spec.h"

#include "support/check.h"

#include <signal.h>

static struct trigger_spec spec;

static bool parses(const char *text)
{
    return trigger_spec_parse(text, &spec) == NULL && strcmp(spec.text, text) == 0;
}

static void functions_are_patterns(void)
{
    CHECK(parses("symbol=abort"));
    CHECK_EQUAL(spec.kind, TRIGGER_SPEC_SYMBOL);
    CHECK_TEXT(spec.pattern, "abort");
    CHECK(parses("symbol=libc.so*!ab=rt"));
    CHECK_TEXT(spec.pattern, "libc.so*!ab=rt");
    CHECK(parses("slow=query*>50ms"));
    CHECK_EQUAL(spec.kind, TRIGGER_SPEC_SLOW);
    CHECK_TEXT(spec.pattern, "query*");
    CHECK_EQUAL(spec.nanoseconds, 50000000);
    CHECK(parses("slow=operator>>>1.5us"));
    CHECK_TEXT(spec.pattern, "operator>>");
    CHECK_EQUAL(spec.nanoseconds, 1500);
}

static void signals_have_names_and_numbers(void)
{
    CHECK(parses("signal=SIGUSR1"));
    CHECK_EQUAL(spec.kind, TRIGGER_SPEC_SIGNAL);
    CHECK_EQUAL(spec.signal, SIGUSR1);
    CHECK(parses("signal=usr2"));
    CHECK_EQUAL(spec.signal, SIGUSR2);
    CHECK(parses("signal=64"));
    CHECK_EQUAL(spec.signal, 64);
}

static void times_have_units(void)
{
    CHECK(parses("time=+30s"));
    CHECK_EQUAL(spec.kind, TRIGGER_SPEC_TIME);
    CHECK_EQUAL(spec.nanoseconds, 30000000000);
    CHECK(parses("every=2m"));
    CHECK_EQUAL(spec.kind, TRIGGER_SPEC_EVERY);
    CHECK_EQUAL(spec.nanoseconds, 120000000000);
    CHECK(parses("every=1ns"));
    CHECK_EQUAL(spec.nanoseconds, 1);
}

static void some_have_no_value(void)
{
    CHECK(parses("crash"));
    CHECK_EQUAL(spec.kind, TRIGGER_SPEC_CRASH);
    CHECK(parses("manual"));
    CHECK_EQUAL(spec.kind, TRIGGER_SPEC_MANUAL);
}

static void check_refused(const char *text, const char *wanted)
{
    struct trigger_spec before = spec;
    const char *answer = trigger_spec_parse(text, &spec);

    CHECK(answer != NULL && strstr(answer, wanted) != NULL);
    CHECK(memcmp(&before, &spec, sizeof(spec)) == 0);
}

static void what_is_none_is_told_what_it_should_be(void)
{
    char name[200] = "symbol=";

    check_refused("", "crash, signal=NAME");
    check_refused("boom", "crash, signal=NAME");
    check_refused("crash=1", "crash");
    check_refused("manual=", "manual");
    check_refused("symbol", "symbol=FUNCTION");
    check_refused("symbol=", "symbol=FUNCTION");
    check_refused("slow=query", "slow=FUNCTION>TIME");
    check_refused("slow=query>50", "slow=FUNCTION>TIME");
    check_refused("slow=query>0ms", "slow=FUNCTION>TIME");
    check_refused("slow=>50ms", "slow=FUNCTION>TIME");
    check_refused("signal=SIGNONE", "signal=SIGUSR1");
    check_refused("signal=0", "signal=SIGUSR1");
    check_refused("signal=65", "signal=SIGUSR1");
    check_refused("time=30s", "time=+TIME");
    check_refused("every=s", "every=TIME");
    check_refused("every=5h", "every=TIME");
    memset(name + 7, 'a', 120);
    check_refused(name, "less than 120");
    name[7 + 119] = '\0';
    CHECK(parses(name));
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(functions_are_patterns),
        CHECK_CASE(signals_have_names_and_numbers),
        CHECK_CASE(times_have_units),
        CHECK_CASE(some_have_no_value),
        CHECK_CASE(what_is_none_is_told_what_it_should_be),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
