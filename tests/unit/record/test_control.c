/* SPDX-License-Identifier: MIT */
/* Packets as anybody could send them. */
#define _GNU_SOURCE
#include "record/control.h"

#include "support/check.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define RECORDED 4711

static struct control *control;
static unsigned triggers, detaches;
static char last_note[CONTROL_NOTE_BYTES + 1];
static struct control_answer answer;

static bool has_process(void *context, pid_t pid)
{
    CHECK(context == &triggers);
    return pid == RECORDED;
}

static void read_stats(void *context, struct control_stats *stats_out)
{
    (void)context;
    *stats_out = (struct control_stats){.written_bytes = 123, .thread_count = 7};
}

static void trigger(void *context, const char *note)
{
    (void)context;
    triggers++;
    snprintf(last_note, sizeof(last_note), "%s", note);
}

static void detach(void *context)
{
    (void)context;
    detaches++;
}

static void begin(void)
{
    const struct control_handlers handlers = {&triggers, has_process, read_stats, "/a/trace", trigger, detach};

    triggers = detaches = 0;
    CHECK_EQUAL(control_open(&handlers, &control), 0);
}

static int call_up(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, CONTROL_NAME "%d", (int)getpid());
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    CHECK_EQUAL(connect(fd, (struct sockaddr *)&address,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)),
                0);
    return fd;
}

static struct control_request request_of(uint32_t operation)
{
    return (struct control_request){
        .magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .operation = operation, .pid = RECORDED};
}

/* Serves as long as there is something to serve. */
static void serve(void)
{
    struct pollfd waited = {.fd = control_fd(control), .events = POLLIN};

    for (unsigned i = 0; i < 10 && poll(&waited, 1, 0) == 1; i++)
        control_serve(control);
}

/* Sends a packet, and gets what comes back: the size, 0 at the end, or -1 for nothing. */
static ssize_t exchange(int fd, const void *packet, size_t size)
{
    CHECK_EQUAL(send(fd, packet, size, MSG_NOSIGNAL), size);
    serve();
    return recv(fd, &answer, sizeof(answer), 0);
}

static void check_result(uint32_t operation, pid_t pid, int result)
{
    struct control_request request = request_of(operation);
    int fd = call_up();

    request.pid = pid;
    CHECK_EQUAL(exchange(fd, &request, sizeof(request)), sizeof(answer));
    CHECK_EQUAL(answer.magic, CONTROL_MAGIC);
    CHECK_EQUAL(answer.result, result);
    close(fd);
}

static void figures_are_told(void)
{
    begin();
    check_result(CONTROL_STATS, RECORDED, 0);
    CHECK(answer.is_last);
    CHECK_EQUAL(answer.stats.written_bytes, 123);
    CHECK_EQUAL(answer.stats.thread_count, 7);
    CHECK_EQUAL(answer.text_bytes, strlen("/a/trace"));
    CHECK(memcmp(answer.text, "/a/trace", answer.text_bytes) == 0);
    control_close(control, 0, NULL);
}

static void triggers_bring_a_note(void)
{
    struct control_request request = request_of(CONTROL_TRIGGER);
    int fd;

    begin();
    fd = call_up();
    request.note_bytes = CONTROL_NOTE_BYTES;
    memset(request.note, 'n', sizeof(request.note));
    CHECK_EQUAL(exchange(fd, &request, sizeof(request)), sizeof(answer));
    CHECK_EQUAL(answer.result, 0);
    CHECK_EQUAL(triggers, 1);
    CHECK_EQUAL(strlen(last_note), CONTROL_NOTE_BYTES);
    /* That was all: it hangs up. */
    CHECK_EQUAL(recv(fd, &answer, sizeof(answer), 0), 0);
    close(fd);
    control_close(control, 0, NULL);
}

static void who_wants_the_end_is_told_when_it_came(void)
{
    struct control_request request = request_of(CONTROL_DETACH);
    int fd, other;

    begin();
    fd = call_up();
    other = call_up();
    CHECK_EQUAL(exchange(fd, &request, sizeof(request)), sizeof(answer));
    CHECK(!answer.is_last && answer.result == 0);
    CHECK_EQUAL(detaches, 1);
    CHECK_EQUAL(recv(fd, &answer, sizeof(answer), 0), (uint64_t)-1);
    control_close(control, -ETIMEDOUT, "stuck");
    CHECK_EQUAL(recv(fd, &answer, sizeof(answer), 0), sizeof(answer));
    CHECK(answer.is_last);
    CHECK_EQUAL(answer.result, -ETIMEDOUT);
    CHECK(answer.text_bytes == 5 && memcmp(answer.text, "stuck", 5) == 0);
    CHECK_EQUAL(recv(other, &answer, sizeof(answer), 0), 0);
    close(fd);
    close(other);
}

