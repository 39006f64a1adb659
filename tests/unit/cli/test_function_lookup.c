/* SPDX-License-Identifier: MIT */
/* Patterns for functions of a program that is built here. */
#include "cli/function_lookup.h"

#include "cli/options/record_options.h"
#include "protocol/agent_call.h"
#include "protocol/agent_places.h"
#include "support/built_program.h"
#include "support/check.h"
#include "symbolize/program_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct built_program program;
static struct program_files files;
static struct record_options options = {.with_children = true};
static struct agent_options agent;
static struct function_lookup lookup;
static struct gait_error err;
static char said[2048];

static void say(void *context, const char *text)
{
    (void)context;
    strcat(said, text);
    strcat(said, "\n");
}

static void begin(const char *main_text)
{
    char command[1024];

    built_program_init(&program);
    snprintf(command, sizeof(command),
             "echo 'int in_library(int a) { return a; } namespace l { int deep(int a) { return a; } }' >l.cc && "
             "echo 'int in_library(int); struct Sq { int area(int) const; int area(long) const; };"
             "int Sq::area(int a) const { return a; } int Sq::area(long a) const { return a; }"
             "extern \"C\" int plain(int a) { return a; }\n"
             "#include <dlfcn.h>\n"
             "int main() { in_library(1); %s }' >m.cc && g++ -shared -fPIC -o liblook.so l.cc && "
             "g++ -o look m.cc ./liblook.so",
             main_text);
    CHECK(built_program_run(&program, command));
    /* What it needs is named by a path from its folder. */
    CHECK_EQUAL(chdir(program.folder), 0);
    CHECK_EQUAL(program_files_of_program("./look", &files), 0);
}

static void end(void)
{
    CHECK_EQUAL(chdir("/"), 0);
    program_files_deinit(&files);
    built_program_deinit(&program);
}

static int look(const char *text, enum agent_pattern_use use)
{
    agent_options_clear(&agent);
    agent.pattern_count = 1;
    agent.patterns[0] = (struct agent_pattern){.use = use};
    strcpy(agent.patterns[0].text, text);
    said[0] = err.text[0] = '\0';
    lookup = (struct function_lookup){.options = &options, .files = &files, .say = say};
    return function_lookup_run(&lookup, &agent, &err);
}

/* How many functions of the file are given by address. */
static size_t places_of(size_t which)
{
    uint64_t module = agent_places_module((struct glob_text){files.paths[which], strlen(files.paths[which])});
    const struct agent_place *place;
    size_t count = 0;

    for (uint32_t i = 0; (place = agent_places_next(&agent.places, module, &i)) != NULL;)
        count += place->address != UINT64_MAX;
    return count;
}

static size_t library(void)
{
    size_t which = 0;

    while (which < files.count && strstr(files.paths[which], "liblook") == NULL)
        which++;
    CHECK(which < files.count);
    return which;
}

static void what_linkers_names_tell_is_left_to_the_agent(void)
{
    begin("");
    CHECK_EQUAL(look("plain", AGENT_PATTERN_HOOK), 0);
    CHECK_EQUAL(agent.places.count, 0);
    CHECK_TEXT(agent.patterns[0].text, "!plain");
    CHECK_TEXT(agent.patterns[0].other, "_Z5plain*");
    CHECK_EQUAL(look("_ZNK2Sq*", AGENT_PATTERN_HOOK), 0);
    CHECK_EQUAL(agent.places.count, 0);
    CHECK_EQUAL(look("*", AGENT_PATTERN_HOOK), 0);
    CHECK_TEXT(agent.patterns[0].text, "*");
    CHECK_EQUAL(look("libz*", AGENT_PATTERN_EXCLUDE), 0);
    CHECK_TEXT(agent.patterns[0].text, "libz*");
    CHECK_TEXT(said, "");
    CHECK(!lookup.is_for_each);
    end();
}

static void other_spellings_are_given_by_address(void)
{
    begin("");
    CHECK_EQUAL(look("Sq::area", AGENT_PATTERN_DETAIL), 0);
    CHECK_EQUAL(places_of(0), 2);
    CHECK_TEXT(said, "Sq::area means 2 functions; all of them are meant\n");
    CHECK(lookup.is_for_each);
    CHECK_EQUAL(look("Sq::area(int) const", AGENT_PATTERN_EXCLUDE), 0);
    CHECK_EQUAL(places_of(0), 1);
    CHECK_EQUAL(look("liblook*:l::deep", AGENT_PATTERN_STACK), 0);
    CHECK_EQUAL(places_of(library()), 1);
    CHECK_TEXT(agent.patterns[0].text, "liblook*!l::deep");
    CHECK_TEXT(said, "");
    end();
}

