/* SPDX-License-Identifier: MIT */
/* One page, one transformer that asks the test for each instruction of it. */
#define _GNU_SOURCE
#include "support/transformed_code.h"

#include "gait/x86_64.h"
#include "support/followed_call.h"

#include <string.h>

struct transformed_code transformed;

void transformed_code_init(void)
{
    code_page_init(&transformed.page, 1 << 16);
}

uint64_t transformed_at(uint64_t offset)
{
    return code_page_start(&transformed.page) + offset;
}

bool transformed_holds(uint64_t address)
{
    return address >= transformed_at(0) && address < code_page_end(&transformed.page);
}

static void transform(void *context, struct gait_iterator *iterator)
{
    struct gait_instruction instruction = {.size_bytes = sizeof(instruction)};
    bool first = true;

    (void)context;
    while (gait_iterator_next(iterator, &instruction)) {
        if (!transformed_holds(instruction.address)) {
            gait_iterator_keep(iterator);
            continue;
        }
        transformed.transforms += first;
        first = false;
        transformed.visit(iterator, &instruction);
    }
}

const struct gait_transformer transformed_transformer = {transform, NULL};

uint64_t transformed_run_with(const struct gait_transformer *how, uint32_t events, const struct gait_event_sink *sink,
                              uint64_t a, uint64_t b)
{
    struct gait_follow_options options = followed_options();
    uint64_t value;

    options.transformer = how;
    options.events = events;
    options.sink = sink;
    transformed.stalker = followed_call_stalker();
    value = followed_call(transformed.stalker, &options, transformed_at(0), a, b);
    gait_stalker_destroy(transformed.stalker);
    return value;
}

uint64_t transformed_run(transformed_visit *visit, uint64_t a, uint64_t b)
{
    transformed.visit = visit;
    transformed.transforms = 0;
    return transformed_run_with(&transformed_transformer, 0, NULL, a, b);
}

void transformed_keep(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    (void)instruction;
    gait_iterator_keep(iterator);
}

/* mov eax, 1; add eax, 2; add eax, 4; ret */
void transformed_write_sum(void)
{
    code_page_rewind(&transformed.page);
    CODE_PAGE_PUT(&transformed.page, "\xb8\x01\x00\x00\x00"); /* 0 */
    CODE_PAGE_PUT(&transformed.page, "\x83\xc0\x02");         /* 5 */
    CODE_PAGE_PUT(&transformed.page, "\x83\xc0\x04\xc3");     /* 8, 11 */
}

void transformed_drop_second(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address != transformed_at(5))
        gait_iterator_keep(iterator);
}

/* mov eax, 5; call 32 (adds 100); add eax, 1; ret */
void transformed_write_call(void)
{
    code_page_rewind(&transformed.page);
    CODE_PAGE_PUT(&transformed.page, "\xb8\x05\x00\x00\x00");           /*  0 */
    CODE_PAGE_PUT(&transformed.page, "\xe8\x16\x00\x00\x00");           /*  5: call 32 */
    CODE_PAGE_PUT(&transformed.page, "\x83\xc0\x01\xc3");               /* 10, 13 */
    memcpy(transformed.page.bytes + 32, "\x05\x64\x00\x00\x00\xc3", 6); /* 32: add eax, 100; ret */
}

void transformed_skip_call(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->flow != GAIT_FLOW_CALL)
        gait_iterator_keep(iterator);
}

void transformed_add_thousand(struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    gait_x86_64_rax(cpu) += 1000;
}

/* A call of a function that ends with a jump to another one. */
void transformed_write_tail_jump(void)
{
    code_page_rewind(&transformed.page);
    CODE_PAGE_PUT(&transformed.page, "\xe8\x1b\x00\x00\x00\x83\xc0\x01\xc3"); /*  0: call 32; 5: add eax, 1; 8: ret */
    memcpy(transformed.page.bytes + 32, "\xb8\x05\x00\x00\x00\xe9\x16\x00\x00\x00",
           10);                                                         /* 32: mov eax, 5; 37: jmp 64 */
    memcpy(transformed.page.bytes + 64, "\x05\x64\x00\x00\x00\xc3", 6); /* 64: add eax, 100; ret */
}

void transformed_replace_tail_jump(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->flow != GAIT_FLOW_JUMP) {
        gait_iterator_keep(iterator);
        return;
    }
    gait_iterator_put_callout(iterator, transformed_add_thousand, NULL, GAIT_CALLOUT_ANY);
    gait_iterator_put_return(iterator);
}

/* mov edx, 0; 200 times lea esi, [rsi+1] (flags stay); lea eax, [rdx+0]; ret */
void transformed_write_two_hundred(void)
{
    code_page_rewind(&transformed.page);
    CODE_PAGE_PUT(&transformed.page, "\xba\x00\x00\x00\x00");
    for (int i = 0; i < 200; i++)
        CODE_PAGE_PUT(&transformed.page, "\x8d\x76\x01");
    CODE_PAGE_PUT(&transformed.page, "\x89\xd0\xc3");
}

/* mov eax, edi; 1500 times add eax, 1; ret */
void transformed_write_long_block(void)
{
    code_page_rewind(&transformed.page);
    CODE_PAGE_PUT(&transformed.page, "\x89\xf8");
    for (int i = 0; i < 1500; i++)
        CODE_PAGE_PUT(&transformed.page, "\x83\xc0\x01");
    CODE_PAGE_PUT(&transformed.page, "\xc3");
}
