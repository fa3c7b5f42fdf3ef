/* SPDX-License-Identifier: Apache-2.0
 *
 * The live page: who is let in, what a snapshot is, and a server that its clients cannot hold up.
 */
#include "live/live_request.h"
#include "live/live_text.h"
#include "support/assert_ok.h"
#include "support/cmocka_all.h"

#include <sluice/live.h>

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char secret[] = "a-token-of-24-characters";

/* ---- texts ------------------------------------------------------------------------------------- */

static void texts_of_json(void **state)
{
    (void)state;
    slc_live_text text = {.text = NULL};
    slc_live_text_string(&text, "a\"\\\n\x7f\xc3\xa9\xff\xe2\x82");
    assert_string_equal(text.text, "\"a\\\"\\\\\\u000a\\u007f\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    text.size = 0;
    slc_live_text_string(&text, "\xed\xa0\x80\xf0\x9f\x98\x80\xc0\x80"); /* a surrogate, a face, overlong */
    assert_string_equal(text.text,
                        "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd\"");
    text.size = 0;
    const double values[] = {0, -0.0, 12345678901.0, 0.1, NAN, -INFINITY, 1e300};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        slc_live_text_number(&text, values[i]);
        slc_live_text_add(&text, " ", 1);
    }
    assert_string_equal(text.text, "0 0 12345678901 0.1 null null 1e+300 ");
    text.size = 0;
    slc_live_text_label(&text, "a\"b\\c\nd");
    assert_string_equal(text.text, "a\\\"b\\\\c\\nd");
    slc_live_text_clear(&text);
}

/* ---- requests ---------------------------------------------------------------------------------- */

static slc_live_verdict judge(const char *method, const char *path, const char *host, const char *token,
                              const char *authorization)
{
    const slc_live_request request = {
        .method = method, .path = path, .host = host, .authorization = authorization};
    return slc_live_request_judge(&request, token).verdict;
}

static void requests_are_judged(void **state)
{
    (void)state;
    const char *const good[] = {"127.0.0.1:80", "127.0.0.1", "localhost:9",  "LOCALHOST",
                                "[::1]:8080",   "[::1]",     "192.168.1.5:1"};
    const char *const bad[] = {"evil.com",
                               "127.0.0.1.evil.com",
                               "localhost.evil.com",
                               "",
                               ":80",
                               "[::1",
                               "[::1]x",
                               "127.1:80",
                               "127.0.0.1:80x",
                               "127.0.0.1:999999",
                               "[evil.com]:80",
                               "0x7f.0.0.1",
                               "localhost:80:80"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(judge("GET", "/", good[i], "", NULL), SLC_LIVE_GRANTED);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(judge("GET", "/status.json", bad[i], "", NULL), SLC_LIVE_BAD_HOST);
    }
    assert_int_equal(judge("GET", "/", NULL, "", NULL), SLC_LIVE_BAD_HOST);
    const char *const methods[] = {"POST",    "PUT", "DELETE", "OPTIONS", "TRACE",
                                   "CONNECT", "get", "",       "PATCH"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        assert_int_equal(judge(methods[i], "/", "localhost", "", NULL), SLC_LIVE_BAD_METHOD);
    }
    const char *const paths[] = {"/../etc/passwd", "//", "/page.js/",       "/page.js/..",      "/%2e%2e",
                                 "/STATUS.json",   "",   "/status.json%00", "http://127.0.0.1/"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(judge("HEAD", paths[i], "localhost", "", NULL), SLC_LIVE_BAD_PATH);
    }
    const slc_live_request body = {.method = "GET", .path = "/", .host = "localhost", .has_body = true};
    assert_int_equal(slc_live_request_judge(&body, "").verdict, SLC_LIVE_BAD_METHOD);
}

