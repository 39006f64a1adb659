/* SPDX-License-Identifier: MIT */
/*
 * Probes in a program of your own: places with a name and arguments that tracers can look at while it runs. There is
 * nothing to link and nothing to begin; a probe is one instruction that does nothing, and a note in the file of where
 * it is and where its arguments are. gait spawn and attach --probe, perf, bpftrace, gdb and SystemTap read such notes
 * (section .note.stapsdt, version 3).
 *
 *     GAIT_PROBE(shop, order_taken, order->id, order->name);
 *
 * is the probe order_taken of the provider shop, with two of at most twelve arguments: integers, enumerations,
 * pointers, and floating-point numbers, of which tracers see the bits. Arguments are computed whether or not a tracer
 * is attached. Where that costs something, a semaphore says whether one is:
 *
 *     GAIT_PROBE_SEMAPHORE(shop, order_priced);                     once, outside of functions
 *     ...
 *     GAIT_PROBE_IF_ENABLED(shop, order_priced, compute(order));    computes only for who looks
 *     if (GAIT_PROBE_ENABLED(shop, order_priced)) ...               anything else that is only for them
 *
 * Provider and name are words as C has them. In the asm of the file's other units, or in C++ of any standard, the same
 * probe may be in as many places as you like. C99 and C++, gcc and clang, x86-64 and arm64; with -masm=intel notes have
 * operands that no tracer reads.
 */
#ifndef GAIT_PROBE_H
#define GAIT_PROBE_H

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "gait/probe.h is for x86-64 and arm64"
#endif

/* ---- for programs ------------------------------------------------------------------------------------------------
 */

/* GAIT_PROBE(provider, name, arguments...): a probe, with 0 to 12 arguments. A statement. */
#define GAIT_PROBE(...)                                                                                                \
    do {                                                                                                               \
        GAIT_PROBE_PUT_(GAIT_PROBE_COUNT_(__VA_ARGS__), "0", __VA_ARGS__);                                             \
    } while (0)

/* The same with a semaphore, and arguments that are computed only if the probe is enabled. A statement. */
#define GAIT_PROBE_IF_ENABLED(...)                                                                                     \
    do {                                                                                                               \
        if (GAIT_PROBE_IS_ENABLED_(__VA_ARGS__, _))                                                                    \
            GAIT_PROBE_PUT_(GAIT_PROBE_COUNT_(__VA_ARGS__), GAIT_PROBE_SEMAPHORE_(__VA_ARGS__, _), __VA_ARGS__);       \
    } while (0)

/* Whether a tracer looks at probes of that name, which have a semaphore. */
#define GAIT_PROBE_ENABLED(provider, name) (__builtin_expect(provider##_##name##_semaphore != 0, 0))

/* Makes a semaphore: outside of functions, in one unit of the program or library. It counts those who look. */
#define GAIT_PROBE_SEMAPHORE(provider, name)                                                                           \
    GAIT_PROBE_C_ GAIT_PROBE_SEMAPHORE_TYPE_ provider##_##name##_semaphore __attribute__((visibility("hidden")));      \
    __attribute__((used, section(".probes"))) GAIT_PROBE_SEMAPHORE_TYPE_ provider##_##name##_semaphore = 0

/* Says that another unit of the same program or library has it. */
#define GAIT_PROBE_SEMAPHORE_ELSEWHERE(provider, name)                                                                 \
    GAIT_PROBE_C_ GAIT_PROBE_SEMAPHORE_TYPE_ provider##_##name##_semaphore __attribute__((visibility("hidden")))

/* ---- how it is done: names from here on are not for programs ------------------------------------------------------
 */

#define GAIT_PROBE_SEMAPHORE_TYPE_ volatile unsigned short

#ifdef __cplusplus
#define GAIT_PROBE_C_ extern "C"
#else
#define GAIT_PROBE_C_ extern
#endif

/* Five bytes on x86-64: as many as a jump has, so that arming the probe moves no other instruction. */
#ifdef __x86_64__
#define GAIT_PROBE_NOP_ ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#else
#define GAIT_PROBE_NOP_ "nop"
#endif

