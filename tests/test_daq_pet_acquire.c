/* SPDX-License-Identifier: Apache-2.0
 * Acquisition over loopback: every frame arrives and is in the file, what is malformed is counted, counters
 * that leap, go back and begin again are told; every way to end it. */
#include "support/cmocka_all.h"

#include "support/pet_scene.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(slc_pet_frame));
}

/* The same frames, in any order. */
static void assert_same_frames(slc_pet_frame *read, size_t n, const slc_pet_frame *wanted, size_t wanted_n)
{
    assert_int_equal(n, wanted_n);
    slc_pet_frame *copy = malloc((n + 1) * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, wanted, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, by_bytes);
    qsort(read, n, sizeof *read, by_bytes);
    assert_memory_equal(read, copy, n * sizeof *copy);
    free(copy);
}

/* Frames of modules 0 to 7, so many of one module behind each other. */
static slc_pet_frame *bursts(size_t n, size_t length)
{
    slc_pet_frame *frames = raw_frames(n, 1);
    for (size_t i = 0; i < n; i++) {
        frames[i].module = (uint8_t)(i / length % 8);
    }
    return frames;
}

static void check_all_arrived(scene *s)
{
    assert_int_equal(s->send_status, SLC_OK);
    assert_int_equal(s->sent, s->n);
    assert_int_equal(s->counts.datagrams, s->datagrams);
    assert_int_equal(s->counts.frames, s->n);
    assert_int_equal(s->counts.kernel_drops + s->counts.ring_drops, 0);
    assert_int_equal(s->counts.lost + s->counts.malformed, 0);
    uint64_t frames = 0, datagrams = 0;
    for (int m = 0; m < SLC_PET_MAX_MODULES; m++) {
        frames += s->counts.module[m].frames;
        datagrams += s->counts.module[m].datagrams;
        assert_int_equal(s->counts.module[m].restarts + s->counts.module[m].repeated, 0);
    }
    assert_int_equal(frames, s->n);
    assert_int_equal(datagrams, s->datagrams);
    slc_faults faults = {0};
    size_t n = 0;
    slc_pet_frame *read = raw_read_file(path, &n, &faults);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_same_frames(read, n, s->frames, s->n);
    free(read);
}

/* Trains and single datagrams, one socket and several, with and without counters, full datagrams and odd
 * ones. */
static void test_every_frame(void **state)
{
    (void)state;
    static const struct {
        uint32_t sockets, frames;
        bool single, sequence;
        size_t length;
    } cases[] = {{1, 92, false, true, 92}, {3, 92, false, false, 92},    {1, 92, true, true, 150},
                 {2, 10, false, true, 25}, {1, 4000, false, true, 9000}, {4, 1, true, false, 3}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        scene s;
        begin(&s, cases[c].sockets);
        s.send = send_frames;
        s.n = cases[c].frames == 1 ? 5000 : 100000;
        s.frames = bursts(s.n, cases[c].length);
        s.how = (slc_daq_pet_send_config){.size = sizeof(slc_daq_pet_send_config),
                                          .frames_hz = 5e5,
                                          .frames_per_datagram = cases[c].frames,
                                          .single = cases[c].single,
                                          .sequence = cases[c].sequence};
        const uint32_t header = cases[c].sequence ? 8 : 0;
        s.config.raw.payload = (slc_io_pet_payload){.header_bytes = header, .sequence_bytes = header};
        s.config.raw.replace = true;
        assert_int_equal(acquire(&s), SLC_OK);
        check_all_arrived(&s);
        free(s.frames);
    }
}

static int socket_to(const char *address)
{
    const char *colon = strrchr(address, ':');
    assert_non_null(colon);
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                   .sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10))};
    const int file = socket(AF_INET, SOCK_DGRAM, 0);
    assert_true(file >= 0);
    assert_int_equal(connect(file, (const struct sockaddr *)&to, sizeof to), 0);
    return file;
}

