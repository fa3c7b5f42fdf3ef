/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside bench/: a figure (bench.h) into a picture of several panels.
 */
#ifndef SLUICE_BENCH_FIGURE_H
#define SLUICE_BENCH_FIGURE_H

#include "bench/bench.h"
#include "report/report_svg.h"

typedef struct slc_bench_drawing {
    const slc_bench_figure *figure;
    size_t x_column, y_column, ring_column, only;
    int32_t *panel, *curve; /* of each row, -1: not drawn */
    size_t n_panels;
    double *x, *y; /* room for all rows and one more */
} slc_bench_drawing;

/* SLC_ERR_MEMORY; closed in either case. */
slc_status slc_bench_drawing_open(slc_bench_drawing *drawing, const slc_bench_figure *figure);
void slc_bench_drawing_close(slc_bench_drawing *drawing);
void slc_bench_drawing_draw(slc_bench_drawing *drawing, slc_panels *picture);

#endif
