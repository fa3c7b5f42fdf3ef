/* SPDX-License-Identifier: Apache-2.0
 *
 * What CUDA's functions do, on a GPU and in the emulator (tests/simt), against formulas written here; and in
 * the emulator, that what is wrong is found. Skipped without a device.
 */
#include "support/image_gpu.h"
#include "support/simt_kernels.h"

#include "support/cmocka_all.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARP = 32, MOST = 1024 };

static slc_error error;

static struct CUstream_st *native(void)
{
    return slc_cuda_stream_native(image_gpu_stream());
}

static void ok(slc_status status)
{
    if (status != SLC_OK) {
        fail_msg("%s", error.text);
    }
}

/* ---- formulas ---------------------------------------------------------------------------------- */

/* The lanes of a warp, and their values. */
typedef struct lanes {
    const uint32_t *value;
    uint32_t n;
} lanes;

static uint32_t of(lanes w, uint32_t lane, uint32_t own)
{
    return lane < w.n ? w.value[lane] : own;
}

/* The bits of lanes for which something is true of their values, compared with `value`. */
typedef bool (*predicate)(uint32_t other, uint32_t value);
static uint32_t which(lanes w, predicate is, uint32_t value)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < w.n; i++) {
        bits |= (uint32_t)is(w.value[i], value) << i;
    }
    return bits;
}
static bool has_4(uint32_t other, uint32_t value)
{
    (void)value;
    return (other & 4) != 0;
}
static bool is_5(uint32_t other, uint32_t value)
{
    (void)value;
    return other % 64 == 5;
}
static bool same_8(uint32_t other, uint32_t value)
{
    return other % 8 == value % 8;
}
static bool same_3(uint32_t other, uint32_t value)
{
    return other % 3 == value % 3;
}
static bool same_size(uint32_t other, uint32_t value)
{
    return (other >> 20 == 0) == (value >> 20 == 0);
}
static bool odd_with_2(uint32_t other, uint32_t value)
{
    (void)value;
    return (other & 3) == 3;
}

static void exchanges(lanes w, uint32_t l, uint32_t *r)
{
    const uint32_t own = w.value[l], all = w.n == WARP ? UINT32_MAX : (1U << w.n) - 1;
    const bool full = w.n == WARP;
    r[SIMT_SHFL] = w.value[own % 4];
    r[SIMT_SHFL_8] = w.value[l / 8 * 8 + 1];
    r[SIMT_UP] = l < 3 ? own : w.value[l - 3];
    r[SIMT_UP_8] = l % 8 < 2 ? own : w.value[l - 2];
    r[SIMT_DOWN] = full ? of(w, l + 5, own) : own;
    r[SIMT_DOWN_16] = full && l % 16 < 11 ? w.value[l + 5] : own;
    r[SIMT_XOR] = full ? w.value[l ^ 17] : own;
    /* Groups before may be read, groups behind not. */
    r[SIMT_XOR_4] = full && (l ^ 6) < l / 4 * 4 + 4 ? w.value[l ^ 6] : own;
    r[SIMT_BALLOT] = which(w, has_4, 0);
    r[SIMT_ANY] = which(w, is_5, 0) != 0;
    r[SIMT_ALL] = which(w, is_5, 0) == 0;
    r[SIMT_MATCH_ANY] = which(w, same_8, own);
    r[SIMT_MATCH_ANY_64] = which(w, same_3, own);
    r[SIMT_MATCH_ALL] = which(w, same_size, own) == all ? all : l + 1000;
}

static void reductions(lanes w, uint32_t l, uint32_t *r)
{
    uint32_t add = 0, least = UINT32_MAX, parity = 0, odd = 0;
    int32_t most = INT32_MIN;
    for (uint32_t i = 0; i < w.n; i++) {
        add += w.value[i];
        odd += w.value[i] % 2 == 1 ? w.value[i] : 0;
        least = w.value[i] < least ? w.value[i] : least;
        most = (int32_t)w.value[i] > most ? (int32_t)w.value[i] : most;
        parity ^= w.value[i];
    }
    r[SIMT_REDUCE_ADD] = add;
    r[SIMT_REDUCE_MIN] = least;
    r[SIMT_REDUCE_MAX_SIGNED] = (uint32_t)most;
    r[SIMT_REDUCE_XOR] = parity;
    r[SIMT_ODD_BALLOT] = w.value[l] % 2 == 1 ? which(w, odd_with_2, 0) : 0;
    r[SIMT_ODD_ADD] = w.value[l] % 2 == 1 ? odd : 0;
}

