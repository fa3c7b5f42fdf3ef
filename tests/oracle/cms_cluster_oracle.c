/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters of CMS's digis, slowly and obviously. One module after the other: its digis in the order of the
 * event, clusters by spreading from the first digi that has none, comparing with all that are left, then
 * duplicates, features and the cut of each cluster from the list of its digis.
 */
#include "oracle/cms_cluster_oracle.h"

#include "support/cmocka_all.h"

#include <stdlib.h>

/* A digi of the module at hand. */
typedef struct spot {
    uint32_t digi; /* in its event */
    uint16_t x, y, adc;
    uint32_t cluster; /* before the cut */
} spot;

/* The module at hand, in the order of the event; `left` and `queue` have room for all of it. */
typedef struct content {
    spot *spots, *left, *queue;
    size_t n, capacity;
    uint32_t n_clusters; /* before the cut */
} content;

static void content_room(content *of)
{
    if (of->n == of->capacity) {
        of->capacity = 2 * of->capacity + 64;
        of->spots = realloc(of->spots, of->capacity * sizeof *of->spots);
        of->left = realloc(of->left, of->capacity * sizeof *of->left);
        of->queue = realloc(of->queue, of->capacity * sizeof *of->queue);
        assert_true(of->spots != NULL && of->left != NULL && of->queue != NULL);
    }
}

static bool near(const spot *a, const spot *b)
{
    return abs(a->x - b->x) <= 1 && abs(a->y - b->y) <= 1;
}

/* The order in which digis are reached does not matter: the number goes back into the digi's own spot. */
static void find_clusters(content *of)
{
    size_t n_left = of->n;
    for (size_t i = 0; i < of->n; i++) {
        of->left[i] = of->spots[i];
        of->left[i].cluster = (uint32_t)i; /* where it stands in `spots` */
    }
    of->n_clusters = 0;
    while (n_left > 0) {
        size_t queued = 0;
        of->queue[queued++] = of->left[0]; /* the first digi that is in no cluster */
        for (size_t done = 0; done < queued; done++) {
            const spot at = of->queue[done];
            of->spots[at.cluster].cluster = of->n_clusters;
            size_t kept = 0;
            for (size_t i = done == 0 ? 1 : 0; i < n_left; i++) { /* the first one has left the list */
                const spot other = of->left[i];
                if (near(&at, &other)) {
                    of->queue[queued++] = other;
                } else {
                    of->left[kept++] = other;
                }
            }
            n_left = kept;
        }
        of->n_clusters++;
    }
}

/* ---- one cluster ------------------------------------------------------------------------------ */

static uint32_t saturated(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* Turns the digis of a cluster, in the order of the event, into its pixels by the policy for duplicates.
 * Returns how many there are. */
static size_t to_pixels(slc_pixel_duplicates policy, spot *digis, uint64_t *charge, size_t n)
{
    size_t pixels = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = pixels;
        for (size_t j = 0; policy != SLC_PIXEL_DUPLICATES_KEEP && j < pixels; j++) {
            if (digis[j].x == digis[i].x && digis[j].y == digis[i].y) {
                at = j;
                break;
            }
        }
        if (at == pixels) {
            digis[pixels] = digis[i];
            charge[pixels++] = digis[i].adc;
        } else if (policy == SLC_PIXEL_DUPLICATES_SUM) {
            charge[at] += digis[i].adc;
        } else if (policy == SLC_PIXEL_DUPLICATES_LARGEST && digis[i].adc > charge[at]) {
            charge[at] = digis[i].adc;
        } /* FIRST: nothing */
    }
    return pixels;
}

typedef struct features {
    uint64_t charge, x_min_charge, x_max_charge, y_min_charge, y_max_charge;
    uint16_t x_min, x_max, y_min, y_max;
} features;

static features of_pixels(const spot *pixels, const uint64_t *charge, size_t n)
{
    features of = {.x_min = UINT16_MAX, .y_min = UINT16_MAX};
    for (size_t i = 0; i < n; i++) {
        of.x_min = pixels[i].x < of.x_min ? pixels[i].x : of.x_min;
        of.x_max = pixels[i].x > of.x_max ? pixels[i].x : of.x_max;
        of.y_min = pixels[i].y < of.y_min ? pixels[i].y : of.y_min;
        of.y_max = pixels[i].y > of.y_max ? pixels[i].y : of.y_max;
        of.charge += charge[i];
    }
    for (size_t i = 0; i < n; i++) {
        of.x_min_charge += pixels[i].x == of.x_min ? charge[i] : 0;
        of.x_max_charge += pixels[i].x == of.x_max ? charge[i] : 0;
        of.y_min_charge += pixels[i].y == of.y_min ? charge[i] : 0;
        of.y_max_charge += pixels[i].y == of.y_max ? charge[i] : 0;
    }
    return of;
}

