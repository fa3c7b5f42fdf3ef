/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of dense images on every target of this machine, against loops over single pixels and labels
 * that are merged by going through all pairs until nothing changes. Rows end at pages that may not be
 * touched.
 */
#include "image/image_kernels.h"
#include "support/check.h"
#include "support/check_case.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_PIXELS = 5000,
    MAX_LABELS = 600,
    SPARE = 64 /* 32-bit elements: the widest vector */
};

static slc_check_memory pixels, bits, positions, table, left, right;

/* n elements that end at the guard page. */
static void *at_end(const slc_check_memory *memory, size_t bytes)
{
    return memory->end - bytes;
}

static bool oracle_bit(const uint64_t *row, size_t i)
{
    return (row[i / 64] >> i % 64 & 1U) != 0;
}

static void check_threshold(const slc_image_kernels *kernels, size_t n, uint64_t *seed)
{
    slc_check_doing("image.threshold");
    uint8_t *row = at_end(&pixels, n);
    const size_t words = (n + 63) / 64;
    uint64_t *out = at_end(&bits, words * 8 + 4 * SPARE);
    const uint8_t levels[] = {0, 1, 127, 128, 255, (uint8_t)random_u64(seed)};
    for (size_t i = 0; i < n; i++) {
        row[i] = random_below(seed, 4) == 0 ? levels[random_below(seed, 6)] : (uint8_t)random_u64(seed);
    }
    for (size_t l = 0; l < sizeof levels; l++) {
        memset(out, 0xa5, words * 8);
        kernels->threshold(row, n, levels[l], out);
        for (size_t i = 0; i < 64 * words; i++) {
            const bool wanted = i < n && row[i] >= levels[l];
            if (oracle_bit(out, i) != wanted) {
                slc_check_fail("threshold %u of %zu pixels: bit %zu is %d", levels[l], n, i, !wanted);
                return;
            }
        }
        slc_check_values(64 * words);
    }
}

static void check_edges(const slc_image_kernels *kernels, size_t n, uint32_t one_in, uint64_t *seed)
{
    slc_check_doing("image.edges");
    const size_t words = (n + 63) / 64;
    uint64_t *row = at_end(&bits, words * 8);
    uint32_t *out = at_end(&positions, 4 * (n + 64));
    bool on = random_below(seed, 2) != 0;
    memset(row, 0, words * 8);
    for (size_t i = 0; i < n; i++) {
        on = random_below(seed, one_in) == 0 ? !on : on;
        row[i / 64] |= (uint64_t)on << i % 64;
    }
    const size_t found = kernels->edges(row, n, out);
    size_t k = 0;
    for (size_t i = 0; i <= n; i++) {
        const bool here = i < n && oracle_bit(row, i), before = i > 0 && oracle_bit(row, i - 1);
        if (here != before) {
            if (k >= found || out[k] != i) {
                slc_check_fail("edges of %zu pixels: edge %zu is not at %zu", n, k, i);
                return;
            }
            k++;
        }
    }
    if (k != found) {
        slc_check_fail("edges of %zu pixels: %zu, not %zu", n, found, k);
    }
    slc_check_values(n + 1);
}

/* Labels of the components: the smallest label that can be reached. */
static void oracle_labels(uint32_t *label, size_t n, const uint32_t *a, const uint32_t *b, size_t pairs)
{
    for (uint32_t i = 0; i < n; i++) {
        label[i] = i;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < pairs; i++) {
            const uint32_t low = label[a[i]] < label[b[i]] ? label[a[i]] : label[b[i]];
            changed = changed || label[a[i]] != low || label[b[i]] != low;
            label[a[i]] = label[b[i]] = low;
        }
    }
}

