/* SPDX-License-Identifier: MIT */
#include "syscalls/subject_texts.h"

#include "syscalls/constant_set.h"
#include "syscalls/struct_layout.h"

#include <string.h>

#define STRUCT_BYTES_MAX 512

static int64_t signed_of(const void *bytes)
{
    int32_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

static uint64_t long_of(const void *bytes)
{
    uint64_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

static void put_int(const struct call_text *text, const void *bytes)
{
    text_format(text->out, "[%d]", (int)signed_of(bytes));
}

static void put_unsigned(const struct call_text *text, const void *bytes)
{
    text_format(text->out, "[%u]", (unsigned)signed_of(bytes));
}

static void put_fd(const struct call_text *text, const void *bytes)
{
    call_text_put_fd(text, (int)signed_of(bytes));
}

static void put_id(const struct call_text *text, const void *bytes)
{
    text_put_char(text->out, '[');
    call_text_put_id(text, (uint32_t)signed_of(bytes));
    text_put_char(text->out, ']');
}

static void put_offset(const struct call_text *text, const void *bytes)
{
    text_format(text->out, "[%ld]", (long)long_of(bytes));
}

static void put_size(const struct call_text *text, const void *bytes)
{
    text_format(text->out, "[%lu]", (unsigned long)long_of(bytes));
}

static void put_pointer(const struct call_text *text, const void *bytes)
{
    text_put_char(text->out, '[');
    call_text_put_address(text, long_of(bytes));
    text_put_char(text->out, ']');
}

static void put_time(const struct call_text *text, const void *bytes)
{
    text_format(text->out, "[%ld", (long)long_of(bytes));
    time_text_put_date(text, (int64_t)long_of(bytes), 0);
    text_put_char(text->out, ']');
}

static void put_status(const struct call_text *text, const void *bytes)
{
    text_put_char(text->out, '[');
    process_text_put_status(text, bytes);
    text_put_char(text->out, ']');
}

static void put_sigset(const struct call_text *text, const void *bytes)
{
    signal_text_put_set(text->out, long_of(bytes));
}

static void put_siginfo(const struct call_text *text, const void *bytes)
{
    signal_text_put_info(text->out, bytes);
}

static void put_operation(const struct call_text *text, const void *bytes)
{
    uint16_t values[3];

    memcpy(values, bytes, sizeof(values));
    text_format(text->out, "{sem_num=%u, sem_op=%d, sem_flg=", values[0], (int16_t)values[1]);
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_semop, values[2]);
    text_put_char(text->out, '}');
}

static void put_priority(const struct call_text *text, const void *bytes)
{
    text_format(text->out, "[%d]", (int)signed_of(bytes));
}

static void put_queue(const struct call_text *text, const void *bytes)
{
    int64_t values[4];

    memcpy(values, bytes, sizeof(values));
    text_put_string(text->out, "{mq_flags=");
    if (values[0] == 0)
        text_put_char(text->out, '0');
    else
        file_text_put_open_flags(text->out, (uint64_t)values[0]);
    text_format(text->out, ", mq_maxmsg=%ld, mq_msgsize=%ld, mq_curmsgs=%ld}", (long)values[1], (long)values[2],
                (long)values[3]);
}

static void put_io_event(const struct call_text *text, const void *bytes)
{
    uint64_t values[4];

    memcpy(values, bytes, sizeof(values));
    text_put_string(text->out, "{data=");
    call_text_put_hex(text, values[0]);
    text_put_string(text->out, ", obj=");
    call_text_put_address(text, values[1]);
    text_format(text->out, ", res=%ld, res2=%ld}", (long)values[2], (long)values[3]);
}

static void put_waiter(const struct call_text *text, const void *bytes)
{
    uint64_t values[3];

    memcpy(values, bytes, sizeof(values));
    text_put_string(text->out, "{val=");
    call_text_put_hex(text, values[0]);
    text_put_string(text->out, ", uaddr=");
    call_text_put_address(text, values[1]);
    text_put_string(text->out, ", flags=");
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_futex_wait_flags, (uint32_t)values[2]);
    text_put_char(text->out, '}');
}

