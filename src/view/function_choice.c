/* SPDX-License-Identifier: MIT */
#include "view/function_choice.h"

#include "view/function_pattern.h"

#include <stdlib.h>
#include <string.h>

#define ANSWERS_AT_FIRST 256u

enum function_answer { NOT_ASKED, NO, YES };

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
        if (function_pattern_matches(choice->patterns[i], function))
            return YES;
    return NO;
}

/* Without memory, they are compared each time. */
static void make_room(struct function_choice *choice, uint32_t number)
{
    size_t count = choice->answer_count == 0 ? ANSWERS_AT_FIRST : choice->answer_count;
    uint8_t *grown;

    while (count <= number)
        count *= 2;
    grown = realloc(choice->answers, count);
    if (grown == NULL)
        return;
    memset(grown + choice->answer_count, NOT_ASKED, count - choice->answer_count);
    choice->answers = grown;
    choice->answer_count = count;
}

bool function_choice_has(struct function_choice *choice, uint32_t number)
{
    enum function_answer answer;

    if (choice->pattern_count == 0)
        return false;
    if (number >= choice->answer_count)
        make_room(choice, number);
    if (number < choice->answer_count && choice->answers[number] != NOT_ASKED)
        return choice->answers[number] == YES;
    answer = ask(choice, number);
    choice->matched_count += answer == YES;
    if (number < choice->answer_count)
        choice->answers[number] = (uint8_t)answer;
    return answer == YES;
}
