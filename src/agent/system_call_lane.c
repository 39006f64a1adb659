/* SPDX-License-Identifier: MIT */
/*
 * Memory is read by the kernel, straight into the record: what is not there, or goes right then, is an answer and no
 * fault. It is told in pieces, an address and what is there, since structs point at other pieces. Room for all that
 * there could be is taken first, and what was not needed is given back.
 */
#include "agent/system_call_lane.h"

#include "agent/descriptor_note.h"
#include "agent/detail_lane.h"
#include "base/alignment.h"
#include "base/memory_map.h"
#include "base/time_counter.h"
#include "process/memory_probe.h"
#include "process/system_call_memory.h"
#include "process/system_call_table.h"
#include "ring/detail_descriptor.h"
#include "ring/detail_record.h"
#include "ring/detail_value.h"

#include <linux/fcntl.h>
#include <stddef.h>

#define STRUCT_BYTES 4096u /* of anything else, at most */
#define PATH_BYTES   4096u /* paths are kept whole, as long as there is room */
#define STRINGS_MOST 32u   /* of arguments to a program */
#define IOVECS_MOST  16u
#define IOVEC_BYTES  16u
#define POLLED_BYTES 8u  /* struct pollfd begins with its descriptor */
#define POLLED_MOST  16u /* of which it is told what they are */

static uint32_t string_bytes_most;

struct pieces {
    struct detail_value_writer writer;
    const struct told_system_call *call;
    const struct system_call_signature *known;
    bool is_after;
};

