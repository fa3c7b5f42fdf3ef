/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: words to hits and hits to tracks on a GPU. velo_chain_device.c packs what goes in, does
 * on the processor what the device leaves to it, and puts both together; it calls by way of the table.
 */
#ifndef SLUICE_VELO_CHAIN_CUDA_H
#define SLUICE_VELO_CHAIN_CUDA_H

#include "velo/cuda/velo_cuda_job.h"
#include <sluice/velo_chain.h>

typedef struct slc_velo_cuda slc_velo_cuda;

/* What goes in, in page-locked memory of the engine's. Words: those of sensor s of event e begin in `source`
 * at where[208 e + s], with their number before them, and there are as many as from sensor_begin[208 e + s]
 * to sensor_begin[208 e + s + 1]; where it is SLC_VELO_CUDA_NOWHERE, there are none. `order` are the events,
 * those with much work first. Or hits, event behind event, by hit_offset. */
typedef struct slc_velo_cuda_in {
    uint32_t n_events;
    uint32_t *order;
    uint32_t *source, *where, *sensor_begin;
    uint8_t *kind; /* slc_velo_cuda_kind */
    float *x, *y, *z;
    uint8_t *module;
    uint32_t *hit_offset, *n_pixels;
} slc_velo_cuda_in;

/* Room of `source` for so many words: beside them their numbers, and a part that is something else. */
enum { SLC_VELO_CUDA_SPARE = 4 };
static inline size_t slc_velo_cuda_source_room(size_t words, uint32_t events)
{
    return words + words / SLC_VELO_CUDA_SPARE + (size_t)events * SLC_VELO_SENSORS + 64;
}

typedef struct slc_velo_cuda_config {
    const slc_velo_track_config *track;
    const slc_velo_fit_config *fit;
    const slc_velo_vertex_config *vertex;
    uint32_t wanted;                                   /* what comes back: SLC_VELO_WANT_… */
    const struct slc_velo_sorted_selection *selection; /* NULL: nothing is decided */
    /* With so many events on a multiprocessor, or fewer, several warps work on each; 0: never. */
    uint32_t few_events;
} slc_velo_cuda_config;

/* What comes out, in memory of the engine's until the next batch begins: what was wanted. An event with flags
 * is the processor's: with SLC_VELO_CUDA_WORDS it has no hits here, with SLC_VELO_CUDA_CROWDED hits and no
 * tracks, with SLC_VELO_CUDA_FIT all but vertices, none of which is to be used; its decisions are none. */
typedef struct slc_velo_cuda_out {
    bool at_once; /* columns came with what is of events: no more rows than were expected */
    const uint32_t *flags, *hit_offset, *track_offset, *track_hit_offset, *primary_offset;
    const unsigned long long *sums; /* SLC_VELO_CUDA_ISOLATED_AT … */
    const float *x, *y, *z;         /* of words alone, as the next three */
    const uint32_t *channel, *n_pixels;
    const uint8_t *module;
    const uint32_t *hit_begin, *track_n, *hit;
    const float *scatter;
    slc_velo_cuda_states beam, end;
    const float *chi2;
    const uint8_t *backward;
    const float *primaries; /* rows of SLC_VELO_CUDA_PRIMARY numbers, the columns of slc_velo_primaries */
    const slc_velo_cuda_decision *decided; /* of events, with a selection */
} slc_velo_cuda_out;

slc_status slc_velo_cuda_open(const slc_velo_geometry *geometry, uint32_t device, slc_velo_cuda **engine,
                              slc_error *error);
void slc_velo_cuda_close(slc_velo_cuda *engine); /* NULL is allowed */
/* Makes room for a batch of so many events with so many words, or (words: false) hits. */
slc_status slc_velo_cuda_reserve(slc_velo_cuda *engine, uint32_t events, size_t rows, bool words,
                                 slc_velo_cuda_in *in, slc_error *error);
/* Begins to send n words of `source`, those from `at` on, which are at `from`: there, or elsewhere in
 * page-locked memory, and stay as they are until the batch has ended. */
slc_status slc_velo_cuda_send(slc_velo_cuda *engine, size_t at, const void *from, size_t n, slc_error *error);
/* Whether memory is page-locked. */
bool slc_velo_cuda_is_locked(const void *memory);
/* Begins a batch: `in` stays as it is until _end, which waits. One is on its way at a time; one that is
 * begun, and nobody wants any more, is ended as well. */
slc_status slc_velo_cuda_begin(slc_velo_cuda *engine, const slc_velo_cuda_config *config,
                               const slc_velo_cuda_in *in, bool words, slc_error *error);
slc_status slc_velo_cuda_end(slc_velo_cuda *engine, slc_velo_cuda_out *out, slc_error *error);

/* ---- for measurements ---- */

typedef enum slc_velo_cuda_part {
    SLC_VELO_CUDA_PART_CLUSTERS = 0,
    SLC_VELO_CUDA_PART_LAYERS,
    SLC_VELO_CUDA_PART_FIRST,
    SLC_VELO_CUDA_PART_PICK_UP,
    SLC_VELO_CUDA_PART_SECOND,
    SLC_VELO_CUDA_PART_FINISH,
    SLC_VELO_CUDA_PART_FIT,
    SLC_VELO_CUDA_PART_VERTICES,
    SLC_VELO_CUDA_PART_DECISIONS,
    SLC_VELO_CUDA_PARTS
} slc_velo_cuda_part;
/* The kernels of the last run once more, on what lies on the device: seconds of each part by its clock. */
slc_status slc_velo_cuda_again(slc_velo_cuda *engine, double seconds[SLC_VELO_CUDA_PARTS], slc_error *error);

/* ---- the table (cuda_engines.h) ---- */

struct slc_velo_cuda_calls {
    __typeof__(slc_velo_cuda_open) *open;
    __typeof__(slc_velo_cuda_close) *close;
    __typeof__(slc_velo_cuda_reserve) *reserve;
    __typeof__(slc_velo_cuda_send) *send;
    __typeof__(slc_velo_cuda_is_locked) *is_locked;
    __typeof__(slc_velo_cuda_begin) *begin;
    __typeof__(slc_velo_cuda_end) *end;
    __typeof__(slc_velo_cuda_again) *again;
};
extern const struct slc_velo_cuda_calls slc_velo_cuda_calls;

#endif
