/* SPDX-License-Identifier: MIT */
/* gait doctor. */
#include "cli/command.h"

#include "cli/doctor.h"
#include "cli/doctor_clean.h"
#include "cli/options/arguments.h"
#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/error_text.h"
#include "hosted/json_writer.h"

#include <errno.h>

#define TEXT_BYTES      512
#define SUBJECT_COLUMNS 16

static const char *const verdicts[] = {"yes", "partly", "no"};

static void put(struct screen *screen, const struct doctor_check *check, const struct doctor_finding *finding)
{
    char clean[TEXT_BYTES];

    screen_put(screen, finding->verdict == DOCTOR_GOOD ? SCREEN_PLAIN : SCREEN_STRONG, 8, verdicts[finding->verdict]);
    screen_put(screen, SCREEN_PLAIN, SUBJECT_COLUMNS, check->subject);
    screen_put_words(screen, 8 + SUBJECT_COLUMNS, printable(clean, sizeof(clean), finding->text));
    if (finding->advice[0] == '\0')
        return;
    screen_print(screen, "%*s-> ", 8 + SUBJECT_COLUMNS, "");
    screen_put_words(screen, 8 + SUBJECT_COLUMNS + 3, printable(clean, sizeof(clean), finding->advice));
}

static void put_json(struct json_writer *json, const struct doctor_check *check, const struct doctor_finding *finding)
{
    json_writer_open_line(json, 2, NULL, '{');
    json_writer_text(json, "subject", check->subject);
    json_writer_text(json, "purpose", check->purpose);
    json_writer_text(json, "works", verdicts[finding->verdict]);
    json_writer_text(json, "text", finding->text);
    json_writer_text(json, "advice", finding->advice);
    json_writer_close(json, '}');
}

/* Looks at everything. Returns the first that is needed and missing; NULL: nothing is. */
static const struct doctor_check *look(struct screen *screen, struct json_writer *json)
{
    const struct doctor_check *check, *missing = NULL;

    for (size_t i = 0; (check = doctor_check_at(i)) != NULL; i++) {
        struct doctor_finding finding = {.verdict = DOCTOR_GOOD};

        check->look(&finding);
        if (check->is_needed && finding.verdict == DOCTOR_MISSING && missing == NULL)
            missing = check;
        if (json != NULL)
            put_json(json, check, &finding);
        else
            put(screen, check, &finding);
    }
    return missing;
}

static const struct doctor_check *look_for_programs(struct screen *screen)
{
    struct json_writer json = {.stream = screen->stream, .layout = JSON_SPACED};
    const struct doctor_check *missing;

    json_writer_open(&json, NULL, '[');
    missing = look(screen, &json);
    json_writer_break(&json, 0);
    json_writer_close(&json, ']');
    fputs("\n", screen->stream);
    return missing;
}

static enum command_status clean(const struct command_call *call)
{
    size_t removed, kept;

    if (doctor_clean(&removed, &kept, call->error) != 0)
        return COMMAND_FAILED;
    screen_print(call->screen, "%zu probes of ours were left in the kernel, and are removed", removed);
    screen_print(call->screen, kept == 0 ? "\n" : "; %zu are in use\n", kept);
    return COMMAND_DONE;
}

static enum command_status run(const struct command_call *call)
{
    int as_json = 0, is_clean = 0;
    const struct argument_option options[] = {{"json", NULL, &as_json}, {"clean", NULL, &is_clean}};
    const struct argument_rules rules = {"doctor", options, 2, NULL, 0};
    enum command_status status = arguments_parse(call, &rules, NULL);
    const struct doctor_check *missing;

    if (status != COMMAND_DONE)
        return status;
    if (is_clean)
        return clean(call);
    missing = as_json ? look_for_programs(call->screen) : look(call->screen, NULL);
    if (missing == NULL)
        return COMMAND_DONE;
    (void)error_set(call->error, EPERM, "nothing can be recorded here: %s is missing; see above", missing->subject);
    return COMMAND_FAILED;
}

extern const struct command command_doctor;
const struct command command_doctor = {
    .name = "doctor",
    .arguments = "[--json] [--clean]",
    .summary = "show what this machine allows gait to do, and how to change it",
    .details = "Looks at what recording needs (tracing, shared memory, changing code, limits), at\n"
               "the clock, the disk, debug information, and at the kernel's own events, and says\n"
               "of each whether it is available; what is not, with what to do. It\n"
               "tries things on itself, changes nothing, and fails only if nothing at all can\n"
               "be recorded.\n"
               "\n"
               "  --json    as a list of objects: subject, purpose, works (yes, partly or no),\n"
               "            text, advice\n"
               "  --clean   instead, removes probes from the kernel whose group begins with\n"
               "            gait; gait leaves none, but others may in its name\n"
               "\n"
               "Examples:\n"
               "  gait doctor\n"
               "  gait doctor --json | jq -r '.[] | select(.works != \"yes\") | .advice'\n",
    .run = run,
};
