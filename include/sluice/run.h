/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run comes to: its report; and the kernels that do the work, which target each of them takes and how
 * fast it is.
 */
#ifndef SLUICE_RUN_H
#define SLUICE_RUN_H

#include <sluice/simd.h>
#include <sluice/velo_check.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An event to be drawn: number `event` of the collections, which stay the caller's. Of the result are needed
 * hits, tracks, track_hits, beam and primaries; truth (with its matches) where the event has particles. */
typedef struct slc_run_display {
    uint64_t number; /* what it is called: its number in the run, from 0 */
    uint32_t event;
    const slc_velo_result *result;
    const slc_velo_truth *truth;     /* or NULL */
    const slc_velo_matches *matches; /* one row per track; NULL only without truth */
} slc_run_display;

/* A part of the time. */
typedef struct slc_run_stage {
    const char *name;
    double seconds;
} slc_run_stage;

/* What the report tells beside the check's totals. */
typedef struct slc_run_summary {
    const char *title;   /* e.g. the names of the inputs */
    const char *command; /* the command line that made it */
    uint64_t events, lost_events;
    uint64_t superpixels, isolated, pixels, hits, tracks, primaries;
    double seconds; /* in the chain, without reading and checking */
    bool has_truth;
    slc_faults faults;
    const char *configuration; /* of the track search; NULL: not told */
    const char *beam; /* the beam line and where it came from; NULL: not told. Pictures are about that
                         of the check's configuration. */
    const slc_run_stage *stages; /* summed over the threads; NULL: not told */
    size_t n_stages;
    uint64_t staged_events;         /* that these times are of */
    const slc_run_display *display; /* NULL: no event is drawn */
} slc_run_summary;

/* Writes a self-contained HTML page (inline SVG, no script, nothing loaded from elsewhere; well-formed XML
 * too): an event, the physics tables with uncertainties, efficiencies, impact parameters, vertices,
 * residuals, pulls, spectra, times, faults. Some 40 bytes for each hit of the event. SLC_ERR_IO where the
 * file cannot be written, SLC_ERR_MEMORY where there is none to sort out the event's truth. */
SLC_API slc_status slc_run_report_html(const char *path, const slc_run_summary *summary,
                                       const slc_velo_check *check, slc_error *error);

/* ---- kernels ----------------------------------------------------------------------------------- */

/* All kernels of the library by number, from 0; NULL beyond the last. "image.threshold". */
SLC_API const char *slc_run_kernel_name(size_t kernel);

/* The target that `choice` (a result of slc_simd_choose) means for a kernel: itself, or for SLC_SIMD_AUTO the
 * first of the kernel's measured preferences that runs here. The kernel must exist. */
SLC_API slc_simd_target slc_run_kernel_target(size_t kernel, slc_simd_target choice);

/* A measurement. Times are nanoseconds per call, of the fastest and of the median sample. */
typedef struct slc_run_timing {
    size_t elements;          /* of one call */
    double bytes_per_element; /* read and written */
    double minimum_ns, median_ns;
    uint32_t calls; /* in one sample: as many as take longer than 20 us */
} slc_run_timing;

/* Measures a kernel on a target, on its standard input: a warm-up, then `repetitions` samples. SLC_ERR_USAGE
 * for a kernel that does not exist, a target that does not run here (SLC_SIMD_AUTO included), or no
 * repetitions; SLC_ERR_MEMORY. Allocates and frees its input; may run on several threads at once, which then
 * disturb each other. */
SLC_API slc_status slc_run_kernel_bench(size_t kernel, slc_simd_target target, uint32_t repetitions,
                                        slc_run_timing *timing, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
