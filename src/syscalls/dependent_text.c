/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "base/alignment.h"
#include "base/memory_map.h"
#include "syscalls/constant_set.h"
#include "syscalls/struct_layout.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>

#define HUGE_SHIFT      26
#define HUGE_MASK       0x3f
#define TYPE_MASK       0x0f
#define NAME_BYTES      16
#define ARCH_GET_FS     0x1003
#define ARCH_GET_GS     0x1004
#define FUTEX_PARTS     (FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)
#define FUTEX_COMMANDS  127
#define PR_SET_VMA_TEXT 0x53564d41
/* Operations of seccomp. */
#define SECCOMP_FILTER 1
#define SECCOMP_ACTION 2
#define SECCOMP_SIZES  3

/* What the arguments of a futex operation are: how many in all, and what the fourth is. */
struct futex_shape {
    unsigned count;
    bool has_timeout;
};

static struct futex_shape futex_shape_of(uint64_t operation)
{
    static const struct futex_shape shapes[] = {
        [FUTEX_WAIT] = {4, true},
        [FUTEX_WAKE] = {3, false},
        [FUTEX_FD] = {3, false},
        [FUTEX_REQUEUE] = {5, false},
        [FUTEX_CMP_REQUEUE] = {6, false},
        [FUTEX_WAKE_OP] = {6, false},
        [FUTEX_LOCK_PI] = {4, true},
        [FUTEX_UNLOCK_PI] = {2, false},
        [FUTEX_TRYLOCK_PI] = {2, false},
        [FUTEX_WAIT_BITSET] = {6, true},
        [FUTEX_WAKE_BITSET] = {6, false},
        [FUTEX_WAIT_REQUEUE_PI] = {5, true},
        [FUTEX_CMP_REQUEUE_PI] = {6, false},
        [13] = {4, true},
    };
    uint64_t command = operation & FUTEX_COMMANDS;

    return command < sizeof(shapes) / sizeof(shapes[0]) ? shapes[command] : (struct futex_shape){6, false};
}

/* Arguments that one operation of prctl shows, without the operation itself. */
static unsigned prctl_count(uint64_t operation)
{
    if (prctl_text_count(operation) >= 0)
        return (unsigned)prctl_text_count(operation);
    switch ((uint32_t)operation) {
    case PR_GET_DUMPABLE:
    case PR_GET_KEEPCAPS:
    case PR_GET_SECCOMP:
    case PR_GET_SECUREBITS:
    case PR_GET_TIMERSLACK:
    case PR_TASK_PERF_EVENTS_DISABLE:
    case PR_TASK_PERF_EVENTS_ENABLE:
        return 0;
    case PR_SET_NAME:
    case PR_GET_NAME:
    case PR_SET_PDEATHSIG:
    case PR_GET_PDEATHSIG:
    case PR_SET_DUMPABLE:
    case PR_SET_KEEPCAPS:
    case PR_CAPBSET_READ:
    case PR_CAPBSET_DROP:
    case PR_SET_SECUREBITS:
    case PR_SET_TIMERSLACK:
    case PR_SET_CHILD_SUBREAPER:
    case PR_GET_CHILD_SUBREAPER:
    case PR_GET_TID_ADDRESS:
    case PR_SET_PTRACER:
        return 1;
    case PR_SET_SECCOMP:
        return 2;
    default:
        return 4;
    }
}

static bool creates(uint64_t flags)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

static bool fcntl_is_alone(uint64_t command)
{
    return command == F_GETFD || command == F_GETFL || command == F_GETOWN || command == F_GETSIG ||
           command == F_GETLEASE || command == F_GETPIPE_SZ || command == F_GET_SEALS;
}

