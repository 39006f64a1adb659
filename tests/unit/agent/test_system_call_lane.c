/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "agent/system_call_lane.h"

#include "agent/detail_lane.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"
#include "support/guarded_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define STRING_BYTES 16

static struct detail_lane lane;
static struct guarded_bytes guarded;
static const struct detail_record *told;
static unsigned next_value;

static void begin(void)
{
    static const _Atomic uint32_t never;
    const struct detail_owner owner = {.tid = 77, .give_up = &never};

    agent_lab_begin(1 << 16, RING_DROP);
    CHECK(detail_lane_open(&lane, agent_lab.ring, &owner));
    system_call_lane_begin(STRING_BYTES);
    guarded_bytes_init(&guarded);
}

static void take(enum detail_record_kind kind)
{
    unsigned count = agent_lab_take();

    told = agent_lab_record(count - 1, kind);
    next_value = 0;
}

static void put(long number, int64_t result, const uint64_t arguments[6])
{
    system_call_lane_put(
        &lane,
        &(struct told_system_call){
            .number = (uint64_t)number, .arguments = arguments, .result = result, .entered_time = 5, .sp = 0x7000});
    take(DETAIL_SYSTEM_CALL);
}

#define ARGUMENTS(...)                                                                                                 \
    (const uint64_t[6])                                                                                                \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define POINTER(pointer) ((uint64_t)(uintptr_t)(pointer))

/* The next piece of memory is of that address, and is this. */
static void check_piece(const void *address, enum detail_type type, unsigned flags, const void *bytes, size_t size)
{
    struct detail_value value = {0};
    const uint8_t *data = NULL;
    uint64_t found = 0;

    CHECK(agent_lab_value(told, next_value++, &value, &data) && value.type == DETAIL_TYPE_POINTER);
    if (value.data_bytes == sizeof(found))
        memcpy(&found, data, sizeof(found));
    CHECK_EQUAL(found, (uintptr_t)address);
    CHECK(agent_lab_value(told, next_value++, &value, &data));
    CHECK_EQUAL(value.type, type);
    CHECK_EQUAL(value.flags, flags);
    CHECK_EQUAL(value.data_bytes, size);
    CHECK(value.data_bytes == size && memcmp(data, bytes, size) == 0);
}

static void check_end(void)
{
    struct detail_value value;
    const uint8_t *data;

    /* What is left may be room that was taken and given back as values that are passed over. */
    CHECK(!agent_lab_value(told, next_value, &value, &data));
}

static void numbers_and_results_are_as_they_were(void)
{
    const struct detail_system_call *call;

    begin();
    put(SYS_getppid, 4711, ARGUMENTS(1, 2, 3, 4, 5, 6));
    call = (const struct detail_system_call *)(const void *)told;
    CHECK_EQUAL(told->function, SYS_getppid);
    CHECK_EQUAL(told->sp, 0x7000);
    CHECK_EQUAL(call->entered_time, 5);
    CHECK(told->time > 5);
    CHECK_EQUAL(call->result, 4711);
    CHECK_EQUAL(call->arguments[5], 6);
    CHECK_EQUAL(call->values_bytes, 0);
    CHECK_EQUAL(told->size_bytes, sizeof(*call));
    /* Of a number that is not known, nothing else is. */
    put(100000, -ENOSYS, ARGUMENTS(POINTER("text")));
    CHECK_EQUAL(((const struct detail_system_call *)(const void *)told)->result, -ENOSYS);
    check_end();
}

static void paths_are_kept_whole(void)
{
    char path[301];

    begin();
    memset(path, 'p', sizeof(path));
    path[300] = '\0';
    put(SYS_openat, -ENOENT, ARGUMENTS((uint64_t)AT_FDCWD, POINTER(path), O_RDONLY));
    check_piece(path, DETAIL_TYPE_STRING, 0, path, 300);
    check_end();
}

static void what_is_written_is_clipped(void)
{
    static const char text[] = "0123456789abcdefghij";

    begin();
    put(SYS_write, 20, ARGUMENTS(1, POINTER(text), 20));
    check_piece(text, DETAIL_TYPE_BUFFER, DETAIL_VALUE_CLIPPED, text, STRING_BYTES);
    put(SYS_write, 5, ARGUMENTS(1, POINTER(text), 5));
    check_piece(text, DETAIL_TYPE_BUFFER, 0, text, 5);
    check_end();
}

static void of_what_is_read_there_is_as_much_as_came(void)
{
    static const char buffer[64] = "came";

    begin();
    put(SYS_read, 4, ARGUMENTS(0, POINTER(buffer), 64));
    check_piece(buffer, DETAIL_TYPE_BUFFER, 0, "came", 4);
    check_end();
    put(SYS_read, -EAGAIN, ARGUMENTS(0, POINTER(buffer), 64));
    check_end();
}

