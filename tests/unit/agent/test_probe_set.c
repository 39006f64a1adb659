/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Sanitizers do not go on where memory ends. The probes are notes in this program; they are passed with registers that
 * the test makes up. */
#define _GNU_SOURCE
#include "agent/probe_set.h"

#include "agent/detail_lane.h"
#include "elf/symbol_file.h"
#include "gait/cpu_context.h"
#include "process/mapping_list.h"
#include "protocol/agent_pattern.h"
#include "ring/probe_log.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"
#include "support/written_probe.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#if defined(__x86_64__)

#define PAGE 4096

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI }; /* by their numbers in instructions */

#define SHOP_ARGUMENTS                                                                                                 \
    "-4@%edi 8@%rsi 1@%ah -2@$-5 8@16(%rsp) 4@lab_number(%rip) 8@(%rax,%rcx,8) 8f@%rdx 4@nobody_knows(%rip) 8@$7"

__asm__("        .text\n"
        "        .globl  lab_order, lab_idle, lab_texts, lab_end\n"
        "lab_order:\n"
        "        nopl    0(%rax,%rax)\n"
        "lab_idle:\n"
        "        nopl    0(%rax,%rax)\n"
        "lab_texts:\n"
        "        nopl    0(%rax,%rax)\n"
        "lab_end:\n"
        "        ret\n" WRITTEN_PROBE("lab_order", "lab_semaphore", "shop", "order", SHOP_ARGUMENTS)
            WRITTEN_PROBE("lab_idle", "lab_other_semaphore", "shop", "idle", "")
                WRITTEN_PROBE("lab_texts", "0", "shop", "texts",
                              "8@%rdi 8@%rsi 8@%rdx 8@%rcx 8@$5 8@$6 8@%rbx 8@(%rax)")
                    WRITTEN_PROBE("lab_end", "0", "odd", "text", "what %is this? 4@ 8@%rdi @@@ 77@%rdi")
                        WRITTEN_PROBE("lab_end", "0", "odd", "many",
                                      "4@$1 4@$2 4@$3 4@$4 4@$5 4@$6 4@$7 4@$8 4@$9 4@$10 4@$11 4@$12 4@$13 4@$14")
                            WRITTEN_PROBE("0x10", "0", "odd", "nowhere", "4@$1"));

extern const uint8_t lab_order[], lab_idle[], lab_texts[], lab_end[];

/* A page of its own, so that it can be taken away. */
_Alignas(PAGE) uint16_t lab_semaphore[PAGE / sizeof(uint16_t)] = {5};
_Alignas(PAGE) uint16_t lab_other_semaphore = 0;
uint32_t lab_number = 0xabcdef01;

static const _Atomic uint32_t never;
static const struct detail_owner owner = {.tid = 77, .give_up = &never};
static struct detail_lane lane;
static struct gait_cpu_context cpu;
static _Alignas(64) uint64_t stack[8] = {0, 1, 2, 3};
static struct symbol_file file;
static struct mapping own;
static struct agent_pattern_parts parts[AGENT_PATTERNS_MAX];
static struct probe_search search;

/* What was armed. */
static struct {
    struct set_probe *probe;
    uint64_t file_address;
} armed[64];

static unsigned armed_count;
static int arm_result;

static int arm(void *context, struct set_probe *probe, uint64_t file_address)
{
    CHECK(context == &armed);
    if (armed_count < 64) {
        armed[armed_count].probe = probe;
        armed[armed_count++].file_address = file_address;
    }
    return arm_result;
}

static void look_at_mapping(void *context, const struct mapping *mapping)
{
    (void)context;
    if ((uintptr_t)lab_order - mapping->start < mapping->end - mapping->start)
        own = *mapping;
}

static void begin_with(size_t buffer_bytes)
{
    agent_lab_begin(buffer_bytes, RING_DROP);
    agent_lab.options.string_bytes = 8;
}

