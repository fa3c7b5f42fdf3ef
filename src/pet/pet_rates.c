/* SPDX-License-Identifier: Apache-2.0
 *
 * Rates (sluice/pet_rates.h). A bin of time has a row, and counts of each crystal. The sum of s1 · s2 over
 * all good pairs needs no pair: partners of a crystal are ranges of rings and of places around the ring
 * (pet_coincidence_good.h: a table of differences, of which the good ones follow each other), and the singles
 * in such a range are four numbers of a table of sums.
 */
#include "base/columns.h"
#include "pet/pet_coincidence_good.h"

#include <sluice/pet_rates.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const slc_column rate_columns[] = {
    SOA_COLUMN(slc_pet_rate_rows, begin_s, "s"),  SOA_COLUMN(slc_pet_rate_rows, frames, "1"),
    SOA_COLUMN(slc_pet_rate_rows, singles, "1"),  SOA_COLUMN(slc_pet_rate_rows, prompts, "1"),
    SOA_COLUMN(slc_pet_rate_rows, delayeds, "1"), SOA_COLUMN(slc_pet_rate_rows, multiples, "1"),
    SOA_COLUMN(slc_pet_rate_rows, lost, "1"),
};
SOA_SCHEMA(slc_pet_rate_rows, slc_pet_rate_rows_schema, "rates", rate_columns);

enum { MOST_BINS = 1 << 20 };

struct slc_pet_rates {
    slc_pet_rates_config config;
    slc_pet_good_rule rule;
    uint32_t crystals, rings, classes; /* classes: of the rule, around a ring */
    uint32_t least, most;              /* good differences of classes; least > most: there is none */
    int64_t bin_ps;
    int64_t first_bin; /* bins are numbered from time 0; the first that is there */
    uint32_t **of_bin; /* by row: counts of each crystal, or NULL where it has no single */
    size_t capacity;   /* of of_bin */
    slc_pet_rate_rows rows;
    uint64_t *singles;
    int64_t first_ps, last_ps; /* of singles */
    bool any;                  /* single */
    uint64_t moments;          /* singles, without those that come with the one added before */
    int64_t before_ps;         /* its time */
    double *sums;              /* (rings + 1) · (classes + 1) */
};

/* ---- open, close ------------------------------------------------------------------------------- */

static slc_status check(const slc_pet_rates_config *c, slc_error *error)
{
    if (!(c->window_ns > 0 && isfinite(c->window_ns))) {
        return slc_fail(error, SLC_ERR_USAGE, "window_ns is %g, not above 0", c->window_ns);
    }
    if (!(c->bin_s >= 1e-9 && c->bin_s <= 3600)) {
        return slc_fail(error, SLC_ERR_USAGE, "bin_s is %g, not from 1e-9 to 3600", c->bin_s);
    }
    const uint32_t ring = slc_pet_crystals_per_ring(&c->geometry);
    if (c->good.kind != SLC_PET_GOOD_DIFFERENT_CRYSTAL && c->good.crystals_per_ring != ring) {
        return slc_fail(error, SLC_ERR_USAGE, "good.crystals_per_ring is %u, and the scanner's rings have %u",
                        c->good.crystals_per_ring, ring);
    }
    return SLC_OK;
}

/* The rule's good differences as a range. */
static void find_range(slc_pet_rates *r)
{
    r->least = 0;
    while (r->least < r->classes && r->rule.good[r->least] == 0) {
        r->least++;
    }
    r->most = r->classes - 1;
    while (r->most > 0 && r->rule.good[r->most] == 0) {
        r->most--;
    }
}

static slc_status prepare(slc_pet_rates *r, slc_error *error)
{
    const slc_pet_geometry *g = &r->config.geometry;
    const slc_status status = slc_pet_good_open(&r->config.good, &r->rule, error);
    if (status != SLC_OK) {
        return status;
    }
    r->crystals = slc_pet_crystals(g);
    r->rings = slc_pet_rings(g);
    r->bin_ps = (int64_t)(r->config.bin_s * 1e12 + 0.5);
    r->singles = calloc(r->crystals, sizeof *r->singles);
    if (!r->rule.different_crystal) {
        r->classes = r->rule.crystals_per_ring / r->rule.per_class;
        find_range(r);
        r->sums = calloc((size_t)(r->rings + 1) * (r->classes + 1), sizeof *r->sums);
    }
    if (r->singles == NULL || (!r->rule.different_crystal && r->sums == NULL)) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the counts of %u crystals", r->crystals);
    }
    return SLC_OK;
}

