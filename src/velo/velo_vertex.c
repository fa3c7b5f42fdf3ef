/* SPDX-License-Identifier: Apache-2.0
 *
 * The vertex finder, event by event, as in LHCb's "beamline" finder: a histogram in z of the tracks that pass
 * near the beam line, one seed a peak, and an adaptive fit in which every track is shared between the
 * vertices it may belong to. Different from Allen's, the shares follow the vertices while these move (there
 * they stay those of the seeds), and a vertex that is given up hands its tracks back. The loops over tracks
 * are in velo_vertex.simd.c.
 */
#include "velo/velo_vertex.h"

#include "base/block.h"
#include "base/columns.h"
#include "velo/velo_kernels.h"
#include "velo/velo_vertex_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const slc_column primaries_columns[] = {
    SOA_COLUMN(slc_velo_primaries, x_mm, "mm"),        SOA_COLUMN(slc_velo_primaries, y_mm, "mm"),
    SOA_COLUMN(slc_velo_primaries, z_mm, "mm"),        SOA_COLUMN(slc_velo_primaries, cov_xx_mm2, "mm2"),
    SOA_COLUMN(slc_velo_primaries, cov_xy_mm2, "mm2"), SOA_COLUMN(slc_velo_primaries, cov_yy_mm2, "mm2"),
    SOA_COLUMN(slc_velo_primaries, cov_xz_mm2, "mm2"), SOA_COLUMN(slc_velo_primaries, cov_yz_mm2, "mm2"),
    SOA_COLUMN(slc_velo_primaries, cov_zz_mm2, "mm2"), SOA_COLUMN(slc_velo_primaries, chi2, "1"),
    SOA_COLUMN(slc_velo_primaries, n_tracks, "1"),
};
SOA_SCHEMA(slc_velo_primaries, slc_velo_primaries_schema, "primaries", primaries_columns);

/* A vertex from its peak to its end. Matrices are xx, xy, yy, xz, yz, zz. */
typedef struct seed {
    float at[3], peak_z;
    uint32_t begin, end; /* its window in the order of the tracks */
    float *share;        /* one per track of the window */
    float weight, chi2;
    double cov[6];     /* the inverse of the matrix of the fit */
    double cov_scale;  /* makes it the covariance */
    uint32_t integral; /* of the peak */
    bool moving, alive;
} seed;

typedef struct finder {
    const slc_velo_vertex_config *config;
    const slc_velo_vertex_kernels *kernels;
    slc_velo_vertex_cuts cuts;
    slc_velo_vertex_columns columns;
    size_t n_bins;
    seed seeds[SLC_VELO_MAX_PRIMARIES];
    size_t n_seeds;
    float min_peak; /* integral of a peak that becomes a seed, in tracks */
} finder;

void slc_velo_vertex_config_default(slc_velo_vertex_config *config)
{
    *config = (slc_velo_vertex_config){
        .z_min_mm = -541.0f,
        .z_max_mm = 307.0f,
        .bin_mm = 0.25f,
        .error_scale = 1.25f,
        .max_track_chi2 = 10.0f,
        .max_track_sigma_z_mm = 1.5f,
        .min_peak_tracks = 2.0f,
        .max_dip_per_mm = 1.5f,
        .iterations = 7,
        .max_fit_chi2 = 16.0f,
        .min_tracks = 4.0f,
        .max_beam_distance2_mm2 = 0.3f,
        .min_separation2 = 40.0f,
        .target = SLC_SIMD_AUTO,
    };
}

/* ---- memory ------------------------------------------------------------------------------------ */

