/* SPDX-License-Identifier: MIT */
#include "base/assert.h"

#include "support/check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *handled_text;
static int handled_line;

static void remember(const char *text, const char *file, int line)
{
    CHECK(strstr(file, "test_assert.c") != NULL);
    handled_text = text;
    handled_line = line;
}

static void the_default_says_what_and_where_and_traps(void)
{
    int ends[2], status = 0;
    char said[256] = "";
    pid_t child;

    CHECK_EQUAL(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        /* Whatever a sanitizer does with the trap's signal, it is not our text. */
        signal(SIGILL, SIG_DFL);
        signal(SIGTRAP, SIG_DFL);
        dup2(ends[1], 2);
        assert_failed("the pot is empty", "kitchen.c", 42);
        _exit(0);
    }
    close(ends[1]);
    CHECK(read(ends[0], said, sizeof(said) - 1) > 0);
    close(ends[0]);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status) && (WTERMSIG(status) == SIGILL || WTERMSIG(status) == SIGTRAP));
    CHECK_TEXT(said, "gait: internal error: the pot is empty (kitchen.c:42)\n");
}

static void a_handler_gets_the_failure_and_may_return(void)
{
    assert_handler_set(remember);
    assert_failed("text", "test_assert.c", 7);
    CHECK_TEXT(handled_text, "text");
    CHECK_EQUAL(handled_line, 7);
    assert_handler_set(NULL);
}

static void a_true_condition_is_silent(void)
{
    handled_text = NULL;
    assert_handler_set(remember);
    ASSERT(1 + 1 == 2, "arithmetic");
    assert_handler_set(NULL);
    CHECK(handled_text == NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_default_says_what_and_where_and_traps),
    CHECK_CASE(a_handler_gets_the_failure_and_may_return),
    CHECK_CASE(a_true_condition_is_silent),
};

CHECK_MAIN(cases)
