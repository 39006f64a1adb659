/* SPDX-License-Identifier: MIT */
/*
 * What debug information says of the functions in a trace, as text for each call: names of arguments, and numbers where
 * nothing else was recorded. Files are opened when they are first asked for, and only if they are those that were
 * recorded. One thread at a time.
 */
#ifndef GAIT_SYMBOLIZE_CALL_ARGUMENTS_H
#define GAIT_SYMBOLIZE_CALL_ARGUMENTS_H

#include "base/hash_map.h"
#include "trace/detail_text.h"

struct call_arguments_file;
struct call_arguments_function;
struct function_names;
struct recorded_module;

struct call_arguments {
    struct function_names *names;
    struct hash_map functions; /* by module and address */
    struct call_arguments_function *all;
    struct call_arguments_file *files;
};

/* The names must outlive it. -ENOMEM. */
MUST_USE int call_arguments_init(struct call_arguments *arguments, struct function_names *names);
void call_arguments_deinit(struct call_arguments *arguments);

/*
 * Whether a function with that name may have other arguments than its source says: it is a copy, or a part of one, that
 * a compiler has made for itself.
 */
bool call_arguments_may_differ(const char *name, size_t length);

/* Adds the arguments of a call to the text; nothing if nothing is known of them. module NULL: nobody knows whose. */
void call_arguments_put(struct call_arguments *arguments, const struct recorded_module *module,
                        const struct detail_enter *enter, const uint8_t *stack, struct detail_values values,
                        struct detail_text *text);

/* The same with its result. */
void call_arguments_put_result(struct call_arguments *arguments, const struct recorded_module *module,
                               const struct detail_leave *leave, struct detail_values values, struct detail_text *text);

#endif
