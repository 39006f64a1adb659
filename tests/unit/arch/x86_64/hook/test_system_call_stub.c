/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/hook/hook_code.h"

#include "hook/system_call_stub.h"

#include "base/code_writer.h"
#include "support/check.h"

#include <string.h>

static uint8_t bytes[512];

static struct system_call_stub write(const struct hook_plan *plan, const void *displaced, size_t room)
{
    const struct system_call_stub_request request = {
        .plan = plan, .displaced = displaced, .kinds = bytes, .enter_gate = 0x1111, .leave_gate = 0x2222};
    struct system_call_stub stub;
    struct code_writer writer;

    memset(bytes, 0xcc, sizeof(bytes));
    code_writer_init(&writer, bytes, room, cache_pc_of(0x10000));
    x86_system_call_stub_put(&writer, &request, &stub);
    CHECK_EQUAL(code_writer_overflowed(&writer), room < SYSTEM_CALL_STUB_BYTES_MAX);
    return stub;
}

static uint64_t word_at(uint64_t place)
{
    uint64_t word;

    memcpy(&word, bytes + (place - 0x10000), sizeof(word));
    return word;
}

static void what_stands_around_the_call_is_copied(void)
{
    /* mov $1, %eax; syscall; cmp $-4095, %rax */
    static const uint8_t displaced[] = {0xb8, 1, 0, 0, 0, 0x0f, 0x05, 0x48, 0x3d, 0x01, 0xf0, 0xff, 0xff};
    const struct hook_plan plan = {
        .address = 0x20005, .patch_at = 0x20000, .displaced_end = 0x2000d, .patch_bytes = 5, .method = HOOK_JUMP};
    struct system_call_stub stub = write(&plan, displaced, sizeof(bytes));
    int32_t distance;

    CHECK_EQUAL(memcmp(bytes + (stub.entry - 0x10000), displaced, 5), 0);
    CHECK_EQUAL(memcmp(bytes + (stub.knowledge.after - 0x10000), displaced + 7, 6), 0);
    CHECK_EQUAL(word_at(stub.knowledge.call_at) & 0xffff, 0x050f);
    CHECK_EQUAL(word_at(stub.knowledge.plain_at) & 0xffff, 0x050f);
    CHECK_EQUAL(word_at(stub.knowledge.child_at) & 0xffff, 0x050f);
    CHECK_EQUAL(word_at(stub.start), 0x1111);
    CHECK_EQUAL(word_at(stub.start + 8), 0x2222);
    CHECK_EQUAL(word_at(stub.start + CALL_STUB_CALL_AT), stub.knowledge.call_at);
    CHECK_EQUAL(word_at(stub.start + CALL_STUB_AFTER), stub.knowledge.after);
    /* Then it jumps to what follows. */
    CHECK_EQUAL(word_at(stub.knowledge.after + 6) & 0xff, 0xe9);
    memcpy(&distance, bytes + (stub.knowledge.after + 7 - 0x10000), sizeof(distance));
    CHECK_EQUAL(stub.knowledge.after + 11 + (uint64_t)(int64_t)distance, plan.displaced_end);
}

static void behind_a_return_nothing_follows(void)
{
    static const uint8_t displaced[] = {0x0f, 0x05, 0xc3};
    const struct hook_plan plan = {.address = 0x20000,
                                   .patch_at = 0x20000,
                                   .displaced_end = 0x20003,
                                   .patch_bytes = 5,
                                   .method = HOOK_JUMP_INTO_PADDING};
    struct system_call_stub stub = write(&plan, displaced, sizeof(bytes));

    CHECK_EQUAL(stub.end, stub.knowledge.after + 1);
    CHECK_EQUAL(word_at(stub.knowledge.after) & 0xff, 0xc3);
}

/* mov %rax, %rbx ends with the byte of a return, and is none. */
static void the_last_byte_alone_is_no_return(void)
{
    static const uint8_t displaced[] = {0x0f, 0x05, 0x48, 0x89, 0xc3};
    const struct hook_plan plan = {
        .address = 0x20000, .patch_at = 0x20000, .displaced_end = 0x20005, .patch_bytes = 5, .method = HOOK_JUMP};
    struct system_call_stub stub = write(&plan, displaced, sizeof(bytes));

    CHECK_EQUAL(stub.end, stub.knowledge.after + 3 + 5);
    CHECK_EQUAL(word_at(stub.knowledge.after + 3) & 0xff, 0xe9);
}

static void without_room_the_writer_says_so(void)
{
    static const uint8_t displaced[] = {0x0f, 0x05, 0xc3};
    const struct hook_plan plan = {.address = 0x20000, .patch_at = 0x20000, .displaced_end = 0x20003};

    for (size_t room = 0; room < 64; room += 8)
        (void)write(&plan, displaced, room);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_stands_around_the_call_is_copied),
    CHECK_CASE(behind_a_return_nothing_follows),
    CHECK_CASE(the_last_byte_alone_is_no_return),
    CHECK_CASE(without_room_the_writer_says_so),
};

CHECK_MAIN(cases)
