/* SPDX-License-Identifier: MIT */
/*
 * Which goroutine a thread runs is told again in each buffer of records, so that losses of others do not matter. The
 * goroutines of the runtime itself, which have a stack of the system's, all have the number 0: they are told apart by
 * where they are.
 */
#include "hook/go/goroutine.h"

#include "hook/go/goroutine_layout.h"
#include "hook/hook_record.h"
#include "hook/hook_thread.h"
#include "hook/stub_knowledge.h"
#include "ring/event_record.h"

#include <stdatomic.h>

_Static_assert(EVENT_HEIGHT_BIT == EVENT_HEIGHT, "as readers have it");

/* Set in the number of a goroutine that has none. */
#define IS_PLACE (1ull << (EVENT_GOROUTINE_BITS - 1))

/* What the linker puts in front of the version, and how it says that the version follows. */
#define SIGN              "\xff Go buildinf:"
#define SIGN_BYTES        14
#define SIGN_FLAGS_AT     15
#define SIGN_IS_INLINE    2
#define SIGN_VERSION_AT   32
#define SIGN_ALIGNMENT    16
#define VERSION_BYTES_MAX 64

uint64_t hook_goroutine_number_at;

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

/* For a version as "go1.19.8"; 0: it is not known. */
static uint64_t offset_for(const char *version, size_t length)
{
    static const char prefix[] = "go1.";
    unsigned minor = 0;
    size_t at = sizeof(prefix) - 1;

    if (length <= at || __builtin_memcmp(version, prefix, at) != 0 || !is_digit(version[at]))
        return 0;
    for (; at < length && is_digit(version[at]) && minor < 1000; at++)
        minor = 10 * minor + (unsigned)(version[at] - '0');
    if (minor >= 18 && minor <= 22)
        return 152;
    return minor == 23 || minor == 24 ? 160 : 0;
}

bool hook_goroutines_find(const uint8_t *bytes, size_t size_bytes)
{
    for (size_t at = 0; at + SIGN_VERSION_AT + 1 < size_bytes; at += SIGN_ALIGNMENT) {
        const uint8_t *found = bytes + at;
        size_t length;

        if (found[0] != 0xff || __builtin_memcmp(found, SIGN, SIGN_BYTES) != 0 ||
            !(found[SIGN_FLAGS_AT] & SIGN_IS_INLINE))
            continue;
        length = found[SIGN_VERSION_AT];
        if (length > VERSION_BYTES_MAX || length > size_bytes - at - SIGN_VERSION_AT - 1)
            return false;
        hook_goroutine_number_at = offset_for((const char *)found + SIGN_VERSION_AT + 1, length);
        return hook_goroutine_number_at != 0;
    }
    return false;
}

static uint64_t word_of(uint64_t goroutine, uint64_t offset)
{
    return *(const uint64_t *)(uintptr_t)(goroutine + offset);
}

/*
 * A thread that has it again later, and ran no other one that was told meanwhile, is to tell it again: else it would
 * seem never to have been elsewhere. While it runs here no other thread compares it with its own.
 */
static void forget_elsewhere(const struct hook_thread *thread, uint64_t number)
{
    struct hook_thread *other;

    for (uint32_t i = 0; (other = hook_thread_at(i)) != NULL; i++) {
        uint64_t told = number;

        if (other != thread && atomic_load_explicit(&other->goroutine, memory_order_relaxed) == number)
            (void)atomic_compare_exchange_strong_explicit(&other->goroutine, &told, 0, memory_order_relaxed,
                                                          memory_order_relaxed);
    }
}

static void announce(struct hook_thread *thread, uint64_t number)
{
    forget_elsewhere(thread, number);
    atomic_store_explicit(&thread->goroutine, number, memory_order_relaxed);
    hook_record_write(thread, event_goroutine_high(number), EVENT_RECORD_GOROUTINE, (uint32_t)number);
}

void hook_goroutine_record(struct hook_thread *thread, uint64_t stub, uint64_t goroutine, uint64_t sp)
{
    uint64_t number = word_of(goroutine, hook_goroutine_number_at);
    uint32_t height = (uint32_t)(word_of(goroutine, GOROUTINE_STACK_END) - sp) | EVENT_HEIGHT;

    if (number == 0)
        number = goroutine | IS_PLACE;
    /* What it is told in may be the last record of its buffer: then the next one has it again. */
    for (unsigned i = 0; i < 2 && number != thread->goroutine; i++)
        announce(thread, number);
    hook_record_write(thread, stub_record_number(stub),
                      stub_parts(stub) & HOOK_STUB_EXIT ? EVENT_RECORD_LEAVE : EVENT_RECORD_ENTER, height);
}
