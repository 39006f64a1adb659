/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "arch/system_call_layout.h"
#include "syscalls/constant_set.h"

#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#define SIGNAL_MASK 0xff

void process_text_put_status(const struct call_text *text, const void *bytes)
{
    int status;

    memcpy(&status, bytes, sizeof(status));
    if (WIFSTOPPED(status) && status >> 16 == 0) {
        text_put_string(text->out, "{WIFSTOPPED(s) && WSTOPSIG(s) == ");
        signal_text_put(text->out, WSTOPSIG(status));
    } else if (WIFSIGNALED(status) && (status & 0xffff0000) == 0) {
        text_put_string(text->out, "{WIFSIGNALED(s) && WTERMSIG(s) == ");
        signal_text_put(text->out, WTERMSIG(status));
        if (WCOREDUMP(status))
            text_put_string(text->out, " && WCOREDUMP(s)");
    } else if (WIFEXITED(status)) {
        text_format(text->out, "{WIFEXITED(s) && WEXITSTATUS(s) == %d", WEXITSTATUS(status));
    } else if (WIFCONTINUED(status)) {
        text_put_string(text->out, "{WIFCONTINUED(s)");
    } else {
        text_format(text->out, "%#x", (unsigned)status);
        return;
    }
    text_put_char(text->out, '}');
}

void process_text_put_rusage(const struct call_text *text, const void *bytes)
{
    struct rusage usage;

    memcpy(&usage, bytes, sizeof(usage));
    text_put_string(text->out, "{ru_utime=");
    time_text_put_timeval(text, &usage.ru_utime);
    text_put_string(text->out, ", ru_stime=");
    time_text_put_timeval(text, &usage.ru_stime);
    if (!text->options->is_verbose) {
        text_put_string(text->out, ", ...}");
        return;
    }
    text_format(text->out,
                ", ru_maxrss=%ld, ru_ixrss=%ld, ru_idrss=%ld, ru_isrss=%ld, ru_minflt=%ld, ru_majflt=%ld, "
                "ru_nswap=%ld, ru_inblock=%ld, ru_oublock=%ld, ru_msgsnd=%ld, ru_msgrcv=%ld, ru_nsignals=%ld, "
                "ru_nvcsw=%ld, ru_nivcsw=%ld}",
                usage.ru_maxrss, usage.ru_ixrss, usage.ru_idrss, usage.ru_isrss, usage.ru_minflt, usage.ru_majflt,
                usage.ru_nswap, usage.ru_inblock, usage.ru_oublock, usage.ru_msgsnd, usage.ru_msgrcv, usage.ru_nsignals,
                usage.ru_nvcsw, usage.ru_nivcsw);
}

static void put_limit(struct text_writer *out, uint64_t limit, const char *infinity)
{
    if (limit == UINT64_MAX)
        text_put_string(out, infinity);
    else if (limit > 1024 && limit % 1024 == 0)
        text_format(out, "%lu*1024", (unsigned long)(limit / 1024));
    else
        text_put_unsigned(out, limit);
}

static void put_limits(const struct call_text *text, const void *bytes, const char *infinity)
{
    uint64_t limits[2];

    memcpy(limits, bytes, sizeof(limits));
    text_put_string(text->out, "{rlim_cur=");
    put_limit(text->out, limits[0], infinity);
    text_put_string(text->out, ", rlim_max=");
    put_limit(text->out, limits[1], infinity);
    text_put_char(text->out, '}');
}

void process_text_put_rlimit(const struct call_text *text, const void *rlimit)
{
    put_limits(text, rlimit, "RLIM64_INFINITY");
}

void process_text_put_rlimit64(const struct call_text *text, const void *rlimit)
{
    put_limits(text, rlimit, "RLIM64_INFINITY");
}

void process_text_put_utsname(const struct call_text *text, const void *bytes)
{
    struct utsname name;

    memcpy(&name, bytes, sizeof(name));
    text_put_string(text->out, "{sysname=");
    call_text_put_array_text(text, name.sysname, sizeof(name.sysname));
    text_put_string(text->out, ", nodename=");
    call_text_put_array_text(text, name.nodename, sizeof(name.nodename));
    if (!text->options->is_verbose) {
        text_put_string(text->out, ", ...}");
        return;
    }
    text_put_string(text->out, ", release=");
    call_text_put_array_text(text, name.release, sizeof(name.release));
    text_put_string(text->out, ", version=");
    call_text_put_array_text(text, name.version, sizeof(name.version));
    text_put_string(text->out, ", machine=");
    call_text_put_array_text(text, name.machine, sizeof(name.machine));
    text_put_string(text->out, ", domainname=");
    call_text_put_array_text(text, name.domainname, sizeof(name.domainname));
    text_put_char(text->out, '}');
}

