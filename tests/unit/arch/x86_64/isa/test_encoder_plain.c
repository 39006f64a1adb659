/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder_plain.h"

#include "support/check.h"
#include "support/encoding_check.h"

static const char *const texts[X86_PLAIN_COUNT] = {
#define X86_PLAIN(name, text, ...) [X86_##name] = text,
#include "arch/x86_64/isa/plain_instructions.def"
#undef X86_PLAIN
};

static void every_instruction_is_what_the_list_calls_it(void)
{
    FOR_EACH(i, texts)
    ENCODES(x86_plain(writer, (enum x86_plain)i), "%s", texts[i]);
    CHECK_EQUAL(encoding_finish(), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(every_instruction_is_what_the_list_calls_it),
};

CHECK_MAIN(cases)