static void memory_that_cannot_be_read_is_told_by_its_address(void)
{
    const uint8_t *last;

    begin();
    put(SYS_write, -EFAULT, ARGUMENTS(1, 16, 5));
    check_piece((const void *)16, DETAIL_TYPE_BUFFER, DETAIL_VALUE_UNREADABLE, "", 0);
    put(SYS_unlink, -EFAULT, ARGUMENTS(POINTER(guarded.end)));
    check_piece(guarded.end, DETAIL_TYPE_STRING, DETAIL_VALUE_UNREADABLE, "", 0);
    put(SYS_unlink, -EFAULT, ARGUMENTS(UINT64_MAX));
    check_piece((const void *)UINT64_MAX, DETAIL_TYPE_STRING, DETAIL_VALUE_UNREADABLE, "", 0);
    /* As much as there is. */
    last = guarded_bytes_put(&guarded, (const uint8_t *)"last", 4);
    put(SYS_write, -EFAULT, ARGUMENTS(1, POINTER(last), 10));
    check_piece(last, DETAIL_TYPE_BUFFER, DETAIL_VALUE_CLIPPED, "last", 4);
    put(SYS_unlink, -EFAULT, ARGUMENTS(POINTER(last)));
    check_piece(last, DETAIL_TYPE_STRING, DETAIL_VALUE_CLIPPED, "last", 4);
    last = guarded_bytes_put(&guarded, (const uint8_t *)"end", 4);
    put(SYS_unlink, 0, ARGUMENTS(POINTER(last)));
    check_piece(last, DETAIL_TYPE_STRING, 0, "end", 3);
    put(SYS_unlink, -EFAULT, ARGUMENTS(0));
    check_end();
}

static void vectors_are_told_with_what_was_moved(void)
{
    struct iovec parts[] = {{(void *)"one", 3}, {(void *)"two", 3}, {(void *)"three", 5}};

    begin();
    put(SYS_writev, 5, ARGUMENTS(1, POINTER(parts), 3));
    check_piece(parts, DETAIL_TYPE_BUFFER, 0, parts, sizeof(parts));
    check_piece("one", DETAIL_TYPE_BUFFER, 0, "one", 3);
    check_piece("two", DETAIL_TYPE_BUFFER, 0, "tw", 2);
    check_end();
    /* Nobody knows how many there really are. */
    put(SYS_writev, -EINVAL, ARGUMENTS(1, POINTER(parts), UINT64_MAX));
    CHECK_EQUAL(agent_lab.bad_bytes, 0);
}

static void of_many_vectors_only_the_first_are_told(void)
{
    static struct iovec parts[40];

    begin();
    for (unsigned i = 0; i < 40; i++)
        parts[i] = (struct iovec){(void *)"part", 4};
    put(SYS_writev, 160, ARGUMENTS(1, POINTER(parts), 40));
    check_piece(parts, DETAIL_TYPE_BUFFER, DETAIL_VALUE_CLIPPED, parts, 16 * sizeof(parts[0]));
    for (unsigned i = 0; i < 16; i++)
        check_piece(parts[i].iov_base, DETAIL_TYPE_BUFFER, 0, "part", 4);
    check_end();
}

static void messages_are_told_with_their_parts(void)
{
    struct iovec part = {(void *)"body", 4};
    struct msghdr message = {
        .msg_name = (void *)"name", .msg_namelen = 4, .msg_iov = &part, .msg_iovlen = 1, .msg_control = NULL};

    begin();
    put(SYS_sendmsg, 4, ARGUMENTS(3, POINTER(&message)));
    check_piece(&message, DETAIL_TYPE_BUFFER, 0, &message, sizeof(message));
    check_piece("name", DETAIL_TYPE_BUFFER, 0, "name", 4);
    check_piece(&part, DETAIL_TYPE_BUFFER, 0, &part, sizeof(part));
    check_piece("body", DETAIL_TYPE_BUFFER, 0, "body", 4);
    check_end();
}

static void structs_are_told_when_the_kernel_has_filled_them(void)
{
    struct stat status = {.st_size = 4711};

    begin();
    put(SYS_fstat, 0, ARGUMENTS(3, POINTER(&status)));
    check_piece(&status, DETAIL_TYPE_BUFFER, 0, &status, sizeof(status));
    check_end();
    put(SYS_fstat, -EBADF, ARGUMENTS(3, POINTER(&status)));
    check_end();
}

