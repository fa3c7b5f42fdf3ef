/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the engine of labelling on GPUs: a wish is what one launch shall make of images that are alike, a
 * plan is where everything for it lies in one block of the device's memory, and a lane is one device with its
 * stream and that block. All memory that a lane takes on its device is the one block, so that a limit on it
 * is easily kept.
 */
#ifndef SLUICE_IMAGE_CUDA_PLAN_H
#define SLUICE_IMAGE_CUDA_PLAN_H

#include "cuda/cuda_rows.h"
#include "image/cuda/image_cuda_engine.h"
#include "image/cuda/image_cuda_job.h"
#include "image/image_memory.h"

/* ---- plans --------------------------------------------------------------------------------------------- */

/* Images on the device: those of the caller's, or (at is NULL) copies in the lane's block. */
typedef struct slc_image_cuda_pixels {
    const void *at;
    ptrdiff_t stride;
    size_t image_stride;
    slc_image_type type;
    uint32_t zero; /* so that there are no bytes without a name, which could differ */
} slc_image_cuda_pixels;

/* Compared as bytes to find a graph: set to 0 as bytes before it is filled in. */
typedef struct slc_image_cuda_wish {
    size_t width, height, images;
    slc_image_cuda_pixels pixels, grey; /* grey: with SLC_IMAGE_GREY */
    uint32_t connectivity, features;    /* features: the columns wanted, without the shape; needed ones too */
    bool inverse, filters, raw;
    bool has_columns; /* columns are made, whether any is wanted or not */
    bool has_labels, narrow;
    bool shares_pixels; /* the grey image is the image */
    /* The caller's memory to make them in, NULL: the lane's block. */
    uint32_t *labels;
    ptrdiff_t label_stride;
    size_t label_image_stride;
    slc_image_components columns; /* only pointers: columns that are NULL are made in the block, if at all */
    uint32_t *first;
    size_t rows;  /* room of columns in the block */
    size_t table; /* room of a table of 32-bit numbers, which is nothing's but who wants it */
    uint32_t limit, multiprocessors;
} slc_image_cuda_wish;

typedef enum slc_image_cuda_pack {
    SLC_IMAGE_CUDA_PACK_NONE,
    SLC_IMAGE_CUDA_PACK_BITS,
    SLC_IMAGE_CUDA_PACK_BYTES
} slc_image_cuda_pack;

typedef struct slc_image_cuda_plan {
    slc_image_cuda_job job;
    slc_image_cuda_task pixels, grey; /* strides are those of the copies where there are copies */
    void *copy, *grey_copy;           /* where copies go; NULL: the caller's pixels are read */
    slc_image_cuda_pack pack;
    void *packed;
    slc_image_components columns; /* all that are made */
    uint16_t *narrow;             /* label images without gaps */
    uint32_t *table;
    size_t bytes; /* of the block; SIZE_MAX: too large for one launch */
} slc_image_cuda_plan;

/* Lays everything out from `block` on (NULL: only counts), which is aligned to 256 bytes. */
void slc_image_cuda_plan_make(const slc_image_cuda_algorithm *algorithm, const slc_image_label_config *config,
                              const slc_image_cuda_wish *wish, void *block, slc_image_cuda_plan *plan);
/* All kernels of a plan. */
slc_status slc_image_cuda_plan_enqueue(const slc_image_cuda_algorithm *algorithm,
                                       const slc_image_label_config *config, const slc_image_cuda_wish *wish,
                                       slc_image_cuda_plan *plan, struct CUstream_st *stream,
                                       slc_error *error);
/* SLC_ERR_UNSUPPORTED where the algorithm cannot make what is wanted. */
slc_status slc_image_cuda_plan_check(const slc_image_cuda_algorithm *algorithm,
                                     const slc_image_cuda_wish *wish, slc_error *error);

/* ---- lanes --------------------------------------------------------------------------------------------- */

enum { SLC_IMAGE_CUDA_GRAPHS = 8, SLC_IMAGE_CUDA_IMAGES = 4096 }; /* images: the most in one launch */

typedef struct slc_image_cuda_recording {
    slc_image_cuda_wish wish;
    slc_cuda_graph graph;
    bool seen;
} slc_image_cuda_recording;

