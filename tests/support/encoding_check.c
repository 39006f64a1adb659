/* SPDX-License-Identifier: MIT */
/*
 * The list of claims about encodings, and the two judges. For the assembler, all claims go into one source file, each
 * at a multiple of SLOT bytes and followed by a filler that no claim ends with by chance, so that one wrong line does
 * not shift the others. Invariant: claims are judged in the order in which they were made. One thread.
 */
#include "support/encoding_check.h"

#include "base/assert.h"
#include "base/code_writer.h"

#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOT          32
#define FILLER        0xcc
#define GUARD         0xa5
#define PRINTED_MAX   10
#define TEXT_MAX      112
#define MEM_TEXTS     8
#define MEM_TEXT_SIZE 80

struct claim {
    uint8_t bytes[SLOT];
    size_t length;
    bool assembled;
    char text[TEXT_MAX];
    char source[TEXT_MAX];
};

static struct claim *claims;
static size_t claim_count, claim_capacity;
static int errors;

static uint8_t trial_buffer[2 * SLOT];
static struct code_writer trial;
static struct claim current;
static size_t trial_room; /* SLOT in the first round, then 0, 1, ... */

static void report(const char *what, const struct claim *claim, const char *other)
{
    if (errors++ >= PRINTED_MAX)
        return;
    printf("%s: \"%s\" is", what, claim->text);
    for (size_t i = 0; i < claim->length; i++)
        printf(" %02x", claim->bytes[i]);
    printf("%s\n", other);
}

static struct code_writer *start_trial(size_t room)
{
    trial_room = room;
    memset(trial_buffer, GUARD, sizeof(trial_buffer));
    code_writer_init(&trial, trial_buffer, room, cache_pc_of(ENCODING_PC));
    return &trial;
}

struct code_writer *encoding_begin(void)
{
    current = (struct claim){.assembled = true};
    return start_trial(SLOT);
}

static void check_too_little_room(void)
{
    if (!code_writer_overflowed(&trial))
        report("no overflow without room", &current, "");
    for (size_t i = trial_room; i < sizeof(trial_buffer); i++) {
        if (trial_buffer[i] != GUARD) {
            report("written past the limit", &current, "");
            return;
        }
    }
}

struct code_writer *encoding_again(void)
{
    if (trial_room == SLOT) {
        current.length = code_writer_offset(&trial);
        memcpy(current.bytes, trial_buffer, current.length);
        if (code_writer_overflowed(&trial))
            report("cannot be encoded", &current, "");
        return current.length == 0 ? NULL : start_trial(0);
    }
    check_too_little_room();
    return trial_room + 1 == current.length ? NULL : start_trial(trial_room + 1);
}

void encoding_claim(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(current.text, sizeof(current.text), format, arguments);
    va_end(arguments);
    if (claim_count == claim_capacity) {
        claim_capacity = claim_capacity == 0 ? 4096 : 2 * claim_capacity;
        claims = realloc(claims, claim_capacity * sizeof(*claims));
        if (claims == NULL)
            abort();
    }
    claims[claim_count++] = current;
}

void encoding_assembles_as(const char *format, ...)
{
    struct claim *claim = &claims[claim_count - 1];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(claim->source, sizeof(claim->source), format, arguments);
    va_end(arguments);
}

void encoding_not_assembled(void)
{
    claims[claim_count - 1].assembled = false;
}

