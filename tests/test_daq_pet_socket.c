/* SPDX-License-Identifier: Apache-2.0
 * One socket of an acquisition: what had arrived when it is told to stop is received, however slowly the
 * writer makes room, and though a sender never ceases; and addresses, multicast groups among them. */
#include "support/cmocka_all.h"

#include "daq/daq_pet_socket.h"
#include "io/io_address.h"
#include "io/pet/io_pet_raw.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 1400, RING = 8 << 20, ROOM = 64 << 20 };

static void nap(long us)
{
    const struct timespec time = {.tv_nsec = us * 1000};
    (void)nanosleep(&time, NULL);
}

typedef struct sender {
    int file;
    uint32_t next;
    atomic_bool stop;
} sender;

static bool send_next(sender *s)
{
    uint8_t bytes[SIZE] = {0};
    slc_store_u32(bytes, s->next);
    const bool sent = send(s->file, bytes, sizeof bytes, 0) == SIZE;
    s->next += sent;
    return sent;
}

static void *send_for_ever(void *argument)
{
    sender *s = argument;
    while (!atomic_load(&s->stop)) {
        (void)send_next(s);
    }
    return NULL;
}

/* What a slow writer finds in the ring: datagrams whose numbers go on from *next. Returns how many. */
static uint32_t take(slc_daq_pet_ring *ring, uint64_t *at, uint32_t *next, uint32_t *wrong)
{
    uint32_t n = 0;
    const uint8_t *block = slc_daq_pet_ring_at(ring, at, atomic_load(&ring->put));
    if (block != NULL) {
        const slc_io_pet_block head = slc_io_pet_block_of(block);
        *wrong += head.datagram != SIZE;
        for (; (n + 1) * SIZE <= head.payload; n++) {
            *wrong += slc_load_u32(block + SLC_PET_RAW_BLOCK + n * SIZE) != *next + n;
        }
        *at += SLC_PET_RAW_BLOCK + (uint64_t)head.payload;
        atomic_store(&ring->taken, *at);
    }
    *next += n;
    return n;
}

static void test_stop(void **state)
{
    (void)state;
    slc_daq_pet_socket *s = NULL;
    slc_error error = {.status = SLC_OK};
    char address[96];
    sender from = {.next = 0};
    pthread_t thread;
    const slc_io_pet_payload payload = {.header_bytes = 0};
    slc_daq_pet_socket_config config = {
        .address = "127.0.0.1:0", .payload = &payload, .ring_bytes = RING, .socket_bytes = ROOM};
    assert_int_equal(slc_io_address_listen(config.address, 1, &config.file, &error), SLC_OK);
    assert_int_equal(slc_daq_pet_socket_open(&config, &s, &error), SLC_OK);
    slc_daq_pet_socket_address(s, address, sizeof address);
    assert_int_equal(slc_io_address_connect(address, &from.file, &error), SLC_OK);
    const uint32_t before = (uint32_t)(slc_daq_pet_socket_granted(s) / 4096); /* there is room for so many */
    assert_true(before > 100);
    while (from.next < before) {
        assert_true(send_next(&from));
    }
    assert_int_equal(slc_daq_pet_socket_start(s, 0, &error), SLC_OK);
    slc_daq_pet_socket_stop(s);
    assert_int_equal(pthread_create(&thread, NULL, send_for_ever, &from), 0);
    uint64_t at = 0, all = 0, ring = 0, later = 0;
    uint32_t next = 0, wrong = 0;
    bool ended = false;
    while (!ended || slc_daq_pet_ring_at(slc_daq_pet_socket_ring(s), &at,
                                         atomic_load(&slc_daq_pet_socket_ring(s)->put)) != NULL) {
        ended = slc_daq_pet_socket_has_ended(s);
        (void)take(slc_daq_pet_socket_ring(s), &at, &next, &wrong);
        nap(next < before ? 200 : 0);
    }
    assert_int_equal(slc_daq_pet_socket_join(s, &error), SLC_OK);
    assert_true(next >= before);
    assert_int_equal(wrong, 0);
    /* What the system drops behind the end is no loss of the acquisition. */
    slc_daq_pet_socket_drops(s, &all, &ring);
    for (int i = 0; i < 20; i++) {
        nap(5000);
    }
    slc_daq_pet_socket_drops(s, &later, &ring);
    assert_int_equal(later, all);
    atomic_store(&from.stop, true);
    (void)pthread_join(thread, NULL);
    (void)close(from.file);
    slc_daq_pet_socket_close(s);
}

