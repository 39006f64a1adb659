/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The program that runs in the kernel, in one form for each kind of place it can be fastened to. What it is to do
 * stands in `config`, which is constant when it is loaded: the kernel's verifier leaves nothing of the rest.
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel/program_layout.h"

typedef __u64 u64;
typedef __u32 u32;
typedef __s64 s64;

const volatile struct program_config config;

struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(key_size, sizeof(u32));
    __uint(value_size, sizeof(u32));
} events SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 65536);
    __type(key, u32);
    __type(value, u32);
} processes SEC(".maps");

/* Numbers, 8 bytes each, and behind those that there are, strings. */
struct written_values {
    char bytes[PROGRAM_VALUES_MAX * sizeof(u64) + PROGRAM_STRINGS_MAX * PROGRAM_STRING_BYTES];
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct written_values);
} scratch SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, PROGRAM_COUNTS_MAX);
    __type(key, struct program_key);
    __type(value, u64);
} counts SEC(".maps");

/* The same without a search, for what is counted by few numbers or by none: these are places in it. Of each program. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, PROGRAM_FEW_MAX);
    __type(key, u32);
    __type(value, u64);
} few_counts SEC(".maps");

/* How many could not be counted, for there are too many keys. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} left_out SEC(".maps");

/* What `context` leads to: decides how it may be read. */
enum form {
    FORM_REGISTERS,
    FORM_RECORD,
    FORM_ARGUMENTS,       /* u64 each */
    FORM_TYPED_ARGUMENTS, /* the same, but the verifier knows what they are, and lets nobody calculate with them */
    FORM_NOTHING,
};

static __always_inline u64 extend(u64 number, const volatile struct program_value *value)
{
    u32 shift = 64 - 8 * value->size_bytes;

    return value->type == PROGRAM_SIGNED ? (u64)((s64)(number << shift) >> shift) : number << shift >> shift;
}

/*
 * The verifier wants a load of its own for each place; it drops all but one, since the offset is constant. Compilers
 * would make one of them all.
 */
