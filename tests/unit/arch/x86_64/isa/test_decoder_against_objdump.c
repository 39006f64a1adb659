/* SPDX-License-Identifier: MIT */
/* configurations: debug-gcc */
/* time limit: 300 s */
/*
 * A fourth opinion: GNU objdump, over real code. The same bytes are instructions, they have the same length, mostly the
 * same name, the same flow, and the same targets and pc-relative addresses. What differs is explained in
 * tests/data/x86_decoder_objdump_differences.
 */
#define _GNU_SOURCE
#include "arch/x86_64/isa/decoder.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdatomic.h>
#include <unistd.h>

#include "support/check.h"
#include "support/corpus.h"
#include "support/difference_conditions.h"
#include "support/difference_list.h"
#include "support/disassembly_text.h"
#include "support/workers.h"

#define PIECE_BYTES    (512u << 10)
#define MIN_COMPARED   5000000u
#define MAX_LINE_BYTES 1024

struct comparison {
    struct difference_list list;
    struct corpus_piece *pieces;
    atomic_ullong compared, same_names, other_names, targets, addresses, pieces_done;
};

/* A line of objdump's output, and where the next one begins. */
struct line {
    uint64_t address, end;
    char text[MAX_LINE_BYTES];
    struct disassembly parsed;
    uint64_t comment; /* the address behind '#', 0 without */
    bool is_bad;
    bool is_before_symbol; /* objdump begins anew there, even inside of an instruction */
};

struct side_by_side {
    struct comparison *comparison;
    const struct line *line;
    const uint8_t *bytes;
    size_t available;
    struct x86_insn ours;
    bool is_ours;
};

static bool differ(struct side_by_side *pair, const char *field, uint64_t ours, uint64_t theirs)
{
    if (ours == theirs)
        return false;

    struct difference difference = {
        .field = field,
        .mnemonic = pair->is_ours ? x86_mnemonic_name(pair->ours.mnemonic) : pair->line->parsed.mnemonic,
        .bytes = pair->bytes,
        .available = pair->available,
        .insn = pair->is_ours ? &pair->ours : NULL,
        .other_text = pair->line->text,
        .ours = ours,
        .theirs = theirs,
    };

    difference_list_judge(&pair->comparison->list, &difference);
    return true;
}

/* Ours, theirs: the same instruction by another name. The letters are conditions, operand sizes, and comparisons. */
static const char *const synonyms[][2] = {
    {"jz", "je"},
    {"jnz", "jne"},
    {"jnb", "jae"},
    {"jnbe", "ja"},
    {"jnl", "jge"},
    {"jnle", "jg"},
    {"setz", "sete"},
    {"setnz", "setne"},
    {"setnb", "setae"},
    {"setnbe", "seta"},
    {"setnl", "setge"},
    {"setnle", "setg"},
    {"cmovz", "cmove"},
    {"cmovnz", "cmovne"},
    {"cmovnb", "cmovae"},
    {"cmovnbe", "cmova"},
    {"cmovnl", "cmovge"},
    {"cmovnle", "cmovg"},
    {"stos?", "stos"},
    {"movs[bwdq]", "movs"},
    {"lods?", "lods"},
    {"scas?", "scas"},
    {"cmps[bwdq]", "cmps"},
    {"ins[bwd]", "ins"},
    {"outs?", "outs"},
    {"vpcmp?", "vpcmp*"},
    {"vpcmpu?", "vpcmp*u?"},
    {"cmp[ps][sd]", "cmp*[ps][sd]"},
    {"vcmp[ps][sd]", "vcmp*[ps][sd]"},
    {"pclmulqdq", "pclmul?q?qdq"},
    {"vpclmulqdq", "vpclmul?q?qdq"},
    {"mov", "movabs"},
    {"pushfq", "pushf"},
    {"popfq", "popf"},
    {"ret", "retf"},
    {"ret", "retf[wq]"},
    {"iretd", "iret"},
    {"iret", "iretw"},
    {"popf", "popfw"},
    {"pushf", "pushfw"},
    {"leave", "leavew"},
    {"push", "pushw"},
    {"pop", "popw"},
    {"enter", "enterw"},
    {"jmp", "jmpw"},
    {"call", "callw"},
    {"ret", "retw"},
    {"feni8087_nop", "fneni(8087"},
    {"fdisi8087_nop", "fndisi(8087"},
    {"fsetpm287_nop", "fnsetpm(287"},
    {"nop", "xchg"},
    {"xcrypt_*", "xcrypt-*"},
    {"xstore", "xstore-rng"},
};

