/* SPDX-License-Identifier: MIT */
/*
 * Blocks are written one after the other; operands that name a block are filled in when all of them have their places.
 * Registers that a memory operand needs are loaded in front of it, so that most accesses are good ones.
 */
#include "support/random_program.h"

#include "arch/x86_64/isa/format.h"
#include "support/random_code.h"

#include <stdio.h>
#include <string.h>

#define FUEL          24
#define BODY_INSNS    6
#define FIXUPS_MAX    64
#define BLOCK_BYTES   256 /* more than any block takes */
#define INT3          0xcc
#define BLOCK_THE_END 0xff

_Static_assert(RANDOM_PROGRAM_BLOCKS *BLOCK_BYTES + X86_MAX_INSN_BYTES <= RANDOM_PROGRAM_BYTES, "no room for all");

enum fixup_kind { FIXUP_SHORT, FIXUP_NEAR, FIXUP_ABSOLUTE };

/* An operand that names a block. */
struct fixup {
    size_t offset;
    enum fixup_kind kind;
    unsigned block;
    unsigned skew; /* bytes into the block */
};

struct drawing {
    struct random_program *program;
    struct random *random;
    const struct random_program_place *place;
    struct random_code_options code;
    struct fixup fixups[FIXUPS_MAX];
    size_t fixup_count;
};

static uint64_t below(struct drawing *drawing, uint64_t limit)
{
    return random_below(drawing->random, limit);
}

static bool chance(struct drawing *drawing, uint32_t numerator, uint32_t denominator)
{
    return random_chance(drawing->random, numerator, denominator);
}

static void put_bytes(struct drawing *drawing, const void *bytes, size_t count)
{
    memcpy(drawing->program->bytes + drawing->program->size, bytes, count);
    drawing->program->size += count;
}

#define PUT(drawing, bytes) put_bytes(drawing, bytes, sizeof(bytes) - 1)

static void put_u8(struct drawing *drawing, uint64_t value)
{
    uint8_t byte = (uint8_t)value;

    put_bytes(drawing, &byte, 1);
}

static void put_u32(struct drawing *drawing, uint64_t value)
{
    uint32_t word = (uint32_t)value;

    put_bytes(drawing, &word, 4);
}

static uint64_t here(const struct drawing *drawing)
{
    return drawing->place->code + drawing->program->size;
}

/* The displacement, as the last part of an instruction, to an address. */
static void put_relative(struct drawing *drawing, uint64_t address)
{
    put_u32(drawing, address - (here(drawing) + 4));
}

static void put_fixup(struct drawing *drawing, enum fixup_kind kind, unsigned block)
{
    bool is_skewed = block != BLOCK_THE_END && chance(drawing, 1, 24);

    drawing->fixups[drawing->fixup_count++] = (struct fixup){
        .offset = drawing->program->size,
        .kind = kind,
        .block = block,
        .skew = is_skewed ? (unsigned)below(drawing, 12) : 0,
    };
    if (kind == FIXUP_SHORT)
        put_u8(drawing, 0);
    else
        put_u32(drawing, 0);
}

static unsigned any_block(struct drawing *drawing)
{
    return (unsigned)below(drawing, drawing->program->block_count);
}

static uint64_t any_data(struct drawing *drawing)
{
    const struct arena_span *data = &drawing->place->data;
    uint64_t address = data->address + data->size_bytes / 4 + below(drawing, data->size_bytes / 2);

    return chance(drawing, 3, 4) ? address & ~(uint64_t)63 : address;
}

static uint64_t control_target(const struct drawing *drawing, uint64_t which)
{
    return drawing->place->control + offsetof(struct random_program_control, targets) + 8 * which;
}

static uint64_t control_fuel(const struct drawing *drawing)
{
    return drawing->place->control + offsetof(struct random_program_control, fuel);
}

static void put_load(struct drawing *drawing, unsigned gpr, uint64_t value)
{
    if (gpr >= X86_R8)
        put_u8(drawing, 0x41);
    put_u8(drawing, 0xb8 | (gpr & 7));
    put_u32(drawing, value);
}