bool dependent_text_is_absent(const struct call_text *text, enum system_call_kind kind, unsigned which)
{
    const uint64_t *arguments = text->arguments;

    switch (kind) {
    case SYSTEM_CALL_OPEN_MODE:
    case SYSTEM_CALL_MQ_ATTRIBUTE:
        return !creates(arguments[kind == SYSTEM_CALL_MQ_ATTRIBUTE ? 1 : which - 1]);
    case SYSTEM_CALL_MREMAP_ADDRESS:
        return (arguments[3] & (MREMAP_FIXED | MREMAP_MAYMOVE)) != (MREMAP_FIXED | MREMAP_MAYMOVE);
    case SYSTEM_CALL_NODE_DEVICE:
        return !S_ISCHR(arguments[which - 1]) && !S_ISBLK(arguments[which - 1]);
    case SYSTEM_CALL_FUTEX_VALUE:
    case SYSTEM_CALL_FUTEX_TIMEOUT:
    case SYSTEM_CALL_FUTEX_ADDRESS:
    case SYSTEM_CALL_FUTEX_LAST:
        return which >= futex_shape_of(arguments[1]).count;
    case SYSTEM_CALL_FCNTL_ARGUMENT:
        return fcntl_is_alone((uint32_t)arguments[1]);
    case SYSTEM_CALL_IOCTL_ARGUMENT:
        return ioctl_text_is_alone((uint32_t)arguments[1]);
    case SYSTEM_CALL_PRCTL_ARGUMENT:
        return which > prctl_count(arguments[0]);
    case SYSTEM_CALL_BARRIER_CPU:
        return (uint32_t)arguments[1] == 0;
    case SYSTEM_CALL_PTRACE_PID:
        return arguments[0] == PTRACE_TRACEME;
    default:
        return false;
    }
}

bool dependent_text_is_skipped(const struct call_text *text, enum system_call_kind kind)
{
    uint64_t command = text->arguments[1] & (uint32_t)~FUTEX_PARTS;

    /* preadv2 has one that programs do not know of. */
    if (kind == SYSTEM_CALL_POSITION_HIGH)
        return true;
    if (kind == SYSTEM_CALL_FUTEX_TIMEOUT)
        return command == FUTEX_WAKE_BITSET;
    return kind == SYSTEM_CALL_FUTEX_ADDRESS && (command == FUTEX_WAIT_BITSET || command == FUTEX_WAKE_BITSET);
}

bool dependent_text_is_answer(const struct call_text *text, enum system_call_kind kind)
{
    switch (kind) {
    case SYSTEM_CALL_IOCTL_ARGUMENT:
        return ioctl_text_is_answer((uint32_t)text->arguments[1]);
    case SYSTEM_CALL_FCNTL_ARGUMENT:
        return text->arguments[1] == F_GETLK || text->arguments[1] == F_OFD_GETLK || text->arguments[1] == F_GETOWN_EX;
    case SYSTEM_CALL_PRCTL_ARGUMENT:
        return prctl_text_is_answer(text->arguments[0]) || text->arguments[0] == PR_GET_NAME ||
               text->arguments[0] == PR_GET_PDEATHSIG || text->arguments[0] == PR_GET_CHILD_SUBREAPER ||
               text->arguments[0] == PR_GET_TID_ADDRESS;
    case SYSTEM_CALL_ARCH_PRCTL_ARGUMENT:
        return text->arguments[0] == ARCH_GET_FS || text->arguments[0] == ARCH_GET_GS;
    case SYSTEM_CALL_FILE_HANDLE:
        return true;
    case SYSTEM_CALL_SECCOMP_ARGUMENT:
        return (uint32_t)text->arguments[0] == SECCOMP_SIZES;
    default:
        return false;
    }
}

static void put_map_flags(const struct call_text *text, uint64_t flags)
{
    uint64_t huge = flags >> HUGE_SHIFT & HUGE_MASK, rest = (uint32_t)flags & ~TYPE_MASK;
    bool is_first = false;

    constant_set_put_choice(text->out, SYSTEM_CALL_SET_map_type, flags & TYPE_MASK);
    if ((flags & MAP_HUGETLB) != 0)
        rest &= ~((uint64_t)HUGE_MASK << HUGE_SHIFT);
    rest = constant_set_put_bits(text->out, SYSTEM_CALL_SET_map, rest, &is_first);
    if (rest != 0)
        text_format(text->out, "|%#lx", (unsigned long)rest);
    if ((flags & MAP_HUGETLB) != 0 && huge != 0)
        text_format(text->out, "|%lu<<MAP_HUGE_SHIFT", (unsigned long)huge);
}

static void put_ipc_flags(const struct call_text *text, unsigned set, uint64_t flags)
{
    bool is_first = true;
    uint64_t rest = constant_set_put_bits(text->out, set, (uint32_t)flags & ~0777U, &is_first);

    if (rest != 0) {
        text_format(text->out, "%s%#lx", is_first ? "" : "|", (unsigned long)rest);
        is_first = false;
    }
    text_put_string(text->out, is_first ? "" : "|");
    call_text_put_octal(text, flags & 0777);
}

