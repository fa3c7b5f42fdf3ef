/* SPDX-License-Identifier: Apache-2.0
 *
 * A picture of what is in a scanner (pet_look.h). Sensitivity is summed up over lines between crystals that
 * are drawn at random, each with what it is seen with, and smoothed, as there are few of them; then the
 * events are gone through again and again, each giving itself to the voxels on its line in proportion to what
 * these have, and the sums over sensitivity are the next image.
 */
#include "base/config.h"
#include "cuda/cuda_engines.h"
#include "pet/pet_look_sum.h"
#include "pet/pet_scanner.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double light_mm_ps = 0.299792458;

struct slc_pet_look {
    slc_pet_look_config config;
    slc_pet_look_work work;
    const struct slc_pet_look_calls *calls; /* NULL: a processor */
    uint32_t device;
    float (*at_mm)[3], (*looks)[3];
    float gauss[SLC_PET_LOOK_TABLE];
    slc_pet_look_event *event;
    size_t capacity;
    float *sensitivity, *image;
    uint64_t delayeds, outside;
};

/* ---- what is given ----------------------------------------------------------------------------- */

static void set_defaults(slc_pet_look_config *config)
{
    *config = (slc_pet_look_config){
        .size = sizeof *config, .iterations = 10, .sensitivity_lines = 1 << 20, .exec = {.threads = 1}};
    (void)slc_pet_scanner("mouse20", &config->geometry, NULL);
}
SLC_CONFIG_DEFAULT(slc_pet_look_config, set_defaults)

static slc_status check_config(const slc_pet_look_config *c, slc_error *error)
{
    const double lengths[] = {c->voxel_mm, c->diameter_mm, c->length_mm, c->tof_fwhm_ps};
    static const char *const names[] = {"voxel_mm", "diameter_mm", "length_mm", "tof_fwhm_ps"};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        if (!(lengths[i] >= 0) || lengths[i] > 1e6) {
            return slc_fail(error, SLC_ERR_USAGE, "slc_pet_look_config: %s is %g, not from 0 to 1e6",
                            names[i], lengths[i]);
        }
    }
    if (c->iterations > 1000) {
        return slc_fail(error, SLC_ERR_USAGE, "slc_pet_look_config: iterations is %u, not from 0 to 1000",
                        c->iterations);
    }
    if (c->sensitivity_lines == 0 || c->sensitivity_lines > 1U << 30) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "slc_pet_look_config: sensitivity_lines is %u, not from 1 to 2^30",
                        c->sensitivity_lines);
    }
    return slc_pet_geometry_check(&c->geometry, error);
}

/* e^(-x²/2) step by step, by multiplications alone, so that no library's exponential is asked. */
static void set_gauss(slc_pet_look *look)
{
    /* e^(-h²/2) and e^(-h²) for h = 1/128. */
    double value = 1, ratio = 0x1.fffc0003fffd5p-1;
    const double of_ratio = 0x1.fff8000fffeabp-1;
    for (int i = 0; i < SLC_PET_LOOK_TABLE; i++) {
        look->gauss[i] = (float)value;
        value *= ratio;
        ratio *= of_ratio;
    }
}

/* Where crystals are; *near and *far: the least and the largest distance from the axis; *end: along it. */
static void set_crystals(slc_pet_look *look, double *near_mm, double *far_mm, double *end_mm)
{
    *near_mm = INFINITY;
    *far_mm = *end_mm = 0;
    for (uint32_t i = 0; i < look->work.crystals; i++) {
        double at[3], looks[3];
        slc_pet_crystal_position(&look->config.geometry, i, at, looks);
        for (int k = 0; k < 3; k++) {
            look->at_mm[i][k] = (float)at[k];
            look->looks[i][k] = (float)looks[k];
        }
        *near_mm = fmin(*near_mm, hypot(at[0], at[1]));
        *far_mm = fmax(*far_mm, hypot(at[0], at[1]));
        *end_mm = fmax(*end_mm, fabs(at[2]));
    }
}

/* An odd number of voxels, so that one is in the middle of the scanner: planes half way between crystals,
 * where lines are many, are then middles of voxels, and not all of them borders. */
static uint32_t count_of(double length, double voxel)
{
    return (uint32_t)fmax(1, ceil(length / voxel - 1e-6)) | 1;
}

