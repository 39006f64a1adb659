/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The programs that see system calls in the kernel: where one begins and ends, where signals are delivered, and where
 * threads begin, execute and end. What a call's arguments point at is read when it begins, and what it answers when it
 * ends. Memory that is not there yet when a call begins, since nobody has looked at it, is looked at again when it
 * ends: the kernel has needed it meanwhile.
 *
 * What is read is told as values, a pointer and what was there. The kernel runs none of these twice at a time on a CPU,
 * so each has its room.
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "syscalls/system_call_program_layout.h"

typedef __u64 u64;
typedef __u32 u32;
typedef __u16 u16;
typedef __u8 u8;
typedef __s64 s64;

/* Of ring/detail_value.h and process/system_call_table.h, whose headers are for another machine. */
#define TYPE_POINTER      10
#define TYPE_STRING       11
#define TYPE_BUFFER       12
#define IS_CLIPPED        1
#define IS_UNREADABLE     2
#define LENGTH_ARGUMENT   0x10
#define LENGTH_AT_MOST    0x20
#define LENGTH_POINTED_AT 0x30
#define LENGTH_RESULT     0x40
#define LENGTH_FIXED      0x50
#define PAGE_BYTES        4096 /* the smallest that there is: what is in one, is in a page of any system */
#define IOVEC_BYTES       16
#define NO_LIMIT          (~0ULL)
#define RING_BYTES        (32 << 20)
#define WAKE_BYTES        (RING_BYTES / 4)
#define WORD_OF_SP        6
#define ERRORS            4095
#define SIGNAL_KILL       9

const volatile u32 follows;

struct open_system_call {
    u64 number;
    u64 words[CALL_PROGRAM_WORDS];
    u32 is_under_way;
    u32 missed; /* a bit for each argument whose memory was not there */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, CALL_PROGRAM_THREADS_MAX);
    __type(key, u32);
    __type(value, struct open_system_call);
} threads SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, CALL_PROGRAM_NUMBERS);
    __type(key, u32);
    __type(value, struct call_program_plan);
} plans SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, RING_BYTES);
} ring SEC(".maps");

/* Records, or threads, that there was no room for. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} lost SEC(".maps");

/* Two values: where it was, and what. */
struct memory_piece {
    u8 pointer_type;
    u8 pointer_flags;
    u16 pointer_bytes;
    u64 address;
    u8 type;
    u8 flags;
    u16 bytes;
} __attribute__((packed));

struct written_call {
    struct call_program_record record;
    char values[CALL_PROGRAM_VALUES_BYTES + sizeof(struct memory_piece) + CALL_PROGRAM_PIECE_BYTES];
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 5);
    __type(key, u32);
    __type(value, struct written_call);
} scratch SEC(".maps");

#include "arch/kernel_registers.inc"

struct inode {
    unsigned long i_ino;
    unsigned short i_mode;
} __attribute__((preserve_access_index));

struct file {
    struct inode *f_inode;
} __attribute__((preserve_access_index));

struct fdtable {
    unsigned int max_fds;
    struct file **fd;
} __attribute__((preserve_access_index));

struct files_struct {
    struct fdtable *fdt;
} __attribute__((preserve_access_index));

struct dentry {
    struct inode *d_inode;
} __attribute__((preserve_access_index));

struct path {
    struct dentry *dentry;
} __attribute__((preserve_access_index));

struct fs_struct {
    struct path pwd;
} __attribute__((preserve_access_index));

struct task_struct {
    int pid;
    int tgid;
    int exit_code;
    struct files_struct *files;
    struct fs_struct *fs;
} __attribute__((preserve_access_index));

/* ---- records ----------------------------------------------------------------------------------------------------- */

static __always_inline struct written_call *begin(u32 kind, u64 number)
{
    struct written_call *written = bpf_map_lookup_elem(&scratch, &kind);
    u64 who = bpf_get_current_pid_tgid();

    if (!written)
        return 0;
    written->record.values_bytes = 0;
    written->record.kind = kind;
    written->record.flags = 0;
    written->record.pid = who >> 32;
    written->record.tid = (u32)who;
    written->record.time_ns = bpf_ktime_get_ns();
    written->record.number = number;
    return written;
}

