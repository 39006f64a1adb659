/* SPDX-License-Identifier: MIT */
#include "symbolize/demangle.h"

#include "support/check.h"
#include "support/random.h"

static void expect(const char *name, const char *meaning)
{
    char *text = demangle(name);

    CHECK_TEXT(text == NULL ? "(none)" : text, meaning);
    free(text);
}

static void cpp_is_understood(void)
{
    expect("_ZN4code5queueIiE3putEi", "code::queue<int>::put(int)");
    expect("_ZN12_GLOBAL__N_14workEv", "(anonymous namespace)::work()");
    expect("_ZN3foo3barEv.isra.0", "foo::bar() [clone .isra.0]");
    expect("_ZN1AC4Ev", "A::A()");
    expect("_GLOBAL__I_main", "global constructors keyed to main");
}

static void rust_is_understood(void)
{
    expect("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
    expect("_RNvC6_123foo3bar", "123foo::bar");
    expect("_RNvMs_CsgQrX_5thingNtB4_4Part3run", "<thing::Part>::run");
}

static void d_is_understood(void)
{
    expect("_D8demangle4testFiZv", "demangle.test(int)");
    expect("_Dmain", "D main");
}

static void other_names_mean_themselves(void)
{
    static const char *const names[] = {
        "main", "_init", "", "_", "main.(*T).run", "runtime.gcDrain", "_Zwrong", "_R", "_Z", "_ZNEverything"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        expect(names[i], "(none)");
}

/* Each level refers twice to the one before it. */
static void names_that_stand_for_gigabytes_are_left_alone(void)
{
    char name[1024] = "_Z1fI";
    size_t used = strlen(name);

    used += (size_t)snprintf(name + used, sizeof(name) - used, "1AIiiE");
    for (int level = 0; level < 40; level++)
        used +=
            (size_t)snprintf(name + used, sizeof(name) - used, "1AIS%c_S%c_E",
                             level < 10 ? '0' + level : 'A' + level - 10, level < 10 ? '0' + level : 'A' + level - 10);
    snprintf(name + used, sizeof(name) - used, "EvT_");
    free(demangle(name));

    char *longest = malloc(100001);

    memset(longest, 'P', 100000);
    memcpy(longest, "_Z1f", 4);
    longest[100000] = '\0';
    expect(longest, "(none)");
    free(longest);
}

static void nonsense_does_no_harm(void)
{
    static const char *const names[] = {"_ZN4code5queueIiE3putEi", "_RNvMs_CsgQrX_5thingNtB4_4Part3run",
                                        "_D8demangle4testFiZv", "_ZNSt6vectorIS_IiSaIiEESaIS1_EE9push_backEOS1_"};
    struct random random;
    char name[128];

    random_init(&random, 41);
    for (unsigned round = 0; round < 20000; round++) {
        size_t length = (size_t)snprintf(name, sizeof(name), "%s", names[round % 4]);

        for (unsigned i = 0; i < 3; i++)
            name[2 + random_below(&random, (uint32_t)length - 2)] = (char)(33 + random_below(&random, 94));
        free(demangle(name));
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(cpp_is_understood),
    CHECK_CASE(rust_is_understood),
    CHECK_CASE(d_is_understood),
    CHECK_CASE(other_names_mean_themselves),
    CHECK_CASE(names_that_stand_for_gigabytes_are_left_alone),
    CHECK_CASE(nonsense_does_no_harm),
};

CHECK_MAIN(cases)