/*
 * What an argument is: its size, negative if it has a sign. Arrays are the pointers that they become; of floating-point
 * numbers there are bits.
 */
#ifdef __cplusplus

template <typename type> struct gait_probe_number_ {
    enum { has_sign = static_cast<type>(-1) < static_cast<type>(1) };
};
template <typename type> struct gait_probe_number_<type *> {
    enum { has_sign = 0 };
};
template <> struct gait_probe_number_<float> {
    enum { has_sign = 0 };
};
template <> struct gait_probe_number_<double> {
    enum { has_sign = 0 };
};

/* Never defined: sizeof() of what they return is the answer, one more than has_sign. */
template <typename type> char (&gait_probe_sign_(type))[1 + gait_probe_number_<type>::has_sign];
template <typename type> char (&gait_probe_size_(type))[sizeof(type)];

template <typename type> static inline __attribute__((always_inline)) type gait_probe_value_(type value)
{
    return value;
}

/* Wider than a byte: not all tracers know the names of registers of one byte. */
static inline __attribute__((always_inline)) int gait_probe_value_(bool value)
{
    return value;
}
static inline __attribute__((always_inline)) int gait_probe_value_(char value)
{
    return value;
}
static inline __attribute__((always_inline)) int gait_probe_value_(signed char value)
{
    return value;
}
static inline __attribute__((always_inline)) int gait_probe_value_(unsigned char value)
{
    return value;
}

/* Out of the constants, whose places have no names that a tracer could find. */
static inline __attribute__((always_inline)) float gait_probe_value_(float value)
{
    __asm__("" : "+r"(value));
    return value;
}
static inline __attribute__((always_inline)) double gait_probe_value_(double value)
{
    __asm__("" : "+r"(value));
    return value;
}

#define GAIT_PROBE_VALUE_(value) gait_probe_value_(value)
#define GAIT_PROBE_SIZE_(value)                                                                                        \
    (sizeof(gait_probe_sign_(gait_probe_value_(value))) == 2                                                           \
         ? -static_cast<int>(sizeof(gait_probe_size_(gait_probe_value_(value))))                                       \
         : static_cast<int>(sizeof(gait_probe_size_(gait_probe_value_(value)))))

#else

#define GAIT_PROBE_POINTER_CLASS_ 5
#define GAIT_PROBE_REAL_CLASS_    8
/* Pointers become numbers; what is one byte becomes wider: not all tracers know the names of registers of one byte. */
#define GAIT_PROBE_NUMBER_(value)                                                                                      \
    __builtin_choose_expr(__builtin_classify_type(value) == GAIT_PROBE_POINTER_CLASS_, (unsigned long)(value),         \
                          __builtin_choose_expr(sizeof(value) == 1, (int)(long)(value), (value)))
/* Real ones out of the constants, whose places have no names that a tracer could find. */
#define GAIT_PROBE_VALUE_(value)                                                                                       \
    __builtin_choose_expr(__builtin_classify_type(value) == GAIT_PROBE_REAL_CLASS_, __extension__({                    \
                              __typeof__(0 + GAIT_PROBE_NUMBER_(value)) gait_real = GAIT_PROBE_NUMBER_(value);         \
                              __asm__("" : "+r"(gait_real));                                                           \
                              gait_real;                                                                               \
                          }),                                                                                          \
                          GAIT_PROBE_NUMBER_(value))
#define GAIT_PROBE_TYPE_(value) __typeof__(GAIT_PROBE_NUMBER_(value))
#define GAIT_PROBE_SIZE_(value)                                                                                        \
    (__builtin_classify_type(value) != GAIT_PROBE_REAL_CLASS_ &&                                                       \
             (GAIT_PROBE_TYPE_(value)) - 1 < (GAIT_PROBE_TYPE_(value))1                                                \
         ? -(int)sizeof(GAIT_PROBE_TYPE_(value))                                                                       \
         : (int)sizeof(GAIT_PROBE_TYPE_(value)))

#endif

/*
 * The instruction and its note: the sizes of owner and contents, the type; the owner; the addresses of the instruction,
 * of a byte by which a file that was moved after linking (prelink) is known, and of the semaphore; then the texts.
 */