static void want(const char *text)
{
    uint32_t which = agent_lab_add_pattern(AGENT_PATTERN_PROBE, text);

    agent_pattern_split(&agent_lab.options.patterns[which], &parts[which]);
    search.wanted |= 1ull << which;
}

static uint64_t add(void)
{
    return probe_set_add(&search, arm, &armed);
}

static void open_all(void)
{
    CHECK_EQUAL(symbol_file_open("/proc/self/exe", &file), 0);
    CHECK_EQUAL(mapping_list_visit(0, UINT64_MAX, look_at_mapping, NULL), 0);
    search.mapping = &own;
    search.symbols = &file.symbols;
    search.patterns = agent_lab.options.patterns;
    search.parts = parts;
    probe_set_begin(agent_lab.ring, &agent_lab.options);
}

static void begin(const char *pattern)
{
    begin_with(0);
    want(pattern);
    open_all();
    CHECK_EQUAL(add(), 1);
}

static uint64_t lacking_count(void)
{
    struct ring_losses losses;

    ring_reader_losses(agent_lab.reader, &losses);
    return losses.no_memory_count;
}

static uint64_t unhooked_count(void)
{
    struct ring_losses losses;

    ring_reader_losses(agent_lab.reader, &losses);
    return losses.not_hooked_count;
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

static void probes_are_found_by_provider_and_name(void)
{
    begin_with(0);
    want("shop:order");
    want("sh*:i?le");
    want("shop:ord");
    want("shop");
    open_all();
    CHECK(probe_set_has_any(&search));
    CHECK_EQUAL(add(), 1u << 0 | 1u << 1);
    CHECK_EQUAL(armed_count, 2);
    CHECK_EQUAL(set_probe_address(armed[0].probe), (uintptr_t)lab_order);
    CHECK_EQUAL(set_probe_address(armed[1].probe), (uintptr_t)lab_idle);
    CHECK_EQUAL(armed[1].file_address - armed[0].file_address, lab_idle - lab_order);
    search.wanted = 1u << 2 | 1u << 3;
    CHECK(!probe_set_has_any(&search));
    search.wanted = 0;
    CHECK(!probe_set_has_any(&search));
    CHECK_EQUAL(add(), 0);
    CHECK_EQUAL(armed_count, 2);
}

static void readers_are_shown_probes_before_they_are_armed(void)
{
    static const char texts[] = "shop"
                                "order" SHOP_ARGUMENTS;
    struct probe_log_entry entry;
    uint64_t place = 0;

    begin("shop:*");
    CHECK_EQUAL(armed_count, 3);
    CHECK(probe_log_next(agent_lab.reader, &place, &entry));
    CHECK_EQUAL(entry.probe.address, (uintptr_t)lab_order);
    CHECK_EQUAL(entry.probe.semaphore, (uintptr_t)lab_semaphore);
    CHECK_EQUAL(entry.probe.number, 0);
    CHECK_EQUAL(entry.probe.provider_bytes, 4);
    CHECK_EQUAL(entry.probe.path_bytes, own.path_length);
    CHECK(memcmp(entry.texts, texts, sizeof(texts) - 1) == 0);
    CHECK(memcmp(entry.texts + sizeof(texts) - 1, own.path, own.path_length) == 0);
    CHECK(probe_log_next(agent_lab.reader, &place, &entry));
    CHECK_EQUAL(entry.probe.number, 1);
    CHECK_EQUAL(entry.probe.semaphore, (uintptr_t)&lab_other_semaphore);
    CHECK(probe_log_next(agent_lab.reader, &place, &entry));
    CHECK_EQUAL(entry.probe.address, (uintptr_t)lab_texts);
    CHECK_EQUAL(entry.probe.semaphore, 0);
    CHECK(!probe_log_next(agent_lab.reader, &place, &entry));
}

static void probes_of_other_parts_of_the_file_are_left_alone(void)
{
    begin_with(0);
    want("shop:*");
    want("odd:nowhere");
    open_all();
    own.end = (uintptr_t)lab_idle;
    CHECK_EQUAL(add(), 3);
    CHECK_EQUAL(armed_count, 1);
    own.end = own.start;
    CHECK_EQUAL(add(), 3);
    CHECK_EQUAL(armed_count, 1);
}

/* ---- passing ----------------------------------------------------------------------------------------------------- */

static void pass(unsigned which)
{
    if (!detail_lane_open(&lane, agent_lab.ring, &owner))
        CHECK(!"there is a lane");
    probe_set_passed(armed[which].probe, &lane, &cpu, 3);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.bad_bytes, 0);
}

