/* SPDX-License-Identifier: MIT */
/*
 * Pieces of memory, each beginning with an entry that is outside of everything, so that gates need not know of pieces:
 * nothing is ever inside of it, and it never is what returns. Invariant: top is in `piece`, behind its first entry; the
 * entries of pieces before it are below. Pieces before the last but one that have nothing but holes are given back, so
 * that calls which overlap forever, as those of coroutines do, take no more memory than those that are under way.
 */
#include "hook/invocation_stack.h"

#include "base/memory_map.h"

#include <asm/errno.h>
#include <stdatomic.h>

_Static_assert(offsetof(struct invocation, slot) == INVOCATION_SLOT, "as the gates have it");
_Static_assert(offsetof(struct invocation, return_address) == INVOCATION_RETURN, "as the gates have it");
_Static_assert(offsetof(struct invocation, stub) == INVOCATION_STUB, "as the gates have it");
_Static_assert(offsetof(struct invocation, data) == INVOCATION_DATA, "as the gates have it");
_Static_assert(offsetof(struct invocation, depth) == INVOCATION_DEPTH, "as the gates have it");
_Static_assert(sizeof(struct invocation) == INVOCATION_BYTES, "as the gates have it");

#define FIRST_BYTES (16u << 10)
#define MOST_BYTES  (1u << 20)

struct invocation_piece {
    struct invocation_piece *before;
    struct invocation_piece *behind; /* one that is empty and kept, or NULL */
    struct invocation *used;         /* the top when the next one was begun */
    size_t size_bytes;
    uint32_t plausible_depth; /* up to which nobody counts */
    struct invocation entries[];
};

static uint64_t slot_of(const struct invocation *invocation)
{
    return atomic_load_explicit(&invocation->slot, memory_order_acquire);
}

static void set_slot(struct invocation *invocation, uint64_t slot)
{
    atomic_store_explicit(&invocation->slot, slot, memory_order_release);
}

/* Fences have no stub; what gates push has one before it has a slot. */
static bool is_call(const struct invocation *entry)
{
    uint64_t slot = slot_of(entry);

    return slot != 0 && slot < INVOCATION_NO_SLOT && entry->stub != 0;
}

static bool is_fence(const struct invocation *entry)
{
    return slot_of(entry) < INVOCATION_NO_SLOT && entry->stub == 0;
}

static bool is_suspended(const struct invocation *entry)
{
    return is_call(entry) && (entry->flags & INVOCATION_SUSPENDED) != 0;
}

static bool is_mark(const struct invocation *entry)
{
    return slot_of(entry) == INVOCATION_OUTER || is_fence(entry);
}

static struct invocation *limit_of(struct invocation_piece *piece)
{
    size_t count = (piece->size_bytes - sizeof(*piece)) / sizeof(struct invocation);

    return piece->entries + count;
}

static struct invocation_piece *make_piece(size_t size_bytes)
{
    struct invocation_piece *piece;
    void *storage;

    if (memory_map(size_bytes, &storage) != 0)
        return NULL;
    piece = storage;
    piece->size_bytes = size_bytes;
    set_slot(&piece->entries[0], INVOCATION_OUTER);
    return piece;
}

static void use_piece(struct invocation_stack *stack, struct invocation_piece *piece)
{
    /* A limit that is not of the top's piece would let a gate in a signal handler write elsewhere. */
    stack->limit = stack->full = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    stack->piece = piece;
    stack->top = piece->used;
    atomic_signal_fence(memory_order_seq_cst);
    stack->full = limit_of(piece);
    stack->limit = stack->floor == 0 ? stack->full : NULL;
}

void invocation_stack_watch(struct invocation_stack *stack, uint64_t floor)
{
    stack->floor = floor;
    atomic_signal_fence(memory_order_seq_cst);
    stack->limit = floor == 0 ? stack->full : NULL;
}