/* Carves the columns for so many tracks out of a block, or only counts its bytes (block NULL). */
static size_t carve(slc_velo_vertex_columns *columns, void *block, size_t tracks)
{
    const size_t words = (tracks + SLC_VELO_VERTEX_SPARE) * sizeof(float);
    const size_t bins = (SLC_VELO_VERTEX_BINS + SLC_VELO_VERTEX_SPARE) * sizeof(uint32_t);
    const size_t above = (SLC_VELO_VERTEX_BINS / 64 + 2) * sizeof(uint64_t);
    const size_t groups = (SLC_VELO_VERTEX_GROUPS + 2 + SLC_VELO_VERTEX_SPARE) * sizeof(uint32_t);
    char *const start = block;
    char *at = start;
    if (block != NULL) {
        columns->histogram = slc_block_take(&at, bins);
        columns->above = slc_block_take(&at, above);
        columns->group_begin = slc_block_take(&at, groups);
        columns->row = slc_block_take(&at, words);
        columns->group = slc_block_take(&at, words);
        columns->order = slc_block_take(&at, words);
        float **const floats[] = {&columns->place,  &columns->reach,      &columns->x,
                                  &columns->y,      &columns->z,          &columns->tx,
                                  &columns->ty,     &columns->wx,         &columns->wy,
                                  &columns->shares, &columns->left_place, &columns->left_reach};
        for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
            *floats[i] = slc_block_take(&at, words);
        }
        columns->share = slc_block_take(&at, SLC_VELO_MAX_PRIMARIES * words);
    }
    return slc_block_bound(bins) + slc_block_bound(above) + slc_block_bound(groups) +
           15 * slc_block_bound(words) + slc_block_bound(SLC_VELO_MAX_PRIMARIES * words);
}

slc_status slc_velo_vertex_reserve(slc_velo_vertex_scratch *scratch, size_t tracks)
{
    if (scratch->block != NULL && tracks <= scratch->tracks) {
        return SLC_OK;
    }
    if (tracks > (size_t)INT32_MAX / SLC_VELO_MAX_PRIMARIES) {
        return SLC_ERR_MEMORY;
    }
    const size_t half_more = scratch->tracks + scratch->tracks / 2, most = INT32_MAX / SLC_VELO_MAX_PRIMARIES;
    tracks = half_more > tracks ? (half_more < most ? half_more : most) : tracks;
    void *block = slc_block_zeros(carve(NULL, NULL, tracks));
    if (block == NULL) {
        return SLC_ERR_MEMORY;
    }
    free(scratch->block);
    *scratch = (slc_velo_vertex_scratch){.block = block, .tracks = tracks};
    return SLC_OK;
}

void slc_velo_vertex_clear(slc_velo_vertex_scratch *scratch)
{
    free(scratch->block);
    *scratch = (slc_velo_vertex_scratch){.block = NULL};
}

/* ---- peaks ------------------------------------------------------------------------------------- */

/* The top of a peak: the parabola through its highest bin and those beside it. */
static float top_of(const finder *f, size_t highest)
{
    const uint32_t *bin = f->columns.histogram;
    const float left = highest > 0 ? (float)bin[highest - 1] : 0, middle = (float)bin[highest],
                right = highest + 1 < f->n_bins ? (float)bin[highest + 1] : 0;
    const float bend = 2 * middle - left - right;
    const float shift = bend > 0 ? 0.5f * (right - left) / bend : 0;
    return f->cuts.z_min + f->cuts.bin * ((float)highest + 0.5f + shift);
}

/* Keeps the seed; where there are too many, the weakest goes, of equals the later one. Seeds that are being
 * fitted have a window, and stay. */
static void keep_seed(finder *f, float z, uint32_t integral)
{
    size_t place = f->n_seeds;
    if (place < SLC_VELO_MAX_PRIMARIES) {
        f->n_seeds++;
    } else {
        for (size_t k = 0; k < SLC_VELO_MAX_PRIMARIES; k++) {
            const bool weaker = place == f->n_seeds || f->seeds[k].integral <= f->seeds[place].integral;
            place = f->seeds[k].share == NULL && weaker ? k : place;
        }
        if (place == f->n_seeds || f->seeds[place].integral >= integral) {
            return;
        }
    }
    f->seeds[place] = (seed){.at = {f->config->beam_x_mm, f->config->beam_y_mm, z},
                             .peak_z = z,
                             .integral = integral,
                             .moving = true,
                             .alive = true};
}