/* A datagram of so many bytes from this module, with a counter of 4 bytes, big-endian, in front. */
static void send_one(int file, uint32_t number, uint8_t module, size_t size)
{
    static uint8_t bytes[65536];
    memset(bytes, 0x55, size);
    for (size_t i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(number >> (24 - 8 * i));
    }
    bytes[4 + 1] = module;
    assert_int_equal(send(file, bytes, size, 0), size);
}

static void send_odd_sizes(scene *s)
{
    static const size_t sizes[] = {0,  1,     3,  4,           5,           19, 20, 21,  35,
                                   36, 65507, 20, 4 + 92 * 16, 4 + 91 * 16, 20, 0,  2000};
    const int file = socket_to(s->address[0]);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            send_one(file, 0, 9, sizes[i]);
            s->datagrams++;
        }
        nap(round == 1 ? 50 : 0); /* many in one call of the receiver, and few */
    }
    (void)close(file);
}

static void test_malformed(void **state)
{
    (void)state;
    scene s;
    begin(&s, 1);
    s.send = send_odd_sizes;
    s.config.raw.payload = (slc_io_pet_payload){.header_bytes = 4};
    assert_int_equal(acquire(&s), SLC_OK);
    assert_int_equal(s.counts.datagrams, s.datagrams);
    assert_int_equal(s.counts.kernel_drops, 0);
    /* 0 (twice), 1, 3, 5, 19, 21, 35, 65507, 2000 are no whole number of frames behind 4 bytes. */
    assert_int_equal(s.counts.malformed, 3 * 10);
    assert_int_equal(s.counts.module[9].malformed, 3 * 4);
    const uint64_t frames = 3 * (1 + 1 + 1 + 2 + 4093 + 1 + 92 + 91 + 1 + 124);
    assert_int_equal(s.counts.frames, frames);
    assert_int_equal(s.counts.module[9].frames, frames);
    assert_int_equal(s.counts.bytes,
                     3 * (1 + 3 + 4 + 5 + 19 + 20 + 21 + 35 + 36 + 65507 + 20 + 1476 + 1460 + 20 + 2000));
    slc_faults faults = {0};
    size_t n = 0;
    free(raw_read_file(path, &n, &faults));
    assert_int_equal(n, frames);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_PET_DATAGRAM),
                     3 * 8); /* empty ones are not in the file */
    assert_int_equal(slc_faults_total(&faults), 3 * 8);
}

static void send_numbers(scene *s)
{
    static const uint32_t numbers[] = {707, 708, 710, 709, 712, 712, 1000000, 713, 0, 1, 4};
    const int file = socket_to(s->address[0]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        send_one(file, numbers[i], 255, 20);
        send_one(file, (uint32_t)i, 3, 36);
        nap(1);
    }
    (void)close(file);
}

static void test_counters(void **state)
{
    (void)state;
    scene s;
    begin(&s, 1);
    s.send = send_numbers;
    s.config.raw.payload = (slc_io_pet_payload){
        .header_bytes = 4, .sequence_bytes = 4, .sequence_big_endian = true};
    assert_int_equal(acquire(&s), SLC_OK);
    const slc_daq_pet_module *m = &s.counts.module[255];
    assert_int_equal(m->datagrams, 11);
    assert_int_equal(m->lost, 1 + 2);
    assert_int_equal(m->reordered, 1);
    assert_int_equal(m->repeated, 1);
    assert_int_equal(m->foreign, 1);
    assert_int_equal(m->restarts, 1);
    assert_int_equal(s.counts.repeated, 1);
    assert_int_equal(s.counts.foreign, 1);
    assert_int_equal(s.counts.left_out, 2);
    assert_int_equal(s.counts.module[3].lost, 0);
    assert_int_equal(s.counts.module[3].frames, 22);
    assert_int_equal(s.counts.lost, m->lost);
}

