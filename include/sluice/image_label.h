/* SPDX-License-Identifier: Apache-2.0
 *
 * Connected components of a dense image: labels (CCL), their features (image_analyse.h), or both from one
 * pass over the pixels. A component is a largest set of foreground pixels that are joined by steps to one of
 * 4 (edge) or 8 (edge or corner) neighbours.
 *
 * Labels are consecutive from 1, in the raster order of each component's first pixel (top row first, in a row
 * from the left); 0 is background. So every algorithm, instruction set and number of threads gives the same
 * image, bit for bit.
 *
 * Algorithms: chapter 4 of A. Hennequin's thesis (2022), and `bitrun`, which is this library's own and what
 * "auto" takes. On NVIDIA GPUs those of sections 4.3 and 4.4 with the baselines that it compares, and
 * `bittile`, again this library's own and what "auto" takes there; results are those of the processor. These
 * functions are in every build; without CUDA a labeller for a GPU cannot be opened, and says why.
 */
#ifndef SLUICE_IMAGE_LABEL_H
#define SLUICE_IMAGE_LABEL_H

#include <sluice/image.h>
#include <sluice/image_analyse.h>
#include <sluice/simd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- algorithms -------------------------------------------------------------------------------- */

/* The algorithms by number, from 0; NULL beyond the last. "flood", "rosenfeld-dt", "lsl-rle", "bitrun" … */
SLC_API const char *slc_image_algorithm_name(size_t algorithm);
/* Is it written in vectors, so that the instruction set makes a difference? */
SLC_API bool slc_image_algorithm_simd(size_t algorithm);

/* The same of GPUs: "naive", "playne", "dlp", "ha4-32", "flsl" … */
SLC_API const char *slc_image_cuda_algorithm_name(size_t algorithm);
/* Can it make a label image? Features (area, box, first pixel, sums)? At least one of them. */
SLC_API bool slc_image_cuda_algorithm_labels(size_t algorithm);
SLC_API bool slc_image_cuda_algorithm_features(size_t algorithm);

/* ---- configuration ----------------------------------------------------------------------------- */

/* Which components are kept, by the border of the image. */
typedef enum slc_image_border {
    SLC_IMAGE_BORDER_ANY = 0,  /* all */
    SLC_IMAGE_BORDER_INSIDE,   /* those without a pixel in the first or last row or column */
    SLC_IMAGE_BORDER_TOUCHING, /* those with one */
    SLC_IMAGE_BORDERS
} slc_image_border;

typedef struct slc_image_label_config {
    size_t size;           /* of this struct; set by _config_default */
    const char *algorithm; /* a name among those of the device; NULL or "auto": the fastest */
    uint32_t connectivity; /* 4 or 8 */
    double threshold;  /* pixels at or above it are foreground; not used for rows of bits. 1 for 8 bits: not
                          zero */
    uint32_t features; /* sum of SLC_IMAGE_AREA …: the columns wanted of every component; 0 is none */
    uint64_t min_area, max_area; /* components with fewer or more pixels are dropped; min_area may not be
                                    larger than max_area */
    slc_image_border border;
    /* Threads (default 1) and instruction set are of what the processor does. exec.device "cuda" or "cuda:N"
     * is a GPU (cuda.h), with algorithms of its own; "cuda:0,1" or "all" several, which share every image by
     * strips. The same GPU may be named twice: it then copies one strip while it works on the other. */
    slc_exec exec;
    /* On a GPU the most bytes of its memory to take, 0: what is free. A larger image is done by strips. */
    size_t device_memory;
} slc_image_label_config;

/* "auto", 8-connected, threshold 1, no features, nothing dropped, one thread of this processor. */
SLC_API void slc_image_label_config_default(slc_image_label_config *config, size_t size);
#define slc_image_label_config_default(config) slc_image_label_config_default(config, sizeof *(config))

/* ---- labelling --------------------------------------------------------------------------------- */

/* Holds the configuration, working memory and threads, which the first run starts that has work for them. One
 * thread at a time may use one labeller; several labellers may be at work at once. After fork() the child may
 * go on with its copy (not on a GPU), with threads of its own. */
typedef struct slc_image_labeller slc_image_labeller;

/* SLC_ERR_USAGE for a configuration that is not as told above (the text names the field), SLC_ERR_MEMORY,
 * SLC_ERR_UNSUPPORTED if there is no such GPU or the library was built without CUDA. */
SLC_API slc_status slc_image_label_open(const slc_image_label_config *config, slc_image_labeller **labeller,
                                        slc_error *error);

