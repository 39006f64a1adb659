/* SPDX-License-Identifier: MIT */
/*
 * The public face of hooks: options, errors with words. All the work is in src/hook. There is one table for the
 * process, made by the first who wants it and taken down by the last; a hook is the table's attachment.
 */
#include "gait/hook.h"

#include "arch/cpu.h"
#include "base/mutex.h"
#include "elf/function_list.h"
#include "hook/hook_table.h"
#include "hook/hook_thread.h"
#include "hook/listener_call.h"
#include "hosted/error_text.h"
#include "libgait/export.h"
#include "libgait/hook_unwinding.h"
#include "libgait/options.h"
#include "libgait/own_module.h"
#include "libgait/stalker_registry.h"

#include <errno.h>
#include <string.h>

struct gait_hooks {
    struct hook_table *table;
    size_t users;
};

static struct mutex hooks_lock;
static struct gait_hooks the_hooks;

static const struct options_type hooks_options = {
    "hook functions",
    "gait_hooks_options",
    sizeof(struct gait_hooks_options),
};

static const struct options_type replacement_options = {
    .doing = "replace a function",
    .name = "gait_replacement",
    .size_bytes = sizeof(struct gait_replacement),
};

static const struct options_type listener_options = {
    "listen to a function",
    "gait_listener",
    sizeof(struct gait_listener),
};

/* ---- errors -------------------------------------------------------------------------------------------------------
 */

static int missing(struct gait_error *err, const char *doing)
{
    return error_set(err, EINVAL, "cannot %s: there are no hooks, the first argument is NULL", doing);
}

static const char *reason(int result)
{
    switch (-result) {
    case EFAULT:
        return "nothing is mapped there";
    case EACCES:
        return "there is no code, or it is shared with other processes; give the address of a function";
    case EILSEQ:
        return "that is in the middle of an instruction; give the address of its first byte";
    case EPERM:
        return "it is code of gait, or a thread cannot be stopped since a debugger holds it";
    case EOPNOTSUPP:
        return "it has no room for a jump, or instructions that do not work elsewhere, or gait does not know how on "
               "this "
               "CPU; hook what calls it";
    case EBUSY:
        return "another hook needs the same bytes, or the address is hooked in another way; take that hook away first";
    case EEXIST:
        return "it is already; take that away first";
    case ENOENT:
        return "it is not";
    case ESTALE:
        return "other software has changed the code there";
    case ETIMEDOUT:
        return "a thread does not stop, as in vfork(), or another one changes hooks for too long; try again later";
    case EINVAL:
        return "what is asked for makes no sense there";
    default:
        return strerror(-result);
    }
}

static int failed(struct gait_error *err, int result, const char *doing, uint64_t address)
{
    return result == 0
               ? 0
               : error_set(err, result, "cannot %s 0x%llx: %s", doing, (unsigned long long)address, reason(result));
}

/* What is in the way is said where it is known. */
static int refused(struct gait_hooks *hooks, struct gait_error *err, int result, const char *doing, uint64_t address)
{
    unsigned obstacle = HOOK_NO_OBSTACLE;

    if (result != -EOPNOTSUPP || hook_table_obstacle(hooks->table, address, &obstacle) != 0 ||
        obstacle == HOOK_NO_OBSTACLE)
        return failed(err, result, doing, address);
    return error_set(err, result, "cannot %s 0x%llx: %s; hook what calls it", doing, (unsigned long long)address,
                     hook_obstacle_text(obstacle));
}

/* ---- the table ----------------------------------------------------------------------------------------------------
 */

static int *errno_location(void)
{
    return &errno;
}

static void code_changed(void *context, uint64_t start, uint64_t end)
{
    (void)context;
    stalker_registry_invalidate(start, end);
}

/* A followed thread is where no register says. */
static bool may_reclaim(void *context)
{
    (void)context;
    return stalker_registry_is_empty();
}

static int create(const struct gait_hooks_options *options)
{
    static const struct hook_threads_options thread_options = {.errno_location = errno_location};
    struct hook_table_options table_options = {
        .code_mode = options->write_xor_execute ? CODE_VIEW_DUAL : CODE_VIEW_AUTO,
        .changed = code_changed,
        .may_reclaim = may_reclaim,
    };
    int result = hook_threads_begin(&thread_options);

    own_module_find(&table_options.own_start, &table_options.own_end);
    if (result == 0)
        result = hook_table_create(&table_options, &the_hooks.table);
    if (result != 0)
        return result;
    result = hook_unwinding_begin(the_hooks.table);
    if (result != 0 && hook_table_destroy(the_hooks.table) == 0)
        the_hooks.table = NULL;
    return result;
}

