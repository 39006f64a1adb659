/* SPDX-License-Identifier: MIT */
/*
 * A pattern without a module means functions of the program itself; if it has none, those of its libraries. The agent
 * compares linkers' names itself, in all modules that the pattern is about: what is found by such a name in the module
 * that it is about is left to it. All else is given to it by address, and by an entry for each file that was looked
 * into, so that it compares nothing there.
 */
#define _GNU_SOURCE
#include "cli/function_lookup.h"

#include "cli/later_code.h"
#include "cli/options/nearest_name.h"
#include "cli/options/record_options.h"
#include "cli/options/record_patterns.h"
#include "cli/process_files.h"
#include "cli/screens/printable.h"
#include "hosted/error_text.h"
#include "protocol/agent_call.h"
#include "protocol/agent_pattern.h"
#include "protocol/agent_places.h"
#include "symbolize/program_files.h"
#include "symbolize/spelled_function.h"
#include "symbolize/spelled_functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAID_BYTES 1024
/* Modules that are named in a sentence. */
#define NAMED_MAX 3

/* The files, opened when they are first looked into. */
struct open_files {
    const struct program_files *files;
    struct spelled_file *opened;
    bool *is_open;
    bool *is_tried;
};

/* A pattern that is looked up. */
struct pattern_search {
    struct function_lookup *lookup;
    struct open_files *files;
    struct agent_options *agent;
    struct agent_pattern *pattern;
    struct function_spelling spelling;
    const char *text; /* as it was typed */
    uint64_t bit;
    size_t found_count; /* functions */
    size_t module_count;
    size_t modules[NAMED_MAX];
    bool has_places;   /* something is given by address */
    bool is_elsewhere; /* in libraries, though no module was named */
    struct nearest_names nearest;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

static struct spelled_file *get_file(struct open_files *files, size_t which)
{
    if (!files->is_tried[which]) {
        files->is_tried[which] = true;
        files->is_open[which] = spelled_file_open(&files->opened[which], files->files->paths[which]) == 0;
    }
    return files->is_open[which] ? &files->opened[which] : NULL;
}

static void close_files(struct open_files *files)
{
    for (size_t i = 0; i < files->files->count; i++)
        if (files->is_open != NULL && files->is_open[i])
            spelled_file_close(&files->opened[i]);
    free(files->opened);
    free(files->is_open);
    free(files->is_tried);
}

static int open_none(struct open_files *files)
{
    size_t count = files->files->count + 1;

    files->opened = calloc(count, sizeof(*files->opened));
    files->is_open = calloc(count, sizeof(*files->is_open));
    files->is_tried = calloc(count, sizeof(*files->is_tried));
    return files->opened == NULL || files->is_open == NULL || files->is_tried == NULL ? -ENOMEM : 0;
}

/* ---- what was found ---------------------------------------------------------------------------------------------- */

static void say(const struct pattern_search *search, const char *text)
{
    if (!search->lookup->is_repeated)
        search->lookup->say(search->lookup->context, text);
}

/* An address in the middle of a function, or a line without code, is not what will be seen. */
static void say_moved(const struct pattern_search *search, const struct spelled_file *file,
                      const struct spelled_one *one)
{
    char name[256] = "a function without a name", text[SAID_BYTES], clean[SAID_BYTES];

    if (one->name != NULL) {
        snprintf(clean, sizeof(clean), "%.*s", (int)(one->name_length & INT16_MAX), one->name);
        (void)spelled_function(clean, name, sizeof(name));
    }
    if (search->spelling.kind == SPELLING_ADDRESS && one->at != one->start)
        snprintf(text, sizeof(text), "%s is inside %s of %s, whose calls are recorded", search->text, name,
                 base_name(file->path));
    else if (search->spelling.kind == SPELLING_LINE && one->line != search->spelling.line)
        snprintf(text, sizeof(text), "%s has no code; line %u has, in %s of %s, whose calls are recorded", search->text,
                 one->line, name, base_name(file->path));
    else
        return;
    say(search, printable(clean, sizeof(clean), text));
}

static bool add_place(struct pattern_search *search, size_t which, uint64_t address)
{
    const char *path = search->files->files->paths[which];

    return agent_places_add(&search->agent->places, agent_places_module((struct glob_text){path, strlen(path)}),
                            address, search->bit);
}

static bool is_by_linkers_name(const struct spelled_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->ones[i].is_linkers)
            return false;
    return true;
}