/* Any register that may be overwritten. */
static unsigned any_register(struct drawing *drawing)
{
    unsigned gpr = (unsigned)below(drawing, X86_GPR_COUNT);

    return gpr == X86_RSP ? X86_R11 : gpr;
}

/* ---- what blocks are made of ---------------------------------------------------------------------------------------
 */

static void load_operands(struct drawing *drawing, const struct x86_insn *insn)
{
    if (insn->is_memory && insn->index < X86_GPR_COUNT &&
        !(x86_traits_of(insn->form)->properties & X86_FORM_VECTOR_INDEX))
        put_load(drawing, insn->index, below(drawing, 64));
    if (insn->is_memory && insn->base < X86_GPR_COUNT && insn->base != X86_RSP)
        put_load(drawing, insn->base, any_data(drawing));
    if (insn->insn_class != X86_CLASS_STRING)
        return;
    put_load(drawing, X86_RSI, any_data(drawing));
    put_load(drawing, X86_RDI, any_data(drawing));
    put_load(drawing, X86_RCX, below(drawing, 5));
}

/* bt and the like, whose bit may be far away from the operand's address. */
static bool is_bit_string(const struct x86_insn *insn)
{
    return insn->is_memory && insn->map == X86_MAP_0F && (insn->opcode & 0xe7) == 0xa3;
}

static bool is_wanted(struct drawing *drawing, const struct x86_insn *insn)
{
    if (is_bit_string(insn))
        return false;
    if (insn->flow != X86_FLOW_NEXT || insn->properties & X86_OPERAND_SIZE_BY_VENDOR)
        return false;
    /* Whatever loads the stack pointer but push and pop loses the stack. */
    if (insn->gpr_written & X86_GPR_BIT(X86_RSP) && !(insn->gpr_read & X86_GPR_BIT(X86_RSP)))
        return chance(drawing, 1, 50);
    return true;
}

static void put_random_insn(struct drawing *drawing)
{
    uint8_t bytes[X86_MAX_INSN_BYTES + 1];
    struct x86_insn insn;
    unsigned length;

    do {
        length = random_code_insn(drawing->random, &drawing->code, here(drawing), bytes);
        if (x86_decode(bytes, length, app_pc_of(here(drawing)), drawing->code.decode_options, &insn) != 0)
            continue;
    } while (!is_wanted(drawing, &insn));
    if (!(insn.properties & X86_PC_RELATIVE) && chance(drawing, 15, 16))
        load_operands(drawing, &insn);
    /* With nothing in front, pc-relative operands mean what was drawn. */
    put_bytes(drawing, bytes, length);
    /* Flags that the instruction leaves undefined are not for others to see: cmp rax, rcx */
    if (insn.flags.undefined != 0 && chance(drawing, 15, 16))
        PUT(drawing, "\x48\x39\xc8");
}

static void put_flags(struct drawing *drawing)
{
    static const uint64_t choices[] = {0, 0, 0, 0, X86_FLAG_AC, X86_FLAG_DF, X86_FLAG_ID, X86_FLAG_NT};
    uint64_t flags = 0x202 | (random_u64(drawing->random) & X86_FLAGS_STATUS) | choices[below(drawing, 8)];

    switch (below(drawing, 5)) {
    case 0: /* push flags; popf */
        put_u8(drawing, 0x68);
        put_u32(drawing, flags);
        PUT(drawing, "\x9d");
        break;
    case 1: /* pushf; pop rax */
        PUT(drawing, "\x9c\x58");
        break;
    case 2: /* pushf; some instruction; popf */
        PUT(drawing, "\x9c\x48\x01\xc8\x9d");
        break;
    case 3: /* sahf; lahf */
        PUT(drawing, "\x9e\x48\x8d\x40\x07\x9f");
        break;
    default: /* cld, std */
        put_u8(drawing, 0xfc + below(drawing, 2));
        break;
    }
}

/* mov dword [rip + data], control; ldmxcsr [rip + data] */
static void put_mxcsr(struct drawing *drawing)
{
    uint64_t place = any_data(drawing);

    PUT(drawing, "\xc7\x05");
    put_u32(drawing, place - (here(drawing) + 8));
    put_u32(drawing, 0x1f80 | (random_u64(drawing->random) & 0xe07f));
    PUT(drawing, "\x0f\xae\x15");
    put_relative(drawing, place);
}

