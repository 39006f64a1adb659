/* SPDX-License-Identifier: MIT */
/*
 * Calls functions with arguments of all types, for --arg, and says what a recording should show of them: lines
 * "function TAB arguments" where one is entered, and "function TAB = result" where it returns. Declared are:
 *
 *     d_string:str->int   d_short:str[3]   d_numbers:int,u8,i64,i16,u64,hex,ptr,bool,char,fd   d_skips:_,int->_
 *     d_floats:double,int,float,double->double   d_half:float->float   d_name:int->str   d_none:->ptr
 *     d_many:_,_,_,_,_,_,str,int,double   d_buffer:buf[arg2],size->ssize!errno   d_fixed:buf[4]->int!errno
 *     d_pointer:int->ptr!errno   d_full:str[300],str[300],str[300],int
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCHED __attribute__((noinline, noclone, noipa))

static volatile long sink;

WATCHED int d_string(const char *text)
{
    sink += text != NULL;
    return (int)sink * 0 - 7;
}

WATCHED void d_short(const char *text)
{
    sink += text != NULL;
}

WATCHED void d_numbers(int a, unsigned char b, long c, short d, unsigned long e, unsigned f, void *g, bool h, char i,
                       int j)
{
    sink += a + b + c + d + (long)e + f + (g != NULL) + h + i + j;
}

WATCHED int d_skips(int a, int b)
{
    sink += a + b;
    return 5;
}

WATCHED double d_floats(double a, int b, float c, double d)
{
    return a + b + (double)c + d;
}

WATCHED float d_half(float a)
{
    return a / 2;
}

WATCHED const char *d_name(int which)
{
    return which == 0 ? NULL : which == 1 ? "one\tof\tthem" : (const char *)16;
}

WATCHED void *d_none(void)
{
    return (void *)0xabc;
}

WATCHED void d_many(int a, int b, int c, int d, int e, int f, const char *text, int h, double i)
{
    sink += a + b + c + d + e + f + (text != NULL) + h + (long)i;
}

WATCHED ssize_t d_buffer(const void *bytes, size_t size_bytes)
{
    sink += bytes != NULL;
    errno = EPIPE;
    return size_bytes == 3 ? -1 : (ssize_t)size_bytes;
}

WATCHED int d_fixed(const void *bytes)
{
    sink += bytes != NULL;
    errno = EAGAIN;
    return -1;
}

WATCHED void *d_pointer(int what)
{
    errno = what;
    return what == 0 ? &errno : NULL;
}

WATCHED void d_full(const char *a, const char *b, const char *c, int d)
{
    sink += a[0] + b[0] + c[0] + d;
}

/* A page with one behind it that cannot be read: without any, something else might be mapped there. */
static char *last_page(void)
{
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mprotect(pages + 4096, 4096, PROT_NONE);
    return pages;
}

static void call_with_strings(void)
{
    char *page = last_page();

    printf("d_string\t\"hello\"\nd_string\t= -7\n");
    d_string("hello");
    printf("d_string\t\"\"\nd_string\t= -7\n");
    d_string("");
    printf("d_string\t\"\\\"quoted\\\" \\\\ \\n\\x01 \303\251\"\nd_string\t= -7\n");
    d_string("\"quoted\" \\ \n\x01 \303\251");
    printf("d_string\tNULL\nd_string\t= -7\n");
    d_string(NULL);
    printf("d_string\t0x10 (unreadable)\nd_string\t= -7\n");
    d_string((const char *)16);
    printf("d_string\t%p (unreadable)\nd_string\t= -7\n", (void *)(page + 4096));
    d_string(page + 4096);
    memcpy(page + 4091, "tail", 5);
    printf("d_string\t\"tail\"\nd_string\t= -7\n");
    d_string(page + 4091);
    memcpy(page + 4092, "tail", 4);
    printf("d_string\t\"tail\"...\nd_string\t= -7\n");
    d_string(page + 4092);
    printf("d_string\t\"0123456789012345678901234567890123456789012345678901234567890123\"...\nd_string\t= -7\n");
    d_string("01234567890123456789012345678901234567890123456789012345678901234");
    printf("d_short\t\"abc\"...\n");
    d_short("abcd");
    printf("d_short\t\"abc\"\n");
    d_short("abc");
}

static void call_with_numbers(void)
{
    printf("d_numbers\t-1, 255, -9223372036854775808, -2, 18446744073709551615, 0xffffffff, NULL, true, 'x', -1\n");
    d_numbers(-1, 255, INT64_MIN, -2, UINT64_MAX, UINT32_MAX, NULL, true, 'x', -1);
    printf("d_skips\t_, 3\n");
    d_skips(2, 3);
    printf("d_floats\t0.5, 2, 0.25, -1e+100\nd_floats\t= -1e+100\n");
    d_floats(0.5, 2, 0.25f, -1e100);
    printf("d_half\t0.1\nd_half\t= 0.05\n");
    d_half(0.1f);
    printf("d_many\t_, _, _, _, _, _, \"on the stack\", -8, 2.5\n");
    d_many(1, 2, 3, 4, 5, 6, "on the stack", -8, 2.5);
    printf("d_none\t= 0xabc\n");
    d_none();
}

static void call_for_results(void)
{
    static const char bytes[] = "a\0bcdefg";

    printf("d_name\t1\nd_name\t= \"one\\tof\\tthem\"\n");
    d_name(1);
    printf("d_name\t0\nd_name\t= NULL\n");
    d_name(0);
    printf("d_name\t2\nd_name\t= 0x10 (unreadable)\n");
    d_name(2);
    printf("d_buffer\t\"a\\x00b\", 3\nd_buffer\t= -1 EPIPE\n");
    d_buffer(bytes, 3);
    printf("d_buffer\t\"\", 0\nd_buffer\t= 0\n");
    d_buffer(bytes, 0);
    printf("d_fixed\t\"a\\x00bc\"\nd_fixed\t= -1 EAGAIN\n");
    d_fixed(bytes);
    printf("d_pointer\t2\nd_pointer\t= NULL ENOENT\n");
    d_pointer(ENOENT);
    printf("d_pointer\t0\nd_pointer\t= %p\n", (void *)&errno);
    d_pointer(0);
}

/* As much as fits, and the rest is told to be missing: a record has 512 bytes for all, with four for each value. */
static void call_with_too_much(void)
{
    char text[301] = "";

    memset(text, 'y', 300);
    printf("d_full\t\"%s\", \"%.*s\"..., (no room), (no room)\n", text, 512 - 16 - 300, text);
    d_full(text, text, text, 4);
}

static void *run(void *unused)
{
    (void)unused;
    flockfile(stdout);
    call_with_strings();
    call_with_numbers();
    call_for_results();
    call_with_too_much();
    funlockfile(stdout);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pid_t child;

    run(NULL);
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        run(NULL);
        exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}