static void blocks(const uint32_t *values, uint32_t threads, uint32_t t, uint32_t *r)
{
    r[SIMT_BLOCK_COUNT] = r[SIMT_BLOCK_OR] = r[SIMT_BLOCK_BEFORE] = 0;
    r[SIMT_BLOCK_AND] = 1;
    for (uint32_t i = 0; i < threads; i++) {
        r[SIMT_BLOCK_COUNT] += (values[i] & 8) != 0;
        r[SIMT_BLOCK_AND] &= (values[i] & 7) != 3;
        r[SIMT_BLOCK_OR] |= values[i] % 1000 == 7;
        r[SIMT_BLOCK_BEFORE] += i < t ? values[i] : 0;
    }
}

static uint32_t byte(uint32_t word, int i)
{
    return word >> 8 * i & 255;
}

static void alone(uint32_t v, uint32_t *r)
{
    const uint32_t other = v * 2654435761U + 12345U;
    /* Selectors 2, 7, 1 and 6: bytes 0 to 3 are of the first word. */
    r[SIMT_PERM] = byte(v, 2) | byte(other, 3) << 8 | byte(v, 1) << 16 | byte(other, 2) << 24;
    r[SIMT_FUNNEL_L] = v % 32 == 0 ? other : other << v % 32 | v >> (32 - v % 32);
    r[SIMT_FUNNEL_R] = v % 32 == 0 ? v : v >> v % 32 | other << (32 - v % 32);
    r[SIMT_POPC] = r[SIMT_BREV] = r[SIMT_BYTES_GE] = r[SIMT_BYTES_EQ] = r[SIMT_BYTES_SUM] = 0;
    r[SIMT_CLZ] = 32;
    r[SIMT_FFS] = 0;
    for (uint32_t i = 0; i < 32; i++) {
        r[SIMT_POPC] += v >> i & 1;
        r[SIMT_BREV] |= (v >> i & 1) << (31 - i);
        r[SIMT_CLZ] = v >> v % 32 >> i & 1 ? 31 - i : r[SIMT_CLZ];
        r[SIMT_FFS] = r[SIMT_FFS] == 0 && (v << v % 32) >> i & 1 ? i + 1 : r[SIMT_FFS];
    }
    r[SIMT_UMULHI] = (uint32_t)((uint64_t)v * other >> 32);
    for (int i = 0; i < 4; i++) {
        const uint32_t a = byte(v, i), b = byte(other, i);
        r[SIMT_BYTES_GE] |= (a >= b ? 255U : 0U) << 8 * i;
        r[SIMT_BYTES_EQ] |= ((a & 3) == (b & 3) ? 255U : 0U) << 8 * i;
        r[SIMT_BYTES_SUM] += a < b ? b - a : a - b;
    }
}

static void functions_of(uint32_t threads, uint64_t *seed)
{
    static uint32_t values[MOST], found[SIMT_ROWS * MOST];
    const uint32_t most = random_below(seed, 2) == 0 ? 40 : UINT32_MAX;
    for (uint32_t i = 0; i < threads; i++) {
        values[i] = random_below(seed, most);
    }
    uint32_t *values_there = image_gpu_upload(values, 4 * threads);
    uint32_t *results = image_gpu_upload(NULL, 4 * (size_t)SIMT_ROWS * threads);
    ok(simt_functions(values_there, threads, results, native(), &error));
    image_gpu_download(found, results, 4 * (size_t)SIMT_ROWS * threads);
    for (uint32_t t = 0; t < threads; t++) {
        uint32_t wanted[SIMT_ROWS];
        const uint32_t first = t / WARP * WARP, left = threads - first;
        const lanes w = {values + first, left < WARP ? left : WARP};
        exchanges(w, t - first, wanted);
        reductions(w, t - first, wanted);
        blocks(values, threads, t, wanted);
        alone(values[t], wanted);
        for (uint32_t row = 0; row < SIMT_ROWS; row++) {
            if (found[row * threads + t] != wanted[row]) {
                fail_msg("function %u, thread %u of %u: %#x, not %#x", row, t, threads,
                         found[row * threads + t], wanted[row]);
            }
        }
    }
    image_gpu_free(values_there);
    image_gpu_free(results);
}

/* Of the last warp at least 28 lanes, as lanes are read that must be there. */
static void functions(void **state)
{
    (void)state;
    static const uint32_t threads[] = {32, 64, 28, 96, 60, 31, 128, 1024, 1020};
    uint64_t seed = 1;
    for (size_t i = 0; i < image_gpu_count(400); i++) {
        functions_of(threads[i % 9], &seed);
    }
}

