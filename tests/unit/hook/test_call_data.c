/* SPDX-License-Identifier: MIT */
#include "hook/call_data.h"

#include "hook/hook_thread.h"
#include "support/check.h"

static struct hook_thread thread;

static void data_is_zero_and_nobody_elses(void)
{
    struct call_data *taken[500];

    for (unsigned i = 0; i < 500; i++) {
        uint32_t places = i % 5 + 1;

        taken[i] = call_data_take(&thread, places);
        CHECK(taken[i] != NULL);
        for (unsigned j = 0; j < places * GAIT_INVOCATION_DATA_BYTES; j++)
            CHECK_EQUAL(taken[i]->bytes[j], 0);
        memset(taken[i]->bytes, (int)i, (size_t)places * GAIT_INVOCATION_DATA_BYTES);
    }
    for (unsigned i = 0; i < 500; i++)
        for (unsigned j = 0; j < (i % 5 + 1) * GAIT_INVOCATION_DATA_BYTES; j++)
            CHECK_EQUAL(taken[i]->bytes[j], (uint8_t)i);
    for (unsigned i = 0; i < 500; i++)
        call_data_give_back(&thread, taken[i]);
}

static void what_was_given_back_is_used_again_and_zero(void)
{
    struct call_data *first = call_data_take(&thread, 1), *second;

    memset(first->bytes, 7, GAIT_INVOCATION_DATA_BYTES);
    call_data_give_back(&thread, first);
    second = call_data_take(&thread, 1);
    CHECK(second == first);
    CHECK_EQUAL(second->bytes[0] | second->bytes[GAIT_INVOCATION_DATA_BYTES - 1], 0);
    call_data_give_back(&thread, second);
    call_data_give_back(&thread, NULL);
}

static void there_is_a_limit(void)
{
    struct call_data *most = call_data_take(&thread, 1u << (CALL_DATA_SIZES - 1));

    CHECK(most != NULL);
    call_data_give_back(&thread, most);
    CHECK(call_data_take(&thread, (1u << (CALL_DATA_SIZES - 1)) + 1) == NULL);
    CHECK(call_data_take(&thread, UINT32_MAX) == NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(data_is_zero_and_nobody_elses),
    CHECK_CASE(what_was_given_back_is_used_again_and_zero),
    CHECK_CASE(there_is_a_limit),
};

int main(void)
{
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
