/* SPDX-License-Identifier: MIT */
/* The public face of transformers' iterators. All the work is in stalker/transformer.c. */
#include "gait/stalker.h"
#include "libgait/export.h"
#include "stalker/transformer.h"

#include <stdint.h>

EXPORT bool gait_iterator_next(struct gait_iterator *iterator, struct gait_instruction *instruction_out)
{
    uint64_t pc;

    if (!iterator_next(iterator))
        return false;
    pc = iterator_pc(iterator).value;
    /* It was decoded before, so it can be again. */
    return instruction_out == NULL || gait_instruction_decode((const void *)(uintptr_t)pc, iterator_length(iterator),
                                                              pc, instruction_out, NULL) == 0;
}

EXPORT void gait_iterator_keep(struct gait_iterator *iterator)
{
    iterator_keep(iterator);
}

EXPORT void gait_iterator_put_callout(struct gait_iterator *iterator, gait_callout callout, void *data,
                                      enum gait_callout_use use)
{
    if (callout != NULL)
        iterator_put_callout(iterator, callout, data, use == GAIT_CALLOUT_GENERAL_ONLY);
}

EXPORT void gait_iterator_put_code(struct gait_iterator *iterator, const void *code, size_t size_bytes)
{
    if (code != NULL)
        iterator_put_code(iterator, code, size_bytes);
}

EXPORT void gait_iterator_put_count(struct gait_iterator *iterator, uint64_t *counter)
{
    if (counter != NULL)
        iterator_put_count(iterator, counter);
}

EXPORT uint64_t *gait_iterator_new_counter(struct gait_iterator *iterator)
{
    return iterator_new_counter(iterator);
}

EXPORT void gait_iterator_put_return(struct gait_iterator *iterator)
{
    iterator_put_return(iterator);
}
