/* SPDX-License-Identifier: MIT */
/*
 * A list of modules by address never changes: a new one takes its place, and the old one is retired. It goes, with the
 * tables that only it had, when each reader was seen outside of its search after that.
 */
#include "unwind/unwind_modules.h"

#include "base/memory_functions.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/elf.h>
#include <linux/membarrier.h>

#define HEADER_BYTES_MAX 4096u

struct unwind_module {
    uint64_t start; /* of its code */
    uint64_t end;
    struct unwind_table *table;
};

struct unwind_module_list {
    struct unwind_module_list *next; /* that was retired before */
    size_t size_bytes;
    size_t count;
    struct unwind_table *removed; /* that went with it, linked by their `next`; NULL: none */
    struct unwind_module modules[];
};

/* ---- retiring ---------------------------------------------------------------------------------------------------- */

static void free_table(struct unwind_table *table)
{
    unwind_table_deinit(table);
    memory_unmap(table, sizeof(*table));
}

static void free_list(struct unwind_module_list *list)
{
    while (list->removed != NULL) {
        struct unwind_table *table = list->removed;

        list->removed = table->next_removed;
        free_table(table);
    }
    memory_unmap(list, list->size_bytes);
}

/* False: some reader may be looking at what was there before. */
static bool all_are_outside(struct unwind_modules *modules) REQUIRES(modules->lock)
{
    if (raw_syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) != 0)
        return list_is_empty(&modules->readers);
    LIST_FOR_EACH (node, &modules->readers) {
        const struct unwind_reader *reader = LIST_ELEMENT(node, struct unwind_reader, node);

        if (atomic_load_explicit(&reader->activity, memory_order_acquire) & 1)
            return false;
    }
    return true;
}

/* Puts a list in the place of the one before, which goes as soon as it can. */
static void publish(struct unwind_modules *modules, struct unwind_module_list *list) REQUIRES(modules->lock)
{
    struct unwind_module_list *before = atomic_load_explicit(&modules->current, memory_order_relaxed);

    atomic_store_explicit(&modules->current, list, memory_order_release);
    atomic_fetch_add_explicit(&modules->generation, 1, memory_order_seq_cst);
    rule_cache_clear(&modules->cache);
    if (before != NULL) {
        before->next = modules->retired;
        modules->retired = before;
    }
    if (modules->retired == NULL || !all_are_outside(modules))
        return;
    while (modules->retired != NULL) {
        struct unwind_module_list *retired = modules->retired;

        modules->retired = retired->next;
        free_list(retired);
    }
}

void unwind_modules_init(struct unwind_modules *modules, const struct arch_frame_registers *registers)
{
    memset(modules, 0, sizeof(*modules));
    modules->registers = registers;
    list_init(&modules->readers);
    (void)raw_syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0);
}

void unwind_modules_deinit(struct unwind_modules *modules)
{
    struct unwind_module_list *list = atomic_load_explicit(&modules->current, memory_order_relaxed);

    for (size_t i = 0; list != NULL && i < list->count; i++)
        free_table(list->modules[i].table);
    if (list != NULL)
        free_list(list);
    while (modules->retired != NULL) {
        list = modules->retired;
        modules->retired = list->next;
        free_list(list);
    }
    atomic_store_explicit(&modules->current, NULL, memory_order_relaxed);
}

void unwind_modules_add_reader(struct unwind_modules *modules, struct unwind_reader *reader)
{
    mutex_lock(&modules->lock);
    list_add_last(&modules->readers, &reader->node);
    mutex_unlock(&modules->lock);
}

