/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "arch/x86_64/stalker/source_check.h"

#include "gait/stalker.h"
#include "support/check.h"
#include "support/workload.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES 4096u

typedef uint64_t (*function)(uint64_t value);

static uint8_t *page;
static struct gait_stalker *stalker;

static uint8_t *map_code(void)
{
    void *mapped = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (mapped == MAP_FAILED)
        check_skip("memory that is writable and executable at once is not to be had");
    return mapped;
}

static void begin(int trust)
{
    struct gait_stalker_options options = {.size_bytes = sizeof(options), .trust = trust};

    CHECK_EQUAL(gait_stalker_create(&options, &stalker, NULL), 0);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, NULL, NULL), 0);
}

static void end(void)
{
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    gait_stalker_destroy(stalker);
}

static uint64_t call(const uint8_t *code, uint64_t value)
{
    return ((function)(uintptr_t)code)(value);
}

/* ---- every byte -------------------------------------------------------------------------------------------------- */

/* A function that adds `count` constants of a byte each to its argument: 48 83 c0 xx. Returns its size. */
static size_t put_sum(uint8_t *code, unsigned count)
{
    static const uint8_t first[] = {0x48, 0x89, 0xf8}; /* mov %rdi, %rax */
    static const uint8_t add[] = {0x48, 0x83, 0xc0, 1};
    uint8_t *at = code;

    memcpy(at, first, sizeof(first));
    at += sizeof(first);
    for (unsigned i = 0; i < count; i++, at += sizeof(add))
        memcpy(at, add, sizeof(add));
    *at++ = 0xc3;
    return (size_t)(at - code);
}

/* What such code gives, by reading it. */
static uint64_t sum_of(const uint8_t *code, unsigned count, uint64_t value)
{
    for (unsigned i = 0; i < count; i++)
        value += (uint64_t)(int64_t)(int8_t)code[3 + 4 * i + 3];
    return value;
}

/* The block begins at each alignment, has each size, and each of its constants changes by itself. */
static void a_change_of_one_byte_is_noticed_wherever_it_is(void)
{
    unsigned wrong = 0;

    begin(GAIT_TRUST_DEFAULT);
    for (unsigned alignment = 0; alignment < 16; alignment++) {
        for (unsigned count = 1; count <= 6; count++) {
            uint8_t *code = page + alignment;

            put_sum(code, count);
            wrong += call(code, 100) != 100 + count;
            for (unsigned i = 0; i < count; i++) {
                code[3 + 4 * i + 3] = (uint8_t)(17 * i + alignment);
                wrong += call(code, 100) != sum_of(code, count, 100);
                wrong += call(code, 100) != sum_of(code, count, 100);
            }
        }
    }
    end();
    CHECK_EQUAL(wrong, 0);
}

/* Instructions of one byte: inc or dec of a register, nop, so that every offset of a block can change. */
static void every_offset_of_a_long_block_is_looked_at(void)
{
    static const uint8_t last[] = {0x48, 0x8d, 0x47, 0x05, 0xc3}; /* lea 5(%rdi), %rax; ret */
    unsigned wrong = 0;

    begin(GAIT_TRUST_DEFAULT);
    for (unsigned size = 0; size < 40; size++) {
        uint8_t *code = page + 512 + size % 8;

        memset(code, 0x90, size);
        memcpy(code + size, last, sizeof(last));
        wrong += call(code, 1) != 6;
        for (unsigned i = 0; i < size; i++) {
            code[i] = 0xf9; /* stc: another byte of the same length */
            wrong += call(code, 1) != 6;
            memcpy(code + i, last, sizeof(last)); /* ends there already; what stood behind is put back */
            code[i + 3] = (uint8_t)i;
            wrong += call(code, 1) != 1 + i;
            memset(code, 0x90, size);
            memcpy(code + size, last, sizeof(last));
            wrong += call(code, 1) != 6;
        }
    }
    end();
    CHECK_EQUAL(wrong, 0);
}

/* More than is checked in one piece, so of several blocks. */
static void long_code_is_checked_to_its_end(void)
{
    enum { COUNT = 700 };
    unsigned wrong = 0;

    begin(GAIT_TRUST_DEFAULT);
    put_sum(page, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        page[3 + 4 * i + 3] = (uint8_t)(i * 3);
        wrong += call(page, 7) != sum_of(page, COUNT, 7);
    }
    end();
    CHECK_EQUAL(wrong, 0);
}

static void changes_of_every_size_are_noticed(void)
{
    unsigned wrong = 0;

    begin(GAIT_TRUST_DEFAULT);
    for (unsigned round = 0; round < 500; round++) {
        uint8_t *code = page + 1024 + round % 5;
        unsigned count = 1 + round % 9;

        put_sum(code, count);
        for (unsigned i = 0; i < count && i <= round % 4; i++)
            code[3 + 4 * i + 3] = (uint8_t)(round * (i + 1));
        wrong += call(code, round) != sum_of(code, count, round);
    }
    end();
    CHECK_EQUAL(wrong, 0);
}

