/* SPDX-License-Identifier: MIT */
/*
 * Children of vfork are known as long as they are in their parent's memory, and waited for.
 *
 * With ThreadSanitizer vfork is fork.
 * configurations: debug-* asan-*
 */
#define _GNU_SOURCE
#include "inject/shared_memory.h"

#include "gait/error.h"
#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct family {
    pid_t parent;
    volatile pid_t child;
};

/* The parent stands still in vfork, so a process of its own is needed. */
static struct family begin(long milliseconds)
{
    const struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    struct family family = {0, 0};
    pid_t child = 0;
    int ends[2];

    CHECK(pipe(ends) == 0);
    family.parent = fork();
    if (family.parent == 0) {
        int status;

        if (vfork() == 0) {
            pid_t self = getpid();

            if (write(ends[1], &self, sizeof(self)) == sizeof(self))
                nanosleep(&pause, NULL);
            execl("/bin/sleep", "sleep", "100", (char *)NULL);
            _exit(9);
        }
        wait(&status);
        _exit(0);
    }
    CHECK(read(ends[0], &child, sizeof(child)) == sizeof(child));
    close(ends[0]);
    close(ends[1]);
    family.child = child;
    return family;
}

static void end(const struct family *family)
{
    kill(family->child, SIGKILL);
    CHECK_EQUAL(waitpid(family->parent, NULL, 0), family->parent);
}

static void children_are_waited_for(void)
{
    struct family family = begin(200);
    struct gait_error err;

    CHECK(shared_memory_has_child(family.parent));
    CHECK(!shared_memory_has_child(getpid()));
    CHECK_EQUAL(shared_memory_wait(family.child, &err), 0);
    CHECK(!shared_memory_has_child(family.parent));
    CHECK_EQUAL(shared_memory_wait(family.child, &err), 0);
    CHECK_EQUAL(shared_memory_wait(family.parent, &err), 0);
    end(&family);
}

static void one_that_stays_is_refused(void)
{
    struct family family = begin(60000);
    struct gait_error err;

    CHECK_EQUAL(shared_memory_wait(family.child, &err), -EBUSY);
    CHECK(strstr(err.text, "vfork") != NULL);
    /* Its parent is not. */
    CHECK_EQUAL(shared_memory_wait(family.parent, &err), 0);
    CHECK(shared_memory_has_child(family.parent));
    end(&family);
}

static void nobody_has_nothing(void)
{
    struct gait_error err;

    CHECK(!shared_memory_has_child(-1));
    CHECK_EQUAL(shared_memory_wait(INT32_MAX, &err), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(children_are_waited_for),
    CHECK_CASE(one_that_stays_is_refused),
    CHECK_CASE(nobody_has_nothing),
};

CHECK_MAIN(cases)
