/* SPDX-License-Identifier: MIT */
/* configurations: debug-gcc */
/*
 * Which bytes are instructions, and how long they are, is held against the real CPU. What the decoder refuses, the CPU
 * must refuse: every opcode of every map is tried with every prefix, width and length, and a sample of the other
 * fields. What the decoder accepts, the CPU must execute, unless it has nothing of that form, and must find as long as
 * the decoder says: an int3 stands right behind it, or the end of the page.
 *
 *     test_decoder_rejects [rounds [seed]]
 *
 * Known exceptions are in tests/data/x86_ignored_fields; so run it from the top of the tree.
 */
#define _GNU_SOURCE
#include "arch/x86_64/isa/decoder.h"

#include <errno.h>
#include <sys/mman.h>

#include "support/check.h"
#include "support/encoding_point.h"
#include "support/insn_generator.h"
#include "support/insn_lab.h"
#include "support/random.h"
#include "support/sandbox.h"

#if defined(__x86_64__)

#include <cpuid.h>

#define IGNORED_FIELDS "tests/data/x86_ignored_fields"

enum { DEFAULT_ROUNDS = 1, FETCH = 1 << 4, DRAWS_PER_ROUND = 12, MAX_RULES = 64 };

struct form_count {
    uint32_t runs, illegal;
    uint8_t illegal_bytes[X86_MAX_INSN_BYTES]; /* the last instruction that the CPU refused */
    uint8_t illegal_length;
};

/* What children find out. */
struct findings {
    uint64_t points, refused, explained, unexplained, accepted, wrong;
    uint64_t rule_uses[MAX_RULES];
    struct form_count forms[];
};

static struct findings *findings;
static struct ignored_fields ignored;
static struct insn_places places;
static struct insn_lab lab;
static struct machine_state state;
static struct run_result result;
static uint64_t rounds = DEFAULT_ROUNDS, batch_seed = 1;
static unsigned decode_options;

/* ---- running -------------------------------------------------------------------------------------------------------
 */

/* Every register points into the data, except for rsp and the count. */
static int begin(void *context)
{
    int status = insn_lab_init(&lab);

    (void)context;
    if (status != 0)
        return status;
    machine_state_init(&state);
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        state.gpr[i] = INSN_LAB_DATA + 0x1000 + 0x100 * i;
    state.gpr[X86_RSP] = INSN_LAB_STACK + 0x2000;
    state.gpr[X86_RCX] = 0;
    state.rip = INSN_LAB_PC;
    return 0;
}

static void run_bytes(const uint8_t bytes[32])
{
    insn_lab_place(&lab, bytes);
    code_runner_run(&lab.runner, &state, &result);
}

static int decode(const uint8_t bytes[32], struct x86_insn *insn)
{
    return x86_decode(bytes, 32, app_pc_of(INSN_LAB_PC), decode_options, insn);
}

static bool is_illegal(void)
{
    return result.end == RUN_SIGNAL && result.signal == SIGILL && result.trap_number == INSN_TRAP_INVALID_OPCODE;
}

static void print_finding(const char *what, const uint8_t *bytes, size_t count)
{
    char text[64], end[160];

    insn_bytes_print(bytes, count, text, sizeof(text));
    run_result_describe(&result, end, sizeof(end));
    printf("%s: %s: %s\n", what, text, end);
}

/* ---- what is refused -----------------------------------------------------------------------------------------------
 */

static bool accepts(const struct encoding_point *point)
{
    struct x86_insn insn;
    uint8_t bytes[32];

    encoding_point_write(point, bytes);
    return decode(bytes, &insn) == 0;
}

static void try_point(const struct encoding_point *point)
{
    struct x86_insn insn;
    uint8_t bytes[32];
    size_t used = encoding_point_write(point, bytes);

    findings->points++;
    if (decode(bytes, &insn) != -EILSEQ)
        return;
    findings->refused++;
    run_bytes(bytes);
    if (is_illegal())
        return;

    int rule = ignored_fields_explain(&ignored, point, accepts);

    if (rule >= 0) {
        findings->explained++;
        findings->rule_uses[rule]++;
        return;
    }
    if (findings->unexplained++ < 40)
        print_finding("refused, but the CPU has it", bytes, used);
}

