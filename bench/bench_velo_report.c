/* SPDX-License-Identifier: Apache-2.0
 *
 * What the VELO's benchmark tells: a table for each thing measured, after the figures and tables of chapter 5
 * of A. Hennequin's thesis (2022), the law that the cost of events follows (section 5.4.2), and rows for CSV
 * and figures.
 */
#include "bench/bench_velo_part.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The categories of the thesis' tables, and long tracks. */
static const slc_velo_category shown[] = {SLC_VELO_CATEGORY_VELO, SLC_VELO_CATEGORY_LONG,
                                          SLC_VELO_CATEGORY_FROM_B, SLC_VELO_CATEGORY_FROM_D,
                                          SLC_VELO_CATEGORY_STRANGE};
enum { N_SHOWN = sizeof shown / sizeof *shown };

static double hits_of_event(const slc_bench_velo_row *row)
{
    return (double)row->hits / (double)row->events;
}

/* The first row of a kind, or NULL; and the one after a row, or NULL. */
static const slc_bench_velo_row *first_of(const slc_bench_velo_rows *rows, slc_bench_velo_what what)
{
    size_t i = 0;
    while (i < rows->n && rows->row[i].what != what) {
        i++;
    }
    return i < rows->n ? &rows->row[i] : NULL;
}

static const slc_bench_velo_row *next_of(const slc_bench_velo_rows *rows, const slc_bench_velo_row *row)
{
    return row + 1 < rows->row + rows->n && row[1].what == row->what ? row + 1 : NULL;
}

/* N, which the baselines do not have. */
static void print_candidates(FILE *out, const slc_bench_velo_row *row)
{
    if (row->ours) {
        (void)fprintf(out, " %3" PRIu32 " ", row->candidates);
    } else {
        (void)fprintf(out, "   - ");
    }
}

/* ---- throughput -------------------------------------------------------------------------------- */

static void print_throughput(const slc_bench_velo_rows *rows, slc_bench_velo_what what, FILE *out)
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
    (void)fprintf(out, "\n%s, events/s: medians of %" PRIu32 " (fastest)\n", titles[what],
                  rows->config->repetitions);
    (void)fprintf(out, "%-10s %-12s %7s %3s  %19s %19s %19s %9s%s\n", "algorithm", "target", "threads", "N",
                  "to tracks", "to fitted tracks", "to vertices", "relative",
                  first->distinct > 0 ? "   distinct" : "");
    for (const slc_bench_velo_row *row = first; row != NULL; row = next_of(rows, row)) {
        (void)fprintf(out, "%-10s %-12s %7" PRIu32, row->name, slc_simd_name(row->target), row->threads);
        print_candidates(out, row);
        for (int u = 0; u < SLC_BENCH_VELO_UNTILS; u++) {
            (void)fprintf(out, " %9.0f (%7.0f)", 1 / row->until[u].median, 1 / row->until[u].minimum);
        }
        (void)fprintf(out, " %9.2f",
                      first->until[SLC_BENCH_VELO_FITTED].minimum /
                          row->until[SLC_BENCH_VELO_FITTED].minimum);
        if (row->distinct > 0) {
            (void)fprintf(out, "  %9.0f", 1 / row->distinct_until.median);
        }
        (void)fputc('\n', out);
    }
    (void)fprintf(out, "(relative: to the first row, fitted tracks, fastest)\n");
    if (first->distinct > 0) {
        (void)fprintf(out,
                      "(distinct: to vertices, median, of %" PRIu64
                      " events that are made of the given ones, without 2 %% of their words)\n",
                      first->distinct);
    }
}

/* A line of the table of stages. */
static void print_stage_line(FILE *out, const char *name, const char *what, const slc_bench_time *stage,
                             double scale, int digits)
{
    double all = 0;
    (void)fprintf(out, "%-10s %-14s", name, what);
    for (int s = 0; s < SLC_VELO_STAGES; s++) {
        (void)fprintf(out, " %9.*f", digits, scale * stage[s].median);
        all += stage[s].median;
    }
    (void)fprintf(out, " %9.*f\n", digits, scale * all);
}

static const char *const stage_names[SLC_VELO_STAGES] = {"cluster", "track", "fit", "vertex"};