slc_status slc_pet_rates_open(const slc_pet_rates_config *config, slc_pet_rates **rates, slc_error *error)
{
    *rates = NULL;
    slc_status status = slc_pet_geometry_check(&config->geometry, error);
    status = status == SLC_OK ? check(config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_pet_rates *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for rates");
    }
    made->config = *config;
    status = prepare(made, error);
    if (status != SLC_OK) {
        slc_pet_rates_close(made);
        return status;
    }
    *rates = made;
    return SLC_OK;
}

void slc_pet_rates_close(slc_pet_rates *rates)
{
    if (rates == NULL) {
        return;
    }
    for (size_t i = 0; i < rates->rows.head.size; i++) {
        free(rates->of_bin[i]);
    }
    free(rates->of_bin);
    slc_columns_clear(&slc_pet_rate_rows_schema, &rates->rows);
    free(rates->singles);
    free(rates->sums);
    slc_pet_good_close(&rates->rule);
    free(rates);
}

/* ---- bins -------------------------------------------------------------------------------------- */

static int64_t bin_of(const slc_pet_rates *r, int64_t time_ps)
{
    return time_ps / r->bin_ps - (time_ps % r->bin_ps < 0);
}

static void clear_row(slc_pet_rates *r, size_t row, int64_t bin)
{
    slc_pet_rate_rows *rows = &r->rows;
    rows->begin_s[row] = (double)bin * r->config.bin_s;
    rows->frames[row] = rows->singles[row] = rows->prompts[row] = rows->delayeds[row] = 0;
    rows->multiples[row] = rows->lost[row] = 0;
    r->of_bin[row] = NULL;
}

/* Moves all rows up to make room for `more` in front. */
static void shift_rows(slc_pet_rates *r, size_t more)
{
    const size_t n = r->rows.head.size;
    for (size_t c = 0; c < slc_pet_rate_rows_schema.n_columns; c++) {
        const slc_column *column = &slc_pet_rate_rows_schema.columns[c];
        char *data = *slc_column_pointer(&r->rows, column);
        const size_t size = slc_type_size(column->type);
        memmove(data + more * size, data, n * size);
    }
    memmove(r->of_bin + more, r->of_bin, n * sizeof *r->of_bin);
}

/* Makes sure that there are rows for all bins of these times. The caller has checked that they are not too
 * many. */
static slc_status cover(slc_pet_rates *r, int64_t low_ps, int64_t high_ps)
{
    const size_t n = r->rows.head.size;
    const int64_t low = bin_of(r, low_ps), high = bin_of(r, high_ps);
    const int64_t first = n > 0 && r->first_bin < low ? r->first_bin : low;
    const int64_t end = n > 0 && r->first_bin + (int64_t)n > high + 1 ? r->first_bin + (int64_t)n : high + 1;
    const size_t wanted = (size_t)(end - first), front = n > 0 ? (size_t)(r->first_bin - first) : 0;
    if (wanted > r->capacity) {
        const size_t capacity = wanted + wanted / 2 + 16;
        uint32_t **of_bin = realloc(r->of_bin, capacity * sizeof *of_bin);
        r->of_bin = of_bin != NULL ? of_bin : r->of_bin;
        if (of_bin == NULL ||
            slc_columns_reserve(&slc_pet_rate_rows_schema, &r->rows, capacity, 0) != SLC_OK) {
            return SLC_ERR_MEMORY;
        }
        r->capacity = capacity;
    }
    if (front > 0) {
        shift_rows(r, front);
    }
    r->rows.head.size = wanted;
    r->first_bin = first;
    for (size_t row = 0; row < front; row++) {
        clear_row(r, row, first + (int64_t)row);
    }
    for (size_t row = front + n; row < wanted; row++) {
        clear_row(r, row, first + (int64_t)row);
    }
    return SLC_OK;
}

