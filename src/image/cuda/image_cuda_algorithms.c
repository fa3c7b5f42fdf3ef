/* SPDX-License-Identifier: Apache-2.0
 *
 * The algorithms of labelling on a GPU, the library's own first, then from the newest of the thesis back to
 * the simplest. A build without CUDA has the names and texts, but not what they name.
 */
#include "image/cuda/image_cuda_job.h"

#ifdef SLUICE_IMAGE_CUDA
#define WORK(name) .work_bound = slc_image_cuda_##name##_bound, .launch = slc_image_cuda_##name##_launch
#else
#define WORK(name) .work_bound = NULL, .launch = NULL
#endif

const slc_image_cuda_algorithm slc_image_cuda_algorithms[] = {
    {.name = "bittile",
     .text = "tiles of bit rows, a warp each: runs united by bit operations, then tiles; this library's own",
     .labels = true,
     .features = true,
     .any_pixels = true,
     WORK(bittile)},
    {.name = "flsl-cd",
     .text = "full segments with conflict detection (FLSL + CD), Hennequin's thesis, 2022, algorithm 16",
     .features = true,
     .any_pixels = true,
     WORK(flsl_cd)},
    {.name = "flsl-cd-reduce",
     .text = "the same with the warp-wide reductions of newer GPUs (__reduce_*_sync)",
     .features = true,
     .any_pixels = true,
     WORK(flsl_cd_reduce)},
    {.name = "flsl-otf",
     .text = "full segments with features merged on the fly (FLSL + OTF), Hennequin's thesis, 2022, "
             "algorithm 15",
     .features = true,
     .any_pixels = true,
     WORK(flsl_otf)},
    {.name = "flsl",
     .text =
         "full segments (FLSL): rows compressed to runs by warps, a thread each; Hennequin's thesis, 2022",
     .labels = true,
     .features = true,
     .any_pixels = true,
     WORK(flsl)},
    {.name = "ha-cd",
     .text = "HA with conflict detection, Hennequin's thesis, 2022, section 4.4",
     .features = true,
     WORK(ha_cd)},
    {.name = "ha-otf",
     .text = "HA with features merged on the fly, Hennequin's thesis, 2022, section 4.4",
     .features = true,
     WORK(ha_otf)},
    {.name = "ha4-64",
     .text = "HA4 with 64 pixels a warp, pixels x and x + 1 a thread; Hennequin et al., DASIP 2018",
     .labels = true,
     .features = true,
     WORK(ha4_64)},
    {.name = "ha4-64-load",
     .text = "the same with pixels x and x + 32 a thread: two loads and two votes",
     .labels = true,
     .features = true,
     WORK(ha4_64_load)},
    {.name = "ha4-32",
     .text = "HA4, warps on 32 pixels of a row, bits by votes; Hennequin et al., DASIP 2018",
     .labels = true,
     .features = true,
     WORK(ha4_32)},
    {.name = "dlp",
     .text =
         "distributed labelling with blocks in shared memory, joined at their borders; Cabaret et al., 2017",
     .labels = true,
     WORK(dlp)},
    {.name = "playne",
     .text = "equivalence without iteration, blocks and their borders; Komura 2015, Playne and Hawick 2018",
     .labels = true,
     WORK(playne)},
    {.name = "naive",
     .text = "one thread a pixel, unions by atomic operations; features by atomic additions to the root",
     .labels = true,
     .features = true,
     WORK(naive)},
    {.name = NULL},
};

/* The row of a number, or the last, which is empty. */
static const slc_image_cuda_algorithm *row_of(size_t algorithm)
{
    const size_t n = sizeof slc_image_cuda_algorithms / sizeof *slc_image_cuda_algorithms;
    return &slc_image_cuda_algorithms[algorithm < n ? algorithm : n - 1];
}

const char *slc_image_cuda_algorithm_name(size_t algorithm)
{
    return row_of(algorithm)->name;
}

const char *slc_image_cuda_algorithm_text(size_t algorithm)
{
    return row_of(algorithm)->text;
}

bool slc_image_cuda_algorithm_labels(size_t algorithm)
{
    return row_of(algorithm)->labels;
}

bool slc_image_cuda_algorithm_features(size_t algorithm)
{
    return row_of(algorithm)->features;
}
