/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export/export_format.h"

#include "support/check.h"
#include "support/export_lab.h"

static struct export_lab lab;

/* Whether these bytes are in the output, once. */
static bool has(const void *bytes, size_t size_bytes)
{
    const char *at = memmem(lab.output, lab.output_bytes, bytes, size_bytes);

    return at != NULL && memmem(at + 1, (size_t)(lab.output + lab.output_bytes - at) - 1, bytes, size_bytes) == NULL;
}

static void a_thread_begins_with_its_track(void)
{
    static const char packet[] = "\x0a\x1f"         /* a packet */
                                 "\x50\x02"         /* of sequence 2 */
                                 "\x68\x01"         /* whose state is cleared */
                                 "\xb8\x05\x01"     /* which is its first one */
                                 "\xda\x03\x04"     /* defaults */
                                 "\x5a\x02\x58\x03" /* of track events: track 3 */
                                 "\xe2\x03\x10"     /* a track */
                                 "\x08\x03"         /* number 3 */
                                 "\x22\x0c"         /* of a thread */
                                 "\x08\x64\x10\x65\x2a\x06worker";

    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "perfetto"), 0);
    CHECK(memmem(lab.output, lab.output_bytes, packet + 2, sizeof(packet) - 3) != NULL);
    export_lab_deinit(&lab);
}

static void a_name_is_told_once_in_a_thread(void)
{
    static const char entry[] = "\x12\x12\x08\x01\x12\x0e"
                                "example+0x1100";

    export_lab_init(&lab);
    export_lab_choose(&lab, 0);
    CHECK_EQUAL(export_lab_write(&lab, "perfetto"), 0);
    CHECK(has(entry, sizeof(entry) - 1));
    export_lab_deinit(&lab);
    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "perfetto"), 0);
    CHECK(!has(entry, sizeof(entry) - 1));
    CHECK(memmem(lab.output, lab.output_bytes, entry, sizeof(entry) - 1) != NULL);
    export_lab_deinit(&lab);
}

static void a_call_begins_and_ends(void)
{
    /* sequence 3, state is needed, at 1250, a track event of type 2 */
    static const char end[] = "\x0a\x0b\x50\x03\x68\x02\x40\xe2\x09\x5a\x02\x48\x02";
    /* the second call of b: at 1400, type 1, of category and name 2 */
    static const char begin[] = "\x0a\x0f\x50\x03\x68\x02\x40\xf8\x0a\x5a\x06\x48\x01\x18\x02\x50\x02";

    export_lab_init(&lab);
    export_lab_choose(&lab, EXPORT_LAB_HOOKED);
    CHECK_EQUAL(export_lab_write(&lab, "perfetto"), 0);
    CHECK(has(end, sizeof(end) - 1));
    CHECK(has(begin, sizeof(begin) - 1));
    export_lab_deinit(&lab);
}

static void what_is_not_sure_is_marked(void)
{
    export_lab_init(&lab);
    export_lab_choose(&lab, EXPORT_LAB_HOOKED);
    CHECK_EQUAL(export_lab_write(&lab, "perfetto"), 0);
    CHECK(has("\x32\x07unwound\x52\x03"
              "end",
              13) ||
          has("\x52\x03"
              "end\x32\x07unwound",
              14));
    export_lab_deinit(&lab);
    export_lab_init(&lab);
    export_lab_choose(&lab, 1);
    lab.job.to_ns = 1060;
    CHECK_EQUAL(export_lab_write(&lab, "perfetto"), 0);
    /* an instant called "lost", with 72 as "lost bytes" */
    CHECK(has("\x48\x03\xba\x01\x04lost\x22\x0e\x52\x0alost bytes\x18\x48", 25));
    export_lab_deinit(&lab);
}

static void nasty_names_are_utf8(void)
{
    static const char name[] = "<i>&\"\\;\xef\xbf\xbd\xef\xbf\xbd<i>+0x1100";

    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "perfetto"), 0);
    CHECK(has(name, sizeof(name) - 1));
    CHECK(memmem(lab.output, lab.output_bytes, "\n\xff", 2) == NULL);
    export_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_thread_begins_with_its_track), CHECK_CASE(a_name_is_told_once_in_a_thread),
    CHECK_CASE(a_call_begins_and_ends),         CHECK_CASE(what_is_not_sure_is_marked),
    CHECK_CASE(nasty_names_are_utf8),
};

CHECK_MAIN(cases)
