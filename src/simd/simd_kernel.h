/* SPDX-License-Identifier: Apache-2.0
 *
 * What a module tells about a kernel: its name, the targets it was measured to be fastest on, and a case, its standard
 * input. The case is the one piece of code that runs a kernel for the benchmark and for tests/check_<module>.c, so that
 * what is timed is what is checked.
 *
 * A module declares an array of these in <module>_kernels.h and defines it in <module>_kernels.c:
 *
 *     extern const slc_simd_kernel slc_image_kernel_rows[];    ends with a row whose name is NULL
 *
 * bench/bench_kernels.c lists the arrays, as it alone may see all modules.
 */
#ifndef SLUICE_SIMD_KERNEL_H
#define SLUICE_SIMD_KERNEL_H

#include <sluice/simd.h>

/* The standard input of a kernel. `scratch` is scratch_bytes long, begins on a multiple of SLC_COLUMN_ALIGN, and holds
 * inputs, outputs and whatever else a call needs; a spare vector after
 * the last column belongs to it. */
typedef struct slc_simd_case {
    size_t elements;          /* of one call of run */
    double bytes_per_element; /* read and written */
    size_t scratch_bytes;
    /* Fills the scratch: the same bytes for the same seed, on every target. */
    void (*prepare)(void *scratch, uint64_t seed);
    /* One call of the kernel on a target that runs here. May be repeated after one prepare; each call does the same work
     * and leaves the same results. */
    void (*run)(void *scratch, slc_simd_target target);
    /* A number made of the results that count (slc_simd_digest), without what lies after them: the same on every target,
     * and after every call. */
    uint64_t (*digest)(const void *scratch);
} slc_simd_case;

/* A number made of some bytes and of `seed`. */
uint64_t slc_simd_digest(uint64_t seed, const void *bytes, size_t size);

typedef struct slc_simd_preference {
    slc_simd_target target;
    double ns; /* per element, as it was measured; a record for people, the order of the rows decides */
} slc_simd_preference;

enum { SLC_SIMD_PREFERENCES = 8 };

typedef struct slc_simd_kernel {
    const char *name; /* "image.threshold" */
    /* Fastest first, up to the first row with ns = 0. `auto` takes the first that runs here, and where none does, the
     * last of the library's targets that runs. */
    slc_simd_preference preference[SLC_SIMD_PREFERENCES];
    const slc_simd_case *bench;
} slc_simd_kernel;

/* The target that a choice (of slc_simd_choose) means for a kernel: itself, or for `auto` the preference. A module asks
 * once, when a context opens. */
slc_simd_target slc_simd_kernel_choice(const slc_simd_kernel *kernel, slc_simd_target choice);

/* The scratch of a case, of at least its scratch_bytes and aligned as it demands; free() gives it back. NULL without
 * memory. Its bytes are zero before prepare. */
void *slc_simd_scratch(const slc_simd_case *bench);

#endif
