/* SPDX-License-Identifier: Apache-2.0
 *
 * What `sluice bench velo` prints: a table for each thing measured, after the figures and tables of chapter 5
 * of A. Hennequin's thesis (2022), and all of it as CSV.
 */
#include "cmd_bench_velo.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const stage_names[SLC_VELO_STAGES] = {"cluster", "track", "fit", "vertex"};

/* The categories of the thesis' tables, and long tracks. */
static const slc_velo_category shown[] = {SLC_VELO_CATEGORY_VELO, SLC_VELO_CATEGORY_LONG,
                                          SLC_VELO_CATEGORY_FROM_B, SLC_VELO_CATEGORY_FROM_D,
                                          SLC_VELO_CATEGORY_STRANGE};
enum { N_SHOWN = sizeof shown / sizeof *shown };

static double total_of(const slc_bench_velo_row *row)
{
    double total = 0;
    for (int s = 0; s < SLC_VELO_STAGES; s++) {
        total += row->stage[s].median;
    }
    return total;
}

static double hits_of_event(const slc_bench_velo_row *row)
{
    return (double)row->hits / (double)row->events;
}

/* The first row of a kind, or NULL. */
static const slc_bench_velo_row *first_of(const slc_bench_velo_rows *rows, slc_bench_velo_what what)
{
    for (size_t i = 0; i < rows->n; i++) {
        if (rows->rows[i].what == what) {
            return &rows->rows[i];
        }
    }
    return NULL;
}

/* N, which the baselines do not have. */
static void print_candidates(const slc_bench_velo_row *row)
{
    if (strncmp(row->name, "pair", 4) == 0 || strcmp(row->name, "triplet") == 0) {
        (void)printf("   - ");
    } else {
        (void)printf(" %3" PRIu32 " ", row->candidates);
    }
}

/* ---- throughput -------------------------------------------------------------------------------- */

static void print_throughput(const slc_bench_velo_rows *rows, slc_bench_velo_what what)
{
    static const char *const titles[] = {
        [SLC_BENCH_VELO_THREADS] = "Throughput against threads",
        [SLC_BENCH_VELO_TARGETS] = "Throughput against instruction sets and threads",
        [SLC_BENCH_VELO_CANDIDATES] = "Throughput against N, the pairs that a seed tries",
        [SLC_BENCH_VELO_ALGORITHMS] = "Throughput of the algorithms",
    };
    const slc_bench_velo_row *first = first_of(rows, what);
    if (first == NULL) {
        return;
    }
    (void)printf("\n%s, events/s: medians of %" PRIu32 " (fastest)\n", titles[what], rows->repetitions);
    (void)printf("%-10s %-12s %7s %3s  %19s %19s %19s %9s\n", "algorithm", "target", "threads", "N",
                 "to tracks", "to fitted tracks", "to vertices", "relative");
    for (const slc_bench_velo_row *row = first; row < rows->rows + rows->n && row->what == what; row++) {
        (void)printf("%-10s %-12s %7" PRIu32, row->name, slc_simd_name(row->target), row->threads);
        print_candidates(row);
        for (int u = 0; u < SLC_BENCH_VELO_UNTILS; u++) {
            (void)printf(" %9.0f (%7.0f)", 1 / row->until[u].median, 1 / row->until[u].minimum);
        }
        (void)printf(" %9.2f\n",
                     first->until[SLC_BENCH_VELO_FITTED].minimum / row->until[SLC_BENCH_VELO_FITTED].minimum);
    }
    (void)printf("(relative: to the first row, fitted tracks, fastest)\n");
}

static void print_stages(const slc_bench_velo_rows *rows)
{
    const slc_bench_velo_row *row = first_of(rows, SLC_BENCH_VELO_STAGES);
    if (row == NULL) {
        return;
    }
    (void)printf("\nStages, one thread, %.0f hits an event, medians of %" PRIu32 " (core at %.2f GHz)\n",
                 hits_of_event(row), rows->repetitions, 1e-9 * row->hertz);
    (void)printf("%-10s %-14s", "algorithm", "");
    for (int s = 0; s < SLC_VELO_STAGES; s++) {
        (void)printf(" %9s", stage_names[s]);
    }
    (void)printf(" %9s\n", "all");
    for (; row < rows->rows + rows->n && row->what == SLC_BENCH_VELO_STAGES; row++) {
        (void)printf("%-10s %-14s", row->name, "us an event");
        for (int s = 0; s < SLC_VELO_STAGES; s++) {
            (void)printf(" %9.2f", 1e6 * row->stage[s].median);
        }
        (void)printf(" %9.2f\n%-10s %-14s", 1e6 * total_of(row), "", "cycles a hit");
        const double cycles = row->hits > 0 ? row->hertz / hits_of_event(row) : 0;
        for (int s = 0; s < SLC_VELO_STAGES; s++) {
            (void)printf(" %9.1f", cycles * row->stage[s].median);
        }
        (void)printf(" %9.1f\n", cycles * total_of(row));
    }
}