EXPORT int gait_hooks_acquire(const struct gait_hooks_options *options, struct gait_hooks **hooks_out,
                              struct gait_error *err)
{
    struct gait_hooks_options chosen;
    int result;

    if (hooks_out == NULL)
        return error_set(err, EINVAL, "cannot hook functions: nowhere to put the hooks, hooks_out is NULL");
    result = options_read(&hooks_options, options, &chosen, err);
    if (result != 0)
        return result;
    mutex_lock(&hooks_lock);
    if (the_hooks.users == 0)
        result = create(&chosen);
    if (result == 0)
        the_hooks.users++;
    mutex_unlock(&hooks_lock);
    if (result == -EOPNOTSUPP)
        return error_set(err, result, "cannot hook functions: gait does not know yet how to do it on %s",
                         cpu_host()->name);
    if (result != 0)
        return error_set(err, result, "cannot hook functions: no memory for it, or no /proc/self/mem: %s",
                         strerror(-result));
    *hooks_out = &the_hooks;
    return 0;
}

EXPORT int gait_hooks_release(struct gait_hooks *hooks, struct gait_error *err)
{
    int result = 0;

    if (hooks == NULL)
        return 0;
    mutex_lock(&hooks_lock);
    if (hooks->users == 1)
        result = hook_table_destroy(hooks->table);
    if (result == 0 && hooks->users > 0)
        hooks->users--;
    mutex_unlock(&hooks_lock);
    return result == 0 ? 0 : error_set(err, result, "cannot take all hooks away: %s", reason(result));
}

/* ---- listeners ----------------------------------------------------------------------------------------------------
 */

static int read_listener(const struct gait_listener *given, struct gait_listener *listener_out, struct gait_error *err)
{
    int result = options_read(&listener_options, given, listener_out, err);

    if (result == 0 && listener_out->enter == NULL && listener_out->leave == NULL)
        return error_set(err, EINVAL, "cannot listen to a function: the listener has neither enter nor leave");
    return result;
}

static struct hook_listener listener_of(const struct gait_listener *given)
{
    return (struct hook_listener){
        .enter = given->enter,
        .leave = given->leave,
        .data = given->data,
        .flags =
            (given->general_only ? HOOK_LISTENER_GENERAL_ONLY : 0u) | (given->unwound ? HOOK_LISTENER_UNWOUND : 0u),
    };
}

static int attach(struct gait_hooks *hooks, const struct hook_target *target, const struct gait_listener *chosen,
                  struct gait_hook **hook_out)
{
    struct hook_listener listener = listener_of(chosen);
    struct hook_attachment *attachment;
    int result = hook_table_attach(hooks->table, target, &listener, &attachment);

    if (result == 0 && hook_out != NULL)
        *hook_out = (struct gait_hook *)attachment;
    return result;
}

EXPORT int gait_hook_attach(struct gait_hooks *hooks, uint64_t function, const struct gait_listener *listener,
                            struct gait_hook **hook_out, struct gait_error *err)
{
    struct hook_target target = {.address = function};
    struct gait_listener chosen;
    int result;

    if (hooks == NULL)
        return missing(err, "listen to a function");
    result = read_listener(listener, &chosen, err);
    if (result != 0)
        return result;
    target.without_traps = chosen.without_traps;
    return refused(hooks, err, attach(hooks, &target, &chosen, hook_out), "listen to the function at", function);
}

EXPORT int gait_hook_probe(struct gait_hooks *hooks, uint64_t instruction, const struct gait_listener *listener,
                           struct gait_hook **hook_out, struct gait_error *err)
{
    struct hook_target target = {.address = instruction, .is_probe = true};
    struct gait_listener chosen;
    int result;

    if (hooks == NULL)
        return missing(err, "probe an instruction");
    result = read_listener(listener, &chosen, err);
    if (result != 0)
        return result;
    if (chosen.leave != NULL)
        return error_set(err, EINVAL,
                         "cannot probe an instruction: the listener has a leave, but nothing is left there");
    target.without_traps = chosen.without_traps;
    return refused(hooks, err, attach(hooks, &target, &chosen, hook_out), "probe the instruction at", instruction);
}

EXPORT int gait_hook_detach(struct gait_hooks *hooks, struct gait_hook *hook, struct gait_error *err)
{
    int result;

    if (hooks == NULL || hook == NULL)
        return missing(err, "detach a listener");
    result = hook_table_detach(hooks->table, (struct hook_attachment *)hook);
    return result == 0 ? 0 : error_set(err, result, "cannot detach a listener: %s", reason(result));
}

struct module_choice {
    struct gait_hooks *hooks;
    gait_function_choice choose;
    void *context;
    const struct gait_listener *listener;
    size_t count;
    int result;
};