void unwind_modules_remove_reader(struct unwind_modules *modules, struct unwind_reader *reader)
{
    mutex_lock(&modules->lock);
    list_remove(&reader->node);
    mutex_unlock(&modules->lock);
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

/* What the program headers of a module in memory say. */
struct module_headers {
    uint64_t bias; /* from addresses in the file to those in memory */
    uint64_t frame_header;
    uint64_t frame_header_bytes;
    const Elf64_Phdr *headers;
    unsigned count;
};

static int read_headers(uint64_t base, struct module_headers *headers_out)
{
    const Elf64_Ehdr *file = (const void *)(uintptr_t)base;
    uint64_t low = UINT64_MAX;

    if (memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 || file->e_ident[EI_CLASS] != ELFCLASS64 ||
        file->e_phentsize != sizeof(Elf64_Phdr) || file->e_phoff > HEADER_BYTES_MAX ||
        file->e_phnum > (HEADER_BYTES_MAX - file->e_phoff) / sizeof(Elf64_Phdr))
        return -ENOEXEC;
    *headers_out = (struct module_headers){
        .headers = (const void *)(uintptr_t)(base + file->e_phoff),
        .count = file->e_phnum,
    };
    for (unsigned i = 0; i < headers_out->count; i++) {
        const Elf64_Phdr *header = &headers_out->headers[i];

        if (header->p_type == PT_LOAD && header->p_offset == 0 && header->p_vaddr < low)
            low = header->p_vaddr;
        if (header->p_type == PT_GNU_EH_FRAME) {
            headers_out->frame_header = header->p_vaddr;
            headers_out->frame_header_bytes = header->p_memsz;
        }
    }
    if (low == UINT64_MAX)
        return -ENOEXEC;
    headers_out->bias = base - low;
    headers_out->frame_header += headers_out->bias;
    return headers_out->frame_header_bytes == 0 ? -ENOENT : 0;
}

/* Whether so many bytes at an address are in one segment, and how many are up to its end. */
static bool is_loaded(const struct module_headers *headers, uint64_t address, uint64_t size_bytes,
                      uint64_t *available_out)
{
    for (unsigned i = 0; i < headers->count; i++) {
        const Elf64_Phdr *header = &headers->headers[i];
        uint64_t within = address - headers->bias - header->p_vaddr;

        if (header->p_type != PT_LOAD || within >= header->p_filesz || header->p_filesz - within < size_bytes)
            continue;
        *available_out = header->p_filesz - within;
        return true;
    }
    return false;
}

static int find_frame(uint64_t base, struct eh_frame *frame_out)
{
    struct module_headers headers;
    uint64_t address, available;
    int result = read_headers(base, &headers);

    if (result != 0)
        return result;
    if (!is_loaded(&headers, headers.frame_header, headers.frame_header_bytes, &available))
        return -ENOENT;

    struct eh_frame header = {(const uint8_t *)(uintptr_t)headers.frame_header, headers.frame_header_bytes,
                              headers.frame_header};

    if (eh_frame_find(&header, &address) != 0 || !is_loaded(&headers, address, 4, &available))
        return -ENOENT;
    *frame_out = (struct eh_frame){(const uint8_t *)(uintptr_t)address, available, address};
    return 0;
}

static int make_table(const struct unwind_modules *modules, uint64_t base, struct unwind_table **table_out)
{
    struct eh_frame frame;
    void *storage;
    int result = find_frame(base, &frame);

    if (result != 0)
        return result;
    result = memory_map(sizeof(**table_out), &storage);
    if (result != 0)
        return result;
    *table_out = storage;
    result = unwind_table_make(*table_out, &frame, modules->registers);
    if (result != 0)
        memory_unmap(storage, sizeof(**table_out));
    return result;
}

/* A copy of the list without the modules of a range, and with room for one more. */
static int copy_without(const struct unwind_module_list *list, uint64_t start, uint64_t end,
                        struct unwind_module_list **copy_out)
{
    size_t count = list == NULL ? 0 : list->count;
    size_t size_bytes = sizeof(*list) + (count + 1) * sizeof(list->modules[0]);
    struct unwind_module_list *copy;
    void *storage;

    if (memory_map(size_bytes, &storage) != 0)
        return -ENOMEM;
    copy = storage;
    copy->size_bytes = size_bytes;
    for (size_t i = 0; i < count; i++)
        if (list->modules[i].end <= start || list->modules[i].start >= end)
            copy->modules[copy->count++] = list->modules[i];
    *copy_out = copy;
    return 0;
}

static void insert(struct unwind_module_list *list, struct unwind_table *table)
{
    size_t place = list->count++;

    for (; place > 0 && list->modules[place - 1].start > table->start; place--)
        list->modules[place] = list->modules[place - 1];
    list->modules[place] = (struct unwind_module){table->start, table->end, table};
}

int unwind_modules_add(struct unwind_modules *modules, uint64_t base)
{
    struct unwind_module_list *before, *list;
    struct unwind_table *table;
    int result = make_table(modules, base, &table);

    if (result != 0)
        return result;
    mutex_lock(&modules->lock);
    before = atomic_load_explicit(&modules->current, memory_order_relaxed);
    result = copy_without(before, table->start, table->end, &list);
    if (result == 0 && before != NULL && list->count != before->count) {
        memory_unmap(list, list->size_bytes);
        result = -EEXIST;
    }
    if (result == 0) {
        insert(list, table);
        publish(modules, list);
    }
    mutex_unlock(&modules->lock);
    if (result != 0)
        free_table(table);
    return result;
}

int unwind_modules_remove(struct unwind_modules *modules, uint64_t start, uint64_t end)
{
    struct unwind_module_list *before, *list;
    int result = 0;

    mutex_lock(&modules->lock);
    before = atomic_load_explicit(&modules->current, memory_order_relaxed);
    if (before != NULL)
        result = copy_without(before, start, end, &list);
    if (result == 0 && before != NULL) {
        for (size_t i = 0; i < before->count; i++) {
            struct unwind_module *module = &before->modules[i];

            if (module->end <= start || module->start >= end)
                continue;
            module->table->next_removed = before->removed;
            before->removed = module->table;
        }
        publish(modules, list);
    }
    mutex_unlock(&modules->lock);
    return result;
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

static const struct unwind_table *table_of(struct unwind_modules *modules, uint64_t pc)
{
    const struct unwind_module_list *list = atomic_load_explicit(&modules->current, memory_order_acquire);
    size_t low = 0, high = list == NULL ? 0 : list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (pc >= list->modules[middle].end)
            low = middle + 1;
        else
            high = middle;
    }
    return list != NULL && low < list->count && pc >= list->modules[low].start ? list->modules[low].table : NULL;
}

uint32_t unwind_modules_rule(struct unwind_modules *modules, uint64_t pc)
{
    uint64_t generation = atomic_load_explicit(&modules->generation, memory_order_acquire);
    const struct unwind_table *table;
    uint32_t rule;

    if (rule_cache_find(&modules->cache, pc, &rule))
        return rule;
    table = table_of(modules, pc);
    if (table == NULL)
        return unwind_rule(UNWIND_UNKNOWN, 0, 0);
    rule = unwind_table_find(table, pc);
    rule_cache_put(&modules->cache, pc, rule);
    /* Modules may have changed, and the cache been cleared, before it was put there. */
    if (atomic_load_explicit(&modules->generation, memory_order_seq_cst) != generation)
        rule_cache_drop(&modules->cache, pc);
    return rule;
}

bool unwind_modules_entry(struct unwind_modules *modules, uint64_t pc, struct eh_frame_entry *entry_out)
{
    const struct unwind_table *table = table_of(modules, pc);

    return table != NULL && unwind_table_entry(table, pc, entry_out);
}