/* call next; next: pop register */
static void put_call_of_next(struct drawing *drawing)
{
    PUT(drawing, "\xe8\x00\x00\x00\x00");
    put_u8(drawing, 0x58 + below(drawing, 4));
}

/* What usually raises a signal, or does so depending on the registers. */
static void put_trouble(struct drawing *drawing)
{
    switch (below(drawing, drawing->place->traps ? 7 : 3)) {
    case 0: /* div ecx */
        PUT(drawing, "\xf7\xf1");
        break;
    case 1: /* idiv byte [rbx] */
        PUT(drawing, "\xf6\x3b");
        break;
    case 2: /* add [rax + rcx * 2 + 1], r11 */
        PUT(drawing, "\x4c\x01\x5c\x48\x01");
        break;
    case 3:
        PUT(drawing, "\x0f\x0b");
        break;
    case 4:
        PUT(drawing, "\xcc");
        break;
    case 5: /* mov eax, [0x10]; push [rsp + 0x7fffffff] */
        PUT(drawing, "\x8b\x04\x25\x10\x00\x00\x00");
        break;
    default:
        PUT(drawing, "\xff\xb4\x24\xff\xff\xff\x7f");
        break;
    }
}

/* mov byte [rip + 1], value; mov register, constant, which the first one changes */
static void put_change_of_next(struct drawing *drawing)
{
    PUT(drawing, "\xc6\x05\x01\x00\x00\x00");
    put_u8(drawing, random_u64(drawing->random));
    put_u8(drawing, 0xb8 + below(drawing, 4));
    put_u32(drawing, random_u64(drawing->random));
}

/* mov byte [rip + some byte of the program], value */
static void put_change_of_any(struct drawing *drawing)
{
    uint64_t target = drawing->place->code + below(drawing, drawing->program->size + 60);

    PUT(drawing, "\xc6\x05");
    put_u32(drawing, target - (here(drawing) + 5));
    put_u8(drawing, random_u64(drawing->random));
}

static void put_body_insn(struct drawing *drawing)
{
    switch (below(drawing, 24)) {
    case 0:
    case 1:
        put_flags(drawing);
        break;
    case 2:
        put_mxcsr(drawing);
        break;
    case 3:
        put_call_of_next(drawing);
        break;
    case 4:
        put_trouble(drawing);
        break;
    case 5: /* push and pop */
        put_u8(drawing, 0x50 + below(drawing, 8));
        if (chance(drawing, 3, 4))
            put_u8(drawing, 0x58 + below(drawing, 4));
        break;
    case 6: /* add, sub, and so on of r11 and another one */
        put_u8(drawing, 0x4c);
        put_u8(drawing, 8 * below(drawing, 8) + 1);
        put_u8(drawing, 0xd8 + below(drawing, 4));
        break;
    case 7:
        if (drawing->place->is_writable)
            chance(drawing, 3, 4) ? put_change_of_next(drawing) : put_change_of_any(drawing);
        break;
    default:
        put_random_insn(drawing);
        break;
    }
}

/* ---- what joins them
 * -------------------------------------------------------------------------------------------------
 */

/* dec dword [fuel]; js end */
static void put_fuel_by_flags(struct drawing *drawing)
{
    PUT(drawing, "\xff\x0c\x25");
    put_u32(drawing, control_fuel(drawing));
    PUT(drawing, "\x0f\x88");
    put_fixup(drawing, FIXUP_NEAR, BLOCK_THE_END);
}

/* xchg rcx, [fuel]; lea rcx, [rcx - 1]; jrcxz 1f; jmp 2f; 1: jmp end; 2: xchg rcx, [fuel] */
static void put_fuel_by_count(struct drawing *drawing)
{
    PUT(drawing, "\x48\x87\x0c\x25");
    put_u32(drawing, control_fuel(drawing));
    PUT(drawing, "\x48\x8d\x49\xff\xe3\x02\xeb\x05\xe9");
    put_fixup(drawing, FIXUP_NEAR, BLOCK_THE_END);
    PUT(drawing, "\x48\x87\x0c\x25");
    put_u32(drawing, control_fuel(drawing));
}