static void put_cluster(slc_cms_clusters *clusters, uint16_t module, uint32_t first_digi, size_t n_pixels,
                        const features *of)
{
    const size_t row = clusters->head.size;
    if (row == clusters->head.capacity) {
        assert_int_equal(slc_columns_reserve(&slc_cms_clusters_schema, clusters, 2 * row + 64,
                                             clusters->head.event_capacity),
                         SLC_OK);
    }
    clusters->head.size++;
    clusters->module[row] = module;
    clusters->n_pixels[row] = (uint16_t)(n_pixels > UINT16_MAX ? UINT16_MAX : n_pixels);
    clusters->charge_e[row] = saturated(of->charge);
    clusters->first_digi[row] = first_digi;
    clusters->x_min[row] = of->x_min;
    clusters->x_max[row] = of->x_max;
    clusters->y_min[row] = of->y_min;
    clusters->y_max[row] = of->y_max;
    clusters->charge_x_min[row] = saturated(of->x_min_charge);
    clusters->charge_x_max[row] = saturated(of->x_max_charge);
    clusters->charge_y_min[row] = saturated(of->y_min_charge);
    clusters->charge_y_max[row] = saturated(of->y_max_charge);
    clusters->x_um[row] = clusters->y_um[row] = 0;
    clusters->x_error_um[row] = clusters->y_error_um[row] = 0;
}

static bool passes(const slc_cms_cluster_config *config, uint16_t module, uint64_t charge)
{
    const uint32_t cut = module < SLC_CMS_LAYER1_END ? config->min_charge_layer1_e : config->min_charge_e;
    return config->above ? saturated(charge) > cut : saturated(charge) >= cut;
}

/* ---- one module ------------------------------------------------------------------------------- */

/* The digis of each cluster in the order of the event, cluster after cluster; begin has n_clusters + 1
 * entries. */
static void by_cluster(const content *of, spot *sorted, size_t *begin)
{
    for (uint32_t c = 0; c <= of->n_clusters; c++) {
        begin[c] = 0;
    }
    for (size_t i = 0; i < of->n; i++) {
        begin[of->spots[i].cluster + 1]++;
    }
    for (uint32_t c = 0; c < of->n_clusters; c++) {
        begin[c + 1] += begin[c];
    }
    for (size_t i = of->n; i-- > 0;) {
        sorted[--begin[of->spots[i].cluster + 1]] = of->spots[i];
    }
    for (uint32_t c = 0; c < of->n_clusters; c++) {
        begin[c] = begin[c + 1];
    }
    begin[of->n_clusters] = of->n;
}

/* Numbers the clusters that pass, and writes them. Returns how many there are. `cluster`: of the event's
 * digis. */
static uint32_t keep_clusters(const slc_cms_cluster_config *config, uint16_t module, content *of,
                              int32_t *cluster, slc_cms_clusters *clusters)
{
    uint64_t *charge = calloc(of->n, sizeof *charge);
    size_t *begin = calloc((size_t)of->n_clusters + 2, sizeof *begin);
    uint32_t kept = 0;
    assert_true(charge != NULL && begin != NULL);
    by_cluster(of, of->queue, begin);
    for (uint32_t c = 0; c < of->n_clusters; c++) {
        const size_t n = begin[c + 1] - begin[c];
        spot *digis = of->queue + begin[c], *pixels = of->left;
        for (size_t i = 0; i < n; i++) {
            pixels[i] = digis[i];
        }
        const size_t n_pixels = to_pixels(config->duplicates, pixels, charge, n);
        const features f = of_pixels(pixels, charge, n_pixels);
        const bool keep = passes(config, module, f.charge);
        for (size_t i = 0; i < n; i++) {
            cluster[digis[i].digi] = keep ? (int32_t)kept : SLC_CMS_NO_CLUSTER;
        }
        if (keep) {
            put_cluster(clusters, module, digis[0].digi, n_pixels, &f);
            kept++;
        }
    }
    free(begin);
    free(charge);
    return kept;
}

/* ---- one event -------------------------------------------------------------------------------- */

static bool valid(const slc_cms_cluster_config *config, const slc_cms_digis *digis, size_t row)
{
    return digis->module[row] < config->modules && digis->x[row] < config->rows &&
           digis->y[row] < config->columns;
}

