/* SPDX-License-Identifier: MIT */
#include "libgait/observer_list.h"

#include "support/check.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

struct observer {
    struct observer_entry entry;
    const char *listener;
    unsigned begun, ended, children, used;
};

static struct gait_error error;

static void begin(struct observer_entry *entry, const void *listener)
{
    struct observer *observer = (struct observer *)entry;

    observer->listener = listener;
    observer->begun++;
}

static void end(struct observer_entry *entry)
{
    ((struct observer *)entry)->ended++;
}

static void begin_in_child(struct observer_entry *entry)
{
    ((struct observer *)entry)->children++;
}

static struct observer_list first = {"things", "",   sizeof(struct observer), begin, end, begin_in_child, NULL,
                                     NULL,     false};
static struct observer_list second = {"others", "/there: ", sizeof(struct observer), begin, end, begin_in_child, NULL,
                                      NULL,     false};

static struct observer *taken(struct observer_list *list, const char *listener)
{
    struct observer_entry *entry = NULL;

    CHECK_EQUAL(observer_list_take(list, listener, &entry, &error), 0);
    return (struct observer *)entry;
}

static int use(struct observer_entry *entry, int argument)
{
    ((struct observer *)entry)->used += (unsigned)argument;
    return argument == 7 ? -EIO : 0;
}

static int use_within(struct observer_entry *entry, int argument)
{
    CHECK_EQUAL(observer_list_look(&first, entry, use, argument, &error), -EDEADLK);
    return 0;
}

static void observers_are_used_again_and_never_freed(void)
{
    struct observer *one = taken(&first, "one"), *two = taken(&first, "two");

    CHECK(one != two);
    CHECK_TEXT(one->listener, "one");
    observer_list_give_back(&first, &one->entry);
    CHECK_EQUAL(one->ended, 1);
    CHECK(taken(&first, "three") == one);
    CHECK_EQUAL(one->begun, 2);
    CHECK_TEXT(one->listener, "three");
    CHECK_TEXT(two->listener, "two");
    observer_list_give_back(&first, &one->entry);
    observer_list_give_back(&first, &two->entry);
}

static void who_comes_too_late_is_not_served(void)
{
    struct observer *observer = taken(&first, "");

    observer->used = 0;
    CHECK_EQUAL(observer_entry_use(&observer->entry, use, 3), 0);
    CHECK_EQUAL(observer->used, 3);
    observer_list_give_back(&first, &observer->entry);
    CHECK_EQUAL(observer_entry_use(&observer->entry, use, 3), 0);
    CHECK_EQUAL(observer->used, 3);
}

static void errors_say_what_was_looked_at(void)
{
    struct observer *observer = taken(&second, "");

    CHECK_EQUAL(observer_list_look(&second, NULL, use, 1, &error), -EINVAL);
    CHECK_TEXT(error.text, "cannot look at others: there is no observer");
    CHECK_EQUAL(observer_list_look(&second, &observer->entry, use, 7, &error), -EIO);
    CHECK_TEXT(error.text, "cannot look at others: /there: Input/output error");
    CHECK_EQUAL(observer_list_look(&second, &observer->entry, use, 1, &error), 0);
    CHECK_EQUAL(observer_list_look(&first, &observer->entry, use_within, 1, &error), 0);
    CHECK_TEXT(error.text, "cannot look at things: a listener of the same observer is being called");
    observer_list_give_back(&second, &observer->entry);
}

/* In the middle of a use. */
static int fork_within(struct observer_entry *entry, int argument)
{
    int status = -1;
    pid_t child = fork();

    (void)argument;
    if (child == 0) {
        struct observer *observer = (struct observer *)entry, *other = taken(&second, "child");

        _exit(observer->children == 1 && other->begun != 0 && observer_entry_use(entry, use, 1) == 0 ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

static void children_have_observers_whose_locks_are_free(void)
{
    struct observer *observer = taken(&first, "");

    observer->children = 0;
    CHECK_EQUAL(observer_entry_use(&observer->entry, fork_within, 0), 0);
    CHECK_EQUAL(observer->children, 0);
    observer_list_give_back(&first, &observer->entry);
}

static const struct check_case cases[] = {
    CHECK_CASE(observers_are_used_again_and_never_freed),
    CHECK_CASE(who_comes_too_late_is_not_served),
    CHECK_CASE(errors_say_what_was_looked_at),
    CHECK_CASE(children_have_observers_whose_locks_are_free),
};

CHECK_MAIN(cases)