/* Of the record told last. */
static struct detail_value value_of(unsigned which, uint64_t *bits_out)
{
    struct detail_value value = {0};
    const uint8_t *bytes;

    *bits_out = 0;
    CHECK(agent_lab.record_count != 0 &&
          agent_lab_value(agent_lab.records[agent_lab.record_count - 1], which, &value, &bytes));
    CHECK(value.data_bytes <= sizeof(*bits_out));
    memcpy(bits_out, bytes, value.data_bytes <= sizeof(*bits_out) ? value.data_bytes : 0);
    return value;
}

static void check_value(unsigned which, enum detail_type type, uint64_t expected)
{
    uint64_t bits;
    struct detail_value value = value_of(which, &bits);

    CHECK_EQUAL(value.type, type);
    CHECK_EQUAL(value.flags, 0);
    CHECK_EQUAL(value.data_bytes, detail_type_bytes(type));
    CHECK_EQUAL(bits, expected);
}

static void check_unreadable(unsigned which)
{
    uint64_t bits;
    struct detail_value value = value_of(which, &bits);

    CHECK_EQUAL(value.flags, DETAIL_VALUE_UNREADABLE);
    CHECK_EQUAL(value.data_bytes, 0);
}

static void set_registers(void)
{
    cpu.registers[RDI] = 0xfffffffe87654321;
    cpu.registers[RSI] = 0x1122334455667788;
    cpu.registers[RAX] = (uintptr_t)stack;
    cpu.registers[RCX] = 3;
    cpu.registers[RDX] = 0x3ff8000000000000;
    cpu.registers[RSP] = (uintptr_t)stack;
}

static void arguments_are_where_the_note_says(void)
{
    const struct detail_probe *record;

    begin("shop:order");
    set_registers();
    pass(0);
    record = agent_lab_record(0, DETAIL_PROBE);
    CHECK_EQUAL(record->record.function, (uintptr_t)lab_order);
    CHECK_EQUAL(record->record.depth, 3);
    CHECK_EQUAL(record->record.sp, (uintptr_t)stack);
    CHECK(record->record.time != 0);
    CHECK_EQUAL(record->probe, 0);
    check_value(0, DETAIL_TYPE_I32, 0x87654321);
    check_value(1, DETAIL_TYPE_U64, 0x1122334455667788);
    check_value(2, DETAIL_TYPE_U8, (uintptr_t)stack >> 8 & 0xff);
    check_value(3, DETAIL_TYPE_I16, 0xfffb);
    check_value(4, DETAIL_TYPE_U64, 2);
    check_value(5, DETAIL_TYPE_U32, 0xabcdef01);
    check_value(6, DETAIL_TYPE_U64, 3);
    check_value(7, DETAIL_TYPE_DOUBLE, 0x3ff8000000000000);
    check_unreadable(8);
    check_value(9, DETAIL_TYPE_U64, 7);
    /* What stands in memory is read each time. */
    lab_number = 1;
    stack[2] = 22;
    pass(0);
    check_value(4, DETAIL_TYPE_U64, 22);
    check_value(5, DETAIL_TYPE_U32, 1);
    CHECK_EQUAL(agent_lab.record_count, 2);
}