static void put_module(slc_cms_modules *modules, uint16_t module, uint32_t first_digi, uint32_t n_digis,
                       uint32_t n_clusters, uint32_t cluster_begin)
{
    const size_t row = modules->head.size;
    if (row == modules->head.capacity) {
        assert_int_equal(
            slc_columns_reserve(&slc_cms_modules_schema, modules, 2 * row + 64, modules->head.event_capacity),
            SLC_OK);
    }
    modules->head.size++;
    modules->module[row] = module;
    modules->first_digi[row] = first_digi;
    modules->n_digis[row] = n_digis;
    modules->n_clusters[row] = n_clusters;
    modules->cluster_begin[row] = cluster_begin;
}

/* The digis of `module` in rows begin … end - 1. Returns how many there are; the first of them that
 * truncation leaves out goes to *left_out. */
static uint32_t gather(const slc_cms_cluster_config *config, const slc_cms_digis *digis, size_t begin,
                       size_t end, uint16_t module, content *of, uint32_t *left_out)
{
    uint32_t n = 0;
    of->n = 0;
    for (size_t row = begin; row < end; row++) {
        if (digis->module[row] != module || !valid(config, digis, row)) {
            continue;
        }
        n++;
        if (config->truncate && n > config->max_module_digis) {
            *left_out = n == config->max_module_digis + 1 ? (uint32_t)(row - begin) : *left_out;
            continue;
        }
        content_room(of);
        of->spots[of->n++] = (spot){
            .digi = (uint32_t)(row - begin), .x = digis->x[row], .y = digis->y[row], .adc = digis->adc[row]};
    }
    return n;
}

/* Which modules have valid digis, and the faults of digis that are out of bounds. */
static void look(const slc_cms_cluster_config *config, uint64_t event, slc_cms_digis *digis, size_t begin,
                 size_t end, bool *present, slc_faults *faults)
{
    for (size_t row = begin; row < end; row++) {
        digis->cluster[row] = SLC_CMS_NO_CLUSTER;
        if (valid(config, digis, row)) {
            present[digis->module[row]] = true;
        } else if (digis->module[row] < config->modules) {
            slc_faults_add(faults, SLC_FAULT_CMS_PIXEL, event, digis->module[row], row - begin);
        }
    }
}

static void cluster_event(const slc_cms_cluster_config *config, uint64_t event, slc_cms_digis *digis,
                          size_t begin, size_t end, slc_cms_modules *modules, slc_cms_clusters *clusters,
                          slc_faults *faults)
{
    bool *present = calloc((size_t)config->modules + 1, sizeof *present);
    content of = {.n = 0};
    uint32_t n_clusters = 0;
    assert_non_null(present);
    look(config, event, digis, begin, end, present, faults);
    for (uint32_t module = 0; module < config->modules; module++) {
        uint32_t left_out = 0;
        if (!present[module]) {
            continue;
        }
        const uint32_t n = gather(config, digis, begin, end, (uint16_t)module, &of, &left_out);
        if (of.n < n) {
            slc_faults_add(faults, SLC_FAULT_CMS_MODULE_CROWDED, event, (int32_t)module, left_out);
        }
        find_clusters(&of);
        uint32_t first = 0;
        while (digis->module[begin + first] != module || !valid(config, digis, begin + first)) {
            first++;
        }
        const uint32_t kept =
            of.n == 0 ? 0 : keep_clusters(config, (uint16_t)module, &of, digis->cluster + begin, clusters);
        put_module(modules, (uint16_t)module, first, n, kept, n_clusters);
        n_clusters += kept;
    }
    free(of.spots);
    free(of.left);
    free(of.queue);
    free(present);
}

void oracle_cms_cluster(const slc_cms_cluster_config *config, uint64_t first_event, slc_cms_digis *digis,
                        slc_cms_modules *modules, slc_cms_clusters *clusters, slc_faults *faults)
{
    const uint32_t events = digis->head.n_events;
    slc_columns_reset(modules);
    slc_columns_reset(clusters);
    assert_int_equal(slc_columns_reserve(&slc_cms_modules_schema, modules, 64, events + 1), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_cms_clusters_schema, clusters, 64, events + 1), SLC_OK);
    for (uint32_t e = 0; e < events; e++) {
        cluster_event(config, first_event + e, digis, digis->head.event_offset[e],
                      digis->head.event_offset[e + 1], modules, clusters, faults);
        slc_columns_end_event(modules);
        slc_columns_end_event(clusters);
    }
}