static void print_stages(const slc_bench_velo_rows *rows, FILE *out)
{
    const slc_bench_velo_row *row = first_of(rows, SLC_BENCH_VELO_STAGES);
    if (row == NULL) {
        return;
    }
    (void)fprintf(out,
                  "\nStages, one thread, %.0f hits an event, medians of %" PRIu32 " (core at %.2f GHz)\n",
                  hits_of_event(row), rows->config->repetitions, 1e-9 * row->hertz);
    (void)fprintf(out, "%-10s %-14s", "algorithm", "");
    for (int s = 0; s < SLC_VELO_STAGES; s++) {
        (void)fprintf(out, " %9s", stage_names[s]);
    }
    (void)fprintf(out, " %9s\n", "all");
    for (; row != NULL; row = next_of(rows, row)) {
        const double cycles = row->hits > 0 ? row->hertz / hits_of_event(row) : 0;
        print_stage_line(out, row->name, "us an event", row->stage, 1e6, 2);
        print_stage_line(out, "", "cycles a hit", row->stage, cycles, 1);
        if (row->distinct > 0) {
            print_stage_line(out, "", "us, distinct", row->distinct_stage, 1e6, 2);
        }
    }
}

/* ---- physics ----------------------------------------------------------------------------------- */

static void print_fraction(FILE *out, uint64_t part, uint64_t whole)
{
    const slc_fraction f = slc_fraction_of(part, whole);
    if (whole == 0) {
        (void)fprintf(out, " %14s", "-");
    } else {
        (void)fprintf(out, " %6.2f ± %5.2f", 100 * f.value, 100 * f.sigma);
    }
}

/* Tables 5.1 to 5.3: fractions of counts, then means of sums over the matched tracks. */
static const struct table {
    const char *title;
    size_t part, whole, sum;
} tables[] = {
#define OF(m) offsetof(slc_velo_category_counts, m)
    {"Efficiencies (%), 2 < eta < 5, no electrons", OF(found), OF(reconstructible), 0},
    {"Clones (%), 2 < eta < 5, no electrons", OF(clones), OF(matched), 0},
    {"Efficiencies of all hits (%)", 0, OF(matched), OF(hit_efficiency_sum)},
    {"Efficiencies of the first three hits (%)", 0, OF(matched), OF(first_hits_sum)},
    {"Efficiencies of the last three hits (%)", 0, OF(matched), OF(last_hits_sum)},
#undef OF
};
enum { TABLES = sizeof tables / sizeof *tables };

static void print_cell(FILE *out, const slc_velo_category_counts *counts, const struct table *t)
{
    uint64_t part, whole;
    double sum;
    memcpy(&part, (const char *)counts + t->part, sizeof part);
    memcpy(&whole, (const char *)counts + t->whole, sizeof whole);
    memcpy(&sum, (const char *)counts + t->sum, sizeof sum);
    if (t->sum == 0 || whole == 0) {
        print_fraction(out, part, whole);
    } else {
        (void)fprintf(out, " %14.2f", 100 * sum / (double)whole);
    }
}

static void print_physics(const slc_bench_velo_rows *rows, slc_bench_velo_what what, size_t table, FILE *out)
{
    const slc_bench_velo_row *row = first_of(rows, what);
    if (row == NULL || !row->checked) {
        return;
    }
    (void)fprintf(out, "\n%s\n%-10s %3s ", tables[table].title, "algorithm", "N");
    for (int c = 0; c < N_SHOWN; c++) {
        (void)fprintf(out, " %14s", slc_velo_category_name(shown[c], false));
    }
    (void)fprintf(out, "%s\n", table == 0 ? "         ghosts" : "");
    for (; row != NULL; row = next_of(rows, row)) {
        (void)fprintf(out, "%-10s", row->name);
        print_candidates(out, row);
        for (int c = 0; c < N_SHOWN; c++) {
            print_cell(out, &row->counts[shown[c]], &tables[table]);
        }
        if (table == 0) {
            print_fraction(out, row->ghosts, row->checked_tracks);
        }
        (void)fputc('\n', out);
    }
}

/* ---- the law ----------------------------------------------------------------------------------- */

/* cost = factor * hits^exponent, by least squares of the logarithms. */
typedef struct law {
    double factor, exponent, sigma; /* sigma of the exponent */
    size_t n;                       /* events */
    uint64_t fewest, most;          /* hits */
} law;

/* Of one stage, or of all. Minima, because what disturbs only adds. */
static double cost_of(const slc_bench_velo_row *row, slc_velo_stage stage)
{
    double all = 0;
    for (int s = 0; s < SLC_VELO_STAGES; s++) {
        all += row->stage[s].minimum;
    }
    return stage < SLC_VELO_STAGES ? row->stage[stage].minimum : all;
}

