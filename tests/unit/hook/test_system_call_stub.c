/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#include "hook/system_call_stub.h"

#include "support/check.h"
#include "support/patched_call.h"

#if defined(__x86_64__)

static struct system_call_stub stub;
static struct hook_plan plan;

static void begin(void)
{
    static const struct system_call_watcher nobody;

    CHECK_EQUAL(system_calls_begin(&nobody), 0);
    (void)patched_call_make(&stub, &plan);
}

/* Both ways, for each place that a thread can be at. */
static void places_have_their_copies(void)
{
    const struct system_call_knowledge *known = &stub.knowledge;
    uint64_t found;

    CHECK(!system_call_stub_find_copy(&stub, &plan, plan.patch_at, &found));
    CHECK(!system_call_stub_find_copy(&stub, &plan, plan.displaced_end, &found));
    CHECK(system_call_stub_find_copy(&stub, &plan, plan.address, &found));
    CHECK_EQUAL(found, known->plain_at);
    CHECK(system_call_stub_find_copy(&stub, &plan, plan.address + 2, &found));
    CHECK_EQUAL(found, known->after);
    CHECK_EQUAL(known->after, known->plain_at + 2);
    CHECK(system_call_stub_find_original(&stub, &plan, stub.entry, &found));
    CHECK_EQUAL(found, plan.patch_at);
    CHECK(system_call_stub_find_original(&stub, &plan, known->call_at, &found));
    CHECK_EQUAL(found, plan.address);
    CHECK(system_call_stub_find_original(&stub, &plan, known->call_at + 2, &found));
    CHECK_EQUAL(found, plan.address + 2);
    CHECK(system_call_stub_find_original(&stub, &plan, known->child_at + 2, &found));
    CHECK_EQUAL(found, plan.address + 2);
    CHECK(system_call_stub_find_original(&stub, &plan, known->after, &found));
    CHECK_EQUAL(found, plan.address + 2);
    /* At the jump back all is done that was displaced. */
    CHECK(system_call_stub_find_original(&stub, &plan, known->after + 5, &found));
    CHECK_EQUAL(found, plan.displaced_end);
    CHECK(!system_call_stub_find_original(&stub, &plan, known->call_at + 3, &found));
    CHECK(!system_call_stub_find_original(&stub, &plan, stub.end, &found));
}

static void all(void)
{
    begin();
    places_have_their_copies();
    CHECK(stub.end - stub.start <= SYSTEM_CALL_STUB_BYTES_MAX);
    system_calls_end();
}

static const struct check_case cases[] = {
    CHECK_CASE(all),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    return 77;
}

#endif