/* The file may not grow: the acquisition ends with an error, and what is in it can be read. */
static void test_full_disk(void **state)
{
    (void)state;
    scene s;
    begin(&s, 1);
    s.send = send_frames;
    s.n = 200000;
    s.frames = bursts(s.n, 92);
    s.how = (slc_daq_pet_send_config){
        .size = sizeof(slc_daq_pet_send_config), .frames_hz = 1e6, .frames_per_datagram = 92};
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit limit = {.rlim_cur = 1000000, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const slc_status status = acquire(&s);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, SLC_ERR_IO);
    char wanted[160];
    (void)snprintf(wanted, sizeof wanted, "%s: byte 1000000: cannot write: File too large; what was written",
                   path);
    assert_memory_equal(s.error.text, wanted, strlen(wanted));
    slc_faults faults = {0};
    size_t n = 0;
    slc_pet_frame *read = raw_read_file(path, &n, &faults);
    assert_in_range(n, 61000, 62500); /* 1 MB less heads */
    assert_memory_equal(read, s.frames, n * sizeof *read);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_int_equal(s.counts.frames, n);
    uint64_t of_modules = 0;
    for (int m = 0; m < SLC_PET_MAX_MODULES; m++) {
        of_modules += s.counts.module[m].frames;
    }
    assert_int_equal(of_modules, n);
    assert_true(s.counts.unwritten > 0);
    assert_in_range(s.counts.unwritten_frames, 1, s.sent - n);
    size_t size = 0;
    free(pet_bytes(path, &size));
    assert_int_equal(s.counts.written_bytes, size);
    free(read);
    free(s.frames);
}

static bool tell_counts(void *context, const slc_daq_pet_counts *counts)
{
    scene *s = context;
    assert_true(counts->seconds > 0);
    return ++s->lives < 2;
}

static void test_ends(void **state)
{
    (void)state;
    scene s;
    begin(&s, 1); /* by time */
    s.config.seconds = 0.15;
    assert_int_equal(acquire(&s), SLC_OK);
    assert_true(s.counts.seconds >= 0.15 && s.counts.seconds < 5);
    assert_int_equal(s.counts.datagrams, 0);
    begin(&s, 1); /* by frames; without a file */
    s.send = send_frames;
    s.config.output = NULL;
    s.config.frames = 5000;
    s.n = 100000;
    s.frames = bursts(s.n, 92);
    s.how = (slc_daq_pet_send_config){
        .size = sizeof(slc_daq_pet_send_config), .frames_hz = 1e5, .frames_per_datagram = 92};
    assert_int_equal(acquire(&s), SLC_OK);
    assert_in_range(s.counts.frames, 5000, 50000);
    assert_int_equal(s.send_status, SLC_ERR_IO); /* the receiver is gone before the sender is done */
    assert_non_null(strstr(s.send_error.text, "nobody listens there"));
    free(s.frames);
    begin(&s, 1); /* by the caller */
    s.config.output = NULL;
    s.config.tell = tell_counts;
    assert_int_equal(acquire(&s), SLC_OK);
    assert_int_equal(s.lives, 2);
    assert_true(s.counts.seconds > 1.5 && s.counts.seconds < 20);
}

static void expect_error(scene *s, slc_status status, const char *text)
{
    assert_int_equal(acquire(s), status);
    if (strstr(s->error.text, text) == NULL) {
        fail_msg("it says: %s", s->error.text);
    }
}

