/* SPDX-License-Identifier: MIT */
/*
 * The loader's lists are copied and compared with what is known. An entry of the loader's that has not changed is the
 * same module: between two states of the list that differ the loader has notified us, so one that goes and another that
 * comes in its place are never seen as one. Only if there is something new are the mappings looked at, for where it
 * begins and what it is called; that also finds what the loader does not tell of.
 *
 * A list that is being changed is left alone: the notification that it is done comes, and waits for our lock. Only the
 * first look takes what it can get.
 */
#include "process/module_observer.h"

#include "base/memory_functions.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "base/time_counter.h"
#include "process/memory_probe.h"
#include "process/module_files.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <stdatomic.h>

#define LOCK_TIMEOUT_MS 10000u
#define ENTRIES_MAX     65536u
#define NAMESPACES_MAX  256u
#define READS_MAX       10u

struct known_module {
    struct list_node node;
    struct module module;
    struct loader_entry entry; /* link_map 0: the loader did not tell of it */
    bool is_seen;
    bool is_alias; /* the loader itself, which is in all namespaces, but one module: nothing is told of that */
    char path[MAPPING_PATH_BYTES_MAX + 1];
};

/* What the loader has. */
struct module_look {
    struct module_observer *observer;
    uint64_t time;
    struct loader_entry *entries;
    size_t entry_count;
    bool is_list_there; /* the loader has made its list */
    bool is_changing;   /* some namespace is */
    bool is_removing;
    bool is_unread[NAMESPACES_MAX]; /* namespaces whose list is being changed */
};

/* ---- the loader's lists ------------------------------------------------------------------------------------------ */

static bool begin_namespace(void *context, unsigned namespace_number, enum loader_state state)
{
    struct module_look *look = context;
    /* At first, what can be had of a list that is changing is better than nothing. */
    bool is_read = state == LOADER_CONSISTENT || !look->observer->has_looked;

    look->is_changing |= state != LOADER_CONSISTENT;
    look->is_removing |= state == LOADER_REMOVING;
    if (namespace_number < NAMESPACES_MAX)
        look->is_unread[namespace_number] = !is_read;
    return is_read;
}

static void take_entry(void *context, const struct loader_entry *entry)
{
    struct module_look *look = context;

    if (look->entry_count < ENTRIES_MAX)
        look->entries[look->entry_count++] = *entry;
}

/* False: what the loader has makes no sense, so nothing is to be made of it. */
static bool read_lists(struct module_look *look)
{
    const struct loader_visitor visitor = {look, begin_namespace, take_entry};
    int result =
        look->observer->loader.notification == 0 ? -EAGAIN : dynamic_loader_visit(&look->observer->loader, &visitor);

    look->is_list_there = result == 0;
    return result == 0 || result == -EAGAIN;
}

static bool is_same_entry(const struct loader_entry *left, const struct loader_entry *right)
{
    return left->link_map == right->link_map && left->bias == right->bias && left->dynamic == right->dynamic &&
           left->name == right->name && left->namespace_number == right->namespace_number;
}

static struct known_module *known_of(struct list_node *node)
{
    return LIST_ELEMENT(node, struct known_module, node);
}

/* Marks what is still there. How many entries are new; those are moved to the front. */
static size_t match_entries(struct module_look *look)
{
    struct list_node *known = &look->observer->known, *next = known->next;
    size_t new_count = 0;

    LIST_FOR_EACH (node, known)
        known_of(node)->is_seen = known_of(node)->entry.link_map != 0 &&
                                  look->is_unread[known_of(node)->entry.namespace_number % NAMESPACES_MAX];
    for (size_t i = 0; i < look->entry_count; i++) {
        struct list_node *node = next;

        /* Mostly they are in the same order as they were told. */
        if (node == known || !is_same_entry(&known_of(node)->entry, &look->entries[i]))
            for (node = known->next; node != known; node = node->next)
                if (is_same_entry(&known_of(node)->entry, &look->entries[i]))
                    break;
        if (node == known) {
            look->entries[new_count++] = look->entries[i];
            continue;
        }
        known_of(node)->is_seen = true;
        next = node->next;
    }
    return new_count;
}

