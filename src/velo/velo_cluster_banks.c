/* SPDX-License-Identifier: Apache-2.0
 * The raw banks of a batch to hits in one go: a sensor's words are checked, labelled and located while they
 * are in the first-level cache, by the kernel of velo_cluster.simd.c. What a detector should not send
 * (damaged or doubled words) goes through the decoder first, so that faults and hits are those of the two
 * separate stages. */
#include "base/block.h"
#include "base/bytes.h"
#include "velo/velo_cluster_work.h"
#include "velo/velo_decode_event.h"
#include "velo/velo_kernels.h"
#include "velo/velo_superpixel.h"

#include "velo/velo_cluster.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

slc_status slc_velo_cluster_reserve_banks(slc_velo_cluster_scratch *scratch, slc_simd_target choice)
{
    if (choice != SLC_SIMD_AUTO && !slc_simd_runs(choice)) {
        return SLC_ERR_USAGE;
    }
    scratch->target = slc_simd_kernel_choice(&slc_velo_kernel_rows[SLC_VELO_KERNEL_CLUSTER], choice);
    if (scratch->work == NULL) {
        scratch->work = slc_block_zeros(sizeof(slc_velo_cluster_work));
        if (scratch->work == NULL) {
            return SLC_ERR_MEMORY;
        }
        slc_velo_cluster_work_init(scratch->work);
    }
    return SLC_OK;
}

/* Sorts by address the n sound words whose addresses differ: the place of a word is the number of those in
 * the columns before it and in its column below it. False, without a result, where they are not like that. */
static bool sort_words(slc_velo_cluster_work *work, const slc_velo_sensor_words *source, size_t *n_words)
{
    uint32_t begin[SLC_VELO_SUPERPIXEL_COLUMNS], n = 0;
    uint64_t columns[SLC_VELO_SUPERPIXEL_COLUMNS / 64] = {0};
    bool sound = true;
    for (uint32_t i = 0; i < source->n; i++) {
        const uint32_t word = slc_load_u32(source->words + 4 * (size_t)i);
        if ((word & source->select_mask) != source->select) {
            continue;
        }
        const uint32_t column = slc_superpixel_column(word);
        if ((word & SLC_SUPERPIXEL_PATTERN) == 0 || column >= SLC_VELO_SUPERPIXEL_COLUMNS) {
            sound = false;
            break;
        }
        const uint64_t bit = UINT64_C(1) << slc_superpixel_row(word);
        sound = sound && (work->rows[column] & bit) == 0;
        work->rows[column] |= bit;
        columns[column / 64] |= UINT64_C(1) << column % 64;
        work->picked[n++] = word & SLC_SUPERPIXEL_USED;
    }
    uint32_t place = 0;
    for (uint32_t k = 0; k < SLC_VELO_SUPERPIXEL_COLUMNS / 64; k++) {
        for (uint64_t left = columns[k]; left != 0; left &= left - 1) {
            const uint32_t column = 64 * k + (uint32_t)__builtin_ctzll(left);
            begin[column] = place;
            place += (uint32_t)__builtin_popcountll(work->rows[column]);
        }
    }
    *n_words = n;
    for (uint32_t i = 0; i < n && sound; i++) {
        const uint32_t column = slc_superpixel_column(work->picked[i]);
        const uint64_t below = (UINT64_C(1) << slc_superpixel_row(work->picked[i])) - 1;
        work->sorted[begin[column] + (uint32_t)__builtin_popcountll(work->rows[column] & below)] =
            work->picked[i];
    }
    for (uint32_t k = 0; k < SLC_VELO_SUPERPIXEL_COLUMNS / 64; k++) {
        for (uint64_t left = columns[k]; left != 0; left &= left - 1) {
            work->rows[64 * k + (uint32_t)__builtin_ctzll(left)] = 0;
        }
    }
    return sound;
}

/* What a batch needs while it is gone through. */
typedef struct pass {
    const slc_velo_geometry *geometry;
    const slc_velo_cluster_kernels *kernels;
    slc_velo_cluster_work *work;
    slc_velo_hits *hits;
    slc_faults hints; /* the faults of clustering come behind those of decoding */
    bool unsorted;    /* a sensor's words of this event were: others are likely to be */
    slc_velo_event event;
} pass;

/* The false hints among a sensor's nodes, in the order in which the separate stage finds them. The parts of a
 * super-pixel, which lie one behind the other, have its address and its hint. */