/* A peak becomes a seed. */
static void close_peak(finder *f, size_t begin, size_t end)
{
    const uint32_t *bin = f->columns.histogram;
    uint64_t integral = 0;
    size_t highest = begin;
    uint32_t top = bin[begin];
    for (size_t b = begin; b < end; b++) {
        const uint32_t here = bin[b];
        integral += here;
        highest = here > top ? b : highest;
        top = here > top ? here : top;
    }
    if ((float)integral > f->min_peak * SLC_VELO_VERTEX_UNITS) {
        keep_seed(f, top_of(f, highest), integral < UINT32_MAX ? (uint32_t)integral : UINT32_MAX);
    }
}

/* A stretch of bins above the threshold. It is cut at the lowest bin between two tops, where both rise above
 * it by more than the allowed dip. */
static void split_stretch(finder *f, size_t begin, size_t end)
{
    const uint32_t *bin = f->columns.histogram;
    const float dip = f->config->max_dip_per_mm * f->cuts.bin * SLC_VELO_VERTEX_UNITS;
    size_t bottom = begin, start = begin; /* bottom: the lowest bin behind the top */
    uint32_t top = bin[begin], low = top; /* what is in them */
    for (size_t b = begin; b < end; b++) {
        const uint32_t here = bin[b];
        const bool deep = !((float)top - (float)low <= dip);
        if (here < low) {
            bottom = b;
            low = here;
        } else if (!deep && here > top) {
            bottom = b;
            top = low = here;
        } else if (deep && (float)here - (float)low > dip) {
            close_peak(f, start, bottom);
            start = bottom;
            bottom = b;
            top = low = here;
        }
    }
    close_peak(f, start, end);
}

/* The next bin at or behind `from` whose bit is `set`, or n_bins. */
static size_t next_bin(const finder *f, size_t from, bool set)
{
    for (size_t b = from; b < f->n_bins;) {
        const uint64_t word = (set ? f->columns.above[b / 64] : ~f->columns.above[b / 64]) >> b % 64;
        if (word != 0) {
            b += (size_t)__builtin_ctzll(word);
            return b < f->n_bins ? b : f->n_bins;
        }
        b = (b / 64 + 1) * 64;
    }
    return f->n_bins;
}

static void find_peaks(finder *f)
{
    for (size_t b = next_bin(f, 0, true); b < f->n_bins;) {
        const size_t end = next_bin(f, b, false);
        split_stretch(f, b, end);
        b = next_bin(f, end, true);
    }
}

/* ---- windows ----------------------------------------------------------------------------------- */

static size_t group_of(const finder *f, float place)
{
    const float held = place > 0 ? place : 0;
    const size_t bin = held < (float)f->n_bins ? (size_t)held : f->n_bins - 1;
    return bin / SLC_VELO_VERTEX_GROUP;
}

/* A track that counts in the histogram cannot take part in the fit of a vertex farther along the beam. */
static float window_of(const slc_velo_vertex_config *config)
{
    return config->max_track_sigma_z_mm * sqrtf(config->max_fit_chi2);
}

/* Of the seeds from `first` on; those before have theirs. */
static void open_windows(finder *f, size_t first)
{
    const float reach = window_of(f->config) / f->cuts.bin;
    float *share = first > 0
                       ? f->seeds[first - 1].share + (f->seeds[first - 1].end - f->seeds[first - 1].begin)
                       : f->columns.share;
    for (size_t k = first; k < f->n_seeds; k++) {
        seed *s = &f->seeds[k];
        const float place = (s->peak_z - f->cuts.z_min) / f->cuts.bin;
        s->begin = f->columns.group_begin[group_of(f, place - reach)];
        s->end = f->columns.group_begin[group_of(f, place + reach) + 1];
        s->share = share;
        const size_t n = s->end - s->begin;
        memset(share, 0, n * sizeof *share);
        share += n;
    }
}

/* ---- fit --------------------------------------------------------------------------------------- */