#define GAIT_PROBE_ASM_(provider, name, semaphore, arguments)                                                          \
    "9901: " GAIT_PROBE_NOP_ "\n"                                                                                      \
    "\t.pushsection .note.stapsdt, \"?\", \"note\"\n"                                                                  \
    "\t.balign 4\n"                                                                                                    \
    "\t.4byte 9903f - 9902f, 9905f - 9904f, 3\n"                                                                       \
    "9902: .asciz \"stapsdt\"\n"                                                                                       \
    "9903: .balign 4\n"                                                                                                \
    "9904: .8byte 9901b\n"                                                                                             \
    "\t.8byte _.stapsdt.base\n"                                                                                        \
    "\t.8byte " semaphore "\n"                                                                                         \
    "\t.asciz \"" provider "\"\n"                                                                                      \
    "\t.asciz \"" name "\"\n"                                                                                          \
    "\t.asciz \"" arguments "\"\n"                                                                                     \
    "9905: .balign 4\n"                                                                                                \
    "\t.popsection\n"                                                                                                  \
    "\t.ifndef _.stapsdt.base\n"                                                                                       \
    "\t.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"                                      \
    "\t.weak _.stapsdt.base\n"                                                                                         \
    "\t.hidden _.stapsdt.base\n"                                                                                       \
    "_.stapsdt.base: .space 1\n"                                                                                       \
    "\t.size _.stapsdt.base, 1\n"                                                                                      \
    "\t.popsection\n"                                                                                                  \
    "\t.endif\n"