/* ---- who writes -------------------------------------------------------------------------------------------------- */

static _Atomic unsigned wanted, written;
static uint8_t *written_place;

static void *write_on_demand(void *unused)
{
    unsigned last = 0, next;

    while ((next = atomic_load(&wanted)) != UINT32_MAX) {
        if (next == last) {
            sched_yield();
            continue;
        }
        memcpy(written_place, &next, sizeof(next));
        last = next;
        atomic_store(&written, next);
    }
    return unused;
}

/* mov $value, %eax; ret */
static void put_constant(uint8_t *at, uint32_t value)
{
    *at = 0xb8;
    memcpy(at + 1, &value, sizeof(value));
    at[5] = 0xc3;
}

static unsigned run_with_writer(const uint8_t *code)
{
    unsigned wrong = 0;
    pthread_t writer;

    atomic_store(&wanted, 0);
    atomic_store(&written, 0);
    if (pthread_create(&writer, NULL, write_on_demand, NULL) != 0)
        return 1;
    begin(GAIT_TRUST_DEFAULT);
    wrong += call(code, 0) != 0;
    for (unsigned i = 1; i < 2000; i++) {
        atomic_store(&wanted, i);
        while (atomic_load(&written) != i)
            sched_yield();
        wrong += call(code, 0) != i;
    }
    end();
    atomic_store(&wanted, UINT32_MAX);
    pthread_join(writer, NULL);
    return wrong;
}

static void a_change_by_another_thread_is_noticed(void)
{
    put_constant(page + 2000, 0);
    written_place = page + 2001;
    CHECK_EQUAL(run_with_writer(page + 2000), 0);
}

/* The mapping that runs cannot be written at all. */
static void a_change_through_another_mapping_is_noticed(void)
{
    int fd = memfd_create("code", 0);
    uint8_t *writable, *executable;

    CHECK(fd >= 0 && ftruncate(fd, PAGE_BYTES) == 0);
    writable = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    executable = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    if (writable != MAP_FAILED && executable != MAP_FAILED) {
        put_constant(writable + 3, 0);
        written_place = writable + 4;
        CHECK_EQUAL(run_with_writer(executable + 3), 0);
        munmap(writable, PAGE_BYTES);
        munmap(executable, PAGE_BYTES);
    }
    close(fd);
}

/* A block that writes into instructions of its own that are still to come. */
static void a_block_can_write_its_own_tail(void)
{
    static const uint8_t code[] = {
        0x40, 0x88, 0x3d, 0x0a, 0, 0, 0, /* mov %dil, tail+3(%rip) */
        0x48, 0xc7, 0xc0, 0,    0, 0, 0, /* mov $0, %rax */
        0x48, 0x83, 0xc0, 0x11,          /* tail: add $0x11, %rax */
        0xc3,
    };
    unsigned wrong = 0;

    memcpy(page + 3000, code, sizeof(code));
    begin(GAIT_TRUST_DEFAULT);
    for (unsigned i = 0; i < 200; i++)
        wrong += call(page + 3000, i & 0x7f) != (i & 0x7f);
    end();
    CHECK_EQUAL(wrong, 0);
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

/*
 * Loads all registers and flags, jumps to a place in written code that jumps back, and compares. The jumps are direct
 * and indirect in turn.
 */
unsigned registers_survive(const uint8_t *code);
__asm__(".text\n"
        "registers_survive:\n"
        "    push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
        "    push %rdi\n"
        "    mov $1, %eax; mov $2, %ecx; mov $3, %edx; mov $4, %ebx; mov $5, %ebp; mov $6, %esi; mov $7, %edi\n"
        "    mov $8, %r8d; mov $9, %r9d; mov $10, %r10d; mov $11, %r11d; mov $12, %r12d; mov $13, %r13d\n"
        "    mov $14, %r14d; mov $15, %r15d\n"
        "    cmp $2, %eax\n" /* carry and sign */
        "    call *(%rsp)\n"
        "    jnc 1f; jns 1f; jz 1f\n"
        "    cmp $1, %rax; jne 1f; cmp $2, %rcx; jne 1f; cmp $3, %rdx; jne 1f; cmp $4, %rbx; jne 1f\n"
        "    cmp $5, %rbp; jne 1f; cmp $6, %rsi; jne 1f; cmp $7, %rdi; jne 1f; cmp $8, %r8; jne 1f\n"
        "    cmp $9, %r9; jne 1f; cmp $10, %r10; jne 1f; cmp $11, %r11; jne 1f; cmp $12, %r12; jne 1f\n"
        "    cmp $13, %r13; jne 1f; cmp $14, %r14; jne 1f; cmp $15, %r15; jne 1f\n"
        "    mov $1, %eax; jmp 2f\n"
        "1:  mov $0, %eax\n"
        "2:  pop %rdi\n"
        "    pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
        "    ret\n");

static void registers_and_flags_survive_the_check(void)
{
    /* nop; jmp 0f; 0: nopl with a changing displacement; ret */
    static const uint8_t code[] = {0x90, 0xeb, 0x00, 0x0f, 0x1f, 0x80, 1, 2, 3, 4, 0xc3};
    unsigned wrong = 0;

    for (unsigned events = 0; events < 16; events += 5) {
        struct gait_follow_options follow = {.size_bytes = sizeof(follow), .events = events};

        CHECK_EQUAL(gait_stalker_create(NULL, &stalker, NULL), 0);
        memcpy(page + 100, code, sizeof(code));
        CHECK_EQUAL(gait_stalker_follow_me(stalker, &follow, NULL), 0);
        for (unsigned i = 0; i < 300; i++) {
            if (i % 3 == 0)
                page[106 + i / 3 % 4] = (uint8_t)i;
            wrong += registers_survive(page + 100) != 1;
        }
        end();
    }
    CHECK_EQUAL(wrong, 0);
}

/* ---- trust ------------------------------------------------------------------------------------------------------- */

static void ordinary_code_works_without_any_trust(void)
{
    static const struct workload *const tried[] = {&workload_zlib_compress, &workload_lua_fib, &workload_qsort};

    for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
        uint64_t native, followed;
        void *state;

        if (workload_prepare(tried[i], 2, &state) != 0) {
            CHECK(!"the workload can be prepared");
            continue;
        }
        native = tried[i]->run(state);
        begin(GAIT_TRUST_NEVER);
        followed = tried[i]->run(state);
        end();
        CHECK_EQUAL(followed, native);
        tried[i]->discard(state);
    }
}