/* False if fewer than three events, or not two different numbers of hits, are there. */
static bool fit_law(const slc_bench_velo_rows *rows, const char *name, slc_velo_stage stage, law *l)
{
    double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0, sum_yy = 0;
    *l = (law){.fewest = UINT64_MAX};
    const slc_bench_velo_row *row = first_of(rows, SLC_BENCH_VELO_SCALING);
    for (; row != NULL; row = next_of(rows, row)) {
        const double seconds = cost_of(row, stage);
        if (strcmp(row->name, name) != 0 || row->hits == 0 || !(seconds > 0)) {
            continue;
        }
        const double x = log((double)row->hits), y = log(seconds);
        l->n++;
        l->fewest = row->hits < l->fewest ? row->hits : l->fewest;
        l->most = row->hits > l->most ? row->hits : l->most;
        sum_x += x;
        sum_y += y;
        sum_xx += x * x;
        sum_xy += x * y;
        sum_yy += y * y;
    }
    if (l->n < 3 || l->fewest == l->most) {
        return false;
    }
    const double count = (double)l->n, xx = sum_xx - sum_x * sum_x / count;
    const double xy = sum_xy - sum_x * sum_y / count, yy = sum_yy - sum_y * sum_y / count;
    l->exponent = xy / xx;
    l->factor = exp((sum_y - l->exponent * sum_x) / count);
    l->sigma = sqrt(fmax(0, yy - l->exponent * xy) / (count - 2) / xx);
    return true;
}

static void print_scaling(const slc_bench_velo_rows *rows, FILE *out)
{
    const slc_bench_velo_row *row = first_of(rows, SLC_BENCH_VELO_SCALING);
    law track, all;
    if (row == NULL) {
        return;
    }
    if (!fit_law(rows, row->name, SLC_VELO_STAGES, &all)) {
        (void)fprintf(out, "\nCost against hits: this needs three events or more, of different sizes\n");
        return;
    }
    (void)fprintf(out,
                  "\nCost against hits, one thread: %zu events of %" PRIu64 " to %" PRIu64
                  " hits, cost = f * hits^k by least squares\n",
                  all.n, all.fewest, all.most);
    (void)fprintf(out, "%-10s %18s %12s %18s %12s\n", "algorithm", "k of track search", "f [ns]",
                  "k of all stages", "f [ns]");
    const uint64_t event = row->event;
    for (; row != NULL && row->event == event; row = next_of(rows, row)) {
        if (fit_law(rows, row->name, SLC_VELO_STAGE_TRACK, &track) &&
            fit_law(rows, row->name, SLC_VELO_STAGES, &all)) {
            (void)fprintf(out, "%-10s %10.3f ± %5.3f %12.4g %10.3f ± %5.3f %12.4g\n", row->name,
                          track.exponent, track.sigma, 1e9 * track.factor, all.exponent, all.sigma,
                          1e9 * all.factor);
        }
    }
}

static void print_tables(const slc_bench_velo_rows *rows, FILE *out)
{
    const slc_bench_velo_row *row = &rows->row[0];
    if (row->what != SLC_BENCH_VELO_SCALING) {
        (void)fprintf(out, "%" PRIu64 " events, %.0f hits, %.0f tracks and %.2f vertices an event (%s)\n",
                      row->events, hits_of_event(row), (double)row->tracks / (double)row->events,
                      (double)row->vertices / (double)row->events, row->name);
    }
    print_throughput(rows, SLC_BENCH_VELO_THREADS, out);
    print_throughput(rows, SLC_BENCH_VELO_TARGETS, out);
    print_throughput(rows, SLC_BENCH_VELO_CANDIDATES, out);
    print_physics(rows, SLC_BENCH_VELO_CANDIDATES, 0, out);
    print_throughput(rows, SLC_BENCH_VELO_ALGORITHMS, out);
    for (size_t t = 0; t < TABLES; t++) {
        print_physics(rows, SLC_BENCH_VELO_ALGORITHMS, t, out);
    }
    print_stages(rows, out);
    print_scaling(rows, out);
}

/* ---- rows -------------------------------------------------------------------------------------- */

#define COUNTED(name)                                                                                        \
    {                                                                                                        \
        name, SLC_BENCH_COUNT, SLC_BENCH_CSV, 0                                                              \
    }
#define TIMED(name)                                                                                          \
    {name "_minimum_s", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0},                                                 \
    {                                                                                                        \
        name "_median_s", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0                                                 \
    }
