/* SPDX-License-Identifier: MIT */
#include "arch/system_call_registers.h"

#include "arch/x86_64/isa/user_registers.h"
#include "support/check.h"

static void the_registers_are_those_of_the_kernel(void)
{
    static const long arguments[6] = {1, 2, 3, 4, 5, 6};
    struct thread_registers registers = {0};
    const struct x86_user_registers *user = x86_user_registers_const(&registers);

    system_call_registers_set(&registers, 0x1234, 77, arguments);
    CHECK_EQUAL(user->rip, 0x1234);
    CHECK_EQUAL(user->rax, 77);
    CHECK_EQUAL(user->orig_rax, UINT64_MAX);
    CHECK(user->rdi == 1 && user->rsi == 2 && user->rdx == 3 && user->r10 == 4 && user->r8 == 5 && user->r9 == 6);
    x86_user_registers(&registers)->rax = (uint64_t)-14;
    CHECK_EQUAL(system_call_registers_result(&registers), -14);
    x86_user_registers(&registers)->orig_rax = 58;
    CHECK_EQUAL(system_call_registers_number(&registers), 58);
}

static void the_instruction_is_syscall(void)
{
    size_t size;
    const uint8_t *bytes = system_call_instruction(&size);

    CHECK_EQUAL(size, 2);
    CHECK(memcmp(bytes, "\x0f\x05", 2) == 0);
}

static unsigned return_words(const char *bytes, size_t size)
{
    return system_call_return_words((const uint8_t *)bytes, size);
}

static void ends_of_functions_are_known(void)
{
    CHECK_EQUAL(return_words("\x0f\x05\xc3", 3), 1);
    CHECK_EQUAL(return_words("\x0f\x05\x5d\xc3", 4), 2);
    CHECK_EQUAL(return_words("\x0f\x05\xc9\x31\xd2\x45\x31\xc0\xc3", 9), 2);
    CHECK_EQUAL(return_words("\x0f\x05\x31\xd1\xc3", 5), 0);
    CHECK_EQUAL(return_words("\x0f\x05\x5d\x5d\xc3", 5), 0);
    CHECK_EQUAL(return_words("\x0f\x05\x48\x83\xf8\x20", 6), 0);
    CHECK_EQUAL(return_words("\x0f\x05\x31", 3), 0);
    CHECK_EQUAL(return_words("\x0f\x05", 2), 0);
}

static void the_stack_leads_back(void)
{
    struct thread_registers registers = {0};
    struct x86_user_registers *user = x86_user_registers(&registers);
    uint64_t words[SYSTEM_CALL_RETURN_WORDS_MAX] = {0};

    user->rip = 0x1000;
    user->rsp = 0x2000;
    user->rbp = 0x3000;
    CHECK_EQUAL(system_call_registers_set_returning(&registers, 1, words), 0x1ff8);
    CHECK(user->rsp == 0x1ff8 && user->rbp == 0x3000 && words[0] == 0x1000);
    user->rsp = 0x2000;
    CHECK_EQUAL(system_call_registers_set_returning(&registers, 2, words), 0x1ff0);
    CHECK(user->rsp == 0x1ff0 && user->rbp == 0x1ff0 && words[0] == 0x3000 && words[1] == 0x1000);
}

/* It is run, in all its parts, by tests/unit/inject/test_shelter.c. */
static void a_shelter_leads_back_to_what_was(void)
{
    struct thread_registers registers = {0};
    struct x86_user_registers *user = x86_user_registers(&registers);
    uint8_t bytes[SYSTEM_CALL_SHELTER_BYTES];
    uint64_t words[11];

    user->rax = 1;
    user->rcx = 2;
    user->r11 = 3;
    user->rip = 0x4000;
    CHECK_EQUAL(system_call_shelter(bytes, &registers, 77), sizeof(bytes));
    CHECK(memcmp(bytes, "\x0f\x05", 2) == 0);
    memcpy(words, bytes + sizeof(bytes) - sizeof(words), sizeof(words));
    CHECK_EQUAL(words[0], 77);
    CHECK_EQUAL(words[1], 1);
    CHECK_EQUAL(words[2], 2);
    CHECK_EQUAL(words[9], 3);
    CHECK_EQUAL(words[10], 0x4000);
}

static const struct check_case cases[] = {
    CHECK_CASE(ends_of_functions_are_known),           CHECK_CASE(the_stack_leads_back),
    CHECK_CASE(the_registers_are_those_of_the_kernel), CHECK_CASE(the_instruction_is_syscall),
    CHECK_CASE(a_shelter_leads_back_to_what_was),
};

CHECK_MAIN(cases)