/* Whether something that the loader had told of is not there any more. */
static bool has_gone(const struct module_look *look)
{
    LIST_FOR_EACH (node, &look->observer->known)
        if (known_of(node)->entry.link_map != 0 && !known_of(node)->is_seen)
            return true;
    return false;
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static void tell_loaded(struct module_look *look, const struct known_module *known)
{
    const struct module_listener *listener = look->observer->listener;

    if (listener->loaded != NULL && !known->is_alias)
        listener->loaded(listener->context, &known->module, look->time);
}

static void remove_module(struct module_look *look, struct known_module *known)
{
    struct module_observer *observer = look->observer;
    const struct module_listener *listener = observer->listener;

    list_remove(&known->node);
    if (listener->unloaded != NULL && !known->is_alias)
        listener->unloaded(listener->context, &known->module,
                           observer->unloading_time != 0 ? observer->unloading_time : look->time);
    pool_free(&observer->pool, known);
}

static void remove_unseen(struct module_look *look)
{
    LIST_FOR_EACH_REMOVABLE (node, &look->observer->known)
        if (!known_of(node)->is_seen)
            remove_module(look, known_of(node));
}

/* ---- what is new ------------------------------------------------------------------------------------------------- */

/* Where an entry's ELF header is; 0: nobody knows. Libraries whose addresses begin at 0 are the rule. */
static uint64_t find_base(const struct module_look *look, const struct module_files *files,
                          const struct loader_entry *entry)
{
    const struct dynamic_loader *loader = &look->observer->loader;
    const struct module_file *file = module_files_at(files, entry->dynamic);
    const uint64_t candidates[] = {entry->bias, file == NULL ? 0 : file->base, loader->program, loader->start.vdso};
    struct module module;

    for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++)
        if (candidates[i] != 0 && module_describe(candidates[i], &module) == 0 && module.bias == entry->bias &&
            module.dynamic == entry->dynamic)
            return candidates[i];
    return 0;
}

static size_t text_length(const char *text, size_t length_max)
{
    size_t length = 0;

    while (length < length_max && text[length] != '\0')
        length++;
    return length;
}

/* What the loader calls it; the program has no name there. */
static void copy_loader_name(struct known_module *known, const struct loader_entry *entry)
{
    size_t room = MAPPING_PATH_BYTES_MAX, used = 0;

    while (used < room && memory_probe_copy(entry->name + used, known->path + used, 1) == 0 &&
           known->path[used] != '\0')
        used++;
    known->path[used] = '\0';
    if (used == 0 && known->module.is_program) {
        long got = raw_syscall(__NR_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)known->path, (long)room, 0, 0);

        known->path[got > 0 ? got : 0] = '\0';
    }
}

static void name_module(struct known_module *known, const struct module_file *file, const struct loader_entry *entry)
{
    if (known->module.is_vdso)
        memcpy(known->path, "[vdso]", sizeof("[vdso]"));
    else if (file != NULL && file->base == known->module.base)
        memcpy(known->path, file->path, file->path_length + 1);
    else if (entry != NULL)
        copy_loader_name(known, entry);
    else
        known->path[0] = '\0';
    known->module.path = known->path;
    known->module.path_length = text_length(known->path, MAPPING_PATH_BYTES_MAX);
}

static struct known_module *find_by_base(const struct module_look *look, uint64_t base)
{
    LIST_FOR_EACH (node, &look->observer->known)
        if (known_of(node)->module.base == base)
            return known_of(node);
    return NULL;
}

/* -ENOEXEC, -EFAULT: there is none, after all; -ENOMEM. */
static int add_module(struct module_look *look, uint64_t base, const struct module_file *file,
                      const struct loader_entry *entry)
{
    const struct dynamic_loader *loader = &look->observer->loader;
    struct known_module *known = pool_allocate(&look->observer->pool);
    int result = known == NULL ? -ENOMEM : module_describe(base, &known->module);

    if (result != 0) {
        pool_free(&look->observer->pool, known);
        return result;
    }
    known->entry = entry == NULL ? (struct loader_entry){.link_map = 0} : *entry;
    known->module.link_map = known->entry.link_map;
    known->module.namespace_number = known->entry.namespace_number;
    known->module.is_program = base == loader->program;
    known->module.is_vdso = base == loader->start.vdso || (file != NULL && file->is_vdso && file->base == base);
    known->is_seen = true;
    known->is_alias = find_by_base(look, base) != NULL;
    name_module(known, file, entry);
    known->node = (struct list_node){NULL, NULL};
    list_add_last(&look->observer->known, &known->node);
    tell_loaded(look, known);
    return 0;
}

/* Whether what is known to be at a base still seems to be there. */
static bool is_still_there(const struct known_module *known, const struct module_file *file)
{
    struct module module;

    if (known->module.is_vdso)
        return true;
    if (known->module.path_length != file->path_length || memcmp(known->path, file->path, file->path_length) != 0)
        return false;
    return module_describe(file->base, &module) == 0 && module.end == known->module.end &&
           module.build_id_bytes == known->module.build_id_bytes &&
           memcmp(module.build_id, known->module.build_id, module.build_id_bytes) == 0;
}

/* One that the loader has told of since; at first it was found without him. True: there is nothing to tell. */
static bool adopt(struct known_module *known, const struct loader_entry *entry)
{
    if (known == NULL || known->entry.link_map != 0 || known->module.dynamic != entry->dynamic)
        return false;
    known->entry = *entry;
    known->module.link_map = entry->link_map;
    known->module.namespace_number = entry->namespace_number;
    known->is_seen = true;
    return true;
}

static int add_entry(struct module_look *look, const struct module_files *files, const struct loader_entry *entry)
{
    uint64_t base = find_base(look, files, entry);
    int result;

    if (base == 0 || adopt(find_by_base(look, base), entry))
        return 0;
    result = add_module(look, base, module_files_at(files, base), entry);
    return result == -ENOMEM ? result : 0;
}