static const slc_bench_column front[] = {
    {"what", SLC_BENCH_TEXT, SLC_BENCH_CSV, 0},
    {"algorithm", SLC_BENCH_TEXT, SLC_BENCH_CSV, 0},
    {"target", SLC_BENCH_TEXT, SLC_BENCH_CSV, 0},
    COUNTED("threads"),
    COUNTED("candidates"),
    COUNTED("event"),
    COUNTED("events"),
    COUNTED("hits"),
    COUNTED("tracks"),
    COUNTED("vertices"),
    COUNTED("faults"),
    {"core_hz", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0},
    TIMED("to_tracks"),
    TIMED("to_fitted"),
    TIMED("to_vertices"),
    TIMED("cluster"),
    TIMED("track"),
    TIMED("fit"),
    TIMED("vertex"),
    COUNTED("checked_tracks"),
    COUNTED("ghosts"),
};
/* Of each category; then what is of distinct events, and what pictures show. */
static const slc_bench_column of_category[] = {
    COUNTED("reconstructible"),
    COUNTED("found"),
    COUNTED("matched"),
    COUNTED("clones"),
    {"purity", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0},
    {"hits", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0},
    {"first_hits", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0},
    {"last_hits", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0},
};
static const slc_bench_column back[] = {
    COUNTED("distinct_events"),           TIMED("distinct_to_vertices"),
    {"rate", SLC_BENCH_NUMBER, 0, 0},     {"ghost_percent", SLC_BENCH_NUMBER, 0, 0},
    {"track_us", SLC_BENCH_NUMBER, 0, 0}, {"law", SLC_BENCH_TEXT, 0, 0},
};
enum {
    FRONT = sizeof front / sizeof *front,
    EACH = sizeof of_category / sizeof *of_category,
    BACK = sizeof back / sizeof *back,
    COLUMNS = FRONT + SLC_VELO_CATEGORIES * EACH + BACK
};

/* The columns of a category have its name before theirs. */
static const slc_bench_column *make_columns(void)
{
    static slc_bench_column columns[COLUMNS];
    static char names[SLC_VELO_CATEGORIES * EACH][64];
    memcpy(columns, front, sizeof front);
    for (size_t i = 0; i < SLC_VELO_CATEGORIES * (size_t)EACH; i++) {
        columns[FRONT + i] = of_category[i % EACH];
        (void)snprintf(names[i], sizeof names[i], "%s_%s",
                       slc_velo_category_name((slc_velo_category)(i / EACH), true),
                       of_category[i % EACH].name);
        columns[FRONT + i].name = names[i];
    }
    memcpy(columns + COLUMNS - BACK, back, sizeof back);
    return columns;
}

static slc_bench_cell *put_time(slc_bench_cell *cell, const slc_bench_time *time)
{
    *cell++ = slc_bench_number(time->minimum);
    *cell++ = slc_bench_number(time->median);
    return cell;
}

/* Of the tracks that were checked, in the order of the columns. */
static void put_physics(slc_bench_cell *cell, const slc_bench_velo_row *row)
{
    *cell++ = slc_bench_count(row->checked_tracks);
    *cell++ = slc_bench_count(row->ghosts);
    for (int c = 0; c < SLC_VELO_CATEGORIES; c++) {
        const slc_velo_category_counts *n = &row->counts[c];
        const uint64_t counts[] = {n->reconstructible, n->found, n->matched, n->clones};
        const double sums[] = {n->purity_sum, n->hit_efficiency_sum, n->first_hits_sum, n->last_hits_sum};
        for (size_t i = 0; i < EACH / 2; i++) {
            cell[i] = slc_bench_count(counts[i]);
            cell[EACH / 2 + i] = slc_bench_number(n->matched > 0 ? sums[i] / (double)n->matched : 0);
        }
        cell += EACH;
    }
}

static void put_row(const slc_bench_velo_rows *rows, const slc_bench_velo_row *row, slc_bench_rows *set)
{
    law l;
    slc_bench_cell *cell = slc_bench_add(set), *end = cell + COLUMNS - BACK;
    const uint64_t counts[] = {row->threads, row->candidates, row->event,    row->events,
                               row->hits,    row->tracks,     row->vertices, row->faults};
    *cell++ = slc_bench_text(slc_bench_velo_what_name(row->what));
    *cell++ = slc_bench_text(row->name);
    *cell++ = slc_bench_text(slc_simd_name(row->target));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        *cell++ = slc_bench_count(counts[i]);
    }
    *cell++ = slc_bench_number(row->hertz);
    for (int u = 0; u < SLC_BENCH_VELO_UNTILS; u++) {
        cell = put_time(cell, &row->until[u]);
    }
    for (int s = 0; s < SLC_VELO_STAGES; s++) {
        cell = put_time(cell, &row->stage[s]);
    }
    if (row->checked) {
        put_physics(cell, row);
    }
    if (row->distinct > 0) {
        end[0] = slc_bench_count(row->distinct);
        (void)put_time(&end[1], &row->distinct_until);
    }
    end[3] = slc_bench_number(1 / row->until[SLC_BENCH_VELO_VERTICES].minimum);
    end[4] = slc_bench_number(row->checked ? 100 * (double)row->ghosts / (double)row->checked_tracks : NAN);
    end[5] = slc_bench_number(1e6 * row->stage[SLC_VELO_STAGE_TRACK].minimum);
    end[6] = row->what == SLC_BENCH_VELO_SCALING && fit_law(rows, row->name, SLC_VELO_STAGE_TRACK, &l)
                 ? slc_bench_textf(set, ": hits to the %.2f", l.exponent)
                 : slc_bench_text("");
}