typedef struct slc_image_cuda_lane {
    uint32_t device;
    uint32_t shares; /* lanes on this device */
    slc_cuda_stream *stream;
    slc_cuda_rows *copies;
    slc_cuda_memory block;
    slc_cuda_memory first_host; /* page-locked: first[] of the last launch */
    slc_image_cuda_recording recordings[SLC_IMAGE_CUDA_GRAPHS];
    uint32_t next_recording;
    slc_cuda_event *began, *ended; /* of measurements */
    slc_cuda_memory flush;
    /* The work at hand, of the lane's own thread. */
    slc_image_cuda_wish wish;
    slc_image_cuda_plan plan;
    const slc_image_job *jobs;
    size_t images;
    slc_error error;
    slc_status status;
    const void *sent, *sent_grey; /* copies of pixels that are still in the block */
} slc_image_cuda_lane;

/* Launches a plan that lies in the lane's block, by a graph from the second time on, and begins the copy of
 * first[] to first_host, if the wish has none of its own. */
slc_status slc_image_cuda_lane_launch(const slc_image_cuda *engine, slc_image_cuda_lane *lane,
                                      const slc_image_cuda_wish *wish, slc_image_cuda_plan *plan,
                                      slc_error *error);
void slc_image_cuda_lane_forget(slc_image_cuda_lane *lane); /* graphs, when the block moves */

/* ---- the engine ---------------------------------------------------------------------------------------- */

/* Working memory of the host for images by strips (image_cuda_strips.c). */
typedef struct slc_image_cuda_host {
    slc_image_memory labels, narrow;    /* label images where they cannot be made in the output */
    slc_image_memory edges;             /* of each strip the labels of its first and last row */
    slc_image_memory counts;            /* of each strip how many components */
    slc_image_memory table;             /* of each label of each strip: its parent, then its final label */
    slc_image_memory columns;           /* of each label of each strip */
    slc_image_memory spare;             /* columns that the shape is made from (image_cuda_run.c) */
    size_t strips, entries, spare_rows; /* how many there is room for */
} slc_image_cuda_host;

struct slc_image_cuda {
    slc_image_label_config config;
    const slc_image_cuda_algorithm *algorithm;
    size_t width, height; /* reserved */
    slc_image_cuda_lane *lanes;
    uint32_t n_lanes;
    slc_team *team; /* a thread for each lane */
    slc_image_cuda_host host;
};

/* Whose memory a job's arguments are. */
typedef struct slc_image_cuda_places {
    bool pixels, grey, labels, columns; /* on the device */
} slc_image_cuda_places;

/* SLC_ERR_USAGE where something is on another device than the lane's, or columns are here and there;
 * SLC_ERR_UNSUPPORTED for memory of one device where there are several lanes. */
slc_status slc_image_cuda_places_of(const slc_image_cuda *engine, const slc_image_job *job,
                                    slc_image_cuda_places *places, slc_error *error);
/* What pixels a wish is about, and what is made of them; no outputs, limit or rows. */
void slc_image_cuda_wish_begin(const slc_image_cuda *engine, const slc_image_job *job,
                               const slc_image_cuda_places *places, slc_image_cuda_wish *wish);
/* Ends a wish: the limit, and rows for as many components, or as there can be if those are fewer. */
void slc_image_cuda_wish_end(slc_image_cuda_wish *wish, uint64_t limit);
/* Do the job's features need more than area, box, first, sums and centroid? */
bool slc_image_cuda_wants_more(const slc_image_job *job);
/* Begins the copies of a plan's pixels to the device; the jobs' images are evenly spaced. */
slc_status slc_image_cuda_send(slc_image_cuda_lane *lane, const slc_image_cuda_plan *plan,
                               const slc_image_job *jobs, slc_error *error);
/* Columns of host memory that are made one behind the other; returns the bytes (memory NULL: only counts). */
size_t slc_image_cuda_lay_host(uint32_t features, size_t rows, void *memory,
                               slc_image_components *components);

/* ---- strips -------------------------------------------------------------------------------------------- */

/* The most rows of a strip that `room` bytes of a lane are enough for; 0: not even for one. */
size_t slc_image_cuda_strips_height(const slc_image_cuda *engine, const slc_image_job *job,
                                    const slc_image_cuda_places *places, size_t room);
/* Memory of the host for strips of that height. */
slc_status slc_image_cuda_strips_reserve(slc_image_cuda *engine, size_t width, size_t height,
                                         size_t strip_height, slc_error *error);
/* One image by strips. */
slc_status slc_image_cuda_strips_run(slc_image_cuda *engine, const slc_image_job *job,
                                     const slc_image_cuda_places *places, slc_error *error);

#endif