static void put_futex_operation(const struct call_text *text, uint64_t operation)
{
    const char *name = constant_set_name(SYSTEM_CALL_SET_futex, operation & (uint32_t)~FUTEX_PARTS);

    if (name == NULL) {
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_futex, operation);
        return;
    }
    text_format(text->out, "%s%s%s", name, (operation & FUTEX_PRIVATE_FLAG) != 0 ? "_PRIVATE" : "",
                (operation & FUTEX_CLOCK_REALTIME) != 0 ? "|FUTEX_CLOCK_REALTIME" : "");
}

static void put_wake_operation(const struct call_text *text, uint32_t operation)
{
    static const char *const operations[] = {"FUTEX_OP_SET", "FUTEX_OP_ADD", "FUTEX_OP_OR", "FUTEX_OP_ANDN",
                                             "FUTEX_OP_XOR"};
    static const char *const compares[] = {"FUTEX_OP_CMP_EQ", "FUTEX_OP_CMP_NE", "FUTEX_OP_CMP_LT",
                                           "FUTEX_OP_CMP_LE", "FUTEX_OP_CMP_GT", "FUTEX_OP_CMP_GE"};
    unsigned kind = operation >> 28 & 7, compare = operation >> 24 & 0xf;

    if ((operation >> 28 & FUTEX_OP_OPARG_SHIFT) != 0)
        text_put_string(text->out, "FUTEX_OP_OPARG_SHIFT<<28|");
    if (kind < 5)
        text_format(text->out, "%s<<28|", operations[kind]);
    else
        text_format(text->out, "%#x<<28 /* FUTEX_OP_??? */|", kind);
    call_text_put_hex(text, operation >> 12 & 0xfff);
    if (compare < 6)
        text_format(text->out, "<<12|%s<<24|", compares[compare]);
    else
        text_format(text->out, "<<12|%#x<<24 /* FUTEX_OP_CMP_??? */|", compare);
    call_text_put_hex(text, operation & 0xfff);
}

static void put_futex_last(const struct call_text *text)
{
    uint64_t command = text->arguments[1] & (uint32_t)~FUTEX_PARTS;
    uint32_t value = (uint32_t)text->arguments[5];

    if (command == FUTEX_WAKE_OP)
        put_wake_operation(text, value);
    else if ((command == FUTEX_WAIT_BITSET || command == FUTEX_WAKE_BITSET) && value == UINT32_MAX)
        text_put_string(text->out, "FUTEX_BITSET_MATCH_ANY");
    else if (command == FUTEX_CMP_REQUEUE || command == FUTEX_CMP_REQUEUE_PI)
        text_put_unsigned(text->out, value);
    else
        call_text_put_hex(text, value);
}

static void put_futex_timeout(const struct call_text *text)
{
    if (futex_shape_of(text->arguments[1]).has_timeout)
        struct_text_put(text, SYSTEM_CALL_STRUCT_timespec, text->arguments[3]);
    else if ((text->arguments[1] & FUTEX_COMMANDS) > 13)
        call_text_put_hex(text, text->arguments[3]);
    else
        text_put_unsigned(text->out, (uint32_t)text->arguments[3]);
}

static void put_owner(const struct call_text *text, uint64_t address)
{
    static const char *const types[] = {"F_OWNER_TID", "F_OWNER_PID", "F_OWNER_PGRP"};
    int owner[2];

    if (!call_text_read(text, address, owner, sizeof(owner)))
        call_text_put_address(text, address);
    else if (owner[0] >= 0 && owner[0] < 3)
        text_format(text->out, "{type=%s, pid=%d}", types[owner[0]], owner[1]);
    else
        text_format(text->out, "{type=%#x, pid=%d}", (unsigned)owner[0], owner[1]);
}