/* A row for each efficiency against N. */
static const slc_bench_column efficiency_columns[] = {{"algorithm", SLC_BENCH_TEXT, 0, 0},
                                                      {"candidates", SLC_BENCH_COUNT, 0, 0},
                                                      {"category", SLC_BENCH_TEXT, 0, 0},
                                                      {"percent", SLC_BENCH_NUMBER, 0, 0}};

static void put_efficiencies(const slc_bench_velo_row *row, slc_bench_rows *set)
{
    for (int c = 0; c < N_SHOWN && row->what == SLC_BENCH_VELO_CANDIDATES && row->checked; c++) {
        const slc_velo_category_counts *n = &row->counts[shown[c]];
        if (n->reconstructible > 0) {
            slc_bench_cell *cell = slc_bench_add(set);
            cell[0] = slc_bench_text(row->name);
            cell[1] = slc_bench_count(row->candidates);
            cell[2] = slc_bench_text(slc_velo_category_name(shown[c], false));
            cell[3] = slc_bench_number(100 * (double)n->found / (double)n->reconstructible);
        }
    }
}

static void draw(slc_bench_report *report)
{
    static const slc_bench_axis rate = {"rate", "events to vertices per second, fastest",
                                        SLC_BENCH_FROM_ZERO};
    static const slc_bench_axis threads = {"threads", "threads", SLC_BENCH_FROM_ZERO};
    static const slc_bench_axis candidates = {"candidates", "N", SLC_BENCH_FROM_ZERO};
    static const slc_bench_axis percent = {"percent", "percent", SLC_BENCH_AROUND};
    const slc_bench_rows *all = &report->sets[0], *efficiencies = &report->sets[1];
    const slc_bench_figure figures[] = {
        {all, "what", "threads", NULL, "algorithm", "algorithms", "{algorithm}", NULL, threads, rate, NULL},
        {all, "what", "targets", NULL, "target", "instruction sets", "{target}", NULL, threads, rate, NULL},
        {all, "what", "candidates", NULL, "algorithm", "candidates", "{algorithm}", NULL, candidates, rate,
         NULL},
        {all,
         "what",
         "candidates",
         NULL,
         "algorithm",
         "ghosts",
         "{algorithm}",
         NULL,
         candidates,
         {"ghost_percent", "percent of tracks", SLC_BENCH_AROUND},
         NULL},
        {efficiencies, "algorithm", "default", NULL, "category",
         "efficiencies of the default, eta from 2 to 5", "{category}", NULL, candidates, percent, NULL},
        {efficiencies, "algorithm", "fast", NULL, "category",
         "efficiencies of the single pass, eta from 2 to 5", "{category}", NULL, candidates, percent, NULL},
        {all,
         "what",
         "scaling",
         NULL,
         "algorithm",
         "cost of an event, track search",
         "{algorithm}{law}",
         NULL,
         {"hits", "hits", SLC_BENCH_DECADES},
         {"track_us", "microseconds", SLC_BENCH_DECADES},
         NULL},
    };
    memcpy(report->figures, figures, sizeof figures);
    report->n_figures = sizeof figures / sizeof *figures;
}

void slc_bench_velo_tell(const slc_bench_velo_rows *rows, slc_bench_report *report)
{
    report->sets[0] = (slc_bench_rows){.columns = make_columns(), .n_columns = COLUMNS};
    report->sets[1] = (slc_bench_rows){.columns = efficiency_columns, .n_columns = 4};
    for (size_t i = 0; i < rows->n; i++) {
        put_row(rows, &rows->row[i], &report->sets[0]);
        put_efficiencies(&rows->row[i], &report->sets[1]);
        if (rows->row[i].faults > 0) { /* they change what is measured */
            report->note = "the events have faults, as `sluice velo` tells: not all is reconstructed";
        }
    }
    draw(report);
    if (rows->n > 0) { /* else memory alone was asked for */
        print_tables(rows, report->table);
    }
}