void system_call_lane_begin(uint32_t string_bytes)
{
    string_bytes_most = string_bytes;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static uint32_t at_most(uint64_t value, uint32_t most)
{
    return value < most ? (uint32_t)value : most;
}

static uint32_t length_of(const uint8_t *bytes, uint32_t size_bytes)
{
    uint32_t length = 0;

    while (length < size_bytes && bytes[length] != '\0')
        length++;
    return length;
}

/* Page by page: a string that ends in its page is good whatever is behind it. */
static uint32_t copy_string(uint64_t address, uint8_t *place, uint32_t most, bool *is_ended_out)
{
    uint32_t copied = 0;

    *is_ended_out = false;
    while (copied < most && !*is_ended_out) {
        uint32_t step = at_most(align_rest(address + copied, memory_page_size()), most - copied), length;

        if (memory_probe_copy(address + copied, place + copied, step) != 0)
            break;
        length = length_of(place + copied, step);
        *is_ended_out = length < step;
        copied += length;
    }
    return copied;
}

static void put_address(struct pieces *pieces, uint64_t address)
{
    const struct detail_value value = {.type = DETAIL_TYPE_POINTER, .data_bytes = sizeof(address)};

    detail_value_put(&pieces->writer, value, &address);
}

/* What is behind an address: so many bytes of it are wanted, of which `most` are kept. */
static void put_bytes(struct pieces *pieces, uint64_t address, uint64_t size_bytes, uint32_t most)
{
    struct detail_value value = {.type = DETAIL_TYPE_BUFFER};
    uint32_t wanted;

    put_address(pieces, address);
    wanted = at_most(at_most(size_bytes, most), detail_value_room(&pieces->writer));
    value.data_bytes = (uint16_t)memory_probe_copy_some(address, detail_value_place(&pieces->writer), wanted);
    if (value.data_bytes == 0 && size_bytes != 0)
        value.flags = DETAIL_VALUE_UNREADABLE;
    else if (value.data_bytes < size_bytes)
        value.flags = DETAIL_VALUE_CLIPPED;
    detail_value_put(&pieces->writer, value, detail_value_place(&pieces->writer));
}

static void put_string(struct pieces *pieces, uint64_t address, uint32_t most)
{
    struct detail_value value = {.type = DETAIL_TYPE_STRING};
    bool is_ended;

    put_address(pieces, address);
    /* One more than is kept tells whether it ends there. */
    most = at_most((uint64_t)most + 1, detail_value_room(&pieces->writer));
    value.data_bytes = (uint16_t)copy_string(address, detail_value_place(&pieces->writer), most, &is_ended);
    if (value.data_bytes == 0 && !is_ended)
        value.flags = DETAIL_VALUE_UNREADABLE;
    else if (!is_ended)
        value.flags = DETAIL_VALUE_CLIPPED;
    detail_value_put(&pieces->writer, value, detail_value_place(&pieces->writer));
}

static bool read_memory(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    (void)context;
    return memory_probe_copy(address, bytes_out, size_bytes) == 0;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* Pointers up to a NULL, and the strings that they point at. */
static void put_strings(struct pieces *pieces, uint64_t address, bool is_followed)
{
    uint64_t pointer;
    uint32_t count = 0;

    while (count < STRUCT_BYTES / sizeof(pointer) &&
           memory_probe_copy(address + count * sizeof(pointer), &pointer, sizeof(pointer)) == 0 && pointer != 0)
        count++;
    put_bytes(pieces, address, (count + 1) * sizeof(pointer), STRUCT_BYTES);
    for (uint32_t i = 0; is_followed && i < count && i < STRINGS_MOST; i++)
        if (memory_probe_copy(address + i * sizeof(pointer), &pointer, sizeof(pointer)) == 0)
            put_string(pieces, pointer, string_bytes_most);
}

/* The array, and of each buffer as much as was written or read. */
static void put_iovecs(struct pieces *pieces, uint64_t address, uint64_t count, uint64_t bytes)
{
    uint64_t parts[2];

    put_bytes(pieces, address, count * IOVEC_BYTES, IOVECS_MOST * IOVEC_BYTES);
    for (uint64_t i = 0; i < count && i < IOVECS_MOST && bytes != 0; i++) {
        if (memory_probe_copy(address + i * IOVEC_BYTES, parts, sizeof(parts)) != 0)
            return;
        parts[1] = parts[1] < bytes ? parts[1] : bytes;
        put_bytes(pieces, parts[0], parts[1], string_bytes_most);
        bytes -= parts[1];
    }
}

/* struct msghdr: a name and its length, vectors and their count, control and its length, flags. */
static void put_message(struct pieces *pieces, uint64_t address, uint64_t bytes)
{
    uint64_t words[7];

    if (memory_probe_copy(address, words, sizeof(words)) != 0)
        return;
    if (words[0] != 0)
        put_bytes(pieces, words[0], (uint32_t)words[1], 128);
    put_iovecs(pieces, words[2], words[3], bytes);
    if (words[4] != 0)
        put_bytes(pieces, words[4], words[5], 256);
}

/* struct clone_args: its second and fourth words are where a descriptor and the child's number are put. */
static void put_clone(struct pieces *pieces, const struct system_call_memory *memory)
{
    uint64_t words[4];

    put_bytes(pieces, memory->address, memory->size_bytes, STRUCT_BYTES);
    if (!pieces->is_after || memory_probe_copy(memory->address, words, sizeof(words)) != 0)
        return;
    if (words[1] != 0)
        put_bytes(pieces, words[1], sizeof(uint32_t), sizeof(uint32_t));
    if (words[3] != 0)
        put_bytes(pieces, words[3], sizeof(uint32_t), sizeof(uint32_t));
}

static void put_inner(struct pieces *pieces, const struct system_call_argument *argument,
                      const struct system_call_memory *memory)
{
    const struct told_system_call *call = pieces->call;
    uint64_t moved = pieces->is_after && call->result >= 0 ? (uint64_t)call->result : UINT64_MAX;

    if (argument->kind == SYSTEM_CALL_STRUCT && argument->detail == SYSTEM_CALL_STRUCT_msghdr) {
        put_bytes(pieces, memory->address, memory->size_bytes, string_bytes_most + STRUCT_BYTES / 8);
        put_message(pieces, memory->address, moved);
    } else {
        put_iovecs(pieces, memory->address, memory->size_bytes / IOVEC_BYTES, moved);
    }
}

static bool has_inner(const struct system_call_argument *argument)
{
    return argument->kind == SYSTEM_CALL_IOVEC ||
           (argument->kind == SYSTEM_CALL_STRUCT && argument->detail == SYSTEM_CALL_STRUCT_msghdr);
}

static void put_memory(struct pieces *pieces, const struct system_call_argument *argument,
                       const struct system_call_memory *memory)
{
    switch ((enum system_call_kind)argument->kind) {
    case SYSTEM_CALL_PATH:
        put_string(pieces, memory->address, PATH_BYTES);
        break;
    case SYSTEM_CALL_STRINGS:
        put_strings(pieces, memory->address, true);
        break;
    case SYSTEM_CALL_ENVIRONMENT:
        put_strings(pieces, memory->address, false);
        break;
    case SYSTEM_CALL_BYTES:
    case SYSTEM_CALL_TEXT:
        if (memory->is_string)
            put_string(pieces, memory->address, string_bytes_most);
        else
            put_bytes(pieces, memory->address, memory->size_bytes, string_bytes_most);
        break;
    default:
        if (argument->kind == SYSTEM_CALL_STRUCT && argument->detail == SYSTEM_CALL_STRUCT_clone_args)
            put_clone(pieces, memory);
        else if (has_inner(argument))
            put_inner(pieces, argument, memory);
        else if (memory->is_string)
            put_string(pieces, memory->address, string_bytes_most);
        else
            put_bytes(pieces, memory->address, memory->size_bytes, STRUCT_BYTES);
        break;
    }
}

/* What is written by the call is read after it, all else as it is then: nothing but the call could have changed it. */
static void put_argument(struct pieces *pieces, unsigned which)
{
    const struct system_call_argument *argument = &pieces->known->arguments[which];
    struct system_call_moment moment = {
        .arguments = pieces->call->arguments,
        .result = pieces->call->result,
        .is_after = pieces->is_after,
        .read = read_memory,
    };
    struct system_call_memory memory;

    if (argument->kind < SYSTEM_CALL_FIRST_POINTER || pieces->call->arguments[which] == 0)
        return;
    if (system_call_memory(pieces->known, which, &moment, &memory)) {
        put_memory(pieces, argument, &memory);
        return;
    }
    moment.is_after = false;
    if (pieces->is_after && system_call_memory(pieces->known, which, &moment, &memory))
        put_memory(pieces, argument, &memory);
    else if (pieces->is_after && argument->kind == SYSTEM_CALL_STRUCT && argument->detail == SYSTEM_CALL_STRUCT_msghdr)
        /* A message that did not come: how much room there was for it. */
        put_bytes(pieces, pieces->call->arguments[which], system_call_struct_bytes(argument->detail), STRUCT_BYTES);
}

static bool has_pointers(const struct system_call_signature *known)
{
    if (known != NULL && known->arguments[0].kind == SYSTEM_CALL_CLONE_FLAGS)
        return true;
    for (unsigned i = 0; known != NULL && i < known->argument_count; i++)
        if (known->arguments[i].kind >= SYSTEM_CALL_FIRST_POINTER)
            return true;
    return false;
}

static void put_stack(struct pieces *pieces)
{
    const struct detail_value value = {
        .type = DETAIL_TYPE_BUFFER,
        .data_bytes = (uint16_t)(pieces->call->frame_count * sizeof(uint64_t)),
    };

    put_address(pieces, DETAIL_SYSTEM_CALL_STACK_AT);
    detail_value_put(&pieces->writer, value, pieces->call->frames);
}

static void put_cpu(struct pieces *pieces)
{
    const struct detail_value value = {.type = DETAIL_TYPE_BUFFER, .data_bytes = sizeof(pieces->call->cpu_ns)};

    put_address(pieces, DETAIL_CPU_TIMES_AT);
    detail_value_put(&pieces->writer, value, pieces->call->cpu_ns);
}

/* Descriptors in an array in memory, one at the beginning of each element. */
static void put_listed_descriptors(struct pieces *pieces, uint64_t address, uint64_t count, uint32_t element_bytes)
{
    int fd;

    for (uint64_t i = 0; i < count && i < POLLED_MOST; i++)
        if (memory_probe_copy(address + i * element_bytes, &fd, sizeof(fd)) == 0 && fd >= 0)
            descriptor_note_put(&pieces->writer, fd);
}

/* What arguments are before the call: it may close them. */
static void put_argument_descriptors(struct pieces *pieces)
{
    const uint64_t *arguments = pieces->call->arguments;

    for (unsigned i = 0; i < pieces->known->argument_count; i++) {
        const struct system_call_argument *argument = &pieces->known->arguments[i];
        int fd = (int)arguments[i];

        if ((argument->kind == SYSTEM_CALL_FD && fd >= 0) ||
            (argument->kind == SYSTEM_CALL_DIRFD && (fd >= 0 || fd == AT_FDCWD)))
            descriptor_note_put(&pieces->writer, fd);
        if (argument->kind == SYSTEM_CALL_ARRAY && argument->detail == SYSTEM_CALL_STRUCT_pollfd && i == 0)
            put_listed_descriptors(pieces, arguments[0], arguments[1], POLLED_BYTES);
    }
}

/* What the call has made. */
static void put_new_descriptors(struct pieces *pieces)
{
    const struct system_call_signature *known = pieces->known;

    if (pieces->call->result < 0)
        return;
    if (known->result == SYSTEM_CALL_FD || known->result == SYSTEM_CALL_FCNTL)
        descriptor_note_put(&pieces->writer, (int)pieces->call->result);
    for (unsigned i = 0; i < known->argument_count; i++)
        if (known->arguments[i].kind == SYSTEM_CALL_ARRAY && known->arguments[i].detail == SYSTEM_CALL_STRUCT_fd)
            put_listed_descriptors(pieces, pieces->call->arguments[i], 2, sizeof(int));
}

static void put_descriptors(struct pieces *pieces)
{
    descriptor_note_begin(&pieces->writer);
    if (pieces->known == NULL)
        return;
    if (pieces->is_after)
        put_new_descriptors(pieces);
    else
        put_argument_descriptors(pieces);
}

static uint32_t room_for(const struct told_system_call *call, const struct system_call_signature *known)
{
    bool has_values = has_pointers(known) || call->frame_count != 0 || call->has_descriptors || call->has_cpu;

    return has_values ? DETAIL_VALUES_BYTES_MAX : 0;
}

static uint32_t put_values(const struct told_system_call *call, const struct system_call_signature *known,
                           bool is_after, uint8_t *bytes, uint32_t room)
{
    struct pieces pieces = {.call = call, .known = known, .is_after = is_after};

    detail_value_writer_init(&pieces.writer, bytes, room, 0);
    if (call->frame_count != 0)
        put_stack(&pieces);
    if (call->has_cpu)
        put_cpu(&pieces);
    if (call->has_descriptors)
        put_descriptors(&pieces);
    if (known == NULL)
        return pieces.writer.used;
    for (unsigned i = 0; i < known->argument_count; i++)
        put_argument(&pieces, i);
    /* Where clone puts the number of the child. */
    if (is_after && known->arguments[0].kind == SYSTEM_CALL_CLONE_FLAGS && call->arguments[2] != 0)
        put_bytes(&pieces, call->arguments[2], sizeof(uint32_t), sizeof(uint32_t));
    return pieces.writer.used;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static struct detail_record header_of(const struct told_system_call *call, uint16_t kind, uint64_t time)
{
    return (struct detail_record){.kind = kind, .time = time, .function = call->number, .sp = call->sp};
}

void system_call_lane_put(struct detail_lane *lane, const struct told_system_call *call)
{
    bool is_over = (call->flags & DETAIL_SYSTEM_CALL_NEVER_RETURNED) == 0;
    uint64_t time = is_over ? time_counter() : call->entered_time;
    const struct system_call_signature *known = system_call_by_number(call->number);
    const uint32_t values_at = offsetof(struct detail_system_call, values_bytes);
    uint32_t room = room_for(call, known), used = 0;
    struct detail_place place =
        detail_lane_take(lane, DETAIL_SYSTEM_CALL, sizeof(struct detail_system_call), values_at, room);
    struct detail_system_call *record = (struct detail_system_call *)(void *)place.bytes;

    if (record == NULL)
        return;
    record->record = header_of(call, DETAIL_SYSTEM_CALL, time);
    record->entered_time = call->entered_time;
    record->result = is_over ? call->result : 0;
    __builtin_memcpy(record->arguments, call->arguments, sizeof(record->arguments));
    record->flags = call->flags;
    if (room != 0)
        used = put_values(call, known, is_over, (uint8_t *)(record + 1), room);
    detail_lane_put(lane, place, sizeof(*record), values_at, used);
}

void system_call_lane_put_enter(struct detail_lane *lane, const struct told_system_call *call)
{
    const struct system_call_signature *known = system_call_by_number(call->number);
    const uint32_t values_at = offsetof(struct detail_system_call_enter, values_bytes);
    uint32_t room = room_for(call, known), used = 0;
    struct detail_place place =
        detail_lane_take(lane, DETAIL_SYSTEM_CALL_ENTER, sizeof(struct detail_system_call_enter), values_at, room);
    struct detail_system_call_enter *record = (struct detail_system_call_enter *)(void *)place.bytes;

    if (record == NULL)
        return;
    record->record = header_of(call, DETAIL_SYSTEM_CALL_ENTER, call->entered_time);
    __builtin_memcpy(record->arguments, call->arguments, sizeof(record->arguments));
    record->flags = call->flags;
    if (room != 0)
        used = put_values(call, known, false, (uint8_t *)(record + 1), room);
    detail_lane_put(lane, place, sizeof(*record), values_at, used);
}