static slc_status set_grid(slc_pet_look *look, slc_error *error)
{
    slc_pet_look_config *c = &look->config;
    slc_pet_look_grid *g = &look->work.grid;
    const double pitch = c->geometry.pitch_z_mm;
    double near_mm, far_mm, end_mm;
    set_crystals(look, &near_mm, &far_mm, &end_mm);
    c->diameter_mm = c->diameter_mm > 0 ? c->diameter_mm : 4.0 / 3 * near_mm;
    c->length_mm = c->length_mm > 0 ? c->length_mm : 2 * end_mm + pitch;
    if (!(c->voxel_mm > 0)) {
        const double least = cbrt(c->diameter_mm * c->diameter_mm * c->length_mm / (1 << 22));
        c->voxel_mm = fmax(0.3125 * pitch, ceil(10 * least) / 10);
    }
    const double voxels = ceil(c->diameter_mm / c->voxel_mm) * ceil(c->diameter_mm / c->voxel_mm) *
                          ceil(c->length_mm / c->voxel_mm);
    if (!(voxels <= 0x1p27)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "voxels of %g mm in %g mm x %g mm are %.3g, and at most 2^27 can be looked at",
                        c->voxel_mm, c->diameter_mm, c->length_mm, voxels);
    }
    g->n[0] = g->n[1] = count_of(c->diameter_mm, c->voxel_mm);
    g->n[2] = count_of(c->length_mm, c->voxel_mm);
    g->voxel_mm = (float)c->voxel_mm;
    for (int k = 0; k < 3; k++) {
        g->first_mm[k] = (float)(-0.5 * (g->n[k] - 1.0) * c->voxel_mm);
    }
    /* A width at half maximum is 2.3548 widths, and the way of light to and fro. */
    g->tof_mm = (float)(c->tof_fwhm_ps / 2.35482004503094938 * 0.5 * light_mm_ps);
    look->work.voxels = (size_t)g->n[0] * g->n[1] * g->n[2];
    look->work.wide_mm = (float)(2 * far_mm);
    return SLC_OK;
}

static slc_status choose_device(slc_pet_look *look, slc_error *error)
{
    const char *word = look->config.exec.device;
    if (word == NULL || strcmp(word, "cpu") == 0) {
        return SLC_OK;
    }
    const slc_status status = slc_cuda_choose(word, &look->device, error);
    if (status == SLC_OK) {
        look->calls = slc_cuda_engines_of(NULL)->pet_look; /* there is a device, hence a table */
    }
    return status;
}

