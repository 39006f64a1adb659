/* SPDX-License-Identifier: MIT */
/* configurations: debug-gcc */
/*
 * What the decoder says of an instruction's effects is held against the real CPU: for every form in its tables,
 * instructions are drawn and run from random states, and again from states that differ only where the instruction is
 * said not to look. Each place in the tables is one case of a sandbox, so that an instruction which does harm costs one
 * place.
 *
 *     test_decoder_effects [instructions a place [seed [report]]]
 *
 * "report" adds the list of claims that no run confirmed; they are no failures, since the decoder may claim too much.
 */
#define _GNU_SOURCE
#include "arch/x86_64/isa/decoder.h"

#include <errno.h>
#include <sys/mman.h>

#include "support/check.h"
#include "support/effect_check.h"
#include "support/effect_record.h"
#include "support/insn_generator.h"
#include "support/insn_lab.h"
#include "support/random.h"
#include "support/sandbox.h"

#if defined(__x86_64__)

enum { DEFAULT_DRAWS = 24, MEMORY_BYTES = 2 * INSN_LAB_ARENA_BYTES };

/* Nothing is mapped there: it is the guard behind the constants. */
static const struct arena_span unmapped = {INSN_LAB_CONSTANT + 0x40000, INSN_LAB_ARENA_BYTES};

static struct insn_places places;
static struct effect_record *records; /* by form, shared with the children */
static struct insn_lab lab;
static struct effect_run base, variant;
static uint8_t contents[3][MEMORY_BYTES]; /* of memory: two random ones, and zeros */
static uint64_t draws = DEFAULT_DRAWS;

/* ---- running -------------------------------------------------------------------------------------------------------
 */

static int begin(void *context)
{
    struct random random;

    (void)context;
    random_init(&random, 7);
    random_fill(&random, contents[0], MEMORY_BYTES);
    random_fill(&random, contents[1], MEMORY_BYTES);
    base.memory_after = malloc(MEMORY_BYTES);
    variant.memory_after = malloc(MEMORY_BYTES);
    if (base.memory_after == NULL || variant.memory_after == NULL)
        return -ENOMEM;
    base.memory_bytes = variant.memory_bytes = MEMORY_BYTES;
    return insn_lab_init(&lab);
}

static void run(const struct x86_insn *insn, struct effect_run *run)
{
    memcpy(lab.data.base, run->memory_before, INSN_LAB_ARENA_BYTES);
    memcpy(lab.stack.base, run->memory_before + INSN_LAB_ARENA_BYTES, INSN_LAB_ARENA_BYTES);
    code_runner_run(&lab.runner, &run->initial, &run->result);
    run->is_complete = insn_lab_completed(&run->result, insn);
    memcpy(run->memory_after, lab.data.base, INSN_LAB_ARENA_BYTES);
    memcpy(run->memory_after + INSN_LAB_ARENA_BYTES, lab.stack.base, INSN_LAB_ARENA_BYTES);
}

/* Where the memory operand shall lie: where the instruction's claims are put to the test. */
static struct arena_span draw_span(const struct x86_insn *insn, struct random *random)
{
    if (!(insn->properties & (X86_MEMORY_READ | X86_MEMORY_WRITE)) && random_chance(random, 1, 2))
        return unmapped;
    if (!(insn->properties & X86_MEMORY_WRITE) && random_chance(random, 1, 4))
        return arena_span_of(&lab.constant);
    return arena_span_of(&lab.data);
}

/* An address that cannot be aimed at and might be the harness's own memory. */
static bool is_dangerous(const struct x86_insn *insn)
{
    return insn->segment == X86_FS && insn->properties & X86_SEGMENT_USE &&
           (insn->address_bits == 32 || insn->base == X86_GPR_NONE);
}

