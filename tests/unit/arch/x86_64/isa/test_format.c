/* SPDX-License-Identifier: MIT */
/* time limit: 120 s */
/*
 * The text is compared with that of libZydis, told to write numbers and sizes as we do, over all code of the libraries
 * in this process and over random bytes. What then still differs is listed by kind in `kinds`.
 */
#define _GNU_SOURCE
#include "arch/x86_64/isa/format.h"

#include "support/check.h"
#include "support/random.h"

#include <Zydis/Zydis.h>
#include <link.h>

#define TEXT_BYTES   160
#define RANDOM_COUNT 2000000
#define SHOWN_MAX    40

static ZydisDecoder decoder;
static ZydisFormatter formatter;

/* What is known to be written differently, and why. */
struct kind {
    const char *name;
    bool (*applies)(const struct x86_insn *insn, const char *ours, const char *theirs);
    size_t count;
};

static struct {
    size_t compared, same, listed, shown;
} tally;

static void init_oracle(void)
{
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
}

/* Our style in two places: a scale of 1 goes without saying, and a distance from a segment's base has a sign. */
static void normalise(char *text)
{
    char *found = strstr(text, "*1");
    uint64_t distance;

    if (found != NULL && found > text && strchr("]+-", found[2]) != NULL && strchr(text, '+') < found &&
        strchr(text, '+') != NULL)
        memmove(found, found + 2, strlen(found + 2) + 1);
    found = strstr(text, "s:[0xffffffff");
    if (found != NULL && strlen(found) >= 22 && found[21] == ']' && sscanf(found + 3, "%" SCNx64, &distance) == 1) {
        char rest[TEXT_BYTES];

        snprintf(rest, sizeof(rest), "%s", strchr(found, ']'));
        snprintf(found + 3, TEXT_BYTES - (size_t)(found + 3 - text), "-0x%" PRIx64 "%s", -distance, rest);
    }
}

/* Which of several segment prefixes counts. */
static bool is_tracking(const struct x86_insn *insn, const char *ours, const char *theirs)
{
    size_t skip_ours = strncmp(ours, "notrack ", 8) == 0 ? 8 : 0,
           skip_theirs = strncmp(theirs, "notrack ", 8) == 0 ? 8 : 0;

    return insn->prefixes & X86_PREFIX_SEGMENT && strcmp(ours + skip_ours, theirs + skip_theirs) == 0;
}

/* Ours has no base, so that a register in it is an index, which is followed by its scale. */
static bool is_absent_base(const struct x86_insn *insn, const char *ours, const char *theirs)
{
    (void)ours;
    return insn->base == X86_GPR_NONE && insn->address_bits == 32 &&
           (strstr(theirs, "[r13d+") != NULL || strstr(theirs, "[r13d]") != NULL);
}

static struct kind kinds[] = {
    {"indirect branches under 3e and another segment prefix: notrack for one of us", is_tracking, 0},
    {"addresses of 32 bits without a base under rex.b: libZydis names r13d", is_absent_base, 0},
};

static bool is_listed(const struct x86_insn *insn, const char *ours, const char *theirs)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].applies(insn, ours, theirs)) {
            kinds[i].count++;
            return true;
        }
    }
    return false;
}

static void show(const struct x86_insn *insn, const uint8_t *bytes, const char *ours, const char *theirs)
{
    if (tally.shown++ >= SHOWN_MAX)
        return;
    for (unsigned i = 0; i < insn->length; i++)
        printf("%02x ", bytes[i]);
    printf("\n    ours   %s\n    theirs %s\n", ours, theirs);
}

static void compare(const uint8_t *bytes, const struct x86_insn *insn)
{
    char ours[TEXT_BYTES], theirs[TEXT_BYTES];
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecodedInstruction instruction;
    struct text_writer text;

    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, insn->length, &instruction, operands)) ||
        instruction.length != insn->length)
        return; /* younger than libZydis; other tests compare what is decoded */
    text_init(&text, ours, sizeof(ours));
    x86_format(insn, bytes, &text);
    CHECK(!text_truncated(&text));
    CHECK(ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &instruction, operands,
                                                       instruction.operand_count_visible, theirs, sizeof(theirs),
                                                       insn->pc.value, ZYAN_NULL)));
    normalise(theirs);
    tally.compared++;
    if (strcmp(ours, theirs) == 0)
        tally.same++;
    else if (is_listed(insn, ours, theirs))
        tally.listed++;
    else
        show(insn, bytes, ours, theirs);
}