static void arguments_of_programs_are_told_before_it_is_executed(void)
{
    char long_text[] = "0123456789abcdefghij";
    char *const arguments[] = {"ls", long_text, NULL};
    char *const environment[] = {"A=1", NULL};
    const uint64_t words[6] = {POINTER("/bin/ls"), POINTER(arguments), POINTER(environment)};
    const struct detail_system_call_enter *call;

    begin();
    system_call_lane_put_enter(&lane, &(struct told_system_call){.number = SYS_execve,
                                                                 .arguments = words,
                                                                 .entered_time = 99,
                                                                 .flags = DETAIL_SYSTEM_CALL_RESTARTED});
    take(DETAIL_SYSTEM_CALL_ENTER);
    call = (const struct detail_system_call_enter *)(const void *)told;
    CHECK_EQUAL(told->time, 99);
    CHECK_EQUAL(call->flags, DETAIL_SYSTEM_CALL_RESTARTED);
    check_piece((const void *)(uintptr_t)words[0], DETAIL_TYPE_STRING, 0, "/bin/ls", 7);
    check_piece(arguments, DETAIL_TYPE_BUFFER, 0, arguments, sizeof(arguments));
    check_piece(arguments[0], DETAIL_TYPE_STRING, 0, "ls", 2);
    check_piece(long_text, DETAIL_TYPE_STRING, DETAIL_VALUE_CLIPPED, long_text, STRING_BYTES + 1);
    check_piece(environment, DETAIL_TYPE_BUFFER, 0, environment, sizeof(environment));
    check_end();
}

static void a_list_without_an_end_is_cut_off(void)
{
    static uint64_t endless[1024];
    const uint64_t words[6] = {POINTER("/bin/ls"), POINTER(endless), 16};

    begin();
    for (unsigned i = 0; i < 1024; i++)
        endless[i] = POINTER("argument");
    system_call_lane_put_enter(&lane, &(struct told_system_call){.number = SYS_execve, .arguments = words});
    take(DETAIL_SYSTEM_CALL_ENTER);
    CHECK(told->size_bytes <= DETAIL_RECORD_BYTES_MAX);
    CHECK_EQUAL(agent_lab.bad_bytes, 0);
}

static void calls_that_never_return_have_the_time_when_they_were_made(void)
{
    const struct detail_system_call *call;

    begin();
    system_call_lane_put(&lane, &(struct told_system_call){.number = SYS_exit_group,
                                                           .arguments = ARGUMENTS(3),
                                                           .result = -77,
                                                           .entered_time = 1234,
                                                           .flags = DETAIL_SYSTEM_CALL_NEVER_RETURNED});
    take(DETAIL_SYSTEM_CALL);
    call = (const struct detail_system_call *)(const void *)told;
    CHECK_EQUAL(told->time, 1234);
    CHECK_EQUAL(call->flags, DETAIL_SYSTEM_CALL_NEVER_RETURNED);
    CHECK_EQUAL(call->result, 0);
}

static void who_made_a_call_comes_first(void)
{
    const uint64_t frames[] = {0x401000, 0x402000};
    const struct told_system_call call = {
        .number = SYS_unlink, .arguments = ARGUMENTS(POINTER("file")), .frame_count = 2, .frames = frames};

    begin();
    system_call_lane_put(&lane, &call);
    take(DETAIL_SYSTEM_CALL);
    check_piece((const void *)(uintptr_t)DETAIL_SYSTEM_CALL_STACK_AT, DETAIL_TYPE_BUFFER, 0, frames, sizeof(frames));
    check_piece((const void *)(uintptr_t)call.arguments[0], DETAIL_TYPE_STRING, 0, "file", 4);
    check_end();
}

static void a_full_ring_loses_calls_and_counts_them(void)
{
    const uint64_t words[6] = {POINTER("/some/file")};
    struct ring_losses losses;

    begin();
    for (unsigned i = 0; i < 10000; i++)
        system_call_lane_put(&lane, &(struct told_system_call){.number = SYS_unlink, .arguments = words});
    agent_lab_take();
    detail_lane_close(&lane);
    agent_lab_take();
    ring_reader_losses(agent_lab.reader, &losses);
    CHECK(losses.late_bytes != 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(numbers_and_results_are_as_they_were),
    CHECK_CASE(paths_are_kept_whole),
    CHECK_CASE(what_is_written_is_clipped),
    CHECK_CASE(of_what_is_read_there_is_as_much_as_came),
    CHECK_CASE(memory_that_cannot_be_read_is_told_by_its_address),
    CHECK_CASE(vectors_are_told_with_what_was_moved),
    CHECK_CASE(of_many_vectors_only_the_first_are_told),
    CHECK_CASE(messages_are_told_with_their_parts),
    CHECK_CASE(structs_are_told_when_the_kernel_has_filled_them),
    CHECK_CASE(arguments_of_programs_are_told_before_it_is_executed),
    CHECK_CASE(a_list_without_an_end_is_cut_off),
    CHECK_CASE(calls_that_never_return_have_the_time_when_they_were_made),
    CHECK_CASE(who_made_a_call_comes_first),
    CHECK_CASE(a_full_ring_loses_calls_and_counts_them),
};

CHECK_APART_MAIN(cases)
