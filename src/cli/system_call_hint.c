/* SPDX-License-Identifier: MIT */
#include "cli/hints.h"

#include "cli/options/nearest_name.h"
#include "cli/screens/printable.h"
#include "hosted/error_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WORD_BYTES 128

void system_call_hint(const char *option, const struct system_call_set_fault *fault, struct gait_error *err)
{
    char word[WORD_BYTES], clean[WORD_BYTES], names[3 * NEAREST_NAME_BYTES + 16] = "";
    struct nearest_names nearest;
    const char *name;

    snprintf(word, sizeof(word), "%.*s", (int)fault->length, fault->word);
    nearest_names_init(&nearest, word + (fault->is_class ? 1 : 0));
    for (size_t i = 0; (name = system_call_set_class(i)) != NULL; i++)
        nearest_names_offer(&nearest, name, strlen(name));
    for (size_t i = 0; i < system_call_count() && !fault->is_class; i++)
        if (system_call_at(i)->number >= 0)
            nearest_names_offer(&nearest, system_call_at(i)->name, strlen(system_call_at(i)->name));
    nearest_names_join(&nearest, names, sizeof(names));
    printable(clean, sizeof(clean), word);
    if (names[0] != '\0' && strstr(fault->reason, "no such") != NULL)
        (void)error_set(err, EINVAL, "cannot use '%s%s': %s; did you mean %s%s?", option, clean, fault->reason,
                        fault->is_class ? "%" : "", names);
    else
        (void)error_set(err, EINVAL, "cannot use '%s%s': %s; see gait help syscalls", option, clean, fault->reason);
}
