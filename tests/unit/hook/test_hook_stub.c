/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#include "hook/hook_stub.h"

#include "base/code_writer.h"
#include "support/check.h"
#include "support/hook_lab.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#if defined(__x86_64__)

#define LISTENED (HOOK_STUB_LISTEN | HOOK_STUB_RETURNS)

static int write_parts(unsigned parts)
{
    static uint8_t bytes[2 * HOOK_STUB_BYTES_MAX];
    static struct hook_function function;
    const struct hook_stub_request request = {&function, (uintptr_t)bytes, parts};
    struct hook_stub stub;
    struct code_writer writer;
    int result;

    code_writer_init(&writer, bytes, sizeof(bytes), cache_pc_of((uintptr_t)bytes));
    result = hook_stub_write(&writer, &request, &stub);
    if (result == 0) {
        CHECK(!code_writer_overflowed(&writer));
        CHECK(code_writer_offset(&writer) <= HOOK_STUB_BYTES_MAX);
        CHECK_EQUAL(stub.landing.value != 0, (parts & HOOK_STUB_RETURNS) != 0);
    }
    return result;
}

static void parts_that_do_not_go_together_are_refused(void)
{
    CHECK(hook_stub_is_supported());
    CHECK_EQUAL(write_parts(LISTENED), 0);
    CHECK_EQUAL(write_parts(HOOK_STUB_RECORD | HOOK_STUB_RETURNS), 0);
    CHECK_EQUAL(write_parts(HOOK_STUB_LISTEN), 0);
    CHECK_EQUAL(write_parts(HOOK_STUB_PROBE | HOOK_STUB_LISTEN), 0);
    CHECK_EQUAL(write_parts(HOOK_STUB_REPLACE | HOOK_STUB_RETURNS), 0);
    CHECK_EQUAL(write_parts(HOOK_STUB_PROBE | LISTENED), -EINVAL);
    CHECK_EQUAL(write_parts(HOOK_STUB_PROBE | HOOK_STUB_REPLACE), -EINVAL);
    CHECK_EQUAL(write_parts(HOOK_STUB_REPLACE | HOOK_STUB_LISTEN), -EINVAL);
}

static sem_t is_inside, may_leave;
static int (*hooked)(int);

static int waits(int value)
{
    sem_post(&is_inside);
    sem_wait(&may_leave);
    return value;
}

static void *call_hooked(void *unused)
{
    CHECK_EQUAL(hooked(7), 7);
    return unused;
}

static void who_will_return_into_a_stub_is_known(void)
{
    pthread_t threads[3];
    uint64_t start, end;

    sem_init(&is_inside, 0, 0);
    sem_init(&may_leave, 0, 0);
    hooked = (int (*)(int))hook_lab_hook((void *)waits, 'w', LISTENED);
    start = hook_lab_last()->stub.entry.value;
    end = start + 64;
    CHECK_EQUAL(hook_stub_pending(start, end), 0);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, call_hooked, NULL), 0);
    for (unsigned i = 0; i < 3; i++)
        sem_wait(&is_inside);
    CHECK_EQUAL(hook_stub_pending(start, end), 3);
    CHECK_EQUAL(hook_stub_pending(end, end + 4096), 0);
    for (unsigned i = 0; i < 3; i++)
        sem_post(&may_leave);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    CHECK_EQUAL(hook_stub_pending(start, end), 0);
    CHECK_EQUAL(strlen(hook_lab_told()), 12);
}

#endif

static const struct check_case cases[] = {
#if defined(__x86_64__)
    CHECK_CASE(parts_that_do_not_go_together_are_refused),
    CHECK_CASE(who_will_return_into_a_stub_is_known),
#endif
};

int main(void)
{
#if defined(__x86_64__)
    hook_lab_begin();
#endif
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
