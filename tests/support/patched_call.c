/* SPDX-License-Identifier: MIT */
#include "support/patched_call.h"

#include "base/code_writer.h"
#include "support/check.h"

#include <string.h>
#include <sys/mman.h>

#define STUB_OFFSET 1024
#define PAGE        4096

/* mov rdi->rax, rsi->rdi, rdx->rsi, rcx->rdx, r8->r10, r9->r8; pushfq; mov $0,%r9d; syscall; nopl 0(%rax,%rax,1);
 * popfq; ret */
static const uint8_t function[] = {0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x48, 0x89, 0xd6, 0x48, 0x89,
                                   0xca, 0x4d, 0x89, 0xc2, 0x4d, 0x89, 0xc8, 0x41, 0xb9, 0x00, 0x00,
                                   0x00, 0x00, 0x0f, 0x05, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3};

#define MOVE_AT 18
#define CALL_AT 24
#define REST_AT 31

patched_call patched_call_make(struct system_call_stub *stub_out, struct hook_plan *plan_out)
{
    uint8_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct code_writer writer;
    int32_t distance;

    CHECK(page != MAP_FAILED);
    memcpy(page, function, sizeof(function));
    *plan_out = (struct hook_plan){
        .address = (uintptr_t)page + CALL_AT,
        .patch_at = (uintptr_t)page + MOVE_AT,
        .displaced_end = (uintptr_t)page + REST_AT,
        .patch_bytes = 5,
        .method = HOOK_JUMP,
    };
    code_writer_init(&writer, page + STUB_OFFSET, PAGE - STUB_OFFSET, cache_pc_of((uintptr_t)page + STUB_OFFSET));
    CHECK_EQUAL(system_call_stub_write(&writer, plan_out, page + MOVE_AT, stub_out), 0);
    CHECK(!code_writer_overflowed(&writer));
    page[MOVE_AT] = 0xe9;
    distance = (int32_t)(stub_out->entry - ((uintptr_t)page + MOVE_AT + 5));
    memcpy(page + MOVE_AT + 1, &distance, sizeof(distance));
    memset(page + MOVE_AT + 5, 0xcc, REST_AT - MOVE_AT - 5);
    return (patched_call)(uintptr_t)page;
}