static void test_wrong(void **state)
{
    (void)state;
    scene s;
    begin(&s, 1);
    s.config.listen[0] = "nonsense";
    expect_error(&s, SLC_ERR_USAGE, "'nonsense' is no address: HOST:PORT or [HOST]:PORT");
    s.config.listen[0] = "::1:9000";
    expect_error(&s, SLC_ERR_USAGE, "'::1:9000' is no address");
    s.config.listen[0] = "127.0.0.1:70000";
    expect_error(&s, SLC_ERR_USAGE, "'127.0.0.1:70000' is no address");
    s.config.listen[0] = "192.0.2.1:9000"; /* of documentation: nobody's */
    expect_error(&s, SLC_ERR_IO, "192.0.2.1:9000: cannot listen there: ");
    const int taken = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    char address[32];
    assert_int_equal(bind(taken, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(taken, (struct sockaddr *)&at, &size), 0);
    (void)snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(at.sin_port));
    s.config.listen[0] = address;
    expect_error(&s, SLC_ERR_IO, "cannot listen there: Address already in use");
    (void)close(taken);
    begin(&s, 0);
    expect_error(&s, SLC_ERR_USAGE, "0 addresses to listen at: 1 to 64");
    begin(&s, 1);
    s.config.seconds = -1;
    expect_error(&s, SLC_ERR_USAGE, "an acquisition of -1 s");
    begin(&s, 1);
    s.config.raw.payload.sequence_bytes = 8;
    expect_error(&s, SLC_ERR_USAGE, "is not inside a header of 0 bytes");
    begin(&s, 1);
    s.config.output = "/nowhere/at/all";
    expect_error(&s, SLC_ERR_IO, "/nowhere/at/all: cannot create: ");
    assert_int_equal(count_files(), 0);
    slc_pet_frame frame = {0};
    slc_daq_pet_send_config how = {
        .size = sizeof(slc_daq_pet_send_config), .n_to = 1, .to = {"127.0.0.1:9"}, .frames_per_datagram = 0};
    uint64_t sent = 0, datagrams = 0;
    assert_int_equal(slc_daq_pet_send_frames(&how, &frame, 1, &sent, &datagrams, NULL), SLC_ERR_USAGE);
    how.frames_per_datagram = 4001;
    assert_int_equal(slc_daq_pet_send_frames(&how, &frame, 1, &sent, &datagrams, NULL), SLC_ERR_USAGE);
    how = (slc_daq_pet_send_config){.size = sizeof(slc_daq_pet_send_config),
                                    .n_to = 1,
                                    .to = {"127.0.0.1:9"},
                                    .frames_per_datagram = 1,
                                    .frames_hz = -1};
    assert_int_equal(slc_daq_pet_send_frames(&how, &frame, 1, &sent, &datagrams, NULL), SLC_ERR_USAGE);
    how = (slc_daq_pet_send_config){
        .size = sizeof(slc_daq_pet_send_config), .to = {"127.0.0.1:9"}, .frames_per_datagram = 1};
    assert_int_equal(slc_daq_pet_send_frames(&how, &frame, 1, &sent, &datagrams, NULL), SLC_ERR_USAGE);
}

/* IPv6, repetitions with later times, and the steadiness of the rate. */
static void test_sender(void **state)
{
    (void)state;
    scene s;
    begin(&s, 1);
    s.config.listen[0] = "[::1]:0";
    s.send = send_frames;
    s.n = 920;
    s.frames = bursts(s.n, 92);
    s.how = (slc_daq_pet_send_config){.size = sizeof(slc_daq_pet_send_config),
                                      .frames_hz = 9200,
                                      .frames_per_datagram = 92,
                                      .repeat = 4,
                                      .repeat_ticks = 0x10000};
    const slc_status status = acquire(&s);
    if (status == SLC_ERR_IO) {
        print_message("skipped: no IPv6 here: %s\n", s.error.text);
        free(s.frames);
        skip();
    }
    assert_int_equal(status, SLC_OK);
    assert_int_equal(s.sent, 4 * s.n);
    assert_true(s.counts.seconds > 0.3); /* the last of 40 datagrams is due after 0.39 s */
    slc_faults faults = {0};
    size_t n = 0;
    slc_pet_frame *read = raw_read_file(path, &n, &faults);
    assert_int_equal(n, 4 * s.n);
    for (size_t i = 0; i < n; i++) {
        uint64_t ticks = 0;
        for (int k = 0; k < 8; k++) {
            ticks = ticks << 8 | read[i].time[k];
        }
        assert_int_equal(ticks, i % s.n + i / s.n * 0x10000);
    }
    free(read);
    free(s.frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_frame, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_malformed, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_counters, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_full_disk, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_ends, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_wrong, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(test_sender, make_folder, remove_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