/* The number of opcode maps that the encoding can name. */
static const uint8_t map_counts[ENCODING_KIND_COUNT] = {
    [ENCODING_LEGACY] = 4, [ENCODING_VEX] = 32, [ENCODING_XOP] = 32, [ENCODING_EVEX] = 16};

/* A case is an opcode under a prefix: this many prefixes. */
static const uint8_t prefix_counts[ENCODING_KIND_COUNT] = {
    [ENCODING_LEGACY] = 6, [ENCODING_VEX] = 4, [ENCODING_XOP] = 4, [ENCODING_EVEX] = 4};

static uint64_t case_count(enum encoding_kind kind)
{
    return 256ull * map_counts[kind] * prefix_counts[kind];
}

static struct encoding_point point_of_case(uint64_t number)
{
    struct encoding_point point = {.kind = ENCODING_LEGACY};

    while (number >= case_count(point.kind))
        number -= case_count(point.kind++);
    point.field[ENCODING_OPCODE] = (uint8_t)(number % 256);
    number /= 256;
    point.field[ENCODING_PREFIX] = (uint8_t)(number % prefix_counts[point.kind]);
    point.field[ENCODING_MAP] = (uint8_t)(number / prefix_counts[point.kind]);
    return point;
}

/* Bytes that are prefixes or lead to another map, where an opcode is meant. */
static bool is_escape(const struct encoding_point *point)
{
    static const uint8_t primary[] = {0x0f, 0x26, 0x2e, 0x36, 0x3e, 0x62, 0x64, 0x65,
                                      0x66, 0x67, 0x8f, 0xc4, 0xc5, 0xf0, 0xf2, 0xf3};
    uint8_t opcode = point->field[ENCODING_OPCODE];

    if (point->kind == ENCODING_XOP)
        return point->field[ENCODING_MAP] < 8;
    if (point->kind != ENCODING_LEGACY || point->field[ENCODING_MAP] >= 2)
        return false;
    if (point->field[ENCODING_MAP] == 1)
        return opcode == 0x38 || opcode == 0x3a;
    return (opcode >= 0x40 && opcode <= 0x4f) || memchr(primary, opcode, sizeof(primary)) != NULL;
}

/* Whether some CPU has instructions in the map; the other maps get less attention. */
static bool is_known_map(const struct encoding_point *point)
{
    unsigned map = point->field[ENCODING_MAP];

    if (point->kind == ENCODING_LEGACY)
        return true;
    return point->kind == ENCODING_XOP ? map <= 10 : map >= 1 && map <= 7;
}

static uint8_t draw_or_zero(struct random *random, unsigned limit)
{
    return random_chance(random, 1, 2) ? 0 : (uint8_t)random_below(random, limit);
}

/* The fields that a case does not go through one by one. */
static void draw_fields(struct encoding_point *point, struct random *random)
{
    static const uint8_t rex[] = {0, 0, 0, 0x40, 0x48, 0x44, 0x41, 0x42, 0x4f};
    static const uint8_t strays[] = {0x66, 0xf2, 0xf3, 0xf0, 0x40, 0x48};
    uint8_t *field = point->field;

    field[ENCODING_LOCK] = random_chance(random, 1, 8);
    field[ENCODING_REX] = rex[random_below(random, sizeof(rex))];
    field[ENCODING_R] = draw_or_zero(random, 2);
    field[ENCODING_X] = draw_or_zero(random, 2);
    field[ENCODING_B] = draw_or_zero(random, 2);
    field[ENCODING_R_HIGH] = draw_or_zero(random, 2);
    field[ENCODING_V_HIGH] = draw_or_zero(random, 2);
    field[ENCODING_VVVV] = draw_or_zero(random, 16);
    field[ENCODING_FIXED] = !random_chance(random, 1, 16);
    field[ENCODING_MASK] = draw_or_zero(random, 8);
    field[ENCODING_Z] = random_chance(random, 1, 4);
    field[ENCODING_REG] = (uint8_t)random_below(random, 8);
    field[ENCODING_RM] = (uint8_t)random_below(random, 8);
    field[ENCODING_STRAY] = random_chance(random, 1, 16) ? strays[random_below(random, sizeof(strays))] : 0;
    /* With one more prefix the longest would have 16 bytes, and be refused for that with another exception. */
    field[ENCODING_ADDRESS] = !field[ENCODING_STRAY] && !field[ENCODING_LOCK] && random_chance(random, 1, 16);
    field[ENCODING_SHORT] = random_chance(random, 1, 2);
}

