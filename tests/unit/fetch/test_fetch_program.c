/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "fetch/fetch_program.h"

#include "support/check.h"
#include "support/served_file.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct served_file served;

static void check_found(const char *kind)
{
    char *path = NULL;

    CHECK_EQUAL(fetch_program_run(kind, SERVED_FILE_ID, &path), 0);
    CHECK(path != NULL && served_file_is_at(path));
    free(path);
}

static void what_a_server_has_is_found(void)
{
    check_found("debuginfo");
    check_found("executable");
}

static void what_nobody_has_is_not_found(void)
{
    char *path = NULL;

    CHECK_EQUAL(fetch_program_run("debuginfo", "00112233", &path), -ENOENT);
    CHECK_EQUAL(fetch_program_run("something", SERVED_FILE_ID, &path), -ENOENT);
    CHECK(path == NULL);
}

static size_t count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;

    while (folder != NULL && readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

static void nothing_is_left_behind(void)
{
    size_t before = count_descriptors();
    char *path = NULL;

    check_found("debuginfo");
    CHECK_EQUAL(fetch_program_run("debuginfo", "00112233", &path), -ENOENT);
    CHECK_EQUAL(count_descriptors(), before);
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static void children_may_be_nobodys_business(void)
{
    signal(SIGCHLD, SIG_IGN);
    check_found("debuginfo");
    signal(SIGCHLD, SIG_DFL);
}

/* Runs the check in a child, which may change what is its own. */
static void in_a_child(void (*run)(void))
{
    int status;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        check_failures = 0;
        run();
        fflush(stdout);
        _exit(check_failures == 0 ? 0 : 1);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void find_without_standard_descriptors(void)
{
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    check_found("debuginfo");
}

static void find_with_a_limit_for_files(void)
{
    const struct rlimit limit = {1024, RLIM_INFINITY};

    /* It is for what the program writes as well, so that must be there already. */
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
    check_found("debuginfo");
}

static void it_works_without_standard_descriptors(void)
{
    in_a_child(find_without_standard_descriptors);
}

static void limits_for_files_do_not_matter(void)
{
    check_found("debuginfo");
    in_a_child(find_with_a_limit_for_files);
}

static void fail_without_descriptors(void)
{
    const struct rlimit limit = {3, 3};
    char *path = NULL;

    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK_EQUAL(fetch_program_run("debuginfo", SERVED_FILE_ID, &path), -EMFILE);
}

static void what_keeps_it_from_running_is_told(void)
{
    in_a_child(fail_without_descriptors);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(what_a_server_has_is_found),
        CHECK_CASE(what_nobody_has_is_not_found),
        CHECK_CASE(nothing_is_left_behind),
        CHECK_CASE(children_may_be_nobodys_business),
        CHECK_CASE(it_works_without_standard_descriptors),
        CHECK_CASE(limits_for_files_do_not_matter),
        CHECK_CASE(what_keeps_it_from_running_is_told),
    };
    int status;

    if (!served_file_has_client())
        check_skip("the client library of debuginfod is not installed");
    served_file_init(&served);
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    served_file_deinit(&served);
    return status;
}
