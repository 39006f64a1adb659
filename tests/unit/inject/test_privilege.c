/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inject/privilege.h"

#include "support/check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/gait-test-XXXXXX";

static void make_file(const char *name, const char *text, mode_t mode)
{
    char path[128];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    CHECK(fd != -1);
    CHECK_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    CHECK_EQUAL(chmod(path, mode), 0);
}

/* Whether this process, in that folder, would gain some by a path. */
static bool would_gain(const char *path)
{
    const struct tracee self = {.pid = getpid(), .tid = getpid()};
    const struct tracee_call call = {.number = SYS_execve, .arguments = {(uintptr_t)path}};

    return privilege_would_be_gained(&self, &call);
}

static bool would_gain_at(int fd, const char *path)
{
    const struct tracee self = {.pid = getpid(), .tid = getpid()};
    const struct tracee_call call = {.number = SYS_execveat, .arguments = {(uint64_t)fd, (uintptr_t)path}};

    return privilege_would_be_gained(&self, &call);
}

/* Files of another user and group. Only root makes such. */
static void give_away(const char *name, mode_t mode)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    CHECK_EQUAL(chown(path, 65534, 65534), 0);
    CHECK_EQUAL(chmod(path, mode), 0);
}

static void remove_folder(void)
{
    char command[64];

    CHECK_EQUAL(chdir("/"), 0);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    CHECK_EQUAL(system(command), 0);
}

static void ids_that_one_has_are_no_gain(void)
{
    strcpy(folder, "/tmp/gait-test-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    CHECK_EQUAL(chdir(folder), 0);
    make_file("setuid", "\177ELF", 04755);
    make_file("setgid", "\177ELF", 02755);
    CHECK(!would_gain("setuid"));
    CHECK(!would_gain("setgid"));
    if (geteuid() == 0) {
        give_away("setuid", 04755);
        give_away("setgid", 02755);
        CHECK(would_gain("setuid"));
        CHECK(would_gain("setgid"));
    }
    remove_folder();
}

static void what_a_file_gives_is_known(void)
{
    char script[256];
    int fd;

    if (geteuid() != 0)
        return;
    strcpy(folder, "/tmp/gait-test-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    CHECK_EQUAL(chdir(folder), 0);
    make_file("plain", "\177ELF", 0755);
    make_file("setuid", "\177ELF", 04755);
    make_file("setgid", "\177ELF", 02755);
    make_file("mail", "\177ELF", 02745);
    snprintf(script, sizeof(script), "#! %s/setuid -x\necho", folder);
    make_file("script", script, 0755);
    make_file("near", "#!./plain\n", 0755);
    make_file("round", "#!./round\n", 0755);
    give_away("setuid", 04755);
    give_away("setgid", 02755);
    give_away("mail", 02745);
    CHECK(!would_gain("/bin/sh"));
    CHECK(!would_gain("plain"));
    CHECK(!would_gain("near"));
    CHECK(would_gain("setuid"));
    CHECK(would_gain("setgid"));
    CHECK(!would_gain("mail"));
    CHECK(would_gain("script"));
    CHECK(would_gain("round"));
    CHECK(!would_gain("nothing"));
    CHECK(!would_gain("/nothing/here"));
    CHECK(would_gain((const char *)16));
    fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(!would_gain_at(fd, "plain"));
    CHECK(would_gain_at(fd, "setuid"));
    CHECK(!would_gain_at(AT_FDCWD, "plain"));
    close(fd);
    fd = open("setuid", O_RDONLY | O_CLOEXEC);
    CHECK(would_gain_at(fd, ""));
    close(fd);
    remove_folder();
}

static void ordinary_programs_gained_none(void)
{
    CHECK(!privilege_was_gained(getpid()));
    CHECK(privilege_was_gained(0));
}

static void root_may_trace_all(void)
{
    pid_t child;
    int status = -1;

    if (geteuid() != 0)
        return;
    child = fork();
    if (child == 0)
        _exit(setuid(65534) == 0 && !privilege_survives_tracing() ? 0 : 1);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(ids_that_one_has_are_no_gain),
    CHECK_CASE(what_a_file_gives_is_known),
    CHECK_CASE(ordinary_programs_gained_none),
    CHECK_CASE(root_may_trace_all),
};

CHECK_MAIN(cases)