static void other_processes_are_not_ours(void)
{
    begin();
    check_result(CONTROL_TRIGGER, RECORDED + 1, -ESRCH);
    CHECK_EQUAL(triggers, 0);
    control_close(control, 0, NULL);
}

static void what_is_no_request_does_nothing(void)
{
    struct control_request request = request_of(CONTROL_TRIGGER);
    uint8_t long_packet[2 * sizeof(request)] = {0};

    begin();
    check_result(99, RECORDED, -EOPNOTSUPP);
    for (unsigned i = 0; i < 4; i++) {
        int fd = call_up();

        request = request_of(CONTROL_TRIGGER);
        if (i == 0)
            request.magic++;
        if (i == 1)
            request.version++;
        if (i == 2)
            request.note_bytes = CONTROL_NOTE_BYTES + 1;
        memcpy(long_packet, &request, sizeof(request));
        CHECK_EQUAL(exchange(fd, long_packet, i == 3 ? sizeof(request) + 1 : sizeof(request)), sizeof(answer));
        CHECK_EQUAL(answer.result, -EPROTO);
        close(fd);
    }
    CHECK_EQUAL(triggers, 0);
    control_close(control, 0, NULL);
}

/* Where several are asked, one of another version is in nobody's way. */
static void other_versions_are_told_that_it_is_not_about_us(void)
{
    struct control_request request = request_of(CONTROL_STATS);
    int fd;

    begin();
    request.version++;
    request.pid = RECORDED + 1;
    fd = call_up();
    CHECK_EQUAL(exchange(fd, &request, sizeof(request)), sizeof(answer));
    CHECK_EQUAL(answer.result, -ESRCH);
    close(fd);
    fd = call_up();
    CHECK_EQUAL(exchange(fd, &request, offsetof(struct control_request, note_bytes)), sizeof(answer));
    CHECK_EQUAL(answer.result, -ESRCH);
    close(fd);
    control_close(control, 0, NULL);
}

static void who_says_nothing_keeps_nobody_out(void)
{
    int silent[40];

    begin();
    for (unsigned i = 0; i < 40; i++) {
        silent[i] = call_up();
        serve();
    }
    check_result(CONTROL_STATS, RECORDED, 0);
    for (unsigned i = 0; i < 40; i++)
        close(silent[i]);
    serve();
    check_result(CONTROL_STATS, RECORDED, 0);
    control_close(control, 0, NULL);
    control_close(NULL, 0, NULL);
}

static void only_the_user_and_root_are_answered(void)
{
    begin();
    if (geteuid() == 0) {
        struct control_request request = request_of(CONTROL_DETACH);
        int fd;

        CHECK_EQUAL(seteuid(65534), 0);
        fd = call_up();
        CHECK_EQUAL(seteuid(0), 0);
        CHECK_EQUAL(exchange(fd, &request, sizeof(request)), sizeof(answer));
        CHECK_EQUAL(answer.result, -EPERM);
        CHECK_EQUAL(detaches, 0);
        close(fd);
        /* The other way round: the recording is nobody's, and root asks. */
        fd = call_up();
        CHECK_EQUAL(seteuid(65534), 0);
        CHECK_EQUAL(exchange(fd, &request, sizeof(request)), sizeof(answer));
        CHECK_EQUAL(answer.result, 0);
        CHECK_EQUAL(seteuid(0), 0);
        close(fd);
    } else {
        printf("not root: nobody else can be played\n");
    }
    control_close(control, 0, NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(figures_are_told),
    CHECK_CASE(triggers_bring_a_note),
    CHECK_CASE(who_wants_the_end_is_told_when_it_came),
    CHECK_CASE(other_processes_are_not_ours),
    CHECK_CASE(what_is_no_request_does_nothing),
    CHECK_CASE(who_says_nothing_keeps_nobody_out),
    CHECK_CASE(only_the_user_and_root_are_answered),
    CHECK_CASE(other_versions_are_told_that_it_is_not_about_us),
};

CHECK_MAIN(cases)