/* Those whose code may be reached without their entry are no functions. */
static int take_list(struct pattern_search *search, size_t which, const struct spelled_list *list, bool is_left)
{
    if (search->module_count < NAMED_MAX)
        search->modules[search->module_count] = which;
    search->module_count++;
    search->found_count += list->count;
    if (is_left && is_by_linkers_name(list))
        return 0;
    search->has_places = true;
    for (size_t i = 0; i < list->count; i++) {
        say_moved(search, &search->files->opened[which], &list->ones[i]);
        if (!add_place(search, which, list->ones[i].start))
            return -E2BIG;
    }
    return 0;
}

static int look_into(struct pattern_search *search, size_t which, bool is_left)
{
    struct spelled_file *file = get_file(search->files, which);
    struct spelled_list list;
    int result;

    if (file == NULL)
        return 0;
    result = spelled_functions_find(file, &search->spelling, &list);
    if (result != 0)
        return result == -ENOENT ? 0 : result;
    result = take_list(search, which, &list, is_left);
    spelled_list_deinit(&list);
    return result;
}

/* ---- where it is looked for -------------------------------------------------------------------------------------- */

static bool is_loader(const char *path)
{
    return strncmp(base_name(path), "ld-", 3) == 0;
}

/* The loader has copies of what the C library has. */
static int look_elsewhere(struct pattern_search *search)
{
    int result = 0;

    for (unsigned is_last = 0; is_last < 2 && search->found_count == 0; is_last++)
        for (size_t i = 1; i < search->files->files->count && result == 0; i++)
            if (is_loader(search->files->files->paths[i]) == (is_last != 0))
                result = look_into(search, i, false);
    search->is_elsewhere = search->found_count != 0;
    return result;
}

static bool names_module(const struct pattern_search *search)
{
    for (size_t i = 0; i < search->files->files->count; i++)
        if (function_spelling_has_module(&search->spelling, search->files->files->paths[i]))
            return true;
    return false;
}

static int look(struct pattern_search *search)
{
    int result = 0;

    if (search->spelling.has_module) {
        for (size_t i = 0; i < search->files->files->count && result == 0; i++)
            if (function_spelling_has_module(&search->spelling, search->files->files->paths[i]))
                result = look_into(search, i, true);
        return result;
    }
    result = look_into(search, 0, true);
    /* Addresses of the program are others in libraries. */
    return result == 0 && search->found_count == 0 && search->spelling.kind != SPELLING_ADDRESS ? look_elsewhere(search)
                                                                                                : result;
}

/* "WORD+0x10" may also be a function and a distance: then that function is meant, if no module is called so. */
static int look_for_word(struct pattern_search *search)
{
    const struct function_spelling spelling = search->spelling;
    int result;

    if (!spelling.is_offset || names_module(search))
        return look(search);
    search->spelling = (struct function_spelling){.kind = SPELLING_NAME, .name = spelling.module};
    result = look(search);
    if (result == 0 && search->found_count == 0)
        search->spelling = spelling;
    return result;
}