/* The inverse of the matrix of the sums, whose xy is zero; false where it has none. */
static bool invert(const float sums[SLC_VELO_SUMS], double cov[6])
{
    const double xx = (double)sums[SLC_VELO_SUM_XX], yy = (double)sums[SLC_VELO_SUM_YY];
    const double xz = -(double)sums[SLC_VELO_SUM_XZ], yz = -(double)sums[SLC_VELO_SUM_YZ];
    const double zz = (double)sums[SLC_VELO_SUM_ZZ];
    const double determinant = xx * (yy * zz - yz * yz) - yy * xz * xz;
    /* Tracks that are all parallel tell nothing of z: what is left of the determinant is rounding. */
    if (!(determinant > 1e-5 * xx * yy * zz)) {
        return false;
    }
    cov[0] = (yy * zz - yz * yz) / determinant;
    cov[1] = xz * yz / determinant;
    cov[2] = (xx * zz - xz * xz) / determinant;
    cov[3] = -xz * yy / determinant;
    cov[4] = -yz * xx / determinant;
    cov[5] = xx * yy / determinant;
    return true;
}

/* Gives the vertex up, and its tracks to the others. */
static void drop(finder *f, seed *s)
{
    for (uint32_t i = s->begin; i < s->end; i++) {
        const float rest = f->columns.shares[i] - s->share[i - s->begin];
        f->columns.shares[i] = rest > 0 ? rest : 0;
    }
    s->alive = s->moving = false;
}

static void step(finder *f, seed *s)
{
    float sums[SLC_VELO_SUMS];
    f->kernels->step(&f->columns, s->begin, s->end, s->at, f->config->max_fit_chi2, s->share, sums);
    if (!(sums[SLC_VELO_SUM_TRACKS] >= f->config->min_tracks) || !invert(sums, s->cov)) {
        drop(f, s);
        return;
    }
    const double gx = (double)sums[SLC_VELO_SUM_X], gy = (double)sums[SLC_VELO_SUM_Y],
                 gz = -(double)sums[SLC_VELO_SUM_Z];
    const double dz = s->cov[3] * gx + s->cov[4] * gy + s->cov[5] * gz;
    s->at[0] += (float)(s->cov[0] * gx + s->cov[1] * gy + s->cov[3] * gz);
    s->at[1] += (float)(s->cov[1] * gx + s->cov[2] * gy + s->cov[4] * gz);
    s->at[2] += (float)dz;
    s->weight = sums[SLC_VELO_SUM_WEIGHT];
    s->chi2 = sums[SLC_VELO_SUM_CHI2];
    s->cov_scale = s->weight > 0 ? (double)sums[SLC_VELO_SUM_WEIGHT2] / (double)s->weight : 1;
    s->moving = !(fabs(dz) <
                  0.002); /* mm: far below the resolution; the next step would be a fraction of it */
    if (!(fabsf(s->at[2] - s->peak_z) < window_of(f->config))) {
        drop(f, s);
    }
}

static void fit(finder *f, uint32_t iterations)
{
    bool moving = true;
    for (uint32_t i = 0; i < iterations && moving; i++) {
        moving = false;
        for (size_t k = 0; k < f->n_seeds; k++) {
            if (f->seeds[k].moving) {
                step(f, &f->seeds[k]);
                moving = moving || f->seeds[k].moving;
            }
        }
    }
}

/* ---- which vertices stay ----------------------------------------------------------------------- */

static bool is_same(const finder *f, const seed *a, const seed *b)
{
    const double dz = (double)a->at[2] - (double)b->at[2];
    return dz * dz <
           (double)f->config->min_separation2 * (a->cov_scale * a->cov[5] + b->cov_scale * b->cov[5]);
}

/* Sets those vertices going again whose windows meet that of a change, a vertex that went or came. */
static void disturb(finder *f, const seed *change)
{
    for (size_t k = 0; k < f->n_seeds; k++) {
        seed *s = &f->seeds[k];
        s->moving = s->moving || (s->alive && s->begin < change->end && change->begin < s->end);
    }
}

