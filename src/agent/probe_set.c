/* SPDX-License-Identifier: MIT */
/*
 * Arguments are understood when a probe is found; when it is passed only numbers are copied. What is on the stack, in
 * the page of the stack pointer, and what the module has at a fixed address is read as it is. All other memory is read
 * by the kernel, so that what is not there is an answer and no fault.
 */
#include "agent/probe_set.h"

#include "agent/detail_capture.h"
#include "agent/detail_lane.h"
#include "agent/unhooked_function.h"
#include "arch/abi.h"
#include "base/alignment.h"
#include "base/memory_functions.h"
#include "base/memory_map.h"
#include "base/mutex.h"
#include "base/slab.h"
#include "base/text_format.h"
#include "base/time_counter.h"
#include "elf/probe_arguments.h"
#include "elf/static_probes.h"
#include "elf/symbol_entries.h"
#include "elf/symbols.h"
#include "gait/cpu_context.h"
#include "process/mapping_list.h"
#include "process/memory_probe.h"
#include "protocol/agent_pattern.h"
#include "ring/probe_log.h"
#include "ring/ring_region.h"
#include "ring/unhooked_log.h"

#include <asm/errno.h>
#include <stdatomic.h>
#include <stddef.h>

/* Of values, where strings are among them. */
#define DECLARED_BYTES 1024u
/* "provider:name", as patterns see it. */
#define SPELLED_BYTES (2 * RING_PROBE_NAME_BYTES)

/* An argument, as it is told. */
struct told_argument {
    struct probe_operand operand;
    struct detail_value head;
    bool is_steady; /* in memory of the module, which is there as long as the probe is */
};

struct set_probe {
    struct set_probe *next;
    struct ring_probe told;
    struct ring_probe_texts texts; /* in memory of the set */
    _Atomic bool is_armed;
    bool is_raised;
    uint32_t argument_count;
    uint32_t values_bytes; /* of all of them, if they can be had */
    struct told_argument arguments[PROBE_ARGUMENTS_MAX];
    const struct detail_declaration *declaration; /* what the user says that they are; NULL: nothing */
};

static struct probe_set {
    struct ring_region *ring;
    uint32_t string_bytes;
    uint32_t count;
    struct set_probe *first;
    struct set_probe **last;
    struct slab memory;
    struct mutex lock;        /* of semaphores */
    _Atomic uint32_t lowered; /* those that should be up, but are not yet */
} set;

void probe_set_begin(struct ring_region *ring, const struct agent_options *options)
{
    set = (struct probe_set){.ring = ring, .string_bytes = options->string_bytes};
    set.last = &set.first;
    slab_init(&set.memory, 0);
}

void probe_set_end(void)
{
    if (set.ring == NULL)
        return;
    slab_deinit(&set.memory);
    set = (struct probe_set){.ring = NULL};
}

