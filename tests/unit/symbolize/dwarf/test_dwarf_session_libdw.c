/* SPDX-License-Identifier: MIT */
#include "symbolize/dwarf/dwarf_session.h"

#include "support/check.h"
#include "support/own_dwarf.h"

#include <errno.h>

static void sections_are_those_of_the_file(void)
{
    struct dwarf_session session;
    struct dwarf_sections sections;
    struct own_dwarf own;

    own_dwarf_open(&own, NULL);
    CHECK_EQUAL(dwarf_session_begin(&session, "/proc/self/exe", ""), 0);
    CHECK_EQUAL(session.extent.begin, own.extent.begin);
    CHECK_EQUAL(session.extent.end, own.extent.end);
    CHECK_EQUAL(session.extent.distance, 0);
    CHECK(dwarf_session_sections(session.dwarf, &sections));
    CHECK(sections.info.size_bytes == own.sections.info.size_bytes &&
          memcmp(sections.info.bytes, own.sections.info.bytes, sections.info.size_bytes) == 0);
    CHECK(sections.line.size_bytes == own.sections.line.size_bytes &&
          memcmp(sections.line.bytes, own.sections.line.bytes, sections.line.size_bytes) == 0);
    dwarf_session_end(&session);
    dwarf_session_end(&session);
    own_dwarf_close(&own);
}

static void files_without_debug_information_are_none(void)
{
    struct dwarf_session session;

    CHECK_EQUAL(dwarf_session_begin(&session, "/no/such/file", ""), -ENOENT);
    CHECK_EQUAL(dwarf_session_begin(&session, "/dev/null", ""), -ENOENT);
}

static const struct check_case cases[] = {
    CHECK_CASE(sections_are_those_of_the_file),
    CHECK_CASE(files_without_debug_information_are_none),
};

CHECK_MAIN(cases)
