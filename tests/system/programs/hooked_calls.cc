// SPDX-License-Identifier: MIT
// A program that tells what hooks should see of it: each function below notes when it is entered and left. Recursion,
// function pointers, callbacks from libc, signal handlers, threads; and functions that are left in every way but by a
// return: by exceptions that are caught, thrown again, and pass functions with something to clean up; by long jumps; in
// threads that end, or are ended, in the middle. At the end come lines of thread, "call" or "ret", name, and how many
// of the functions are under way, the named one included. An exception leaves a function as a return does; only long
// jumps, out of f_jump, are not noted.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>

#define LOUD __attribute__((noinline, noclone))

namespace
{

constexpr int notes_max = 100000;
constexpr int thread_count = 6;

struct note {
    const char *name;
    int is_return;
    int level;
};

struct notes {
    note *list;
    int count;
    int level;
    pid_t tid;
};

thread_local notes *own;
notes all[thread_count + 1];

void begin_notes(notes *place)
{
    place->list = static_cast<note *>(calloc(notes_max, sizeof(note)));
    place->tid = gettid();
    own = place;
}

void put_note(const char *name, int is_return, int level)
{
    if (own->count < notes_max)
        own->list[own->count++] = {name, is_return, level};
}

// As long as a function is under way.
struct noted {
    const char *name;

    explicit noted(const char *function) : name(function)
    {
        put_note(name, 0, ++own->level);
    }
    ~noted()
    {
        put_note(name, 1, own->level--);
    }
};

#define NOTED noted here(__func__)

} // namespace

extern "C" {

static volatile int sum;
static thread_local jmp_buf place;

LOUD void f_leaf(int n)
{
    NOTED;
    sum = sum + n;
}

LOUD int f_recurse(int n)
{
    NOTED;
    if (n == 0)
        return 1;
    f_leaf(n);
    return f_recurse(n - 1) + 1;
}

LOUD int f_compare(const void *left, const void *right)
{
    NOTED;
    return *static_cast<const int *>(left) - *static_cast<const int *>(right);
}

LOUD void f_sort(void)
{
    NOTED;
    int numbers[] = {5, 3, 9, 1, 7, 7, 2};

    qsort(numbers, sizeof(numbers) / sizeof(numbers[0]), sizeof(numbers[0]), f_compare);
}

LOUD void f_other(int n)
{
    NOTED;
    f_leaf(n);
}

LOUD void f_pointers(void)
{
    NOTED;
    static void (*const volatile functions[])(int) = {f_leaf, f_other};

    for (int i = 0; i < 6; i++)
        functions[i % 2](i);
}

// The kernel calls it.
LOUD void f_handle(int signal)
{
    NOTED;
    f_leaf(signal);
}

LOUD void f_signal(void)
{
    NOTED;
    raise(SIGUSR1);
}

// Many and large arguments, and a result in several registers.
struct pair {
    double first;
    long second;
};

LOUD pair f_many(long a, double b, long c, long d, long e, long f, long g, double h, long i, long j)
{
    NOTED;
    return {b * static_cast<double>(a + c) + h, a + c + d + e + f + g + i * j};
}

LOUD void f_throw(int n)
{
    NOTED;
    f_leaf(n);
    if (n == 0)
        throw std::runtime_error("from the bottom");
    f_throw(n - 1);
    f_leaf(n);
}

// What is cleaned up calls functions while the exception is under way.
struct cleaner {
    cleaner()
    {
        f_leaf(1);
    }
    ~cleaner()
    {
        f_leaf(2);
    }
};

LOUD void f_clean(int n)
{
    NOTED;
    cleaner one;

    if (n == 0)
        f_throw(2);
    f_clean(n - 1);
}

LOUD void f_rethrow(int n)
{
    NOTED;
    try {
        f_clean(n);
    } catch (const std::exception &) {
        f_leaf(3);
        throw;
    }
}

LOUD void f_replace(int n)
{
    NOTED;
    try {
        f_rethrow(n);
    } catch (const std::exception &) {
        throw 7;
    }
}

LOUD int f_catch(int n)
{
    NOTED;
    try {
        f_replace(n);
    } catch (int number) {
        f_leaf(number);
        return number;
    }
    return 0;
}

// An exception that is caught while another one is.
LOUD int f_nested(int n)
{
    NOTED;
    try {
        f_throw(n);
    } catch (const std::exception &) {
        return f_catch(n) + 1;
    }
    return 0;
}

LOUD void f_jump(int n)
{
    NOTED;
    f_leaf(n);
    if (n == 0)
        longjmp(place, 1);
    f_jump(n - 1);
}

LOUD void f_land(void)
{
    NOTED;
    volatile int level = own->level;

    if (setjmp(place) == 0)
        f_jump(5);
    own->level = level;
    f_leaf(1);
}

LOUD void f_exit(int n)
{
    NOTED;
    cleaner one;

    if (n == 0)
        pthread_exit(nullptr);
    f_exit(n - 1);
}

LOUD void f_wait(void)
{
    NOTED;
    for (;;)
        usleep(1000);
}

// Is cancelled there.
LOUD void f_cancelled(int n)
{
    NOTED;
    cleaner one;

    if (n == 0)
        f_wait();
    f_cancelled(n - 1);
}
}

static void print_notes(const notes *place)
{
    for (int i = 0; i < place->count; i++)
        printf("%d\t%s\t%s\t%d\n", static_cast<int>(place->tid), place->list[i].is_return ? "ret" : "call",
               place->list[i].name, place->list[i].level);
}

static void *run_thread(void *given)
{
    auto *place = static_cast<notes *>(given);
    long which = place - all;

    begin_notes(place);
    for (int i = 0; i < 20; i++) {
        f_recurse(i % 13);
        f_sort();
        f_pointers();
        f_signal();
        if (f_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10).second != 1 + 3 + 4 + 5 + 6 + 7 + 90)
            abort();
        f_catch(i % 4);
        f_land();
        f_nested(i % 3);
    }
    if (which % 3 == 1)
        f_exit(3);
    if (which % 3 == 2)
        f_cancelled(3);
    f_leaf(1);
    return nullptr;
}

int main()
{
    pthread_t threads[thread_count];

    signal(SIGUSR1, f_handle);
    for (int i = 0; i < thread_count; i++)
        pthread_create(&threads[i], nullptr, run_thread, &all[i]);
    run_thread(&all[thread_count]);
    for (int i = 0; i < thread_count; i++) {
        if (i % 3 == 2) {
            usleep(50000);
            pthread_cancel(threads[i]);
        }
        pthread_join(threads[i], nullptr);
    }
    own = nullptr;
    for (const notes &place : all)
        print_notes(&place);
    return 0;
}