/* Would there be too many bins? Differences of times may be beyond int64_t. */
static bool too_far(const slc_pet_rates *r, int64_t low_ps, int64_t high_ps)
{
    const size_t n = r->rows.head.size;
    int64_t low = bin_of(r, low_ps), high = bin_of(r, high_ps);
    if (n > 0) {
        low = r->first_bin < low ? r->first_bin : low;
        high = r->first_bin + (int64_t)n - 1 > high ? r->first_bin + (int64_t)n - 1 : high;
    }
    return (uint64_t)high - (uint64_t)low >= MOST_BINS;
}

static slc_status cover_times(slc_pet_rates *r, const int64_t *time_ps, size_t n, const char *what,
                              slc_error *error)
{
    size_t low = 0, high = 0;
    for (size_t i = 1; i < n; i++) {
        low = time_ps[i] < time_ps[low] ? i : low;
        high = time_ps[i] > time_ps[high] ? i : high;
    }
    if (too_far(r, time_ps[low], time_ps[high])) {
        return slc_fail(
            error, SLC_ERR_FORMAT,
            "%s %zu at %lld ps and %zu at %lld ps: from the first time to the last there are more "
            "than %d bins of %g s",
            what, low, (long long)time_ps[low], high, (long long)time_ps[high], MOST_BINS, r->config.bin_s);
    }
    if (cover(r, time_ps[low], time_ps[high]) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for bins of time");
    }
    return SLC_OK;
}

/* The row of a time, which is most often that of the time before. Modulo 2^64, as the bin may begin before
 * what int64_t holds. */
typedef struct place_in_time {
    uint64_t begin_ps;
    size_t row;
} place_in_time;

static size_t row_of(const slc_pet_rates *r, int64_t time_ps, place_in_time *last)
{
    if ((uint64_t)time_ps - last->begin_ps >= (uint64_t)r->bin_ps) {
        last->row = (size_t)(bin_of(r, time_ps) - r->first_bin);
        last->begin_ps = ((uint64_t)r->first_bin + last->row) * (uint64_t)r->bin_ps;
    }
    return last->row;
}

static place_in_time first_row(const slc_pet_rates *r)
{
    return (place_in_time){.begin_ps = (uint64_t)r->first_bin * (uint64_t)r->bin_ps};
}

/* ---- what is added ----------------------------------------------------------------------------- */

/* Memory for the counts of all bins that these times need. */
static slc_status open_bins(slc_pet_rates *r, const slc_pet_singles *singles)
{
    place_in_time last = first_row(r);
    for (size_t i = 0; i < singles->head.size; i++) {
        const size_t row = row_of(r, singles->time_ps[i], &last);
        if (r->of_bin[row] == NULL) {
            r->of_bin[row] = calloc(r->crystals, sizeof **r->of_bin);
            if (r->of_bin[row] == NULL) {
                return SLC_ERR_MEMORY;
            }
        }
    }
    return SLC_OK;
}

slc_status slc_pet_rates_add_singles(slc_pet_rates *r, const slc_pet_singles *singles, slc_error *error)
{
    const size_t n = singles->head.size;
    if (n == 0) {
        return SLC_OK;
    }
    for (size_t i = 0; i < n; i++) {
        if (singles->crystal[i] >= r->crystals) {
            return slc_fail(error, SLC_ERR_FORMAT, "single %zu is of crystal %u, and there are %u", i,
                            singles->crystal[i], r->crystals);
        }
    }
    const slc_status status = cover_times(r, singles->time_ps, n, "singles", error);
    if (status != SLC_OK) {
        return status;
    }
    if (open_bins(r, singles) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the counts of %u crystals in a bin of time",
                        r->crystals);
    }
    if (!r->any) {
        r->any = true;
        r->first_ps = r->last_ps = r->before_ps = singles->time_ps[0];
        r->moments = 1;
    }
    const double together_ps = r->config.window_ns * 1e3;
    place_in_time last = first_row(r);
    for (size_t i = 0; i < n; i++) {
        const int64_t time = singles->time_ps[i];
        const size_t row = row_of(r, time, &last);
        r->first_ps = time < r->first_ps ? time : r->first_ps;
        r->last_ps = time > r->last_ps ? time : r->last_ps;
        r->moments += fabs((double)time - (double)r->before_ps) > together_ps;
        r->before_ps = time;
        r->of_bin[row][singles->crystal[i]]++;
        r->rows.singles[row]++;
        r->singles[singles->crystal[i]]++;
    }
    return SLC_OK;
}