/* Drops vertices far from the beam, and the weaker of two that cannot be told apart. True where any went. */
static bool clean_up(finder *f)
{
    bool any = false;
    for (size_t k = 0; k < f->n_seeds; k++) {
        seed *s = &f->seeds[k];
        const float dx = s->at[0] - f->config->beam_x_mm, dy = s->at[1] - f->config->beam_y_mm;
        if (s->alive && !(dx * dx + dy * dy < f->config->max_beam_distance2_mm2)) {
            drop(f, s);
            disturb(f, s);
            any = true;
        }
    }
    for (size_t k = 0; k < f->n_seeds; k++) {
        for (size_t j = 0; j < f->n_seeds && f->seeds[k].alive; j++) {
            const seed *other = &f->seeds[j];
            const bool stronger = other->weight > f->seeds[k].weight ||
                                  (other->weight == f->seeds[k].weight && j < k);
            if (j != k && other->alive && stronger && is_same(f, other, &f->seeds[k])) {
                drop(f, &f->seeds[k]);
                disturb(f, &f->seeds[k]);
                any = true;
            }
        }
    }
    return any;
}

static void store(finder *f, slc_velo_primaries *out)
{
    const seed *sorted[SLC_VELO_MAX_PRIMARIES];
    size_t n = 0;
    for (size_t k = 0; k < f->n_seeds; k++) {
        if (!f->seeds[k].alive) {
            continue;
        }
        size_t i = n++;
        for (; i > 0 && sorted[i - 1]->at[2] > f->seeds[k].at[2]; i--) {
            sorted[i] = sorted[i - 1];
        }
        sorted[i] = &f->seeds[k];
    }
    for (size_t i = 0; i < n; i++) {
        const size_t row = out->head.size++;
        out->x_mm[row] = sorted[i]->at[0];
        out->y_mm[row] = sorted[i]->at[1];
        out->z_mm[row] = sorted[i]->at[2];
        float *const cov[] = {out->cov_xx_mm2, out->cov_xy_mm2, out->cov_yy_mm2,
                              out->cov_xz_mm2, out->cov_yz_mm2, out->cov_zz_mm2};
        for (size_t c = 0; c < 6; c++) {
            cov[c][row] = (float)(sorted[i]->cov_scale * sorted[i]->cov[c]);
        }
        out->chi2[row] = sorted[i]->chi2;
        out->n_tracks[row] = sorted[i]->weight;
    }
}

/* ---- the stage --------------------------------------------------------------------------------- */

/* Peaks of tracks in the histogram; true where there are new seeds. */
static bool seek(finder *f, const float *place, const float *reach, size_t n)
{
    /* A tenth of the density that one track has at its place if it just counts, as in Allen. */
    const float threshold = f->cuts.bin / (10 * f->config->max_track_sigma_z_mm);
    const size_t seeds = f->n_seeds;
    f->kernels->fill(&f->columns, place, reach, n, f->n_bins, (uint32_t)(threshold * SLC_VELO_VERTEX_UNITS));
    find_peaks(f);
    return f->n_seeds > seeds;
}

/* A vertex on the shoulder of a larger one makes no peak of its own, but its tracks are left over: those that
 * have chi2 > 9 to every vertex found. As strays lie around large vertices, the peak must hold as many tracks
 * as a vertex must have. */
static bool seek_again(finder *f, size_t n)
{
    const float far = 0.0111089965f; /* exp(-9/2) */
    const size_t left = f->kernels->leave(&f->columns, n, far);
    if ((float)left <= f->config->min_tracks || f->n_seeds == SLC_VELO_MAX_PRIMARIES) {
        return false;
    }
    const size_t first = f->n_seeds;
    f->min_peak = f->config->min_tracks;
    if (!seek(f, f->columns.left_place, f->columns.left_reach, left)) {
        return false;
    }
    open_windows(f, first);
    for (size_t k = first; k < f->n_seeds; k++) {
        disturb(f, &f->seeds[k]);
    }
    return true;
}