/* Makes room for images up to so many pixels wide and high; of several reservations, for the largest width
 * with the largest height (whoever has wide and high images opens two labellers). The memory is address space
 * for the worst image of that size, about 9 bytes a pixel and up to 31 with features; pages are used only as
 * far as images need them, but limits of the address space (ulimit -v) count it all.
 *
 * On a GPU it is one piece of memory: with `bittile` about 12 bytes a pixel for labels, 36 with area, box and
 * sums, 88 with all features, up to 123 with other algorithms; and 128 MiB at least, if they may be had, for
 * many small images at once. Where there is less, images are done by strips; SLC_ERR_MEMORY if there is
 * not enough for a single row, and then nothing is reserved. */
SLC_API slc_status slc_image_label_reserve(slc_image_labeller *labeller, size_t width, size_t height,
                                           slc_error *error);

/* NULL is allowed. */
SLC_API void slc_image_label_close(slc_image_labeller *labeller);

/* No image of that shape has more components than this. */
SLC_API size_t slc_image_label_bound(size_t width, size_t height, uint32_t connectivity);

/* What is wanted of the foreground, or of the background. Members up to `components` are set by the caller.
 */
typedef struct slc_image_labels {
    /* Where labels go: row y begins at (char *)labels + y · stride and is as wide as the image; nothing else
     * is written. It may not overlap the image, the grey image where that is used, or the other side's
     * labels. NULL: no label image is made. */
    void *labels;
    ptrdiff_t stride; /* bytes, a multiple of the label's size; may be negative */
    slc_type type;    /* SLC_TYPE_U32 or SLC_TYPE_U16 */
    /* Where features go, one row for each component in the order of the labels, appended as one event (so
     * that several images' components fit into one collection). Made for config.features with
     * slc_image_components_schema. NULL: none. */
    slc_image_components *components;
    uint32_t n_labels; /* out: how many components there are, after the filters */
} slc_image_labels;

/* Labels an image. `grey` gives the values for the grey-weighted features (SLC_IMAGE_GREY), an image of the
 * same width and height; NULL takes `image` itself. `foreground` or `background` may be NULL; both in one
 * call is the labelling of the image and of its inverse. The background is the pixels that are not
 * foreground, joined by the other connectivity (4 where the foreground has 8, and the reverse), so that no
 * background component crosses a foreground one; filters and features are the same for both.
 *
 * SLC_ERR_USAGE for an image or output that is not as told above, or larger than reserved.
 * SLC_ERR_CAPACITY if there are more labels than the type can count, or than `components` has room for:
 * n_labels then tells how many there are (UINT32_MAX where they cannot be counted), the label image and the
 * collection are as they were. (The foreground comes first: where the background does not fit, the foreground
 * is done and keeps what it has.) SLC_ERR_UNSUPPORTED if the chosen algorithm cannot do an image of that
 * size, or, on a GPU, not make what is wanted of it: some make labels or features alone. Allocates nothing.
 *
 * On a GPU pixels, grey values, labels, and the columns of components may each be memory of the host or of
 * that device (all columns the same; slc_columns_reserve makes host memory); results are the same, and in the
 * same order. Host memory that is page-locked is copied faster. The call returns when all is done. What is
 * asked for a second time is recorded as a graph of CUDA's, for which the runtime takes some memory.
 * SLC_ERR_UNSUPPORTED for grey sums of float images, which are added in raster order, and of images by strips
 * for features other than area, box, first, sums and centroid. Several GPUs take memory of the host alone. */
SLC_API slc_status slc_image_label_run(slc_image_labeller *labeller, const slc_image *image,
                                       const slc_image *grey, slc_image_labels *foreground,
                                       slc_image_labels *background, slc_error *error);

/* The foreground of n images one after the other, with the same results as n calls of slc_image_label_run;
 * each appends an event to its components. On a GPU neighbours of one width, height, type, stride and
 * distance in memory go together, which makes many small images fast. Ends with the first that fails;
 * *done (may be NULL) says how many are done. */
SLC_API slc_status slc_image_label_batch(slc_image_labeller *labeller, const slc_image *images,
                                         slc_image_labels *foreground, size_t n, size_t *done,
                                         slc_error *error);

/* ---- strips that were labelled apart ----------------------------------------------------------- */

/* An image whose rows are with several (processes, machines), as strips: number 0 at the top, those without
 * rows at the end. Each labels its strip as an image of its own, with the features SLC_IMAGE_JOINS if any are
 * wanted and without filters; what follows joins components over the borders, and numbers them as one
 * labelling of the whole does, bit for bit. Everyone calls, with what the others have sent:
 *
 *     slc_image_join_rows(last row above, first row, ...)    gives joins of its upper border; all get all
 *     slc_image_join_pieces(joins of all borders)            the same pieces everywhere; all get the rows of
 *                                                            components of all pieces (those of its labels)
 *     slc_image_join_number(...)                             map and n_labels of the strip, and numbers
 *
 * Then `before` is the sum of n_labels of the strips above; every number of `numbers` that is not 0 grows by
 * it, and becomes what it is with the one strip where it is not 0; so does map[l]. A label that is a piece is
 * then numbers[its root], any other map[l], and 0 stays 0. What is sent: a row of labels to the next strip,
 * and to all, for each border, up to `width` joins, as many pieces' rows, and numbers.
 * mpi/mpi_label.c does it. */