void process_text_put_sysinfo(const struct call_text *text, const void *bytes)
{
    struct sysinfo info;

    memcpy(&info, bytes, sizeof(info));
    text_format(text->out,
                "{uptime=%lu, loads=[%lu, %lu, %lu], totalram=%lu, freeram=%lu, sharedram=%lu, bufferram=%lu, "
                "totalswap=%lu, freeswap=%lu, procs=%u, totalhigh=%lu, freehigh=%lu, mem_unit=%u}",
                (unsigned long)info.uptime, info.loads[0], info.loads[1], info.loads[2], info.totalram, info.freeram,
                info.sharedram, info.bufferram, info.totalswap, info.freeswap, info.procs, info.totalhigh,
                info.freehigh, info.mem_unit);
}

void process_text_put_cap_header(const struct call_text *text, const void *bytes)
{
    struct __user_cap_header_struct header;

    memcpy(&header, bytes, sizeof(header));
    text_put_string(text->out, "{version=");
    if (header.version == _LINUX_CAPABILITY_VERSION_3)
        text_put_string(text->out, "_LINUX_CAPABILITY_VERSION_3");
    else if (header.version == _LINUX_CAPABILITY_VERSION_2)
        text_put_string(text->out, "_LINUX_CAPABILITY_VERSION_2");
    else if (header.version == _LINUX_CAPABILITY_VERSION_1)
        text_put_string(text->out, "_LINUX_CAPABILITY_VERSION_1");
    else
        text_format(text->out, "%#x /* _LINUX_CAPABILITY_VERSION_??? */", header.version);
    text_format(text->out, ", pid=%d}", header.pid);
}

void process_text_put_cap_data(const struct call_text *text, const void *bytes)
{
    struct __user_cap_data_struct data[2];
    const char *const names[] = {"effective", "permitted", "inheritable"};

    memcpy(data, bytes, sizeof(data));
    const uint32_t low[] = {data[0].effective, data[0].permitted, data[0].inheritable};
    const uint32_t high[] = {data[1].effective, data[1].permitted, data[1].inheritable};

    for (int i = 0; i < 3; i++) {
        text_format(text->out, "%s%s=", i == 0 ? "{" : ", ", names[i]);
        call_text_put_hex(text, (uint64_t)high[i] << 32 | low[i]);
    }
    text_put_char(text->out, '}');
}

/* CLONE_VM|SIGCHLD: the signal is in the same number. */
static void put_clone_flags(struct text_writer *out, uint64_t flags)
{
    uint64_t signal = flags & SIGNAL_MASK;
    bool is_first = true;
    uint64_t rest =
        constant_set_put_bits(out, SYSTEM_CALL_SET_clone_process, flags & ~(uint64_t)SIGNAL_MASK, &is_first);

    if (rest != 0) {
        text_format(out, "%s%#lx", is_first ? "" : "|", (unsigned long)rest);
        is_first = false;
    }
    if (signal == 0 && !is_first)
        return;
    text_put_string(out, is_first ? "" : "|");
    signal_text_put(out, (int64_t)signal);
}

/* The pid that the kernel has put there, when it has. */
static void put_parent_tid(const struct call_text *text, uint64_t address)
{
    int tid;

    if (text->is_over && !text->has_failed && call_text_read(text, address, &tid, sizeof(tid)))
        text_format(text->out, "[%d]", tid);
    else
        call_text_put_address(text, address);
}

void process_text_put_clone(const struct call_text *text)
{
    uint64_t flags = text->arguments[0];

    text_put_string(text->out, "child_stack=");
    call_text_put_address(text, text->arguments[1]);
    text_put_string(text->out, ", flags=");
    put_clone_flags(text->out, flags);
}

