// SPDX-License-Identifier: MIT
// A program that leaves functions in every way but by a return: exceptions that are caught, thrown again, and pass
// functions with something to clean up; long jumps; threads that end, or are ended, in the middle. Built with
// -finstrument-functions, its functions note when they are entered and left: an exception leaves one as a return does.
// Lines are as those of says_what_it_does.c. Only long jumps, out of f_jump, are not noted.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))
#define LOUD  __attribute__((noinline, noclone))

namespace {

constexpr int notes_max = 100000;
constexpr int thread_count = 6;

struct note {
    void *function;
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

QUIET void begin_notes(notes *place)
{
    place->list = static_cast<note *>(calloc(notes_max, sizeof(note)));
    place->tid = gettid();
    own = place;
}

QUIET void put_note(void *function, int is_return, int level)
{
    if (own != nullptr && own->count < notes_max)
        own->list[own->count++] = {function, is_return, level};
}

} // namespace

extern "C" {

QUIET void __cyg_profile_func_enter(void *function, void *);
QUIET void __cyg_profile_func_exit(void *function, void *);

void __cyg_profile_func_enter(void *function, void *)
{
    if (own != nullptr)
        put_note(function, 0, ++own->level);
}

void __cyg_profile_func_exit(void *function, void *)
{
    if (own != nullptr)
        put_note(function, 1, own->level--);
}

static volatile int sum;
static thread_local jmp_buf place;

LOUD void f_leaf(int n)
{
    sum = sum + n;
}

LOUD void f_throw(int n)
{
    f_leaf(n);
    if (n == 0)
        throw std::runtime_error("from the bottom");
    f_throw(n - 1);
    f_leaf(n);
}

/* What is cleaned up calls functions while the exception is under way. */
struct cleaner {
    QUIET cleaner()
    {
        f_leaf(1);
    }
    QUIET ~cleaner()
    {
        f_leaf(2);
    }
};

LOUD void f_clean(int n)
{
    cleaner one;

    if (n == 0)
        f_throw(2);
    f_clean(n - 1);
}

LOUD void f_rethrow(int n)
{
    try {
        f_clean(n);
    } catch (const std::exception &) {
        f_leaf(3);
        throw;
    }
}

LOUD void f_replace(int n)
{
    try {
        f_rethrow(n);
    } catch (const std::exception &) {
        throw 7;
    }
}

LOUD int f_catch(int n)
{
    try {
        f_replace(n);
    } catch (int number) {
        f_leaf(number);
        return number;
    }
    return 0;
}

/* An exception that is caught while another one is. */
LOUD int f_nested(int n)
{
    try {
        f_throw(n);
    } catch (const std::exception &) {
        return f_catch(n) + 1;
    }
    return 0;
}

LOUD void f_jump(int n)
{
    f_leaf(n);
    if (n == 0)
        longjmp(place, 1);
    f_jump(n - 1);
}

LOUD void f_land(void)
{
    volatile int level = own->level;

    if (setjmp(place) == 0)
        f_jump(5);
    own->level = level;
    f_leaf(1);
}

LOUD void f_exit(int n)
{
    cleaner one;

    if (n == 0)
        pthread_exit(nullptr);
    f_exit(n - 1);
}

LOUD void f_wait(void)
{
    for (;;)
        usleep(1000);
}

/* Is cancelled there. */
LOUD void f_cancelled(int n)
{
    cleaner one;

    if (n == 0)
        f_wait();
    f_cancelled(n - 1);
}
}

static const struct {
    const void *function;
    const char *name;
} names[] = {
    {reinterpret_cast<void *>(f_leaf), "f_leaf"},       {reinterpret_cast<void *>(f_throw), "f_throw"},
    {reinterpret_cast<void *>(f_clean), "f_clean"},     {reinterpret_cast<void *>(f_rethrow), "f_rethrow"},
    {reinterpret_cast<void *>(f_replace), "f_replace"}, {reinterpret_cast<void *>(f_catch), "f_catch"},
    {reinterpret_cast<void *>(f_nested), "f_nested"},   {reinterpret_cast<void *>(f_jump), "f_jump"},
    {reinterpret_cast<void *>(f_land), "f_land"},       {reinterpret_cast<void *>(f_exit), "f_exit"},
    {reinterpret_cast<void *>(f_wait), "f_wait"},       {reinterpret_cast<void *>(f_cancelled), "f_cancelled"},
};

QUIET static const char *name_of(const void *function)
{
    for (const auto &known : names)
        if (known.function == function)
            return known.name;
    return "?";
}

QUIET static void print_notes(const notes *place)
{
    for (int i = 0; i < place->count; i++)
        printf("%d\t%s\t%s\t%d\n", static_cast<int>(place->tid), place->list[i].is_return ? "ret" : "call",
               name_of(place->list[i].function), place->list[i].level);
}

QUIET static void *run_thread(void *given)
{
    auto *place = static_cast<notes *>(given);
    long which = place - all;

    begin_notes(place);
    for (int i = 0; i < 20; i++) {
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

QUIET int main()
{
    pthread_t threads[thread_count];

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
