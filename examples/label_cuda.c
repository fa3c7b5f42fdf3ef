/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels an image that is in a GPU's memory, and leaves the results there: for programs whose images come
 * from kernels of their own. Reads an image, takes Otsu's threshold, puts the pixels on the device, enqueues
 * the labelling into a stream, and fetches what there is of each component. Without a GPU it says so and ends
 * with 77. It links CUDA's runtime, for the memory; a program that has images in the host's memory needs none
 * of this, but config.exec.device = "cuda" in label_image.c.
 */
#include <sluice/cuda.h>
#include <sluice/image_label.h>
#include <sluice/io_image.h>

#include <cuda_runtime_api.h>

#include <stdio.h>

enum { SKIP = 77 };

/* What is on the device. Columns for `rows` components. */
typedef struct device_memory {
    void *pixels, *work, *block;
    slc_image_components components;
    uint32_t *labels, *first;
} device_memory;

static bool is_done(cudaError_t code, const char *what)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    }
    return code == cudaSuccess;
}

static void free_memory(device_memory *m)
{
    void *const all[] = {m->pixels, m->work, m->block, m->labels, m->first};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        (void)cudaFree(all[i]); /* NULL is allowed */
    }
}

/* Memory for the image, its labels, and the columns area, x and y. */
static bool reserve(const slc_image *image, size_t rows, device_memory *m)
{
    const size_t row_bytes = slc_image_row_bytes(image->type, image->width);
    bool done = is_done(cudaMalloc(&m->pixels, row_bytes * image->height), "memory for pixels") &&
                is_done(cudaMalloc((void **)&m->labels, image->width * image->height * sizeof *m->labels),
                        "memory for labels") &&
                is_done(cudaMalloc((void **)&m->first, 2 * sizeof *m->first), "memory for counts") &&
                is_done(cudaMalloc(&m->block, rows * 3 * sizeof(uint64_t)), "memory for components");
    if (done) {
        m->components.head.capacity = rows;
        m->components.area = m->block;
        m->components.x = (double *)m->block + rows;
        m->components.y = (double *)m->block + 2 * rows;
        done = is_done(cudaMemcpy2D(m->pixels, row_bytes, image->pixels, (size_t)image->stride, row_bytes,
                                    image->height, cudaMemcpyHostToDevice),
                       "copying the pixels");
    }
    return done;
}

static slc_status label(slc_image_labeller *labeller, const slc_image *image, device_memory *m,
                        cudaStream_t stream, slc_error *error)
{
    const slc_image_cuda_task task = {.pixels = m->pixels,
                                      .stride = (ptrdiff_t)slc_image_row_bytes(image->type, image->width),
                                      .type = image->type,
                                      .width = image->width,
                                      .height = image->height,
                                      .images = 1,
                                      .labels = m->labels,
                                      .label_stride = (ptrdiff_t)(image->width * sizeof *m->labels),
                                      .components = &m->components,
                                      .first = m->first};
    const size_t work_bytes = slc_image_cuda_work_bound(labeller, &task);
    if (!is_done(cudaMalloc(&m->work, work_bytes), "working memory")) {
        return SLC_ERR_MEMORY;
    }
    return slc_image_cuda_enqueue(labeller, &task, m->work, work_bytes, stream, error);
}

/* Kernels that read m->labels or m->components may be launched into the stream here. This program fetches the
 * first few components instead. */
static bool print_components(const device_memory *m, cudaStream_t stream)
{
    enum { SHOWN = 5 };
    uint32_t first[2];
    uint64_t area[SHOWN];
    double x[SHOWN], y[SHOWN];
    if (!is_done(cudaStreamSynchronize(stream), "labelling") ||
        !is_done(cudaMemcpy(first, m->first, sizeof first, cudaMemcpyDeviceToHost), "fetching the count")) {
        return false;
    }
    const size_t n = first[1] < SHOWN ? first[1] : SHOWN;
    if (!is_done(cudaMemcpy(area, m->components.area, n * sizeof *area, cudaMemcpyDeviceToHost), "area") ||
        !is_done(cudaMemcpy(x, m->components.x, n * sizeof *x, cudaMemcpyDeviceToHost), "x") ||
        !is_done(cudaMemcpy(y, m->components.y, n * sizeof *y, cudaMemcpyDeviceToHost), "y")) {
        return false;
    }
    printf("%u components\n", first[1]);
    for (size_t i = 0; i < n; i++) {
        printf("component %zu: %llu pixels around x = %.1f, y = %.1f\n", i + 1, (unsigned long long)area[i],
               x[i], y[i]);
    }
    return true;
}

static slc_status run(const slc_image *image, slc_error *error)
{
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    slc_image_labeller *labeller = NULL;
    device_memory memory = {0};
    cudaStream_t stream = NULL; /* the default stream; any other of this device will do */
    config.exec.device = "cuda";
    config.features = SLC_IMAGE_AREA | SLC_IMAGE_CENTROID;
    slc_status status = slc_image_otsu(image, &config.threshold, error);
    if (status == SLC_OK) {
        status = slc_image_label_open(&config, &labeller, error);
    }
    const size_t rows = slc_image_label_bound(image->width, image->height, config.connectivity);
    if (status == SLC_OK && !reserve(image, rows, &memory)) {
        status = slc_fail(error, SLC_ERR_MEMORY, "the image and its results do not fit on the device");
    }
    if (status == SLC_OK) {
        status = label(labeller, image, &memory, stream, error);
    }
    if (status == SLC_OK && !print_components(&memory, stream)) {
        status = slc_fail(error, SLC_ERR_IO, "the device has not done what it was given");
    }
    free_memory(&memory);
    slc_image_label_close(labeller);
    return status;
}

int main(int argc, char **argv)
{
    slc_error error = {SLC_OK, ""};
    slc_io_images *images = NULL;
    slc_image image;
    if (slc_cuda_devices(&error) == 0) {
        printf("skipped: %s\n", error.text);
        return SKIP;
    }
    slc_status status = slc_io_images_open(argc > 1 ? argv[1] : "-", NULL, &images, &error);
    if (status == SLC_OK) {
        status = slc_io_images_next(images, &image, &error);
    }
    if (status == SLC_OK) {
        status = run(&image, &error);
    }
    if (status != SLC_OK) {
        fprintf(stderr, "%s: %s\n", slc_status_name(status), error.text);
    }
    slc_io_images_close(images);
    return status == SLC_OK ? 0 : 1;
}