static void questions_are_numbers(void **state)
{
    (void)state;
    slc_live_request request = {.method = "GET", .path = "/map.bin", .host = "localhost", .block = "17"};
    slc_live_answer answer = slc_live_request_judge(&request, "");
    assert_int_equal(answer.verdict, SLC_LIVE_GRANTED);
    assert_int_equal(answer.number, 17);
    const char *const bad[] = {"", "-1", "1x", " 1", "4294967296", "99999999999999999999", "0x1", "1.0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        request.block = bad[i];
        assert_int_equal(slc_live_request_judge(&request, "").verdict, SLC_LIVE_BAD_QUESTION);
    }
    request = (slc_live_request){
        .method = "GET", .path = "/event.json", .host = "localhost", .n = "99999999999"};
    answer = slc_live_request_judge(&request, "");
    assert_true(answer.verdict == SLC_LIVE_GRANTED && answer.has_number && answer.number == 99999999999);
    request = (slc_live_request){
        .method = "GET", .path = "/status.json", .host = "localhost", .history = "2"};
    assert_int_equal(slc_live_request_judge(&request, "").verdict, SLC_LIVE_BAD_QUESTION);
}

static void secrets_are_compared_whole(void **state)
{
    (void)state;
    char header[320];
    (void)snprintf(header, sizeof header, "Bearer %s", secret);
    assert_int_equal(judge("GET", "/status.json", "localhost", secret, header), SLC_LIVE_GRANTED);
    assert_int_equal(judge("GET", "/metrics", "localhost", secret, NULL), SLC_LIVE_BAD_TOKEN);
    assert_int_equal(judge("GET", "/event.json", "localhost", secret, secret), SLC_LIVE_BAD_TOKEN);
    assert_int_equal(judge("GET", "/page.js", "localhost", secret, NULL), SLC_LIVE_GRANTED);
    for (size_t i = 0; i < strlen(secret); i++) {
        char other[sizeof secret];
        memcpy(other, secret, sizeof other);
        other[i] ^= 1;
        assert_false(slc_live_same_secret(secret, other));
        other[i] = '\0'; /* a beginning */
        assert_false(slc_live_same_secret(secret, other));
    }
    (void)snprintf(header, sizeof header, "%s%s", secret, secret);
    assert_false(slc_live_same_secret(secret, header));
    assert_false(slc_live_same_secret("", ""));
    assert_true(slc_live_same_secret(secret, secret));
    assert_true(slc_live_token_is_good(secret));
    assert_false(slc_live_token_is_good("short"));
    assert_false(slc_live_token_is_good("sixteen characters but spaces"));
    assert_false(slc_live_token_is_good("a-token-of-24-char%cters"));
    assert_false(slc_live_token_is_good("token=a-token-of-24-characters"));
}

/* ---- the server -------------------------------------------------------------------------------- */

static slc_live *open_page(const char *token)
{
    slc_live_config config;
    slc_live *live = NULL;
    slc_error error = {.status = SLC_OK};
    slc_live_config_default(&config);
    config.address = "127.0.0.1:0";
    config.command = "test";
    config.title = "a \"title\"";
    config.token = token;
    config.period_s = 0.1;
    const slc_status status = slc_live_open(&config, &live, &error);
    if (status == SLC_ERR_UNSUPPORTED) {
        print_message("%s\n", error.text);
        exit(77);
    }
    ASSERT_OK(status);
    return live;
}

static int reach(const slc_live *live)
{
    const char *colon = strrchr(slc_live_url(live), ':');
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int file = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(file >= 0 && connect(file, (struct sockaddr *)&to, sizeof to) == 0);
    return file;
}

