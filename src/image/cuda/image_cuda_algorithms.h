/* SPDX-License-Identifier: Apache-2.0
 *
 * The algorithms of labelling on a GPU, the library's own first, then from the newest of the thesis back to
 * the simplest: X(function, name, what it can, text). The processor's side has their names and texts in every
 * build (image_cuda.c), the engine has their functions (image_cuda_engine.c).
 */
#ifndef SLUICE_IMAGE_CUDA_ALGORITHMS_H
#define SLUICE_IMAGE_CUDA_ALGORITHMS_H

enum {
    SLC_IMAGE_CUDA_LABELS = 1,
    SLC_IMAGE_CUDA_FEATURES = 2,
    SLC_IMAGE_CUDA_BOTH = SLC_IMAGE_CUDA_LABELS | SLC_IMAGE_CUDA_FEATURES,
    /* It can read rows of bits, a threshold that is not 1, the inverse. One that cannot gets bytes whose
     * foreground is not 0. */
    SLC_IMAGE_CUDA_ANY_PIXELS = 4
};

#define SLC_IMAGE_CUDA_ALGORITHMS(X)                                                                         \
    X(bittile, "bittile", SLC_IMAGE_CUDA_BOTH | SLC_IMAGE_CUDA_ANY_PIXELS,                                   \
      "tiles of bit rows, a warp each: runs united by bit operations, then tiles; this library's own")       \
    X(flsl_cd, "flsl-cd", SLC_IMAGE_CUDA_FEATURES | SLC_IMAGE_CUDA_ANY_PIXELS,                               \
      "full segments with conflict detection (FLSL + CD), Hennequin's thesis, 2022, algorithm 16")           \
    X(flsl_cd_reduce, "flsl-cd-reduce", SLC_IMAGE_CUDA_FEATURES | SLC_IMAGE_CUDA_ANY_PIXELS,                 \
      "the same with the warp-wide reductions of newer GPUs (__reduce_*_sync)")                              \
    X(flsl_otf, "flsl-otf", SLC_IMAGE_CUDA_FEATURES | SLC_IMAGE_CUDA_ANY_PIXELS,                             \
      "full segments with features merged on the fly (FLSL + OTF), Hennequin's thesis, 2022, algorithm 15")  \
    X(flsl, "flsl", SLC_IMAGE_CUDA_BOTH | SLC_IMAGE_CUDA_ANY_PIXELS,                                         \
      "full segments (FLSL): rows compressed to runs by warps, a thread each; Hennequin's thesis, 2022")     \
    X(ha_cd, "ha-cd", SLC_IMAGE_CUDA_FEATURES,                                                               \
      "HA with conflict detection, Hennequin's thesis, 2022, section 4.4")                                   \
    X(ha_otf, "ha-otf", SLC_IMAGE_CUDA_FEATURES,                                                             \
      "HA with features merged on the fly, Hennequin's thesis, 2022, section 4.4")                           \
    X(ha4_64, "ha4-64", SLC_IMAGE_CUDA_BOTH,                                                                 \
      "HA4 with 64 pixels a warp, pixels x and x + 1 a thread; Hennequin et al., DASIP 2018")                \
    X(ha4_64_load, "ha4-64-load", SLC_IMAGE_CUDA_BOTH,                                                       \
      "the same with pixels x and x + 32 a thread: two loads and two votes")                                 \
    X(ha4_32, "ha4-32", SLC_IMAGE_CUDA_BOTH,                                                                 \
      "HA4, warps on 32 pixels of a row, bits by votes; Hennequin et al., DASIP 2018")                       \
    X(dlp, "dlp", SLC_IMAGE_CUDA_LABELS,                                                                     \
      "distributed labelling with blocks in shared memory, joined at their borders; Cabaret et al., 2017")   \
    X(playne, "playne", SLC_IMAGE_CUDA_LABELS,                                                               \
      "equivalence without iteration, blocks and their borders; Komura 2015, Playne and Hawick 2018")        \
    X(naive, "naive", SLC_IMAGE_CUDA_BOTH,                                                                   \
      "one thread a pixel, unions by atomic operations; features by atomic additions to the root")

#endif
