/* SPDX-License-Identifier: MIT */
#include "cli/options/record_options.h"

#include "gait/stalker.h"
#include "ring/ring_layout.h"
#include "support/check.h"

#include <stdlib.h>
#include <unistd.h>

static struct gait_error err;
static struct record_options options;

static enum command_status parse(char **words)
{
    struct command_call call = {.arguments = words, .error = &err};

    record_options_release(&options);
    while (call.arguments[call.argument_count] != NULL)
        call.argument_count++;
    err.text[0] = '\0';
    return record_options_parse(&call, "spawn", &options);
}

#define PARSE(...) parse((char *[]){__VA_ARGS__, NULL})

static void without_options_there_are_defaults(void)
{
    CHECK_EQUAL(PARSE("ls", "-l"), COMMAND_DONE);
    CHECK_TEXT(options.output, "./traces");
    CHECK_EQUAL(options.events, GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE);
    CHECK_EQUAL(options.overflow, -1);
    CHECK(options.with_times && options.hooks_all && !options.compress && !options.is_quiet);
    CHECK_EQUAL(options.rest_count, 2);
    CHECK_TEXT(options.rest[1], "-l");
}

static void options_are_read_up_to_the_program(void)
{
    CHECK_EQUAL(PARSE("-o", "x", "--follow=block,exec", "--times", "--overflow", "drop", "--buffer", "64K",
                      "--duration", "3", "--compress", "--quiet", "--", "ls", "--times"),
                COMMAND_DONE);
    CHECK_TEXT(options.output, "x");
    CHECK_EQUAL(options.events, GAIT_EVENT_BLOCK | GAIT_EVENT_EXEC);
    CHECK_EQUAL(options.overflow, RING_DROP);
    CHECK_EQUAL(options.buffer_bytes, 65536);
    CHECK_EQUAL(options.duration_seconds, 3);
    CHECK(options.with_times && options.compress && options.is_quiet);
    CHECK_EQUAL(options.rest_count, 2);
    CHECK_TEXT(options.rest[0], "ls");
}

static void all_events_have_names(void)
{
    CHECK_EQUAL(PARSE("--follow", "none"), COMMAND_DONE);
    CHECK_EQUAL(options.events, 0);
    CHECK_EQUAL(PARSE("--follow", "call,ret,block,exec,compile"), COMMAND_DONE);
    CHECK_EQUAL(options.events, 0x1f);
    CHECK_EQUAL(PARSE("--buffer", "8M", "--overflow", "block"), COMMAND_DONE);
    CHECK_EQUAL(options.buffer_bytes, 8u << 20);
    CHECK_EQUAL(options.overflow, RING_BLOCK);
}

static void check_refused(char **words, const char *why)
{
    CHECK_EQUAL(parse(words), COMMAND_MISUSED);
    CHECK(strstr(err.text, why) != NULL);
}

#define CHECK_REFUSED(why, ...) check_refused((char *[]){__VA_ARGS__, NULL}, why)

static void what_is_wrong_is_told(void)
{
    CHECK_REFUSED("--follow is calls; it should be", "--follow", "calls");
    CHECK_REFUSED("--follow is call,", "--follow", "call,");
    CHECK_REFUSED("--overflow is wait", "--overflow", "wait");
    CHECK_REFUSED("--buffer is 1", "--buffer", "1");
    CHECK_REFUSED("--buffer is 9M", "--buffer", "9M");
    CHECK_REFUSED("--buffer is 64KB", "--buffer", "64KB");
    CHECK_REFUSED("--buffer is -1", "--buffer", "-1");
    CHECK_REFUSED("--duration is 0", "--duration", "0");
    CHECK_REFUSED("--duration is soon", "--duration", "soon");
    CHECK_REFUSED("--output is ", "--output", "");
    CHECK_REFUSED("cannot use '--nonsense': 'gait spawn' has no such option", "--nonsense", "ls");
    CHECK_REFUSED("try '--hook', or 'gait help spawn'", "--hok", "ls");
    CHECK_REFUSED("--follow needs a value", "--follow");
}

