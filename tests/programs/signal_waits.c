/* SPDX-License-Identifier: MIT */
/* Waiting for signals: with other masks for the time of the wait, and without handlers. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static volatile sig_atomic_t first, second, inside;

static void on_signal(int number)
{
    sigset_t set;

    sigprocmask(SIG_BLOCK, NULL, &set);
    inside = inside * 4 + sigismember(&set, SIGUSR1) + 2 * sigismember(&set, SIGUSR2);
    first += number == SIGUSR1;
    second += number == SIGUSR2;
}

static void show(const char *what, int result)
{
    int error = errno;
    sigset_t set;

    sigprocmask(SIG_BLOCK, NULL, &set);
    printf("%s: %d, %s; %d and %d, inside %x, blocked %d %d\n", what, result, result < 0 ? strerror(error) : "no error",
           first, second, (unsigned)inside, sigismember(&set, SIGUSR1), sigismember(&set, SIGUSR2));
    first = second = inside = 0;
}

static void *send_soon(void *to)
{
    while (first < 3) {
        usleep(1000);
        pthread_kill(*(pthread_t *)to, SIGUSR1);
    }
    return NULL;
}

static void from_other_thread(void)
{
    pthread_t self = pthread_self(), other;
    sigset_t none;

    sigemptyset(&none);
    if (pthread_create(&other, NULL, send_soon, &self) != 0)
        return;
    while (first < 3)
        sigsuspend(&none);
    pthread_join(other, NULL);
    /* One may have come too late. */
    signal(SIGUSR1, SIG_IGN);
    first = second = inside = 0;
    puts("three from another thread");
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct timespec second_long = {1, 0};
    struct signalfd_siginfo read_info;
    sigset_t both, none, one;
    siginfo_t info;
    int fd;

    sigemptyset(&none);
    sigemptyset(&both);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGUSR2);
    one = both;
    sigdelset(&one, SIGUSR1);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    sigprocmask(SIG_BLOCK, &both, NULL);
    for (int i = 0; i < 3; i++) {
        raise(SIGUSR1);
        show("suspended", sigsuspend(&none));
        raise(SIGUSR1);
        raise(SIGUSR2);
        show("suspended for both", sigsuspend(&none));
        raise(SIGUSR1);
        raise(SIGUSR2);
        show("suspended for one", sigsuspend(&one));
        show("polled", ppoll(NULL, 0, &second_long, &none));
    }
    raise(SIGUSR2);
    show("waited", sigwaitinfo(&both, &info) == SIGUSR2 && info.si_signo == SIGUSR2);
    fd = signalfd(-1, &both, 0);
    raise(SIGUSR1);
    show("read", read(fd, &read_info, sizeof(read_info)) == sizeof(read_info) && read_info.ssi_signo == SIGUSR1);
    from_other_thread();
    return 0;
}
