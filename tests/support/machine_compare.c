/* SPDX-License-Identifier: MIT */
/*
 * Says in which registers two machine states differ. Equal states, the usual case, cost one comparison of memory for
 * the vector part; names and lanes are looked at only when it fails.
 */
#include "support/machine_state.h"

#if defined(__x86_64__)

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct report {
    char *text;
    size_t room;
    unsigned differences;
};

const struct machine_ignore machine_ignore_default = {.rflags = X86_FLAG_RF, .x87_pointers = true};

static const struct {
    uint32_t bit;
    const char *name;
} flag_names[] = {
    {X86_FLAG_CF, "CF"}, {X86_FLAG_PF, "PF"}, {X86_FLAG_AF, "AF"}, {X86_FLAG_ZF, "ZF"}, {X86_FLAG_SF, "SF"},
    {X86_FLAG_TF, "TF"}, {X86_FLAG_IF, "IF"}, {X86_FLAG_DF, "DF"}, {X86_FLAG_OF, "OF"}, {X86_FLAG_NT, "NT"},
    {X86_FLAG_RF, "RF"}, {X86_FLAG_AC, "AC"}, {X86_FLAG_ID, "ID"},
};

const char *machine_gpr_name(unsigned gpr)
{
    static const char *const names[X86_GPR_COUNT] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                                     "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

    return gpr < X86_GPR_COUNT ? names[gpr] : "?";
}

__attribute__((format(printf, 2, 3))) static void append(struct report *report, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(report->text, report->room, format, arguments);
    va_end(arguments);
    if (length < 0 || report->room == 0)
        return;

    size_t used = (size_t)length < report->room ? (size_t)length : report->room - 1;
    report->text += used;
    report->room -= used;
}

static void compare(struct report *report, const char *name, uint64_t expected, uint64_t actual)
{
    if (expected == actual)
        return;
    report->differences++;
    append(report, "%s: expected 0x%" PRIx64 ", is 0x%" PRIx64 "\n", name, expected, actual);
}

static void compare_flags(struct report *report, uint64_t expected, uint64_t actual, uint64_t ignored)
{
    uint64_t different = (expected ^ actual) & ~ignored;

    if (different == 0)
        return;
    report->differences++;
    append(report, "rflags: expected 0x%" PRIx64 ", is 0x%" PRIx64 ":", expected, actual);
    for (size_t i = 0; i < sizeof(flag_names) / sizeof(flag_names[0]); i++) {
        if (different & flag_names[i].bit)
            append(report, " %s is %s", flag_names[i].name, actual & flag_names[i].bit ? "set" : "clear");
    }
    append(report, "\n");
}

static void compare_x87(struct report *report, const struct machine_legacy *expected,
                        const struct machine_legacy *actual, bool with_pointers)
{
    compare(report, "x87 control", expected->x87_control, actual->x87_control);
    compare(report, "x87 status", expected->x87_status, actual->x87_status);
    compare(report, "x87 tag", expected->x87_tag, actual->x87_tag);
    if (with_pointers) {
        compare(report, "x87 opcode", expected->x87_opcode, actual->x87_opcode);
        compare(report, "x87 instruction pointer", expected->x87_instruction_pointer, actual->x87_instruction_pointer);
        compare(report, "x87 data pointer", expected->x87_data_pointer, actual->x87_data_pointer);
    }
    for (unsigned i = 0; i < 8; i++) {
        const struct machine_st *a = &expected->st[i], *b = &actual->st[i];

        if (a->mantissa == b->mantissa && a->sign_exponent == b->sign_exponent)
            continue;
        report->differences++;
        append(report, "st(%u): expected %04x:%016" PRIx64 ", is %04x:%016" PRIx64 "\n", i, a->sign_exponent,
               a->mantissa, b->sign_exponent, b->mantissa);
    }
}

static void compare_zmm(struct report *report, const struct machine_state *expected, const struct machine_state *actual,
                        unsigned index)
{
    struct machine_zmm a = machine_state_zmm_get(expected, index);
    struct machine_zmm b = machine_state_zmm_get(actual, index);

    for (unsigned lane = 0; lane < 8; lane++) {
        if (a.lane[lane] == b.lane[lane])
            continue;
        report->differences++;
        append(report, "zmm%u[%u] (bits %u-%u): expected 0x%016" PRIx64 ", is 0x%016" PRIx64 "\n", index, lane,
               64 * lane, 64 * lane + 63, a.lane[lane], b.lane[lane]);
    }
}

static void compare_vectors(struct report *report, const struct machine_state *expected,
                            const struct machine_state *actual, const struct machine_ignore *ignore)
{
    size_t start = offsetof(struct machine_legacy, xmm);

    if (memcmp(expected->image + start, actual->image + start, MACHINE_IMAGE_BYTES - start) == 0)
        return;
    for (unsigned i = 0; i < machine_state_vector_count(); i++) {
        if ((ignore->zmm >> i & 1) == 0)
            compare_zmm(report, expected, actual, i);
    }
    for (unsigned i = 0; i < 8; i++) {
        char name[] = {'k', (char)('0' + i), 0};

        if ((ignore->k >> i & 1) == 0)
            compare(report, name, machine_state_k_get(expected, i), machine_state_k_get(actual, i));
    }
}

unsigned machine_state_compare(const struct machine_state *expected, const struct machine_state *actual,
                               const struct machine_ignore *ignore, char *text, size_t text_bytes)
{
    struct report report = {text, text_bytes, 0};

    if (text_bytes > 0)
        text[0] = 0;
    if (ignore == NULL)
        ignore = &machine_ignore_default;
    for (unsigned i = 0; i < X86_GPR_COUNT; i++) {
        if ((ignore->gprs >> i & 1) == 0)
            compare(&report, machine_gpr_name(i), expected->gpr[i], actual->gpr[i]);
    }
    if (!ignore->rip)
        compare(&report, "rip", expected->rip, actual->rip);
    compare_flags(&report, expected->rflags, actual->rflags, ignore->rflags);
    if (!ignore->mxcsr)
        compare(&report, "mxcsr", expected->legacy.mxcsr, actual->legacy.mxcsr);
    if (!ignore->x87)
        compare_x87(&report, &expected->legacy, &actual->legacy, !ignore->x87_pointers);
    compare_vectors(&report, expected, actual, ignore);
    return report.differences;
}

#endif