slc_status slc_pet_rates_add_pairs(slc_pet_rates *r, const slc_pet_coincidences *pairs, slc_error *error)
{
    const size_t n = pairs->head.size;
    const slc_status status = n > 0 ? cover_times(r, pairs->time_ps, n, "coincidences", error) : SLC_OK;
    place_in_time last = first_row(r);
    for (size_t i = 0; status == SLC_OK && i < n; i++) {
        const size_t row = row_of(r, pairs->time_ps[i], &last);
        r->rows.delayeds[row] += pairs->delayed[i] != 0;
        r->rows.prompts[row] += pairs->delayed[i] == 0;
    }
    return status;
}

slc_status slc_pet_rates_add_counts(slc_pet_rates *r, int64_t time_ps, uint64_t frames, uint64_t lost,
                                    uint64_t multiples, slc_error *error)
{
    const slc_status status = cover_times(r, &time_ps, 1, "counts", error);
    if (status == SLC_OK) {
        const size_t row = (size_t)(bin_of(r, time_ps) - r->first_bin);
        r->rows.frames[row] += frames;
        r->rows.lost[row] += lost;
        r->rows.multiples[row] += multiples;
    }
    return status;
}

/* ---- what is told ------------------------------------------------------------------------------ */

const uint64_t *slc_pet_rates_singles(const slc_pet_rates *r, double *seconds)
{
    if (seconds != NULL) {
        *seconds = r->any ? ((double)r->last_ps - (double)r->first_ps) * 1e-12 : 0;
    }
    return r->singles;
}

const slc_pet_rate_rows *slc_pet_rates_rows(const slc_pet_rates *r)
{
    return &r->rows;
}

/* Seconds that were measured of a bin. When the measurement began and ended, only its singles tell: the
 * first comes a mean gap behind its beginning, the last as long before its end. The two of one decay, which
 * may be all there are, tell nothing of that. */
static double length_s(const slc_pet_rates *r, size_t row)
{
    const double begin = (double)(r->first_bin + (int64_t)row) * (double)r->bin_ps;
    const double end = begin + (double)r->bin_ps;
    if (r->config.whole_bins || r->moments < 2) {
        return (double)r->bin_ps * 1e-12;
    }
    const double gap = ((double)r->last_ps - (double)r->first_ps) / (double)(r->moments - 1);
    const double from = (double)r->first_ps - gap, to = (double)r->last_ps + gap;
    return fmax(fmin(end, to) - fmax(begin, from), 0) * 1e-12;
}

double slc_pet_rates_randoms_of(const slc_pet_rates *r, uint32_t crystal1, uint32_t crystal2)
{
    if (crystal1 >= r->crystals || crystal2 >= r->crystals ||
        !slc_pet_is_good(&r->rule, crystal1, crystal2)) {
        return 0;
    }
    double sum = 0;
    for (size_t row = 0; row < r->rows.head.size; row++) {
        const uint32_t *count = r->of_bin[row];
        const double length = length_s(r, row);
        if (count != NULL && length > 0) {
            /* Of n singles of one crystal, each can be followed by n − 1. */
            const double partners = crystal1 == crystal2 ? count[crystal2] - 1.0 : 2.0 * count[crystal2];
            sum += count[crystal1] * partners / length;
        }
    }
    return sum * r->config.window_ns * 1e-9;
}

/* The sums of counts over all rings below and all classes below, by [ring][class]. */
static void add_up(const slc_pet_rates *r, const uint32_t *count)
{
    const size_t stride = r->classes + 1;
    for (uint32_t ring = 0; ring < r->rings; ring++) {
        double sum = 0;
        for (uint32_t place = 0; place < r->classes; place++) {
            const uint32_t *first = count + ring * r->rule.crystals_per_ring + place * r->rule.per_class;
            for (uint32_t i = 0; i < r->rule.per_class; i++) {
                sum += first[i];
            }
            r->sums[(ring + 1) * stride + place + 1] = r->sums[ring * stride + place + 1] + sum;
        }
    }
}