static void put_fcntl_argument(const struct call_text *text, uint64_t argument)
{
    switch ((uint32_t)text->arguments[1]) {
    case F_SETFD:
        constant_set_put_flags(text->out, SYSTEM_CALL_SET_fd_flags, argument);
        break;
    case F_SETFL:
        file_text_put_open_flags(text->out, (uint32_t)argument);
        break;
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
    case F_SETOWN:
    case F_SETPIPE_SZ:
        text_put_signed(text->out, (int)argument);
        break;
    case F_GETLK:
    case F_OFD_GETLK:
        if (text->has_failed) {
            call_text_put_address(text, argument);
            break;
        }
        file_text_put_flock(text, argument);
        break;
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        file_text_put_flock(text, argument);
        break;
    case F_SETOWN_EX:
    case F_GETOWN_EX:
        put_owner(text, argument);
        break;
    case F_SETSIG:
        signal_text_put(text->out, (int)argument);
        break;
    case F_SETLEASE:
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_lock_type, argument);
        break;
    case F_NOTIFY:
        constant_set_put_flags(text->out, SYSTEM_CALL_SET_notify, argument);
        break;
    case F_ADD_SEALS:
        constant_set_put_flags(text->out, SYSTEM_CALL_SET_seals, argument);
        break;
    default:
        call_text_put_hex(text, argument);
        break;
    }
}

/* A thread's name ends after 15 characters, with or without a NUL. */
static void put_name(const struct call_text *text, uint64_t address)
{
    char name[NAME_BYTES];
    size_t length = 0;

    while (length < NAME_BYTES - 1 && call_text_read(text, address + length, &name[length], 1) && name[length] != '\0')
        length++;
    if (length == 0 && !call_text_read(text, address, name, 1))
        call_text_put_address(text, address);
    else
        call_text_put_quoted(text, name, length, length == NAME_BYTES - 1);
}

static void put_prctl_answer(const struct call_text *text, uint64_t address)
{
    uint64_t value = 0;
    bool is_long = text->arguments[0] == PR_GET_TID_ADDRESS;

    if (text->has_failed || !call_text_read(text, address, &value, is_long ? 8 : 4)) {
        call_text_put_address(text, address);
    } else if (is_long) {
        text_format(text->out, "[%#lx]", (unsigned long)value);
    } else if (text->arguments[0] == PR_GET_PDEATHSIG) {
        text_put_char(text->out, '[');
        signal_text_put(text->out, (int)value);
        text_put_char(text->out, ']');
    } else {
        text_format(text->out, "[%u]", (unsigned)value);
    }
}

static void put_prctl_argument(const struct call_text *text, unsigned which)
{
    uint64_t argument = text->arguments[which];

    if (prctl_text_put(text, which))
        return;
    switch ((uint32_t)text->arguments[0]) {
    case PR_SET_NAME:
        put_name(text, argument);
        break;
    case PR_GET_NAME:
        if (text->has_failed)
            call_text_put_address(text, argument);
        else
            put_name(text, argument);
        break;
    case PR_GET_PDEATHSIG:
    case PR_GET_CHILD_SUBREAPER:
    case PR_GET_TID_ADDRESS:
        put_prctl_answer(text, argument);
        break;
    case PR_CAPBSET_READ:
    case PR_CAPBSET_DROP:
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_capability, argument);
        break;
    case PR_SET_KEEPCAPS:
    case PR_SET_TIMERSLACK:
    case PR_SET_CHILD_SUBREAPER:
        text_put_unsigned(text->out, argument);
        break;
    case PR_SET_VMA_TEXT:
        if (which == 1)
            constant_set_put_choice(text->out, SYSTEM_CALL_SET_vma_name, argument);
        else if (which == 2)
            call_text_put_address(text, argument);
        else if (which == 3)
            text_put_unsigned(text->out, argument);
        else
            call_text_put_string(text, argument);
        break;
    default:
        call_text_put_hex(text, argument);
        break;
    }
}

static void put_arch_prctl_argument(const struct call_text *text, uint64_t argument)
{
    uint64_t value;

    if (!dependent_text_is_answer(text, SYSTEM_CALL_ARCH_PRCTL_ARGUMENT))
        call_text_put_hex(text, argument);
    else if (!text->has_failed && call_text_read(text, argument, &value, sizeof(value)))
        text_format(text->out, "[%#lx]", (unsigned long)value);
    else
        call_text_put_hex(text, argument);
}

static void put_times(const struct call_text *text, uint64_t address)
{
    const struct call_text_array array = {address, 2, 16, time_text_put_utime};

    call_text_put_array(text, &array);
}

