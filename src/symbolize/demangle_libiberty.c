/* SPDX-License-Identifier: MIT */
/*
 * Which language it is shows at the beginning of a name. A name of a few letters may stand for gigabytes, since parts
 * of it can be referred to again and again: what becomes too long is given up, in the middle of libiberty's work, which
 * at that point has its memory on the stack.
 */
#include "symbolize/demangle.h"

#include "hosted/growing_array.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX   (16u << 10)
#define RESULT_BYTES_MAX (64u << 10)
#define PIECES_MAX       (1u << 20)
#define OPTIONS          (DMGL_PARAMS | DMGL_ANSI)

struct result {
    char *text;
    size_t used;
    size_t capacity;
    size_t pieces;
    jmp_buf give_up;
};

/* A piece of the result. */
static void take(const char *piece, size_t length, void *context)
{
    struct result *result = context;

    if (length > RESULT_BYTES_MAX - result->used || result->pieces++ == PIECES_MAX)
        longjmp(result->give_up, 1);
    if (ARRAY_RESERVE(result->text, result->capacity, result->used + length + 1) != 0)
        longjmp(result->give_up, 1);
    memcpy(result->text + result->used, piece, length);
    result->used += length;
    result->text[result->used] = '\0';
}

typedef int demangler(const char *name, int options, demangle_callbackref take_piece, void *context);

static char *collect(demangler *run, const char *name)
{
    struct result *result = calloc(1, sizeof(*result));
    char *text = NULL;

    if (result == NULL)
        return NULL;
    if (setjmp(result->give_up) == 0 && run(name, OPTIONS, take, result) != 0) {
        text = result->text;
        result->text = NULL;
    }
    free(result->text);
    free(result);
    return text;
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

char *demangle(const char *name)
{
    char *text = NULL;

    if (name[0] != '_' || strlen(name) > NAME_BYTES_MAX)
        return NULL;
    /* Rust's older names are those of C++ with a hash at the end, which is how they are known. */
    if (begins(name, "_R") || begins(name, "_ZN"))
        text = collect(rust_demangle_callback, name);
    if (text == NULL && (begins(name, "_Z") || begins(name, "_GLOBAL_")))
        text = collect(cplus_demangle_v3_callback, name);
    if (text == NULL && (strcmp(name, "_Dmain") == 0 || (begins(name, "_D") && isdigit((unsigned char)name[2]))))
        text = dlang_demangle(name, OPTIONS);
    return text;
}