/* Wherever registers point, nobody faults. */
static void what_is_not_there_is_unreadable(void)
{
    uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(mprotect(pages + PAGE, PAGE, PROT_NONE) == 0);
    begin("shop:order");
    set_registers();
    cpu.registers[RAX] = 16;
    cpu.registers[RSP] = UINT64_MAX - 7;
    pass(0);
    check_unreadable(4);
    check_unreadable(6);
    check_value(9, DETAIL_TYPE_U64, 7);
    /* The next page begins within the value. */
    cpu.registers[RSP] = (uintptr_t)pages + PAGE - 16;
    cpu.registers[RAX] = (uintptr_t)pages + PAGE - 4;
    cpu.registers[RCX] = 0;
    pass(0);
    check_unreadable(4);
    check_unreadable(6);
    cpu.registers[RSP] = (uintptr_t)pages + PAGE - 20;
    pass(0);
    check_unreadable(4);
    cpu.registers[RSP] = (uintptr_t)pages + PAGE - 24;
    cpu.registers[RAX] = (uintptr_t)pages + PAGE - 8;
    pass(0);
    check_value(4, DETAIL_TYPE_U64, 0);
    check_value(6, DETAIL_TYPE_U64, 0);
}

static void a_note_that_makes_no_sense_has_no_values(void)
{
    uint64_t bits;

    begin("odd:*");
    CHECK_EQUAL(armed_count, 2);
    set_registers();
    pass(0);
    CHECK_EQUAL(value_of(0, &bits).flags, DETAIL_VALUE_UNREADABLE);
    pass(1);
    check_value(11, DETAIL_TYPE_U32, 12);
    CHECK(!agent_lab_value(agent_lab.records[1], 12, &(struct detail_value){0}, &(const uint8_t *){NULL}));
}

static void strings_are_taken_where_the_user_says_that_there_are_some(void)
{
    static const uint64_t number = 4711;
    struct detail_declaration *declaration;
    struct detail_value value;
    const uint8_t *bytes;

    begin_with(0);
    want("shop:tex*");
    want("shop:*");
    declaration = &agent_lab.options.patterns[1].declaration;
    *declaration = (struct detail_declaration){.is_given = 1, .count = 10};
    for (unsigned i = 0; i < 10; i++)
        declaration->fields[i].type = DETAIL_TYPE_U32;
    declaration->fields[0].type = declaration->fields[1].type = declaration->fields[6].type = DETAIL_TYPE_STRING;
    open_all();
    CHECK_EQUAL(add(), 3);
    cpu.registers[RSP] = (uintptr_t)stack;
    cpu.registers[RDI] = (uintptr_t) "tea";
    cpu.registers[RSI] = (uintptr_t) "much longer than that";
    cpu.registers[RDX] = 7;
    cpu.registers[RBX] = 16;
    cpu.registers[RAX] = (uintptr_t)&number;
    pass(2);
    CHECK_EQUAL(agent_lab.record_count, 1);
    CHECK(agent_lab_value(agent_lab.records[0], 0, &value, &bytes));
    CHECK(value.type == DETAIL_TYPE_STRING && value.data_bytes == 3 && memcmp(bytes, "tea", 3) == 0);
    CHECK(agent_lab_value(agent_lab.records[0], 1, &value, &bytes));
    CHECK(value.flags == DETAIL_VALUE_CLIPPED && value.data_bytes == 8 && memcmp(bytes, "much lon", 8) == 0);
    check_value(2, DETAIL_TYPE_U32, 7);
    check_value(4, DETAIL_TYPE_U32, 5);
    CHECK(agent_lab_value(agent_lab.records[0], 6, &value, &bytes));
    CHECK_EQUAL(value.flags, DETAIL_VALUE_UNREADABLE);
    check_value(7, DETAIL_TYPE_U32, 4711);
    /* The note has no more. */
    CHECK(agent_lab_value(agent_lab.records[0], 8, &value, &bytes));
    CHECK(value.flags != 0);
}

