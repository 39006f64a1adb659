/* SPDX-License-Identifier: MIT */
/* Requests and answers in rings that are shared with the kernel, and a thread of the kernel's that looks at them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENTRIES 8
#define ROUNDS  200

static struct rings {
    int fd;
    unsigned *submit_tail, *submit_mask, *submit_array, *submit_flags, *done_head, *done_tail, *done_mask;
    struct io_uring_sqe *requests;
    struct io_uring_cqe *answers;
} rings;

static int set_up(unsigned flags)
{
    struct io_uring_params params = {.flags = flags, .sq_thread_idle = 50};
    char *submit, *done;

    rings.fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &params);
    if (rings.fd < 0)
        return 0;
    submit =
        mmap(NULL, params.sq_off.array + ENTRIES * 4, PROT_READ | PROT_WRITE, MAP_SHARED, rings.fd, IORING_OFF_SQ_RING);
    done = mmap(NULL, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE,
                MAP_SHARED, rings.fd, IORING_OFF_CQ_RING);
    rings.requests = mmap(NULL, ENTRIES * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED, rings.fd,
                          IORING_OFF_SQES);
    rings.submit_tail = (unsigned *)(submit + params.sq_off.tail);
    rings.submit_mask = (unsigned *)(submit + params.sq_off.ring_mask);
    rings.submit_array = (unsigned *)(submit + params.sq_off.array);
    rings.submit_flags = (unsigned *)(submit + params.sq_off.flags);
    rings.done_head = (unsigned *)(done + params.cq_off.head);
    rings.done_tail = (unsigned *)(done + params.cq_off.tail);
    rings.done_mask = (unsigned *)(done + params.cq_off.ring_mask);
    rings.answers = (struct io_uring_cqe *)(done + params.cq_off.cqes);
    return 1;
}

static int request(const struct io_uring_sqe *wanted, int has_thread)
{
    unsigned tail = *rings.submit_tail, index = tail & *rings.submit_mask, head = *rings.done_head;
    int result;

    rings.requests[index] = *wanted;
    rings.submit_array[index] = index;
    __atomic_store_n(rings.submit_tail, tail + 1, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!has_thread)
        syscall(SYS_io_uring_enter, rings.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
    else if (__atomic_load_n(rings.submit_flags, __ATOMIC_ACQUIRE) & IORING_SQ_NEED_WAKEUP)
        syscall(SYS_io_uring_enter, rings.fd, 1, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0);
    while (__atomic_load_n(rings.done_tail, __ATOMIC_ACQUIRE) == head)
        usleep(10);
    result = rings.answers[head & *rings.done_mask].res;
    __atomic_store_n(rings.done_head, head + 1, __ATOMIC_RELEASE);
    return result;
}

static int use(unsigned flags)
{
    int pipes[2], wrong = 0, has_thread = (flags & IORING_SETUP_SQPOLL) != 0;
    char out[16], in[16];

    if (!set_up(flags) || pipe(pipes) != 0)
        return -1;
    for (int i = 0; i < ROUNDS; i++) {
        struct io_uring_sqe write_one = {
            .opcode = IORING_OP_WRITE, .fd = pipes[1], .addr = (uintptr_t)out, .len = sizeof(out)};
        struct io_uring_sqe read_one = {
            .opcode = IORING_OP_READ, .fd = pipes[0], .addr = (uintptr_t)in, .len = sizeof(in)};

        snprintf(out, sizeof(out), "number %d", i);
        wrong += request(&write_one, has_thread) != (int)sizeof(out);
        wrong += request(&read_one, has_thread) != (int)sizeof(in) || memcmp(in, out, sizeof(in)) != 0;
    }
    close(rings.fd);
    return wrong;
}

int main(void)
{
    printf("entered: %d wrong\n", use(0));
    printf("polled: %d wrong\n", use(IORING_SETUP_SQPOLL));
    return 0;
}