int invocation_stack_init(struct invocation_stack *stack)
{
    struct invocation_piece *piece = make_piece(FIRST_BYTES);

    if (piece == NULL)
        return -ENOMEM;
    set_slot(&piece->entries[0], INVOCATION_FIRST);
    piece->entries[0].depth = UINT32_MAX;
    piece->used = piece->entries + 1;
    stack->floor = 0;
    use_piece(stack, piece);
    return 0;
}

void invocation_stack_deinit(struct invocation_stack *stack)
{
    struct invocation_piece *piece = stack->piece;

    if (piece == NULL)
        return;
    if (piece->behind != NULL)
        memory_unmap(piece->behind, piece->behind->size_bytes);
    while (piece != NULL) {
        struct invocation_piece *before = piece->before;

        memory_unmap(piece, piece->size_bytes);
        piece = before;
    }
    *stack = (struct invocation_stack){0};
}

void invocation_stack_clear(struct invocation_stack *stack)
{
    struct invocation_piece *piece = stack->piece;

    while (piece->before != NULL) {
        struct invocation_piece *before = piece->before;

        if (piece->behind != NULL)
            memory_unmap(piece->behind, piece->behind->size_bytes);
        memory_unmap(piece, piece->size_bytes);
        before->behind = NULL;
        piece = before;
    }
    for (struct invocation *entry = piece->entries + 1; entry < limit_of(piece); entry++)
        set_slot(entry, INVOCATION_MAKING);
    stack->floor = 0;
    piece->used = piece->entries + 1;
    use_piece(stack, piece);
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static bool has_calls(const struct invocation_piece *piece)
{
    for (const struct invocation *entry = piece->entries + 1; entry < piece->used; entry++)
        if (slot_of(entry) != INVOCATION_HOLE && !is_mark(entry))
            return true;
    return false;
}

/* Not the one before the top's: a gate that was interrupted may be writing there. Nor the first, which is for ever. */
static void give_back_empty(struct invocation_piece *piece)
{
    struct invocation_piece *behind = piece->before;

    if (behind == NULL)
        return;
    for (struct invocation_piece *each = behind->before; each != NULL && each->before != NULL; each = behind->before) {
        if (has_calls(each)) {
            behind = each;
            continue;
        }
        behind->before = each->before;
        memory_unmap(each, each->size_bytes);
    }
}

/* Of what is outermost to an entry: that of the next one below which is neither suspended nor a hole. */
static uint32_t depth_below(const struct invocation *entry)
{
    for (entry--; is_suspended(entry) || slot_of(entry) == INVOCATION_HOLE; entry--)
        continue;
    return entry->depth;
}

uint32_t invocation_stack_next_depth(const struct invocation_stack *stack)
{
    return depth_below(stack->top) + 1;
}

static bool add_piece(struct invocation_stack *stack)
{
    struct invocation_piece *full = stack->piece, *next = full->behind;
    size_t size_bytes = full->size_bytes < MOST_BYTES ? full->size_bytes * 2 : MOST_BYTES;

    if (next == NULL)
        next = make_piece(size_bytes);
    if (next == NULL)
        return false;
    full->used = stack->top;
    full->behind = NULL;
    next->before = full;
    next->entries[0].depth = depth_below(stack->top);
    next->used = next->entries + 1;
    use_piece(stack, next);
    give_back_empty(next);
    return true;
}

/* The top's has nothing but its first entry: goes back to the one before it. */
static void drop_piece(struct invocation_stack *stack)
{
    struct invocation_piece *empty = stack->piece, *before = empty->before;

    if (empty->behind != NULL)
        memory_unmap(empty->behind, empty->behind->size_bytes);
    empty->behind = NULL;
    before->behind = empty;
    use_piece(stack, before);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static struct invocation *claim(struct invocation_stack *stack)
{
    struct invocation *entry;

    if (stack->top >= limit_of(stack->piece) && !add_piece(stack))
        return NULL;
    entry = stack->top;
    set_slot(entry, INVOCATION_MAKING);
    entry->depth = depth_below(entry) + 1;
    entry->flags = 0;
    entry->data = NULL;
    stack->top = entry + 1;
    return entry;
}

struct invocation *invocation_stack_push(struct invocation_stack *stack, uint64_t slot, uint64_t return_address,
                                         uint64_t stub)
{
    struct invocation *entry = claim(stack);

    if (entry == NULL)
        return NULL;
    entry->return_address = return_address;
    entry->stub = stub;
    set_slot(entry, slot);
    return entry;
}

bool invocation_stack_mark(struct invocation_stack *stack)
{
    struct invocation *entry = claim(stack);

    if (entry == NULL)
        return false;
    entry->depth--;
    set_slot(entry, INVOCATION_OUTER);
    return true;
}

bool invocation_stack_fence(struct invocation_stack *stack, uint64_t slot)
{
    struct invocation *entry = claim(stack);

    if (entry == NULL)
        return false;
    entry->depth--;
    entry->stub = 0;
    set_slot(entry, slot);
    return true;
}

static void make_hole(struct invocation *entry)
{
    entry->depth = depth_below(entry);
    set_slot(entry, INVOCATION_HOLE);
}

static void move(struct invocation *to, struct invocation *from)
{
    to->return_address = from->return_address;
    to->stub = from->stub;
    to->data = from->data;
    to->flags = from->flags;
    set_slot(to, slot_of(from));
    make_hole(from);
}

struct invocation *invocation_stack_raise(struct invocation_stack *stack, struct invocation *invocation)
{
    struct invocation *entry = claim(stack);

    if (entry == NULL)
        return NULL;
    move(entry, invocation);
    return entry;
}

/*
 * Where calls overlap forever there would be more and more holes to look at. Only in the top's piece: in those before
 * it there will not be more. No gate that was interrupted knows of any of these entries.
 */
void invocation_stack_sink(struct invocation_stack *stack)
{
    struct invocation *hole = stack->piece->entries + 1;

    for (struct invocation *entry = hole; entry < stack->top; entry++) {
        if (!is_suspended(entry))
            continue;
        while (hole < entry && slot_of(hole) != INVOCATION_HOLE)
            hole++;
        if (hole < entry)
            move(hole, entry);
    }
    invocation_stack_trim(stack);
}

void invocation_stack_trim(struct invocation_stack *stack)
{
    for (;;) {
        struct invocation *innermost = stack->top - 1;

        if (innermost == stack->piece->entries) {
            if (stack->piece->before == NULL)
                return;
            drop_piece(stack);
            continue;
        }
        /* Without room for it, gates take what is suspended for what they are in. */
        if (is_suspended(innermost) && stack->top < limit_of(stack->piece) && !invocation_stack_mark(stack))
            return;
        if (slot_of(innermost) != INVOCATION_HOLE && !is_mark(innermost))
            return;
        set_slot(innermost, INVOCATION_MAKING);
        stack->top = innermost;
    }
}

/* What is left in a slot of one that was popped, for who looks for it. */
static uint64_t popped(uint64_t slot)
{
    return ~slot;
}

static uint32_t count_calls(const struct invocation_stack *stack)
{
    struct invocation_cursor cursor;
    uint32_t count = 0;

    invocation_cursor_begin(&cursor, stack);
    while (invocation_cursor_next(&cursor) != NULL)
        count++;
    return count;
}

/* Where calls overlap forever each is deeper than the one before. When that is far from the truth, a mark sets it
 * right. */
static void correct_depth(struct invocation_stack *stack)
{
    uint32_t depth = stack->top[-1].depth, count;

    if (depth == UINT32_MAX || depth <= stack->piece->plausible_depth)
        return;
    count = count_calls(stack);
    stack->piece->plausible_depth = count * 2 + 128;
    if (depth > stack->piece->plausible_depth && invocation_stack_mark(stack))
        stack->top[-1].depth = count - 1;
}

void invocation_stack_remove(struct invocation_stack *stack, struct invocation *invocation)
{
    if (invocation == stack->top - 1) {
        set_slot(invocation, popped(slot_of(invocation)));
        stack->top = invocation;
    } else {
        make_hole(invocation);
    }
    invocation_stack_trim(stack);
    correct_depth(stack);
}

bool invocation_take(struct invocation *invocation, uint64_t slot)
{
    return atomic_compare_exchange_strong(&invocation->slot, &slot, INVOCATION_HOLE);
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

void invocation_cursor_begin(struct invocation_cursor *cursor, const struct invocation_stack *stack)
{
    cursor->piece = stack->piece;
    cursor->invocation = stack->top;
}

struct invocation *invocation_cursor_next(struct invocation_cursor *cursor)
{
    while (cursor->piece != NULL) {
        if (cursor->invocation <= cursor->piece->entries + 1) {
            cursor->piece = cursor->piece->before;
            if (cursor->piece != NULL)
                cursor->invocation = cursor->piece->used;
            continue;
        }
        cursor->invocation--;
        if (is_call(cursor->invocation))
            return cursor->invocation;
    }
    return NULL;
}

/* The piece behind one, or the first one for NULL. */
static const struct invocation_piece *piece_behind(const struct invocation_stack *stack,
                                                   const struct invocation_piece *piece)
{
    const struct invocation_piece *behind = stack->piece;

    while (behind->before != piece)
        behind = behind->before;
    return behind;
}

void invocation_stack_visit(const struct invocation_stack *stack,
                            void (*visit)(void *context, const struct invocation *invocation), void *context)
{
    const struct invocation_piece *piece = NULL;

    while (piece != stack->piece) {
        const struct invocation *end;

        piece = piece_behind(stack, piece);
        end = piece == stack->piece ? stack->top : piece->used;
        for (const struct invocation *entry = piece->entries + 1; entry < end; entry++)
            if (is_call(entry))
                visit(context, entry);
    }
}

struct invocation *invocation_cursor_next_active(struct invocation_cursor *cursor)
{
    struct invocation *entry;

    do
        entry = invocation_cursor_next(cursor);
    while (entry != NULL && (entry->flags & INVOCATION_SUSPENDED) != 0);
    return entry;
}

struct invocation *invocation_stack_find(const struct invocation_stack *stack, uint64_t slot, uint64_t stub)
{
    struct invocation_cursor cursor;
    struct invocation *entry;

    invocation_cursor_begin(&cursor, stack);
    while ((entry = invocation_cursor_next(&cursor)) != NULL)
        if (slot_of(entry) == slot && (stub == 0 || entry->stub == stub))
            return entry;
    return NULL;
}

struct invocation *invocation_stack_find_popped(const struct invocation_stack *stack, uint64_t slot, uint64_t stub)
{
    for (struct invocation *entry = stack->top; entry < stack->full; entry++) {
        if (slot_of(entry) == 0)
            return NULL;
        if (slot_of(entry) == popped(slot) && entry->stub == stub)
            return entry;
    }
    return NULL;
}

bool invocation_stack_check(const struct invocation_stack *stack)
{
    const struct invocation_piece *piece = stack->piece;

    if (piece == NULL || stack->top <= piece->entries || stack->top > stack->full ||
        stack->full != limit_of((struct invocation_piece *)piece) ||
        stack->limit != (stack->floor == 0 ? stack->full : NULL))
        return false;
    for (; piece != NULL; piece = piece->before)
        if (slot_of(&piece->entries[0]) != (piece->before == NULL ? INVOCATION_FIRST : INVOCATION_OUTER) ||
            (piece->before != NULL && (piece->before->used <= piece->before->entries ||
                                       piece->before->used > limit_of((struct invocation_piece *)piece->before))))
            return false;
    return true;
}