/* What cannot be hooked is left out; what goes wrong otherwise ends it. */
static bool attach_chosen(void *context, const struct elf_function *function, const struct hook_plan *plan)
{
    struct module_choice *choice = context;
    struct hook_target target = {.address = plan->address, .plan = plan};
    int result;

    if (choice->result != 0 || plan->method == HOOK_IMPOSSIBLE ||
        (plan->method == HOOK_TRAP && choice->listener->without_traps) || function->is_resolver || function->is_label ||
        (choice->choose != NULL &&
         !choice->choose(choice->context, function->name, function->name_length, plan->address)))
        return false;
    result = attach(choice->hooks, &target, choice->listener, NULL);
    if (result == -ENOMEM)
        choice->result = result;
    choice->count += result == 0;
    return result == 0;
}

EXPORT int gait_hook_attach_module(struct gait_hooks *hooks, uint64_t address, gait_function_choice choose,
                                   void *context, const struct gait_listener *listener, size_t *count_out,
                                   struct gait_error *err)
{
    struct gait_listener chosen;
    struct module_choice choice = {.hooks = hooks, .choose = choose, .context = context, .listener = &chosen};
    int result;

    if (hooks == NULL)
        return missing(err, "listen to the functions of a module");
    result = read_listener(listener, &chosen, err);
    if (result == 0)
        result = gait_hooks_begin(hooks, err);
    if (result != 0)
        return result;
    result = hook_table_plan_module(hooks->table, address, attach_chosen, &choice);
    if (result == 0)
        result = choice.result;
    if (result == 0)
        result = hook_table_commit(hooks->table);
    else
        hook_table_abort(hooks->table);
    if (result == 0 && count_out != NULL)
        *count_out = choice.count;
    return failed(err, result, "listen to the functions of the module at", address);
}

EXPORT int gait_hook_unhook(struct gait_hooks *hooks, uint64_t address, struct gait_error *err)
{
    if (hooks == NULL)
        return missing(err, "unhook a function");
    return failed(err, hook_table_unhook(hooks->table, address), "unhook", address);
}

/* ---- replacements -------------------------------------------------------------------------------------------------
 */

static int replace(struct gait_hooks *hooks, uint64_t function, const struct gait_replacement *replacement,
                   struct gait_error *err)
{
    struct hook_target target = {.address = function, .replacement_data = replacement->data};

    if (hooks == NULL)
        return missing(err, "replace a function");
    return refused(hooks, err,
                   hook_table_replace(hooks->table, &target, replacement->function, replacement->in_place,
                                      (uint64_t *)replacement->original_out),
                   "replace the function at", function);
}

EXPORT int gait_hook_put_replacement(struct gait_hooks *hooks, uint64_t function,
                                     const struct gait_replacement *replacement, struct gait_error *err)
{
    struct gait_replacement chosen;
    int result;

    if (replacement == NULL)
        return error_set(err, EINVAL, "cannot replace a function: there is no gait_replacement");
    result = options_read(&replacement_options, replacement, &chosen, err);
    if (result != 0)
        return result;
    if (chosen.in_place && chosen.data != NULL)
        return error_set(err, EINVAL, "cannot replace a function: in place, a replacement has no data");
    return replace(hooks, function, &chosen, err);
}

EXPORT bool gait_hook_replaced_call(struct gait_replaced_call *call_out)
{
    struct hook_thread *thread = hook_thread_current();
    struct gait_replaced_call call = {.size_bytes = sizeof(call)};
    struct replaced_call found;

    if (thread == NULL || call_out == NULL || call_out->size_bytes < sizeof(call.size_bytes) ||
        !listener_call_replaced(thread, (uintptr_t)__builtin_frame_address(0), &found))
        return false;
    call.function = found.function;
    call.return_address = found.return_address;
    call.data = found.data;
    call.depth = found.depth;
    if (call_out->size_bytes < call.size_bytes)
        call.size_bytes = call_out->size_bytes;
    memcpy(call_out, &call, call.size_bytes);
    return true;
}

EXPORT int gait_hook_replace(struct gait_hooks *hooks, uint64_t function, uint64_t replacement, void **original_out,
                             struct gait_error *err)
{
    const struct gait_replacement given = {.function = replacement, .original_out = original_out};

    return replace(hooks, function, &given, err);
}

EXPORT int gait_hook_replace_in_place(struct gait_hooks *hooks, uint64_t function, uint64_t replacement,
                                      void **original_out, struct gait_error *err)
{
    const struct gait_replacement given = {.function = replacement, .original_out = original_out, .in_place = true};

    return replace(hooks, function, &given, err);
}

