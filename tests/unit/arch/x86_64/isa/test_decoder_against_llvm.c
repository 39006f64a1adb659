/* SPDX-License-Identifier: MIT */
/* configurations: debug-gcc */
/* time limit: 300 s */
/*
 * A third opinion: LLVM's disassembler, which shares no tables with libZydis and knows younger instructions. Over real
 * code, and over a walk through all opcodes with all their prefix, length and operand bits: the same bytes are
 * instructions, they have the same length, the same flow and the same targets. What differs is explained in
 * tests/data/x86_decoder_llvm_differences.
 */
#include "arch/x86_64/isa/operands.h"

#include <stdatomic.h>

#include "support/check.h"
#include "support/corpus.h"
#include "support/difference_conditions.h"
#include "support/difference_list.h"
#include "support/disassembly_text.h"
#include "support/encoding_walk.h"
#include "support/llvm_oracle.h"
#include "support/workers.h"

#define PC          0x1000u
#define PIECE_BYTES (256u << 10)
#define MIN_SWEPT   5000000u
#define MAX_WORKERS 64

struct comparison {
    struct difference_list list;
    struct llvm_oracle *oracles[MAX_WORKERS]; /* by worker */
    struct corpus_piece *pieces;
    atomic_ullong swept, walked, walked_valid;
};

/* One instruction, as both see it. */
struct side_by_side {
    struct difference_list *list;
    const uint8_t *bytes;
    size_t available;
    struct x86_insn ours;
    bool is_ours;
    size_t their_length;
    char text[LLVM_ORACLE_TEXT_BYTES];
    struct disassembly theirs;
};

static bool differ(struct side_by_side *pair, const char *field, uint64_t ours, uint64_t theirs)
{
    if (ours == theirs)
        return false;

    struct difference difference = {
        .field = field,
        .mnemonic = pair->is_ours ? x86_mnemonic_name(pair->ours.mnemonic) : pair->theirs.mnemonic,
        .bytes = pair->bytes,
        .available = pair->available,
        .insn = pair->is_ours ? &pair->ours : NULL,
        .other_text = pair->text,
        .ours = ours,
        .theirs = theirs,
    };

    difference_list_judge(pair->list, &difference);
    return true;
}

/*
 * LLVM reads jumps under the operand-size prefix as AMD's CPUs do, and calls as Intel's do: so both of our ways to read
 * them meet somebody who agrees.
 */
static void decode_ours(struct side_by_side *pair)
{
    pair->is_ours = x86_decode(pair->bytes, pair->available, app_pc_of(PC), X86_DECODE_INTEL, &pair->ours) == 0;
    if (pair->is_ours && pair->ours.properties & X86_OPERAND_SIZE_BY_VENDOR && pair->ours.flow != X86_FLOW_CALL)
        pair->is_ours = x86_decode(pair->bytes, pair->available, app_pc_of(PC), X86_DECODE_AMD, &pair->ours) == 0;
}

/* LLVM prints some prefixes as instructions of their own: what follows belongs to them. */
static void decode_theirs(struct side_by_side *pair, struct llvm_oracle *oracle)
{
    size_t skipped = 0;

    for (;;) {
        size_t length = llvm_oracle_print(oracle, pair->bytes + skipped, pair->available - skipped, PC, pair->text);

        pair->their_length = length == 0 ? 0 : skipped + length;
        if (length == 0 || !disassembly_parse(pair->text, &pair->theirs) || pair->theirs.mnemonic[0] != 0)
            return;
        skipped += length;
    }
}

static bool targets_differ(struct side_by_side *pair)
{
    const struct x86_insn *ours = &pair->ours;
    uint64_t next = PC + ours->length;

    if (differ(pair, "flow", ours->flow, pair->theirs.flow))
        return true;
    if (pair->theirs.has_target) {
        uint64_t target = next + pair->theirs.target;

        if (ours->properties & X86_OPERAND_SIZE_BY_VENDOR && ours->flow != X86_FLOW_CALL)
            target = (uint16_t)target;
        return differ(pair, "target", ours->target, target);
    }
    return differ(pair, "pc_relative", (ours->properties & X86_PC_RELATIVE) != 0, pair->theirs.is_pc_relative) ||
           (pair->theirs.is_pc_relative &&
            differ(pair, "displacement", (uint64_t)ours->displacement, (uint64_t)pair->theirs.displacement));
}

