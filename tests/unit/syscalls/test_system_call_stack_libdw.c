/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/system_call_stack.h"

#include "support/check.h"
#include "syscalls/system_call_event.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void stop_in_here(void)
{
    raise(SIGSTOP);
    __asm__ volatile("" ::: "memory");
}

static void frames_of_a_stopped_child_have_names(void)
{
    struct system_call_event event = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    int pid = fork();

    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        stop_in_here();
        _exit(0);
    }
    CHECK_EQUAL(waitpid(pid, NULL, 0), pid);
    CHECK_EQUAL(system_call_stack_is_there(), 1);
    event.pid = event.tid = pid;
    system_call_stack_put(stream, &event);
    system_call_stack_put(stream, &event);
    system_call_stack_forget();
    fclose(stream);
    CHECK_EQUAL(strncmp(text, " > /", 4), 0);
    CHECK_EQUAL(strstr(text, "(stop_in_here+0x") != NULL, 1);
    CHECK_EQUAL(strstr(strstr(text, "(stop_in_here+0x") + 1, "(stop_in_here+0x") != NULL, 1);
    free(text);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void who_is_not_there_has_none(void)
{
    struct system_call_event event = {.pid = 0x3ffffff, .tid = 0x3ffffff};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    system_call_stack_put(stream, &event);
    system_call_stack_forget();
    fclose(stream);
    CHECK_TEXT(text, " > (not known)\n");
    free(text);
}

static const struct check_case cases[] = {
    CHECK_CASE(frames_of_a_stopped_child_have_names),
    CHECK_CASE(who_is_not_there_has_none),
};

CHECK_MAIN(cases)