static void compare_all(const uint8_t *bytes, size_t size, uint64_t address)
{
    struct x86_insn insn;

    for (size_t offset = 0; offset < size;) {
        if (x86_decode(bytes + offset, size - offset, app_pc_of(address + offset), X86_DECODE_INTEL, &insn) != 0) {
            offset++;
            continue;
        }
        compare(bytes + offset, &insn);
        offset += insn.length;
    }
}

static int compare_module(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t address = info->dlpi_addr + header->p_vaddr;

        /* The program itself is different in each configuration. */
        if (header->p_type == PT_LOAD && header->p_flags & PF_X && info->dlpi_name[0] != '\0')
            compare_all((const uint8_t *)(uintptr_t)address, header->p_filesz, address);
    }
    return 0;
}

static void report(const char *what)
{
    printf("%s: %zu instructions, %zu texts agree exactly (%.4f %%), %zu differ as listed, %zu otherwise\n", what,
           tally.compared, tally.same, 100.0 * (double)tally.same / (double)tally.compared, tally.listed,
           tally.compared - tally.same - tally.listed);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].count != 0)
            printf("    %zu %s\n", kinds[i].count, kinds[i].name);
        kinds[i].count = 0;
    }
}

static void the_text_of_real_code_is_that_of_the_oracle(void)
{
    memset(&tally, 0, sizeof(tally));
    dl_iterate_phdr(compare_module, NULL);
    report("libraries");
    CHECK(tally.compared > 100000);
    CHECK(tally.same >= tally.compared - tally.compared / 1000);
    CHECK_EQUAL(tally.same + tally.listed, tally.compared);
}

/* Leads that make rare encodings as frequent as common ones. */
static void begin_bytes(struct random *random, uint8_t *bytes)
{
    switch (random_below(random, 8)) {
    case 0:
        bytes[0] = 0x62;
        bytes[1] = (uint8_t)((bytes[1] & 0xf0) | (1 + random_below(random, 6)));
        bytes[2] |= 4;
        break;
    case 1:
        bytes[0] = 0xc4;
        bytes[1] = (uint8_t)((bytes[1] & 0xe0) | (1 + random_below(random, 3)));
        break;
    case 2:
        bytes[0] = 0x0f;
        break;
    case 3:
        bytes[0] = "\x66\xf2\xf3\xf0\x67\x64\x48\x3e"[random_below(random, 8)];
        bytes[1] = random_chance(random, 1, 2) ? 0x0f : bytes[1];
        break;
    case 4:
        bytes[0] = 0x8f;
        bytes[1] = (uint8_t)((bytes[1] & 0xe0) | (8 + random_below(random, 3)));
        break;
    default:
        break;
    }
}

static void the_text_of_random_bytes_is_that_of_the_oracle(void)
{
    struct random random;
    struct x86_insn insn;
    uint8_t bytes[32];

    memset(&tally, 0, sizeof(tally));
    random_init(&random, 1);
    for (int i = 0; i < RANDOM_COUNT; i++) {
        random_fill(&random, bytes, sizeof(bytes));
        begin_bytes(&random, bytes);
        if (x86_decode(bytes, sizeof(bytes), app_pc_of(0x7f1234567000), X86_DECODE_INTEL, &insn) == 0)
            compare(bytes, &insn);
    }
    report("random bytes");
    CHECK(tally.compared > RANDOM_COUNT / 8);
    CHECK_EQUAL(tally.same + tally.listed, tally.compared);
}

