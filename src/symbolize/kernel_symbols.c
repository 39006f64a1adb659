/* SPDX-License-Identifier: MIT */
/* A line is "address kind name" or "address kind name [module]", with tabs. Without the right, all addresses are 0. */
#include "symbolize/kernel_symbols.h"

#include "symbolize/named_code.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 1024

static int add_line(struct named_code *code, char *line)
{
    struct named_range range = {.begin = strtoull(line, &line, 16)};

    if (range.begin == 0 || line[0] != ' ' || line[1] == '\0' || strchr("tTwW", line[1]) == NULL || line[2] != ' ')
        return 0;
    line += 3;
    line[strcspn(line, "\n")] = '\0';
    for (char *tab = line; (tab = strchr(tab, '\t')) != NULL;)
        *tab = ' ';
    return named_code_add(code, &range, line, strlen(line));
}

int kernel_symbols_read(struct named_code *code, const char *path)
{
    FILE *file = fopen(path == NULL ? "/proc/kallsyms" : path, "re");
    char line[LINE_BYTES];
    int result = 0;

    if (file == NULL)
        return errno == EACCES || errno == EPERM ? -EACCES : -ENOENT;
    while (result == 0 && fgets(line, sizeof(line), file) != NULL)
        result = add_line(code, line);
    fclose(file);
    named_code_finish(code);
    return result != 0 ? result : code->count == 0 ? -EACCES : 0;
}