/* Compares one instruction. Returns its length, 0 if neither sees one. */
static size_t compare(struct comparison *comparison, unsigned worker, const uint8_t *bytes, size_t available)
{
    struct side_by_side pair = {.list = &comparison->list, .bytes = bytes, .available = available};

    decode_ours(&pair);
    decode_theirs(&pair, comparison->oracles[worker]);
    if (!pair.is_ours && pair.their_length == 0)
        return 0;
    if (!pair.is_ours)
        differ(&pair, "only_theirs", 0, 1);
    else if (pair.their_length == 0)
        differ(&pair, "only_ours", 1, 0);
    else if (!differ(&pair, "length", pair.ours.length, pair.their_length))
        targets_differ(&pair);
    return pair.is_ours ? pair.ours.length : pair.their_length;
}

static void sweep(void *context, unsigned worker, size_t number)
{
    struct comparison *comparison = context;
    const struct corpus_piece *piece = &comparison->pieces[number];
    unsigned long long swept = 0;

    for (size_t offset = piece->begin; offset < piece->end;) {
        size_t length =
            compare(comparison, worker, piece->section->bytes + offset, piece->section->size_bytes - offset);

        offset += length == 0 ? 1 : length;
        swept += length != 0;
    }
    atomic_fetch_add(&comparison->swept, swept);
}

struct walker {
    struct comparison *comparison;
    unsigned worker;
    unsigned long long walked, valid;
};

static void visit(void *context, const uint8_t bytes[ENCODING_WALK_BYTES])
{
    struct walker *walker = context;

    walker->walked++;
    walker->valid += compare(walker->comparison, walker->worker, bytes, ENCODING_WALK_BYTES) != 0;
}

static void walk(void *context, unsigned worker, size_t number)
{
    struct walker walker = {.comparison = context, .worker = worker};

    encoding_walk(number, visit, &walker);
    atomic_fetch_add(&walker.comparison->walked, walker.walked);
    atomic_fetch_add(&walker.comparison->walked_valid, walker.valid);
}

/* ---- conditions of the list ----------------------------------------------------------------------------------------
 */

static bool is_evex(const struct difference *difference)
{
    return encoding_lead_bytes(difference)[0] == 0x62;
}

/* REX2, and EVEX with APX' map or with its bits for registers 16 to 31. */
static bool is_apx(const struct difference *difference)
{
    const uint8_t *lead = encoding_lead_bytes(difference);

    return lead[0] == 0xd5 || (lead[0] == 0x62 && ((lead[1] & 7) == 4 || lead[1] & 8 || !(lead[2] & 4)));
}

static bool is_map_7(const struct difference *difference)
{
    const uint8_t *lead = encoding_lead_bytes(difference);

    return (lead[0] == 0x62 || lead[0] == 0xc4) && (lead[1] & 7) == 7;
}

/* The length field says 3, and is no rounding mode. */
static bool is_length_3(const struct difference *difference)
{
    const uint8_t *lead = encoding_lead_bytes(difference);

    return lead[0] == 0x62 && (lead[3] >> 5 & 3) == 3 && !(lead[3] & 0x10 && lead[5] >= 0xc0);
}

/* The registers that a vex or evex instruction names, three bits of each. */
struct named_registers {
    unsigned reg, rm, vvvv, index;
    bool is_memory, is_vector;
};

static struct named_registers registers_of(const struct difference *difference)
{
    const uint8_t *lead = encoding_lead_bytes(difference);
    const uint8_t *modrm = lead[0] == 0x62 ? lead + 5 : lead + 4;

    return (struct named_registers){
        .reg = modrm[0] >> 3 & 7,
        .rm = modrm[0] & 7,
        .vvvv = ~lead[2] >> 3 & 7,
        .index = modrm[1] >> 3 & 7,
        .is_memory = modrm[0] < 0xc0,
        .is_vector = lead[0] == 0xc4 || lead[0] == 0x62,
    };
}

static bool is_gather_equal(const struct difference *difference)
{
    struct named_registers names = registers_of(difference);

    return names.is_vector && names.is_memory &&
           (names.reg == names.index ||
            (!is_evex(difference) && (names.reg == names.vvvv || names.index == names.vvvv)));
}