/* ---- physics ----------------------------------------------------------------------------------- */

static void print_fraction(uint64_t part, uint64_t whole)
{
    const slc_fraction f = slc_fraction_of(part, whole);
    if (whole == 0) {
        (void)printf(" %14s", "-");
    } else {
        (void)printf(" %6.2f ± %5.2f", 100 * f.value, 100 * f.sigma);
    }
}

static void print_mean(double sum, uint64_t n)
{
    if (n == 0) {
        (void)printf(" %14s", "-");
    } else {
        (void)printf(" %14.2f", 100 * sum / (double)n);
    }
}

/* The columns of tables 5.1 to 5.3. */
typedef enum table { EFFICIENCY = 0, CLONES, ALL_HITS, FIRST_HITS, LAST_HITS, TABLES } table;

static void print_cell(const slc_velo_category_counts *c, table which)
{
    switch (which) {
    case EFFICIENCY:
        print_fraction(c->found, c->reconstructible);
        break;
    case CLONES:
        print_fraction(c->clones, c->matched);
        break;
    case ALL_HITS:
        print_mean(c->hit_efficiency_sum, c->matched);
        break;
    case FIRST_HITS:
        print_mean(c->first_hits_sum, c->matched);
        break;
    default:
        print_mean(c->last_hits_sum, c->matched);
        break;
    }
}

static void print_physics(const slc_bench_velo_rows *rows, slc_bench_velo_what what, table which)
{
    static const char *const titles[TABLES] = {
        "Efficiencies (%), 2 < eta < 5, no electrons", "Clones (%), 2 < eta < 5, no electrons",
        "Efficiencies of all hits (%)", "Efficiencies of the first three hits (%)",
        "Efficiencies of the last three hits (%)"};
    const slc_bench_velo_row *first = first_of(rows, what);
    if (first == NULL || !first->checked) {
        return;
    }
    (void)printf("\n%s\n%-10s %3s ", titles[which], "algorithm", "N");
    for (int c = 0; c < N_SHOWN; c++) {
        (void)printf(" %14s", slc_velo_category_name(shown[c], false));
    }
    (void)printf("%s\n", which == EFFICIENCY ? "         ghosts" : "");
    for (const slc_bench_velo_row *row = first; row < rows->rows + rows->n && row->what == what; row++) {
        (void)printf("%-10s", row->name);
        print_candidates(row);
        for (int c = 0; c < N_SHOWN; c++) {
            print_cell(&row->counts[shown[c]], which);
        }
        if (which == EFFICIENCY) {
            print_fraction(row->ghosts, row->checked_tracks);
        }
        (void)printf("\n");
    }
}

/* ---- the law ----------------------------------------------------------------------------------- */

static void print_scaling(const slc_bench_velo_rows *rows)
{
    const slc_bench_velo_row *row = first_of(rows, SLC_BENCH_VELO_SCALING);
    slc_bench_velo_law track, all;
    if (row == NULL) {
        return;
    }
    if (!slc_bench_velo_fit_law(rows->rows, rows->n, row->name, SLC_VELO_STAGES, &all)) {
        (void)printf("\nCost against hits: this needs three events or more, of different sizes\n");
        return;
    }
    (void)printf("\nCost against hits, one thread: %zu events of %" PRIu64 " to %" PRIu64
                 " hits, cost = f * hits^k by least squares\n",
                 all.n, all.fewest, all.most);
    (void)printf("%-10s %18s %12s %18s %12s\n", "algorithm", "k of track search", "f [ns]", "k of all stages",
                 "f [ns]");
    const uint64_t event = row->event;
    for (; row < rows->rows + rows->n && row->what == SLC_BENCH_VELO_SCALING && row->event == event; row++) {
        if (slc_bench_velo_fit_law(rows->rows, rows->n, row->name, SLC_VELO_STAGE_TRACK, &track) &&
            slc_bench_velo_fit_law(rows->rows, rows->n, row->name, SLC_VELO_STAGES, &all)) {
            (void)printf("%-10s %10.3f ± %5.3f %12.4g %10.3f ± %5.3f %12.4g\n", row->name, track.exponent,
                         track.sigma, 1e9 * track.factor, all.exponent, all.sigma, 1e9 * all.factor);
        }
    }
}