static void lists_grow(void)
{
    CHECK_EQUAL(PARSE("--exclude", "libc.so*", "--exclude=libm*!sin", "--detail", "parse*", "--follow-thread",
                      "worker*", "--follow-thread=17", "--trigger", "crash", "--trigger", "slow=query>50ms",
                      "--trigger", "symbol=abort"),
                COMMAND_DONE);
    CHECK_EQUAL(options.excludes.count, 2);
    CHECK_TEXT(options.excludes.texts[1], "libm*!sin");
    CHECK_EQUAL(options.details.count, 1);
    CHECK_EQUAL(options.threads.count, 2);
    CHECK_TEXT(options.threads.texts[0], "worker*");
    CHECK_EQUAL(options.trigger_count, 3);
    CHECK_EQUAL(options.triggers[1].kind, TRIGGER_SPEC_SLOW);
}

static void windows_have_options(void)
{
    CHECK_EQUAL(PARSE("ls"), COMMAND_DONE);
    CHECK_EQUAL(options.stack_bytes, 128);
    CHECK_EQUAL(options.pre_roll_ms, 5000);
    CHECK_EQUAL(options.post_roll_ms, 5000);
    CHECK(!options.is_flight && !options.waits && options.with_children && !options.is_verbose);
    CHECK_EQUAL(PARSE("--stack-bytes", "512", "--pre-roll-sec", "0.25", "--post-roll-sec=2", "--flight", "--wait",
                      "--no-children", "--verbose"),
                COMMAND_DONE);
    CHECK_EQUAL(options.stack_bytes, 512);
    CHECK_EQUAL(options.pre_roll_ms, 250);
    CHECK_EQUAL(options.post_roll_ms, 2000);
    CHECK(options.is_flight && options.waits && !options.with_children && options.is_verbose);
    CHECK_REFUSED("--stack-bytes is 513", "--stack-bytes", "513");
    CHECK_REFUSED("--pre-roll-sec is soon", "--pre-roll-sec", "soon");
    CHECK_REFUSED("--trigger is slow=f; it should be slow=FUNCTION>TIME", "--trigger", "slow=f");
    CHECK_REFUSED("--detail is libz*!", "--detail", "libz*!");
    CHECK_REFUSED("--exclude is !", "--exclude", "!");
    CHECK_REFUSED("it should be FUNCTION or MODULE!FUNCTION", "--hook", "libc.so*!");
    CHECK_REFUSED("--hook and --follow do not go together", "--hook", "main", "--follow", "call");
    CHECK_REFUSED("--hook does not notice signals", "--hook", "main", "--trigger", "signal=SIGUSR1");
    CHECK_REFUSED("a function is hooked for all threads", "--hook", "main", "--follow-thread", "worker");
}

static void pieces_and_the_disk_have_options(void)
{
    CHECK_EQUAL(PARSE("ls"), COMMAND_DONE);
    CHECK(options.rotation.bytes == 0 && options.rotation.age_ns == 0 && options.rotation.keep == 0);
    CHECK_EQUAL(options.sync.when, DISK_SYNC_NEVER);
    CHECK_EQUAL(PARSE("--rotate", "1G", "--rotate", "10m", "--keep", "5", "--sync", "end"), COMMAND_DONE);
    CHECK_EQUAL(options.rotation.bytes, 1u << 30);
    CHECK_EQUAL(options.rotation.age_ns, 600000000000);
    CHECK_EQUAL(options.rotation.keep, 5);
    CHECK_EQUAL(options.sync.when, DISK_SYNC_END);
    CHECK_EQUAL(PARSE("--sync", "30"), COMMAND_DONE);
    CHECK(options.sync.when == DISK_SYNC_SECONDS && options.sync.seconds == 30);
    CHECK_REFUSED("--rotate is 5; it should be a size", "--rotate", "5");
    CHECK_REFUSED("--keep is 0", "--rotate", "1G", "--keep", "0");
    CHECK_REFUSED("--keep is for pieces; --rotate says", "--keep", "3");
    CHECK_REFUSED("--sync is 0; it should be never", "--sync", "0");
}

