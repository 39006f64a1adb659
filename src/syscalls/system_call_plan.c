/* SPDX-License-Identifier: MIT */
#include "syscalls/system_call_plan.h"

#include "process/system_call_table.h"

/* What calls that are many in one point at, at most: of ioctl, of others, and of handles of files. */
#define IOCTL_BYTES  256
#define OTHER_BYTES  64
#define HANDLE_BYTES 136
/* The mask of signals is not far from where the frame begins. */
#define FRAME_BYTES 512
/* Where clone puts the number of the child. */
#define PARENT_TID_AT 2

static unsigned moments_of(const struct system_call_argument *argument)
{
    unsigned moments = 0;

    if (argument->kind == SYSTEM_CALL_REMAINDER)
        return CALL_PIECE_AFTER_ERROR;
    if (argument->direction & SYSTEM_CALL_IN)
        moments |= CALL_PIECE_BEFORE;
    if (argument->direction & SYSTEM_CALL_OUT)
        moments |= CALL_PIECE_AFTER;
    return moments;
}

static struct call_program_piece fixed(unsigned bytes)
{
    return (struct call_program_piece){
        .kind = CALL_PIECE_BYTES, .unit = bytes, .most = bytes, .length = SYSTEM_CALL_LENGTH_ONE};
}

static struct call_program_piece either_way(unsigned bytes)
{
    struct call_program_piece piece = fixed(bytes);

    piece.moments = CALL_PIECE_BEFORE | CALL_PIECE_AFTER;
    return piece;
}

/* Elements of so many bytes, as many as the argument's length says. */
static struct call_program_piece elements(const struct system_call_argument *argument, unsigned unit, unsigned most)
{
    return (struct call_program_piece){
        .kind = CALL_PIECE_BYTES, .unit = unit, .most = most, .length = argument->length};
}

static struct call_program_piece of_kind(unsigned kind, const struct system_call_argument *argument, unsigned most)
{
    return (struct call_program_piece){.kind = (unsigned char)kind, .most = most, .length = argument->length};
}

static struct call_program_piece of_struct(const struct system_call_argument *argument, uint32_t string_bytes)
{
    unsigned bytes = (unsigned)system_call_struct_bytes(argument->detail);

    if (argument->detail == SYSTEM_CALL_STRUCT_clone_args) {
        struct call_program_piece piece = of_kind(CALL_PIECE_CLONE, argument, bytes);

        piece.moments = CALL_PIECE_BEFORE | CALL_PIECE_AFTER;
        return piece;
    }
    if (argument->detail == SYSTEM_CALL_STRUCT_msghdr) {
        struct call_program_piece piece = of_kind(CALL_PIECE_MESSAGE, argument, string_bytes);

        piece.more = !(argument->direction & SYSTEM_CALL_IN);
        piece.moments = (unsigned char)(CALL_PIECE_BEFORE | (piece.more ? CALL_PIECE_AFTER : 0));
        return piece;
    }
    if (SYSTEM_CALL_LENGTH_SOURCE(argument->length) == SYSTEM_CALL_LENGTH_ARGUMENT)
        return elements(argument, 1, bytes);
    return fixed(bytes);
}

/* A bit each, in whole longs; or a byte for each page. */
static struct call_program_piece of_bits(const struct system_call_argument *argument, unsigned shift, unsigned more)
{
    struct call_program_piece piece = elements(argument, 1, CALL_PROGRAM_PIECE_BYTES);

    piece.shift = (unsigned char)shift;
    piece.more = more;
    return piece;
}

/* Those whose memory another argument decides about. */
static struct call_program_piece of_dependent(const struct system_call_argument *argument)
{
    switch (argument->kind) {
    case SYSTEM_CALL_EPOLL_EVENT:
        return fixed((unsigned)system_call_struct_bytes(SYSTEM_CALL_STRUCT_epoll_event));
    case SYSTEM_CALL_MQ_ATTRIBUTE:
        return fixed((unsigned)system_call_struct_bytes(SYSTEM_CALL_STRUCT_mq_attr));
    case SYSTEM_CALL_FUTEX_TIMEOUT:
        return fixed((unsigned)system_call_struct_bytes(SYSTEM_CALL_STRUCT_timespec));
    case SYSTEM_CALL_FILE_HANDLE:
        return fixed(HANDLE_BYTES);
    case SYSTEM_CALL_IOCTL_ARGUMENT:
        return either_way(IOCTL_BYTES);
    case SYSTEM_CALL_FCNTL_ARGUMENT:
    case SYSTEM_CALL_PRCTL_ARGUMENT:
    case SYSTEM_CALL_ARCH_PRCTL_ARGUMENT:
    case SYSTEM_CALL_SECCOMP_ARGUMENT:
        return either_way(OTHER_BYTES);
    default:
        return (struct call_program_piece){.kind = CALL_PIECE_NONE};
    }
}