/* What is mapped, and no loader tells of. */
static int add_files(struct module_look *look, const struct module_files *files)
{
    int result = 0;

    for (size_t i = 0; result != -ENOMEM && i < files->count; i++) {
        const struct module_file *file = &files->files[i];
        struct known_module *known = find_by_base(look, file->base);

        if (known != NULL && known->entry.link_map == 0 && !is_still_there(known, file)) {
            remove_module(look, known);
            known = NULL;
        }
        if (known != NULL)
            known->is_seen = true;
        else if (file->has_code && !look->is_changing)
            result = add_module(look, file->base, file, NULL);
    }
    return result == -ENOMEM ? result : 0;
}

/* Those that only mappings tell of stay if nobody looks at mappings. */
static void keep_unlisted(struct module_look *look)
{
    LIST_FOR_EACH (node, &look->observer->known)
        known_of(node)->is_seen |= known_of(node)->entry.link_map == 0;
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

/*
 * What goes is told before what comes in its place. Of those that only mappings tell of it is known when mappings were
 * gone through; whether one has gone and something else has come there is found by add_files.
 */
static int compare_all(struct module_look *look, size_t new_count)
{
    struct module_files files = {.count = 0};
    int result = module_files_init(&files);
    bool are_mapped_known = result == 0;

    if (!are_mapped_known)
        keep_unlisted(look);
    else
        LIST_FOR_EACH (node, &look->observer->known) {
            const struct module *module = &known_of(node)->module;
            const struct module_file *file = module_files_at(&files, module->base);

            known_of(node)->is_seen |= known_of(node)->entry.link_map == 0 &&
                                       (module->is_vdso || (file != NULL && file->base == module->base));
        }
    remove_unseen(look);
    result = 0;
    for (size_t i = 0; result == 0 && i < new_count; i++)
        result = add_entry(look, &files, &look->entries[i]);
    if (result == 0 && are_mapped_known)
        result = add_files(look, &files);
    if (are_mapped_known)
        module_files_deinit(&files);
    return result;
}

/* Whether there may be something new of which the loader's lists tell nothing. */
static bool may_be_more(const struct module_look *look)
{
    const struct module_observer *observer = look->observer;

    return !observer->has_looked || !look->is_list_there || (observer->loader.hides_namespaces && !look->is_changing);
}

static int compare(struct module_look *look)
{
    struct module_observer *observer = look->observer;
    size_t new_count;
    int result = 0;

    if (!read_lists(look))
        return 0;
    if (look->is_removing && observer->unloading_time == 0) {
        observer->unloading_time = look->time;
        if (observer->listener->unloading != NULL)
            observer->listener->unloading(observer->listener->context);
    }
    /* A list that the loader has not begun says nothing of what is there. */
    if (!look->is_list_there)
        memset(look->is_unread, true, sizeof(look->is_unread));
    new_count = match_entries(look);
    if (new_count != 0 || has_gone(look) || may_be_more(look)) {
        result = compare_all(look, new_count);
        observer->has_looked |= result == 0 && !look->is_changing;
    }
    if (!look->is_removing)
        observer->unloading_time = 0;
    return result;
}

int module_observer_notice(struct module_observer *observer)
{
    struct module_look look = {.observer = observer, .time = time_counter()};
    void *memory;
    int result = owner_lock_acquire(&observer->lock, LOCK_TIMEOUT_MS);

    if (result != 0)
        return result;
    /* Waiting may have taken time, in which others told of what came then. */
    look.time = time_counter();
    result = memory_map(ENTRIES_MAX * sizeof(look.entries[0]), &memory);
    if (result == 0) {
        look.entries = memory;
        result = compare(&look);
        memory_unmap(memory, ENTRIES_MAX * sizeof(look.entries[0]));
    }
    owner_lock_release(&observer->lock);
    return result;
}

int module_observer_find(struct module_observer *observer, uint64_t *function_out)
{
    if (observer->loader.notification == 0)
        return -ENOENT;
    *function_out = observer->loader.notification;
    return 0;
}

void module_observer_init(struct module_observer *observer, const struct module_listener *listener)
{
    memset(observer, 0, sizeof(*observer));
    observer->listener = listener;
    list_init(&observer->known);
    (void)!pool_init(&observer->pool, sizeof(struct known_module));
    (void)!dynamic_loader_find(&observer->loader);
}

void module_observer_deinit(struct module_observer *observer)
{
    pool_deinit(&observer->pool);
    list_init(&observer->known);
}

bool module_observer_begin_in_child(struct module_observer *observer)
{
    bool is_lost = atomic_load_explicit(&observer->lock.word, memory_order_relaxed) != 0;

    if (is_lost) {
        /* The pool may be half changed, too; its memory stays where it is. */
        (void)!pool_init(&observer->pool, sizeof(struct known_module));
        list_init(&observer->known);
        observer->has_looked = false;
        observer->unloading_time = 0;
    }
    observer->lock = (struct owner_lock){0};
    return is_lost;
}