static void names_are_kept_unless_told_otherwise(void)
{
    CHECK_EQUAL(PARSE("ls"), COMMAND_DONE);
    CHECK(options.keeps_names);
    CHECK_EQUAL(PARSE("--keep-names", "no", "ls"), COMMAND_DONE);
    CHECK(!options.keeps_names);
    CHECK_EQUAL(PARSE("--keep-names=yes", "ls"), COMMAND_DONE);
    CHECK(options.keeps_names);
    CHECK_REFUSED("--keep-names is perhaps; it should be yes or no", "--keep-names", "perhaps");
}

static void details_have_options(void)
{
    CHECK_EQUAL(PARSE("ls"), COMMAND_DONE);
    CHECK_EQUAL(options.string_bytes, 64);
    CHECK_EQUAL(options.stack_depth, 32);
    CHECK_EQUAL(PARSE("--arg", "open:str,int", "--arg=f:->ptr", "--string-bytes", "512", "--stack", "f*",
                      "--stack-depth", "64"),
                COMMAND_DONE);
    CHECK_EQUAL(options.args.count, 2);
    CHECK_TEXT(options.args.texts[1], "f:->ptr");
    CHECK_EQUAL(options.stacks.count, 1);
    CHECK_EQUAL(options.string_bytes, 512);
    CHECK_EQUAL(options.stack_depth, 64);
    CHECK_REFUSED("--string-bytes is 513", "--string-bytes", "513");
    CHECK_REFUSED("--string-bytes is 0", "--string-bytes", "0");
    CHECK_REFUSED("--stack-depth is 65", "--stack-depth", "65");
    CHECK_REFUSED("--stack is libz*!", "--stack", "libz*!");
    CHECK_REFUSED(
        "--arg is open:str,imt; it should be FUNCTION:TYPE,TYPE...[->TYPE], but 'imt' is no type; is it int?\n"
        "  open:str,imt\n"
        "           ^",
        "--arg", "open:str,imt");
}

