/* SPDX-License-Identifier: MIT */
#include "cli/known_functions.h"

#include "protocol/agent_known.h"
#include "support/check.h"
#include "support/described_functions.h"
#include "symbolize/dwarf/dwarf_arguments.h"
#include "symbolize/program_files.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

extern const char __executable_start[];

static struct agent_options agent;
static struct program_files files;

static void gather(const char *pattern, bool is_declared)
{
    memset(&agent, 0, sizeof(agent));
    agent.pattern_count = 1;
    agent.patterns[0].use = AGENT_PATTERN_DETAIL;
    agent.patterns[0].declaration.is_given = is_declared;
    strcpy(agent.patterns[0].text, pattern);
    known_functions_gather(&files, &agent);
}

static const struct detail_declaration *find(const void *address)
{
    const ElfW(Ehdr) *header = (const void *)__executable_start;
    uint64_t base = header->e_type == ET_DYN ? (uintptr_t)__executable_start : 0;
    const struct glob_text path = {files.paths[0], strlen(files.paths[0])};

    return agent_known_find(&agent.known, agent_known_key(path, (uintptr_t)address - base));
}

static void functions_with_strings_or_floats_are_told(void)
{
    const struct detail_declaration *found;

    gather("described_*", false);
    found = find((const void *)described_plain);
    CHECK(found != NULL && found->count == 6 && found->fields[0].type == DETAIL_TYPE_STRING);
    CHECK(find((const void *)described_doubles) != NULL && find((const void *)described_many) != NULL);
    /* Numbers are in each record. */
    CHECK(find((const void *)described_hidden) == NULL && find((const void *)described_returned) == NULL);
}

static void only_what_is_asked_for_is_told(void)
{
    gather("described_plain", false);
    CHECK(find((const void *)described_plain) != NULL && find((const void *)described_doubles) == NULL);
    gather("libother*!described_*", false);
    CHECK_EQUAL(agent.known.count, 0);
    /* Somebody has said what they are. */
    gather("described_*", true);
    CHECK_EQUAL(agent.known.count, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_with_strings_or_floats_are_told),
    CHECK_CASE(only_what_is_asked_for_is_told),
};

int main(void)
{
    struct dwarf_arguments *file;
    int status;

    if (dwarf_arguments_open("/proc/self/exe", &file) != 0)
        check_skip("this gait was built without libdw");
    dwarf_arguments_close(file);
    if (program_files_of_process(getpid(), &files) != 0)
        return 1;
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    program_files_deinit(&files);
    return status;
}
