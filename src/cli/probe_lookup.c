/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/probe_lookup.h"

#include "base/glob.h"
#include "cli/options/nearest_name.h"
#include "cli/options/probe_option.h"
#include "cli/screens/printable.h"
#include "elf/static_probes.h"
#include "elf/symbol_file.h"
#include "hosted/error_text.h"
#include "protocol/agent_pattern.h"
#include "symbolize/program_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SPELLED_BYTES 512

struct lookup {
    struct agent_pattern_parts parts;
    struct nearest_names nearest;
    bool has_file;   /* some file is meant that is there */
    bool has_probes; /* which has any probes at all */
    bool is_found;
};

static void look_at_probe(struct lookup *lookup, const struct static_probe *probe)
{
    char spelled[SPELLED_BYTES];
    int length = snprintf(spelled, sizeof(spelled), "%s:%s", probe->provider, probe->name);
    const struct glob_text text = {spelled, strlen(spelled)};

    if (length < 0 || (size_t)length >= sizeof(spelled))
        return;
    lookup->has_probes = true;
    lookup->is_found |= glob_matches(lookup->parts.function, text);
    nearest_names_offer(&lookup->nearest, spelled, text.length);
}

/* What cannot be read has none. */
static void look_into(struct lookup *lookup, const char *path)
{
    struct static_probe_cursor cursor;
    struct static_probe probe;
    struct symbol_file file;

    if (symbol_file_open(path, &file) != 0)
        return;
    lookup->has_file = true;
    static_probe_cursor_init(&cursor, &file.symbols);
    while (!lookup->is_found && static_probe_cursor_next(&cursor, &probe))
        look_at_probe(lookup, &probe);
    symbol_file_close(&file);
}

static void look_at_all(struct lookup *lookup, const struct probe_option *option, const struct program_files *files)
{
    if (option->path != NULL) {
        look_into(lookup, option->path);
        return;
    }
    for (size_t i = 0; i < files->count && !lookup->is_found; i++)
        if (agent_pattern_has_module(&lookup->parts, (struct glob_text){files->paths[i], strlen(files->paths[i])},
                                     i == 0))
            look_into(lookup, files->paths[i]);
}

static int explain(const struct lookup *lookup, const char *text, struct gait_error *err)
{
    char names[NEAREST_NAMES_MAX * NEAREST_NAME_BYTES], clean[sizeof(names)];

    nearest_names_join(&lookup->nearest, names, sizeof(names));
    if (lookup->nearest.count != 0)
        return error_set(err, ENOENT, "there is no probe '%s'; did you mean %s?", text,
                         printable(clean, sizeof(clean), names));
    return error_set(err, ENOENT, "there is no probe '%s'; %s", text,
                     lookup->has_probes ? "gait find --probes FILE lists those that a file has"
                                        : "the file has no static probes at all");
}

/* A file that is meant by its name, and not only among all others. */
static bool is_wrong(const struct lookup *lookup)
{
    bool means_all = glob_is_all(lookup->parts.module);

    return !lookup->is_found && lookup->has_file && (!means_all || lookup->nearest.count != 0);
}

static int check_one(const char *text, const struct program_files *files, struct gait_error *err)
{
    struct agent_pattern pattern = {.use = AGENT_PATTERN_PROBE};
    struct lookup lookup = {.is_found = false};
    struct probe_option option;
    int result = probe_option_read(text, &option, err);

    if (result != 0)
        return result;
    memcpy(pattern.text, option.pattern, sizeof(pattern.text));
    agent_pattern_split(&pattern, &lookup.parts);
    nearest_names_init(&lookup.nearest, strrchr(option.pattern, '!') + 1);
    look_at_all(&lookup, &option, files);
    probe_option_deinit(&option);
    return is_wrong(&lookup) ? explain(&lookup, text, err) : 0;
}

int probe_lookup_check(const struct option_list *probes, const struct program_files *files, struct gait_error *err)
{
    int result = 0;

    for (size_t i = 0; i < probes->count && result == 0; i++)
        result = check_one(probes->texts[i], files, err);
    return result;
}

enum command_status probe_lookup(const struct command_call *call, const struct option_list *probes, const char *program,
                                 pid_t pid)
{
    struct program_files files;
    int result;

    if (probes->count == 0)
        return COMMAND_DONE;
    result = program == NULL ? program_files_of_process(pid, &files) : program_files_of_program(program, &files);
    /* Whoever starts or attaches says it better. */
    if (result != 0)
        return COMMAND_DONE;
    result = probe_lookup_check(probes, &files, call->error);
    program_files_deinit(&files);
    return result == 0 ? COMMAND_DONE : COMMAND_MISUSED;
}
