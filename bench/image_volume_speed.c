/* SPDX-License-Identifier: Apache-2.0
 *
 * Labelling of volumes: random cubes of g = 1, 4 and 16 voxels at densities of 10 to 90 %, in millions of
 * voxels a second, of the fastest of several runs into memory that was written before, in large pages where
 * the system gives them. Time is the processor's, of all threads, so that other work on the machine does
 * least harm; with several threads it is the clock's.
 *
 *     image_volume_speed [SIDE [CONNECTIVITY [THREADS [RUNS [equal]]]]]     (384 26 1 5)
 */
#define _DEFAULT_SOURCE /* madvise */
#include <sluice/image_volume.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { SIDE_MOST = 1024, LARGE_PAGE = 1 << 21 };

static void *alloc_large(size_t bytes)
{
    void *memory = aligned_alloc(LARGE_PAGE, (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
#if defined(MADV_HUGEPAGE)
    if (memory != NULL) {
        (void)madvise(memory, bytes, MADV_HUGEPAGE);
    }
#endif
    return memory;
}

static double seconds(bool of_processor)
{
    struct timespec now;
    (void)clock_gettime(of_processor ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Cubes with values from 1 to 200, or 0. */
static bool fill(uint8_t *voxels, size_t side, size_t grain, unsigned percent)
{
    const size_t n = (side + grain - 1) / grain;
    uint8_t *cubes = malloc(n * n * n);
    uint64_t seed = 88172645463325252U + percent;
    for (size_t i = 0; cubes != NULL && i < n * n * n; i++) {
        const uint64_t random = next(&seed);
        cubes[i] = (uint8_t)(random % 100 < percent ? 1 + (random >> 32) % 200 : 0);
    }
    for (size_t i = 0; cubes != NULL && i < side * side * side; i++) {
        const size_t x = i % side / grain, y = i / side % side / grain, z = i / side / side / grain;
        voxels[i] = cubes[x + n * (y + n * z)];
    }
    free(cubes);
    return cubes != NULL;
}

static bool measure(slc_volume_labeller *labeller, const slc_volume *volume, slc_volume_labels *out, int runs,
                    bool of_processor, double *least)
{
    slc_error error;
    for (int i = 0; i < runs; i++) {
        const double begin = seconds(of_processor);
        if (slc_volume_run(labeller, volume, out, &error) != SLC_OK) {
            (void)fprintf(stderr, "%s\n", error.text);
            return false;
        }
        const double took = seconds(of_processor) - begin;
        *least = i == 0 || took < *least ? took : *least;
    }
    return true;
}

static bool measure_all(slc_volume_labeller *labeller, uint8_t *voxels, uint32_t *labels, size_t side,
                        int runs, bool of_processor)
{
    const ptrdiff_t row = (ptrdiff_t)side, slice = (ptrdiff_t)(side * side);
    const slc_volume volume = {voxels, side, side, side, row, slice, SLC_IMAGE_U8};
    slc_volume_labels out = {.labels = labels, .stride = 4 * row, .slice_stride = 4 * slice};
    for (size_t grain = 1; grain <= 16; grain *= 4) {
        double total = 0, worst = 0;
        for (unsigned percent = 10; percent <= 90; percent += 10) {
            double least = 0;
            if (!fill(voxels, side, grain, percent) ||
                !measure(labeller, &volume, &out, runs, of_processor, &least)) {
                return false;
            }
            total += least;
            worst = least > worst ? least : worst;
        }
        const double n = 1e-6 * (double)side * (double)side * (double)side;
        (void)printf("g = %2zu: mean %6.0f, worst %6.0f Mvoxel/s\n", grain, 9 * n / total, n / worst);
    }
    return true;
}

int main(int argc, char **argv)
{
    const long asked = argc > 1 ? strtol(argv[1], NULL, 10) : 384,
               runs = argc > 4 ? strtol(argv[4], NULL, 10) : 5;
    const size_t side = asked > 0 && asked <= SIDE_MOST ? (size_t)asked : 384, n = side * side * side;
    slc_volume_config config;
    slc_volume_labeller *labeller = NULL;
    slc_error error = {SLC_OK, "no memory"};
    slc_volume_config_default(&config);
    config.connectivity = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 26;
    config.exec.threads = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1;
    config.equal = argc > 5 && strcmp(argv[5], "equal") == 0;
    uint8_t *voxels = alloc_large(n);
    uint32_t *labels = alloc_large(n * sizeof *labels);
    bool good = voxels != NULL && labels != NULL && slc_volume_open(&config, &labeller, &error) == SLC_OK;
    if (good) {
        memset(labels, 1, n * sizeof *labels);
        good = measure_all(labeller, voxels, labels, side, runs > 0 ? (int)runs : 1,
                           config.exec.threads == 1);
    } else {
        (void)fprintf(stderr, "%s\n", error.text);
    }
    slc_volume_close(labeller);
    free(voxels);
    free(labels);
    return good ? 0 : 1;
}
