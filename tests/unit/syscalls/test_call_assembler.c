/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/call_assembler.h"

#include "ring/detail_value.h"
#include "support/check.h"
#include "syscalls/system_call_set.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define PLACE 0x1000

static struct {
    enum system_call_event_kind kinds[16];
    struct system_call_event last;
    char memory[16]; /* what was at PLACE */
    size_t memory_bytes;
    unsigned count;
} heard;

static struct system_call_set all;
static struct call_assembler assembler;

static void hear(void *context, const struct system_call_event *event)
{
    (void)context;
    if (heard.count < 16)
        heard.kinds[heard.count++] = event->kind;
    heard.last = *event;
    heard.memory_bytes = event->memory == NULL
                             ? 0
                             : event->memory->read(event->memory->context, PLACE, heard.memory, sizeof(heard.memory));
}

static const struct system_call_request request = {.set = &all, .hear = hear};

static void begin(int hidden)
{
    memset(&heard, 0, sizeof(heard));
    system_call_set_fill(&all);
    call_assembler_init(&assembler, &request, hidden);
}

/* With a piece of memory at PLACE, if there is one. */
static void take(struct call_program_record record, const char *memory)
{
    struct {
        struct call_program_record record;
        uint8_t values[64];
    } whole = {.record = record};
    struct detail_value_writer writer;
    uint64_t place = PLACE;

    detail_value_writer_init(&writer, whole.values, sizeof(whole.values), 0);
    if (memory != NULL) {
        detail_value_put(&writer, (struct detail_value){.type = DETAIL_TYPE_POINTER, .data_bytes = 8}, &place);
        detail_value_put(
            &writer, (struct detail_value){.type = DETAIL_TYPE_BUFFER, .data_bytes = (uint16_t)strlen(memory)}, memory);
    }
    whole.record.values_bytes = writer.used;
    call_assembler_take(&assembler, &whole.record);
}

static struct call_program_record record_of(unsigned short kind, unsigned tid, uint64_t number, uint64_t word)
{
    return (struct call_program_record){
        .kind = kind, .pid = 7, .tid = tid, .number = number, .time_ns = 1000, .words = {word}};
}

static void both_halves_of_a_call_are_told(void)
{
    struct call_program_record end = record_of(CALL_RECORD_LEAVE, 7, SYS_read, 3);

    begin(0);
    take(record_of(CALL_RECORD_ENTER, 7, SYS_read, 5), NULL);
    CHECK_EQUAL(heard.count, 1);
    CHECK_EQUAL(heard.kinds[0], SYSTEM_CALL_ENTERED);
    CHECK_EQUAL(heard.last.arguments[0], 5);
    end.time_ns = 3000;
    take(end, "abc");
    CHECK_EQUAL(heard.count, 2);
    CHECK_EQUAL(heard.kinds[1], SYSTEM_CALL_LEFT);
    CHECK_EQUAL(heard.last.result, 3);
    CHECK_EQUAL(heard.last.system_ns, 2000);
    CHECK_EQUAL(heard.last.arguments[0], 5);
    CHECK_EQUAL(heard.memory_bytes, 3);
    CHECK_EQUAL(memcmp(heard.memory, "abc", 3), 0);
    call_assembler_deinit(&assembler);
}

static void memory_that_was_missing_is_waited_for(void)
{
    struct call_program_record start = record_of(CALL_RECORD_ENTER, 7, SYS_openat, 1);

    begin(0);
    start.flags = CALL_RECORD_MISSES;
    take(start, NULL);
    CHECK_EQUAL(heard.count, 0);
    take(record_of(CALL_RECORD_LEAVE, 7, SYS_openat, 4), "path");
    CHECK_EQUAL(heard.count, 2);
    CHECK_EQUAL(heard.kinds[0], SYSTEM_CALL_ENTERED);
    CHECK_EQUAL(heard.memory_bytes, 4);
    call_assembler_deinit(&assembler);
}

static void what_was_passed_is_known_when_it_ends(void)
{
    begin(0);
    take(record_of(CALL_RECORD_ENTER, 7, SYS_write, 1), "xyz");
    take(record_of(CALL_RECORD_LEAVE, 7, SYS_write, 3), NULL);
    CHECK_EQUAL(heard.kinds[1], SYSTEM_CALL_LEFT);
    CHECK_EQUAL(heard.memory_bytes, 3);
    call_assembler_deinit(&assembler);
}

static void ends_without_a_beginning_are_nothing(void)
{
    begin(0);
    take(record_of(CALL_RECORD_LEAVE, 7, SYS_read, 3), NULL);
    CHECK_EQUAL(heard.count, 0);
    call_assembler_deinit(&assembler);
}