static struct call_program_piece piece_of(const struct system_call_argument *argument, uint32_t string_bytes)
{
    switch (argument->kind) {
    case SYSTEM_CALL_SIGRETURN_FRAME:
        return of_kind(CALL_PIECE_FRAME, argument, FRAME_BYTES);
    case SYSTEM_CALL_PATH:
        return of_kind(CALL_PIECE_STRING, argument, CALL_PROGRAM_PIECE_BYTES);
    case SYSTEM_CALL_STRING:
    case SYSTEM_CALL_TEXT:
    case SYSTEM_CALL_MOUNT_DATA:
        return of_kind(CALL_PIECE_STRING, argument, string_bytes + 2); /* its NUL, and one to know that it is cut */
    case SYSTEM_CALL_STRINGS:
        return of_kind(CALL_PIECE_STRINGS, argument, string_bytes + 2);
    case SYSTEM_CALL_ENVIRONMENT:
        return of_kind(CALL_PIECE_POINTERS, argument, CALL_PROGRAM_PIECE_BYTES);
    case SYSTEM_CALL_IOVEC:
        return of_kind(CALL_PIECE_IOVECS, argument, string_bytes);
    case SYSTEM_CALL_IOVEC_ONLY:
        return elements(argument, 16, CALL_PROGRAM_PIECE_BYTES);
    case SYSTEM_CALL_BYTES:
        return elements(argument, 1, string_bytes);
    case SYSTEM_CALL_SOCKADDR:
    case SYSTEM_CALL_SOCKET_VALUE:
    case SYSTEM_CALL_CPU_SET:
    case SYSTEM_CALL_DIRENTS:
        return elements(argument, 1, CALL_PROGRAM_PIECE_BYTES);
    case SYSTEM_CALL_STRUCT:
    case SYSTEM_CALL_REMAINDER:
        return of_struct(argument, string_bytes);
    case SYSTEM_CALL_ARRAY:
        return elements(argument, (unsigned)system_call_struct_bytes(argument->detail), CALL_PROGRAM_PIECE_BYTES);
    case SYSTEM_CALL_FD_SET:
    case SYSTEM_CALL_NODE_SET:
        return of_bits(argument, 3, 8);
    case SYSTEM_CALL_MINCORE_PAGES:
        return of_bits(argument, 12, 1);
    case SYSTEM_CALL_SOCKLEN:
        return fixed(4);
    case SYSTEM_CALL_UTIME_PAIR:
        return fixed(32);
    case SYSTEM_CALL_SIGMASK:
        return of_kind(CALL_PIECE_MASK, argument, 16);
    default:
        return of_dependent(argument);
    }
}

/* The arguments that are descriptors, and behind them the result. */
static unsigned descriptors_of(const struct system_call_signature *call)
{
    unsigned bits = call->result == SYSTEM_CALL_FD ? 1u << SYSTEM_CALL_ARGUMENTS_MAX : 0;

    for (unsigned i = 0; i < call->argument_count; i++)
        if (call->arguments[i].kind == SYSTEM_CALL_FD || call->arguments[i].kind == SYSTEM_CALL_DIRFD)
            bits |= 1u << i;
    return bits;
}

struct call_program_plan system_call_plan(uint64_t number, bool is_wanted, uint32_t string_bytes)
{
    const struct system_call_signature *call = system_call_by_number(number);
    struct call_program_plan plan = {.is_wanted = is_wanted, .descriptors = call == NULL ? 0 : descriptors_of(call)};

    for (unsigned i = 0; call != NULL && i < call->argument_count; i++) {
        const struct system_call_argument *argument = &call->arguments[i];

        plan.pieces[i] = piece_of(argument, string_bytes);
        if (argument->kind == SYSTEM_CALL_SIGRETURN_FRAME)
            plan.pieces[i].moments = CALL_PIECE_BEFORE;
        else if (plan.pieces[i].moments == 0)
            plan.pieces[i].moments = (unsigned char)moments_of(argument);
    }
    if (call != NULL && call->arguments[0].kind == SYSTEM_CALL_CLONE_FLAGS) {
        plan.pieces[PARENT_TID_AT] = fixed(sizeof(uint32_t));
        plan.pieces[PARENT_TID_AT].moments = CALL_PIECE_AFTER;
    }
    return plan;
}