static void what_a_full_ring_does_not_hold_is_lost_and_counted(void)
{
    begin_with(4096);
    want("shop:order");
    open_all();
    (void)add();
    set_registers();
    if (!detail_lane_open(&lane, agent_lab.ring, &owner))
        CHECK(!"there is a lane");
    for (unsigned i = 0; i < 20000; i++)
        probe_set_passed(armed[0].probe, &lane, &cpu, 0);
    detail_lane_close(&lane);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.bad_bytes, 0);
    CHECK(agent_lab.record_count != 0);
    CHECK_EQUAL(agent_lab.used + ring_reader_lost(agent_lab.reader), 20000ull * agent_lab.records[0]->size_bytes);
    check_value(9, DETAIL_TYPE_U64, 7);
}

/* ---- semaphores -------------------------------------------------------------------------------------------------- */

static void semaphores_are_up_while_probes_are_armed(void)
{
    begin("shop:*");
    CHECK_EQUAL(lab_semaphore[0], 5);
    probe_set_raise();
    CHECK_EQUAL(lab_semaphore[0], 6);
    CHECK_EQUAL(lab_other_semaphore, 1);
    probe_set_raise();
    CHECK_EQUAL(lab_semaphore[0], 6);
    /* Others count there as well. */
    lab_semaphore[0]++;
    probe_set_lower();
    CHECK_EQUAL(lab_semaphore[0], 6);
    CHECK_EQUAL(lab_other_semaphore, 0);
    probe_set_lower();
    probe_set_raise();
    CHECK_EQUAL(lab_semaphore[0], 6);
    CHECK_EQUAL(lab_other_semaphore, 0);
}

static void a_semaphore_that_cannot_be_written_yet_is_raised_later(void)
{
    begin("shop:*");
    CHECK(mprotect(lab_semaphore, PAGE, PROT_READ) == 0);
    probe_set_raise();
    CHECK_EQUAL(lab_semaphore[0], 5);
    CHECK_EQUAL(lab_other_semaphore, 1);
    CHECK(mprotect(lab_semaphore, PAGE, PROT_READ | PROT_WRITE) == 0);
    probe_set_raise();
    CHECK_EQUAL(lab_semaphore[0], 6);
    CHECK_EQUAL(lab_other_semaphore, 1);
    CHECK(mprotect(lab_semaphore, PAGE, PROT_NONE) == 0);
    probe_set_lower();
    CHECK_EQUAL(lab_other_semaphore, 0);
}

static void a_probe_that_is_not_armed_is_not_looked_at(void)
{
    begin_with(0);
    want("shop:*");
    open_all();
    arm_result = -EOPNOTSUPP;
    CHECK_EQUAL(add(), 1);
    CHECK_EQUAL(unhooked_count(), 3);
    CHECK_EQUAL(lacking_count(), 0);
    arm_result = -ENOMEM;
    CHECK_EQUAL(add(), 1);
    CHECK_EQUAL(unhooked_count(), 3);
    CHECK_EQUAL(lacking_count(), 3);
    probe_set_raise();
    CHECK_EQUAL(lab_semaphore[0], 5);
}

static void what_is_gone_is_neither_raised_nor_lowered(void)
{
    begin("shop:*");
    probe_set_forget((uintptr_t)lab_idle, (uintptr_t)lab_idle + 1);
    probe_set_raise();
    CHECK_EQUAL(lab_semaphore[0], 6);
    CHECK_EQUAL(lab_other_semaphore, 0);
    probe_set_forget((uintptr_t)lab_order, (uintptr_t)lab_idle);
    probe_set_lower();
    CHECK_EQUAL(lab_semaphore[0], 6);
    /* Loaded again, it is another one. */
    CHECK_EQUAL(add(), 1);
    probe_set_raise();
    CHECK_EQUAL(lab_semaphore[0], 7);
    CHECK_EQUAL(lab_other_semaphore, 1);
}

