/* SPDX-License-Identifier: MIT */
/*
 * A program that tells what a trace of it should say: built with -finstrument-functions, each function below notes when
 * it is entered and left. At the end come lines of thread, "call" or "ret", name, and how many of the functions are
 * under way, the named one included. Threads, recursion, function pointers, callbacks from libc, longjmp, and a
 * signal handler.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define QUIET       __attribute__((no_instrument_function))
#define LOUD        __attribute__((noinline, noclone))
#define NOTES_MAX   200000
#define THREADS     4
#define WORK_ROUNDS 300

struct note {
    void *function;
    int is_return;
    int level;
};

struct notes {
    struct note *notes;
    int count;
    int level;
    pid_t tid;
};

static __thread struct notes *own;
static struct notes all[THREADS + 1];

QUIET static void begin_notes(struct notes *notes)
{
    notes->notes = calloc(NOTES_MAX, sizeof(*notes->notes));
    notes->tid = gettid();
    own = notes;
}

QUIET static void note(void *function, int is_return, int level)
{
    if (own != NULL && own->count < NOTES_MAX)
        own->notes[own->count++] = (struct note){function, is_return, level};
}

QUIET void __cyg_profile_func_enter(void *function, void *call_site);
QUIET void __cyg_profile_func_exit(void *function, void *call_site);

void __cyg_profile_func_enter(void *function, void *call_site)
{
    (void)call_site;
    if (own != NULL)
        note(function, 0, ++own->level);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
    (void)call_site;
    if (own != NULL)
        note(function, 1, own->level--);
}

/* ---- what is done ------------------------------------------------------------------------------------------------ */

static volatile int sum;
static jmp_buf place;

LOUD void f_leaf(int n)
{
    sum += n;
}

LOUD int f_recurse(int n)
{
    if (n == 0)
        return 1;
    f_leaf(n);
    return f_recurse(n - 1) + 1;
}

LOUD int f_compare(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

LOUD void f_sort(void)
{
    int numbers[] = {5, 3, 9, 1, 7, 7, 2};

    qsort(numbers, sizeof(numbers) / sizeof(numbers[0]), sizeof(numbers[0]), f_compare);
}

LOUD void f_jump(int n)
{
    if (n == 0)
        longjmp(place, 1);
    f_jump(n - 1);
}

LOUD void f_catch(void)
{
    int level = own->level;

    if (setjmp(place) == 0)
        f_jump(3);
    own->level = level;
    f_leaf(1);
}

LOUD void f_other(int n)
{
    f_leaf(n);
}

/* The kernel calls it, which is no call of the program's. */
QUIET static void handle(int signal)
{
    f_leaf(signal);
}

LOUD void f_signal(void)
{
    raise(SIGUSR1);
}

LOUD void f_pointers(void)
{
    static void (*const volatile functions[])(int) = {f_leaf, f_other};

    for (int i = 0; i < 6; i++)
        functions[i % 2](i);
}

LOUD void f_work(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        f_leaf(i);
        if (i % 50 == 0)
            f_recurse(i % 13);
    }
}

/* So many instructions and blocks: 2 + 2 * 1000, and 1 + 1000. */
void f_loop(void);
__asm__(".globl f_loop\n"
        ".type f_loop, @function\n"
        "f_loop: mov $1000, %ecx\n"
        "1: dec %ecx\n"
        "jnz 1b\n"
        "ret\n"
        ".size f_loop, . - f_loop\n");

/* ---- */

QUIET static void *run_thread(void *notes)
{
    begin_notes(notes);
    f_work(WORK_ROUNDS);
    f_sort();
    return NULL;
}

QUIET static const char *name_of(const void *function)
{
    static const struct {
        const void *function;
        const char *name;
    } names[] = {
        {f_leaf, "f_leaf"}, {f_recurse, "f_recurse"}, {f_compare, "f_compare"}, {f_sort, "f_sort"},
        {f_jump, "f_jump"}, {f_catch, "f_catch"},     {f_other, "f_other"},     {f_pointers, "f_pointers"},
        {f_work, "f_work"}, {f_signal, "f_signal"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].function == function)
            return names[i].name;
    return "?";
}

QUIET static void print_notes(const struct notes *notes)
{
    for (int i = 0; i < notes->count; i++)
        printf("%d\t%s\t%s\t%d\n", (int)notes->tid, notes->notes[i].is_return ? "ret" : "call",
               name_of(notes->notes[i].function), notes->notes[i].level);
}

QUIET int main(void)
{
    pthread_t threads[THREADS];

    signal(SIGUSR1, handle);
    begin_notes(&all[THREADS]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run_thread, &all[i]);
    f_work(WORK_ROUNDS);
    f_sort();
    f_catch();
    f_pointers();
    f_signal();
    f_loop();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    own = NULL;
    for (int i = 0; i <= THREADS; i++)
        print_notes(&all[i]);
    return 0;
}