static void atomics(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 100; n *= 3) {
        const uint64_t all = 128 * (uint64_t)n, sum = all * (all - 1) / 2;
        uint32_t result[8] = {0, UINT32_MAX};
        uint32_t *there = image_gpu_upload(result, sizeof result);
        ok(simt_atomics(n, there, native(), &error));
        image_gpu_download(result, there, sizeof result);
        image_gpu_free(there);
        assert_int_equal(result[0], (uint32_t)sum);
        assert_int_equal(result[1], 5);
        assert_int_equal(result[2], all - 1);
        assert_int_equal(result[5], all);
        uint64_t wide;
        memcpy(&wide, &result[6], sizeof wide);
        assert_true(wide == (all << 33) + sum);
    }
}

static void look_back(void **state)
{
    (void)state;
    static uint32_t values[1000], words[3000], before[1000];
    uint64_t seed = 2;
    for (uint32_t n = 1; n <= 1000; n = 3 * n + 1) {
        for (uint32_t i = 0; i < n; i++) {
            values[i] = random_below(&seed, 1000);
        }
        memset(words, 0, sizeof words);
        uint32_t *values_there = image_gpu_upload(values, 4 * n),
                 *state_there = image_gpu_upload(words, 12 * n);
        uint32_t *before_there = image_gpu_upload(NULL, 4 * n);
        ok(simt_look_back(values_there, n, state_there, before_there, native(), &error));
        image_gpu_download(before, before_there, 4 * n);
        uint32_t sum = 0;
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(before[i], sum);
            sum += values[i];
        }
        image_gpu_free(values_there);
        image_gpu_free(state_there);
        image_gpu_free(before_there);
    }
}

/* ---- what is wrong ----------------------------------------------------------------------------- */

#ifdef SLUICE_SIMT
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_wrong(int kind, uint32_t *found)
{
    uint32_t *there = image_gpu_upload(NULL, 4 * WARP);
    ok(simt_wrong(kind, there, native(), &error));
    image_gpu_download(found, there, 4 * WARP);
    image_gpu_free(there);
}

/* The results of two seeds differ, if what is wrong depends on the order. */
static void a_race_shows(void **state)
{
    (void)state;
    uint32_t first[WARP], found[WARP];
    for (int kind = 0; kind <= 4; kind += 4) { /* and memory that nobody wrote */
        bool differs = false;
        run_wrong(kind, first);
        for (int i = 0; i < 10; i++) {
            run_wrong(kind, found);
            differs = differs || memcmp(first, found, sizeof first) != 0;
        }
        assert_true(differs);
    }
}

/* The program ends, and says where. */
static void ends_with(int kind, const char *const *words)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        uint32_t found[WARP];
        (void)dup2(ends[1], 2);
        (void)signal(SIGABRT, SIG_DFL);
        run_wrong(kind, found);
        _exit(0);
    }
    (void)close(ends[1]);
    char text[20000];
    size_t n = 0;
    for (ssize_t got; (got = read(ends[0], text + n, sizeof text - 1 - n)) > 0;) {
        n += (size_t)got;
    }
    text[n] = '\0';
    (void)close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
    for (; *words != NULL; words++) {
        if (strstr(text, *words) == NULL) {
            fail_msg("kind %d: no \"%s\" in: %s", kind, *words, text);
        }
    }
}

static void what_never_ends_is_told(void **state)
{
    (void)state;
    static const char *const deadlock[] = {"deadlock", "wrong",           "__syncwarp", "__syncthreads",
                                           "0000ffff", "simt_kernels.cu", NULL};
    static const char *const mask[] = {"does not name it", "wrong", "lane 3", NULL};
    static const char *const mixed[] = {"__shfl_sync", "__ballot_sync", "wrong", NULL};
    static const char *const beyond[] = {NULL}; /* by a sanitizer, or when the memory is freed */
    ends_with(1, deadlock);
    ends_with(2, mask);
    ends_with(3, mixed);
    ends_with(5, beyond);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions),    cmocka_unit_test(atomics),
        cmocka_unit_test(look_back),
#ifdef SLUICE_SIMT
        cmocka_unit_test(a_race_shows), cmocka_unit_test(what_never_ends_is_told),
#endif
    };
    if (!image_gpu_there()) {
        return 77;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    image_gpu_done();
    return failed;
}