static void formatted(const char *bytes, size_t size, char *buffer, size_t buffer_size)
{
    struct text_writer text;
    struct x86_insn insn;

    text_init(&text, buffer, buffer_size);
    CHECK_EQUAL(x86_decode((const uint8_t *)bytes, size, app_pc_of(0x1000), X86_DECODE_INTEL, &insn), 0);
    CHECK_EQUAL(insn.length, size);
    x86_format(&insn, (const uint8_t *)bytes, &text);
}

#define CHECK_FORMAT(bytes, expected)                                                                                  \
    do {                                                                                                               \
        char actual_text[TEXT_BYTES];                                                                                  \
        formatted(bytes, sizeof(bytes) - 1, actual_text, sizeof(actual_text));                                         \
        CHECK_TEXT(actual_text, expected);                                                                             \
    } while (0)

static void the_style_is_the_documented_one(void)
{
    CHECK_FORMAT("\x48\x83\xec\x18", "sub rsp, 0x18");
    CHECK_FORMAT("\x48\x83\xe4\xf0", "and rsp, 0xfffffffffffffff0");
    CHECK_FORMAT("\x66\x83\xc8\xff", "or ax, 0xffff");
    CHECK_FORMAT("\x48\x8b\x44\xc8\x10", "mov rax, qword ptr [rax+rcx*8+0x10]");
    CHECK_FORMAT("\x48\x8b\x04\x08", "mov rax, qword ptr [rax+rcx]");
    CHECK_FORMAT("\x64\x48\x8b\x04\x25\xf8\xff\xff\xff", "mov rax, qword ptr fs:[-0x8]");
    CHECK_FORMAT("\x48\x8d\x05\x10\x00\x00\x00", "lea rax, [0x1017]");
    CHECK_FORMAT("\x88\xe0", "mov al, ah");
    CHECK_FORMAT("\x40\x88\xe0", "mov al, spl");
    CHECK_FORMAT("\xf3\xa4", "rep movsb");
    CHECK_FORMAT("\xf0\x48\x0f\xb1\x0a", "lock cmpxchg qword ptr [rdx], rcx");
    CHECK_FORMAT("\xe8\xfb\xff\xff\xff", "call 0x1000");
    CHECK_FORMAT("\x3e\xff\xe0", "notrack jmp rax");
    CHECK_FORMAT("\xca\x10\x00", "ret far 0x10");
    CHECK_FORMAT("\xde\xc1", "faddp st1, st0");
}

static void evex_decorations_are_shown(void)
{
    CHECK_FORMAT("\x62\xf1\x7c\xc9\x58\xc1", "vaddps zmm0 {k1} {z}, zmm0, zmm1");
    CHECK_FORMAT("\x62\xf1\x7c\x58\x58\x00", "vaddps zmm0, zmm0, dword ptr [rax] {1to16}");
    CHECK_FORMAT("\x62\xf1\x7c\x58\x5a\x00", "vcvtps2pd zmm0, dword ptr [rax] {1to8}");
    CHECK_FORMAT("\x62\xf1\x7c\x38\x58\xc1", "vaddps zmm0, zmm0, zmm1 {rd-sae}");
    CHECK_FORMAT("\x62\xf1\x7c\x18\xc2\xc1\x03", "vcmpps k0, zmm0, zmm1 {sae}, 0x3");
    CHECK_FORMAT("\x62\xf2\x7d\x49\x90\x04\x08", "vpgatherdd zmm0 {k1}, dword ptr [rax+zmm1]");
}

static void a_small_buffer_is_not_overrun(void)
{
    char small[8];

    formatted("\x48\x83\xec\x18", 4, small, sizeof(small));
    CHECK_TEXT(small, "sub rsp");
    CHECK_TEXT(x86_gpr_name(X86_R12, 32), "r12d");
    CHECK_TEXT(x86_gpr_name(X86_RSP, 64), "rsp");
}

static const struct check_case cases[] = {
    CHECK_CASE(the_style_is_the_documented_one),
    CHECK_CASE(evex_decorations_are_shown),
    CHECK_CASE(a_small_buffer_is_not_overrun),
    CHECK_CASE(the_text_of_real_code_is_that_of_the_oracle),
    CHECK_CASE(the_text_of_random_bytes_is_that_of_the_oracle),
};

int main(void)
{
    init_oracle();
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
