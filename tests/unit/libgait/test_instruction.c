/* SPDX-License-Identifier: MIT */
#include "gait/instruction.h"

#include "arch/arch.h"
#include "support/check.h"
#include "support/random.h"

#include <errno.h>

#define ROUNDS 200000

static struct gait_instruction fresh(void)
{
    return (struct gait_instruction){.size_bytes = sizeof(struct gait_instruction)};
}

static void an_instruction_is_decoded_and_written(void)
{
    struct gait_instruction instruction = fresh();
    char text[GAIT_INSTRUCTION_TEXT_BYTES];

    CHECK_EQUAL(gait_instruction_decode("\xe8\x10\x00\x00\x00", 5, 0x400000, &instruction, NULL), 0);
    CHECK_EQUAL(instruction.length, 5);
    CHECK_EQUAL(instruction.flow, GAIT_FLOW_CALL);
    CHECK_EQUAL(instruction.target, 0x400015);
    CHECK_EQUAL(instruction.address, 0x400000);
    CHECK_TEXT(instruction.mnemonic, "call");
    CHECK(memcmp(instruction.bytes, "\xe8\x10\x00\x00\x00\x00", 6) == 0);
    CHECK_EQUAL(gait_instruction_format(&instruction, text, sizeof(text), NULL), 0);
    CHECK_TEXT(text, "call 0x400015");
}

static void registers_have_names(void)
{
    struct gait_instruction instruction = fresh();

    CHECK_EQUAL(gait_instruction_decode("\x48\x01\xd8", 3, 0, &instruction, NULL), 0); /* add rax, rbx */
    CHECK_EQUAL(instruction.registers_written, 1);
    CHECK_TEXT(gait_register_name(0), "rax");
    CHECK(instruction.registers_read & 1u << 3);
    CHECK_TEXT(gait_register_name(3), "rbx");
    CHECK(gait_register_name(16) == NULL);
    CHECK(gait_register_name(UINT32_MAX) == NULL);
}

static void bad_bytes_are_explained(void)
{
    struct gait_instruction instruction = fresh();
    struct gait_error err = {0};

    instruction.length = 77;
    CHECK_EQUAL(gait_instruction_decode("\x06\x06", 2, 0x1234, &instruction, &err), -EILSEQ);
    CHECK_EQUAL(err.code, EILSEQ);
    CHECK(strstr(err.text, "0x1234") != NULL);
    CHECK_EQUAL(gait_instruction_decode("\xe8\x10", 2, 0, &instruction, &err), -ENODATA);
    CHECK(strstr(err.text, "2 bytes") != NULL);
    CHECK_EQUAL(gait_instruction_decode("", 0, 0, &instruction, &err), -ENODATA);
    CHECK_EQUAL(gait_instruction_decode(NULL, 10, 0, &instruction, &err), -EINVAL);
    CHECK_EQUAL(instruction.length, 77);
}

static void structs_without_their_size_are_refused(void)
{
    struct gait_instruction instruction = {0};
    struct gait_error err;
    char text[16];

    CHECK_EQUAL(gait_instruction_decode("\x90", 1, 0, &instruction, &err), -EINVAL);
    CHECK(strstr(err.text, "size_bytes") != NULL);
    CHECK_EQUAL(gait_instruction_decode("\x90", 1, 0, NULL, &err), -EINVAL);
    CHECK_EQUAL(gait_instruction_format(&instruction, text, sizeof(text), &err), -EINVAL);
    instruction.size_bytes = sizeof(instruction);
    CHECK_EQUAL(gait_instruction_format(&instruction, text, sizeof(text), &err), -EINVAL);
    instruction.length = 99;
    CHECK_EQUAL(gait_instruction_format(&instruction, text, sizeof(text), &err), -EINVAL);
    CHECK_EQUAL(gait_instruction_format(NULL, text, sizeof(text), &err), -EINVAL);
}

static void a_larger_struct_of_a_newer_header_is_fine(void)
{
    struct {
        struct gait_instruction instruction;
        uint64_t later;
    } larger = {.later = 4711};

    larger.instruction.size_bytes = sizeof(larger);
    CHECK_EQUAL(gait_instruction_decode("\x90", 1, 0, &larger.instruction, NULL), 0);
    CHECK_EQUAL(larger.later, 4711);
}

static void a_small_text_buffer_is_reported(void)
{
    struct gait_instruction instruction = fresh();
    char text[8] = "";

    CHECK_EQUAL(gait_instruction_decode("\xe8\x10\x00\x00\x00", 5, 0x400000, &instruction, NULL), 0);
    CHECK_EQUAL(gait_instruction_format(&instruction, text, sizeof(text), NULL), -ERANGE);
    CHECK_TEXT(text, "call 0x");
    CHECK_EQUAL(gait_instruction_format(&instruction, text, 0, NULL), -EINVAL);
    CHECK_EQUAL(gait_instruction_format(&instruction, NULL, 8, NULL), -EINVAL);
}

static void garbage_never_gets_out_of_bounds(void)
{
    char text[GAIT_INSTRUCTION_TEXT_BYTES];
    struct random random;

    random_init(&random, 7);
    for (int i = 0; i < ROUNDS; i++) {
        struct gait_instruction instruction = fresh();
        size_t size = random_below(&random, 17);
        uint8_t *bytes = malloc(size + 1); /* exactly as many as it may read: sanitizers look */
        int result;

        random_fill(&random, bytes, size + 1);
        bytes = realloc(bytes, size == 0 ? 1 : size);
        result = gait_instruction_decode(bytes, size, random_u64(&random), &instruction, NULL);
        CHECK(result == 0 || result == -EILSEQ || result == -ENODATA);
        if (result == 0) {
            CHECK(instruction.length <= size);
            CHECK_EQUAL(gait_instruction_format(&instruction, text, sizeof(text), NULL), 0);
        }
        free(bytes);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(an_instruction_is_decoded_and_written),
    CHECK_CASE(registers_have_names),
    CHECK_CASE(bad_bytes_are_explained),
    CHECK_CASE(structs_without_their_size_are_refused),
    CHECK_CASE(a_larger_struct_of_a_newer_header_is_fine),
    CHECK_CASE(a_small_text_buffer_is_reported),
    CHECK_CASE(garbage_never_gets_out_of_bounds),
};

int main(void)
{
    if (arch_host() == NULL || strcmp(arch_host()->name, "x86_64") != 0)
        check_skip("this test knows x86-64 instructions");
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