static bool is_tile_equal(const struct difference *difference)
{
    struct named_registers names = registers_of(difference);

    return names.is_vector && !names.is_memory &&
           (names.reg == names.rm || names.reg == names.vvvv || names.rm == names.vvvv);
}

static bool is_destination_equal(const struct difference *difference)
{
    struct named_registers names = registers_of(difference);

    return is_evex(difference) && (names.reg == names.vvvv || (!names.is_memory && names.reg == names.rm));
}

static bool names_vector_register(const struct x86_insn *insn)
{
    for (unsigned i = 0; i < x86_insn_operand_count(insn); i++) {
        struct x86_operand operand;

        x86_insn_operand(insn, i, &operand);
        if (operand.register_class >= X86_REGISTER_XMM && operand.register_class <= X86_REGISTER_ZMM)
            return true;
    }
    return false;
}

/* APX' evex form of an instruction on other than vector registers: it is the same when written with vex. */
static bool is_promoted(const struct difference *difference)
{
    const uint8_t *lead = encoding_lead_bytes(difference);
    uint8_t bytes[ENCODING_WALK_BYTES] = {0xc4, (uint8_t)((lead[1] & 0xe0) | (lead[1] & 7)),
                                          (uint8_t)((lead[2] & 0xfb) | (lead[3] >> 5 & 1) << 2)};
    struct disassembly theirs;
    struct x86_insn insn;

    if (!is_evex(difference) || !disassembly_parse(difference->other_text, &theirs))
        return false;
    memcpy(bytes + 3, lead + 4, 16);
    return x86_decode(bytes, sizeof(bytes), app_pc_of(PC), X86_DECODE_INTEL, &insn) == 0 &&
           !names_vector_register(&insn) && strcmp(x86_mnemonic_name(insn.mnemonic), theirs.mnemonic) == 0;
}

static bool is_pp_66(const struct difference *difference)
{
    return is_evex(difference) && (encoding_lead_bytes(difference)[2] & 3) == 1;
}

static bool is_vex_w(const struct difference *difference)
{
    const uint8_t *lead = encoding_lead_bytes(difference);

    return lead[0] == 0xc4 && lead[2] & 0x80;
}

static bool is_without_66(const struct difference *difference)
{
    return !encoding_lead_find(difference).has_66;
}

/* Control registers other than 0, 2, 3, 4, 8 do not exist; debug registers have no extension. */
static bool is_control_register(const struct difference *difference)
{
    struct encoding_lead found = encoding_lead_find(difference);
    const uint8_t *lead = encoding_lead_bytes(difference);
    unsigned extension = found.has_rex && difference->bytes[found.offset - 1] & 4 ? 8 : 0;
    unsigned number = (lead[2] >> 3 & 7) + extension;

    if (lead[0] != 0x0f || lead[1] < 0x20 || lead[1] > 0x23)
        return false;
    if (lead[1] & 1)
        return number >= 8;
    return number == 1 || (number >= 5 && number != 8);
}

static bool is_padlock_without_rep(const struct difference *difference)
{
    const uint8_t *lead = encoding_lead_bytes(difference);

    return lead[0] == 0x0f && (lead[1] == 0xa6 || lead[1] == 0xa7) &&
           memchr(difference->bytes, 0xf3, (size_t)(lead - difference->bytes)) == NULL;
}

/* ---- of what we accept ---- */

static bool is_reserved_nop(const struct difference *difference)
{
    uint8_t opcode = difference->insn->opcode;

    return difference->insn->map == X86_MAP_0F && (opcode == 0x0d || (opcode >= 0x18 && opcode <= 0x1f));
}

/* Moves of control and debug registers, whose mod field does not count. */
static bool is_mod_ignored(const struct difference *difference)
{
    return difference->insn->map == X86_MAP_0F && difference->insn->opcode >= 0x20 &&
           difference->insn->opcode <= 0x23 && difference->insn->modrm < 0xc0;
}