slc_status slc_pet_look_open(const slc_pet_look_config *given, slc_pet_look **out, slc_error *error)
{
    slc_pet_look_config config;
    set_defaults(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_pet_look_config", error);
    status = status == SLC_OK ? check_config(&config, error) : status;
    slc_pet_look *look = status == SLC_OK ? calloc(1, sizeof *look) : NULL;
    if (status != SLC_OK) {
        return status;
    }
    if (look != NULL) {
        look->config = config;
        look->work.crystals = slc_pet_crystals(&config.geometry);
        look->at_mm = malloc(look->work.crystals * sizeof *look->at_mm);
        look->looks = malloc(look->work.crystals * sizeof *look->looks);
    }
    if (look == NULL || look->at_mm == NULL || look->looks == NULL) {
        slc_pet_look_close(look);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a picture");
    }
    status = set_grid(look, error);
    status = status == SLC_OK ? choose_device(look, error) : status;
    if (status != SLC_OK) {
        slc_pet_look_close(look);
        return status;
    }
    set_gauss(look);
    look->work.at_mm = (const float(*)[3])look->at_mm;
    look->work.looks = (const float(*)[3])look->looks;
    look->work.gauss = look->gauss;
    *out = look;
    return SLC_OK;
}

void slc_pet_look_close(slc_pet_look *look)
{
    if (look != NULL) {
        free(look->at_mm);
        free(look->looks);
        free(look->event);
        free(look->sensitivity);
        free(look->image);
        free(look);
    }
}

slc_status slc_pet_look_add(slc_pet_look *look, const slc_pet_coincidences *pairs, slc_error *error)
{
    const size_t more = pairs->head.size;
    if (look->work.n + more > look->capacity) {
        const size_t capacity = look->work.n + more + look->work.n / 2;
        slc_pet_look_event *event = capacity <= INT32_MAX ? realloc(look->event, capacity * sizeof *event)
                                                          : NULL;
        if (event == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for the lines of %zu pairs", capacity);
        }
        look->event = event;
        look->capacity = capacity;
    }
    for (size_t i = 0; i < more; i++) {
        const uint32_t a = pairs->crystal1[i], b = pairs->crystal2[i];
        if (pairs->delayed[i] != 0) {
            look->delayeds++;
        } else if (a >= look->work.crystals || b >= look->work.crystals) {
            look->outside++;
        } else {
            /* Crystal 2 is later where it is the farther one. */
            const float middle = (float)(-0.5 * light_mm_ps * (double)pairs->dt_ps[i]);
            look->event[look->work.n++] = (slc_pet_look_event){{a, b}, middle};
        }
    }
    look->work.event = look->event;
    return SLC_OK;
}

/* ---- sensitivity ------------------------------------------------------------------------------- */

/* Each voxel with its two neighbours along an axis, those that there are. */
static void smooth(float *value, const uint32_t n[3], int axis, float *row)
{
    const size_t stride[3] = {1, n[0], (size_t)n[0] * n[1]};
    const int u = axis == 0 ? 1 : 0, w = axis == 2 ? 1 : 2;
    for (size_t j = 0; j < n[w]; j++) {
        for (size_t i = 0; i < n[u]; i++) {
            float *at = value + i * stride[u] + j * stride[w];
            for (size_t k = 0; k < n[axis]; k++) {
                row[k] = at[k * stride[axis]];
            }
            for (size_t k = 0; k < n[axis]; k++) {
                const float before = k > 0 ? row[k - 1] : row[k];
                const float after = k + 1 < n[axis] ? row[k + 1] : row[k];
                at[k * stride[axis]] = 0.25F * before + 0.5F * row[k] + 0.25F * after;
            }
        }
    }
}

static slc_status no_memory(const slc_pet_look *look, slc_error *error)
{
    return slc_fail(error, SLC_ERR_MEMORY, "no memory for a picture of %zu voxels", look->work.voxels);
}

/* Sums to numbers up to 1, smooth, 0 outside of the cylinder and where they are small. */
static slc_status finish_sensitivity(slc_pet_look *look, const uint64_t *sum, slc_error *error)
{
    enum { TIMES = 8 };
    const uint32_t *n = look->work.grid.n;
    const float *first = look->work.grid.first_mm, voxel = look->work.grid.voxel_mm;
    const float reach = (float)(0.5 * look->config.diameter_mm);
    float *s = look->sensitivity, most = 0;
    assert(sum != NULL);
    float *row = malloc((size_t)(n[0] > n[2] ? n[0] : n[2]) * sizeof *row);
    if (row == NULL) {
        return no_memory(look, error);
    }
    for (size_t v = 0; v < look->work.voxels; v++) {
        s[v] = (float)sum[v];
    }
    for (int i = 0; i < 3 * TIMES; i++) {
        smooth(s, n, i % 3, row);
    }
    free(row);
    for (size_t v = 0; v < look->work.voxels; v++) {
        most = s[v] > most ? s[v] : most;
    }
    for (size_t v = 0; v < look->work.voxels; v++) {
        const float x = first[0] + (float)(v % n[0]) * voxel, y = first[1] + (float)(v / n[0] % n[1]) * voxel;
        s[v] = x * x + y * y <= reach * reach && s[v] > 0.01F * most ? s[v] / most : 0;
    }
    return most > 0 ? SLC_OK
                    : slc_fail(error, SLC_ERR_USAGE,
                               "no two crystals of the scanner look at each other through the field of view, "
                               "%g mm across and %g mm long: nothing can be seen there",
                               look->config.diameter_mm, look->config.length_mm);
}

/* ---- a run ------------------------------------------------------------------------------------- */

static slc_status run_on_gpu(slc_pet_look *look, uint64_t *missed, slc_error *error)
{
    slc_pet_look_cuda *gpu = NULL;
    uint64_t *sum = malloc(look->work.voxels * sizeof *sum);
    slc_status status = sum != NULL ? look->calls->open(&look->work, look->device, &gpu, error)
                                    : no_memory(look, error);
    if (status == SLC_OK) {
        status = look->calls->sensitivity(gpu, look->config.sensitivity_lines, sum, error);
    }
    status = status == SLC_OK ? finish_sensitivity(look, sum, error) : status;
    if (status == SLC_OK) {
        status = look->calls->iterate(gpu, look->sensitivity, look->config.iterations, look->image, missed,
                                      error);
    }
    look->calls->close(gpu);
    free(sum);
    return status;
}

static slc_status run_here(slc_pet_look *look, uint64_t *missed, slc_error *error)
{
    const size_t most = ((size_t)1 << 30) / (look->work.voxels * sizeof(uint64_t));
    uint32_t threads = look->config.exec.threads > 0 ? look->config.exec.threads : slc_team_processors();
    threads = threads > most ? (uint32_t)most : threads;
    threads = threads < 1 ? 1 : threads > 1024 ? 1024 : threads;
    slc_team *team = NULL;
    uint64_t *room = malloc(threads * look->work.voxels * sizeof *room);
    slc_status status = room != NULL && slc_team_open(threads, &team) == SLC_OK ? SLC_OK
                                                                                : no_memory(look, error);
    if (status == SLC_OK) {
        slc_pet_look_sum_sensitivity(&look->work, team, look->config.sensitivity_lines, room);
        status = finish_sensitivity(look, room, error);
    }
    if (status == SLC_OK) {
        slc_pet_look_iterate(&look->work, team, look->sensitivity, look->config.iterations, room, look->image,
                             missed);
    }
    slc_team_close(team);
    free(room);
    return status;
}

/* Where the image is largest, and the middle of what is around that. */
static void find_hottest(const slc_pet_look *look, slc_pet_look_image *image)
{
    const uint32_t *n = image->n;
    size_t at = 0;
    uint64_t checksum = 0;
    for (size_t v = 0; v < look->work.voxels; v++) {
        uint32_t bits;
        memcpy(&bits, &image->value[v], sizeof bits);
        checksum = checksum * SLC_CHECKSUM_FACTOR + bits;
        at = image->value[v] > image->value[at] ? v : at;
    }
    image->checksum = checksum;
    image->largest = image->value[at];
    const size_t place[3] = {at % n[0], at / n[0] % n[1], at / n[0] / n[1]};
    const long reach = (long)(image->reach_mm / image->voxel_mm);
    double sum[4] = {0};
    for (int k = 0; k < 3; k++) {
        image->hottest_mm[k] = image->first_mm[k] + (double)place[k] * image->voxel_mm;
    }
    for (long z = -reach; z <= reach; z++) {
        for (long y = -reach; y <= reach; y++) {
            for (long x = -reach; x <= reach; x++) {
                const long i[3] = {(long)place[0] + x, (long)place[1] + y, (long)place[2] + z};
                const bool inside = i[0] >= 0 && i[1] >= 0 && i[2] >= 0 && i[0] < (long)n[0] &&
                                    i[1] < (long)n[1] && i[2] < (long)n[2];
                const double far = image->voxel_mm * sqrt((double)(x * x + y * y + z * z));
                if (inside && far <= image->reach_mm) {
                    const double value =
                        (double)image->value[((size_t)i[2] * n[1] + (size_t)i[1]) * n[0] + (size_t)i[0]];
                    sum[0] += value * (double)i[0];
                    sum[1] += value * (double)i[1];
                    sum[2] += value * (double)i[2];
                    sum[3] += value;
                }
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        image->centroid_mm[k] = sum[3] > 0 ? image->first_mm[k] + sum[k] / sum[3] * image->voxel_mm
                                           : image->hottest_mm[k];
    }
}

/* Sums are below 2^62, whatever the events give, and have as many digits as there is room for. */
static float scale_for(size_t n)
{
    float scale = 0x1p40F;
    for (size_t most = (size_t)1 << 21; most < n; most *= 2) {
        scale *= 0.5F;
    }
    return scale;
}

void slc_pet_look_field(const slc_pet_look *look, double *diameter_mm, double *length_mm, double *voxel_mm)
{
    const double size[3] = {look->config.diameter_mm, look->config.length_mm, look->config.voxel_mm};
    double *const to[3] = {diameter_mm, length_mm, voxel_mm};
    for (int k = 0; k < 3; k++) {
        if (to[k] != NULL) {
            *to[k] = size[k];
        }
    }
}

slc_status slc_pet_look_run(slc_pet_look *look, slc_pet_look_image *image, slc_error *error)
{
    if (look->work.n == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "there are no pairs to look at");
    }
    const size_t bytes = look->work.voxels * sizeof(float);
    look->image = look->image != NULL ? look->image : malloc(bytes);
    look->sensitivity = look->sensitivity != NULL ? look->sensitivity : malloc(bytes);
    if (look->image == NULL || look->sensitivity == NULL) {
        return no_memory(look, error);
    }
    look->work.grid.scale = scale_for(look->work.n);
    uint64_t missed = 0;
    const slc_status status = look->calls != NULL ? run_on_gpu(look, &missed, error)
                                                  : run_here(look, &missed, error);
    if (status != SLC_OK) {
        return status;
    }
    const slc_pet_look_grid *g = &look->work.grid;
    *image = (slc_pet_look_image){.n = {g->n[0], g->n[1], g->n[2]},
                                  .voxel_mm = look->config.voxel_mm,
                                  .value = look->image,
                                  .reach_mm = fmax(5, 3 * look->config.geometry.pitch_z_mm),
                                  .used = look->work.n,
                                  .delayeds = look->delayeds,
                                  .outside = look->outside,
                                  .missed = missed};
    for (int k = 0; k < 3; k++) {
        image->first_mm[k] = -0.5 * (g->n[k] - 1.0) * look->config.voxel_mm;
    }
    find_hottest(look, image);
    return SLC_OK;
}