/* ---- children, and ends ------------------------------------------------------------------------------------------ */

static void a_childs_ring_has_all_probes_with_their_numbers(void)
{
    struct ring_region parent;
    struct probe_log_entry entry;
    uint64_t place = 0;

    begin("shop:*");
    CHECK_EQUAL(ring_region_renew(agent_lab.ring, &parent), 0);
    ring_reader_close(agent_lab.reader);
    agent_lab_open(agent_lab.ring->fd);
    CHECK(!probe_log_next(agent_lab.reader, &place, &entry));
    probe_set_begin_in_child();
    for (unsigned i = 0; i < 3; i++) {
        CHECK(probe_log_next(agent_lab.reader, &place, &entry));
        CHECK_EQUAL(entry.probe.number, i);
        CHECK_EQUAL(entry.probe.address, set_probe_address(armed[i].probe));
    }
    CHECK(!probe_log_next(agent_lab.reader, &place, &entry));
    /* And goes on behind them. */
    CHECK_EQUAL(add(), 1);
    CHECK(probe_log_next(agent_lab.reader, &place, &entry));
    CHECK_EQUAL(entry.probe.number, 3);
    set_registers();
    pass(0);
    CHECK_EQUAL(((const struct detail_probe *)agent_lab_record(0, DETAIL_PROBE))->probe, 0);
}

static void a_session_that_ended_touches_nothing(void)
{
    begin("shop:*");
    probe_set_end();
    probe_set_raise();
    probe_set_lower();
    probe_set_forget(0, UINT64_MAX);
    probe_set_end();
    CHECK_EQUAL(lab_semaphore[0], 5);
}

static void more_probes_than_a_ring_can_describe_are_counted(void)
{
    unsigned tries = 0;

    begin("shop:*");
    while (tries < 100000 && lacking_count() == 0) {
        armed_count = 0;
        (void)add();
        tries++;
    }
    CHECK(tries < 100000);
    CHECK(armed_count < 3);
    armed_count = 0;
    CHECK_EQUAL(add(), 1);
    CHECK_EQUAL(armed_count, 0);
}

static void without_memory_no_probe_is_armed_and_that_is_counted(void)
{
    const struct rlimit none = {1, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};

    begin_with(0);
    want("shop:*");
    open_all();
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &none), 0);
    (void)add();
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &all), 0);
    CHECK_EQUAL(armed_count, 0);
    CHECK_EQUAL(lacking_count(), 3);
    CHECK_EQUAL(add(), 1);
    CHECK_EQUAL(armed_count, 3);
}

static const struct check_case cases[] = {
    CHECK_CASE(probes_are_found_by_provider_and_name),
    CHECK_CASE(readers_are_shown_probes_before_they_are_armed),
    CHECK_CASE(probes_of_other_parts_of_the_file_are_left_alone),
    CHECK_CASE(arguments_are_where_the_note_says),
    CHECK_CASE(what_is_not_there_is_unreadable),
    CHECK_CASE(a_note_that_makes_no_sense_has_no_values),
    CHECK_CASE(strings_are_taken_where_the_user_says_that_there_are_some),
    CHECK_CASE(what_a_full_ring_does_not_hold_is_lost_and_counted),
    CHECK_CASE(semaphores_are_up_while_probes_are_armed),
    CHECK_CASE(a_semaphore_that_cannot_be_written_yet_is_raised_later),
    CHECK_CASE(a_probe_that_is_not_armed_is_not_looked_at),
    CHECK_CASE(what_is_gone_is_neither_raised_nor_lowered),
    CHECK_CASE(a_childs_ring_has_all_probes_with_their_numbers),
    CHECK_CASE(a_session_that_ended_touches_nothing),
    CHECK_CASE(more_probes_than_a_ring_can_describe_are_counted),
    CHECK_CASE(without_memory_no_probe_is_armed_and_that_is_counted),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("the operands of the probes are those of x86-64");
}

#endif