static void try_opcode(struct encoding_point point, struct random *random)
{
    static const uint8_t shape_counts[ENCODING_KIND_COUNT] = {1, 4, 4, 16}, tries[ENCODING_KIND_COUNT] = {32, 4, 4, 2};
    unsigned step = is_known_map(&point) ? 1 : 4;

    for (unsigned shape = point.field[ENCODING_OPCODE] % step; shape < shape_counts[point.kind]; shape += step) {
        point.field[ENCODING_W] = shape & 1;
        point.field[ENCODING_LENGTH] = shape >> 1 & (point.kind == ENCODING_EVEX ? 3 : 1);
        point.field[ENCODING_BROADCAST] = (uint8_t)(shape >> 3);
        for (unsigned i = 0; i < tries[point.kind]; i++) {
            draw_fields(&point, random);
            point.field[ENCODING_MOD] = i % 2 == 0 ? 3 : (uint8_t)random_below(random, 3);
            if (point.kind == ENCODING_LEGACY)
                point.field[ENCODING_REG] = i / 2 % 8;
            try_point(&point);
        }
    }
}

static enum sandbox_verdict check_refused(void *context, const struct sandbox_case *now)
{
    struct encoding_point point = point_of_case(now->number);
    uint64_t before = findings->unexplained;
    struct random random;

    (void)context;
    if (is_escape(&point))
        return SANDBOX_SKIPPED;
    snprintf(now->text, now->text_bytes, "encoding %d, map %d, prefix %d, opcode %02x", (int)point.kind,
             point.field[ENCODING_MAP], point.field[ENCODING_PREFIX], point.field[ENCODING_OPCODE]);
    random_init(&random, now->seed);
    for (uint64_t i = 0; i < rounds; i++)
        try_opcode(point, &random);
    return findings->unexplained == before ? SANDBOX_PASSED : SANDBOX_FAILED;
}

/* ---- what is accepted ----------------------------------------------------------------------------------------------
 */

/* Calls of the kernel and of the hypervisor would be made, and far transfers may lead to other modes. */
static bool is_executable_here(const struct x86_insn *insn)
{
    return insn->flow <= X86_FLOW_RETURN && !(insn->properties & X86_SEGMENT_CHANGE) &&
           insn->mnemonic != X86_MNEMONIC_vmcall && insn->mnemonic != X86_MNEMONIC_vmmcall &&
           !(insn->segment == X86_FS && insn->properties & X86_SEGMENT_USE);
}

/* Runs the first `count` bytes at the end of the page; nothing is mapped behind it. */
static void run_at_page_end(const uint8_t *bytes, size_t count)
{
    uint8_t *place = lab.code.base + lab.code.size_bytes - count;

    memcpy(place, bytes, count);
    state.rip = (uint64_t)(uintptr_t)place;
    code_runner_run(&lab.runner, &state, &result);
    state.rip = INSN_LAB_PC;
    memset(place, 0xcc, count);
}

/* The CPU wanted more bytes than there were. */
static bool needed_more(size_t count)
{
    uint64_t end = INSN_LAB_CODE + lab.code.size_bytes;

    return result.end == RUN_SIGNAL && result.trap_number == INSN_TRAP_PAGE && result.error_code & FETCH &&
           result.cr2 == end && result.state.rip == end - count;
}

static bool check_length(const struct x86_insn *insn, const uint8_t *bytes)
{
    if (insn->length > 1) {
        run_at_page_end(bytes, insn->length - 1u);
        /* Not on this CPU, which then need not have looked at all of it. */
        if (is_illegal())
            return true;
        if (!needed_more(insn->length - 1u)) {
            print_finding("shorter than the decoder says", bytes, insn->length);
            return false;
        }
    }
    if (!is_executable_here(insn))
        return true;
    run_at_page_end(bytes, insn->length);
    if (!needed_more(insn->length))
        return true;
    print_finding("longer than the decoder says", bytes, insn->length);
    return false;
}

