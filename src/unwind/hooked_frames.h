/* SPDX-License-Identifier: MIT */
/*
 * Frames that hooks have changed. A hook may have put an address of its own where a return address was, or have moved
 * some instructions elsewhere. Whoever makes such hooks gives a walk this, so that stacks are what they would be.
 */
#ifndef GAIT_UNWIND_HOOKED_FRAMES_H
#define GAIT_UNWIND_HOOKED_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* A place on the way of a walk. */
struct hooked_place {
    uint64_t pc;
    uint64_t sp; /* behind a call: as it will be when that has returned, so the word below is where pc was read from */
    uint64_t fp;
    bool is_exact; /* an instruction at pc is about to run; else pc is a return address */
};

struct hooked_frames {
    void *context;
    /*
     * True: the pc is of a hook's code, and the place has become the one where the program would be without it; which
     * may again be a hook's, where one function jumps to another. False: it is not, and nothing changed.
     *
     * Called only for code that no module has, on the thread whose stack it is or with that one stopped; no lock, no
     * libc, also in signal handlers.
     */
    bool (*undo)(void *context, struct hooked_place *place);
};

#endif