static void note_hints(pass *p, uint32_t sensor, const uint32_t *words, size_t n)
{
    uint64_t *rows = p->work->rows;
    for (size_t i = 0; i < n; i++) {
        rows[slc_superpixel_column(words[i])] |= UINT64_C(1) << slc_superpixel_row(words[i]);
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t column = slc_superpixel_column(words[i]);
        const uint64_t own = UINT64_C(1) << slc_superpixel_row(words[i]);
        const uint64_t around = own | own << 1 | own >> 1;
        const uint64_t left = column > 0 ? rows[column - 1] : 0;
        const uint64_t right = column + 1 < SLC_VELO_SUPERPIXEL_COLUMNS ? rows[column + 1] : 0;
        const bool again = i > 0 && slc_superpixel_address(words[i]) == slc_superpixel_address(words[i - 1]);
        if (!again && (words[i] & SLC_SUPERPIXEL_ISOLATED) != 0 &&
            (((left | right) & around) != 0 || (rows[column] & (around ^ own)) != 0)) {
            slc_faults_add(&p->hints, SLC_FAULT_SUPERPIXEL_HINT, p->event.event, (int32_t)sensor,
                           slc_superpixel_address(words[i]));
        }
    }
    for (size_t i = 0; i < n; i++) {
        rows[slc_superpixel_column(words[i])] = 0;
    }
}

/* After the hits that are there. */
static slc_velo_hits_out next_hits(const slc_velo_hits *hits)
{
    const size_t at = hits->head.size;
    return (slc_velo_hits_out){.x_mm = hits->x_mm + at,
                               .y_mm = hits->y_mm + at,
                               .z_mm = hits->z_mm + at,
                               .channel = hits->channel + at,
                               .n_pixels = hits->n_pixels + at,
                               .module = hits->module + at};
}

/* Writes the group's hits and begins the next one. */
static slc_status end_group(pass *p)
{
    slc_velo_cluster_work *work = p->work;
    slc_velo_hits *hits = p->hits;
    if (work->nodes > hits->head.capacity - hits->head.size) {
        return SLC_ERR_CAPACITY;
    }
    const slc_velo_hits_out out = next_hits(hits);
    hits->head.size += p->kernels->locate(p->geometry, work, &out);
    uint32_t begin = 0;
    for (uint32_t k = 0; k < work->n_sensors && work->false_hint; k++) {
        note_hints(p, work->sensor[k], work->word + SLC_VELO_FRONT + begin, work->node_end[k] - begin);
        begin = work->node_end[k];
    }
    slc_velo_cluster_work_next(work);
    return SLC_OK;
}

/* The same after sorting; false where sorting is not what the words need. */
static bool place_sorted(pass *p, slc_velo_sensor_in in)
{
    if (in.n_words <= SLC_VELO_RANKED) {
        in.n_words = p->kernels->sort(&in, p->work, p->work->sorted);
        if (in.n_words == 0) {
            return false;
        }
    } else if (!sort_words(p->work, &p->event.sensors[in.sensor], &in.n_words)) {
        return false;
    }
    in.bytes = (const uint8_t *)p->work->sorted;
    in.select_mask = in.select = 0; /* the words have lost the bit that selects */
    return p->kernels->place(&in, p->work);
}

static slc_velo_sensor_in words_of(const pass *p, uint32_t sensor)
{
    const slc_velo_sensor_words *source = &p->event.sensors[sensor];
    return (slc_velo_sensor_in){.bytes = source->words,
                                .n_words = source->n,
                                .select_mask = source->select_mask,
                                .select = source->select,
                                .sensor = sensor};
}

static slc_status end_full_group(pass *p)
{
    return p->work->nodes >= SLC_VELO_GROUP ? end_group(p) : SLC_OK;
}

/* A sensor's words sorted to a place of their own, if there are few; n_words is 0 if that is not done. */
static slc_velo_sensor_in sort_ahead(pass *p, uint32_t sensor)
{
    slc_velo_sensor_in in = words_of(p, sensor);
    uint32_t *to = p->work->ahead[sensor % SLC_VELO_AHEAD];
    const bool few = in.n_words > 0 && in.n_words <= SLC_VELO_RANKED;
    in.n_words = few ? p->kernels->sort(&in, p->work, to) : 0;
    in.bytes = (const uint8_t *)to;
    in.select_mask = in.select = 0; /* the words have lost the bit that selects */
    return in;
}

/* `sorted`: the words if they have been sorted, or NULL. */
static slc_status run_sensor(pass *p, uint32_t sensor, const slc_velo_sensor_in *sorted)
{
    if (sorted != NULL && sorted->n_words > 0 && p->kernels->place(sorted, p->work)) {
        return end_full_group(p);
    }
    slc_velo_sensor_in in = words_of(p, sensor);
    if (!p->kernels->place(&in, p->work)) {
        p->unsorted = place_sorted(p, in);
        if (!p->unsorted) {
            in.n_words = slc_velo_event_decode(&p->event, sensor, p->work->sorted);
            in.bytes = (const uint8_t *)p->work->sorted;
            in.select_mask = in.select = 0;
            const bool placed = p->kernels->place(&in, p->work);
            assert(placed);
            (void)placed;
        }
    }
    return end_full_group(p);
}