/* 0f 0d of a register is a nop to Intel, and invalid to AMD: it is like the nops around it, but no form of its own. */
static bool is_prefetch_of_register(const struct x86_insn *insn)
{
    return insn->map == X86_MAP_0F && insn->opcode == 0x0d && !insn->is_memory;
}

/* vmovd between xmm registers, which AVX10.2 added, has the same form as the older vmovd of other opcodes. */
static bool is_younger_vmovd(const struct x86_insn *insn)
{
    return insn->mnemonic == X86_MNEMONIC_vmovd && insn->map == X86_MAP_EVEX1 &&
           (insn->opcode == 0xd6 || insn->opcode == 0x7e);
}

/* Runs an instruction; returns false if it does not end where the decoder says. */
static bool check_execution(const struct x86_insn *insn, const uint8_t *bytes, struct random *random)
{
    struct form_count *form = &findings->forms[insn->form - x86_forms];

    insn_lab_draw_state(&lab, insn, arena_span_of(&lab.data), random, &state);
    run_bytes(bytes);
    if (is_illegal() && (is_prefetch_of_register(insn) || is_younger_vmovd(insn)))
        return true;
    form->runs++;
    if (is_illegal()) {
        form->illegal++;
        form->illegal_length = insn->length;
        memcpy(form->illegal_bytes, bytes, insn->length);
        return true;
    }

    bool is_completed = result.end == RUN_SIGNAL && result.trap_number == INSN_TRAP_BREAKPOINT;

    if (insn->flow == X86_FLOW_NEXT && is_completed && !insn_lab_completed(&result, insn)) {
        print_finding("goes on elsewhere than the decoder says", bytes, insn->length);
        return false;
    }
    return check_length(insn, bytes);
}

static enum sandbox_verdict check_accepted(void *context, const struct sandbox_case *now)
{
    const struct insn_place *place = &places.list[now->number];
    struct insn_draw draw = {INSN_LAB_PC, arena_span_of(&lab.data), decode_options};
    enum sandbox_verdict verdict = SANDBOX_PASSED;
    struct random random;

    (void)context;
    random_init(&random, now->seed);
    for (uint64_t i = 0; i < DRAWS_PER_ROUND * rounds; i++) {
        struct x86_insn insn;
        uint8_t bytes[32];
        char text[64];

        if (!insn_place_draw(place, &draw, &random, bytes, &insn))
            continue;
        insn_bytes_print(bytes, insn.length, text, sizeof(text));
        snprintf(now->text, now->text_bytes, "%s (%s)", x86_mnemonic_name(insn.mnemonic), text);
        findings->accepted++;

        bool is_right = is_executable_here(&insn) ? check_execution(&insn, bytes, &random) : check_length(&insn, bytes);

        if (is_right)
            continue;
        findings->wrong++;
        verdict = SANDBOX_FAILED;
    }
    return verdict;
}

/* ---- what vendors and disassemblers disagree about
 * -------------------------------------------------------------------
 */

/* Runs the bytes and checks that the CPU went to where the decoder says that they lead. */
static void check_target(const uint8_t *code, size_t count)
{
    struct x86_insn insn;
    uint8_t bytes[32];

    memset(bytes, 0xcc, sizeof(bytes));
    memcpy(bytes, code, count);
    CHECK_EQUAL(decode(bytes, &insn), 0);
    state.rflags |= X86_FLAG_ZF;
    run_bytes(bytes);
    CHECK_EQUAL(run_result_stop_pc(&result), insn.target);
}

