/* SPDX-License-Identifier: MIT */
#include "stalker/translator.h"

#include "arch/host_cpu.h"
#include "support/check.h"

static void the_host_has_its_own_translator_or_none(void)
{
    const struct translator *translator = translator_host();

    if (translator == NULL)
        check_skip("threads cannot be followed on this CPU yet");
    CHECK_TEXT(translator->name, host_cpu_name());
    CHECK(translator_host() == translator);
}

static void a_translator_fulfils_all_of_the_contract(void)
{
    const struct translator *translator = translator_host();
    /* From the first function on there is nothing but functions. */
    const size_t first = offsetof(struct translator, decode);

    if (translator == NULL)
        return;
    CHECK(translator->insns_bytes > 0);
    for (size_t offset = first; offset < sizeof(*translator); offset += sizeof(void (*)(void)))
        CHECK(*(void *const *)(const void *)((const char *)translator + offset) != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_host_has_its_own_translator_or_none),
    CHECK_CASE(a_translator_fulfils_all_of_the_contract),
};

CHECK_MAIN(cases)