static void put_sigmask(const struct call_text *text, uint64_t address)
{
    uint64_t mask[2];

    if (!call_text_read(text, address, mask, sizeof(mask))) {
        call_text_put_address(text, address);
        return;
    }
    text_put_string(text->out, "{sigmask=");
    struct_text_put(text, SYSTEM_CALL_STRUCT_sigset, mask[0]);
    text_format(text->out, ", sigsetsize=%lu}", (unsigned long)mask[1]);
}

static void put_file_handle(const struct call_text *text, uint64_t address)
{
    uint32_t head[2];
    char bytes[128];

    if (!call_text_read(text, address, head, sizeof(head)) || head[0] > sizeof(bytes)) {
        call_text_put_address(text, address);
        return;
    }
    text_format(text->out, "{handle_bytes=%u", head[0]);
    if (!text->has_failed && call_text_read(text, address + sizeof(head), bytes, head[0])) {
        text_format(text->out, ", handle_type=%#x, f_handle=0x", head[1]);
        for (uint32_t i = 0; i < head[0]; i++)
            text_put_hex(text->out, (unsigned char)bytes[i], 2);
    }
    text_put_char(text->out, '}');
}

static void put_pages(const struct call_text *text, unsigned which)
{
    uint64_t pages = align_up(text->arguments[1], memory_page_size()) / memory_page_size(),
             limit = text->options->string_bytes;
    unsigned char page;

    if (text->has_failed || !call_text_read(text, text->arguments[which], &page, 1)) {
        call_text_put_address(text, text->arguments[which]);
        return;
    }
    text_put_char(text->out, '[');
    for (uint64_t i = 0; i < pages; i++) {
        text_put_string(text->out, i == 0 ? "" : ", ");
        if (i == limit || !call_text_read(text, text->arguments[which] + i, &page, 1)) {
            text_put_string(text->out, "...");
            break;
        }
        text_put_unsigned(text->out, page & 1);
    }
    text_put_char(text->out, ']');
}

static void put_ptrace_data(const struct call_text *text, uint64_t data)
{
    uint64_t request = text->arguments[0];

    if (request == PTRACE_CONT || request == PTRACE_SYSCALL || request == PTRACE_DETACH || request == PTRACE_SINGLESTEP)
        signal_text_put(text->out, (int64_t)data);
    else
        call_text_put_hex(text, data);
}

static void put_seccomp_flags(const struct call_text *text, uint64_t flags)
{
    if ((uint32_t)text->arguments[0] == SECCOMP_FILTER)
        constant_set_put_flags(text->out, SYSTEM_CALL_SET_seccomp_filter, flags);
    else
        call_text_put_hex(text, (uint32_t)flags);
}

static void put_seccomp_argument(const struct call_text *text, uint64_t address)
{
    uint32_t action, operation = (uint32_t)text->arguments[0];

    if (operation == SECCOMP_FILTER) {
        filter_text_put(text, address, true);
    } else if (operation == SECCOMP_ACTION && call_text_read(text, address, &action, sizeof(action))) {
        text_put_char(text->out, '[');
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_seccomp_action, action);
        text_put_char(text->out, ']');
    } else if (operation == SECCOMP_SIZES && text->is_over && !text->has_failed) {
        struct_layout_put_at(text, STRUCT_LAYOUT_seccomp_sizes, address);
    } else {
        call_text_put_address(text, address);
    }
}

static void put_io_priority(const struct call_text *text, uint32_t value)
{
    text_put_string(text->out, "IOPRIO_PRIO_VALUE(");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_io_class, value >> 13);
    text_format(text->out, ", %u)", value & 0x1fff);
}