static void put_direct(struct drawing *drawing)
{
    bool is_short = chance(drawing, 1, 2);

    switch (below(drawing, 6)) {
    case 0:
        put_u8(drawing, is_short ? 0xeb : 0xe9);
        break;
    case 1: /* loopne, loope, loop, jrcxz, with a small count most of the time */
        if (chance(drawing, 3, 4))
            put_load(drawing, X86_RCX, below(drawing, 4));
        if (chance(drawing, 1, 4))
            put_u8(drawing, 0x67);
        put_u8(drawing, 0xe0 + below(drawing, 4));
        is_short = true;
        break;
    default: {
        unsigned condition = (unsigned)below(drawing, 16);

        if (!is_short)
            put_u8(drawing, 0x0f);
        put_u8(drawing, (is_short ? 0x70 : 0x80) + condition);
        break;
    }
    }
    put_fixup(drawing, is_short ? FIXUP_SHORT : FIXUP_NEAR, any_block(drawing));
}

static void put_return(struct drawing *drawing)
{
    if (chance(drawing, 1, 3)) { /* push block; ret */
        put_u8(drawing, 0x68);
        put_fixup(drawing, FIXUP_ABSOLUTE, any_block(drawing));
    }
    if (chance(drawing, 1, 8))
        put_u8(drawing, chance(drawing, 1, 2) ? 0xf2 : 0xf3);
    if (chance(drawing, 2, 3)) {
        PUT(drawing, "\xc3");
        return;
    }
    put_u8(drawing, 0xc2);
    put_u8(drawing, 8 * below(drawing, 4));
    put_u8(drawing, 0);
}

/* jmp or call, by the middle bits of what follows. */
static void put_indirect(struct drawing *drawing)
{
    unsigned operation = chance(drawing, 1, 2) ? 0x20 : 0x10, gpr = any_register(drawing);

    switch (below(drawing, 5)) {
    case 0: /* mov register, block; jmp register */
        if (gpr >= X86_R8)
            put_u8(drawing, 0x41);
        put_u8(drawing, 0xb8 | (gpr & 7));
        put_fixup(drawing, FIXUP_ABSOLUTE, any_block(drawing));
        if (chance(drawing, 1, 8))
            put_u8(drawing, 0x3e);
        if (gpr >= X86_R8)
            put_u8(drawing, 0x41);
        put_u8(drawing, 0xff);
        put_u8(drawing, 0xc0 | operation | (gpr & 7));
        break;
    case 1: /* mov register, n; jmp [register * 8 + targets] */
        put_load(drawing, gpr, below(drawing, RANDOM_PROGRAM_TARGETS));
        if (gpr >= X86_R8)
            put_u8(drawing, 0x42);
        put_u8(drawing, 0xff);
        put_u8(drawing, 0x04 | operation);
        put_u8(drawing, 0xc5 | (gpr & 7) << 3);
        put_u32(drawing, control_target(drawing, 0));
        break;
    case 2: /* and register, 7; jmp [register * 8 + targets] */
        put_u8(drawing, gpr >= X86_R8 ? 0x49 : 0x48);
        put_u8(drawing, 0x83);
        put_u8(drawing, 0xe0 | (gpr & 7));
        put_u8(drawing, RANDOM_PROGRAM_TARGETS - 1);
        if (gpr >= X86_R8)
            put_u8(drawing, 0x42);
        put_u8(drawing, 0xff);
        put_u8(drawing, 0x04 | operation);
        put_u8(drawing, 0xc5 | (gpr & 7) << 3);
        put_u32(drawing, control_target(drawing, 0));
        break;
    case 3: /* jmp [rip + target] */
        put_u8(drawing, 0xff);
        put_u8(drawing, 0x05 | operation);
        put_relative(drawing, control_target(drawing, below(drawing, RANDOM_PROGRAM_TARGETS)));
        break;
    default: /* jmp [rsp + n], where block addresses are */
        put_u8(drawing, 0xff);
        put_u8(drawing, 0x44 | operation);
        put_u8(drawing, 0x24);
        put_u8(drawing, 8 * below(drawing, 8) - 32);
        break;
    }
}