/* All that comes until the end; the caller frees it. */
static char *ask(const slc_live *live, const char *request)
{
    const int file = reach(live);
    size_t size = 0, room = 1 << 16;
    char *got = malloc(room);
    assert_true(got != NULL && write(file, request, strlen(request)) == (ssize_t)strlen(request));
    for (;;) {
        struct pollfd wait = {.fd = file, .events = POLLIN};
        assert_int_equal(poll(&wait, 1, 20000), 1);
        const ssize_t n = read(file, got + size, room - size - 1);
        if (n <= 0) {
            break;
        }
        size += (size_t)n;
        if (room - size < 4096) {
            got = realloc(got, room *= 2);
            assert_non_null(got);
        }
    }
    got[size] = '\0';
    (void)close(file);
    return got;
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

static void put_some(slc_live *live, double events)
{
    slc_live_put_value(live, &(slc_live_value){.metric = "test_events_total",
                                               .help = "Events.",
                                               .group = "Test",
                                               .title = "Events",
                                               .kind = SLC_LIVE_COUNTER,
                                               .flags = SLC_LIVE_KEEP,
                                               .value = events});
    slc_live_put_value(live, &(slc_live_value){.metric = "test_lost_total",
                                               .help = "Lost.",
                                               .group = "Test",
                                               .title = "lost",
                                               .label = "module",
                                               .is = "m\"1",
                                               .kind = SLC_LIVE_COUNTER,
                                               .flags = SLC_LIVE_ALARM,
                                               .value = 3});
    slc_live_put_value(live, &(slc_live_value){.group = "Test", .title = "Unknown", .value = NAN});
    slc_live_put_value(live, &(slc_live_value){.metric = "test bad{", .value = 1});
    slc_live_put_value(live, &(slc_live_value){.metric = "test_twice", .value = 1});
    slc_live_put_value(live, &(slc_live_value){.metric = "test_twice", .value = 2});
}

/* The snapshot `events` is in is the current one, soon. */
static json_t *status_of(const slc_live *live, const char *request, double events)
{
    for (int i = 0; i < 200; i++) {
        char *got = ask(live, request);
        const char *body = strstr(got, "\r\n\r\n");
        assert_non_null(body);
        json_t *status = json_loads(body + 4, 0, NULL);
        assert_non_null(status);
        free(got);
        json_t *first = json_array_get(json_object_get(status, "values"), 0);
        if (first != NULL && json_number_value(json_object_get(first, "value")) == events) {
            return status;
        }
        json_decref(status);
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    fail_msg("the snapshot with %g events does not come", events);
    return NULL;
}

static void snapshots_replace_each_other(void **state)
{
    (void)state;
    slc_live *live = open_page(NULL);
    for (int i = 1; i <= 700; i++) { /* more than are kept */
        put_some(live, i);
        assert_true(slc_live_publish(live, SLC_LIVE_RUNNING));
    }
    json_t *status = status_of(live, GET("/status.json?history=1"), 700);
    json_t *history = json_object_get(status, "history"), *series = json_object_get(history, "series");
    assert_int_equal(json_array_size(json_object_get(history, "seconds")), SLC_LIVE_HISTORY);
    assert_int_equal(json_array_size(series), 1);
    assert_int_equal(json_array_size(json_array_get(series, 0)), SLC_LIVE_HISTORY);
    assert_string_equal(json_string_value(json_object_get(status, "title")), "a \"title\"");
    assert_string_equal(json_string_value(json_object_get(status, "state")), "running");
    json_t *values = json_object_get(status, "values");
    assert_int_equal(json_array_size(values), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(values, 1), "is")), "m\"1");
    assert_true(json_is_null(json_object_get(json_array_get(values, 2), "value")));
    json_decref(status);
    char *metrics = ask(live, GET("/metrics"));
    assert_non_null(strstr(metrics, "# TYPE test_events_total counter\ntest_events_total 700\n"));
    assert_non_null(strstr(metrics, "test_lost_total{module=\"m\\\"1\"} 3\n"));
    assert_null(strstr(metrics, "nan"));
    assert_null(strstr(metrics, "test bad"));
    assert_non_null(strstr(metrics, "\ntest_twice 2\n"));
    assert_null(strstr(metrics, "test_twice 1"));
    free(metrics);
    slc_live_close(live);
}

static void what_failed_is_told_once(void **state)
{
    (void)state;
    slc_live *live = open_page(NULL);
    for (int i = 0; i < 100; i++) {
        slc_live_tell(live, "the disk is full");
    }
    for (int i = 0; i < 40; i++) {
        char line[32];
        (void)snprintf(line, sizeof line, "line %d", i);
        slc_live_tell(live, line);
    }
    put_some(live, 1);
    assert_true(slc_live_publish(live, SLC_LIVE_FAILED));
    json_t *status = status_of(live, GET("/status.json"), 1);
    json_t *told = json_object_get(status, "told");
    assert_int_equal(json_array_size(told), 25);
    assert_string_equal(json_string_value(json_object_get(json_array_get(told, 0), "text")),
                        "the disk is full");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(told, 0), "count")), 100);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(told, 24), "count")), 17);
    json_decref(status);
    slc_live_close(live);
}

