/* SPDX-License-Identifier: MIT */
/*
 * Memory for code under test: an arena lies at an address that the test chooses, with unmapped memory on both sides, so
 * that addresses are the same in every run and an access that strays is a fault. Its bytes can be kept in an image,
 * compared with it and put back. Callable from one thread at a time.
 */
#ifndef GAIT_TESTS_ARENA_H
#define GAIT_TESTS_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct random;

/*
 * Where a test puts its first arena: far away from everything the kernel and the linker place by themselves, and from
 * powers of two, which are favourite values of random registers: at 1 << 36, code under test would overwrite itself.
 * The memory near 64 GiB belongs to the address sanitizer when it is there, so it is another place then.
 */
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_BASE 0x234560000000ull
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_BASE 0x234560000000ull
#endif
#endif
#ifndef ARENA_BASE
#define ARENA_BASE 0x1234560000ull
#endif

/* That much below and above an arena is checked to be free when it is made, and is left unmapped. */
#define ARENA_GUARD_BYTES 0x100000ull

enum arena_use {
    ARENA_CODE,  /* read, write, execute */
    ARENA_DATA,  /* read, write */
    ARENA_STACK, /* read, write; apart for the reader's sake */
};

struct arena {
    uint8_t *base;
    size_t size_bytes;
};

/* A piece of address space; what the random state generator draws pointers from. */
struct arena_span {
    uint64_t address;
    uint64_t size_bytes;
};

/* The bytes of an arena at some moment. */
struct arena_image {
    uint8_t *bytes;
    size_t size_bytes;
};

/*
 * Maps zeroed memory at exactly this page-aligned address; the size is rounded up to pages. -EEXIST: something is there
 * or within ARENA_GUARD_BYTES of it.
 */
int arena_init(struct arena *arena, uint64_t address, size_t size_bytes, enum arena_use use)
    __attribute__((warn_unused_result));
void arena_deinit(struct arena *arena);

struct arena_span arena_span_of(const struct arena *arena);

/* Pseudo-random bytes all over. */
void arena_fill(struct arena *arena, struct random *random);

/* Storage for an image of this arena, with its present bytes in it. -ENOMEM. */
int arena_image_init(struct arena_image *image, const struct arena *arena) __attribute__((warn_unused_result));
void arena_image_deinit(struct arena_image *image);

/* Takes the present bytes of the arena that the image was made for. */
void arena_image_capture(struct arena_image *image, const struct arena *arena);

/* Puts the bytes of the image back; writes only to pages that differ, and so costs little more than a comparison. */
void arena_restore(struct arena *arena, const struct arena_image *image);

/* True if the arena holds the bytes of the image; otherwise *offset_out is that of the first byte that differs. */
bool arena_equals(const struct arena *arena, const struct arena_image *image, size_t *offset_out);

#endif
