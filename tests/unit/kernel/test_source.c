/* SPDX-License-Identifier: MIT */
#include "kernel/source.h"

#include "support/check.h"

#include <errno.h>

static struct gait_error err;

static void every_kind_has_a_source(void)
{
    for (unsigned i = 0; i < PROBE_KINDS; i++) {
        const struct source *source = source_of((enum probe_kind)i);

        CHECK_EQUAL(source->kind, i);
        CHECK(source->purpose != NULL && source->check != NULL && source->list != NULL && source->resolve != NULL);
    }
}

/* Whoever may not, or cannot, is told why. */
static void every_source_says_whether_it_can_be_used(void)
{
    for (unsigned i = 0; i < PROBE_KINDS; i++) {
        int result;

        err = (struct gait_error){.code = 0};
        result = source_of((enum probe_kind)i)->check(&err);
        CHECK(result <= 0);
        CHECK((result != 0) == (err.text[0] != '\0'));
    }
}

static void fields_are_no_more_than_fit(void)
{
    const struct kernel_field field = {.size_bytes = 8, .count = 1, .type = KERNEL_FIELD_HEX};
    static struct source_probe probe;

    for (unsigned i = 0; i < KERNEL_FIELDS_MAX + 5; i++)
        source_probe_add_field(&probe, &field, "a name that is too long to be kept as it is");
    CHECK_EQUAL(probe.field_count, KERNEL_FIELDS_MAX);
    CHECK_TEXT(probe.fields[0].name, "a name that is too long to be k");
}

static void refusals_are_put_into_words(void)
{
    CHECK_EQUAL(source_explain("this", -EACCES, &err), -EACCES);
    CHECK(strstr(err.text, "cannot watch this: the kernel does not let this user") != NULL);
    CHECK_EQUAL(source_explain("this", ENODEV, &err), -ENODEV);
    CHECK(strstr(err.text, "has no such events") != NULL);
    CHECK_EQUAL(source_explain("this", EMFILE, &err), -EMFILE);
    CHECK_EQUAL(source_explain("this", EBUSY, &err), -EBUSY);
    CHECK_EQUAL(source_explain("this", EINVAL, &err), -EINVAL);
    CHECK(strstr(err.text, "Invalid argument") != NULL);
}

static void kinds_that_are_not_there_are_told(void)
{
    uint32_t type;

    CHECK_EQUAL(source_dynamic_type("no such kind", &type), -ENOENT);
    CHECK_EQUAL(source_dynamic_type("software", &type), 0);
    CHECK_EQUAL(type, PERF_TYPE_SOFTWARE);
}

static const struct check_case cases[] = {
    CHECK_CASE(every_kind_has_a_source),           CHECK_CASE(every_source_says_whether_it_can_be_used),
    CHECK_CASE(fields_are_no_more_than_fit),       CHECK_CASE(refusals_are_put_into_words),
    CHECK_CASE(kinds_that_are_not_there_are_told),
};

CHECK_MAIN(cases)