uint64_t set_probe_address(const struct set_probe *probe)
{
    return probe->told.address;
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

/* Those of the wanted patterns that mean it. */
static uint64_t find_patterns(const struct probe_search *search, const struct static_probe *probe)
{
    char spelled[SPELLED_BYTES];
    size_t provider = probe->provider_length, name = probe->name_length;
    uint64_t found = 0;

    if (provider + 1 + name > sizeof(spelled))
        return 0;
    memcpy(spelled, probe->provider, provider);
    spelled[provider] = ':';
    memcpy(spelled + provider + 1, probe->name, name);
    for (uint64_t left = search->wanted; left != 0; left &= left - 1) {
        unsigned which = (unsigned)__builtin_ctzll(left);
        const struct glob_text text = {spelled, provider + 1 + name};

        if (glob_matches(search->parts[which].function, text))
            found |= 1ull << which;
    }
    return found;
}

bool probe_set_has_any(const struct probe_search *search)
{
    struct static_probe_cursor cursor;
    struct static_probe probe;

    if (search->wanted == 0)
        return false;
    static_probe_cursor_init(&cursor, search->symbols);
    while (static_probe_cursor_next(&cursor, &probe))
        if (find_patterns(search, &probe) != 0)
            return true;
    return false;
}

/* Where the mapping has it; false: it is not code of it. */
static bool find_place(const struct probe_search *search, uint64_t file_address, uint64_t *address_out)
{
    const struct mapping *mapping = search->mapping;
    const uint8_t *code;
    uint64_t available, offset;

    if (elf_symbols_code(search->symbols, file_address, &code, &available) != 0)
        return false;
    offset = (uint64_t)(code - search->symbols->bytes);
    if (offset < mapping->file_offset || offset - mapping->file_offset >= mapping->end - mapping->start)
        return false;
    *address_out = mapping->start + (offset - mapping->file_offset);
    return true;
}

/* A name that several different things of the file have tells nothing. */
static bool find_symbol(const struct elf_symbols *symbols, const char *name, size_t length, uint64_t *address_out)
{
    struct elf_symbol_entry entry;
    bool is_found = false;

    for (uint64_t i = 0; i < elf_symbols_count(symbols); i++) {
        if (elf_symbol_entry_get(symbols, i, &entry) != 0 || entry.section == 0 || entry.name_length != length ||
            memcmp(entry.name, name, length) != 0)
            continue;
        if (is_found && entry.address != *address_out)
            return false;
        *address_out = entry.address;
        is_found = true;
    }
    return is_found;
}

static uint8_t type_of(const struct probe_operand *operand)
{
    static const uint8_t types[2][4] = {
        {DETAIL_TYPE_U8, DETAIL_TYPE_U16, DETAIL_TYPE_U32, DETAIL_TYPE_U64},
        {DETAIL_TYPE_I8, DETAIL_TYPE_I16, DETAIL_TYPE_I32, DETAIL_TYPE_I64},
    };

    if (operand->is_real && operand->size_bytes >= 4)
        return operand->size_bytes == 4 ? DETAIL_TYPE_FLOAT : DETAIL_TYPE_DOUBLE;
    return types[operand->is_signed][__builtin_ctz(operand->size_bytes)];
}

static void understand(const struct probe_search *search, struct set_probe *probe, uint64_t bias)
{
    struct probe_arguments arguments;

    probe_arguments_parse(probe->texts.arguments, probe->told.arguments_bytes,
                          abi_probe_operands(search->symbols->machine), &arguments);
    probe->argument_count = arguments.count;
    for (uint32_t i = 0; i < arguments.count; i++) {
        struct told_argument *argument = &probe->arguments[i];
        struct probe_operand *operand = &argument->operand;
        uint64_t address;

        *operand = arguments.operands[i];
        argument->head.type = type_of(operand);
        argument->head.data_bytes = operand->size_bytes;
        probe->values_bytes += (uint32_t)sizeof(argument->head) + operand->size_bytes;
        if (operand->kind == PROBE_OPERAND_SYMBOL &&
            find_symbol(search->symbols, operand->symbol, operand->symbol_length, &address))
            probe_operand_resolve(operand, address);
        probe_operand_move(operand, bias);
        argument->is_steady = operand->is_relative && operand->base == PROBE_NO_REGISTER &&
                              operand->index == PROBE_NO_REGISTER && memory_probe((uint64_t)operand->offset);
    }
}

/* What the first pattern says of the arguments that says something. */
static const struct detail_declaration *find_declaration(const struct probe_search *search, uint64_t patterns)
{
    for (; patterns != 0; patterns &= patterns - 1) {
        const struct agent_pattern *pattern = &search->patterns[__builtin_ctzll(patterns)];

        if (pattern->declaration.is_given)
            return &pattern->declaration;
    }
    return NULL;
}

static const char *keep(const char *text, size_t length)
{
    char *copy = slab_allocate(&set.memory, length + 1, 1);

    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static uint16_t length_of(size_t length)
{
    return length < RING_PROBE_TEXT_BYTES ? (uint16_t)length : RING_PROBE_TEXT_BYTES;
}

static bool keep_texts(struct set_probe *probe, const struct static_probe *found, const struct mapping *mapping)
{
    struct ring_probe_texts *texts = &probe->texts;

    texts->provider = keep(found->provider, found->provider_length);
    texts->name = keep(found->name, found->name_length);
    texts->arguments = keep(found->arguments, found->arguments_length);
    texts->path = keep(mapping->path, mapping->path_length);
    probe->told.provider_bytes = length_of(found->provider_length);
    probe->told.name_bytes = length_of(found->name_length);
    probe->told.arguments_bytes = length_of(found->arguments_length);
    probe->told.path_bytes = length_of(mapping->path_length);
    return texts->provider != NULL && texts->name != NULL && texts->arguments != NULL && texts->path != NULL;
}

/* Makes it known here and to readers. NULL: there is no room. */
static struct set_probe *make_probe(const struct probe_search *search, const struct static_probe *found,
                                    uint64_t address)
{
    struct set_probe *probe = slab_allocate_zeroed(&set.memory, sizeof(*probe), _Alignof(struct set_probe));
    uint64_t bias = address - found->address;

    if (probe == NULL)
        return NULL;
    probe->told.address = address;
    probe->told.number = set.count;
    probe->told.semaphore = found->semaphore == 0 ? 0 : found->semaphore + bias;
    if (!keep_texts(probe, found, search->mapping) || !probe_log_add(set.ring, &probe->told, probe->texts))
        return NULL;
    understand(search, probe, bias);
    set.count++;
    *set.last = probe;
    set.last = &probe->next;
    return probe;
}

static void tell_unarmed(const struct probe_search *search, const struct set_probe *probe)
{
    char name[RING_UNHOOKED_NAME_BYTES];
    struct text_writer text;
    const struct unhooked_function unarmed = {
        .mapping = search->mapping,
        .symbols = search->symbols,
        .name = name,
        .is_named = true,
        .why = "its place cannot be patched",
    };

    text_init(&text, name, sizeof(name));
    text_put_bytes(&text, probe->texts.provider, probe->told.provider_bytes);
    text_put_char(&text, ':');
    text_put_bytes(&text, probe->texts.name, probe->told.name_bytes);
    unhooked_function_tell(set.ring, &unarmed);
}

static void add_probe(const struct probe_search *search, const struct static_probe *found, uint64_t patterns,
                      probe_arm arm, void *context)
{
    struct set_probe *probe;
    uint64_t address;
    int result;

    if (!find_place(search, found->address, &address))
        return;
    probe = make_probe(search, found, address);
    if (probe == NULL) {
        ring_region_note_lack(set.ring);
        return;
    }
    probe->declaration = find_declaration(search, patterns);
    result = arm(context, probe, found->address);
    if (result == 0) {
        ring_region_note_armed(set.ring, patterns);
        atomic_store_explicit(&probe->is_armed, true, memory_order_release);
        if (probe->told.semaphore != 0)
            atomic_fetch_add_explicit(&set.lowered, 1, memory_order_relaxed);
    } else if (result == -ENOMEM)
        ring_region_note_lack(set.ring);
    else
        tell_unarmed(search, probe);
}

uint64_t probe_set_add(const struct probe_search *search, probe_arm arm, void *context)
{
    struct static_probe_cursor cursor;
    struct static_probe probe;
    uint64_t matched = 0, patterns;

    if (search->wanted == 0)
        return 0;
    static_probe_cursor_init(&cursor, search->symbols);
    while (static_probe_cursor_next(&cursor, &probe)) {
        patterns = find_patterns(search, &probe);
        if (patterns != 0)
            add_probe(search, &probe, patterns, arm, context);
        matched |= patterns;
    }
    return matched;
}

void probe_set_begin_in_child(void)
{
    /* Of the parent's threads, one that is not here may have been adding some. */
    set.lock = (struct mutex){0};
    set.count = 0;
    set.last = &set.first;
    for (struct set_probe *probe = set.first; probe != NULL; probe = probe->next) {
        probe->told.number = set.count++;
        set.last = &probe->next;
        if (!probe_log_add(set.ring, &probe->told, probe->texts))
            ring_region_note_lack(set.ring);
    }
}

/* ---- semaphores -------------------------------------------------------------------------------------------------- */

/* The address is what a file says: the kernel tries whether it can be written. */
static bool change_semaphore(uint64_t address, int step)
{
    uint16_t value;

    if (memory_probe_copy(address, &value, sizeof(value)) != 0 ||
        memory_probe_write(address, &value, sizeof(value)) != 0)
        return false;
    /* Others who look at the probe count there as well. */
    (void)__atomic_fetch_add((uint16_t *)(uintptr_t)address, (uint16_t)step, __ATOMIC_RELAXED);
    return true;
}

/* Whether it should be up. */
static bool is_awaited(const struct set_probe *probe)
{
    return probe->told.semaphore != 0 && atomic_load_explicit(&probe->is_armed, memory_order_relaxed);
}

void probe_set_raise(void)
{
    if (set.ring == NULL || atomic_load_explicit(&set.lowered, memory_order_relaxed) == 0)
        return;
    mutex_lock(&set.lock);
    for (struct set_probe *probe = set.first; probe != NULL; probe = probe->next) {
        if (probe->is_raised || !is_awaited(probe) || !change_semaphore(probe->told.semaphore, 1))
            continue;
        probe->is_raised = true;
        atomic_fetch_sub_explicit(&set.lowered, 1, memory_order_relaxed);
    }
    mutex_unlock(&set.lock);
}

void probe_set_lower(void)
{
    if (set.ring == NULL)
        return;
    mutex_lock(&set.lock);
    for (struct set_probe *probe = set.first; probe != NULL; probe = probe->next) {
        if (probe->is_raised)
            (void)!change_semaphore(probe->told.semaphore, -1);
        probe->is_raised = false;
        atomic_store_explicit(&probe->is_armed, false, memory_order_relaxed);
    }
    atomic_store_explicit(&set.lowered, 0, memory_order_relaxed);
    mutex_unlock(&set.lock);
}

void probe_set_forget(uint64_t start, uint64_t end)
{
    if (set.ring == NULL)
        return;
    mutex_lock(&set.lock);
    for (struct set_probe *probe = set.first; probe != NULL; probe = probe->next) {
        if (probe->told.address - start >= end - start)
            continue;
        if (is_awaited(probe) && !probe->is_raised)
            atomic_fetch_sub_explicit(&set.lowered, 1, memory_order_relaxed);
        atomic_store_explicit(&probe->is_armed, false, memory_order_relaxed);
        probe->is_raised = false;
    }
    mutex_unlock(&set.lock);
}

/* ---- passing ----------------------------------------------------------------------------------------------------- */

/* What a value is read from. */
struct passed_values {
    struct detail_lane *lane;
    struct probe_registers registers;
    uint64_t sp;
};

/* The stack as far as it is in the page of the stack pointer. */
static bool is_near_sp(const struct passed_values *passing, uint64_t place, uint32_t size_bytes)
{
    return place / MEMORY_PAGE_MIN == passing->sp / MEMORY_PAGE_MIN &&
           align_rest(place, MEMORY_PAGE_MIN) >= size_bytes && detail_lane_can_read(passing->lane, passing->sp);
}

static bool read_memory(const struct passed_values *passing, const struct told_argument *argument, uint64_t *bits_out)
{
    uint32_t size_bytes = argument->operand.size_bytes;
    uint64_t place;

    if (!probe_operand_place(&argument->operand, passing->registers, &place))
        return false;
    if (!argument->is_steady && !is_near_sp(passing, place, size_bytes))
        return memory_probe_copy(place, bits_out, size_bytes) == 0;
    __builtin_memcpy(bits_out, (const void *)(uintptr_t)place, size_bytes);
    return true;
}

static inline bool find_bits(const struct passed_values *passing, const struct told_argument *argument,
                             uint64_t *bits_out)
{
    const struct probe_operand *operand = &argument->operand;

    if (operand->kind == PROBE_OPERAND_REGISTER && operand->base < passing->registers.count) {
        *bits_out = passing->registers.values[operand->base] >> operand->shift;
        return true;
    }
    if (operand->kind == PROBE_OPERAND_CONSTANT) {
        *bits_out = (uint64_t)operand->offset;
        return true;
    }
    return operand->kind == PROBE_OPERAND_MEMORY && read_memory(passing, argument, bits_out);
}

/* So many of the bits. */
static inline void put_bits(uint8_t *at, uint64_t bits, uint32_t size_bytes)
{
    const uint32_t half = (uint32_t)bits;
    const uint16_t quarter = (uint16_t)bits;

    if (size_bytes == sizeof(bits))
        __builtin_memcpy(at, &bits, sizeof(bits));
    else if (size_bytes == sizeof(half))
        __builtin_memcpy(at, &half, sizeof(half));
    else if (size_bytes == sizeof(quarter))
        __builtin_memcpy(at, &quarter, sizeof(quarter));
    else
        *at = (uint8_t)bits;
}

static inline uint8_t *put_argument(const struct passed_values *passing, const struct told_argument *argument,
                                    uint8_t *at)
{
    struct detail_value head = argument->head;
    uint64_t bits;

    if (!find_bits(passing, argument, &bits))
        head = (struct detail_value){.type = head.type, .flags = DETAIL_VALUE_UNREADABLE};
    __builtin_memcpy(at, &head, sizeof(head));
    at += sizeof(head);
    if (head.data_bytes != 0)
        put_bits(at, bits, head.data_bytes);
    return at + head.data_bytes;
}

/* Arguments as the user has declared them: they stand as those of a call would, in registers and on a stack. */
static uint32_t capture_declared(const struct passed_values *passing, const struct set_probe *probe,
                                 uint8_t bytes[DECLARED_BYTES])
{
    struct detail_declaration declaration = *probe->declaration;
    uint64_t words[1 + PROBE_ARGUMENTS_MAX];
    struct detail_registers registers = {.sp = (uintptr_t)words};

    for (uint32_t i = 0; i < declaration.count && i < DETAIL_FIELDS_MAX; i++) {
        uint64_t bits = 0;
        bool is_known = i < probe->argument_count && find_bits(passing, &probe->arguments[i], &bits);

        if (i < DETAIL_ARGUMENTS)
            registers.arguments[i] = bits;
        else
            words[1 + i - DETAIL_ARGUMENTS] = bits;
        declaration.fields[i].place = (uint8_t)(!is_known              ? DETAIL_PLACE_NONE
                                                : i < DETAIL_ARGUMENTS ? i
                                                                       : DETAIL_PLACE_STACK + i - DETAIL_ARGUMENTS);
    }
    return detail_capture_arguments(&declaration, &registers, set.string_bytes, bytes, DECLARED_BYTES);
}

static inline uint32_t put_arguments(const struct passed_values *passing, const struct set_probe *probe, uint8_t *start)
{
    uint8_t *at = start;

    for (uint32_t i = 0; i < probe->argument_count; i++)
        at = put_argument(passing, &probe->arguments[i], at);
    return (uint32_t)(at - start);
}

/* All of it but values. */
static inline struct detail_probe *begin_record(const struct set_probe *probe, const struct passed_values *passing,
                                                struct detail_place place, uint32_t depth)
{
    struct detail_probe *record = (struct detail_probe *)(void *)place.bytes;

    record->record.depth = (uint16_t)depth;
    record->record.time = time_counter();
    record->record.function = probe->told.address;
    record->record.sp = passing->sp;
    record->probe = probe->told.number;
    record->reserved = 0;
    return record;
}

#define VALUES_AT offsetof(struct detail_probe, values_bytes)

/* In a function of its own, so that nobody else needs room for values on the stack. */
static __attribute__((noinline)) void tell_declared(const struct set_probe *probe, const struct passed_values *passing,
                                                    uint32_t depth)
{
    uint8_t bytes[DECLARED_BYTES];
    uint32_t size_bytes = capture_declared(passing, probe, bytes);
    struct detail_place place =
        detail_lane_take(passing->lane, DETAIL_PROBE, sizeof(struct detail_probe), VALUES_AT, size_bytes);

    if (place.bytes == NULL)
        return;
    __builtin_memcpy(begin_record(probe, passing, place, depth) + 1, bytes, size_bytes);
    detail_lane_put(passing->lane, place, sizeof(struct detail_probe), VALUES_AT, size_bytes);
}

void probe_set_passed(const struct set_probe *probe, struct detail_lane *lane, const struct gait_cpu_context *cpu,
                      uint32_t depth)
{
    const struct passed_values passing = {lane, {cpu->registers, GAIT_CPU_REGISTER_COUNT}, gait_cpu_stack_pointer(cpu)};
    struct detail_place place;
    uint32_t used;

    if (probe->declaration != NULL) {
        tell_declared(probe, &passing, depth);
        return;
    }
    place = detail_lane_take(lane, DETAIL_PROBE, sizeof(struct detail_probe), VALUES_AT, probe->values_bytes);
    if (place.bytes == NULL)
        return;
    used = put_arguments(&passing, probe, (uint8_t *)(begin_record(probe, &passing, place, depth) + 1));
    detail_lane_put(lane, place, sizeof(struct detail_probe), VALUES_AT, used);
}