/* The same of clusters that the read-out has found. What the kernel does not take is decoded one by one. */
static slc_status run_centroids(pass *p)
{
    slc_velo_hits *hits = p->hits;
    for (uint32_t sensor = 0; sensor < SLC_VELO_SENSORS; sensor++) {
        const slc_velo_sensor_words *source = &p->event.sensors[sensor];
        if (source->n == 0) {
            continue;
        }
        /* A bank may be that of two sensors, and each needs room for its own only. */
        const size_t room = hits->head.capacity - hits->head.size;
        if (source->n > room && slc_velo_event_count(source) > room) {
            return SLC_ERR_CAPACITY;
        }
        const slc_velo_hits_out out = next_hits(hits);
        const slc_velo_sensor_in in = words_of(p, sensor);
        const size_t n = source->n <= SLC_VELO_RANKED
                             ? p->kernels->centroids(p->geometry, &in, slc_velo_event_fraction(source),
                                                     p->work, &out)
                             : 0;
        if (n == 0) {
            slc_velo_event_retina(p->geometry, &p->event, sensor, hits);
        }
        hits->head.size += n;
    }
    return SLC_OK;
}

static uint64_t sum_pixels(const slc_velo_hits *hits)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < hits->head.size; i++) {
        sum += hits->n_pixels[i];
    }
    return sum;
}

/* The hits of the event at hand, by sensor. If words have to be sorted, those of some sensors are before any
 * of them is placed: what a processor guesses wrong there then does not wait for the sorting. */
static slc_status run_superpixels(pass *p)
{
    _Static_assert(SLC_VELO_SENSORS % SLC_VELO_AHEAD == 0, "sensors are gone through in groups");
    slc_status status = SLC_OK;
    p->unsorted = false;
    for (uint32_t first = 0; first < SLC_VELO_SENSORS && status == SLC_OK; first += SLC_VELO_AHEAD) {
        slc_velo_sensor_in sorted[SLC_VELO_AHEAD];
        const bool ahead = p->unsorted;
        for (uint32_t k = 0; k < SLC_VELO_AHEAD && ahead; k++) {
            sorted[k] = sort_ahead(p, first + k);
        }
        for (uint32_t k = 0; k < SLC_VELO_AHEAD && status == SLC_OK; k++) {
            if (p->event.sensors[first + k].n > 0) {
                status = run_sensor(p, first + k, ahead ? &sorted[k] : NULL);
            }
        }
    }
    return status == SLC_OK ? end_group(p) : status;
}

slc_status slc_velo_cluster_run_chosen(const slc_velo_geometry *geometry, const slc_batch *batch,
                                       slc_velo_banks banks, const uint8_t *cut,
                                       slc_velo_cluster_scratch *scratch, slc_velo_hits *hits,
                                       slc_velo_cluster_counts *counts, slc_faults *faults)
{
    slc_columns_reset(hits);
    if (scratch->work == NULL || hits->head.block == NULL || hits->head.event_capacity < batch->n_events) {
        return SLC_ERR_CAPACITY;
    }
    pass p = {.geometry = geometry,
              .kernels = slc_velo_cluster_kernels_of(scratch->target),
              .work = scratch->work,
              .hits = hits,
              .event = {.faults = faults,
                        .banks = banks,
                        .cut = cut,
                        .masking = scratch->masking.mask != NULL ? &scratch->masking : NULL,
                        .places = slc_lhcb_places_if_room(scratch->places, batch->n_events)}};
    uint64_t used[2] = {0, 0}; /* events of super-pixels, of clusters */
    slc_faults_reset(&p.hints);
    p.hints.of_event = faults->of_event;
    p.hints.first_event = faults->first_event;
    p.hints.n_events = faults->n_events;
    slc_velo_cluster_work_begin(p.work, geometry);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        const uint64_t before = p.work->superpixels;
        if (cut != NULL && cut[e] != 0) {
            if (counts != NULL && counts->of_event != NULL) {
                counts->of_event[e] = 0;
            }
            slc_columns_end_event(hits);
            continue;
        }
        slc_velo_event_collect(&p.event, batch, e);
        const slc_status status = p.event.retina ? run_centroids(&p) : run_superpixels(&p);
        if (status != SLC_OK) {
            return status;
        }
        used[p.event.retina] += p.event.n_words > 0;
        if (counts != NULL && counts->of_event != NULL) {
            counts->of_event[e] = (uint32_t)(p.work->superpixels - before);
        }
        slc_columns_end_event(hits);
    }
    slc_faults_merge(faults, &p.hints);
    if (counts != NULL) {
        *counts = (slc_velo_cluster_counts){.superpixels = p.work->superpixels,
                                            .isolated = p.work->isolated,
                                            .pixels = sum_pixels(hits),
                                            .superpixel_events = used[0],
                                            .retina_events = used[1],
                                            .of_event = counts->of_event};
    }
    return SLC_OK;
}

slc_status slc_velo_cluster_run_banks(const slc_velo_geometry *geometry, const slc_batch *batch,
                                      slc_velo_cluster_scratch *scratch, slc_velo_hits *hits,
                                      slc_velo_cluster_counts *counts, slc_faults *faults)
{
    return slc_velo_cluster_run_chosen(geometry, batch, SLC_VELO_BANKS_SUPERPIXELS, NULL, scratch, hits,
                                       counts, faults);
}
