/* SPDX-License-Identifier: MIT */
/*
 * How long does it take to hook many functions, and to take the hooks away? First 5,000, then 50,000 functions of a
 * library that is made for it, in one transaction each, from an empty process to the last hook: its file is read, all
 * of its code is looked at, the functions are planned, stubs and trampolines are written, threads are stopped, and the
 * code is patched. "stopped" is how long threads stood still, as a thread sees it that does nothing but look at the
 * clock.
 */
#define _GNU_SOURCE
#include "gait/hook.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void nothing(struct gait_invocation *invocation)
{
    (void)invocation;
}

static int64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

/* ---- a library with many functions --------------------------------------------------------------------------------
 */

/* Assembly: compilers take minutes for so many. Of several shapes, as those of compilers are. */
static void write_functions(FILE *file, int count)
{
    static const char *const shapes[] = {
        "endbr64; pushq %rbp; movq %rsp, %rbp; movl %edi, %eax; addl $1, %eax; popq %rbp; ret",
        "endbr64; leal 3(%rdi), %eax; cmpl $7, %eax; jg 1f; negl %eax; 1: ret",
        "pushq %rbx; movq %rdi, %rbx; call function_0@plt; addq %rbx, %rax; popq %rbx; ret",
        "subq $24, %rsp; movq %rdi, 8(%rsp); movq 8(%rsp), %rax; addq $24, %rsp; ret",
        "movl number(%rip), %eax; addl %edi, %eax; ret",
    };

    fputs("        .text\n", file);
    for (int i = 0; i < count; i++)
        fprintf(file,
                "        .globl function_%d\n        .type function_%d, @function\n        .p2align 4\nfunction_%d:\n"
                "        %s\n        .size function_%d, . - function_%d\n",
                i, i, i, shapes[i == 0 ? 0 : i % 5], i, i);
    fputs("        .data\nnumber: .long 1\n        .section .note.GNU-stack,\"\",@progbits\n", file);
}

static void *load_library(const char *folder, int count)
{
    char source[256], library[256], command[640];
    FILE *file;

    snprintf(source, sizeof(source), "%s/functions_%d.S", folder, count);
    snprintf(library, sizeof(library), "%s/functions_%d.so", folder, count);
    file = fopen(source, "w");
    if (file == NULL)
        return NULL;
    write_functions(file, count);
    fclose(file);
    snprintf(command, sizeof(command), "cc -shared -o %s %s", library, source);
    if (system(command) != 0)
        return NULL;
    unlink(source);
    return dlopen(library, RTLD_NOW);
}

static void unload_library(const char *folder, int count, void *handle)
{
    char library[256];

    snprintf(library, sizeof(library), "%s/functions_%d.so", folder, count);
    dlclose(handle);
    unlink(library);
}

/* ---- measuring ----------------------------------------------------------------------------------------------------
 */

static atomic_bool ended;
static _Atomic int64_t longest_ns;

static void *watch_clock(void *context)
{
    int64_t last = now_ns();

    while (!atomic_load(&ended)) {
        int64_t now = now_ns();

        if (now - last > atomic_load(&longest_ns))
            atomic_store(&longest_ns, now - last);
        last = now;
    }
    return context;
}

static int measure(const char *folder, int count, int limit_ms)
{
    const struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = nothing, .leave = nothing};
    void *library = load_library(folder, count);
    struct gait_hooks *hooks;
    struct gait_error error;
    int64_t start, hooked, unhooked;
    size_t hooked_count = 0;
    pthread_t watcher;

    if (library == NULL) {
        printf("no compiler to make a library with\n");
        return 0;
    }
    atomic_store(&ended, false);
    atomic_store(&longest_ns, 0);
    pthread_create(&watcher, NULL, watch_clock, NULL);
    start = now_ns();
    if (gait_hooks_acquire(NULL, &hooks, &error) != 0 ||
        gait_hook_attach_module(hooks, (uintptr_t)dlsym(library, "function_0"), NULL, NULL, &listener, &hooked_count,
                                &error) != 0) {
        printf("%s\n", error.text);
        return 1;
    }
    hooked = now_ns();
    if (gait_hooks_release(hooks, &error) != 0) {
        printf("%s\n", error.text);
        return 1;
    }
    unhooked = now_ns();
    atomic_store(&ended, true);
    pthread_join(watcher, NULL);
    printf("%zu functions hooked in %.1f ms (to reach: %d ms), unhooked in %.1f ms; stopped for at most %.1f ms\n",
           hooked_count, (double)(hooked - start) / 1e6, limit_ms, (double)(unhooked - hooked) / 1e6,
           (double)atomic_load(&longest_ns) / 1e6);
    unload_library(folder, count, library);
    return 0;
}

int main(void)
{
    char folder[] = "/tmp/hook_install.XXXXXX";
    int status;

    if (mkdtemp(folder) == NULL) {
        perror("hook_install");
        return 1;
    }
    status = measure(folder, 5000, 300);
    if (status == 0)
        status = measure(folder, 50000, 3000);
    rmdir(folder);
    return status;
}