/* An argument: its text, such as -4@%eax, and the operands that the text is made of: any place that can be read. */
#define GAIT_PROBE_TEXT_(number) "%c[gait_s" #number "]@%[gait_a" #number "]"
#define GAIT_PROBE_OPERAND_(number, value)                                                                             \
    [gait_s##number] "i"(GAIT_PROBE_SIZE_(value)), [gait_a##number] "nor"(GAIT_PROBE_VALUE_(value))

/* All of them, by how many there are; those behind provider and name. */
#define GAIT_PROBE_TEXTS_0_  ""
#define GAIT_PROBE_TEXTS_1_  GAIT_PROBE_TEXT_(1)
#define GAIT_PROBE_TEXTS_2_  GAIT_PROBE_TEXTS_1_ " " GAIT_PROBE_TEXT_(2)
#define GAIT_PROBE_TEXTS_3_  GAIT_PROBE_TEXTS_2_ " " GAIT_PROBE_TEXT_(3)
#define GAIT_PROBE_TEXTS_4_  GAIT_PROBE_TEXTS_3_ " " GAIT_PROBE_TEXT_(4)
#define GAIT_PROBE_TEXTS_5_  GAIT_PROBE_TEXTS_4_ " " GAIT_PROBE_TEXT_(5)
#define GAIT_PROBE_TEXTS_6_  GAIT_PROBE_TEXTS_5_ " " GAIT_PROBE_TEXT_(6)
#define GAIT_PROBE_TEXTS_7_  GAIT_PROBE_TEXTS_6_ " " GAIT_PROBE_TEXT_(7)
#define GAIT_PROBE_TEXTS_8_  GAIT_PROBE_TEXTS_7_ " " GAIT_PROBE_TEXT_(8)
#define GAIT_PROBE_TEXTS_9_  GAIT_PROBE_TEXTS_8_ " " GAIT_PROBE_TEXT_(9)
#define GAIT_PROBE_TEXTS_10_ GAIT_PROBE_TEXTS_9_ " " GAIT_PROBE_TEXT_(10)
#define GAIT_PROBE_TEXTS_11_ GAIT_PROBE_TEXTS_10_ " " GAIT_PROBE_TEXT_(11)
#define GAIT_PROBE_TEXTS_12_ GAIT_PROBE_TEXTS_11_ " " GAIT_PROBE_TEXT_(12)

#define GAIT_PROBE_OPERANDS_0_(p, n)
#define GAIT_PROBE_OPERANDS_1_(p, n, a)             GAIT_PROBE_OPERAND_(1, a)
#define GAIT_PROBE_OPERANDS_2_(p, n, a, b)          GAIT_PROBE_OPERANDS_1_(p, n, a), GAIT_PROBE_OPERAND_(2, b)
#define GAIT_PROBE_OPERANDS_3_(p, n, a, b, c)       GAIT_PROBE_OPERANDS_2_(p, n, a, b), GAIT_PROBE_OPERAND_(3, c)
#define GAIT_PROBE_OPERANDS_4_(p, n, a, b, c, d)    GAIT_PROBE_OPERANDS_3_(p, n, a, b, c), GAIT_PROBE_OPERAND_(4, d)
#define GAIT_PROBE_OPERANDS_5_(p, n, a, b, c, d, e) GAIT_PROBE_OPERANDS_4_(p, n, a, b, c, d), GAIT_PROBE_OPERAND_(5, e)
#define GAIT_PROBE_OPERANDS_6_(p, n, a, b, c, d, e, f)                                                                 \
    GAIT_PROBE_OPERANDS_5_(p, n, a, b, c, d, e), GAIT_PROBE_OPERAND_(6, f)
#define GAIT_PROBE_OPERANDS_7_(p, n, a, b, c, d, e, f, g)                                                              \
    GAIT_PROBE_OPERANDS_6_(p, n, a, b, c, d, e, f), GAIT_PROBE_OPERAND_(7, g)
#define GAIT_PROBE_OPERANDS_8_(p, n, a, b, c, d, e, f, g, h)                                                           \
    GAIT_PROBE_OPERANDS_7_(p, n, a, b, c, d, e, f, g), GAIT_PROBE_OPERAND_(8, h)
#define GAIT_PROBE_OPERANDS_9_(p, n, a, b, c, d, e, f, g, h, i)                                                        \
    GAIT_PROBE_OPERANDS_8_(p, n, a, b, c, d, e, f, g, h), GAIT_PROBE_OPERAND_(9, i)
#define GAIT_PROBE_OPERANDS_10_(p, n, a, b, c, d, e, f, g, h, i, j)                                                    \
    GAIT_PROBE_OPERANDS_9_(p, n, a, b, c, d, e, f, g, h, i), GAIT_PROBE_OPERAND_(10, j)
#define GAIT_PROBE_OPERANDS_11_(p, n, a, b, c, d, e, f, g, h, i, j, k)                                                 \
    GAIT_PROBE_OPERANDS_10_(p, n, a, b, c, d, e, f, g, h, i, j), GAIT_PROBE_OPERAND_(11, k)
#define GAIT_PROBE_OPERANDS_12_(p, n, a, b, c, d, e, f, g, h, i, j, k, l)                                              \
    GAIT_PROBE_OPERANDS_11_(p, n, a, b, c, d, e, f, g, h, i, j, k), GAIT_PROBE_OPERAND_(12, l)

/* Of the words that a macro was given, those behind the provider and the name are arguments: how many there are. */
#define GAIT_PROBE_COUNT_(...) GAIT_PROBE_15TH_(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, _, _)

/* The first two of them. */
#define GAIT_PROBE_PROVIDER_(provider, ...)         #provider
#define GAIT_PROBE_NAME_(provider, name, ...)       #name
#define GAIT_PROBE_SEMAPHORE_(provider, name, ...)  #provider "_" #name "_semaphore"
#define GAIT_PROBE_IS_ENABLED_(provider, name, ...) GAIT_PROBE_ENABLED(provider, name)

/* The count is what it is by the time of the second one. */
#define GAIT_PROBE_PUT_(count, semaphore, ...) GAIT_PROBE_PUT_AGAIN_(count, semaphore, __VA_ARGS__)
#define GAIT_PROBE_PUT_AGAIN_(count, semaphore, ...)                                                                   \
    __asm__ __volatile__(GAIT_PROBE_ASM_(GAIT_PROBE_PROVIDER_(__VA_ARGS__), GAIT_PROBE_NAME_(__VA_ARGS__, _),          \
                                         semaphore, GAIT_PROBE_TEXTS_##count##_)                                       \
                         :                                                                                             \
                         : GAIT_PROBE_OPERANDS_##count##_(__VA_ARGS__))

#define GAIT_PROBE_15TH_(p, n, a, b, c, d, e, f, g, h, i, j, k, l, count, ...) count

#endif