EXPORT int gait_hook_revert(struct gait_hooks *hooks, uint64_t function, struct gait_error *err)
{
    if (hooks == NULL)
        return missing(err, "revert a function");
    return failed(err, hook_table_revert(hooks->table, function), "revert the function at", function);
}

/* ---- transactions -------------------------------------------------------------------------------------------------
 */

EXPORT int gait_hooks_begin(struct gait_hooks *hooks, struct gait_error *err)
{
    int result;

    if (hooks == NULL)
        return missing(err, "begin to change hooks");
    result = hook_table_begin(hooks->table);
    return result == 0 ? 0 : error_set(err, result, "cannot begin to change hooks: %s", reason(result));
}

EXPORT int gait_hooks_commit(struct gait_hooks *hooks, struct gait_error *err)
{
    int result;

    if (hooks == NULL)
        return missing(err, "change hooks");
    result = hook_table_commit(hooks->table);
    if (result == -EINVAL)
        return error_set(err, result, "cannot change hooks: no transaction was begun");
    return result == 0 ? 0 : error_set(err, result, "cannot change hooks: %s", reason(result));
}

EXPORT void gait_hooks_abort(struct gait_hooks *hooks)
{
    if (hooks != NULL)
        hook_table_abort(hooks->table);
}

/* ---- who is told, what there is -----------------------------------------------------------------------------------
 */

EXPORT void gait_hooks_ignore_me(struct gait_hooks *hooks)
{
    if (hooks != NULL)
        hook_thread_ignore();
}

EXPORT void gait_hooks_listen_to_me(struct gait_hooks *hooks)
{
    if (hooks != NULL)
        hook_thread_listen();
}

EXPORT int gait_hooks_ignore_others(struct gait_hooks *hooks, struct gait_error *err)
{
    int result;

    if (hooks == NULL)
        return missing(err, "ignore other threads");
    result = hook_thread_ignore_others();
    if (result == -EBUSY)
        return error_set(err, result, "cannot ignore other threads: one of them ignores the others");
    return result == 0 ? 0 : error_set(err, result, "cannot ignore other threads: %s", strerror(-result));
}

EXPORT void gait_hooks_listen_to_others(struct gait_hooks *hooks)
{
    if (hooks != NULL)
        hook_thread_listen_to_others();
}

EXPORT enum gait_hook_method gait_hook_method_of(struct gait_hooks *hooks, uint64_t address)
{
    enum hook_method method;

    if (hooks == NULL || !hook_table_is_hooked(hooks->table, address, &method))
        return GAIT_HOOK_NONE;
    return (enum gait_hook_method)(GAIT_HOOK_JUMP + (int)method);
}

#define HOOK_OBSTACLE(name, text) _Static_assert((int)GAIT_HOOK_##name == (int)HOOK_##name, "another order");
#include "hook/hook_obstacles.def"
#undef HOOK_OBSTACLE

EXPORT int gait_hook_find_obstacle(struct gait_hooks *hooks, uint64_t address, enum gait_hook_obstacle *obstacle_out,
                                   struct gait_error *err)
{
    unsigned obstacle;
    int result;

    if (hooks == NULL)
        return missing(err, "look at a function");
    result = hook_table_obstacle(hooks->table, address, &obstacle);
    if (result == 0)
        *obstacle_out = (enum gait_hook_obstacle)obstacle;
    return failed(err, result, "hook the function at", address);
}

EXPORT int gait_hooks_collect(struct gait_hooks *hooks, struct gait_hooks_statistics *statistics_out,
                              struct gait_error *err)
{
    struct hook_table_statistics table;
    struct gait_hooks_statistics statistics = {.size_bytes = sizeof(statistics)};
    int result;

    if (hooks == NULL)
        return missing(err, "collect what hooks left");
    result = hook_table_collect(hooks->table, &table);
    if (result != 0)
        return error_set(err, result, "cannot collect what hooks left: %s", reason(result));
    if (statistics_out == NULL)
        return 0;
    if (statistics_out->size_bytes < sizeof(statistics.size_bytes))
        return error_set(err, EINVAL, "cannot report on hooks: gait_hooks_statistics has no size_bytes");
    statistics.hooked = table.site_count;
    statistics.retired = table.retired_count;
    statistics.chunks = table.chunk_count;
    if (statistics_out->size_bytes < statistics.size_bytes)
        statistics.size_bytes = statistics_out->size_bytes;
    memcpy(statistics_out, &statistics, statistics.size_bytes);
    return 0;
}

EXPORT size_t gait_hooks_forget(struct gait_hooks *hooks, uint64_t start, uint64_t size_bytes)
{
    return hooks == NULL ? 0 : hook_table_forget_range(hooks->table, start, start + size_bytes);
}