/* An address of a process that runs, in one of its mappings, becomes one of its file. */
static void take_address_in_memory(struct pattern_search *search)
{
    struct process_files files;
    struct gait_error err;

    if (search->lookup->pid == 0 || search->spelling.kind != SPELLING_ADDRESS || search->spelling.has_module ||
        process_files_read((uint64_t)search->lookup->pid, &files, &err) != 0)
        return;
    for (size_t i = 0; i < files.count; i++) {
        const struct process_file *file = &files.files[i];
        uint64_t next = i + 1 < files.count ? files.files[i + 1].start : UINT64_MAX, address;
        uint64_t place = search->spelling.address - file->start + file->file_offset;

        for (size_t known = 0; known < search->files->files->count; known++) {
            if (search->spelling.address < file->start || search->spelling.address >= next ||
                strcmp(search->files->files->paths[known], file->path) != 0 || get_file(search->files, known) == NULL ||
                elf_symbols_address_at(&search->files->opened[known].file.symbols, place, &address) != 0)
                continue;
            search->spelling.address = address;
            search->spelling.has_module = true;
            search->spelling.module =
                (struct glob_text){search->files->files->paths[known], strlen(search->files->files->paths[known])};
            process_files_deinit(&files);
            return;
        }
    }
    process_files_deinit(&files);
}

/* ---- what the agent is told of code that comes later ------------------------------------------------------------- */

/* Whether names as linkers have them would do for it. */
static bool is_plain(const struct function_spelling *spelling)
{
    return spelling->kind == SPELLING_NAME && memmem(spelling->name.start, spelling->name.length, "::", 2) == NULL &&
           memchr(spelling->name.start, '(', spelling->name.length) == NULL &&
           memchr(spelling->name.start, '<', spelling->name.length) == NULL;
}

/* A pattern without a module that is awaited may be met in any. */
static void rewrite(struct pattern_search *search, bool is_awaited)
{
    const struct function_spelling *spelling = &search->spelling;
    struct agent_pattern *pattern = search->pattern;
    struct glob_text module = spelling->module, name = spelling->name;
    char address[32], text[2 * AGENT_PATTERN_BYTES];
    int length;

    if (spelling->kind == SPELLING_ADDRESS)
        name = (struct glob_text){
            address, (size_t)snprintf(address, sizeof(address), "0x%llx", (unsigned long long)spelling->address)};
    if (!spelling->has_module)
        module = is_awaited && spelling->kind == SPELLING_NAME ? (struct glob_text){"*", 1} : (struct glob_text){"", 0};
    length = snprintf(text, sizeof(text), "%.*s!%.*s", (int)module.length, module.start, (int)name.length, name.start);
    if (length > 0 && (size_t)length < sizeof(pattern->text))
        memcpy(pattern->text, text, (size_t)length + 1);
    if (!function_spelling_linkers_glob(spelling, pattern->other, sizeof(pattern->other)))
        pattern->other[0] = '\0';
}

/* Nothing is compared in what was looked into. */
static int close_places(struct pattern_search *search)
{
    for (size_t i = 0; i < search->files->files->count; i++)
        if (search->files->is_tried[i] && (i == 0 || search->is_elsewhere || search->spelling.has_module) &&
            !add_place(search, i, UINT64_MAX))
            return -E2BIG;
    return 0;
}

/* ---- what the user is told --------------------------------------------------------------------------------------- */

static void offer(void *context, const char *name, size_t length)
{
    nearest_names_offer_other(context, name, length);
}

static void find_nearest(struct pattern_search *search)
{
    char wanted[NEAREST_NAME_BYTES];

    snprintf(wanted, sizeof(wanted), "%.*s", (int)(search->spelling.name.length & INT16_MAX),
             search->spelling.name.start);
    nearest_names_init(&search->nearest, wanted);
    if (search->spelling.kind != SPELLING_NAME || wanted[0] == '\0' || glob_is_all(search->spelling.name))
        return;
    for (size_t i = 0; i < search->files->files->count; i++) {
        struct spelled_file *file = NULL;

        if (search->spelling.has_module
                ? function_spelling_has_module(&search->spelling, search->files->files->paths[i])
                : i == 0)
            file = get_file(search->files, i);
        if (file != NULL)
            spelled_file_offer(file, offer, &search->nearest);
    }
}