size_t encoding_length(void)
{
    return current.length;
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

#ifdef NDEBUG
#define ASSERTIONS_MIN 0
#else
#define ASSERTIONS_MIN 1
#endif

static int assertions;

static void count_assertion(const char *text, const char *file, int line)
{
    (void)text;
    (void)file;
    (void)line;
    assertions++;
}

struct code_writer *encoding_refusal_begin(void)
{
    assertions = 0;
    assert_handler_set(count_assertion);
    return start_trial(SLOT);
}

bool encoding_refused(void)
{
    assert_handler_set(NULL);
    return code_writer_overflowed(&trial) && code_writer_offset(&trial) == 0 && assertions >= ASSERTIONS_MIN;
}

/* ---- the disassembler ------------------------------------------------------------------------------------------- */

static void formatter_init(ZydisFormatter *formatter)
{
    static const struct {
        ZydisFormatterProperty property;
        ZyanUPointer value;
    } settings[] = {
        {ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE},
        {ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_BRANCHES, ZYAN_TRUE},
        {ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE},
        {ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE},
        {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE, ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED},
    };

    ZydisFormatterInit(formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        ZydisFormatterSetProperty(formatter, settings[i].property, settings[i].value);
}

static void disassemble(const ZydisDecoder *decoder, const ZydisFormatter *formatter, const struct claim *claim)
{
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    char text[TEXT_MAX + 4] = " = ";

    if (ZYAN_FAILED(ZydisDecoderDecodeFull(decoder, claim->bytes, claim->length, &instruction, operands))) {
        report("does not disassemble", claim, "");
        return;
    }
    ZydisFormatterFormatInstruction(formatter, &instruction, operands, instruction.operand_count_visible, text + 3,
                                    TEXT_MAX, ENCODING_PC, NULL);
    if (instruction.length != claim->length || strcmp(text + 3, claim->text) != 0)
        report("disassembles to something else", claim, text);
}

static void ask_disassembler(void)
{
    ZydisDecoder decoder;
    ZydisFormatter formatter;

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    formatter_init(&formatter);
    for (size_t i = 0; i < claim_count; i++)
        disassemble(&decoder, &formatter, &claims[i]);
}

/* ---- the assembler ---------------------------------------------------------------------------------------------- */

/* To the assembler an address in brackets is memory only if a segment stands before them. */
static void write_source_text(FILE *file, const char *text)
{
    const char *bracket = strstr(text, " [0x");

    if (bracket == NULL)
        fputs(text, file);
    else
        fprintf(file, "%.*s ds:%s", (int)(bracket - text), text, bracket + 1);
}

static bool write_source(const char *path)
{
    FILE *file = fopen(path, "w");

    if (file == NULL)
        return false;
    fprintf(file, ".intel_syntax noprefix\n.text\n");
    for (size_t i = 0; i < claim_count; i++) {
        if (claims[i].assembled)
            write_source_text(file, claims[i].source[0] != '\0' ? claims[i].source : claims[i].text);
        fprintf(file, "\n.balign %d, %d\n", SLOT, FILLER);
        if (!claims[i].assembled)
            fprintf(file, ".fill %d, 1, %d\n", SLOT, FILLER);
    }
    return fclose(file) == 0;
}

static bool run(const char *format, const char *tool_prefix, const char *folder)
{
    char command[512];

    snprintf(command, sizeof(command), format, tool_prefix, folder, folder);
    return system(command) == 0;
}

static const char *tool_prefix(const char *folder)
{
    static const char *const prefixes[] = {"x86_64-linux-gnu-", ""};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (run("%sas --64 -o %s/probe.o /dev/null 2> %s/probe.err", prefixes[i], folder))
            return prefixes[i];
    return NULL;
}

static void judge_assembled(FILE *file)
{
    uint8_t slot[SLOT];
    char text[3 * SLOT + 16];

    for (size_t i = 0; i < claim_count; i++) {
        if (fread(slot, 1, SLOT, file) != SLOT) {
            report("the assembler wrote too little", &claims[i], "");
            return;
        }
        if (!claims[i].assembled)
            continue;
        uint8_t expected[SLOT];

        memset(expected, FILLER, SLOT);
        memcpy(expected, claims[i].bytes, claims[i].length);
        if (memcmp(slot, expected, SLOT) == 0)
            continue;
        int used = snprintf(text, sizeof(text), ", as: ");

        for (int k = 0; k < 16; k++)
            used += snprintf(text + used, sizeof(text) - (size_t)used, "%02x ", slot[k]);
        report("assembles to something else", &claims[i], text);
    }
}

static void assemble_in(const char *folder)
{
    char path[256];
    const char *prefix = tool_prefix(folder);

    if (prefix == NULL) {
        printf("no assembler for x86-64 here: only the disassembler was asked\n");
        return;
    }
    snprintf(path, sizeof(path), "%s/claims.s", folder);
    if (!write_source(path) || !run("%sas --64 --no-warn -o %s/claims.o %s/claims.s", prefix, folder) ||
        !run("%sobjcopy -O binary -j .text %s/claims.o %s/claims.bin", prefix, folder)) {
        printf("the assembler failed\n");
        errors++;
        return;
    }
    snprintf(path, sizeof(path), "%s/claims.bin", folder);
    FILE *file = fopen(path, "rb");

    if (file == NULL) {
        errors++;
        return;
    }
    judge_assembled(file);
    fclose(file);
}

static void remove_folder(const char *folder)
{
    static const char *const names[] = {"claims.s", "claims.o", "claims.bin", "probe.o", "probe.err"};
    char path[256];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void ask_assembler(void)
{
    char folder[] = "/tmp/encoding_check.XXXXXX";

    if (mkdtemp(folder) == NULL) {
        printf("cannot make a folder in /tmp\n");
        errors++;
        return;
    }
    assemble_in(folder);
    remove_folder(folder);
}

int encoding_finish(void)
{
    int found;

    ask_disassembler();
    ask_assembler();
    printf("%zu encodings checked\n", claim_count);
    found = errors;
    free(claims);
    claims = NULL;
    claim_count = claim_capacity = 0;
    errors = 0;
    return found;
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

const char *encoding_gpr(enum x86_size size, enum x86_gpr reg)
{
    static const char *const names[][X86_GPR_COUNT] = {
        {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil", "r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b",
         "r15b"},
        {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8w", "r9w", "r10w", "r11w", "r12w", "r13w", "r14w", "r15w"},
        {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d",
         "r15d"},
        {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"},
    };

    return names[__builtin_ctz(size)][reg];
}

static size_t append_registers(char *text, size_t used, const struct x86_mem *memory)
{
    enum x86_size size = memory->address_32 ? X86_SIZE_32 : X86_SIZE_64;

    if (memory->base != X86_GPR_NONE)
        used += (size_t)sprintf(text + used, "%s", encoding_gpr(size, memory->base));
    if (memory->index != X86_GPR_NONE)
        used += (size_t)sprintf(text + used, "%s%s*%d", memory->base == X86_GPR_NONE ? "" : "+",
                                encoding_gpr(size, memory->index), memory->scale);
    return used;
}

static size_t append_displacement(char *text, size_t used, int64_t displacement)
{
    if (displacement < 0)
        used += (size_t)sprintf(text + used, "-0x%" PRIx64, -(uint64_t)displacement);
    else if (displacement > 0)
        used += (size_t)sprintf(text + used, "+0x%" PRIx64, displacement);
    return used;
}

static size_t append_address(char *text, size_t used, const struct x86_mem *memory)
{
    if (memory->kind == X86_MEM_ADDRESS) {
        used += (size_t)sprintf(text + used, "rip");
        return append_displacement(text, used, (int64_t)(memory->address - ENCODING_PC - encoding_length()));
    }
    if (memory->base != X86_GPR_NONE || memory->index != X86_GPR_NONE)
        return append_displacement(text, append_registers(text, used, memory), memory->displacement);
    uint64_t address = (uint64_t)memory->displacement;

    return used + (size_t)sprintf(text + used, "0x%" PRIx64, memory->address_32 ? (uint32_t)address : address);
}

static const char *pointer_text(unsigned size_bytes)
{
    switch (size_bytes) {
    case 1:
        return "byte ptr ";
    case 2:
        return "word ptr ";
    case 4:
        return "dword ptr ";
    case 8:
        return "qword ptr ";
    case 16:
        return "xmmword ptr ";
    case 32:
        return "ymmword ptr ";
    default:
        return "";
    }
}

const char *encoding_mem(unsigned size_bytes, struct x86_mem memory)
{
    static char texts[MEM_TEXTS][MEM_TEXT_SIZE];
    static unsigned next;
    static const char *const segments[] = {"es:", "cs:", "ss:", "ds:", "fs:", "gs:"};
    char *text = texts[next++ % MEM_TEXTS];
    const char *segment = memory.segment == X86_SEGMENT_NONE ? "" : segments[memory.segment];
    size_t used = (size_t)sprintf(text, "%s%s[", pointer_text(size_bytes), segment);

    used = append_address(text, used, &memory);
    sprintf(text + used, "]");
    return text;
}

const char *encoding_condition(enum x86_condition condition)
{
    static const char *const names[] = {"o", "no", "b", "nb", "z", "nz", "be", "nbe",
                                        "s", "ns", "p", "np", "l", "nl", "le", "nle"};

    return names[condition];
}

unsigned long long encoding_imm(enum x86_size size, int64_t value)
{
    return (unsigned long long)value & (UINT64_MAX >> (64 - 8 * (unsigned)size));
}

static struct x86_mem special_mem(unsigned n)
{
    switch (n) {
    case 0:
        return x86_mem_absolute(0x28);
    case 1:
        return x86_mem_segment(X86_GS, x86_mem_absolute(0x10));
    case 2:
        return x86_mem_segment(X86_FS, x86_mem_absolute(INT32_MIN));
    case 3:
        return x86_mem_segment(X86_GS, x86_mem_index(X86_GPR_NONE, X86_RCX, 8, 0x1000));
    case 4:
        return x86_mem_segment(X86_GS, x86_mem_index(X86_GPR_NONE, X86_R12, 4, 0));
    case 5:
        return x86_mem_address(ENCODING_PC + 0x1234);
    case 6:
        return x86_mem_address(ENCODING_PC - 0x12345678);
    case 7:
        return x86_mem_segment(X86_FS, x86_mem_address(ENCODING_PC + 0x7fffff00));
    case 8:
        return x86_mem_address_32(x86_mem_index(X86_RSI, X86_RDI, 2, -5));
    default:
        return x86_mem_segment(X86_GS, x86_mem_address_32(x86_mem_index(X86_R13, X86_R14, 1, 0x12345)));
    }
}

struct x86_mem encoding_sample_mem(unsigned n)
{
    static const int32_t displacements[] = {0, 127, -128, 128, -129, INT32_MAX, INT32_MIN, 8};

    if (n < X86_GPR_COUNT)
        return x86_mem_base((enum x86_gpr)n, displacements[n % 8]);
    n -= X86_GPR_COUNT;
    if (n < 8)
        return x86_mem_index((enum x86_gpr)(n * 2 + 1), (enum x86_gpr)(15 - n), 1u << n % 4, displacements[n]);
    return special_mem(n - 8);
}