static bool is_synonym(const char *ours, const char *theirs)
{
    for (size_t i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++) {
        if (fnmatch(synonyms[i][0], ours, 0) == 0 && fnmatch(synonyms[i][1], theirs, 0) == 0)
            return true;
    }
    return false;
}

static void compare_names(struct side_by_side *pair)
{
    const char *ours = x86_mnemonic_name(pair->ours.mnemonic), *theirs = pair->line->parsed.mnemonic;

    if (strcmp(ours, theirs) == 0)
        atomic_fetch_add_explicit(&pair->comparison->same_names, 1, memory_order_relaxed);
    else if (is_synonym(ours, theirs))
        atomic_fetch_add_explicit(&pair->comparison->other_names, 1, memory_order_relaxed);
    else
        differ(pair, "mnemonic", pair->ours.mnemonic, 0);
}

static void compare_valid(struct side_by_side *pair)
{
    const struct line *line = pair->line;
    const struct x86_insn *ours = &pair->ours;
    struct comparison *comparison = pair->comparison;

    atomic_fetch_add_explicit(&comparison->compared, 1, memory_order_relaxed);
    compare_names(pair);
    if (differ(pair, "flow", ours->flow, line->parsed.flow))
        return;
    if (line->parsed.has_target) {
        atomic_fetch_add_explicit(&comparison->targets, 1, memory_order_relaxed);
        differ(pair, "target", ours->target, line->parsed.target);
        return;
    }
    if (differ(pair, "pc_relative", (ours->properties & X86_PC_RELATIVE) != 0, line->parsed.is_pc_relative) ||
        !line->parsed.is_pc_relative)
        return;
    atomic_fetch_add_explicit(&comparison->addresses, 1, memory_order_relaxed);
    differ(pair, "address", ours->target, line->comment);
}

static void compare(struct comparison *comparison, const struct corpus_section *section, const struct line *line)
{
    size_t offset = line->address - section->address;
    struct side_by_side pair = {
        .comparison = comparison,
        .line = line,
        .bytes = section->bytes + offset,
        .available = section->size_bytes - offset,
    };

    pair.is_ours = x86_decode(pair.bytes, pair.available, app_pc_of(line->address), X86_DECODE_INTEL, &pair.ours) == 0;
    /* objdump reads near branches under the operand-size prefix as AMD's CPUs do. */
    if (pair.is_ours && pair.ours.properties & X86_OPERAND_SIZE_BY_VENDOR)
        pair.is_ours =
            x86_decode(pair.bytes, pair.available, app_pc_of(line->address), X86_DECODE_AMD, &pair.ours) == 0;
    if (line->is_bad) {
        if (pair.is_ours)
            differ(&pair, "only_ours", 1, 0);
    } else if (!pair.is_ours) {
        differ(&pair, "only_theirs", 0, 1);
    } else if (line->is_before_symbol && pair.ours.length > line->end - line->address) {
        return;
    } else if (!differ(&pair, "length", pair.ours.length, line->end - line->address)) {
        compare_valid(&pair);
    }
}