enum { SLC_IMAGE_JOINS = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_FIRST | SLC_IMAGE_SUMS };

/* Two labels that are one component: of the last row of a strip, and of the first row of the next. */
typedef struct slc_image_join {
    uint32_t above, below;
} slc_image_join;

/* The joins between two rows of labels, 0 being background; there is room for width + 1. Returns how many. */
SLC_API size_t slc_image_join_rows(const uint32_t *above, const uint32_t *below, size_t width,
                                   uint32_t connectivity, slc_image_join *joins);

/* A component of a strip that goes on in other strips. */
typedef struct slc_image_piece {
    uint32_t strip, label;
    uint64_t root; /* the number, from 0, of the piece that has the whole component's first pixel */
} slc_image_piece;

/* n_joins[s] joins are between strips s - 1 and s, one border after the other; n_joins[0], mostly none, go
 * round, from the last strip to strip 0. Pieces come in the order of strips, and of labels; there is room for
 * two of each join. SLC_ERR_MEMORY, and SLC_ERR_USAGE for a join of background. */
SLC_API slc_status slc_image_join_pieces(const uint64_t *n_joins, uint32_t n_strips,
                                         const slc_image_join *joins, slc_image_piece *pieces, uint64_t *n,
                                         slc_error *error);

typedef struct slc_image_join_strip {
    size_t width, height; /* of the whole image */
    uint32_t n_strips, strip;
    const uint64_t *first_row; /* of each strip, in the image */
    uint32_t n_found;          /* labels of this strip */
    const slc_image_piece *pieces;
    uint64_t n_pieces;
    /* The strip's components as they were found, and a row for each piece as it was found in its strip:
     * columns of SLC_IMAGE_JOINS, which are changed. NULL: no features and no filters are wanted. */
    slc_image_components *found, *of_pieces;
} slc_image_join_strip;

/* Adds up what pieces have, applies the filters of `config` and numbers the components whose first pixel is
 * in this strip from 1 on: map has n_found + 1 entries, of which those of dropped components and of pieces
 * are 0, and map[0]; numbers an entry for each piece, 0 but for roots in this strip that are kept. Rows of
 * those that are kept are appended to the current event of `components` (NULL: none), with the columns of
 * config->features, of which SLC_IMAGE_JOINS and the centroid can be had (SLC_ERR_UNSUPPORTED);
 * SLC_ERR_CAPACITY if there is no room. */
SLC_API slc_status slc_image_join_number(const slc_image_label_config *config,
                                         const slc_image_join_strip *strip, uint32_t *map, uint32_t *numbers,
                                         uint32_t *n_labels, slc_image_components *components,
                                         slc_error *error);

/* ---- what is on a GPU already ------------------------------------------------------------------ */

/* Images that are on the device, all of one size and type. */
typedef struct slc_image_cuda_task {
    const void
        *pixels; /* of image 0; image i is i · image_stride bytes further, its rows stride bytes apart */
    ptrdiff_t stride;
    size_t image_stride; /* not used with one image */
    slc_image_type type;
    size_t width, height, images;
    uint32_t *labels; /* as pixels; NULL: no label images. Strides are multiples of 4. */
    ptrdiff_t label_stride;
    size_t label_image_stride;
    /* Columns in the device's memory for config.features, which may be area, box, first, sums and centroid
     * here. Rows from 0 up are those of all images in turn; head.capacity says how many fit, and the rest of
     * the head is not used. NULL: none. */
    const slc_image_components *components;
    /* images + 1 numbers on the device: image i has the components from row first[i] to before first[i + 1],
     * labelled from 1. Where first[images] is more than fit into `components`, nothing else was written. */
    uint32_t *first;
} slc_image_cuda_task;

/* Bytes of working memory on the device for a task of that shape; 0 where it is too large for one task
 * (2^32 pixels, with the width rounded up to a multiple of 64). */
SLC_API size_t slc_image_cuda_work_bound(const slc_image_labeller *labeller, const slc_image_cuda_task *task);

/* Enqueues the labelling of the foreground into `stream` (a cudaStream_t of the labeller's device; NULL: the
 * default stream) and returns at once; it can be captured into a graph, but the first call on a device must
 * not be, as the runtime then loads the kernels. `work`: slc_image_cuda_work_bound bytes on the device,
 * aligned to 256. Filters (areas, border) of the configuration must not be set. The labeller's device is the
 * calling thread's afterwards. SLC_ERR_USAGE and SLC_ERR_UNSUPPORTED as slc_image_label_run, also for a
 * labeller that is not on one GPU. */
SLC_API slc_status slc_image_cuda_enqueue(slc_image_labeller *labeller, const slc_image_cuda_task *task,
                                          void *work, size_t work_bytes, void *stream, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
