/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace/manifest.h"

#include "gait/stalker.h"
#include "ring/left_log.h"
#include "support/check.h"
#include "support/trace_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct trace_folder folder;
static struct manifest_thread threads[] = {
    {.tid = 7,
     .generation = 1,
     .name = "main",
     .lost_detail_bytes = 5,
     .unwritten_bytes = 8,
     .wait_count = 6,
     .waited_ns = 1ull << 40},
    {.tid = 8, .generation = 2, .name = "fifteen letters", .lost_bytes = UINT64_MAX},
};
static struct manifest_left left[] = {
    {.time = UINT64_MAX,
     .pc = 1ull << 63,
     .tid = 8,
     .reason = RING_LEFT_BLIND,
     .code_bytes = 16,
     .code = {[15] = 0xfe}},
    {.tid = 7, .reason = RING_LEFT_NEW_THREAD},
};
static struct manifest_indirect indirect[] = {{0x7f0000001000, "strcmp"}};
static struct manifest_unhooked unhooked[] = {{"app!f", "it is \"short\"", true}, {"app+0x10", "", false}};
static struct manifest_process processes[] = {
    {.pid = 7,
     .image = 1,
     .command = "a \"quoted\" one",
     .threads = threads,
     .thread_count = 2,
     .losses = {1, 2, 3, UINT64_MAX, 12},
     .left = left,
     .left_listed = 2,
     .left_count = 99,
     .indirect = indirect,
     .indirect_count = 1,
     .unhooked = unhooked,
     .unhooked_listed = 2,
     .counters = {.values = {[0] = 7, [COUNTER_hook_returns_guessed] = UINT64_MAX, [COUNTER_COUNT - 1] = 1}},
     .status = -1},
    {.pid = 9, .image = 2, .parent_pid = 7, .command = "child", .status = 139},
};
static struct clock_pair clocks[] = {{1, 2}, {UINT64_MAX, 4}};
static struct manifest_trigger triggers[] = {{"slow", "slow=a!b>5ms", UINT64_MAX, 7, 8}, {.kind = "manual"}};
static struct manifest_piece pieces[] = {{4, 1000}, {5, 1ull << 50}};
static struct manifest_window windows[] = {{100, 200, false}, {300, UINT64_MAX, true}};
static const struct manifest example = {
    .program = "/tmp/new\nline\\and \xc3\xa9 and \xff\xc3",
    .arguments = (char *const[]){"gait", "", "record", NULL},
    .events = GAIT_EVENT_CALL | GAIT_EVENT_COMPILE,
    .with_times = 1,
    .began_unix_ns = 1700000000123456789,
    .clocks = clocks,
    .clock_count = 2,
    .processes = processes,
    .process_count = 2,
    .is_flight = true,
    .triggers = triggers,
    .trigger_count = 2,
    .triggers_left_out = 5,
    .windows = windows,
    .pieces = pieces,
    .piece_count = 2,
    .window_count = 2,
    .ended = "signal",
};