/* Reads "  401000:\tmov    rax,QWORD PTR [rip+0x10]        # 401010 <x>". */
static bool parse_line(const char *text, struct line *line)
{
    char *after;

    line->address = strtoull(text, &after, 16);
    if (after == text || after[0] != ':' || after[1] != '\t')
        return false;
    snprintf(line->text, sizeof(line->text), "%.*s", (int)strcspn(after + 2, "\n"), after + 2);
    if (!disassembly_parse(line->text, &line->parsed))
        return false;

    const char *comment = strstr(line->text, "# ");

    line->comment = comment != NULL ? strtoull(comment + 2, NULL, 16) : 0;
    line->is_bad = strstr(line->text, "(bad)") != NULL || strchr(line->text, '?') != NULL;
    return true;
}

/*
 * A line needs its successor, which alone tells its length. A line with nothing but prefixes belongs to its successor.
 * What the end of the piece may have cut off is left out.
 */
static void read_output(struct comparison *comparison, const struct corpus_piece *piece, FILE *output)
{
    static _Thread_local struct line line, next;
    static _Thread_local char text[MAX_LINE_BYTES];
    uint64_t end = piece->section->address + piece->end;
    bool has_line = false, is_prefix = false;

    while (fgets(text, sizeof(text), output) != NULL) {
        if (!parse_line(text + strspn(text, " "), &next)) {
            line.is_before_symbol |= strstr(text, ">:") != NULL;
            continue;
        }
        if (next.address + X86_MAX_INSN_BYTES > end)
            break;
        /* Where a symbol begins inside of an instruction, objdump gives up on it. */
        if (has_line && !is_prefix && strcmp(line.parsed.mnemonic, ".byte") != 0) {
            line.end = next.address;
            compare(comparison, piece->section, &line);
        }

        uint64_t begin = is_prefix ? line.address : next.address;

        line = next;
        line.address = begin;
        line.is_before_symbol = false;
        has_line = true;
        is_prefix = line.parsed.mnemonic[0] == 0;
    }
}

static void run_objdump(struct comparison *comparison, const struct corpus_piece *piece)
{
    const struct corpus_section *section = piece->section;
    char command[768], place[128];

    if (section->name[0] != 0)
        snprintf(place, sizeof(place), "-j '%s'", section->name);
    else
        snprintf(place, sizeof(place), "-b binary -m i386:x86-64 --adjust-vma=0x%" PRIx64, section->address);
    snprintf(command, sizeof(command),
             "LC_ALL=C exec objdump -D -z -w -M intel --no-show-raw-insn %s --start-address=0x%" PRIx64
             " --stop-address=0x%" PRIx64 " '%s'",
             place, section->address + piece->begin, section->address + piece->end, section->file->path);

    FILE *output = popen(command, "re");

    if (output == NULL)
        return;
    read_output(comparison, piece, output);
    while (fgetc(output) != EOF) {
        /* objdump would complain if nobody read it to the end. */
    }
    if (pclose(output) == 0)
        atomic_fetch_add(&comparison->pieces_done, 1);
}

/*
 * One of each explained difference, so that the list does not depend on what the libraries of the day contain. Padding
 * keeps them apart.
 */
static const uint8_t samples[][8] = {
    {0xf0, 0x89, 0x08},             /* lock before mov */
    {0x48, 0xc5, 0xf8, 0x58, 0xc1}, /* rex before vex */
    {0xdb, 0xe5},                   /* frstpm */
    {0xd9, 0xd8},                   /* aliases of x87 instructions */
    {0xdf, 0xd0},
    {0xdc, 0xd0},
    {0xdc, 0xd8},
    {0xdd, 0xc8},
    {0x67, 0x8b, 0x05, 0x00, 0x00, 0x00, 0x80}, /* a pc-relative address of 32 bits */
    {0x8e, 0xc8},                               /* mov to cs */
    {0x66, 0x74, 0xf0},                         /* a short branch under 66 */
    {0x9b, 0x43, 0x44, 0xf1},                   /* fwait before prefixes */
};

#define SAMPLE_BYTES 32
#define SAMPLE_PC    0x120000u /* a target that 16 bits cannot hold */