/* 66 beside a repeat prefix that selects the instruction: it is the same without the 66. */
static bool is_66_beside_repeat(const struct difference *difference)
{
    struct encoding_lead lead = encoding_lead_find(difference);
    struct x86_insn insn;

    return lead.has_66 && lead.has_repeat && encoding_decode_without(difference, "\x66", &insn) &&
           insn.mnemonic == difference->insn->mnemonic;
}

static bool is_with_prefix(const struct difference *difference)
{
    return difference->insn->opcode_offset > 0;
}

static bool is_66_and_rex_w(const struct difference *difference)
{
    return difference->insn->prefixes & X86_PREFIX_66 && difference->insn->rex & 8;
}

static bool is_digit_1(const struct difference *difference)
{
    return (difference->insn->modrm >> 3 & 7) == 1;
}

static bool is_digit_3_to_7(const struct difference *difference)
{
    return (difference->insn->modrm >> 3 & 7) >= 3;
}

static bool is_digit_6(const struct difference *difference)
{
    return (difference->insn->modrm >> 3 & 7) == 6;
}

static bool is_evex_w(const struct difference *difference)
{
    return is_evex(difference) && encoding_lead_bytes(difference)[2] & 0x80;
}

static bool is_evex_longer(const struct difference *difference)
{
    return is_evex(difference) && difference->insn->rounding != 0;
}

static bool is_evex_rounding(const struct difference *difference)
{
    return is_evex(difference) && difference->insn->broadcast && !difference->insn->is_memory;
}

static bool is_register_form(const struct difference *difference)
{
    return difference->insn->modrm >= 0xc0;
}

static const struct difference_condition conditions[] = {
    {"apx", is_apx},
    {"map_7", is_map_7},
    {"length_3", is_length_3},
    {"gather_equal", is_gather_equal},
    {"tile_equal", is_tile_equal},
    {"destination_equal", is_destination_equal},
    {"promoted", is_promoted},
    {"pp_66", is_pp_66},
    {"vex_w", is_vex_w},
    {"without_66", is_without_66},
    {"control_register", is_control_register},
    {"rex_before_vector", difference_has_rex_before_vector},
    {"prefix_before_vector", difference_has_prefix_before_vector},
    {"stray_prefix", difference_has_stray_prefix},
    {"stray_lock", difference_has_stray_lock},
    {"segment_cs", difference_loads_cs},
    {"padlock_without_rep", is_padlock_without_rep},
    {"reserved_nop", is_reserved_nop},
    {"mod_ignored", is_mod_ignored},
    {"66_beside_repeat", is_66_beside_repeat},
    {"prefix", is_with_prefix},
    {"66_and_rex_w", is_66_and_rex_w},
    {"digit_1", is_digit_1},
    {"digit_3_to_7", is_digit_3_to_7},
    {"digit_6", is_digit_6},
    {"evex_w", is_evex_w},
    {"evex_longer", is_evex_longer},
    {"evex_rounding", is_evex_rounding},
    {"register_form", is_register_form},
    {NULL, NULL},
};

int main(void)
{
    static struct comparison comparison;
    static struct corpus corpus;

    for (unsigned i = 0; i < workers_count(); i++) {
        if (llvm_oracle_create(&comparison.oracles[i]) != 0)
            check_skip("LLVM " LLVM_ORACLE_RELEASE " is not installed (package libllvm" LLVM_ORACLE_RELEASE ")");
    }
    if (difference_list_init(&comparison.list, "tests/data/x86_decoder_llvm_differences", conditions) != 0)
        return 1;
    corpus_init(&corpus);

    size_t pieces = corpus_cut(&corpus, PIECE_BYTES, &comparison.pieces);

    workers_run(ENCODING_WALK_PARTS, walk, &comparison);
    workers_run(pieces, sweep, &comparison);
    printf("compared: %llu instructions of real code, %llu of %llu encodings\n", comparison.swept,
           comparison.walked_valid, comparison.walked);
    CHECK(comparison.swept >= MIN_SWEPT);
    CHECK_EQUAL(difference_list_finish(&comparison.list), 0);
    free(comparison.pieces);
    corpus_deinit(&corpus);
    difference_list_deinit(&comparison.list);
    for (unsigned i = 0; i < workers_count(); i++)
        llvm_oracle_destroy(comparison.oracles[i]);
    return check_failures == 0 ? 0 : 1;
}
