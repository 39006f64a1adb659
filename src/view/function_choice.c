/* SPDX-License-Identifier: MIT */
#include "view/function_choice.h"

#include "hosted/growing_array.h"
#include "view/function_pattern.h"

#include <stdlib.h>
#include <string.h>

enum function_answer { NOT_ASKED = 0, NO, YES };

void function_choice_init(struct function_choice *choice, struct view_functions *functions, const char *const *patterns,
                          size_t pattern_count)
{
    *choice = (struct function_choice){.functions = functions, .patterns = patterns, .pattern_count = pattern_count};
}

void function_choice_deinit(struct function_choice *choice)
{
    free(choice->answers);
    choice->answers = NULL;
    choice->answer_count = 0;
}

static enum function_answer ask(const struct function_choice *choice, uint32_t number)
{
    const struct view_function *function = view_functions_at(choice->functions, number);

    for (size_t i = 0; i < choice->pattern_count; i++)
        if (function_pattern_matches(choice->functions, choice->patterns[i], function))
            return YES;
    return NO;
}

bool function_choice_has(struct function_choice *choice, uint32_t number)
{
    enum function_answer answer;
    bool is_kept;

    if (choice->pattern_count == 0)
        return false;
    /* Without memory, they are compared each time. */
    is_kept = ARRAY_RESERVE_ZEROED(choice->answers, choice->answer_count, (size_t)number + 1) == 0;
    if (is_kept && choice->answers[number] != NOT_ASKED)
        return choice->answers[number] == YES;
    answer = ask(choice, number);
    choice->matched_count += answer == YES;
    if (is_kept)
        choice->answers[number] = (uint8_t)answer;
    return answer == YES;
}
