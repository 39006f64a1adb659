/* SPDX-License-Identifier: MIT */
/*
 * What lea adds is a constant of 32 bits. So the lower half is made 0 first, then the halves change places, by bswap,
 * and the other half is made 0. Each may take several additions, of constants that have an opposite. All steps have
 * fixed sizes, so that an offset tells how many were made.
 */
#include "arch/x86_64/stalker/landing_check.h"

#include "arch/x86_64/stalker/frequent_code.h"
#include "arch/x86_64/stalker/translate.h"

#define STEPS_MAX   6
#define SWAP        0 /* instead of an addition */
#define ADD_BYTES   7
#define SWAP_BYTES  3
#define JRCXZ_BYTES 2

struct check {
    unsigned count;
    int32_t steps[STEPS_MAX]; /* what is added, or SWAP */
};

static void plan_addition(struct check *check, int64_t number)
{
    while (number != 0) {
        int64_t part = number > INT32_MAX ? INT32_MAX : number < -INT32_MAX ? -INT32_MAX : number;

        check->steps[check->count++] = (int32_t)part;
        number -= part;
    }
}

static struct check plan(struct app_pc start, int64_t low)
{
    struct check check = {0};

    plan_addition(&check, -low);
    check.steps[check.count++] = SWAP;
    plan_addition(&check, -(int64_t)__builtin_bswap64(start.value - (uint64_t)low));
    return check;
}

/* A lower half of -1 does as well as 0: the other half brings it back to 0, where that takes a positive number. */
static struct check check_of(struct app_pc start)
{
    int64_t low = (int32_t)start.value;
    struct check to_zero = plan(start, low), to_minus_one = plan(start, low + 1);

    return to_minus_one.count < to_zero.count ? to_minus_one : to_zero;
}

static unsigned bytes_of(int32_t step)
{
    return step == SWAP ? SWAP_BYTES : ADD_BYTES;
}

/* lea, always with four bytes for the constant. */
static void put_step(struct code_writer *writer, int32_t step)
{
    static const uint8_t bswap_rcx[SWAP_BYTES] = {0x48, 0x0f, 0xc9};
    static const uint8_t lea_rcx[] = {0x48, 0x8d, 0x89};
    uint8_t *place = code_writer_claim(writer, bytes_of(step));

    if (place == NULL)
        return;
    if (step == SWAP) {
        __builtin_memcpy(place, bswap_rcx, sizeof(bswap_rcx));
        return;
    }
    __builtin_memcpy(place, lea_rcx, sizeof(lea_rcx));
    x86_put_number(place + sizeof(lea_rcx), (uint32_t)step);
}

/* Takes all steps back, and goes to the gate. */
static void put_collision(struct code_writer *writer, const struct check *check)
{
    for (unsigned i = check->count; i > 0; i--)
        put_step(writer, -check->steps[i - 1]);
    x86_put_field_jump(writer, THREAD_GATE_COLLISION);
}

void x86_put_landing_check(struct code_writer *writer, struct code_writer *cold, struct app_pc start)
{
    struct check check = check_of(start);
    const uint8_t over_jump[JRCXZ_BYTES] = {0xe3, JUMP_BYTES};
    struct x86_label right;

    for (unsigned i = 0; i < check.count; i++)
        put_step(writer, check.steps[i]);
    if (writer != cold) {
        code_writer_put_bytes(writer, over_jump, sizeof(over_jump));
        x86_put_jump(writer, code_writer_pc(cold));
        put_collision(cold, &check);
        return;
    }
    x86_label_init(&right);
    x86_loop_label(writer, X86_JRCXZ, X86_SIZE_64, &right);
    put_collision(writer, &check);
    x86_label_bind(&right, writer);
}

/* How many of the steps are made at an offset. */
static unsigned steps_made(const struct check *check, uint32_t offset)
{
    uint32_t end = 0;

    for (unsigned i = 0; i < check->count; i++) {
        end += bytes_of(check->steps[i]);
        if (offset < end)
            return i;
    }
    end += JRCXZ_BYTES;
    for (unsigned i = check->count; i > 0; i--) {
        if (offset < end + bytes_of(check->steps[i - 1]))
            return i;
        end += bytes_of(check->steps[i - 1]);
    }
    return 0;
}

uint64_t x86_landing_check_target(struct app_pc start, uint32_t offset, uint64_t rcx)
{
    struct check check = check_of(start);

    for (unsigned i = steps_made(&check, offset); i > 0; i--)
        rcx = check.steps[i - 1] == SWAP ? __builtin_bswap64(rcx) : rcx - (uint64_t)(int64_t)check.steps[i - 1];
    return rcx;
}