#define LOAD(type, place)                                                                                              \
    case place:                                                                                                        \
        asm volatile("%0 = *(" #type " *)(%1 + " #place ")" : "=r"(*number) : "r"(context));                           \
        return 1;

/* Whole words, at the beginning of what is wanted. */
static __always_inline int load_word(void *context, u32 offset, u64 *number)
{
    switch (offset) {
        LOAD(u64, 0)
        LOAD(u64, 8)
        LOAD(u64, 16)
        LOAD(u64, 24)
        LOAD(u64, 32)
        LOAD(u64, 40)
        LOAD(u64, 48)
        LOAD(u64, 56)
        LOAD(u64, 64)
        LOAD(u64, 72)
        LOAD(u64, 80)
        LOAD(u64, 88)
        LOAD(u64, 96)
        LOAD(u64, 104)
        LOAD(u64, 112)
        LOAD(u64, 120)
        LOAD(u64, 128)
        LOAD(u64, 136)
        LOAD(u64, 144)
        LOAD(u64, 152)
        LOAD(u64, 160)
    }
    return 0;
}

/* Numbers of four bytes in records. */
static __always_inline int load_half(void *context, u32 offset, u64 *number)
{
    switch (offset) {
        LOAD(u32, 8)
        LOAD(u32, 12)
        LOAD(u32, 16)
        LOAD(u32, 20)
        LOAD(u32, 24)
        LOAD(u32, 28)
        LOAD(u32, 32)
        LOAD(u32, 36)
        LOAD(u32, 40)
        LOAD(u32, 44)
        LOAD(u32, 48)
        LOAD(u32, 52)
        LOAD(u32, 56)
        LOAD(u32, 60)
    }
    return 0;
}

/* Without a helper, if that is possible. */
static __always_inline int load(void *context, enum form form, const volatile struct program_value *value, u64 *number)
{
    if (form == FORM_REGISTERS || form == FORM_ARGUMENTS)
        return load_word(context, value->offset, number);
    if (form == FORM_RECORD && value->size_bytes == 8)
        return load_word(context, value->offset, number);
    if (form == FORM_RECORD && value->size_bytes == 4)
        return load_half(context, value->offset, number);
    return 0;
}

static __always_inline u64 read_user(u64 address, u32 size_bytes)
{
    u64 number = 0;

    switch (size_bytes) {
    case 1:
        bpf_probe_read_user(&number, 1, (void *)address);
        break;
    case 2:
        bpf_probe_read_user(&number, 2, (void *)address);
        break;
    case 4:
        bpf_probe_read_user(&number, 4, (void *)address);
        break;
    default:
        bpf_probe_read_user(&number, 8, (void *)address);
        break;
    }
    return number;
}

static __always_inline u64 read_number(void *context, enum form form, const volatile struct program_value *value)
{
    u64 number = 0;

    switch (value->place) {
    case PROGRAM_PID:
        return bpf_get_current_pid_tgid() >> 32;
    case PROGRAM_TID:
        return (u32)bpf_get_current_pid_tgid();
    case PROGRAM_UID:
        return (u32)bpf_get_current_uid_gid();
    case PROGRAM_CPU:
        return bpf_get_smp_processor_id();
    case PROGRAM_NOTHING:
        return (u64)(s64)value->displacement;
    }
    if (value->in_memory) {
        if (form != FORM_REGISTERS || !load_word(context, value->offset, &number))
            bpf_probe_read_kernel(&number, sizeof(number), context + value->offset);
        return extend(read_user(number + (s64)value->displacement, value->size_bytes), value);
    }
    if (load(context, form, value, &number))
        return extend(number, value);
    switch (value->size_bytes) {
    case 1:
        bpf_probe_read_kernel(&number, 1, context + value->offset);
        break;
    case 2:
        bpf_probe_read_kernel(&number, 2, context + value->offset);
        break;
    case 4:
        bpf_probe_read_kernel(&number, 4, context + value->offset);
        break;
    default:
        bpf_probe_read_kernel(&number, 8, context + value->offset);
        break;
    }
    return extend(number, value);
}

static __always_inline int compare(u64 left, const volatile struct program_condition *condition)
{
    u64 right = condition->number;
    int is_signed = condition->value.type == PROGRAM_SIGNED;
    int is_less = is_signed ? (s64)left < (s64)right : left < right;

    switch (condition->comparison) {
    case PROGRAM_EQUAL:
        return left == right;
    case PROGRAM_UNEQUAL:
        return left != right;
    case PROGRAM_LESS:
        return is_less;
    case PROGRAM_AT_MOST:
        return is_less || left == right;
    case PROGRAM_MORE:
        return !is_less && left != right;
    case PROGRAM_AT_LEAST:
        return !is_less;
    default:
        return (left & right) != 0;
    }
}

static __always_inline int holds(void *context, enum form form)
{
    int all = 1;

    if (config.condition_count == 0)
        return 1;
    for (u32 i = 0; i < PROGRAM_CONDITIONS_MAX; i++) {
        if (i >= config.condition_count)
            break;
        if (!compare(read_number(context, form, &config.conditions[i].value), &config.conditions[i]))
            all = 0;
        if (config.conditions[i].ends_group) {
            if (all)
                return 1;
            all = 1;
        }
    }
    return 0;
}

static __always_inline int is_watched(void)
{
    u32 pid = bpf_get_current_pid_tgid() >> 32;

    return pid == config.pid || bpf_map_lookup_elem(&processes, &pid);
}

static __always_inline int is_wanted(void *context, enum form form)
{
    if (config.by_process && !is_watched())
        return 0;
    return holds(context, form);
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

static __always_inline u32 bucket_of(u64 number)
{
    u32 power = 0;

    if (config.measure.type == PROGRAM_SIGNED && (s64)number < 0)
        return 0;
    if (number == 0)
        return 1;
    for (u32 step = 32; step != 0; step >>= 1) {
        if (number >> step) {
            number >>= step;
            power += step;
        }
    }
    return power + 2;
}

/* By numbers that are places in an array. */
static __always_inline int count_few(u64 number)
{
    u32 place = number;
    u64 *found;

    if (number >= config.few_count)
        return 0;
    found = bpf_map_lookup_elem(&few_counts, &place);
    if (!found)
        return 0;
    (*found)++;
    return 1;
}

static __always_inline void count_by_key(const struct program_key *key)
{
    u64 one = 1, *found = bpf_map_lookup_elem(&counts, key);
    u32 zero = 0;

    if (!found && bpf_map_update_elem(&counts, key, &one, BPF_NOEXIST) == 0)
        return;
    if (!found)
        found = bpf_map_lookup_elem(&counts, key);
    if (!found)
        found = bpf_map_lookup_elem(&left_out, &zero);
    if (found)
        (*found)++;
}

static __always_inline void count(void *context, enum form form)
{
    struct program_key key = {.source = config.source};
    u64 number = 0;

    if (config.key.place == PROGRAM_COMM) {
        bpf_get_current_comm(key.key, sizeof(key.key));
    } else if (config.key.type == PROGRAM_CHARACTERS) {
        bpf_probe_read_kernel(key.key, config.key.size_bytes & 31, context + config.key.offset);
    } else if (config.key.place != PROGRAM_NOTHING) {
        number = read_number(context, form, &config.key);
        __builtin_memcpy(key.key, &number, sizeof(number));
    }
    if (config.has_measure)
        key.bucket = bucket_of(read_number(context, form, &config.measure));
    if (config.few_count && count_few(config.has_measure ? key.bucket : number))
        return;
    count_by_key(&key);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static __always_inline void emit(void *context, enum form form)
{
    u32 zero = 0, strings = 0;
    struct written_values *written = bpf_map_lookup_elem(&scratch, &zero);

    if (!written)
        return;
    for (u32 i = 0; i < PROGRAM_VALUES_MAX; i++) {
        const volatile struct program_value *value = &config.values[i];
        u64 number;
        long length;

        if (i >= config.value_count)
            break;
        number = read_number(context, form, value);
        if ((value->type == PROGRAM_KERNEL_STRING || value->type == PROGRAM_USER_STRING) &&
            strings < PROGRAM_STRINGS_MAX) {
            u32 at = config.value_count * sizeof(u64) + strings * PROGRAM_STRING_BYTES;
            char *string = written->bytes + at;

            /* Pointers of the kernel's functions may lead to the program, and nothing says so. */
            length = value->type == PROGRAM_KERNEL_STRING
                         ? bpf_probe_read_kernel_str(string, PROGRAM_STRING_BYTES, (void *)number)
                         : -1;
            if (length < 0)
                length = bpf_probe_read_user_str(string, PROGRAM_STRING_BYTES, (void *)number);
            /* What cannot be read, since it is nowhere, or on the disk: no place. */
            number = length < 0 ? 0 : at | (u64)length << 16;
            strings++;
        }
        *(u64 *)(written->bytes + i * sizeof(u64)) = number;
    }
    bpf_perf_event_output(context, &events, BPF_F_CURRENT_CPU, written, config.emit_bytes);
}

static __always_inline int handle(void *context, enum form form)
{
    if (!is_wanted(context, form))
        return config.action == PROGRAM_COUNTS ? config.result : 0;
    if (config.action == PROGRAM_PASSES)
        return 1;
    if (config.action == PROGRAM_COUNTS)
        count(context, form);
    else
        emit(context, form);
    return config.result;
}

SEC("kprobe")
int on_probe(void *context)
{
    return handle(context, FORM_REGISTERS);
}

SEC("tracepoint")
int on_tracepoint(void *context)
{
    return handle(context, FORM_RECORD);
}

SEC("perf_event")
int on_counter(void *context)
{
    return handle(context, FORM_NOTHING);
}

SEC("raw_tp")
int on_raw_tracepoint(void *context)
{
    handle(context, FORM_ARGUMENTS);
    return 0;
}

SEC("fentry")
int on_entry(void *context)
{
    handle(context, FORM_TYPED_ARGUMENTS);
    return 0;
}

SEC("fexit")
int on_exit(void *context)
{
    handle(context, FORM_TYPED_ARGUMENTS);
    return 0;
}

/* ---- children ---------------------------------------------------------------------------------------------------- */

struct task_struct {
    int tgid;
} __attribute__((preserve_access_index));

/* What a process in the list makes is in the list, before it runs. */
SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *context)
{
    struct task_struct *parent = (void *)context->args[0], *child = (void *)context->args[1];
    u32 parent_pid = BPF_CORE_READ(parent, tgid), pid = BPF_CORE_READ(child, tgid), one = 1;

    if (bpf_map_lookup_elem(&processes, &parent_pid))
        bpf_map_update_elem(&processes, &pid, &one, BPF_ANY);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