/* Calls of the hypervisor are its business. */
static bool is_tested(const struct x86_form *form)
{
    const struct x86_traits *traits = x86_traits_of(form);

    return traits->flow == X86_FLOW_NEXT && !(traits->properties & X86_SEGMENT_CHANGE) &&
           form->mnemonic != X86_MNEMONIC_vmcall && form->mnemonic != X86_MNEMONIC_vmmcall;
}

/* ---- claims ---------------------------------------------------------------------------------------------------------
 */

/* Other values for what is not read, half of it at a time. AC is no operand: it makes unaligned accesses fault. */
static void change_unread(const struct x86_insn *insn, struct random *random)
{
    variant.initial = base.initial;
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        if (!(insn->gpr_read & X86_GPR_BIT(i)) && random_chance(random, 1, 2))
            variant.initial.gpr[i] = random_chance(random, 1, 2) ? random_u64(random) : ~base.initial.gpr[i];
    variant.initial.rflags ^= random_u64(random) & EFFECT_FLAGS & ~(insn->flags.read | X86_FLAG_AC);
}

static const char *check_variants(const struct x86_insn *insn, struct random *random, struct effect_text text)
{
    variant.memory_before = base.memory_before;
    change_unread(insn, random);
    run(insn, &variant);

    const char *broken = effect_check_single(insn, &variant, text);

    if (broken == NULL)
        broken = effect_check_pair(insn, &base, &variant, text);
    if (broken != NULL || insn->properties & X86_MEMORY_READ)
        return broken;
    variant.initial = base.initial;
    variant.memory_before = contents[1];
    run(insn, &variant);
    return effect_check_memory(insn, &base, &variant, text);
}

static void observe_reads(const struct x86_insn *insn, struct effect_record *record, struct random *random)
{
    struct effect_change change;

    variant.initial = base.initial;
    variant.memory_before = base.memory_before;
    if (!effect_change_draw(insn, random, &variant.initial, &change))
        return;
    run(insn, &variant);
    effect_record_read(record, &change, &base, &variant);
}

/* Runs an instruction in some states. Returns the claim that does not hold, or NULL. */
static const char *check_insn(const struct x86_insn *insn, struct random *random, struct effect_text text)
{
    struct effect_record *record = &records[insn->form - x86_forms];

    base.memory_before = contents[random_chance(random, 1, 6) ? 2 : 0];
    insn_lab_draw_state(&lab, insn, draw_span(insn, random), random, &base.initial);
    run(insn, &base);
    effect_record_add(record, insn, &base);
    if (base.result.end != RUN_SIGNAL || base.result.signal == SIGILL)
        return NULL;
    if (insn->properties & X86_PRIVILEGED)
        return base.is_complete ? "privileged" : NULL;

    const char *broken = effect_check_single(insn, &base, text);

    if (broken != NULL || insn->properties & X86_UNPREDICTABLE)
        return broken;
    broken = check_variants(insn, random, text);
    if (broken == NULL)
        observe_reads(insn, record, random);
    return broken;
}

/* One place of the tables. */
static enum sandbox_verdict check_place(void *context, const struct sandbox_case *now)
{
    const struct insn_place *place = &places.list[now->number];
    const struct x86_form *form = &x86_forms[place->form];
    struct insn_draw draw = {INSN_LAB_PC, arena_span_of(&lab.data), X86_DECODE_AMD};
    enum sandbox_verdict verdict = SANDBOX_PASSED;
    struct random random;

    (void)context;
    if (!is_tested(form))
        return SANDBOX_SKIPPED;
    random_init(&random, now->seed);
    for (uint64_t i = 0; i < draws; i++) {
        uint8_t bytes[32];
        char text[64], details[512] = "";
        struct x86_insn insn;

        if (!insn_place_draw(place, &draw, &random, bytes, &insn) || is_dangerous(&insn))
            continue;
        insn_bytes_print(bytes, insn.length, text, sizeof(text));
        snprintf(now->text, now->text_bytes, "%s (%s)", x86_mnemonic_name(insn.mnemonic), text);
        insn_lab_place(&lab, bytes);

        const char *broken = check_insn(&insn, &random, (struct effect_text){details, sizeof(details)});

        if (broken == NULL)
            continue;
        verdict = SANDBOX_FAILED;
        if (records[place->form].broken++ < 2)
            printf("%s: %s (%s): %.*s\n", broken, x86_mnemonic_name(insn.mnemonic), text, (int)strcspn(details, "\n"),
                   details);
    }
    return verdict;
}

