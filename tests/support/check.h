/* SPDX-License-Identifier: MIT */
/*
 * What a unit test needs: CHECK macros that say what was expected and go on, and a table of named cases. A test program
 * ends with 0 (all passed), 1 (something failed) or 77 (skipped, with the reason on standard output).
 */
#ifndef GAIT_TESTS_CHECK_H
#define GAIT_TESTS_CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            check_failures++;                                                                                          \
            printf("%s:%d: expected %s\n", __FILE__, __LINE__, #condition);                                            \
        }                                                                                                              \
    } while (0)

#define CHECK_EQUAL(actual, expected)                                                                                  \
    do {                                                                                                               \
        uint64_t check_actual = (uint64_t)(actual), check_expected = (uint64_t)(expected);                             \
        if (check_actual != check_expected) {                                                                          \
            check_failures++;                                                                                          \
            printf("%s:%d: %s is %" PRId64 " (0x%" PRIx64 "), expected %s = %" PRId64 " (0x%" PRIx64 ")\n", __FILE__,  \
                   __LINE__, #actual, (int64_t)check_actual, check_actual, #expected, (int64_t)check_expected,         \
                   check_expected);                                                                                    \
        }                                                                                                              \
    } while (0)

#define CHECK_TEXT(actual, expected)                                                                                   \
    do {                                                                                                               \
        const char *check_actual = (actual), *check_expected = (expected);                                             \
        if (strcmp(check_actual, check_expected) != 0) {                                                               \
            check_failures++;                                                                                          \
            printf("%s:%d: %s is \"%s\", expected \"%s\"\n", __FILE__, __LINE__, #actual, check_actual,                \
                   check_expected);                                                                                    \
        }                                                                                                              \
    } while (0)

struct check_case {
    const char *behaviour;
    void (*run)(void);
};

#define CHECK_CASE(function)                                                                                           \
    {                                                                                                                  \
#function, function                                                                                            \
    }

/* Leaves the program as skipped. */
static inline void check_skip(const char *reason)
{
    printf("skipped: %s\n", reason);
    exit(77);
}

/* Runs the cases in order and returns the exit status. */
static inline int check_run(const struct check_case *cases, size_t count)
{
    int failed_cases = 0;

    for (size_t i = 0; i < count; i++) {
        int before = check_failures;

        cases[i].run();
        if (check_failures != before) {
            failed_cases++;
            printf("FAILED: %s\n", cases[i].behaviour);
        }
        fflush(stdout);
    }
    printf("%zu cases, %d failed\n", count, failed_cases);
    return failed_cases == 0 ? 0 : 1;
}

#define CHECK_MAIN(cases)                                                                                              \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        return check_run(cases, sizeof(cases) / sizeof((cases)[0]));                                                   \
    }

#endif
