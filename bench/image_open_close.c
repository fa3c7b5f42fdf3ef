/* SPDX-License-Identifier: Apache-2.0
 *
 * What a labeller costs beside labelling: opening, reserving room, the first run and closing, in
 * microseconds, beside a run of a labeller that is there already. For programs that cannot keep one.
 *
 *     image_open_close [SIDE [THREADS]]     (64 1)
 */
#include <sluice/image_label.h>

#include <stdio.h>
#include <stdlib.h>

enum { REPETITIONS = 1000, MOST = 8192 };

typedef enum step { OPEN_CLOSE, RESERVE, FIRST_RUN, RUN, STEPS } step;

static const char *const names[STEPS] = {"open, close", "open, reserve, close", "open, reserve, run, close",
                                         "a run alone"};

/* Seconds of the step; negative if it failed. */
static double measure(step s, const slc_image_label_config *config, const slc_image *image,
                      slc_image_labels *labels)
{
    slc_image_labeller *labeller = NULL;
    double begin = slc_clock_seconds();
    bool good = slc_image_label_open(config, &labeller, NULL) == SLC_OK;
    if (s >= RESERVE) {
        good = good && slc_image_label_reserve(labeller, image->width, image->height, NULL) == SLC_OK;
    }
    if (s >= FIRST_RUN) {
        good = good && slc_image_label_run(labeller, image, NULL, labels, NULL, NULL) == SLC_OK;
    }
    if (s == RUN) {
        begin = slc_clock_seconds();
        good = good && slc_image_label_run(labeller, image, NULL, labels, NULL, NULL) == SLC_OK;
        const double seconds = slc_clock_seconds() - begin;
        slc_image_label_close(labeller);
        return good ? seconds : -1;
    }
    slc_image_label_close(labeller);
    return good ? slc_clock_seconds() - begin : -1;
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
    static double seconds[REPETITIONS];
    const long asked = argc > 1 ? strtol(argv[1], NULL, 10) : 64;
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.exec.threads = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
    const size_t side = asked > 0 && asked <= MOST ? (size_t)asked : 64;
    uint8_t *pixels = malloc(side * side);
    uint32_t *out = malloc(side * side * sizeof *out);
    if (pixels == NULL || out == NULL) {
        free(pixels);
        free(out);
        return 1;
    }
    uint32_t x = 1;
    for (size_t i = 0; i < side * side; i++) {
        x = x * 1664525U + 1013904223U;
        pixels[i] = (uint8_t)(x >> 31);
    }
    const slc_image image = {pixels, side, side, (ptrdiff_t)side, SLC_IMAGE_U8};
    slc_image_labels labels = {.labels = out, .stride = (ptrdiff_t)(4 * side), .type = SLC_TYPE_U32};
    int status = 0;
    for (int s = OPEN_CLOSE; s < STEPS && status == 0; s++) {
        for (int i = 0; i < REPETITIONS && status == 0; i++) {
            seconds[i] = measure((step)s, &config, &image, &labels);
            status = seconds[i] < 0;
        }
        qsort(seconds, REPETITIONS, sizeof *seconds, by_size);
        (void)printf("%-26s minimum %8.1f us, median %8.1f us\n", names[s], 1e6 * seconds[0],
                     1e6 * seconds[REPETITIONS / 2]);
    }
    free(pixels);
    free(out);
    return status;
}