/* ---- the whole -----------------------------------------------------------------------------------------------------
 */

struct summary {
    uint64_t runs, completed, faulted, timed_out;
    unsigned forms, tested, exercised, absent, only_faulted, unseen;
};

static struct summary summarize(bool wants_report)
{
    struct summary summary = {0};

    for (unsigned i = 1; i < x86_form_count; i++) {
        const struct effect_record *record = &records[i];

        summary.forms++;
        summary.runs += record->runs;
        summary.completed += record->completed;
        summary.faulted += record->faulted;
        summary.timed_out += record->timed_out;
        /* Privileged ones are run too: they must fault. */
        if (is_tested(&x86_forms[i]) && record->runs == 0) {
            check_failures++;
            printf("never drawn: %s\n", x86_mnemonic_name(x86_forms[i].mnemonic));
        }
        if (record->runs == 0)
            continue;
        summary.tested++;
        summary.exercised += record->completed != 0;
        summary.absent += record->illegal == record->runs;
        if (record->completed == 0 && record->illegal != record->runs &&
            !(x86_traits_of(&x86_forms[i])->properties & X86_PRIVILEGED)) {
            summary.only_faulted++;
            printf("never completed: %s (%u faults, %u without an end)\n", x86_mnemonic_name(x86_forms[i].mnemonic),
                   record->faulted, record->timed_out);
        }
        if (wants_report)
            summary.unseen += effect_record_print_unseen(record, &x86_forms[i], stdout);
    }
    return summary;
}

static void print_absent(void)
{
    unsigned last = 0;

    printf("not on this CPU, so not proven:");
    for (unsigned i = 1; i < x86_form_count; i++) {
        if (records[i].runs == 0 || records[i].illegal != records[i].runs || x86_forms[i].mnemonic == last)
            continue;
        last = x86_forms[i].mnemonic;
        printf(" %s", x86_mnemonic_name(last));
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    static struct sandbox_outcome outcome;
    bool wants_report = argc > 3;
    struct sandbox_batch batch = {
        .seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1, .begin = begin, .run = check_place};

    if (argc > 1)
        draws = strtoull(argv[1], NULL, 0);
    if (machine_state_components() == 0)
        check_skip("this CPU or kernel has no XSAVE");
    records = mmap(NULL, x86_form_count * sizeof(*records), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (records == MAP_FAILED || insn_places_init(&places) != 0)
        check_skip("no memory");
    batch.count = places.count;

    int status = sandbox_run(&batch, &outcome);

    if (status == -ECHILD)
        check_skip("the laboratory cannot be set up: its addresses are taken");
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(outcome.failed + outcome.died + outcome.hung, 0);
    if (outcome.failed + outcome.died + outcome.hung != 0)
        sandbox_outcome_print(&outcome, stdout);

    struct summary summary = summarize(wants_report);

    if (wants_report)
        print_absent();
    printf(
        "%u forms, of which %u run as ordinary instructions: %u were exercised, %u are not on this CPU, %u only fault\n"
        "%" PRIu64 " instructions drawn: %" PRIu64 " completed, %" PRIu64 " faulted, %" PRIu64 " timed out\n",
        summary.forms, summary.tested, summary.exercised, summary.absent, summary.only_faulted, summary.runs,
        summary.completed, summary.faulted, summary.timed_out);
    insn_places_deinit(&places);
    munmap(records, x86_form_count * sizeof(*records));
    return check_failures == 0 ? 0 : 1;
}

#else

int main(void)
{
    check_skip("this is not an x86-64");
}

#endif