static void functions_of_libraries_need_no_module(void)
{
    begin("");
    CHECK_EQUAL(look("in_library", AGENT_PATTERN_HOOK), 0);
    CHECK_EQUAL(places_of(library()), 1);
    CHECK_TEXT(said, "in_library is not in the program itself; 1 function of liblook.so is meant\n");
    /* Addresses are the program's. */
    CHECK_EQUAL(look("0x7fffffff", AGENT_PATTERN_HOOK), -ENOENT);
    end();
}

static void what_is_nowhere_is_refused(void)
{
    begin("");
    CHECK_EQUAL(look("plian", AGENT_PATTERN_HOOK), -ENOENT);
    CHECK_TEXT(err.text, "--hook plian: no function has such a name in the program or its libraries; did you mean "
                         "plain?");
    CHECK_EQUAL(look("Sq::arae", AGENT_PATTERN_STACK), -ENOENT);
    CHECK(strstr(err.text, "did you mean Sq::area?") != NULL);
    CHECK_EQUAL(look("libother*!f", AGENT_PATTERN_HOOK), -ENOENT);
    CHECK(strstr(err.text, "the program has no module 'libother*'") != NULL);
    CHECK_EQUAL(look("libother*!*", AGENT_PATTERN_HOOK), -ENOENT);
    CHECK_EQUAL(look("nothing.c:3", AGENT_PATTERN_HOOK), -ENOENT);
    lookup.is_repeated = true;
    CHECK_EQUAL(function_lookup_run(&lookup, &agent, &err), 0);
    end();
}

static void what_may_come_later_is_awaited(void)
{
    begin("dlopen(\"\", 0);");
    CHECK_EQUAL(look("plian", AGENT_PATTERN_HOOK), 0);
    CHECK_EQUAL(lookup.awaited, 1);
    CHECK_TEXT(agent.patterns[0].text, "*!plian");
    CHECK_TEXT(agent.patterns[0].other, "_Z5plian*");
    CHECK_TEXT(said,
               "--hook plian: no function has such a name in the program or its libraries; did you mean plain? it "
               "is awaited in libraries and programs that come later\n");
    CHECK_EQUAL(look("libother*:*", AGENT_PATTERN_HOOK), 0);
    CHECK_EQUAL(lookup.awaited, 1);
    CHECK_TEXT(agent.patterns[0].text, "libother*!*");
    CHECK_EQUAL(look("libother.so+0x10", AGENT_PATTERN_HOOK), 0);
    CHECK_TEXT(agent.patterns[0].text, "libother.so!0x10");
    CHECK_EQUAL(look("nothing.c:3", AGENT_PATTERN_HOOK), -ENOENT);
    end();
}

static void addresses_in_memory_are_those_of_files(void)
{
    char text[64];
    struct program_files own;

    CHECK_EQUAL(program_files_of_process(getpid(), &own), 0);
    agent_options_clear(&agent);
    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)(uintptr_t)say);
    agent.pattern_count = 1;
    agent.patterns[0] = (struct agent_pattern){.use = AGENT_PATTERN_HOOK};
    strcpy(agent.patterns[0].text, text);
    lookup = (struct function_lookup){.options = &options, .files = &own, .pid = getpid(), .say = say};
    CHECK_EQUAL(function_lookup_run(&lookup, &agent, &err), 0);
    CHECK_EQUAL(agent.places.count, 2);
    CHECK_EQUAL(agent.places.places[0].address % 4096, (uintptr_t)say % 4096);
    program_files_deinit(&own);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_linkers_names_tell_is_left_to_the_agent),
    CHECK_CASE(other_spellings_are_given_by_address),
    CHECK_CASE(functions_of_libraries_need_no_module),
    CHECK_CASE(what_is_nowhere_is_refused),
    CHECK_CASE(what_may_come_later_is_awaited),
    CHECK_CASE(addresses_in_memory_are_those_of_files),
};

CHECK_MAIN(cases)