static void near_branches_under_66_go_where_the_decoder_says(void)
{
    static const uint8_t jump[] = {0x66, 0xe9, 0x10, 0x00, 0x00, 0x00}, call[] = {0x66, 0xe8, 0x10, 0x00, 0x00, 0x00};
    static const uint8_t branch[] = {0x66, 0x0f, 0x84, 0x10, 0x00, 0x00, 0x00}, short_jump[] = {0x66, 0xeb, 0x10};

    check_target(jump, sizeof(jump));
    check_target(call, sizeof(call));
    check_target(branch, sizeof(branch));
    check_target(short_jump, sizeof(short_jump));
}

/* mov rax, [rbx] under two segment prefixes; fs and gs are at different places, so the value tells which one counts. */
static void the_last_of_fs_and_gs_counts_whatever_else_follows(void)
{
    static const uint8_t segments[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65};

    for (unsigned i = 0; i < sizeof(segments) * sizeof(segments); i++) {
        uint8_t bytes[32] = {segments[i / sizeof(segments)], segments[i % sizeof(segments)], 0x48, 0x8b, 0x03, 0xcc};
        uint64_t address = INSN_LAB_DATA + 0x1000, base = 0;
        struct x86_insn insn;

        CHECK_EQUAL(decode(bytes, &insn), 0);
        if (insn.segment == X86_FS)
            base = lab.fs_base;
        if (insn.segment == X86_GS)
            base = INSN_LAB_GS_BASE;
        memcpy(lab.data.base + 0x1000, &address, sizeof(address));
        state.gpr[X86_RBX] = address - base;
        run_bytes(bytes);
        CHECK_EQUAL(result.trap_number, INSN_TRAP_BREAKPOINT);
        CHECK_EQUAL(result.state.gpr[X86_RAX], address);
    }
}

/* mov eax, [r12 + disp32] with an extension of the base that is not there: libZydis takes it for r13. */
static void there_is_no_base_under_mod_0_even_if_extended(void)
{
    uint8_t bytes[32] = {0x67, 0x43, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0xcc};
    uint32_t displacement = (uint32_t)INSN_LAB_DATA + 0x1000;
    struct x86_insn insn;

    memcpy(bytes + 5, &displacement, sizeof(displacement));
    CHECK_EQUAL(decode(bytes, &insn), 0);
    CHECK_EQUAL(insn.base, X86_GPR_NONE);
    CHECK_EQUAL(insn.index, X86_R12);
    state.gpr[X86_R12] = 0x40;
    state.gpr[X86_R13] = 0x80;
    memset(lab.data.base + 0x1000, 0, 0x200);
    lab.data.base[0x1040] = 1;
    run_bytes(bytes);
    CHECK_EQUAL(result.state.gpr[X86_RAX], 1);
}

/* f3 90 is pause, which is not an exchange of rax with itself; with rex.b there is something to exchange. */
static void pause_with_an_extended_register_is_an_exchange(void)
{
    uint8_t bytes[32] = {0xf3, 0x49, 0x90, 0xcc};
    struct x86_insn insn;

    CHECK_EQUAL(decode(bytes, &insn), 0);
    CHECK_EQUAL(insn.mnemonic, X86_MNEMONIC_xchg);
    CHECK_EQUAL(insn.gpr_written, X86_GPR_BIT(X86_RAX) | X86_GPR_BIT(X86_R8));
    state.gpr[X86_RAX] = 1;
    state.gpr[X86_R8] = 2;
    run_bytes(bytes);
    CHECK_EQUAL(result.state.gpr[X86_RAX], 2);
    CHECK_EQUAL(result.state.gpr[X86_R8], 1);
}

static enum sandbox_verdict check_disagreements(void *context, const struct sandbox_case *now)
{
    static const struct check_case cases[] = {
        CHECK_CASE(near_branches_under_66_go_where_the_decoder_says),
        CHECK_CASE(the_last_of_fs_and_gs_counts_whatever_else_follows),
        CHECK_CASE(there_is_no_base_under_mod_0_even_if_extended),
        CHECK_CASE(pause_with_an_extended_register_is_an_exchange),
    };

    (void)context;
    snprintf(now->text, now->text_bytes, "what vendors and disassemblers disagree about");
    return check_run(cases, sizeof(cases) / sizeof(cases[0])) == 0 ? SANDBOX_PASSED : SANDBOX_FAILED;
}

/* ---- the whole -----------------------------------------------------------------------------------------------------
 */