static struct later_code find_later(struct pattern_search *search)
{
    struct later_code later = {.has_libraries = false};

    for (size_t i = 0; i < search->files->files->count; i++) {
        const char *name = base_name(search->files->files->paths[i]);
        const struct spelled_file *file;

        if (i != 0 && (strncmp(name, "libc.", 5) == 0 || is_loader(name)))
            continue;
        file = get_file(search->files, i);
        if (file != NULL)
            later_code_add(&later, file->symbols);
    }
    later.has_programs = later.has_programs && search->lookup->options->with_children;
    return later;
}

static void describe(const struct pattern_search *search, char *text, size_t text_bytes)
{
    switch (search->spelling.kind) {
    case SPELLING_ADDRESS:
        snprintf(text, text_bytes, "no function is known at that address");
        break;
    case SPELLING_LINE:
        snprintf(text, text_bytes,
                 "there is no code of such a line, or no debug information that tells it (gcc -g makes it)");
        break;
    default:
        snprintf(text, text_bytes, "no function has such a name in %s",
                 search->spelling.has_module ? "the modules that are meant" : "the program or its libraries");
    }
    if (search->spelling.has_module && !names_module(search))
        snprintf(text, text_bytes, "the program has no module '%.*s'",
                 (int)(search->spelling.module.length & INT16_MAX), search->spelling.module.start);
}

/* Whether it can come, and be known when it does. */
static bool can_come(struct pattern_search *search)
{
    struct later_code later = find_later(search);

    if (search->spelling.kind == SPELLING_LINE && !later.has_programs)
        return false;
    return later.has_libraries || later.has_programs;
}

static int explain_nothing(struct pattern_search *search, struct gait_error *err)
{
    char names[NEAREST_NAMES_MAX * NEAREST_NAME_BYTES], why[512], text[SAID_BYTES], clean[SAID_BYTES];

    find_nearest(search);
    nearest_names_join(&search->nearest, names, sizeof(names));
    describe(search, why, sizeof(why));
    snprintf(text, sizeof(text), "%s %s: %s%s%s%s", record_pattern_option(search->pattern), search->text, why,
             names[0] == '\0' ? "" : "; did you mean ", names, names[0] == '\0' ? "" : "?");
    if (!can_come(search))
        return error_set(err, ENOENT, "%s%s", printable(clean, sizeof(clean), text),
                         names[0] != '\0' || search->spelling.kind == SPELLING_LINE
                             ? ""
                             : "; gait find FILE lists the functions of a file");
    search->lookup->awaited |= search->bit;
    rewrite(search, true);
    snprintf(text + strlen(text), sizeof(text) - strlen(text),
             "%s it is awaited in libraries and programs that come later", names[0] == '\0' ? ";" : "");
    say(search, printable(clean, sizeof(clean), text));
    return close_places(search);
}

static void say_elsewhere(const struct pattern_search *search)
{
    char text[SAID_BYTES], clean[SAID_BYTES], modules[512] = "";

    for (size_t i = 0; i < search->module_count && i < NAMED_MAX; i++)
        snprintf(modules + strlen(modules), sizeof(modules) - strlen(modules), "%s%s", i == 0 ? "" : ", ",
                 base_name(search->files->files->paths[search->modules[i]]));
    if (search->module_count > NAMED_MAX)
        snprintf(modules + strlen(modules), sizeof(modules) - strlen(modules), " and %zu more",
                 search->module_count - NAMED_MAX);
    snprintf(text, sizeof(text), "%s is not in the program itself; %zu function%s of %s %s meant", search->text,
             search->found_count, search->found_count == 1 ? "" : "s", modules,
             search->found_count == 1 ? "is" : "are");
    say(search, printable(clean, sizeof(clean), text));
}