static void maps_come_when_asked_for(void **state)
{
    (void)state;
    slc_live *live = open_page(NULL);
    uint32_t cells[12];
    for (uint32_t i = 0; i < 12; i++) {
        cells[i] = 1000 * i;
    }
    assert_false(slc_live_wants(live, 5));
    char *got = ask(live, GET("/map.bin?block=5"));
    assert_non_null(strstr(got, "503"));
    assert_non_null(strstr(got, "Retry-After: 1"));
    free(got);
    assert_true(slc_live_wants(live, 5));
    put_some(live, 2);
    slc_live_put_cells(live, 5, 4, 3, cells);
    slc_live_put_cells(live, 6, 4, 3, cells); /* which nobody wants */
    slc_live_put_event(live, 77, "{\"number\":77}", 13);
    assert_true(slc_live_publish(live, SLC_LIVE_RUNNING));
    json_decref(status_of(live, GET("/status.json"), 2));
    got = ask(live, GET("/map.bin?block=5"));
    const char *body = strstr(got, "\r\n\r\n") + 4;
    assert_memory_equal(body, "SLMP\1\0\0\0\5\0\0\0\4\0\0\0\3\0\0\0\xf8\x2a\0\0", 24);
    assert_memory_equal(body + 32 + 4 * 11, "\xf8\x2a\0\0", 4);
    free(got);
    got = ask(live, GET("/map.bin?block=6"));
    assert_non_null(strstr(got, "503"));
    free(got);
    got = ask(live, GET("/event.json?n=77"));
    assert_non_null(strstr(got, "{\"number\":77}"));
    free(got);
    got = ask(live, GET("/event.json?n=78"));
    assert_non_null(strstr(got, "404"));
    free(got);
    slc_live_close(live);
}

static void refusals_are_counted_and_told_once(void **state)
{
    (void)state;
    static const struct {
        const char *request, *status, *header;
    } cases[] = {
        {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nabcd", "HTTP/1.1 405",
         "Allow: GET, HEAD"},
        {"GET / HTTP/1.1\r\nHost: evil.com\r\nConnection: close\r\n\r\n", "HTTP/1.1 421",
         "X-Content-Type-Options: nosniff"},
        {GET("/../../etc/passwd"), "HTTP/1.1 404", "Content-Security-Policy: default-src 'none'"},
        {GET("/status.json"), "HTTP/1.1 401", "WWW-Authenticate: Bearer"},
        {"GET /map.bin?block=x HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
         "a-token-of-24-characters\r\n\r\n",
         "HTTP/1.1 400", "Cache-Control: no-store"},
        {"\x16\x03\x01 no http at all\r\n\r\n", "HTTP/1.", "400"},
        {"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 200",
         "Content-Length: 3"},
    };
    slc_live *live = open_page(secret);
    char line[512];
    unsigned lines = 0;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            char *got = ask(live, cases[i].request);
            assert_memory_equal(got, cases[i].status, strlen(cases[i].status));
            assert_non_null(strstr(got, cases[i].header));
            assert_null(strstr(got, "Access-Control"));
            free(got);
        }
        while (slc_live_refused(live, line, sizeof line)) {
            lines++;
        }
    }
    assert_int_equal(lines, 6); /* no request at all, too */
    char *got = ask(live, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                          "a-token-of-24-characters\r\nConnection: close\r\n\r\n");
    assert_non_null(strstr(got, "sluice_live_refused_total{reason=\"host\"} 3\n"));
    assert_non_null(strstr(got, "sluice_live_refused_total{reason=\"token\"} 3\n"));
    free(got);
    slc_live_close(live);
}

