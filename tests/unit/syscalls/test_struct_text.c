/* SPDX-License-Identifier: MIT */
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

static struct call_text_run run;

static void structs_of_known_size(void)
{
    struct call_text *text = call_text_run_init(&run);
    const uint64_t values[4] = {1, 2, 3, 4};
    const uint32_t ids[3] = {7, 8, UINT32_MAX};

    struct_text_put(text, SYSTEM_CALL_STRUCT_timespec, AT(values));
    struct_text_put(text, SYSTEM_CALL_STRUCT_offset, AT(values));
    struct_text_put(text, SYSTEM_CALL_STRUCT_uid, AT(ids + 2));
    CHECK_TEXT(run.buffer, "{tv_sec=1, tv_nsec=2}[1][-1]");
    call_text_run_clear(&run);
    struct_text_put_array(text, SYSTEM_CALL_STRUCT_uid, AT(ids), 2);
    struct_text_put_array(text, SYSTEM_CALL_STRUCT_fd, AT(ids), 2);
    CHECK_TEXT(run.buffer, "[7, 8][7, 8]");
}

static void unknown_and_unreadable_ones_are_addresses(void)
{
    struct call_text *text = call_text_run_init(&run);

    struct_text_put(text, SYSTEM_CALL_STRUCT_timespec, 0x10);
    struct_text_put(text, SYSTEM_CALL_STRUCT_timespec, 0);
    struct_text_put(text, SYSTEM_CALL_STRUCT_bpf_attr, 0x20);
    struct_text_put_sized(text, SYSTEM_CALL_STRUCT_mount_attr, 0x30, 4);
    struct_text_put_array(text, SYSTEM_CALL_STRUCT_bpf_attr, 0x40, 4);
    CHECK_TEXT(run.buffer, "0x10NULL0x200x300x40");
}

/* Whatever is in them. */
static void all_of_them_can_be_written(void)
{
    static unsigned char bytes[1024];
    struct call_text *text = call_text_run_init(&run);

    for (unsigned fill = 0; fill < 256; fill += 85) {
        memset(bytes, (int)fill, sizeof(bytes));
        for (unsigned i = 0; i < SYSTEM_CALL_STRUCT_COUNT; i++) {
            call_text_run_clear(&run);
            struct_text_put(text, i, AT(bytes));
            struct_text_put_sized(text, i, AT(bytes), sizeof(bytes));
            CHECK_EQUAL(run.buffer[0] != '\0', 1);
        }
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(structs_of_known_size),
    CHECK_CASE(unknown_and_unreadable_ones_are_addresses),
    CHECK_CASE(all_of_them_can_be_written),
};

CHECK_MAIN(cases)