static void code_that_is_never_trusted_may_change(void)
{
    unsigned wrong = 0;

    put_constant(page + 50, 0);
    begin(GAIT_TRUST_NEVER);
    for (unsigned i = 0; i < 1000; i++) {
        put_constant(page + 50, i / 3);
        wrong += call(page + 50, 0) != i / 3;
    }
    end();
    CHECK_EQUAL(wrong, 0);
}

/* Writable code is compared each time, whatever the threshold: trust adds comparisons, it takes none away. */
static void a_threshold_takes_no_comparison_of_writable_code_away(void)
{
    static const int thresholds[] = {1, 2, 10, GAIT_TRUST_MOST};

    for (size_t t = 0; t < sizeof(thresholds) / sizeof(thresholds[0]); t++) {
        unsigned wrong = 0;

        put_constant(page + 50, 0);
        begin(thresholds[t]);
        for (unsigned i = 0; i < 300; i++) {
            put_constant(page + 50, i / 7);
            wrong += call(page + 50, 0) != i / 7;
        }
        end();
        CHECK_EQUAL(wrong, 0);
    }
}

/* Writes where nobody may write, past the protection, so that the engine learns of it only by comparing. */
static bool write_secretly(int memory, uint8_t *place, uint32_t value)
{
    return pwrite(memory, &value, sizeof(value), (off_t)(uintptr_t)place) == sizeof(value);
}

static void a_change_that_no_system_call_tells_is_noticed_only_before_trust(void)
{
    int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    uint8_t *code = map_code();
    uint64_t before, unchanged, after;

    put_constant(code, 5);
    mprotect(code, PAGE_BYTES, PROT_READ | PROT_EXEC);
    if (memory < 0 || !write_secretly(memory, code + 1, 6)) {
        munmap(code, PAGE_BYTES);
        return;
    }
    begin(2);
    before = call(code, 0);
    unchanged = call(code, 0);
    write_secretly(memory, code + 1, 7);
    after = call(code, 0);
    CHECK_EQUAL(before, 6);
    CHECK_EQUAL(unchanged, 6);
    CHECK_EQUAL(after, 7);
    for (unsigned i = 0; i < 5; i++)
        CHECK_EQUAL(call(code, 0), 7);
    write_secretly(memory, code + 1, 8);
    CHECK_EQUAL(call(code, 0), 7);
    end();
    CHECK_EQUAL(call(code, 0), 8);
    close(memory);
    munmap(code, PAGE_BYTES);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_change_of_one_byte_is_noticed_wherever_it_is),
    CHECK_CASE(every_offset_of_a_long_block_is_looked_at),
    CHECK_CASE(long_code_is_checked_to_its_end),
    CHECK_CASE(changes_of_every_size_are_noticed),
    CHECK_CASE(a_change_by_another_thread_is_noticed),
    CHECK_CASE(a_change_through_another_mapping_is_noticed),
    CHECK_CASE(a_block_can_write_its_own_tail),
    CHECK_CASE(registers_and_flags_survive_the_check),
    CHECK_CASE(ordinary_code_works_without_any_trust),
    CHECK_CASE(code_that_is_never_trusted_may_change),
    CHECK_CASE(a_threshold_takes_no_comparison_of_writable_code_away),
    CHECK_CASE(a_change_that_no_system_call_tells_is_noticed_only_before_trust),
};

int main(void)
{
    page = map_code();
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