static void say_several(const struct pattern_search *search)
{
    char text[SAID_BYTES], clean[SAID_BYTES];

    if (search->found_count < 2 || !search->has_places || search->is_elsewhere ||
        !function_spelling_is_single(&search->spelling))
        return;
    snprintf(text, sizeof(text), "%s means %zu functions; all of them are meant", search->text, search->found_count);
    say(search, printable(clean, sizeof(clean), text));
}

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

/* Without a mark, what is excluded is a module, unless it can be none. */
static bool means_functions(const struct agent_pattern *pattern, const struct function_spelling *spelling)
{
    if (pattern->use == AGENT_PATTERN_THREAD || pattern->use == AGENT_PATTERN_ERRNO ||
        pattern->use == AGENT_PATTERN_PROBE)
        return false;
    if (spelling->kind != SPELLING_NAME)
        return true;
    if (pattern->use == AGENT_PATTERN_EXCLUDE && strchr(pattern->text, '!') == NULL && is_plain(spelling) &&
        !spelling->has_module)
        return false;
    return spelling->name.length != 0;
}

static int finish(struct pattern_search *search, struct gait_error *err)
{
    if (search->found_count == 0 && search->pattern->use == AGENT_PATTERN_EXCLUDE)
        search->has_places = true;
    else if (search->found_count == 0)
        return search->lookup->is_repeated ? 0 : explain_nothing(search, err);
    if (search->is_elsewhere)
        say_elsewhere(search);
    say_several(search);
    rewrite(search, false);
    search->lookup->is_for_each |= !is_plain(&search->spelling);
    return search->has_places ? close_places(search) : 0;
}

static int look_up(struct pattern_search *search, struct gait_error *err)
{
    int result;

    take_address_in_memory(search);
    result = look_for_word(search);
    if (result == 0)
        result = finish(search, err);
    if (result == -E2BIG)
        return error_set(err, E2BIG,
                         "%s means more functions than can be told apart by their names in the source, %u; "
                         "a pattern for fewer, or for the names that linkers have, as '_ZN*', can be used",
                         search->text, AGENT_PLACES_MAX);
    if (result == -ENOMEM)
        return error_set(err, ENOMEM, "there is not enough memory to look for %s", search->text);
    return result;
}

static bool is_whole(const struct function_spelling *spelling)
{
    return spelling->kind == SPELLING_NAME && glob_is_all(spelling->name);
}

/* All of a module need not be looked for, if the module is there. */
static int look_up_pattern(struct function_lookup *lookup, struct open_files *files, struct agent_options *agent,
                           uint32_t which, struct gait_error *err)
{
    struct agent_pattern *pattern = &agent->patterns[which];
    char text[AGENT_PATTERN_BYTES];
    struct pattern_search search = {
        .lookup = lookup,
        .files = files,
        .agent = agent,
        .pattern = pattern,
        .text = text,
        .bit = 1ull << which,
    };

    memcpy(text, pattern->text, sizeof(text));
    search.spelling = function_spelling_of(text);
    if (!means_functions(pattern, &search.spelling))
        return 0;
    if (!is_whole(&search.spelling))
        return look_up(&search, err);
    if (search.spelling.has_module && !names_module(&search) && pattern->use != AGENT_PATTERN_EXCLUDE)
        return lookup->is_repeated ? 0 : explain_nothing(&search, err);
    if (search.spelling.has_module)
        rewrite(&search, false);
    return 0;
}

int function_lookup_run(struct function_lookup *lookup, struct agent_options *agent, struct gait_error *err)
{
    struct open_files files = {.files = lookup->files};
    int result = open_none(&files);

    if (result != 0)
        (void)error_set(err, ENOMEM, "there is not enough memory to look for functions");
    for (uint32_t i = 0; i < agent->pattern_count && result == 0; i++)
        result = look_up_pattern(lookup, &files, agent, i, err);
    close_files(&files);
    return result;
}
