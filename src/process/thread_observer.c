/* SPDX-License-Identifier: MIT */
/* The kernel's line on a thread has all that is asked for: its name, and when it began. */
#include "process/thread_observer.h"

#include "base/descriptor.h"
#include "base/memory_functions.h"
#include "base/raw_syscall.h"
#include "base/text_format.h"
#include "base/text_parse.h"
#include "base/time_counter.h"
#include "process/thread_list.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>

#define LOCK_TIMEOUT_MS 10000u
#define LINE_BYTES      512
/* "tid (name) state" is followed by numbers, of which this one says when it began. */
#define START_TIME_FIELD 20

struct known_thread {
    struct list_node node;
    struct observed_thread thread;
    bool is_seen;
    bool is_over; /* its end was told, though it is there */
};

struct thread_look {
    struct thread_observer *observer;
    uint64_t time;
    int result;
};

/* ---- what the kernel says ---------------------------------------------------------------------------------------- */

static long read_line(int tid, char *line, size_t capacity)
{
    char path[64];
    struct text_writer text;
    long fd, got;

    text_init(&text, path, sizeof(path));
    text_format(&text, "/proc/self/task/%d/stat", tid);
    fd = descriptor_open(path, O_RDONLY);
    if (fd < 0)
        return fd;
    got = raw_syscall(__NR_read, fd, (long)line, (long)capacity, 0, 0, 0);
    (void)raw_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
    return got;
}

/* The number at a field of what is behind the name; its first field is the state. */
static bool parse_field(const char *text, size_t length, unsigned field, uint64_t *value_out)
{
    size_t at = 0, end;

    for (; field > 0 && at < length; at++)
        field -= text[at] == ' ';
    for (end = at; end < length && text[end] >= '0' && text[end] <= '9'; end++)
        continue;
    return text_parse_decimal(text + at, end - at, value_out) == 0;
}

/* A name may have anything in it, also parentheses and spaces; behind it there are none of the former. */
static bool parse_line(const char *line, size_t length, struct observed_thread *thread)
{
    size_t start = 0, end = length, size_bytes;

    while (start < length && line[start] != '(')
        start++;
    while (end > start && line[end - 1] != ')')
        end--;
    if (end <= start + 1 || end + 1 >= length)
        return false;
    size_bytes = end - start - 2 < THREAD_NAME_BYTES - 1 ? end - start - 2 : THREAD_NAME_BYTES - 1;
    memcpy(thread->name, line + start + 1, size_bytes);
    thread->name[size_bytes] = '\0';
    return parse_field(line + end, length - end, START_TIME_FIELD, &thread->start_time);
}

/* False: there is no such thread any more. */
static bool read_thread(int tid, struct observed_thread *thread_out)
{
    char line[LINE_BYTES];
    long length = read_line(tid, line, sizeof(line));

    thread_out->tid = tid;
    return length > 0 && parse_line(line, (size_t)length, thread_out) && thread_exists(tid);
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static struct known_thread *known_of(struct list_node *node)
{
    return LIST_ELEMENT(node, struct known_thread, node);
}

static struct known_thread *find(const struct thread_observer *observer, int tid)
{
    LIST_FOR_EACH (node, &observer->known)
        if (known_of(node)->thread.tid == tid)
            return known_of(node);
    return NULL;
}

static void tell_end(struct thread_look *look, struct known_thread *known)
{
    const struct thread_listener *listener = look->observer->listener;

    if (!known->is_over && listener->ended != NULL)
        listener->ended(listener->context, &known->thread, look->time);
    known->is_over = true;
}

static void remove_thread(struct thread_look *look, struct known_thread *known)
{
    list_remove(&known->node);
    tell_end(look, known);
    pool_free(&look->observer->pool, known);
}

static void add_thread(struct thread_look *look, const struct observed_thread *thread)
{
    const struct thread_listener *listener = look->observer->listener;
    struct known_thread *known = pool_allocate(&look->observer->pool);

    if (known == NULL) {
        look->result = -ENOMEM;
        return;
    }
    *known = (struct known_thread){.thread = *thread, .is_seen = true};
    list_add_last(&look->observer->known, &known->node);
    if (listener->started != NULL)
        listener->started(listener->context, &known->thread, look->time);
}

static bool is_same_name(const char *left, const char *right)
{
    return memcmp(left, right, THREAD_NAME_BYTES) == 0;
}

static void compare_name(struct thread_look *look, struct known_thread *known, const struct observed_thread *thread)
{
    const struct thread_listener *listener = look->observer->listener;
    struct observed_thread before = known->thread;

    if (known->is_over || is_same_name(before.name, thread->name))
        return;
    known->thread = *thread;
    if (listener->renamed != NULL)
        listener->renamed(listener->context, &known->thread, before.name, look->time);
}

static bool look_at(void *context, int tid)
{
    struct thread_look *look = context;
    struct known_thread *known = find(look->observer, tid);
    struct observed_thread thread;
    bool exists;

    memset(&thread, 0, sizeof(thread));
    exists = read_thread(tid, &thread);
    if (known != NULL && (!exists || known->thread.start_time != thread.start_time)) {
        remove_thread(look, known);
        known = NULL;
    }
    if (known != NULL) {
        known->is_seen = true;
        compare_name(look, known, &thread);
    } else if (exists) {
        add_thread(look, &thread);
    }
    return true;
}

static int look_at_all(struct thread_look *look)
{
    int result;

    LIST_FOR_EACH (node, &look->observer->known)
        known_of(node)->is_seen = false;
    result = thread_list_visit(look_at, look);
    if (result != 0)
        return result;
    LIST_FOR_EACH_REMOVABLE (node, &look->observer->known)
        /* One that starts while the list is read may be left out of it. */
        if (!known_of(node)->is_seen && !thread_exists(known_of(node)->thread.tid))
            remove_thread(look, known_of(node));
    return look->result;
}

static int begin_look(struct thread_observer *observer, struct thread_look *look)
{
    int result = owner_lock_acquire(&observer->lock, LOCK_TIMEOUT_MS);

    *look = (struct thread_look){.observer = observer, .time = time_counter()};
    return result;
}

int thread_observer_look(struct thread_observer *observer)
{
    struct thread_look look;
    int result = begin_look(observer, &look);

    if (result != 0)
        return result;
    result = look_at_all(&look);
    owner_lock_release(&observer->lock);
    return result;
}

int thread_observer_look_at(struct thread_observer *observer, int tid)
{
    struct thread_look look;
    int result = begin_look(observer, &look);

    if (result != 0)
        return result;
    (void)look_at(&look, tid);
    owner_lock_release(&observer->lock);
    return look.result;
}

int thread_observer_note_end(struct thread_observer *observer, int tid)
{
    struct thread_look look;
    int result = begin_look(observer, &look);
    struct known_thread *known;

    if (result != 0)
        return result;
    /* It may have got another name since, or not be known at all. */
    (void)look_at(&look, tid);
    known = find(observer, tid);
    if (known != NULL)
        tell_end(&look, known);
    owner_lock_release(&observer->lock);
    return look.result;
}

void thread_observer_init(struct thread_observer *observer, const struct thread_listener *listener)
{
    memset(observer, 0, sizeof(*observer));
    observer->listener = listener;
    list_init(&observer->known);
    (void)!pool_init(&observer->pool, sizeof(struct known_thread));
}

void thread_observer_deinit(struct thread_observer *observer)
{
    pool_deinit(&observer->pool);
    list_init(&observer->known);
}