static void a_child_of_ours_is_hidden_until_it_executes(void)
{
    begin(7);
    take(record_of(CALL_RECORD_ENTER, 7, SYS_read, 5), NULL);
    take(record_of(CALL_RECORD_LEAVE, 7, SYS_read, 5), NULL);
    CHECK_EQUAL(heard.count, 0);
    take(record_of(CALL_RECORD_ENTER, 7, SYS_execve, 5), NULL);
    CHECK_EQUAL(heard.count, 1);
    call_assembler_deinit(&assembler);
}

static void a_call_that_is_not_in_the_set_is_not_told(void)
{
    begin(7);
    memset(&all, 0, sizeof(all));
    take(record_of(CALL_RECORD_ENTER, 7, SYS_execve, 5), NULL);
    take(record_of(CALL_RECORD_LEAVE, 7, SYS_execve, 0), NULL);
    CHECK_EQUAL(heard.count, 0);
    call_assembler_deinit(&assembler);
}

static void the_end_of_a_thread_ends_its_call(void)
{
    begin(0);
    take(record_of(CALL_RECORD_ENTER, 7, SYS_pause, 0), NULL);
    take(record_of(CALL_RECORD_END, 7, 0, SIGTERM), NULL);
    CHECK_EQUAL(heard.count, 3);
    CHECK_EQUAL(heard.kinds[1], SYSTEM_CALL_LEFT);
    CHECK_EQUAL(heard.kinds[2], SYSTEM_CALL_EXITED);
    CHECK_EQUAL(WIFSIGNALED(heard.last.status) && WTERMSIG(heard.last.status) == SIGTERM, 1);
    call_assembler_deinit(&assembler);
}

static void a_status_that_nobody_knows_is_found_by_the_call(void)
{
    struct call_program_record end = record_of(CALL_RECORD_END, 7, 0, 0);

    end.flags = CALL_RECORD_NO_STATUS;
    begin(0);
    take(record_of(CALL_RECORD_ENTER, 7, SYS_exit_group, 3), NULL);
    take(end, NULL);
    CHECK_EQUAL(heard.kinds[2], SYSTEM_CALL_EXITED);
    CHECK_EQUAL(WEXITSTATUS(heard.last.status), 3);
    end.tid = 8;
    take(end, NULL);
    CHECK_EQUAL(heard.count, 3);
    call_assembler_deinit(&assembler);
}

static void signals_are_told_with_what_is_known_of_them(void)
{
    struct call_program_record record = record_of(CALL_RECORD_SIGNAL, 7, SIGUSR1, 0);
    siginfo_t siginfo = {.si_signo = SIGUSR1, .si_code = SI_USER};

    begin(0);
    memcpy(record.words, &siginfo, 48);
    take(record, NULL);
    CHECK_EQUAL(heard.kinds[0], SYSTEM_CALL_SIGNALLED);
    CHECK_EQUAL(heard.last.signal, SIGUSR1);
    call_assembler_deinit(&assembler);
}

static void a_thread_that_executes_takes_the_first_ones_number(void)
{
    begin(0);
    take(record_of(CALL_RECORD_ENTER, 9, SYS_execve, 0), NULL);
    take(record_of(CALL_RECORD_EXEC, 7, 0, 9), NULL);
    CHECK_EQUAL(heard.kinds[1], SYSTEM_CALL_REPLACED);
    CHECK_EQUAL(heard.last.status, 9);
    take(record_of(CALL_RECORD_LEAVE, 7, SYS_execve, 0), NULL);
    CHECK_EQUAL(heard.kinds[2], SYSTEM_CALL_LEFT);
    CHECK_EQUAL(heard.last.number, SYS_execve);
    call_assembler_deinit(&assembler);
}

static const struct check_case cases[] = {
    CHECK_CASE(both_halves_of_a_call_are_told),
    CHECK_CASE(memory_that_was_missing_is_waited_for),
    CHECK_CASE(what_was_passed_is_known_when_it_ends),
    CHECK_CASE(ends_without_a_beginning_are_nothing),
    CHECK_CASE(a_child_of_ours_is_hidden_until_it_executes),
    CHECK_CASE(a_call_that_is_not_in_the_set_is_not_told),
    CHECK_CASE(the_end_of_a_thread_ends_its_call),
    CHECK_CASE(a_status_that_nobody_knows_is_found_by_the_call),
    CHECK_CASE(signals_are_told_with_what_is_known_of_them),
    CHECK_CASE(a_thread_that_executes_takes_the_first_ones_number),
};

CHECK_MAIN(cases)
