/* SPDX-License-Identifier: Apache-2.0
 * Data files, bytes, and the assertions that the tests of inputs share. */
#include "support/support.h"
#include "base/splitmix.h"
#include "support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *support_data(const char *relative)
{
    static char path[4096];
    const char *folder = getenv("SLUICE_TEST_DATA");
    (void)snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : "../shared/data", relative);
    return path;
}

int support_skip_without(const char *relative)
{
    const char *path = support_data(relative);
    if (access(path, R_OK) == 0) {
        return 0;
    }
    (void)printf("skipped: %s is absent (set SLUICE_TEST_DATA)\n", path);
    return 77;
}

uint64_t support_random(uint64_t *state)
{
    return slc_random_u64(state);
}

void support_append(support_bytes *to, const void *bytes, size_t size)
{
    if (to->size + size > to->capacity) {
        to->capacity = 2 * (to->size + size);
        to->at = realloc(to->at, to->capacity);
        assert_non_null(to->at);
    }
    if (size > 0) {
        memcpy(to->at + to->size, bytes, size);
    }
    to->size += size;
}

void support_clear(support_bytes *bytes)
{
    free(bytes->at);
    *bytes = (support_bytes){0};
}

support_bytes support_read(const char *path)
{
    support_bytes all = {0};
    char part[65536];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) {
        support_append(&all, part, n);
    }
    assert_int_equal(fclose(file), 0);
    return all;
}

const char *support_temporary(const void *bytes, size_t size)
{
    static char path[64];
    (void)strcpy(path, "/tmp/sluice-test-XXXXXX");
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), (ssize_t)size);
    assert_int_equal(close(file), 0);
    return path;
}

uint64_t support_hash(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t sum = SLC_CHECKSUM_START;
    for (size_t i = 0; i < size; i++) {
        sum = (sum ^ at[i]) * 1099511628211U;
    }
    return sum;
}

void support_assert_same_events(const support_outcome *a, const support_outcome *b, uint64_t n)
{
    assert_true(a->totals.events >= n && b->totals.events >= n);
    for (uint64_t e = 0; e < n && e < SUPPORT_EVENTS; e++) {
        assert_int_equal(a->event_hash[e], b->event_hash[e]);
    }
}

void support_assert_message(const char *text, const char *name, uint64_t offset, const char *reason)
{
    char begin[256];
    (void)snprintf(begin, sizeof begin, "%s: byte %llu: ", name, (unsigned long long)offset);
    if (strncmp(text, begin, strlen(begin)) != 0 || strstr(text, reason) == NULL ||
        strchr(text, '\n') != NULL) {
        fail_msg("\"%s\" should begin with \"%s\" and contain \"%s\"", text, begin, reason);
    }
}