static void put_cache_range(const struct call_text *text, const void *bytes)
{
    text_format(text->out, "{off=%lu, len=%lu}", (unsigned long)long_of(bytes),
                (unsigned long)long_of((const char *)bytes + 8));
}

static void put_cache(const struct call_text *text, const void *bytes)
{
    uint64_t values[5];

    memcpy(values, bytes, sizeof(values));
    text_format(text->out, "{nr_cache=%lu, nr_dirty=%lu, nr_writeback=%lu, nr_evicted=%lu, nr_recently_evicted=%lu}",
                (unsigned long)values[0], (unsigned long)values[1], (unsigned long)values[2], (unsigned long)values[3],
                (unsigned long)values[4]);
}

static void put_ring(const struct call_text *text, const void *bytes)
{
    struct_layout_put(text, STRUCT_LAYOUT_io_uring_parameters, bytes,
                      struct_layout_bytes(STRUCT_LAYOUT_io_uring_parameters));
}

static void put_landlock_path(const struct call_text *text, const void *bytes)
{
    struct_layout_put(text, STRUCT_LAYOUT_landlock_path, bytes, struct_layout_bytes(STRUCT_LAYOUT_landlock_path));
}

/* What writes a struct of fixed size. Those without are written as addresses. */
static void (*const writers[SYSTEM_CALL_STRUCT_COUNT])(const struct call_text *text, const void *bytes) = {
    [SYSTEM_CALL_STRUCT_stat] = file_text_put_stat,
    [SYSTEM_CALL_STRUCT_statx] = file_text_put_statx,
    [SYSTEM_CALL_STRUCT_statfs] = file_text_put_statfs,
    [SYSTEM_CALL_STRUCT_pollfd] = poll_text_put_pollfd,
    [SYSTEM_CALL_STRUCT_epoll_event] = poll_text_put_epoll_event,
    [SYSTEM_CALL_STRUCT_sigaction] = signal_text_put_action,
    [SYSTEM_CALL_STRUCT_sigset] = put_sigset,
    [SYSTEM_CALL_STRUCT_siginfo] = put_siginfo,
    [SYSTEM_CALL_STRUCT_sigevent] = signal_text_put_event,
    [SYSTEM_CALL_STRUCT_stack] = signal_text_put_stack,
    [SYSTEM_CALL_STRUCT_timespec] = time_text_put_timespec,
    [SYSTEM_CALL_STRUCT_timeval] = time_text_put_timeval,
    [SYSTEM_CALL_STRUCT_timezone] = time_text_put_timezone,
    [SYSTEM_CALL_STRUCT_itimerval] = time_text_put_itimerval,
    [SYSTEM_CALL_STRUCT_itimerspec] = time_text_put_itimerspec,
    [SYSTEM_CALL_STRUCT_utimbuf] = time_text_put_utimbuf,
    [SYSTEM_CALL_STRUCT_tms] = time_text_put_tms,
    [SYSTEM_CALL_STRUCT_timex] = time_text_put_timex,
    [SYSTEM_CALL_STRUCT_wait_status] = put_status,
    [SYSTEM_CALL_STRUCT_rusage] = process_text_put_rusage,
    [SYSTEM_CALL_STRUCT_rlimit] = process_text_put_rlimit,
    [SYSTEM_CALL_STRUCT_rlimit64] = process_text_put_rlimit64,
    [SYSTEM_CALL_STRUCT_utsname] = process_text_put_utsname,
    [SYSTEM_CALL_STRUCT_sysinfo] = process_text_put_sysinfo,
    [SYSTEM_CALL_STRUCT_cap_header] = process_text_put_cap_header,
    [SYSTEM_CALL_STRUCT_cap_data] = process_text_put_cap_data,
    [SYSTEM_CALL_STRUCT_sched_param] = put_priority,
    [SYSTEM_CALL_STRUCT_sembuf] = put_operation,
    [SYSTEM_CALL_STRUCT_mmsghdr] = socket_text_put_mmessage,
    [SYSTEM_CALL_STRUCT_mq_attr] = put_queue,
    [SYSTEM_CALL_STRUCT_io_event] = put_io_event,
    [SYSTEM_CALL_STRUCT_futex_waitv] = put_waiter,
    [SYSTEM_CALL_STRUCT_cachestat_range] = put_cache_range,
    [SYSTEM_CALL_STRUCT_cachestat] = put_cache,
    [SYSTEM_CALL_STRUCT_io_uring_params] = put_ring,
    [SYSTEM_CALL_STRUCT_landlock_path] = put_landlock_path,
    [SYSTEM_CALL_STRUCT_fd] = put_fd,
    [SYSTEM_CALL_STRUCT_int] = put_int,
    [SYSTEM_CALL_STRUCT_timer] = put_int,
    [SYSTEM_CALL_STRUCT_unsigned] = put_unsigned,
    [SYSTEM_CALL_STRUCT_u32] = put_unsigned,
    [SYSTEM_CALL_STRUCT_uid] = put_id,
    [SYSTEM_CALL_STRUCT_offset] = put_offset,
    [SYSTEM_CALL_STRUCT_position] = put_offset,
    [SYSTEM_CALL_STRUCT_size] = put_size,
    [SYSTEM_CALL_STRUCT_u64] = put_size,
    [SYSTEM_CALL_STRUCT_address] = put_pointer,
    [SYSTEM_CALL_STRUCT_time] = put_time,
};