void process_text_put_clone_end(const struct call_text *text)
{
    uint64_t flags = text->arguments[0];

    if ((flags & (CLONE_PARENT_SETTID | CLONE_PIDFD)) != 0) {
        text_put_string(text->out, ", parent_tid=");
        put_parent_tid(text, text->arguments[2]);
    }
    if ((flags & CLONE_SETTLS) != 0) {
        text_put_string(text->out, ", tls=");
        call_text_put_address(text, text->arguments[LAYOUT_CLONE_TLS_AT]);
    }
    if ((flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)) != 0) {
        text_put_string(text->out, ", child_tidptr=");
        call_text_put_address(text, text->arguments[LAYOUT_CLONE_CHILD_TID_AT]);
    }
}

struct clone_arguments {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

static void put_clone_part(const struct call_text *text, const char *name, uint64_t value)
{
    text_format(text->out, ", %s=", name);
    call_text_put_address(text, value);
}

static void put_clone_result(const struct call_text *text, const struct clone_arguments *clone)
{
    bool is_first = true;
    int value;

    if (!text->is_over || text->has_failed)
        return;
    if ((clone->flags & CLONE_PIDFD) != 0 && call_text_read(text, clone->pidfd, &value, sizeof(value))) {
        text_format(text->out, " => {pidfd=[%d]", value);
        is_first = false;
    }
    if ((clone->flags & CLONE_PARENT_SETTID) != 0 && call_text_read(text, clone->parent_tid, &value, sizeof(value))) {
        text_format(text->out, "%sparent_tid=[%d]", is_first ? " => {" : ", ", value);
        is_first = false;
    }
    if (!is_first)
        text_put_char(text->out, '}');
}

void process_text_put_clone_args(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    struct clone_arguments clone = {0};
    size_t known = size_bytes < sizeof(clone) ? (size_t)size_bytes : sizeof(clone);

    if (known < 64 || !call_text_read(text, address, &clone, known)) {
        call_text_put_address(text, address);
        return;
    }
    text_put_string(text->out, "{flags=");
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_clone_process, clone.flags);
    if ((clone.flags & CLONE_PIDFD) != 0)
        put_clone_part(text, "pidfd", clone.pidfd);
    if ((clone.flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)) != 0)
        put_clone_part(text, "child_tid", clone.child_tid);
    if ((clone.flags & CLONE_PARENT_SETTID) != 0)
        put_clone_part(text, "parent_tid", clone.parent_tid);
    text_put_string(text->out, ", exit_signal=");
    signal_text_put(text->out, (int64_t)clone.exit_signal);
    put_clone_part(text, "stack", clone.stack);
    text_put_string(text->out, ", stack_size=");
    call_text_put_hex(text, clone.stack_size);
    if ((clone.flags & CLONE_SETTLS) != 0)
        put_clone_part(text, "tls", clone.tls);
    text_put_char(text->out, '}');
}

void process_text_put_clone3_end(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    struct clone_arguments clone = {0};
    size_t known = size_bytes < sizeof(clone) ? (size_t)size_bytes : sizeof(clone);

    if (known >= 64 && call_text_read(text, address, &clone, known))
        put_clone_result(text, &clone);
}

struct passed_scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
    uint32_t util_min, util_max;
};

void process_text_put_sched_attr(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    struct passed_scheduling attributes = {0};

    if (size_bytes < 48 || !call_text_read(text, address, &attributes, 48)) {
        call_text_put_address(text, address);
        return;
    }
    text_format(text->out, "{size=%u, sched_policy=", attributes.size);
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_scheduler, attributes.policy);
    text_put_string(text->out, ", sched_flags=");
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_scheduler_flags, attributes.flags);
    text_format(text->out,
                ", sched_nice=%d, sched_priority=%u, sched_runtime=%lu, sched_deadline=%lu, sched_period=%lu",
                attributes.nice, attributes.priority, (unsigned long)attributes.runtime,
                (unsigned long)attributes.deadline, (unsigned long)attributes.period);
    if (attributes.size >= sizeof(attributes) && size_bytes >= sizeof(attributes) &&
        call_text_read(text, address, &attributes, sizeof(attributes)))
        text_format(text->out, ", sched_util_min=%u, sched_util_max=%u", attributes.util_min, attributes.util_max);
    text_put_char(text->out, '}');
}