static void put_join(struct drawing *drawing)
{
    switch (below(drawing, 12)) {
    case 0:
        break;
    case 1:
    case 2:
    case 3:
    case 4:
        put_direct(drawing);
        break;
    case 5:
    case 6:
        put_u8(drawing, 0xe8);
        put_fixup(drawing, FIXUP_NEAR, any_block(drawing));
        break;
    case 7:
    case 8:
        put_return(drawing);
        break;
    default:
        put_indirect(drawing);
        break;
    }
}

static void put_block(struct drawing *drawing)
{
    unsigned count = (unsigned)below(drawing, BODY_INSNS + 1);

    if (chance(drawing, 1, 2))
        put_fuel_by_flags(drawing);
    else if (chance(drawing, 4, 5))
        put_fuel_by_count(drawing);
    for (unsigned i = 0; i < count; i++)
        put_body_insn(drawing);
    put_join(drawing);
}

/* ---- putting it together -------------------------------------------------------------------------------------------
 */

static uint64_t target_of(const struct drawing *drawing, const struct fixup *fixup)
{
    const struct random_program *program = drawing->program;

    if (fixup->block == BLOCK_THE_END)
        return program->size - 1;
    return program->blocks[fixup->block] + fixup->skew;
}

static void fill_in(struct drawing *drawing, const struct fixup *fixup)
{
    uint8_t *place = drawing->program->bytes + fixup->offset;
    uint64_t target = target_of(drawing, fixup);
    int64_t distance = (int64_t)(target - fixup->offset) - (fixup->kind == FIXUP_SHORT ? 1 : 4);
    uint32_t word = (uint32_t)(fixup->kind == FIXUP_ABSOLUTE ? drawing->place->code + target : (uint64_t)distance);

    if (fixup->kind != FIXUP_SHORT)
        memcpy(place, &word, sizeof(word));
    else /* what is out of reach is left out: to the next instruction */
        *place = distance == (int8_t)distance ? (uint8_t)distance : 0;
}

void random_program_draw(struct random_program *program, struct random *random,
                         const struct random_program_place *place)
{
    struct drawing drawing = {
        .program = program,
        .random = random,
        .place = place,
        .code = {.data = place->data,
                 .decode_options = random_code_decode_options(),
                 .run_start = place->code,
                 .run_size = RANDOM_PROGRAM_BYTES,
                 .pc_relative_percent = 30},
    };

    memset(program, 0, sizeof(*program));
    program->block_count = 2 + (unsigned)random_below(random, RANDOM_PROGRAM_BLOCKS - 1);
    for (unsigned i = 0; i < program->block_count; i++) {
        program->blocks[i] = program->size;
        put_block(&drawing);
    }
    put_u8(&drawing, INT3);
    for (size_t i = 0; i < drawing.fixup_count; i++)
        fill_in(&drawing, &drawing.fixups[i]);
    for (unsigned i = 0; i < RANDOM_PROGRAM_TARGETS; i++)
        program->control.targets[i] = random_program_block(program, place, random_u64(random));
    program->control.fuel = FUEL;
}

uint64_t random_program_block(const struct random_program *program, const struct random_program_place *place,
                              uint64_t number)
{
    return place->code + program->blocks[number % program->block_count];
}

void random_program_print(const struct random_program *program, const struct random_program_place *place)
{
    unsigned block = 0;
    struct x86_insn insn;

    for (size_t offset = 0; offset < program->size; offset += insn.length) {
        uint64_t pc = place->code + offset;
        struct text_writer text;
        char buffer[128];

        for (; block < program->block_count && program->blocks[block] <= offset; block++)
            printf("block %u:\n", block);
        text_init(&text, buffer, sizeof(buffer));
        if (x86_decode(program->bytes + offset, program->size - offset, app_pc_of(pc), random_code_decode_options(),
                       &insn) != 0) {
            insn.length = 1;
            text_put_string(&text, "no instruction");
        } else {
            x86_format(&insn, program->bytes + offset, &text);
        }
        printf("  %llx ", (unsigned long long)pc);
        for (unsigned i = 0; i < 15; i++)
            printf(i < insn.length ? " %02x" : "   ", program->bytes[offset + i]);
        printf("  %s\n", buffer);
    }
}
