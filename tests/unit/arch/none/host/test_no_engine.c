/* SPDX-License-Identifier: MIT */
/* Runs where a CPU has no engine: everything is refused, and nothing is touched. */
#include "arch/calling_thread.h"
#include "arch/clone_start.h"
#include "arch/engine.h"
#include "arch/signal_saved.h"
#include "arch/thread_landing.h"
#include "hook/hook_gate.h"
#include "hook/hook_stub.h"
#include "hook/hook_thread.h"
#include "stalker/follow.h"
#include "stalker/signal_frame.h"
#include "stalker/stalker_gate.h"
#include "stalker/system_call.h"
#include "stalker/vectors.h"
#include "support/check.h"

#include <errno.h>

static void begin(void)
{
    if (engine_host() != NULL)
        check_skip("this CPU has an engine");
}

static int prepare(void *a, const void *b, void *c, struct stalker_thread **thread_out)
{
    (void)b;
    (void)c;
    (void)thread_out;
    *(bool *)a = true;
    return 0;
}

static void following_is_refused(void)
{
    bool is_prepared = false;

    begin();
    CHECK_EQUAL(stalker_follow_caller(&is_prepared, NULL, NULL, prepare), -EOPNOTSUPP);
    CHECK(!is_prepared);
    CHECK_EQUAL(stalker_clone(NULL, NULL), -EOPNOTSUPP);
}

static void hooking_is_refused(void)
{
    const struct hook_threads_options options = {0};

    begin();
    CHECK(!hook_stub_is_supported());
    CHECK_EQUAL(hook_threads_begin(&options), -EOPNOTSUPP);
    CHECK_EQUAL(hook_thread_base_get(), 0);
    CHECK_EQUAL(hook_thread_pointer(), 0);
}

static void no_register_is_used(void)
{
    struct system_call call = {0};
    long result = 77;

    begin();
    stalker_base_set(0x1000);
    CHECK_EQUAL(stalker_base_get(), 0);
    CHECK(!stalker_base_call(NULL, &call, &result));
    CHECK_EQUAL(result, 77);
    CHECK_EQUAL(vector_state_bytes(), 0);
}

static void no_place_in_frames_and_gates_is_known(void)
{
    begin();
    CHECK_EQUAL(stalker_gate_recover(NULL, NULL), GATE_UNKNOWN);
    CHECK_EQUAL(signal_saved_pc_at(4096), 0);
    CHECK_EQUAL(signal_saved_sp_at(4096), 0);
    CHECK_EQUAL(signal_saved_pc_in(4096), 0);
    CHECK_EQUAL(signal_trap_distance(), 0);
    CHECK_EQUAL(signal_restorer(), 0);
}

static void threads_are_not_borrowed(void)
{
    struct thread_registers registers = {{0}};
    struct thread_landing landing = {0};

    begin();
    CHECK_EQUAL(thread_landing_prepare(&landing, &registers), -EOPNOTSUPP);
    CHECK_EQUAL(thread_landing_vector_bytes(), 0);
    CHECK_EQUAL(clone_start(0, NULL, NULL, NULL, NULL), -EOPNOTSUPP);
}

static const struct check_case cases[] = {
    CHECK_CASE(following_is_refused),     CHECK_CASE(hooking_is_refused),
    CHECK_CASE(no_register_is_used),      CHECK_CASE(no_place_in_frames_and_gates_is_known),
    CHECK_CASE(threads_are_not_borrowed),
};

CHECK_MAIN(cases)