static void what_was_written_is_read(void)
{
    struct manifest read;

    CHECK_EQUAL(manifest_write(&example, folder.fd, NULL), 0);
    CHECK_EQUAL(manifest_read(folder.fd, &read, NULL), 0);
    CHECK_TEXT(read.program, example.program);
    CHECK_TEXT(read.arguments[1], "");
    CHECK_TEXT(read.arguments[2], "record");
    CHECK(read.arguments[3] == NULL);
    CHECK_EQUAL(read.events, example.events);
    CHECK_EQUAL(read.with_times, 1);
    CHECK_EQUAL(read.began_unix_ns, example.began_unix_ns);
    CHECK_EQUAL(read.clock_count, 2);
    CHECK_EQUAL(read.clocks[1].counter, UINT64_MAX);
    CHECK_EQUAL(read.process_count, 2);
    CHECK_TEXT(read.processes[0].command, processes[0].command);
    CHECK_EQUAL(read.processes[0].status, -1);
    CHECK_EQUAL(read.processes[0].left_count, 99);
    CHECK_EQUAL(read.processes[0].left_listed, 2);
    CHECK_EQUAL(read.processes[0].left[0].time, UINT64_MAX);
    CHECK_EQUAL(read.processes[0].left[0].pc, 1ull << 63);
    CHECK_EQUAL(read.processes[0].left[0].reason, RING_LEFT_BLIND);
    CHECK_EQUAL(memcmp(read.processes[0].left[0].code, left[0].code, 16), 0);
    CHECK_EQUAL(read.processes[0].left[1].tid, 7);
    CHECK_EQUAL(read.processes[0].left[1].reason, RING_LEFT_NEW_THREAD);
    CHECK_EQUAL(read.processes[0].left[1].code_bytes, 0);
    CHECK_EQUAL(read.processes[0].thread_count, 2);
    CHECK_TEXT(read.processes[0].threads[1].name, "fifteen letters");
    CHECK_EQUAL(read.processes[0].threads[1].generation, 2);
    CHECK_EQUAL(read.processes[0].threads[1].lost_bytes, UINT64_MAX);
    CHECK_EQUAL(read.processes[0].threads[0].lost_detail_bytes, 5);
    CHECK_EQUAL(read.processes[0].threads[0].unwritten_bytes, 8);
    CHECK_EQUAL(manifest_unwritten_bytes(&read.processes[0]), 8);
    CHECK_EQUAL(read.processes[0].threads[0].wait_count, 6);
    CHECK_EQUAL(read.piece_count, 2);
    CHECK_EQUAL(read.pieces[0].number, 4);
    CHECK_EQUAL(read.pieces[1].from, 1ull << 50);
    CHECK_EQUAL(manifest_deleted_pieces(&read), 3);
    CHECK_EQUAL(read.processes[0].threads[0].waited_ns, 1ull << 40);
    CHECK_EQUAL(read.processes[0].losses.late_bytes, 1);
    CHECK_EQUAL(read.processes[0].losses.no_lane_bytes, 2);
    CHECK_EQUAL(read.processes[0].losses.no_room_count, 3);
    CHECK_EQUAL(read.processes[0].losses.no_memory_count, UINT64_MAX);
    CHECK_EQUAL(read.processes[0].losses.not_hooked_count, 12);
    CHECK_EQUAL(read.processes[0].indirect_count, 1);
    CHECK_EQUAL(read.processes[0].indirect[0].address, 0x7f0000001000);
    CHECK_TEXT(read.processes[0].indirect[0].name, "strcmp");
    CHECK_EQUAL(read.processes[1].indirect_count, 0);
    CHECK_EQUAL(read.processes[0].unhooked_listed, 2);
    CHECK_TEXT(read.processes[0].unhooked[0].name, "app!f");
    CHECK_TEXT(read.processes[0].unhooked[0].why, "it is \"short\"");
    CHECK(read.processes[0].unhooked[0].is_named);
    CHECK_TEXT(read.processes[0].unhooked[1].name, "app+0x10");
    CHECK(!read.processes[0].unhooked[1].is_named);
    CHECK_EQUAL(read.processes[1].unhooked_listed, 0);
    CHECK_EQUAL(read.processes[1].losses.late_bytes, 0);
    CHECK_EQUAL(memcmp(&read.processes[0].counters, &processes[0].counters, sizeof(struct counters_snapshot)), 0);
    CHECK_EQUAL(memcmp(&read.processes[1].counters, &processes[1].counters, sizeof(struct counters_snapshot)), 0);
    CHECK_EQUAL(read.processes[0].image, 1);
    CHECK_EQUAL(read.processes[1].image, 2);
    CHECK_EQUAL(read.processes[1].parent_pid, 7);
    CHECK_EQUAL(read.processes[1].thread_count, 0);
    CHECK(read.is_flight);
    CHECK_EQUAL(read.trigger_count, 2);
    CHECK_TEXT(read.triggers[0].kind, "slow");
    CHECK_TEXT(read.triggers[0].text, "slow=a!b>5ms");
    CHECK_EQUAL(read.triggers[0].time, UINT64_MAX);
    CHECK_EQUAL(read.triggers[0].tid, 8);
    CHECK_TEXT(read.triggers[1].text, "");
    CHECK_EQUAL(read.triggers_left_out, 5);
    CHECK_EQUAL(read.window_count, 2);
    CHECK_EQUAL(read.windows[1].from, 300);
    CHECK(!read.windows[0].is_cut && read.windows[1].is_cut);
    CHECK_TEXT(read.ended, "signal");
    manifest_free(&read);
}

static void little_can_be_written(void)
{
    struct manifest nothing = {.program = NULL}, read;

    CHECK_EQUAL(manifest_write(&nothing, folder.fd, NULL), 0);
    CHECK_EQUAL(manifest_read(folder.fd, &read, NULL), 0);
    CHECK_TEXT(read.program, "");
    CHECK_EQUAL(read.process_count, 0);
    manifest_free(&read);
}