void struct_text_put(const struct call_text *text, enum system_call_struct which, uint64_t address)
{
    uint64_t bytes[STRUCT_BYTES_MAX / 8];

    if (which == SYSTEM_CALL_STRUCT_perf_event_attr)
        counter_text_put(text, address);
    else if (writers[which] != NULL && call_text_read(text, address, bytes, system_call_struct_bytes(which)))
        writers[which](text, bytes);
    else
        call_text_put_address(text, address);
}

/* Those that have grown: how many bytes they have at least. */
static void put_grown(const struct call_text *text, enum struct_layout layout, uint64_t address, uint64_t size_bytes)
{
    if (size_bytes < struct_layout_bytes(layout) || !struct_layout_put_sized(text, layout, address, size_bytes))
        call_text_put_address(text, address);
}

void struct_text_put_sized(const struct call_text *text, enum system_call_struct which, uint64_t address,
                           uint64_t size_bytes)
{
    if (which == SYSTEM_CALL_STRUCT_clone_args)
        process_text_put_clone_args(text, address, size_bytes);
    else if (which == SYSTEM_CALL_STRUCT_open_how)
        file_text_put_open_how(text, address, size_bytes);
    else if (which == SYSTEM_CALL_STRUCT_bpf_attr)
        bpf_text_put(text, address, size_bytes);
    else if (which == SYSTEM_CALL_STRUCT_mount_attr)
        put_grown(text, STRUCT_LAYOUT_mount_attribute, address, size_bytes);
    else if (which == SYSTEM_CALL_STRUCT_landlock_ruleset)
        put_grown(text, STRUCT_LAYOUT_landlock_rules, address, size_bytes);
    else if (size_bytes >= system_call_struct_bytes(which))
        struct_text_put(text, which, address);
    else
        call_text_put_address(text, address);
}

/* In arrays, ids go without brackets. */
static void put_plain_id(const struct call_text *text, const void *bytes)
{
    call_text_put_id(text, (uint32_t)signed_of(bytes));
}

static void put_plain_long(const struct call_text *text, const void *bytes)
{
    call_text_put_hex(text, long_of(bytes));
}

void struct_text_put_array(const struct call_text *text, enum system_call_struct which, uint64_t address,
                           uint64_t count)
{
    struct call_text_array array = {address, count, system_call_struct_bytes(which), writers[which]};

    if (which == SYSTEM_CALL_STRUCT_uid)
        array.put = put_plain_id;
    if (which == SYSTEM_CALL_STRUCT_u64)
        array.put = put_plain_long;
    if (array.put == NULL)
        call_text_put_address(text, address);
    else
        call_text_put_array(text, &array);
}
