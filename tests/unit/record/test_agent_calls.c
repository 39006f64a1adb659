/* SPDX-License-Identifier: MIT */
#include "record/agent_calls.h"

#include "support/check.h"
#include "syscalls/injection.h"
#include "syscalls/system_call_set.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

static struct agent_options agent;

static bool has(const uint64_t words[AGENT_SYSTEM_CALL_WORDS], unsigned number)
{
    return words[number / 64] >> number % 64 & 1;
}

static void calls_of_a_set_are_reported(void)
{
    struct system_call_set_fault fault;
    struct system_call_set set;

    agent_options_clear(&agent);
    CHECK_EQUAL(system_call_set_parse("openat,close", &set, &fault), 0);
    agent_calls_choose(&agent, &set, 700);
    CHECK_EQUAL(agent.tells_system_calls, 1);
    CHECK_EQUAL(agent.system_call_bytes, 700);
    CHECK(has(agent.system_calls, SYS_openat) && has(agent.system_calls, SYS_close));
    CHECK(!has(agent.system_calls, SYS_read) && !has(agent.system_calls, 511));
    /* The last one stands for all that are not known. */
    system_call_set_fill(&set);
    agent_calls_choose(&agent, &set, 1 << 20);
    CHECK(has(agent.system_calls, SYS_read) && has(agent.system_calls, 511));
    CHECK_EQUAL(agent.system_call_bytes, 4096);
}

static void calls_of_a_set_are_answered(void)
{
    struct injections injections = {
        .count = 2,
        .all = {{.has_result = true, .result = -EACCES, .first = 2, .last = 4, .step = 2}, {.delay_exit_ns = 5}},
    };

    agent_options_clear(&agent);
    injections.all[0].set.bits[SYS_chdir / 64] = 1ull << SYS_chdir % 64;
    agent_calls_inject(&agent, &injections);
    CHECK_EQUAL(agent.injection_count, 2);
    CHECK(has(agent.injections[0].system_calls, SYS_chdir) && !has(agent.injections[1].system_calls, SYS_chdir));
    CHECK_EQUAL(agent.injections[0].result, -EACCES);
    CHECK(agent.injections[0].has_result && !agent.injections[1].has_result);
    CHECK_EQUAL(agent.injections[0].step, 2);
    CHECK_EQUAL(agent.injections[1].delay_exit_ns, 5);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_of_a_set_are_reported),
    CHECK_CASE(calls_of_a_set_are_answered),
};

CHECK_MAIN(cases)