static int write_samples(const char *path, uint8_t *image, size_t size_bytes)
{
    FILE *file = fopen(path, "wb");

    memset(image, 0x90, size_bytes);
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        size_t length = sizeof(samples[i]);

        while (length > 1 && samples[i][length - 1] == 0)
            length--;
        memcpy(image + i * SAMPLE_BYTES, samples[i], length);
    }
    if (file == NULL)
        return -errno;

    size_t written = fwrite(image, 1, size_bytes, file);

    return fclose(file) == 0 && written == size_bytes ? 0 : -EIO;
}

static void compare_samples(struct comparison *comparison)
{
    static uint8_t image[sizeof(samples) / sizeof(samples[0]) * SAMPLE_BYTES];
    struct corpus_file file = {.name = "samples", .path = "/tmp/gait-samples-XXXXXX"};
    struct corpus_section section = {
        .file = &file, .name = "", .bytes = image, .size_bytes = sizeof(image), .address = SAMPLE_PC};
    struct corpus_piece piece = {&section, 0, sizeof(image)};
    int fd = mkstemp(file.path);

    CHECK(fd >= 0);
    if (fd < 0)
        return;
    close(fd);
    CHECK_EQUAL(write_samples(file.path, image, sizeof(image)), 0);
    run_objdump(comparison, &piece);
    unlink(file.path);
}

static void disassemble(void *context, unsigned worker, size_t number)
{
    struct comparison *comparison = context;

    (void)worker;
    run_objdump(comparison, &comparison->pieces[number]);
}

/* ---- conditions of the list ----------------------------------------------------------------------------------------
 */

/* objdump extends the sign of an address that has 32 bits. */
static bool is_address_extended(const struct difference *difference)
{
    return difference->insn->address_bits == 32 && difference->ours == (uint32_t)difference->theirs;
}

/* fwait before a prefix or an x87 opcode. */
static bool is_fwait_joined(const struct difference *difference)
{
    uint8_t next = difference->available > difference->insn->length ? difference->bytes[difference->insn->length] : 0;

    return next >> 4 == 4 || (next >= 0xd8 && next <= 0xdf) ||
           memchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf2\xf3", next, 10) != NULL;
}

static bool is_register_form(const struct difference *difference)
{
    return difference->insn->modrm >= 0xc0;
}

static const struct difference_condition conditions[] = {
    {"stray_lock", difference_has_stray_lock},
    {"rex_before_vector", difference_has_rex_before_vector},
    {"segment_cs", difference_loads_cs},
    {"target_has_16_bits", difference_has_cut_target},
    {"joined", is_fwait_joined},
    {"address_extended", is_address_extended},
    {"register_form", is_register_form},
    {NULL, NULL},
};

int main(void)
{
    static struct comparison comparison;
    static struct corpus corpus;

    if (system("objdump --version >/dev/null 2>&1") != 0)
        check_skip("objdump is not installed (package binutils)");
    if (difference_list_init(&comparison.list, "tests/data/x86_decoder_objdump_differences", conditions) != 0)
        return 1;
    corpus_init(&corpus);

    size_t pieces = corpus_cut(&corpus, PIECE_BYTES, &comparison.pieces);

    compare_samples(&comparison);
    workers_run(pieces, disassemble, &comparison);
    printf("compared: %llu instructions in %llu pieces of code, %llu have the same name, %llu a synonym, %llu branch "
           "targets, %llu pc-relative addresses\n",
           comparison.compared, comparison.pieces_done, comparison.same_names, comparison.other_names,
           comparison.targets, comparison.addresses);
    CHECK(comparison.compared >= MIN_COMPARED);
    CHECK_EQUAL(difference_list_finish(&comparison.list), 0);
    free(comparison.pieces);
    corpus_deinit(&corpus);
    difference_list_deinit(&comparison.list);
    return check_failures == 0 ? 0 : 1;
}
