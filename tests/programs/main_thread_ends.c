/* SPDX-License-Identifier: MIT */
/* The main thread ends by pthread_exit; the process goes on until the last thread does. */
#include <pthread.h>
#include <stdio.h>

static pthread_t main_thread;

static void *outlive(void *unused)
{
    pthread_join(main_thread, NULL);
    puts("the main thread is gone");
    return unused;
}

static void on_cleanup(void *text)
{
    puts(text);
}

int main(void)
{
    pthread_t thread;

    main_thread = pthread_self();
    if (pthread_create(&thread, NULL, outlive, NULL) != 0)
        return 1;
    pthread_cleanup_push(on_cleanup, "cleaned up");
    pthread_exit(NULL);
    pthread_cleanup_pop(0);
    return 2;
}