/* ---- addresses --------------------------------------------------------------------------------- */

static void expect(const char *address, slc_status status, const char *text)
{
    slc_error error = {.status = SLC_OK};
    int file = -1;
    const slc_status got = slc_io_address_listen(address, 1, &file, &error);
    if (got != status || strstr(error.text, text) == NULL) {
        fail_msg("%s: status %d: %s", address, (int)got, error.text);
    }
    assert_int_equal(file, -1);
}

static void test_wrong_addresses(void **state)
{
    (void)state;
    expect("192.0.2.1:9000", SLC_ERR_IO, "; no interface of this machine has it");
    expect("127.0.0.1%lo:9000", SLC_ERR_USAGE,
           "an interface (%lo) is of multicast groups and link-local addresses alone");
    expect("239.255.77.1%nosuch0:9000", SLC_ERR_IO, "there is no interface 'nosuch0'");
    expect("no.such.host.invalid:9000", SLC_ERR_IO, "no.such.host.invalid:9000: cannot find that address: ");
    expect("[::1]", SLC_ERR_USAGE, "is no address");
    expect("127.0.0.1:", SLC_ERR_USAGE, "is no address");
    expect("127.0.0.1:-1", SLC_ERR_USAGE, "is no address");
    int file = -1;
    char address[96];
    assert_int_equal(slc_io_address_listen("127.0.0.1:0", 1, &file, NULL), SLC_OK);
    slc_io_address_of(file, address, sizeof address);
    expect(address, SLC_ERR_IO, "cannot listen there: Address already in use; ss -ulpn shows by whom");
    (void)close(file);
}

/* Two members of a group at one port have each datagram that is sent to it. */
static void test_group(void **state)
{
    (void)state;
    int member[2] = {-1, -1}, from = -1;
    char address[96], with_interface[120];
    slc_error error = {.status = SLC_OK};
    if (slc_io_address_listen("239.255.77.1%lo:0", 1, &member[0], &error) != SLC_OK) {
        print_message("skipped: no multicast here: %s\n", error.text);
        skip();
    }
    slc_io_address_of(member[0], address, sizeof address);
    (void)snprintf(with_interface, sizeof with_interface, "239.255.77.1%%lo%s", strrchr(address, ':'));
    assert_int_equal(slc_io_address_listen(with_interface, 1, &member[1], &error), SLC_OK);
    assert_int_equal(slc_io_address_connect(with_interface, &from, &error), SLC_OK);
    if (send(from, "frames", 6, 0) != 6) {
        print_message("skipped: nothing can be sent to a group here: %s\n", strerror(errno));
        skip();
    }
    for (int i = 0; i < 2; i++) {
        const struct timeval wait = {.tv_sec = 5};
        char bytes[16];
        assert_int_equal(setsockopt(member[i], SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait), 0);
        assert_int_equal(recv(member[i], bytes, sizeof bytes, 0), 6);
        assert_memory_equal(bytes, "frames", 6);
        (void)close(member[i]);
    }
    (void)close(from);
}

/* A counter of 32 bits that begins again, and one that was looked at out of turn. */
static void test_drops(void **state)
{
    (void)state;
    uint64_t n = 0;
    for (uint64_t true_number = 0; true_number < (UINT64_C(5) << 32); true_number += 1000000007) {
        n = slc_daq_pet_socket_count(n, (uint32_t)true_number);
        assert_int_equal(n, true_number);
        assert_int_equal(slc_daq_pet_socket_count(n, (uint32_t)true_number - 5), n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_wrong_addresses),
        cmocka_unit_test(test_group),
        cmocka_unit_test(test_drops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
