/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record/recording.h"

#include "ring/ring_region.h"
#include "ring/ring_writer.h"
#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct gait_error err;
static _Atomic uint32_t word;
static char path[] = "/tmp/gait-test-XXXXXX";
static char output[64];

static void begin(void)
{
    strcpy(path, "/tmp/gait-test-XXXXXX");
    CHECK(mkdtemp(path) != NULL);
    snprintf(output, sizeof(output), "%s/some/where", path);
}

static int remove_one(const char *name, const struct stat *status, int flag, struct FTW *place)
{
    (void)status;
    (void)flag;
    (void)place;
    return remove(name);
}

static void end(void)
{
    CHECK_EQUAL(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static struct recording_options options_for(const char *program)
{
    static char *arguments[] = {(char *)"program", (char *)"argument", NULL};

    return (struct recording_options){.output = output, .program = program, .arguments = arguments, .events = 8};
}

static void a_recording_has_a_folder_and_a_manifest(void)
{
    struct recording_options options = options_for("/bin/program");
    static const struct ring_options ring_options;
    struct recording recording;
    struct manifest manifest;
    struct ring_region *ring;
    int folder;

    begin();
    CHECK_EQUAL(ring_region_create(&ring_options, &ring), 0);
    CHECK_EQUAL(recording_create(&options, &recording, &err), 0);
    CHECK(strncmp(recording.path, output, strlen(output)) == 0);
    CHECK(strstr(recording.path, "/program-") != NULL);
    CHECK_EQUAL(ring_drain_add(&recording.drain, getpid(), 0, ring->fd, &err), 0);
    CHECK_EQUAL(ring_drain_take(&recording.drain, &err), 0);
    ring_drain_wait(&recording.drain, (struct ring_wait_word){&word, 0}, 1);
    CHECK_EQUAL(recording_lost(&recording), 0);
    ring_drain_set_status(&recording.drain, getpid(), 3 << 8);
    folder = open(recording.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_EQUAL(manifest_read(folder, &manifest, &err), 0);
    CHECK_TEXT(manifest.ended, "running");
    manifest_free(&manifest);
    CHECK_EQUAL(recording_end(&recording, "exit", &err), 0);
    CHECK_EQUAL(manifest_read(folder, &manifest, &err), 0);
    CHECK_TEXT(manifest.ended, "exit");
    CHECK_TEXT(manifest.program, "/bin/program");
    CHECK_EQUAL(manifest.events, 8);
    CHECK_EQUAL(manifest.process_count, 1);
    CHECK_EQUAL(manifest.processes[0].pid, (uint32_t)getpid());
    CHECK_EQUAL(manifest.processes[0].status, 3 << 8);
    CHECK(manifest.clock_count >= 2);
    manifest_free(&manifest);
    close(folder);
    free(recording.path);
    ring_region_destroy(ring);
    end();
}

/* By a clock that the test sets back: nothing is waited for. */
static void a_manifest_may_come_later_than_its_process(void)
{
    struct recording_options options = options_for("program");
    static const struct ring_options ring_options;
    struct recording recording;
    struct ring_region *ring;
    int folder;

    options.manifest_delay_ms = 1000000;
    begin();
    CHECK_EQUAL(ring_region_create(&ring_options, &ring), 0);
    CHECK_EQUAL(recording_create(&options, &recording, &err), 0);
    folder = open(recording.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_EQUAL(ring_drain_add(&recording.drain, getpid(), 0, ring->fd, &err), 0);
    CHECK_EQUAL(ring_drain_take(&recording.drain, &err), 0);
    CHECK_EQUAL(faccessat(folder, "manifest.json", F_OK, 0), -1);
    recording.began_ms -= options.manifest_delay_ms;
    CHECK_EQUAL(ring_drain_take(&recording.drain, &err), 0);
    CHECK_EQUAL(faccessat(folder, "manifest.json", F_OK, 0), 0);
    CHECK_EQUAL(recording_end(&recording, "exit", &err), 0);
    close(folder);
    free(recording.path);
    ring_region_destroy(ring);
    end();
}

static void two_of_the_same_name_are_apart(void)
{
    struct recording_options options = options_for("twin");
    struct recording first, second;

    begin();
    CHECK_EQUAL(recording_create(&options, &first, &err), 0);
    CHECK_EQUAL(recording_create(&options, &second, &err), 0);
    CHECK(strcmp(first.path, second.path) != 0);
    CHECK_EQUAL(recording_end(&first, "exit", &err), 0);
    CHECK_EQUAL(recording_end(&second, "exit", &err), 0);
    free(first.path);
    free(second.path);
    end();
}

static void what_is_discarded_leaves_nothing(void)
{
    struct recording_options options = options_for("program");
    struct recording recording;

    begin();
    CHECK_EQUAL(recording_create(&options, &recording, &err), 0);
    recording_discard(&recording);
    CHECK_EQUAL(access(recording.path, F_OK), -1);
    free(recording.path);
    end();
}

static void write_block(uint64_t *position)
{
    *(uint32_t *)(uintptr_t)*position = event_header(0, EVENT_RECORD_BLOCK);
    *position += 4;
}

/* What comes gets into files when nothing more does. */
static void drain(struct recording *recording)
{
    CHECK_EQUAL(ring_drain_take(&recording->drain, &err), 0);
    CHECK_EQUAL(ring_drain_take(&recording->drain, &err), 0);
}

static bool has_file(const struct recording *recording, const char *name)
{
    char file[256];

    snprintf(file, sizeof(file), "%s/%d/%s", recording->path, (int)getpid(), name);
    return access(file, F_OK) == 0;
}

/* A thread that runs one block after the other, and another one that does nothing after the first. */
static void the_oldest_pieces_are_deleted(void)
{
    struct recording_options options = options_for("pieces");
    static const struct ring_options ring_options;
    const struct event_block block = {.start = 0x4000, .size_bytes = 16, .last_insn_bytes = 2};
    const struct ring_lane_owner busy_owner = {.tid = 5, .events = 8}, idle_owner = {.tid = 6, .events = 8};
    struct ring_writer *busy = NULL, *idle = NULL;
    uint64_t busy_at, idle_at;
    struct recording recording;
    struct manifest manifest;
    struct ring_region *ring;
    int folder;

    begin();
    options.rotation = (struct rotation_options){.bytes = 1, .keep = 2};
    CHECK_EQUAL(ring_region_create(&ring_options, &ring), 0);
    CHECK_EQUAL(ring_region_new_space(ring), 0);
    CHECK(ring_region_add_block(ring, 0, 0, &block));
    CHECK_EQUAL(recording_create(&options, &recording, &err), 0);
    CHECK_EQUAL(ring_drain_add(&recording.drain, getpid(), 0, ring->fd, &err), 0);
    CHECK_EQUAL(ring_writer_open(ring, &busy_owner, &busy), 0);
    CHECK_EQUAL(ring_writer_open(ring, &idle_owner, &idle), 0);
    busy_at = busy->start;
    idle_at = idle->start;
    write_block(&idle_at);
    for (unsigned i = 0; i < 5; i++) {
        write_block(&busy_at);
        drain(&recording);
    }
    CHECK(rotation_piece(&recording.rotation) >= 5);
    CHECK(!has_file(&recording, "5.1.index.gait") && !has_file(&recording, "6.1.index.gait"));
    CHECK(has_file(&recording, "blocks.gait") && has_file(&recording, "modules.gait"));
    CHECK(recording_file_bytes(&recording) < recording.written.file_bytes);
    CHECK_EQUAL(recording.written.record_count, 6);
    folder = open(recording.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_EQUAL(manifest_read(folder, &manifest, &err), 0);
    CHECK_EQUAL(manifest.piece_count, 2);
    CHECK_EQUAL(manifest.pieces[1].number, rotation_piece(&recording.rotation));
    CHECK(manifest.pieces[0].from < manifest.pieces[1].from);
    manifest_free(&manifest);
    /* Where nothing is written, pieces do not get older. */
    drain(&recording);
    drain(&recording);
    CHECK_EQUAL(manifest_read(folder, &manifest, &err), 0);
    CHECK_EQUAL(manifest.pieces[1].number, rotation_piece(&recording.rotation));
    manifest_free(&manifest);
    CHECK_EQUAL(ring_writer_close(busy, busy_at), 0);
    CHECK_EQUAL(ring_writer_close(idle, idle_at), 0);
    CHECK_EQUAL(recording_end(&recording, "exit", &err), 0);
    close(folder);
    free(recording.path);
    ring_region_destroy(ring);
    end();
}

static void a_folder_that_cannot_be_made_is_told(void)
{
    struct recording_options options = options_for("program");
    struct recording recording;

    options.output = "/dev/null/traces";
    CHECK_EQUAL(recording_create(&options, &recording, &err), -ENOTDIR);
    CHECK(strstr(err.text, "/dev/null/traces") != NULL && strstr(err.text, "--output") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_recording_has_a_folder_and_a_manifest), CHECK_CASE(a_manifest_may_come_later_than_its_process),
    CHECK_CASE(two_of_the_same_name_are_apart),          CHECK_CASE(what_is_discarded_leaves_nothing),
    CHECK_CASE(the_oldest_pieces_are_deleted),           CHECK_CASE(a_folder_that_cannot_be_made_is_told),
};

CHECK_MAIN(cases)
