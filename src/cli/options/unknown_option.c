/* SPDX-License-Identifier: MIT */
/* The option that is nearest to a word. Stateless. */
#include "cli/options/unknown_option.h"

#include "cli/options/nearest_name.h"
#include "hosted/error_text.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

void unknown_option_begin(struct nearest_names *nearest, const char *word)
{
    nearest_names_init(nearest, word + strspn(word, "-"));
    nearest->wanted[strcspn(nearest->wanted, "=")] = '\0';
}

int unknown_option_refuse(const struct nearest_names *nearest, const char *command, const char *word,
                          struct gait_error *err)
{
    if (nearest->count == 0)
        return error_set(err, EINVAL, "cannot use '%s': 'gait %s' has no such option; try 'gait help %s'", word,
                         command, command);
    return error_set(err, EINVAL, "cannot use '%s': 'gait %s' has no such option; try '--%s', or 'gait help %s'", word,
                     command, nearest->best[0].name, command);
}

int unknown_option_of(const struct option *options, const char *command, const char *word, struct gait_error *err)
{
    struct nearest_names nearest;

    unknown_option_begin(&nearest, word);
    for (; options->name != NULL; options++)
        nearest_names_offer(&nearest, options->name, strlen(options->name));
    return unknown_option_refuse(&nearest, command, word, err);
}
