/* SPDX-License-Identifier: Apache-2.0
 * Streams cut at every byte, in pieces of every size, and of any bytes: messages are those that are whole,
 * what is left over is counted to the byte, beside an oracle that reads the whole at once. */
#include "support/cmocka_all.h"

#include "daq/daq_pet_stream.h"
#include "io/io_address.h"
#include "support/random.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 1 << 18 };

typedef struct seen {
    uint8_t bytes[MOST]; /* of all messages */
    size_t n, messages;
    bool over; /* the connection */
} seen;
static seen s;

static bool take(void *context, const uint8_t *bytes, size_t size)
{
    (void)context;
    assert_true(s.n + size <= MOST);
    memcpy(s.bytes + s.n, bytes, size);
    s.n += size;
    s.messages++;
    return true;
}

static void note(void *context, const char *text)
{
    (void)context;
    s.over = s.over || strstr(text, " ended") != NULL || strstr(text, " broken") != NULL;
}

/* The same from all bytes at once. Returns how many are left over. */
static size_t oracle(const uint8_t *bytes, size_t n, uint32_t length_bytes, bool big, uint32_t record,
                     seen *to)
{
    size_t at = 0;
    to->n = to->messages = 0;
    if (length_bytes == 0) {
        to->n = n / record * record;
        memcpy(to->bytes, bytes, to->n);
        return n - to->n;
    }
    while (n - at >= length_bytes) {
        size_t length = 0;
        for (uint32_t i = 0; i < length_bytes; i++) {
            length |= (size_t)bytes[at + i] << 8 * (big ? length_bytes - 1 - i : i);
        }
        if (length > SLC_DAQ_PET_MESSAGE || n - at - length_bytes < length) {
            break;
        }
        memcpy(to->bytes + to->n, bytes + at + length_bytes, length);
        to->n += length;
        to->messages++;
        at += length_bytes + length;
    }
    return n - at;
}

static int connect_to(const char *address)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                   .sin_port = htons((uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10))};
    const int file = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(file >= 0);
    assert_int_equal(connect(file, (const struct sockaddr *)&to, sizeof to), 0);
    return file;
}

/* Through a connection of its own, in pieces. `exact`: no message can be too long, so that all bytes are
 * read. */
static void check(const uint8_t *bytes, size_t n, uint32_t length_bytes, bool big, uint32_t record,
                  size_t piece, bool exact)
{
    static seen wanted;
    int listens = -1;
    char address[96];
    slc_daq_pet_stream *stream = NULL;
    assert_int_equal(slc_io_address_listen("tcp:127.0.0.1:0", 1, &listens, NULL), SLC_OK);
    slc_io_address_of(listens, address, sizeof address);
    const slc_daq_pet_stream_config config = {.file = listens,
                                              .length_bytes = length_bytes,
                                              .record = record,
                                              .big = big,
                                              .take = take,
                                              .note = note};
    assert_int_equal(slc_daq_pet_stream_open(&config, &stream), SLC_OK);
    s.n = s.messages = 0;
    s.over = false;
    const int from = connect_to(address);
    for (size_t at = 0; at < n && !s.over; at += piece) {
        const size_t some = n - at < piece ? n - at : piece;
        if (send(from, bytes + at, some, MSG_NOSIGNAL) != (ssize_t)some) {
            break; /* it was closed */
        }
        assert_true(slc_daq_pet_stream_turn(stream, 0));
    }
    (void)close(from);
    for (int i = 0; i < 1000 && !s.over; i++) {
        assert_true(slc_daq_pet_stream_turn(stream, 10));
    }
    assert_true(s.over);
    const size_t left = oracle(bytes, n, length_bytes, big, record, &wanted);
    const slc_daq_pet_stream_counts counts = slc_daq_pet_stream_counts_of(stream);
    assert_int_equal(s.n, wanted.n);
    assert_memory_equal(s.bytes, wanted.bytes, s.n);
    assert_true(length_bytes == 0 || s.messages == wanted.messages);
    assert_int_equal(counts.connections, 1);
    assert_int_equal(counts.broken, left > 0);
    assert_true(exact ? counts.broken_bytes == left : counts.broken_bytes <= left);
    slc_daq_pet_stream_close(stream);
    (void)close(listens);
}

static void test_cut(void **state)
{
    (void)state;
    uint8_t bytes[200];
    for (uint32_t length_bytes = 0; length_bytes <= 4; length_bytes += 2) {
        for (int big = 0; big < 2; big++) {
            size_t n = 0;
            for (uint32_t size = 0; n + length_bytes + size <= sizeof bytes; size = (size + 7) % 30) {
                for (uint32_t i = 0; i < length_bytes; i++) {
                    bytes[n + i] = (uint8_t)(size >> 8 * (big != 0 ? length_bytes - 1 - i : i));
                }
                n += length_bytes;
                memset(bytes + n, (int)(n % 251), size);
                n += size;
                if (length_bytes == 0 && size == 0) {
                    bytes[n++] = 5;
                }
            }
            for (size_t cut = 0; cut <= n; cut++) {
                check(bytes, cut, length_bytes, big != 0, 7, 1 + cut % 13, true);
            }
        }
    }
}

static void test_any_bytes(void **state)
{
    (void)state;
    static uint8_t bytes[100000];
    uint64_t random = 11;
    for (int round = 0; round < 60; round++) {
        const size_t n = random_below(&random, round % 5 == 0 ? sizeof bytes : 2000);
        for (size_t i = 0; i < n; i++) {
            bytes[i] = (uint8_t)(random_below(&random, 3) == 0 ? random_u64(&random) >> 20 : 0);
        }
        check(bytes, n, (uint32_t)round % 3 * 2, round % 2 != 0, 1 + random_below(&random, 40),
              1 + random_below(&random, 5000), false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
