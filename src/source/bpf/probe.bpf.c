/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The program that runs in the kernel, in one form for each kind of place it can be fastened to. What it is to do
 * stands in `config`, which is constant when it is loaded: the kernel's verifier leaves nothing of the rest.
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "source/program_layout.h"

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
struct written {
    char bytes[PROGRAM_VALUES_MAX * sizeof(u64) + PROGRAM_STRINGS_MAX * PROGRAM_STRING_BYTES];
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct written);
} scratch SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, PROGRAM_COUNTS_MAX);
    __type(key, struct program_key);
    __type(value, u64);
} counts SEC(".maps");

/* How many could not be counted, for there are too many keys. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} left_out SEC(".maps");

static __always_inline u64 extend(u64 number, const volatile struct program_value *value)
{
    u32 shift = 64 - 8 * value->size_bytes;

    return value->type == PROGRAM_SIGNED ? (u64)((s64)(number << shift) >> shift) : number;
}

static __always_inline u64 read_number(void *context, const volatile struct program_value *value)
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
        u64 address = 0;

        bpf_probe_read_kernel(&address, sizeof(address), context + value->offset);
        address += (s64)value->displacement;
        switch (value->size_bytes) {
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
        return extend(number, value);
    }
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

static __always_inline int holds(void *context)
{
    int all = 1;

    if (config.condition_count == 0)
        return 1;
    for (u32 i = 0; i < PROGRAM_CONDITIONS_MAX; i++) {
        if (i >= config.condition_count)
            break;
        if (!compare(read_number(context, &config.conditions[i].value), &config.conditions[i]))
            all = 0;
        if (config.conditions[i].ends_group) {
            if (all)
                return 1;
            all = 1;
        }
    }
    return 0;
}

static __always_inline int is_wanted(void *context)
{
    u32 pid = bpf_get_current_pid_tgid() >> 32;

    if (config.by_process && !bpf_map_lookup_elem(&processes, &pid))
        return 0;
    return holds(context);
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

static __always_inline void count(void *context)
{
    struct program_key key = {.source = config.source};
    u64 one = 1, *found;
    u32 zero = 0;

    if (config.key.place == PROGRAM_COMM) {
        bpf_get_current_comm(key.key, sizeof(key.key));
    } else if (config.key.type == PROGRAM_CHARACTERS) {
        bpf_probe_read_kernel(key.key, config.key.size_bytes & 31, context + config.key.offset);
    } else if (config.key.place != PROGRAM_NOTHING) {
        u64 number = read_number(context, &config.key);

        __builtin_memcpy(key.key, &number, sizeof(number));
    }
    if (config.has_measure)
        key.bucket = bucket_of(read_number(context, &config.measure));
    found = bpf_map_lookup_elem(&counts, &key);
    if (found) {
        (*found)++;
        return;
    }
    if (bpf_map_update_elem(&counts, &key, &one, BPF_NOEXIST) == 0)
        return;
    found = bpf_map_lookup_elem(&counts, &key);
    if (!found)
        found = bpf_map_lookup_elem(&left_out, &zero);
    if (found)
        (*found)++;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static __always_inline void emit(void *context)
{
    u32 zero = 0, strings = 0;
    struct written *written = bpf_map_lookup_elem(&scratch, &zero);

    if (!written)
        return;
    for (u32 i = 0; i < PROGRAM_VALUES_MAX; i++) {
        const volatile struct program_value *value = &config.values[i];
        u64 number;
        long length;

        if (i >= config.value_count)
            break;
        number = read_number(context, value);
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

static __always_inline int handle(void *context)
{
    if (!is_wanted(context))
        return config.action == PROGRAM_COUNTS ? config.result : 0;
    if (config.action == PROGRAM_PASSES)
        return 1;
    if (config.action == PROGRAM_COUNTS)
        count(context);
    else
        emit(context);
    return config.result;
}

SEC("kprobe")
int on_probe(void *context)
{
    return handle(context);
}

SEC("tracepoint")
int on_tracepoint(void *context)
{
    return handle(context);
}

SEC("perf_event")
int on_counter(void *context)
{
    return handle(context);
}

SEC("raw_tp")
int on_raw_tracepoint(void *context)
{
    handle(context);
    return 0;
}

SEC("fentry")
int on_entry(void *context)
{
    handle(context);
    return 0;
}

SEC("fexit")
int on_exit(void *context)
{
    handle(context);
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
