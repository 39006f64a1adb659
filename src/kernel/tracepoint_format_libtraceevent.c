/* SPDX-License-Identifier: MIT */
/* The first bytes of all records are alike, and recorded elsewhere: they are not recorded. */
#include "kernel/tracepoint_format.h"

#include "base/glob.h"
#include "hosted/error_text.h"
#include "kernel/tracefs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <tracefs/tracefs.h>

static int list_group(const char *folder, const char *group, const char *pattern, source_visit *visit, void *context)
{
    char **names = tracefs_system_events(folder, group);
    int result = 0;

    for (size_t i = 0; names != NULL && names[i] != NULL && result == 0; i++) {
        char spec[512];

        if (!glob_matches_string(pattern, names[i]))
            continue;
        snprintf(spec, sizeof(spec), "tracepoint:%s:%s", group, names[i]);
        result = visit(context, spec);
    }
    tracefs_list_free(names);
    return result;
}

static int compare(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

int tracepoint_list(const char *group, const char *name, source_visit *visit, void *context, struct gait_error *err)
{
    const char *folder;
    size_t count = 0;
    char **groups;
    int result = tracefs_find(&folder, err);

    if (result != 0)
        return result;
    groups = tracefs_event_systems(folder);
    if (groups == NULL)
        return error_set(err, EACCES,
                         "cannot list tracepoints: the kernel's folder of them cannot be read; try as root");
    while (groups[count] != NULL)
        count++;
    qsort(groups, count, sizeof(groups[0]), compare);
    for (size_t i = 0; i < count && result == 0; i++)
        if (glob_matches_string(group, groups[i]))
            result = list_group(folder, groups[i], name, visit, context);
    tracefs_list_free(groups);
    return result;
}

/* ---- one --------------------------------------------------------------------------------------------------------- */

static uint32_t type_of(const struct tep_format_field *field)
{
    if (field->flags & TEP_FIELD_IS_RELATIVE)
        return KERNEL_FIELD_NEAR_STRING;
    if (field->flags & TEP_FIELD_IS_DYNAMIC)
        return field->flags & TEP_FIELD_IS_STRING ? KERNEL_FIELD_FAR_STRING : KERNEL_FIELD_FAR_BYTES;
    if (field->flags & TEP_FIELD_IS_STRING && field->flags & TEP_FIELD_IS_ARRAY)
        return KERNEL_FIELD_STRING;
    if (field->flags & TEP_FIELD_IS_POINTER)
        return KERNEL_FIELD_HEX;
    return field->flags & TEP_FIELD_IS_SIGNED ? KERNEL_FIELD_SIGNED : KERNEL_FIELD_UNSIGNED;
}

static void add_field(struct source_probe *probe, const struct tep_format_field *field)
{
    struct kernel_field added = {
        .offset = (uint32_t)field->offset,
        .size_bytes = (uint32_t)field->size,
        .count = 1,
        .type = type_of(field),
    };
    bool is_list = field->flags & TEP_FIELD_IS_ARRAY && !(field->flags & TEP_FIELD_IS_DYNAMIC) &&
                   added.type != KERNEL_FIELD_STRING && field->elementsize != 0;

    if (added.size_bytes == 0)
        return;
    if (is_list) {
        added.size_bytes = field->elementsize;
        added.count = (uint32_t)field->size / field->elementsize;
    }
    /* Arguments of system calls are told in whole registers, whatever they are. */
    if (!is_list && added.size_bytes == sizeof(uint64_t) && strstr(field->type, "int") != NULL &&
        strchr(field->type, '*') == NULL && strstr(field->type, "64") == NULL) {
        added.size_bytes = sizeof(uint32_t);
        added.type = strstr(field->type, "unsigned") == NULL ? KERNEL_FIELD_SIGNED : KERNEL_FIELD_UNSIGNED;
    }
    /* Addresses and flags are best read so; the kernel prints them like that, too. */
    if (added.type == KERNEL_FIELD_UNSIGNED && added.size_bytes == sizeof(uint64_t) && !is_list)
        added.type = strstr(field->type, "long") != NULL ? KERNEL_FIELD_HEX : KERNEL_FIELD_UNSIGNED;
    else if (is_list && added.type == KERNEL_FIELD_UNSIGNED && added.size_bytes == sizeof(uint64_t))
        added.type = KERNEL_FIELD_HEX;
    source_probe_add_field(probe, &added, field->name);
}

static int describe(struct source_probe *probe, const struct tep_event *event)
{
    const struct tep_format_field *first = event->format.fields;
    size_t base = UINT16_MAX;

    probe->attr.config = (uint64_t)event->id;
    for (const struct tep_format_field *field = first; field != NULL; field = field->next) {
        if ((size_t)field->offset < base)
            base = (size_t)field->offset;
        add_field(probe, field);
    }
    probe->raw_base = first == NULL ? 8 : (uint32_t)base;
    probe->format = strdup(event->print_fmt.format == NULL ? "" : event->print_fmt.format);
    return probe->format == NULL ? -ENOMEM : 0;
}

int tracepoint_describe(const char *group, const char *name, struct source_probe *probe, struct gait_error *err)
{
    struct tep_handle *tep;
    struct tep_event *event = NULL;
    char path[512], *text;
    size_t size_bytes;
    int result;

    snprintf(path, sizeof(path), "events/%s/%s/format", group, name);
    result = tracefs_read(path, &text, &size_bytes, err);
    if (result == -ENOENT)
        return error_set(err, ENOENT, "cannot watch tracepoint:%s:%s: there is no such tracepoint", group, name);
    if (result != 0)
        return result;
    tep = tep_alloc();
    /* Formats of some are beyond the library; their fields are known all the same. */
    if (tep != NULL) {
        tep_set_loglevel(TEP_LOG_NONE);
        (void)tep_parse_event(tep, text, size_bytes, group);
        event = tep_find_event_by_name(tep, group, name);
    }
    result = event == NULL ? -EPROTO : describe(probe, event);
    if (tep != NULL)
        tep_free(tep);
    free(text);
    return result == 0
               ? 0
               : error_set(err, result, "cannot watch tracepoint:%s:%s: what the kernel says of it cannot be read",
                           group, name);
}
