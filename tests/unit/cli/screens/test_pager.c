/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/screens/pager.h"

#include "support/check.h"

#include <fcntl.h>
#include <unistd.h>

static char folder[] = "/tmp/gait_pager_XXXXXX";
static char path[64];
static char command[128];

static void make_folder(void)
{
    if (folder[sizeof(folder) - 2] == 'X' && mkdtemp(folder) == NULL)
        check_skip("there is no place for files");
    snprintf(path, sizeof(path), "%s/paged", folder);
}

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

static const char *paged(void)
{
    static char text[256];
    FILE *file = fopen(path, "r");
    size_t length = file == NULL ? 0 : fread(text, 1, sizeof(text) - 1, file);

    if (file != NULL)
        fclose(file);
    text[length] = '\0';
    return text;
}

/* A terminal that nobody looks at. */
static FILE *open_terminal(int *master_out)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), slave = -1;

    if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0)
        slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    if (slave < 0)
        check_skip("there are no terminals");
    *master_out = master;
    return fdopen(slave, "w");
}

static void on_a_terminal_output_goes_through_the_pager(void)
{
    int master;
    FILE *terminal = open_terminal(&master);
    struct screen screen = {.stream = terminal, .width = 80};
    struct pager pager;

    make_folder();
    snprintf(command, sizeof(command), "sed 's/^/> /' >%s", path);
    setenv("PAGER", command, 1);
    pager_begin(&pager, &screen, true);
    CHECK(screen.stream != terminal);
    screen_print(&screen, "one\ntwo\n");
    CHECK(pager_is_read(&pager));
    CHECK_EQUAL(pager_end(&pager), 0);
    CHECK(screen.stream == terminal);
    CHECK_TEXT(paged(), "> one\n> two\n");
    fclose(terminal);
    close(master);
    remove_folder();
}

static void a_pager_that_was_left_is_no_failure(void)
{
    int master;
    FILE *terminal = open_terminal(&master);
    struct screen screen = {.stream = terminal, .width = 80};
    struct pager pager;
    unsigned lines = 0;

    setenv("PAGER", "true", 1);
    pager_begin(&pager, &screen, true);
    while (pager_is_read(&pager) && lines++ < 1000000)
        screen_print(&screen, "one line of many\n");
    CHECK(lines < 1000000);
    CHECK_EQUAL(pager_end(&pager), 0);
    fclose(terminal);
    close(master);
}

static void who_wants_none_gets_none(void)
{
    static const char *const commands[] = {"", "cat", "false"};
    int master;
    FILE *terminal = open_terminal(&master);
    struct screen screen = {.stream = terminal, .width = 80};
    struct pager pager;

    for (size_t i = 0; i < 3; i++) {
        setenv("PAGER", commands[i], 1);
        pager_begin(&pager, &screen, i < 2);
        CHECK(screen.stream == terminal);
        CHECK_EQUAL(pager_end(&pager), 0);
    }
    fclose(terminal);
    close(master);
}

static void a_closed_pipe_ends_it_quietly(void)
{
    int ends[2];
    struct screen screen = {.width = 80};
    struct pager pager;
    unsigned lines = 0;

    CHECK_EQUAL(pipe(ends), 0);
    screen.stream = fdopen(ends[1], "w");
    pager_begin(&pager, &screen, true);
    close(ends[0]);
    while (pager_is_read(&pager) && lines++ < 1000000)
        screen_print(&screen, "one line of many\n");
    CHECK(lines < 1000000);
    CHECK_EQUAL(pager_end(&pager), 141);
    fclose(screen.stream);
}

/* Of that, somebody else complains. */
static void a_full_disk_is_another_thing(void)
{
    struct screen screen = {.stream = fopen("/dev/full", "w"), .width = 80};
    struct pager pager;

    if (screen.stream == NULL)
        check_skip("there is no /dev/full");
    pager_begin(&pager, &screen, true);
    for (unsigned i = 0; i < 1000; i++)
        screen_print(&screen, "one line of many\n");
    CHECK(!pager_is_read(&pager));
    CHECK_EQUAL(pager_end(&pager), 0);
    fclose(screen.stream);
}

static void an_interrupt_ends_it_quietly(void)
{
    struct screen screen = {.stream = fopen("/dev/null", "w"), .width = 80};
    struct sigaction action;
    struct pager pager;

    pager_begin(&pager, &screen, true);
    CHECK(pager_is_read(&pager));
    raise(SIGINT);
    CHECK(!pager_is_read(&pager));
    CHECK_EQUAL(pager_end(&pager), 130);
    sigaction(SIGINT, NULL, &action);
    CHECK(action.sa_handler == SIG_DFL);
    fclose(screen.stream);
}

static const struct check_case cases[] = {
    CHECK_CASE(on_a_terminal_output_goes_through_the_pager),
    CHECK_CASE(a_pager_that_was_left_is_no_failure),
    CHECK_CASE(who_wants_none_gets_none),
    CHECK_CASE(a_closed_pipe_ends_it_quietly),
    CHECK_CASE(a_full_disk_is_another_thing),
    CHECK_CASE(an_interrupt_ends_it_quietly),
};

CHECK_MAIN(cases)