/* Counts of the classes from `low` to `high` − 1 in the same of rings. */
static double sum_of(const slc_pet_rates *r, uint32_t ring_low, uint32_t ring_high, uint32_t low,
                     uint32_t high)
{
    const size_t stride = r->classes + 1;
    const double *below = r->sums + ring_low * stride, *above = r->sums + ring_high * stride;
    return above[high] - above[low] - (below[high] - below[low]);
}

/* Counts of all partners of a class in a ring. */
static double partners_of(const slc_pet_rates *r, uint32_t ring, uint32_t place)
{
    const uint32_t rings = r->rule.most_rings < r->rings ? r->rule.most_rings : r->rings;
    const uint32_t low = ring > rings ? ring - rings : 0;
    const uint32_t high = r->rings - ring > rings ? ring + rings + 1 : r->rings;
    double sum = 0;
    if (place + r->least < r->classes) { /* those above, up to `most` away, */
        const uint32_t end = r->classes - place > r->most ? place + r->most + 1 : r->classes;
        sum += sum_of(r, low, high, place + r->least, end);
    }
    const uint32_t nearest = r->least > 0 ? r->least : 1; /* and those below; its own class is above */
    if (place >= nearest) {
        sum += sum_of(r, low, high, place > r->most ? place - r->most : 0, place - nearest + 1);
    }
    return sum;
}

/* The sum of the counts' products over all ordered pairs that are good. */
static double products(const slc_pet_rates *r, const uint32_t *count)
{
    double all = 0, squares = 0, sum = 0;
    for (uint32_t i = 0; i < r->crystals; i++) {
        all += count[i];
        squares += (double)count[i] * count[i];
    }
    if (r->rule.different_crystal) {
        return all * all - squares;
    }
    if (r->least > r->most) {
        return 0;
    }
    add_up(r, count);
    for (uint32_t ring = 0; ring < r->rings; ring++) {
        for (uint32_t place = 0; place < r->classes; place++) {
            sum += sum_of(r, ring, ring + 1, place, place + 1) * partners_of(r, ring, place);
        }
    }
    return r->least == 0 ? sum - all : sum; /* a single is no partner of itself */
}

double slc_pet_rates_randoms(const slc_pet_rates *r)
{
    double sum = 0;
    for (size_t row = 0; row < r->rows.head.size; row++) {
        const double length = length_s(r, row);
        if (r->of_bin[row] != NULL && length > 0) {
            sum += products(r, r->of_bin[row]) / length;
        }
    }
    return sum * r->config.window_ns * 1e-9;
}

/* ---- dead time --------------------------------------------------------------------------------- */

double slc_pet_measured_rate(double true_hz, double dead_time_s, bool paralysable)
{
    if (!(true_hz >= 0) || !(dead_time_s >= 0)) {
        return NAN;
    }
    return paralysable ? true_hz * exp(-true_hz * dead_time_s) : true_hz / (1 + true_hz * dead_time_s);
}

double slc_pet_true_rate(double measured_hz, double dead_time_s, bool paralysable)
{
    const double m = measured_hz * dead_time_s; /* in units of 1 / τ */
    if (!(measured_hz >= 0) || !(dead_time_s >= 0) || m > (paralysable ? exp(-1) * (1 + 4e-16) : 1)) {
        return NAN;
    }
    if (!paralysable || m == 0) {
        return m < 1 ? measured_hz / (1 - m) : NAN;
    }
    /* x = m · exp(x), x <= 1: from below, x = log(x / m) has a root where Newton's steps never pass it. */
    double x = m;
    for (int i = 0; i < 200; i++) {
        const double value = m * exp(x), step = (value - x) / (1 - value);
        if (!(value < 1) || !(step > 1e-16 * x)) {
            break;
        }
        x += step;
    }
    return x / dead_time_s;
}
