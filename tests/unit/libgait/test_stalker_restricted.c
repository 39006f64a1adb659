/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* time limit: 120 s */
/* Following where the system forbids memory that is writable and executable, as SELinux and others do. */
#define _GNU_SOURCE
#include "gait/stalker.h"

#include "support/check.h"
#include "support/followed_call.h"
#include "support/forbid.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED 77
#define THREADS 3

static int compare(const void *a, const void *b)
{
    int left = *(const int *)a, right = *(const int *)b;

    return (left > right) - (left < right);
}

/* Direct and indirect calls, libc, callbacks. Returns whether all is as it should be. */
static bool work(void)
{
    int numbers[1000];

    for (int i = 0; i < 1000; i++)
        numbers[i] = i * 7919 % 1000;
    qsort(numbers, 1000, sizeof(numbers[0]), compare);
    for (int i = 0; i < 1000; i++)
        if (numbers[i] != i)
            return false;
    return true;
}

static void *work_followed(void *stalker)
{
    bool right;

    if (gait_stalker_follow_me(stalker, NULL, NULL) != 0)
        return NULL;
    right = work() && gait_stalker_is_following_me(stalker);
    return gait_stalker_unfollow_me(stalker, NULL) == 0 && right ? stalker : NULL;
}

/* Whether any mapping of ours is both. */
static bool has_writable_and_executable(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    char line[512];
    bool found = false;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        found |= strstr(line, " rwx") != NULL;
    if (file != NULL)
        fclose(file);
    return found;
}

static void follow_all_sorts(struct gait_stalker *stalker)
{
    pthread_t threads[THREADS];
    void *result;
    int status = -1;
    pid_t child;

    CHECK(work_followed(stalker) != NULL);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, work_followed, stalker), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        CHECK(result != NULL);
    }
    CHECK(followed_statistics(stalker).blocks > 10);
    CHECK(!has_writable_and_executable());
    /* A child goes on in code of its own. */
    CHECK_EQUAL(gait_stalker_follow_me(stalker, NULL, NULL), 0);
    child = fork();
    if (child == 0)
        _exit(work() ? 0 : 1);
    waitpid(child, &status, 0);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK_EQUAL(status, 0);
}

static void follow_with(bool write_xor_execute)
{
    struct gait_stalker_options options = {.size_bytes = sizeof(options), .write_xor_execute = write_xor_execute};
    struct gait_stalker *stalker = NULL;
    struct gait_error err = {0};

    CHECK_EQUAL(gait_stalker_create(&options, &stalker, &err), 0);
    CHECK_TEXT(err.text, "");
    if (stalker != NULL)
        follow_all_sorts(stalker);
    gait_stalker_destroy(stalker);
}

static void skip_unless(bool holds)
{
    if (!holds)
        _exit(SKIPPED);
}

/* The rule is a real one: memory of the kind is refused. */
static void forbid_both_at_once(void)
{
    skip_unless(forbid_writable_and_executable());
    CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
}

static void end(void)
{
    fflush(stdout);
    _exit(check_failures == 0 ? 0 : 1);
}

static void follow_where_both_at_once_are_forbidden(void)
{
    forbid_both_at_once();
    follow_with(false);
    follow_with(true);
    end();
}

static void follow_where_execute_cannot_be_gained(void)
{
    skip_unless(forbid_gaining_execute());
    CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    follow_with(false);
    follow_with(true);
    end();
}

static void follow_without_memory_files(void)
{
    struct gait_stalker_options options = {.size_bytes = sizeof(options), .write_xor_execute = true};
    struct gait_stalker *stalker = NULL;
    struct gait_error err = {0};

    forbid_both_at_once();
    skip_unless(forbid_memory_files());
    follow_with(false);
    CHECK_EQUAL(gait_stalker_create(&options, &stalker, &err), -EPERM);
    CHECK(stalker == NULL);
    CHECK(strstr(err.text, "allow memory files (memfd_create)") != NULL);
    end();
}

static void follow_where_nothing_is_allowed(void)
{
    struct gait_stalker *stalker = NULL;
    struct gait_error err = {0};

    skip_unless(forbid_gaining_execute() && forbid_memory_files());
    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, &err), -EACCES);
    CHECK(stalker == NULL);
    CHECK(strstr(err.text, "the system lets no memory be executed that is written") != NULL);
    CHECK_EQUAL(err.code, EACCES);
    end();
}

static void check_in_child(void (*run)(void))
{
    int status = forbid_in_child(run);

    if (status == SKIPPED)
        printf("this system has no such rule\n");
    else
        CHECK_EQUAL(status, 0);
}

static void the_engine_does_without_memory_that_is_both(void)
{
    check_in_child(follow_where_both_at_once_are_forbidden);
}

static void the_engine_does_without_memory_that_becomes_executable(void)
{
    check_in_child(follow_where_execute_cannot_be_gained);
}

static void the_engine_does_without_memory_files(void)
{
    check_in_child(follow_without_memory_files);
}

static void where_nothing_is_allowed_the_error_says_so(void)
{
    check_in_child(follow_where_nothing_is_allowed);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_engine_does_without_memory_that_is_both),
    CHECK_CASE(the_engine_does_without_memory_that_becomes_executable),
    CHECK_CASE(the_engine_does_without_memory_files),
    CHECK_CASE(where_nothing_is_allowed_the_error_says_so),
};

int main(void)
{
    /* Skips where gait cannot follow threads. */
    gait_stalker_destroy(followed_call_stalker());
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