static void too_many_patterns_are_refused(void)
{
    char *words[2 * AGENT_PATTERNS_MAX + 5] = {"--follow", "call"};

    for (unsigned i = 0; i <= AGENT_PATTERNS_MAX; i++) {
        words[2 + 2 * i] = "--detail";
        words[3 + 2 * i] = "f";
    }
    check_refused(words, "too many patterns");
    words[2 + 2 * AGENT_PATTERNS_MAX] = NULL;
    CHECK_EQUAL(parse(words), COMMAND_DONE);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static char config[] = "/tmp/gait-options-XXXXXX";

static void write_config(const char *text)
{
    FILE *file = fopen(config, "w");

    fputs(text, file);
    fclose(file);
}

static void every_option_has_a_key(void)
{
    write_config("output = 'x'\nfollow = \"block\"\nexclude = [\"libm*\", \"libz*\"]\nfollow-thread = 17\n"
                 "times = true\nchildren = false\ndetail = \"parse\"\nstack-bytes = 64\nflight = true\n"
                 "trigger = ['crash', \"manual\"]\npre-roll-sec = 1.5\npost-roll-sec = 2\noverflow = \"drop\"\n"
                 "buffer = \"64K\"\nduration = 9\nwait = true\ncompress = true\nquiet = true\nverbose = true\n"
                 "arg = ['open:str', 'f:int->str']\nstring-bytes = 100\nstack = 'g'\nstack-depth = 3\n"
                 "rotate = ['64M', '1h']\nkeep = 3\nsync = \"end\"\n");
    CHECK_EQUAL(PARSE("--config", config, "ls"), COMMAND_DONE);
    CHECK_EQUAL(options.args.count, 2);
    CHECK_EQUAL(options.stacks.count, 1);
    CHECK_EQUAL(options.string_bytes, 100);
    CHECK_EQUAL(options.stack_depth, 3);
    CHECK_TEXT(options.output, "x");
    CHECK_EQUAL(options.events, GAIT_EVENT_BLOCK);
    CHECK_EQUAL(options.excludes.count, 2);
    CHECK_TEXT(options.excludes.texts[0], "libm*");
    CHECK_TEXT(options.threads.texts[0], "17");
    CHECK_TEXT(options.details.texts[0], "parse");
    CHECK_EQUAL(options.stack_bytes, 64);
    CHECK_EQUAL(options.trigger_count, 2);
    CHECK_EQUAL(options.pre_roll_ms, 1500);
    CHECK_EQUAL(options.post_roll_ms, 2000);
    CHECK_EQUAL(options.overflow, RING_DROP);
    CHECK_EQUAL(options.buffer_bytes, 65536);
    CHECK_EQUAL(options.duration_seconds, 9);
    CHECK_EQUAL(options.rotation.bytes, 64u << 20);
    CHECK_EQUAL(options.rotation.age_ns, 3600000000000);
    CHECK_EQUAL(options.rotation.keep, 3);
    CHECK_EQUAL(options.sync.when, DISK_SYNC_END);
    CHECK(options.with_times && !options.with_children && options.is_flight && options.waits);
    CHECK(options.compress && options.is_quiet && options.is_verbose);
    CHECK_TEXT(options.rest[0], "ls");
}

static void the_command_line_counts_more_than_the_file(void)
{
    write_config("output = 'x'\nexclude = [\"libm*\", \"libz*\"]\nduration = 9\nchildren = false\n"
                 "rotate = '1h'\n");
    CHECK_EQUAL(PARSE("--exclude", "libc*", "--rotate", "2M", "--duration", "3", "--children", "--config", config),
                COMMAND_DONE);
    CHECK_TEXT(options.output, "x");
    CHECK_EQUAL(options.excludes.count, 1);
    CHECK_TEXT(options.excludes.texts[0], "libc*");
    CHECK_EQUAL(options.rotation.bytes, 2u << 20);
    CHECK_EQUAL(options.rotation.age_ns, 0);
    CHECK_EQUAL(options.duration_seconds, 3);
    CHECK(options.with_children);
}

static void check_config_refused(const char *text, const char *why)
{
    write_config(text);
    CHECK_REFUSED(why, "--config", config);
}

static void what_is_wrong_in_the_file_is_told_with_its_line(void)
{
    check_config_refused("\n# x\nduration = \"soon\"\n", "line 3: duration is soon; it should be a number of seconds");
    check_config_refused("colour = \"blue\"\n", "line 1: colour is blue; it should be left out");
    check_config_refused("config = \"other\"\n", "line 1: config is other; it should be left out");
    check_config_refused("times = \"yes\"\n", "line 1: times is yes; it should be true or false");
    check_config_refused("output = [\"a\"]\n", "line 1: output is a; it should be one value");
    check_config_refused("duration = true\n", "line 1: duration is true; it should be a number of seconds");
    check_config_refused("arg = 'f:'\n", "line 1: arg is f:; it should be FUNCTION:TYPE,TYPE...[->TYPE], but types");
    CHECK_REFUSED("cannot read the options in /nowhere", "--config", "/nowhere");
}

static const struct check_case cases[] = {
    CHECK_CASE(without_options_there_are_defaults),
    CHECK_CASE(options_are_read_up_to_the_program),
    CHECK_CASE(all_events_have_names),
    CHECK_CASE(what_is_wrong_is_told),
    CHECK_CASE(lists_grow),
    CHECK_CASE(windows_have_options),
    CHECK_CASE(names_are_kept_unless_told_otherwise),
    CHECK_CASE(details_have_options),
    CHECK_CASE(pieces_and_the_disk_have_options),
    CHECK_CASE(too_many_patterns_are_refused),
    CHECK_CASE(every_option_has_a_key),
    CHECK_CASE(the_command_line_counts_more_than_the_file),
    CHECK_CASE(what_is_wrong_in_the_file_is_told_with_its_line),
};

int main(void)
{
    int fd = mkstemp(config), status;

    if (fd == -1)
        return 1;
    close(fd);
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    record_options_release(&options);
    unlink(config);
    return status;
}
