/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/names/errno_name.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ERRNO_MAX 4095

/* What the kernel says to itself when a signal comes in between: tracers see it, programs never do. */
static const struct {
    int number;
    const char *name, *meaning;
} restarts[] = {
    {512, "ERESTARTSYS", "To be restarted if SA_RESTART is set"},
    {513, "ERESTARTNOINTR", "To be restarted"},
    {514, "ERESTARTNOHAND", "To be restarted if no handler"},
    {516, "ERESTART_RESTARTBLOCK", "Interrupted by signal"},
};

static const struct {
    int number;
    const char *name;
} errors[] = {
#define ERRNO(name) {name, #name},
#include "syscalls/names/errno_names.def"
    {524, "ENOTSUPP"},
};

const char *errno_name(int number)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (errors[i].number == number)
            return errors[i].name;
    for (size_t i = 0; i < sizeof(restarts) / sizeof(restarts[0]); i++)
        if (restarts[i].number == number)
            return restarts[i].name;
    return NULL;
}

const char *errno_meaning(int number)
{
    for (size_t i = 0; i < sizeof(restarts) / sizeof(restarts[0]); i++)
        if (restarts[i].number == number)
            return restarts[i].meaning;
    return strerrordesc_np(number);
}

int errno_by_name(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);

    if (end != name && *end == '\0')
        return number > 0 && number <= ERRNO_MAX ? (int)number : -1;
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (strcmp(errors[i].name, name) == 0)
            return errors[i].number;
    return -1;
}