static bool is_amd(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(0, &a, &b, &c, &d) && b == signature_AMD_ebx;
}

/* The list of ignored fields was made on AMD family 25. */
static bool is_listed_cpu(void)
{
    unsigned a, b, c, d;

    return is_amd() && __get_cpuid(1, &a, &b, &c, &d) && (a >> 8 & 15) + (a >> 20 & 255) == 25;
}

static void run_batch(const char *what, uint64_t count,
                      enum sandbox_verdict (*run)(void *, const struct sandbox_case *))
{
    static struct sandbox_outcome outcome;
    struct sandbox_batch batch = {.seed = batch_seed, .count = count, .begin = begin, .run = run};
    int status = sandbox_run(&batch, &outcome);

    if (status == -ECHILD)
        check_skip("the laboratory cannot be set up: its addresses are taken");
    CHECK_EQUAL(status, 0);
    if (outcome.failed + outcome.died + outcome.hung == 0)
        return;
    check_failures++;
    printf("%s: ", what);
    sandbox_outcome_print(&outcome, stdout);
}

/* A form that the CPU has must not be refused now and then. */
static void check_forms(void)
{
    unsigned run = 0, absent = 0;

    for (unsigned i = 1; i < x86_form_count; i++) {
        const struct form_count *form = &findings->forms[i];
        char text[64];

        run += form->runs != 0;
        absent += form->runs != 0 && form->illegal == form->runs;
        if (form->illegal == 0 || form->illegal == form->runs)
            continue;
        check_failures++;
        insn_bytes_print(form->illegal_bytes, form->illegal_length, text, sizeof(text));
        printf("accepted, but the CPU refuses %u of %u: %s (%s)\n", form->illegal, form->runs,
               x86_mnemonic_name(x86_forms[i].mnemonic), text);
    }
    printf("%" PRIu64 " accepted instructions of %u forms, of which %u are not on this CPU\n", findings->accepted, run,
           absent);
}

static void check_rules(void)
{
    printf("%" PRIu64 " encodings, %" PRIu64 " refused; %" PRIu64
           " of these the CPU executes for known reasons, %" PRIu64 " for unknown ones\n",
           findings->points, findings->refused, findings->explained, findings->unexplained);
    for (unsigned i = 0; i < ignored.count; i++)
        printf("    %s, line %u: %" PRIu64 "\n", IGNORED_FIELDS, ignored_fields_line(&ignored, i),
               findings->rule_uses[i]);
}

int main(int argc, char **argv)
{
    size_t findings_bytes = sizeof(*findings) + x86_form_count * sizeof(findings->forms[0]);
    uint64_t opcode_count = 0;
    unsigned line;

    if (argc > 1)
        rounds = strtoull(argv[1], NULL, 0);
    if (argc > 2)
        batch_seed = strtoull(argv[2], NULL, 0);
    if (machine_state_components() == 0)
        check_skip("this CPU or kernel has no XSAVE");
    decode_options = is_amd() ? X86_DECODE_AMD : X86_DECODE_INTEL;
    findings = mmap(NULL, findings_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (findings == MAP_FAILED || insn_places_init(&places) != 0)
        check_skip("no memory");

    int status = ignored_fields_init(&ignored, IGNORED_FIELDS, &line);

    if (status != 0 || ignored.count > MAX_RULES) {
        printf("%s, line %u: %s\n", IGNORED_FIELDS, line, strerror(-status));
        return 1;
    }
    for (unsigned kind = 0; kind < ENCODING_KIND_COUNT; kind++)
        opcode_count += case_count((enum encoding_kind)kind);
    run_batch("disagreements", 1, check_disagreements);
    run_batch("accepted", places.count, check_accepted);
    check_forms();
    run_batch("refused", opcode_count, check_refused);
    check_rules();
    ignored_fields_deinit(&ignored);
    insn_places_deinit(&places);
    if (check_failures != 0 && !is_listed_cpu())
        check_skip("what this CPU ignores is not listed yet");
    return check_failures == 0 ? 0 : 1;
}

#else

int main(void)
{
    check_skip("this is not an x86-64");
}

#endif