/* Many more than there is room for, which say nothing, half of a request, or never take the answer. */
static void silent_clients_shut_nobody_out(void **state)
{
    (void)state;
    enum { SILENT = 150 };
    slc_live *live = open_page(NULL);
    int file[SILENT];
    for (int i = 0; i < SILENT; i++) {
        file[i] = reach(live);
        const char *some = i % 3 == 0   ? "GET /status.j"
                           : i % 3 == 1 ? "GET /page.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                        : "";
        assert_true(send(file[i], some, strlen(some), MSG_NOSIGNAL) == (ssize_t)strlen(some));
    }
    double began = slc_clock_seconds();
    char *got = ask(live, GET("/healthz"));
    assert_non_null(strstr(got, "ok\n"));
    free(got);
    assert_true(slc_clock_seconds() - began < 15);
    began = slc_clock_seconds();
    slc_live_close(live); /* with all of them still there */
    assert_true(slc_clock_seconds() - began < 5);
    for (int i = 0; i < SILENT; i++) {
        (void)close(file[i]);
    }
}

static slc_status try_address(const char *address, bool anywhere, const char *token)
{
    slc_live_config config;
    slc_live *live = NULL;
    slc_error error = {.status = SLC_OK};
    slc_live_config_default(&config);
    config.address = address;
    config.anywhere = anywhere;
    config.token = token;
    const slc_status status = slc_live_open(&config, &live, &error);
    assert_true(status == SLC_OK || (error.text[0] != '\0' && live == NULL));
    slc_live_close(live);
    return status;
}

static void addresses_of_others_need_more(void **state)
{
    (void)state;
    slc_live_close(open_page(NULL)); /* or this build has none */
    const char *const bad[] = {"127.0.0.1", "localhost:80", "127.0.0.1:",   "127.0.0.1:65536",
                               "[::1]",     "::1:80",       "127.0.0.1:8x", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(try_address(bad[i], true, secret), SLC_ERR_USAGE);
    }
    assert_int_equal(try_address("0.0.0.0:0", false, NULL), SLC_ERR_USAGE);
    assert_int_equal(try_address("0.0.0.0:0", false, secret), SLC_ERR_USAGE);
    assert_int_equal(try_address("[::]:0", true, NULL), SLC_ERR_USAGE);
    assert_int_equal(try_address("127.0.0.1:0", false, "short"), SLC_ERR_USAGE);
    assert_int_equal(try_address("127.77.0.1:0", false, NULL), SLC_OK);
    slc_live *live = open_page(NULL);
    char again[64];
    (void)snprintf(again, sizeof again, "%.*s", (int)strcspn(slc_live_url(live) + 7, "/"),
                   slc_live_url(live) + 7);
    assert_int_equal(try_address(again, false, NULL), SLC_ERR_IO);
    slc_live_close(live);
}

static void no_page_is_one_too(void **state)
{
    (void)state;
    char line[8];
    slc_live_put_value(NULL, &(slc_live_value){.title = "x"});
    slc_live_put_text(NULL, "a", "b", "c", 0);
    slc_live_put_cells(NULL, 0, 1, 1, NULL);
    slc_live_put_event(NULL, 0, "", 0);
    slc_live_tell(NULL, "x");
    slc_live_close(NULL);
    assert_false(slc_live_due(NULL) || slc_live_wants(NULL, 0) || slc_live_refused(NULL, line, sizeof line));
    assert_true(slc_live_publish(NULL, SLC_LIVE_RUNNING));
    assert_string_equal(slc_live_url(NULL), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_json),
        cmocka_unit_test(requests_are_judged),
        cmocka_unit_test(questions_are_numbers),
        cmocka_unit_test(secrets_are_compared_whole),
        cmocka_unit_test(no_page_is_one_too),
        cmocka_unit_test(snapshots_replace_each_other),
        cmocka_unit_test(what_failed_is_told_once),
        cmocka_unit_test(maps_come_when_asked_for),
        cmocka_unit_test(refusals_are_counted_and_told_once),
        cmocka_unit_test(silent_clients_shut_nobody_out),
        cmocka_unit_test(addresses_of_others_need_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