/* `spread` small: many lanes of a vector meet in the same trees. */
static void check_unite(const slc_image_kernels *kernels, size_t n, size_t pairs, uint32_t spread,
                        uint64_t *seed)
{
    slc_check_doing("image.unite");
    static uint32_t label[MAX_LABELS];
    uint32_t *trees = at_end(&table, 4 * n);
    uint32_t *a = at_end(&left, 4 * (pairs + SPARE)), *b = at_end(&right, 4 * (pairs + SPARE));
    memset(a, 0xff, 4 * (pairs + SPARE)); /* what lies behind the pairs is no label */
    memset(b, 0xff, 4 * (pairs + SPARE));
    for (size_t i = 0; i < pairs; i++) {
        const uint32_t center = random_below(seed, (uint32_t)n);
        a[i] = (center + random_below(seed, spread)) % (uint32_t)n;
        b[i] = (center + random_below(seed, spread)) % (uint32_t)n;
    }
    for (uint32_t i = 0; i < n; i++) {
        trees[i] = i;
    }
    oracle_labels(label, n, a, b, pairs);
    kernels->unite(trees, a, b, pairs);
    for (uint32_t i = 0; i < n; i++) {
        if (trees[i] > i) {
            slc_check_fail("unite: label %u has the larger parent %u", i, trees[i]);
            return;
        }
    }
    slc_check_doing("image.flatten");
    kernels->flatten(trees, n);
    for (uint32_t i = 0; i < n; i++) {
        if (trees[i] != label[i]) {
            slc_check_fail("unite of %zu pairs over %zu labels: %u is in %u, not %u", pairs, n, i, trees[i],
                           label[i]);
            return;
        }
    }
    slc_check_values(n);
}

/* Chains and random forests, which unions rarely make so deep. */
static void check_flatten(const slc_image_kernels *kernels, size_t n, uint32_t reach, uint64_t *seed)
{
    slc_check_doing("image.flatten");
    uint32_t *trees = at_end(&table, 4 * n);
    static uint32_t root[MAX_LABELS];
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t back = random_below(seed, reach + 1);
        trees[i] = back > i ? i : i - back;
        root[i] = trees[i] == i ? i : root[trees[i]];
    }
    kernels->flatten(trees, n);
    if (memcmp(trees, root, 4 * n) != 0) {
        slc_check_fail("flatten of %zu labels, parents up to %u back", n, reach);
    }
    slc_check_values(n);
}

static void check_target(slc_simd_target target, uint64_t seed)
{
    static const size_t large[] = {255, 256, 257, 1000, 4095, 4096, 4097, MAX_PIXELS};
    const slc_image_kernels *kernels = slc_image_kernels_of(target);
    for (size_t k = 0; k < 201 + sizeof large / sizeof *large; k++) {
        const size_t n = k < 201 ? k : large[k - 201];
        check_threshold(kernels, n, &seed);
        for (uint32_t one_in = 1; one_in <= 1024; one_in *= 4) {
            check_edges(kernels, n, one_in, &seed);
        }
    }
    for (size_t n = 1; n <= 200; n++) {
        check_unite(kernels, n, n, 1 + random_below(&seed, 40), &seed);
        check_flatten(kernels, n, 1, &seed);
        check_flatten(kernels, n, 30, &seed);
    }
    for (size_t pairs = 0; pairs <= 200; pairs++) {
        check_unite(kernels, MAX_LABELS, pairs, 1 + random_below(&seed, 40), &seed);
        check_unite(kernels, 10, pairs, 10, &seed);
    }
    slc_check_cases(slc_image_kernel_rows, target);
}

int main(int argc, char **argv)
{
    slc_check_begin(argc, argv);
    pixels = slc_check_map(MAX_PIXELS);
    bits = slc_check_map(MAX_PIXELS / 8 + 8 + 4 * SPARE);
    positions = slc_check_map(4 * (MAX_PIXELS + 64));
    table = slc_check_map(4 * MAX_LABELS);
    left = slc_check_map(4 * (MAX_LABELS + SPARE));
    right = slc_check_map(4 * (MAX_LABELS + SPARE));
    slc_check_targets(check_target, "threshold, edges, unite, flatten");
    slc_check_memory *const all[] = {&pixels, &bits, &positions, &table, &left, &right};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        slc_check_unmap(all[i]);
    }
    return slc_check_end();
}