void slc_bench_velo_print(const slc_bench_velo_rows *rows)
{
    if (rows->n == 0) {
        return; /* memory alone was asked for */
    }
    const slc_bench_velo_row *row = &rows->rows[0];
    if (row->what != SLC_BENCH_VELO_SCALING) {
        (void)printf("%" PRIu64 " events, %.0f hits, %.0f tracks and %.2f vertices an event (%s)\n",
                     row->events, hits_of_event(row), (double)row->tracks / (double)row->events,
                     (double)row->vertices / (double)row->events, row->name);
    }
    print_throughput(rows, SLC_BENCH_VELO_THREADS);
    print_throughput(rows, SLC_BENCH_VELO_TARGETS);
    print_throughput(rows, SLC_BENCH_VELO_CANDIDATES);
    print_physics(rows, SLC_BENCH_VELO_CANDIDATES, EFFICIENCY);
    print_throughput(rows, SLC_BENCH_VELO_ALGORITHMS);
    for (int which = 0; which < TABLES; which++) {
        print_physics(rows, SLC_BENCH_VELO_ALGORITHMS, (table)which);
    }
    print_stages(rows);
    print_scaling(rows);
}

/* ---- CSV --------------------------------------------------------------------------------------- */

static void write_head(FILE *out)
{
    static const char *const untils[SLC_BENCH_VELO_UNTILS] = {"tracks", "fitted", "vertices"};
    (void)fprintf(
        out, "what,algorithm,target,threads,candidates,event,events,hits,tracks,vertices,faults,core_hz");
    for (int u = 0; u < SLC_BENCH_VELO_UNTILS; u++) {
        (void)fprintf(out, ",to_%s_minimum_s,to_%s_median_s", untils[u], untils[u]);
    }
    for (int s = 0; s < SLC_VELO_STAGES; s++) {
        (void)fprintf(out, ",%s_minimum_s,%s_median_s", stage_names[s], stage_names[s]);
    }
    (void)fprintf(out, ",checked_tracks,ghosts");
    for (int c = 0; c < SLC_VELO_CATEGORIES; c++) {
        const char *name = slc_velo_category_name((slc_velo_category)c, true);
        (void)fprintf(
            out,
            ",%s_reconstructible,%s_found,%s_matched,%s_clones,%s_purity,%s_hits,%s_first_hits,%s_last_hits",
            name, name, name, name, name, name, name, name);
    }
    (void)fputc('\n', out);
}

/* Without truth the columns of the comparison are empty. */
static void write_physics(FILE *out, const slc_bench_velo_row *row)
{
    if (!row->checked) {
        (void)fprintf(out, ",,");
        for (int c = 0; c < SLC_VELO_CATEGORIES; c++) {
            (void)fprintf(out, ",,,,,,,,");
        }
        return;
    }
    (void)fprintf(out, ",%" PRIu64 ",%" PRIu64, row->checked_tracks, row->ghosts);
    for (int c = 0; c < SLC_VELO_CATEGORIES; c++) {
        const slc_velo_category_counts *n = &row->counts[c];
        const double per_track = n->matched > 0 ? 1 / (double)n->matched : 0;
        (void)fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6g,%.6g,%.6g,%.6g",
                      n->reconstructible, n->found, n->matched, n->clones, n->purity_sum * per_track,
                      n->hit_efficiency_sum * per_track, n->first_hits_sum * per_track,
                      n->last_hits_sum * per_track);
    }
}

slc_status slc_bench_velo_csv(const char *path, const slc_bench_velo_rows *rows, slc_error *error)
{
    slc_io_text_writer *writer = NULL;
    const slc_status status = slc_io_text_create(path, &writer, error);
    if (status != SLC_OK) {
        return status;
    }
    FILE *out = slc_io_text_stream(writer);
    write_head(out);
    for (size_t i = 0; i < rows->n; i++) {
        const slc_bench_velo_row *row = &rows->rows[i];
        (void)fprintf(out,
                      "%s,%s,%s,%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                      ",%" PRIu64 ",%" PRIu64 ",%.6g",
                      slc_bench_velo_what_name(row->what), row->name, slc_simd_name(row->target),
                      row->threads, row->candidates, row->event, row->events, row->hits, row->tracks,
                      row->vertices, row->faults, row->hertz);
        for (int u = 0; u < SLC_BENCH_VELO_UNTILS; u++) {
            (void)fprintf(out, ",%.6g,%.6g", row->until[u].minimum, row->until[u].median);
        }
        for (int s = 0; s < SLC_VELO_STAGES; s++) {
            (void)fprintf(out, ",%.6g,%.6g", row->stage[s].minimum, row->stage[s].median);
        }
        write_physics(out, row);
        (void)fputc('\n', out);
    }
    return slc_io_text_finish(writer, error);
}