static __always_inline void count_lost(void)
{
    u32 zero = 0;
    u64 *count = bpf_map_lookup_elem(&lost, &zero);

    if (count)
        (*count)++;
}

/* Who reads looks by itself every few milliseconds, and is called only when there is much. */
static __always_inline void end(struct written_call *written)
{
    u64 size = written->record.values_bytes;
    u64 flags = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > WAKE_BYTES ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;

    barrier_var(size);
    if (size > sizeof(written->values))
        return;
    if (bpf_ringbuf_output(&ring, written, sizeof(written->record) + size, flags) != 0)
        count_lost();
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* How far what is read may go without crossing into a page that is perhaps not there. */
static __always_inline u32 to_end_of_page(u64 address, u32 size)
{
    u32 left = PAGE_BYTES - (address & (PAGE_BYTES - 1));

    return size < left ? size : left;
}

/* The compiler is kept from knowing what the kernel's verifier has to see. */
static __always_inline u64 bounded(u64 size, u64 most)
{
    if (size > most)
        size = most;
    barrier_var(size);
    return size > CALL_PROGRAM_PIECE_BYTES ? CALL_PROGRAM_PIECE_BYTES : size;
}

/* Where the next piece goes. NULL: there is no room. */
static __always_inline struct memory_piece *place(struct written_call *written, u64 address)
{
    u32 used = written->record.values_bytes;
    struct memory_piece *piece;

    if (used >= CALL_PROGRAM_VALUES_BYTES)
        return 0;
    piece = (struct memory_piece *)(written->values + used);
    piece->pointer_type = TYPE_POINTER;
    piece->pointer_flags = 0;
    piece->pointer_bytes = sizeof(u64);
    piece->address = address;
    piece->flags = 0;
    return piece;
}

static __always_inline void put(struct written_call *written, struct memory_piece *piece, u32 bytes)
{
    piece->bytes = bytes;
    written->record.values_bytes += sizeof(*piece) + bytes;
}

/* So many bytes are there, of which `most` are told. False: they are not. */
__noinline int put_bytes(struct written_call *written, u64 address, u64 size, u32 most)
{
    struct memory_piece *piece = written ? place(written, address) : 0;
    u64 bytes = bounded(size, most);

    if (!piece)
        return 0;
    piece->type = TYPE_BUFFER;
    if (bpf_probe_read_user(piece + 1, bytes, (void *)address) != 0) {
        bytes = bounded(to_end_of_page(address, bytes), most);
        if (bpf_probe_read_user(piece + 1, bytes, (void *)address) != 0)
            bytes = 0;
        written->record.flags |= CALL_RECORD_MISSES;
    }
    if (bytes == 0 && size != 0)
        piece->flags = IS_UNREADABLE;
    else if (bytes < size)
        piece->flags = IS_CLIPPED;
    put(written, piece, bytes);
    return bytes != 0;
}

__noinline int put_string(struct written_call *written, u64 address, u32 most)
{
    struct memory_piece *piece = written ? place(written, address) : 0;
    long length;

    if (!piece)
        return 0;
    piece->type = TYPE_STRING;
    length = bpf_probe_read_user_str(piece + 1, bounded(most, CALL_PROGRAM_PIECE_BYTES), (void *)address);
    if (length <= 0) {
        written->record.flags |= CALL_RECORD_MISSES;
        piece->flags = IS_UNREADABLE;
        length = 1;
    } else if (length == most) {
        piece->flags = IS_CLIPPED;
    }
    put(written, piece, bounded(length - 1, CALL_PROGRAM_PIECE_BYTES));
    return 1;
}

__noinline int put_iovecs(struct written_call *written, u64 address, u64 count, u64 bytes, u32 most)
{
    u64 parts[2];

    put_bytes(written, address, count * IOVEC_BYTES, CALL_PROGRAM_IOVECS_MAX * IOVEC_BYTES);
    for (u32 i = 0; i < CALL_PROGRAM_IOVECS_MAX; i++) {
        if (i >= count || bytes == 0)
            break;
        if (bpf_probe_read_user(parts, sizeof(parts), (void *)(address + i * IOVEC_BYTES)) != 0)
            break;
        if (parts[1] > bytes)
            parts[1] = bytes;
        put_bytes(written, parts[0], parts[1], most);
        bytes -= parts[1];
    }
    return 0;
}

/* struct msghdr: a name and its length, vectors and their count, control and its length, flags. */
__noinline int put_message(struct written_call *written, u64 address, u64 bytes, u32 most)
{
    u64 words[7];

    put_bytes(written, address, sizeof(words), sizeof(words));
    if (bpf_probe_read_user(words, sizeof(words), (void *)address) != 0)
        return 0;
    if (words[0] != 0)
        put_bytes(written, words[0], (u32)words[1], 128);
    put_iovecs(written, words[2], words[3], bytes, most);
    if (words[4] != 0)
        put_bytes(written, words[4], words[5], 256);
    return 0;
}

__noinline int put_strings(struct written_call *written, u64 address, u32 most)
{
    u64 pointer;

    for (u32 i = 0; i < CALL_PROGRAM_STRINGS_MAX; i++) {
        if (bpf_probe_read_user(&pointer, sizeof(pointer), (void *)(address + i * sizeof(pointer))) != 0) {
            if (written)
                written->record.flags |= CALL_RECORD_MISSES;
            break;
        }
        if (pointer == 0)
            break;
        put_string(written, pointer, most);
    }
    return 0;
}

__noinline int put_pointers(struct written_call *written, u64 address)
{
    u64 pointer;
    u32 count = 0;

    for (; count < CALL_PROGRAM_POINTERS_MAX; count++) {
        if (bpf_probe_read_user(&pointer, sizeof(pointer), (void *)(address + count * sizeof(pointer))) != 0)
            break;
        if (pointer == 0) {
            count++;
            break;
        }
    }
    put_bytes(written, address, count * sizeof(pointer), CALL_PROGRAM_PIECE_BYTES);
    return 0;
}

__noinline int put_mask(struct written_call *written, u64 address)
{
    u64 words[2];

    put_bytes(written, address, sizeof(words), sizeof(words));
    if (bpf_probe_read_user(words, sizeof(words), (void *)address) == 0 && words[0] != 0)
        put_bytes(written, words[0], sizeof(u64), sizeof(u64));
    return 0;
}

/* struct clone_args: its second and fourth words are where a descriptor and the child's number are put. */
__noinline int put_clone(struct written_call *written, u64 address, u64 size, u32 most, u32 is_after)
{
    u64 words[4];

    put_bytes(written, address, size, most);
    if (!is_after || bpf_probe_read_user(words, sizeof(words), (void *)address) != 0)
        return 0;
    if (words[1] != 0)
        put_bytes(written, words[1], sizeof(u32), sizeof(u32));
    if (words[3] != 0)
        put_bytes(written, words[3], sizeof(u32), sizeof(u32));
    return 0;
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

static __always_inline struct inode *inode_of(int fd)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    struct fdtable *table;
    struct file **files, *file = 0;

    if (fd == CALL_PROGRAM_FDCWD)
        return BPF_CORE_READ(task, fs, pwd.dentry, d_inode);
    table = BPF_CORE_READ(task, files, fdt);
    if (!table || (u32)fd >= BPF_CORE_READ(table, max_fds))
        return 0;
    files = BPF_CORE_READ(table, fd);
    if (bpf_probe_read_kernel(&file, sizeof(file), files + (u32)fd) != 0 || !file)
        return 0;
    return BPF_CORE_READ(file, f_inode);
}

/* Which file it is right now, if it is open. */
__noinline int put_file(struct written_call *written, int fd)
{
    struct memory_piece *piece = written ? place(written, CALL_PROGRAM_FILE_AT(fd)) : 0;
    struct inode *inode = inode_of(fd);
    struct call_program_file facts = {.inode = 0};

    if (!piece || !inode)
        return 0;
    facts.inode = BPF_CORE_READ(inode, i_ino);
    facts.mode = BPF_CORE_READ(inode, i_mode);
    piece->type = TYPE_BUFFER;
    __builtin_memcpy(piece + 1, &facts, sizeof(facts));
    put(written, piece, sizeof(facts));
    return 0;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static __always_inline u64 count_of(const struct call_program_piece *piece, const struct open_system_call *call,
                                    s64 result)
{
    u64 argument = call->words[piece->length & (CALL_PROGRAM_WORDS - 1)], count = result > 0 ? result : 0;
    u32 pointed_at = 0;

    switch (piece->length & 0xf0) {
    case LENGTH_ARGUMENT:
        return argument;
    case LENGTH_AT_MOST:
        return count < argument ? count : argument;
    case LENGTH_POINTED_AT:
        bpf_probe_read_user(&pointed_at, sizeof(pointed_at), (void *)argument);
        return pointed_at;
    case LENGTH_RESULT:
        return count;
    case LENGTH_FIXED:
        return piece->length & 0x0f;
    }
    return 1;
}

struct moment {
    s64 result;
    u32 is_after;
};

/* Returns whether there was nothing that was to be read and was not there. */
__noinline int put_piece(struct written_call *written, const struct call_program_piece *piece,
                         const struct open_system_call *call, u64 address, const struct moment *moment)
{
    u64 count, moved;

    if (!written || !piece || !call || !moment)
        return 1;
    moved = moment->is_after && moment->result >= 0 ? (u64)moment->result : NO_LIMIT;
    /* Of a message that is an answer, how much room there is for it is known before. */
    if (piece->kind == CALL_PIECE_MESSAGE && piece->more && !moment->is_after)
        moved = 0;
    written->record.flags &= ~CALL_RECORD_MISSES;
    count = count_of(piece, call, moment->result);
    switch (piece->kind) {
    case CALL_PIECE_STRING:
        put_string(written, address, piece->most);
        break;
    case CALL_PIECE_BYTES:
        put_bytes(written, address, (count * piece->unit >> (piece->shift & 63)) + piece->more, piece->most);
        break;
    case CALL_PIECE_IOVECS:
        put_iovecs(written, address, count, moved, piece->most);
        break;
    case CALL_PIECE_MESSAGE:
        put_message(written, address, moved, piece->most);
        break;
    case CALL_PIECE_STRINGS:
        put_pointers(written, address);
        put_strings(written, address, piece->most);
        break;
    case CALL_PIECE_POINTERS:
        put_pointers(written, address);
        break;
    case CALL_PIECE_MASK:
        put_mask(written, address);
        break;
    case CALL_PIECE_CLONE:
        put_clone(written, address, count, piece->most, moment->is_after);
        break;
    case CALL_PIECE_FRAME:
        put_bytes(written, call->words[WORD_OF_SP], piece->most, piece->most);
        break;
    }
    return (written->record.flags & CALL_RECORD_MISSES) == 0;
}

/* Reads what is to be read at that moment, and what `missed` says. Which were not there, a bit each. */
static __always_inline u32 put_pieces(struct written_call *written, const struct call_program_plan *plan,
                                      const struct open_system_call *call, const struct moment *moment, u32 missed)
{
    u32 moments = !moment->is_after                                 ? CALL_PIECE_BEFORE
                  : moment->result < 0 && moment->result >= -ERRORS ? CALL_PIECE_AFTER_ERROR
                                                                    : CALL_PIECE_AFTER;
    u32 misses = 0;

    for (u32 i = 0; i < 6; i++) {
        const struct call_program_piece *piece = &plan->pieces[i];
        u64 address = call->words[i];

        if (piece->kind == CALL_PIECE_NONE || (address == 0 && piece->kind != CALL_PIECE_FRAME))
            continue;
        if (!(piece->moments & moments) && !(missed & 1u << i))
            continue;
        if (!put_piece(written, piece, call, address, moment))
            misses |= 1u << i;
    }
    return misses;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static __always_inline struct call_program_plan *plan_of(u64 number)
{
    u32 index = number < CALL_PROGRAM_NUMBERS ? number : CALL_PROGRAM_NUMBERS - 1;

    return bpf_map_lookup_elem(&plans, &index);
}

SEC("raw_tp/sys_enter")
int on_enter(struct bpf_raw_tracepoint_args *context)
{
    u32 tid = (u32)bpf_get_current_pid_tgid();
    struct open_system_call *call = bpf_map_lookup_elem(&threads, &tid);
    struct moment moment = {.is_after = 0};
    struct call_program_plan *plan;
    struct written_call *written;

    if (!call)
        return 0;
    call->number = context->args[1];
    if (is_foreign((struct pt_regs *)context->args[0]))
        call->number |= CALL_PROGRAM_FOREIGN;
    call->is_under_way = 0;
    plan = plan_of(call->number);
    if (!plan || !plan->is_wanted)
        return 0;
    call->is_under_way = 1;
    if (call->number & CALL_PROGRAM_FOREIGN)
        read_foreign_registers((struct pt_regs *)context->args[0], call->words);
    else
        read_registers((struct pt_regs *)context->args[0], call->words);
    written = begin(CALL_RECORD_ENTER, call->number);
    if (!written)
        return 0;
    __builtin_memcpy(written->record.words, call->words, sizeof(call->words));
    for (u32 i = 0; i < 6; i++)
        if (plan->descriptors & 1u << i)
            put_file(written, (int)call->words[i]);
    call->missed = put_pieces(written, plan, call, &moment, 0);
    if (call->missed)
        written->record.flags = CALL_RECORD_MISSES;
    else
        written->record.flags = 0;
    end(written);
    return 0;
}

SEC("raw_tp/sys_exit")
int on_leave(struct bpf_raw_tracepoint_args *context)
{
    u32 tid = (u32)bpf_get_current_pid_tgid();
    struct open_system_call *call = bpf_map_lookup_elem(&threads, &tid);
    struct moment moment = {.is_after = 1, .result = (s64)context->args[1]};
    struct call_program_plan *plan;
    struct written_call *written;

    if (!call || !call->is_under_way)
        return 0;
    call->is_under_way = 0;
    plan = plan_of(call->number);
    written = begin(CALL_RECORD_LEAVE, call->number);
    if (!plan || !written)
        return 0;
    written->record.words[0] = (u64)moment.result;
    if (plan->descriptors & 1u << 6 && moment.result >= 0)
        put_file(written, (int)moment.result);
    (void)put_pieces(written, plan, call, &moment, call->missed);
    end(written);
    return 0;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

SEC("raw_tp/signal_deliver")
int on_signal(struct bpf_raw_tracepoint_args *context)
{
    u32 tid = (u32)bpf_get_current_pid_tgid();
    struct written_call *written;

    /* A signal that ends the process is replaced by this one for each of its threads; how it ended is told later. */
    if (context->args[0] == SIGNAL_KILL || !bpf_map_lookup_elem(&threads, &tid))
        return 0;
    written = begin(CALL_RECORD_SIGNAL, context->args[0]);
    if (!written)
        return 0;
    __builtin_memset(written->record.words, 0, sizeof(written->record.words));
    bpf_probe_read_kernel(written->record.words, 48, (void *)context->args[1]);
    end(written);
    return 0;
}

/* What a watched thread makes is watched, before it runs. */
SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *context)
{
    struct task_struct *parent = (void *)context->args[0], *child = (void *)context->args[1];
    u32 parent_tid = BPF_CORE_READ(parent, pid), tid = BPF_CORE_READ(child, pid);
    struct open_system_call nothing = {.is_under_way = 0};

    if (!follows || !bpf_map_lookup_elem(&threads, &parent_tid))
        return 0;
    if (bpf_map_update_elem(&threads, &tid, &nothing, BPF_ANY) != 0)
        count_lost();
    return 0;
}

/* A thread that is not the first takes the first one's number, whose own end was told. */
SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *context)
{
    u32 former = (u32)context->args[1], tid = (u32)bpf_get_current_pid_tgid();
    struct open_system_call *call = bpf_map_lookup_elem(&threads, &former);
    struct written_call *written;

    if (!call)
        return 0;
    /* What was to be looked at again is in memory that is gone. */
    call->missed = 0;
    if (former == tid)
        return 0;
    bpf_map_update_elem(&threads, &tid, call, BPF_ANY);
    bpf_map_delete_elem(&threads, &former);
    written = begin(CALL_RECORD_EXEC, 0);
    if (!written)
        return 0;
    written->record.words[0] = former;
    end(written);
    return 0;
}

SEC("raw_tp/sched_process_exit")
int on_end(struct bpf_raw_tracepoint_args *context)
{
    struct task_struct *task = (void *)context->args[0];
    u32 tid = (u32)bpf_get_current_pid_tgid();
    struct written_call *written;

    if (!bpf_map_lookup_elem(&threads, &tid))
        return 0;
    bpf_map_delete_elem(&threads, &tid);
    written = begin(CALL_RECORD_END, 0);
    if (!written)
        return 0;
    written->record.words[0] = (u32)BPF_CORE_READ(task, exit_code);
    end(written);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
