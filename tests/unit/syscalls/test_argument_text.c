/* SPDX-License-Identifier: MIT */
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct call_text_run run;

static void strings_buffers_and_paths(void)
{
    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "write", 2, 1, AT("hi\n"), 3), "write(1, \"hi\\n\", 3) = 2");
    CHECK_TEXT(CALL(&run, "read", 2, 1, AT("hi\n"), 100), "read(1, \"hi\", 100) = 2");
    CHECK_TEXT(CALL(&run, "read", -EAGAIN, 1, 0x10, 100),
               "read(1, 0x10, 100) = -1 EAGAIN (Resource temporarily unavailable)");
    CHECK_TEXT(CALL(&run, "access", 0, AT("/x"), R_OK), "access(\"/x\", R_OK) = 0");
    CHECK_TEXT(CALL(&run, "getcwd", 3, AT("/x"), 100), "getcwd(\"/x\", 100) = 3");
}

static void programs_and_their_arguments(void)
{
    const char *arguments[] = {"ls", "-l", NULL}, *environment[] = {"A=1", NULL};
    char expected[128];

    call_text_run_init(&run);
    snprintf(expected, sizeof(expected), "execve(\"/bin/ls\", [\"ls\", \"-l\"], %p /* 1 var */) = 0",
             (void *)environment);
    CHECK_TEXT(CALL(&run, "execve", 0, AT("/bin/ls"), AT(arguments), AT(environment)), expected);
    CHECK_TEXT(CALL(&run, "execve", -EFAULT, 0x10, 0x20, 0), "execve(0x10, 0x20, NULL) = -1 EFAULT (Bad address)");
}

static void lengths_that_calls_change_are_shown_twice(void)
{
    struct sockaddr_un address = {AF_UNIX, ""};
    uint32_t length = 2;
    struct system_call_event event = {.kind = SYSTEM_CALL_LEFT, .arguments = {3, AT(&address), AT(&length)}};
    struct system_call_progress progress = {0};

    call_text_run_init(&run);
    event.number = (uint64_t)system_call_by_name("accept", 6)->number;
    event.memory = &run.live.memory;
    event.result = 4;
    length = 110;
    system_call_text_enter(&run.out, &event, &run.options, &progress);
    CHECK_TEXT(run.buffer, "accept(3, ");
    length = 2;
    live_memory_turn_to(&run.live, getpid());
    system_call_text_leave(&run.out, &event, &run.options, &progress);
    CHECK_TEXT(run.buffer, "accept(3, {sa_family=AF_UNIX}, [110 => 2])");
}

static void answers_wait_for_the_end(void)
{
    struct call_text *text = call_text_run_init(&run);
    const struct system_call_signature *call = system_call_by_name("read", 4);

    CHECK_EQUAL(argument_text_is_answer(text, &call->arguments[0]), 0);
    CHECK_EQUAL(argument_text_is_answer(text, &call->arguments[1]), 1);
    call = system_call_by_name("write", 5);
    CHECK_EQUAL(argument_text_is_answer(text, &call->arguments[1]), 0);
}

static void no_child_no_status(void)
{
    int status = 0;
    char expected[64];

    call_text_run_init(&run);
    snprintf(expected, sizeof(expected), "wait4(-1, %p, WNOHANG, NULL) = 0", (void *)&status);
    CHECK_TEXT(CALL(&run, "wait4", 0, UINT64_MAX, AT(&status), 1, 0), expected);
    CHECK_TEXT(CALL(&run, "wait4", 7, UINT64_MAX, AT(&status), 1, 0),
               "wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], WNOHANG, NULL) = 7");
}

static const struct check_case cases[] = {
    CHECK_CASE(strings_buffers_and_paths),
    CHECK_CASE(programs_and_their_arguments),
    CHECK_CASE(lengths_that_calls_change_are_shown_twice),
    CHECK_CASE(answers_wait_for_the_end),
    CHECK_CASE(no_child_no_status),
};

CHECK_MAIN(cases)