static void a_failed_write_keeps_the_one_before(void)
{
    struct rlimit limit;
    struct manifest read;
    struct gait_error err = {0};

    CHECK_EQUAL(manifest_write(&example, folder.fd, NULL), 0);
    signal(SIGXFSZ, SIG_IGN);
    CHECK_EQUAL(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 100;
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_EQUAL(manifest_write(&example, folder.fd, &err), -EFBIG);
    limit.rlim_cur = limit.rlim_max;
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK(strstr(err.text, "the one before is kept") != NULL);
    CHECK_EQUAL(faccessat(folder.fd, "manifest.json.new", F_OK, 0), -1);
    CHECK_EQUAL(manifest_read(folder.fd, &read, NULL), 0);
    CHECK_TEXT(read.ended, "signal");
    manifest_free(&read);
}

static void refuse(const char *text, int code, const char *part)
{
    struct manifest read;
    struct gait_error err = {0};

    if (text != NULL)
        trace_folder_write(&folder, "manifest.json", text, strlen(text));
    CHECK_EQUAL(manifest_read(folder.fd, &read, &err), -code);
    if (strstr(err.text, part) == NULL)
        CHECK_TEXT(err.text, part);
}

static void what_is_wrong_is_explained(void)
{
    refuse("", EPROTO, "line 1");
    refuse("{}", EPROTO, "not that of a trace");
    refuse("[]", EPROTO, "not that of a trace");
    refuse("{\"format\": \"gait trace\", \"version\": 99}", EPROTO, "version 99");
    refuse("{\"format\": \"gait trace\",\n\"version\": 1,\n\"program\": 5}", EPROTO, "line 3: \"program\"");
    CHECK_EQUAL(unlinkat(folder.fd, "manifest.json", 0), 0);
    refuse(NULL, ENOENT, "there is none, so this is no trace");
    trace_folder_make(&folder, "manifest.json");
    refuse(NULL, EISDIR, "Is a directory");
    CHECK_EQUAL(unlinkat(folder.fd, "manifest.json", AT_REMOVEDIR), 0);
    CHECK_EQUAL(mkfifoat(folder.fd, "manifest.json", 0600), 0);
    refuse(NULL, EPROTO, "it is no file");
    CHECK_EQUAL(unlinkat(folder.fd, "manifest.json", 0), 0);
}

/* Puts other text in the place of the first process's counters: "counters": {...} */
static void write_with_counters(const char *text)
{
    size_t size, before, behind;
    char *bytes, *start, *changed;

    CHECK_EQUAL(manifest_write(&example, folder.fd, NULL), 0);
    bytes = (char *)trace_folder_read(&folder, "manifest.json", &size);
    start = memmem(bytes, size, "\"counters\"", 10);
    CHECK(start != NULL);
    before = (size_t)(start - bytes);
    behind = (size_t)((char *)memchr(start, '}', size - before) + 1 - bytes);
    changed = malloc(size + strlen(text));
    memcpy(changed, bytes, before);
    strcpy(changed + before, text);
    memcpy(changed + before + strlen(text), bytes + behind, size - behind);
    trace_folder_write(&folder, "manifest.json", changed, before + strlen(text) + size - behind);
    free(changed);
    free(bytes);
}

static void counters_of_other_gaits_are_passed_over(void)
{
    static const struct counters_snapshot none;
    struct manifest read;

    /* What was written before there were any has no such member. */
    write_with_counters("\"later\": 1");
    CHECK_EQUAL(manifest_read(folder.fd, &read, NULL), 0);
    CHECK_EQUAL(memcmp(&read.processes[0].counters, &none, sizeof(none)), 0);
    CHECK_EQUAL(read.processes[0].left_count, 99);
    manifest_free(&read);
    write_with_counters("\"counters\": {\"of_later\": \"?\", \"blocks_linked\": 4, \"\": -1}");
    CHECK_EQUAL(manifest_read(folder.fd, &read, NULL), 0);
    CHECK_EQUAL(read.processes[0].counters.values[COUNTER_blocks_linked], 4);
    CHECK_EQUAL(read.processes[0].counters.values[0], 0);
    manifest_free(&read);
    write_with_counters("\"counters\": {\"blocks_linked\": -4}");
    refuse(NULL, EPROTO, "\"blocks_linked\" is missing or has the wrong form");
    write_with_counters("\"counters\": {\"blocks_linked\": {}}");
    refuse(NULL, EPROTO, "\"blocks_linked\"");
    write_with_counters("\"counters\": 5");
    refuse(NULL, EPROTO, "\"counters\"");
}

/* Cut off and changed at every byte: an error or another manifest, and nothing else. */
static void damage_does_no_harm(void)
{
    struct manifest read;
    size_t size;
    uint8_t *bytes;

    CHECK_EQUAL(manifest_write(&example, folder.fd, NULL), 0);
    bytes = trace_folder_read(&folder, "manifest.json", &size);
    for (size_t cut = 0; cut + 2 < size; cut++) {
        trace_folder_write(&folder, "manifest.json", bytes, cut);
        CHECK_EQUAL(manifest_read(folder.fd, &read, NULL), -EPROTO);
    }
    for (size_t at = 0; at < size; at++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[at] ^= 1 << bit;
            trace_folder_write(&folder, "manifest.json", bytes, size);
            if (manifest_read(folder.fd, &read, NULL) == 0)
                manifest_free(&read);
            bytes[at] ^= 1 << bit;
        }
    free(bytes);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_written_is_read),
    CHECK_CASE(little_can_be_written),
    CHECK_CASE(a_failed_write_keeps_the_one_before),
    CHECK_CASE(what_is_wrong_is_explained),
    CHECK_CASE(counters_of_other_gaits_are_passed_over),
    CHECK_CASE(damage_does_no_harm),
};

int main(void)
{
    int result;

    trace_folder_init(&folder);
    result = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    trace_folder_deinit(&folder);
    return result;
}
