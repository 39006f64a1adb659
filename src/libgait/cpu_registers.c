/* SPDX-License-Identifier: MIT */
/*
 * Registers that a context has no room for. A context is known by where it is: in the struct of the followed thread
 * that the calling thread is, or in the memory that hooks have for it. Where its vector registers were not saved before
 * a function of the user's was called, they are for the time of one access, so that nothing here may use them.
 */
#include "gait/cpu_registers.h"

#include "arch/vector_registers.h"
#include "arch/vector_state.h"
#include "gait/stalker.h"
#include "hook/hook_thread.h"
#include "hook/listener_call.h"
#include "libgait/export.h"
#include "stalker/thread.h"
#include "stalker/thread_registry.h"
#include "stalker/vectors.h"

#include <errno.h>
#include <stdbool.h>

#define GENERAL GAIT_GENERAL_REGISTERS_ONLY

struct access {
    enum gait_register_kind kind;
    unsigned number;
    void *bytes; /* from there, or to there */
    size_t size_bytes;
    bool is_set;
};

EXPORT GENERAL unsigned gait_cpu_register_count(enum gait_register_kind kind)
{
    return vector_registers_count(kind);
}

EXPORT GENERAL size_t gait_cpu_register_bytes(enum gait_register_kind kind)
{
    return vector_registers_bytes(kind);
}

GENERAL static bool is_there(const struct access *access)
{
    return access->number < vector_registers_count(access->kind) && access->size_bytes != 0 &&
           access->size_bytes <= vector_registers_bytes(access->kind);
}

/* What the program has in the register that translated code, or a stub, finds its thread with. */
GENERAL static uint64_t program_base(void)
{
    const struct stalker_thread *thread = thread_registry_current();
    uint64_t base;

    if (thread != NULL)
        return thread->thread_base;
    base = hook_thread_base_get();
    return hook_thread_has_base(base) ? 0 : base;
}

GENERAL static int access_base(const struct access *access)
{
    uint64_t base;

    if (access->is_set)
        return -EPERM;
    base = access->number == 0 ? hook_thread_pointer() : program_base();
    for (size_t i = 0; i < access->size_bytes; i++)
        ((uint8_t *)access->bytes)[i] = (uint8_t)(base >> 8 * i);
    return 0;
}

GENERAL static int access_saved(const struct access *access, void *area)
{
    if (access->is_set)
        return vector_registers_set(area, access->kind, access->number, access->bytes, access->size_bytes);
    vector_registers_get(area, access->kind, access->number, access->bytes, access->size_bytes);
    return 0;
}

GENERAL static int access_register(const struct gait_cpu_context *cpu, const struct access *access)
{
    struct vector_state_place place;
    int result;

    if (!is_there(access))
        return -EINVAL;
    if (!vectors_find(cpu, hook_thread_base_get(), &place) && !listener_call_find_vectors(cpu, &place))
        return -ESRCH;
    if (access->kind == GAIT_REGISTER_BASE)
        return access_base(access);
    if (place.area == NULL)
        return place.is_in_cpu ? -EOPNOTSUPP : -ESRCH;
    if (!place.is_in_cpu)
        return access_saved(access, place.area);
    vector_state_save(place.area);
    result = access_saved(access, place.area);
    vector_state_restore(place.area);
    return result;
}

EXPORT GENERAL int gait_cpu_register_get(const struct gait_cpu_context *cpu, enum gait_register_kind kind,
                                         unsigned number, void *bytes_out, size_t size_bytes)
{
    const struct access access = {kind, number, bytes_out, size_bytes, false};

    return access_register(cpu, &access);
}

EXPORT GENERAL int gait_cpu_register_set(struct gait_cpu_context *cpu, enum gait_register_kind kind, unsigned number,
                                         const void *bytes, size_t size_bytes)
{
    const struct access access = {kind, number, (void *)(uintptr_t)bytes, size_bytes, true};

    return access_register(cpu, &access);
}