static void find_vertices(finder *f, const slc_velo_vertex_in *in)
{
    const slc_velo_vertex_columns *c = &f->columns;
    f->n_seeds = 0;
    f->min_peak = f->config->min_peak_tracks;
    const size_t n = f->kernels->locate(in, &f->cuts, c);
    if (n == 0 || !seek(f, c->place, c->reach, n)) {
        return;
    }
    f->kernels->order(c, n, f->n_bins / SLC_VELO_VERTEX_GROUP + 1);
    f->kernels->collect(in, &f->cuts, c, n);
    open_windows(f, 0);
    fit(f, f->config->iterations);
    bool again = clean_up(f);
    again = seek_again(f, n) || again;
    /* Few are set going again, and what one more vertex that goes leaves to others is little. */
    for (uint32_t round = 0; round < 2 && again; round++) {
        fit(f, f->config->iterations);
        again = clean_up(f);
    }
}

static bool open_finder(finder *f, const slc_velo_vertex_config *config,
                        const slc_velo_vertex_scratch *scratch)
{
    const float bins = (config->z_max_mm - config->z_min_mm) / config->bin_mm;
    const bool sound = bins >= 1 && bins <= SLC_VELO_VERTEX_BINS && config->bin_mm > 0 &&
                       config->error_scale > 0 && config->max_track_sigma_z_mm > 0 &&
                       config->max_track_sigma_z_mm <= 1000 && config->max_fit_chi2 > 0 &&
                       config->max_fit_chi2 <= 100;
    /* Whether a target runs is asked of the processor, which takes as long as several events: here once a
     * batch, and only of `auto`. */
    const slc_simd_target target = config->target == SLC_SIMD_AUTO
                                       ? slc_simd_kernel_choice(&slc_velo_kernel_rows[SLC_VELO_KERNEL_VERTEX],
                                                                SLC_SIMD_AUTO)
                                       : config->target;
    if (!sound || !slc_simd_compiled(target)) {
        return false;
    }
    f->config = config;
    f->n_bins = (size_t)bins;
    f->kernels = slc_velo_vertex_kernels_of(target);
    f->cuts = (slc_velo_vertex_cuts){.z_min = config->z_min_mm,
                                     .bin = config->bin_mm,
                                     .n_bins = (float)f->n_bins,
                                     .beam_x = config->beam_x_mm,
                                     .beam_y = config->beam_y_mm,
                                     .variance_scale = config->error_scale * config->error_scale,
                                     .max_chi2 = config->max_track_chi2,
                                     .max_sigma_z = config->max_track_sigma_z_mm,
                                     .max_fit_chi2 = config->max_fit_chi2};
    (void)carve(&f->columns, scratch->block, scratch->tracks);
    return true;
}

slc_status slc_velo_vertex_run(const slc_velo_vertex_config *config, const slc_velo_states *beam,
                               slc_velo_vertex_scratch *scratch, slc_velo_primaries *primaries)
{
    slc_columns_reset(primaries);
    const uint32_t n_events = beam->head.n_events;
    if (scratch->block == NULL || primaries->head.event_offset == NULL ||
        primaries->head.event_capacity < n_events) {
        return SLC_ERR_CAPACITY;
    }
    finder f;
    if (!open_finder(&f, config, scratch)) {
        return SLC_ERR_USAGE;
    }
    if (primaries->head.capacity < (size_t)n_events * SLC_VELO_MAX_PRIMARIES ||
        slc_columns_largest_event(&beam->head) > scratch->tracks) {
        return SLC_ERR_CAPACITY;
    }
    for (uint32_t e = 0; e < n_events; e++) {
        const size_t first = beam->head.event_offset[e];
        const slc_velo_vertex_in in = {
            .x = beam->x_mm + first,
            .y = beam->y_mm + first,
            .z = beam->z_mm + first,
            .tx = beam->tx + first,
            .ty = beam->ty + first,
            .xx = beam->cov_xx_mm2 + first,
            .yy = beam->cov_yy_mm2 + first,
            .n = beam->head.event_offset[e + 1] - first,
        };
        find_vertices(&f, &in);
        store(&f, primaries);
        slc_columns_end_event(primaries);
    }
    return SLC_OK;
}