/* Numbers. */
static bool put_number(const struct call_text *text, const struct system_call_argument *argument, unsigned which)
{
    uint64_t value = text->arguments[which];

    switch (argument->kind) {
    case SYSTEM_CALL_OPEN_MODE:
        call_text_put_octal(text, value & 0177777);
        return true;
    case SYSTEM_CALL_MAP_FLAGS:
        put_map_flags(text, value);
        return true;
    case SYSTEM_CALL_MREMAP_ADDRESS:
        call_text_put_address(text, value);
        return true;
    case SYSTEM_CALL_IPC_FLAGS:
        put_ipc_flags(text, argument->detail, value);
        return true;
    case SYSTEM_CALL_IPC_COMMAND:
        constant_set_put_choice(text->out, argument->detail, value);
        return true;
    case SYSTEM_CALL_SOCKET_TYPE:
        socket_text_put_type(text->out, (uint32_t)value);
        return true;
    case SYSTEM_CALL_SOCKET_PROTOCOL:
        socket_text_put_protocol(text, text->arguments[0], value);
        return true;
    case SYSTEM_CALL_SOCKET_OPTION:
        socket_text_put_option(text, text->arguments[1], value);
        return true;
    case SYSTEM_CALL_NODE_MODE:
        file_text_put_mode(text, (uint32_t)value & 0177777);
        return true;
    case SYSTEM_CALL_NODE_DEVICE:
        call_text_put_device(text, (uint32_t)value);
        return true;
    case SYSTEM_CALL_FUTEX_OPERATION:
        put_futex_operation(text, (uint32_t)value);
        return true;
    case SYSTEM_CALL_FUTEX_VALUE:
        text_put_unsigned(text->out, (uint32_t)value);
        return true;
    case SYSTEM_CALL_FUTEX_ADDRESS:
        call_text_put_address(text, value);
        return true;
    case SYSTEM_CALL_FUTEX_LAST:
        put_futex_last(text);
        return true;
    case SYSTEM_CALL_IOCTL_COMMAND:
        ioctl_text_put_command(text, (uint32_t)value);
        return true;
    case SYSTEM_CALL_BARRIER_CPU:
    case SYSTEM_CALL_PTRACE_PID:
        text_put_signed(text->out, (int32_t)value);
        return true;
    case SYSTEM_CALL_PTRACE_ADDRESS:
        call_text_put_address(text, value);
        return true;
    case SYSTEM_CALL_PTRACE_DATA:
        put_ptrace_data(text, value);
        return true;
    case SYSTEM_CALL_IO_PRIORITY:
        put_io_priority(text, (uint32_t)value);
        return true;
    case SYSTEM_CALL_SECCOMP_FLAGS:
        put_seccomp_flags(text, value);
        return true;
    case SYSTEM_CALL_CLONE_FLAGS:
        process_text_put_clone(text);
        return true;
    default:
        return false;
    }
}

bool dependent_text_put(const struct call_text *text, const struct system_call_argument *argument, unsigned which)
{
    uint64_t value = text->arguments[which];

    if (put_number(text, argument, which))
        return true;
    switch (argument->kind) {
    case SYSTEM_CALL_FUTEX_TIMEOUT:
        put_futex_timeout(text);
        return true;
    case SYSTEM_CALL_IOCTL_ARGUMENT:
        ioctl_text_put_argument(text, (uint32_t)text->arguments[1], value);
        return true;
    case SYSTEM_CALL_FCNTL_ARGUMENT:
        put_fcntl_argument(text, value);
        return true;
    case SYSTEM_CALL_PRCTL_ARGUMENT:
        put_prctl_argument(text, which);
        return true;
    case SYSTEM_CALL_ARCH_PRCTL_ARGUMENT:
        put_arch_prctl_argument(text, value);
        return true;
    case SYSTEM_CALL_UTIME_PAIR:
        put_times(text, value);
        return true;
    case SYSTEM_CALL_SIGMASK:
        put_sigmask(text, value);
        return true;
    case SYSTEM_CALL_FILE_HANDLE:
        put_file_handle(text, value);
        return true;
    case SYSTEM_CALL_MINCORE_PAGES:
        put_pages(text, which);
        return true;
    case SYSTEM_CALL_EPOLL_EVENT:
        if (text->arguments[1] == EPOLL_CTL_DEL)
            call_text_put_address(text, value);
        else
            struct_text_put(text, SYSTEM_CALL_STRUCT_epoll_event, value);
        return true;
    case SYSTEM_CALL_MQ_ATTRIBUTE:
        struct_text_put(text, SYSTEM_CALL_STRUCT_mq_attr, value);
        return true;
    case SYSTEM_CALL_MOUNT_DATA:
        call_text_put_string(text, value);
        return true;
    case SYSTEM_CALL_SECCOMP_ARGUMENT:
        put_seccomp_argument(text, value);
        return true;
    default:
        return false;
    }
}
