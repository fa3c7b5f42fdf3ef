/* SPDX-License-Identifier: Apache-2.0
 *
 * Rates against time. Singles come in order, so that one bin's counts of crystals are enough: when the next
 * bin begins, its randoms are added up (pet_rates_sum.h) as of a whole bin, and the counts go. How much of
 * the first bin and of the last was measured is known at the end, and told then. Blocks lose frames in dead
 * time whatever their energy, so that frames are counted, as they come, over stretches of time that are at
 * least a bin.
 */
#include "base/columns.h"
#include "base/config.h"
#include "pet/pet_rates_sum.h"

#include <sluice/pet_rates.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const slc_column rate_columns[] = {
    SOA_COLUMN(slc_pet_rate_rows, begin_s, "s"),   SOA_COLUMN(slc_pet_rate_rows, length_s, "s"),
    SOA_COLUMN(slc_pet_rate_rows, frames, "1"),    SOA_COLUMN(slc_pet_rate_rows, singles, "1"),
    SOA_COLUMN(slc_pet_rate_rows, prompts, "1"),   SOA_COLUMN(slc_pet_rate_rows, delayeds, "1"),
    SOA_COLUMN(slc_pet_rate_rows, multiples, "1"), SOA_COLUMN(slc_pet_rate_rows, lost, "1"),
    SOA_COLUMN(slc_pet_rate_rows, randoms, "1"),
};
SOA_SCHEMA(slc_pet_rate_rows, slc_pet_rate_rows_schema, "rates", rate_columns);

enum { MOST_ROWS = 1 << 20, MOST_SPREAD = 1 << 16, BLOCKS = SLC_PET_MAX_MODULES * SLC_PET_MAX_UNITS };

struct slc_pet_rates {
    slc_pet_rates_config config;
    int64_t bin_ps;
    slc_pet_rate_rows rows;
    int64_t *bin; /* number of each row's */
    size_t capacity;
    slc_pet_rates_sum sum;
    uint32_t *count;                        /* singles of each crystal in the bin that they have come to, */
    int64_t open_bin;                       /* which is this one */
    bool any;                               /* single */
    int64_t first_ps, last_ps, now_ps;      /* of singles; where frames have come to */
    uint64_t moments;                       /* singles, without those that come with the one before */
    uint64_t frames, lost, multiples;       /* that no bin has yet, for want of a time */
    uint64_t before_lost, before_multiples; /* of the chain's totals */
    uint64_t all_frames;                    /* of all calls; of the chain's totals then: */
    uint64_t converted, strange;            /* strange: of no block */
    uint32_t modules, units;
    uint64_t *block; /* frames since stretch_ps */
    int64_t stretch_ps;
    slc_pet_rates_totals totals;
};

/* ---- open, close ------------------------------------------------------------------------------- */

static void pet_rates_config_default(slc_pet_rates_config *config)
{
    *config = (slc_pet_rates_config){.size = sizeof *config, .bin_s = 1};
}
SLC_CONFIG_DEFAULT(slc_pet_rates_config, pet_rates_config_default)

static slc_status check(const slc_pet_rates_config *config, slc_error *error)
{
    if (!(config->bin_s >= 1e-6 && config->bin_s <= 3600)) {
        return slc_fail(error, SLC_ERR_USAGE, "bins of %g s; they have 1 us to 3600 s", config->bin_s);
    }
    if (!(config->window_ns > 0 && isfinite(config->window_ns))) {
        return slc_fail(error, SLC_ERR_USAGE, "window_ns is %g, not above 0", config->window_ns);
    }
    if (!(config->dead_time_ns >= 0 && isfinite(config->dead_time_ns))) {
        return slc_fail(error, SLC_ERR_USAGE, "a dead time of %g ns", config->dead_time_ns);
    }
    return SLC_OK;
}

slc_status slc_pet_rates_open(const slc_pet_rates_config *given, slc_pet_rates **out, slc_error *error)
{
    *out = NULL;
    slc_pet_rates_config own;
    const slc_pet_rates_config *config = &own;
    slc_pet_rates_config_default(&own);
    slc_status status = slc_config_take(&own, sizeof own, given, "slc_pet_rates_config", error);
    status = status == SLC_OK ? check(&own, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_pet_rates *r = calloc(1, sizeof *r);
    if (r == NULL || (r->block = calloc(BLOCKS, sizeof *r->block)) == NULL) {
        free(r);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for rates");
    }
    r->config = *config;
    r->bin_ps = (int64_t)(config->bin_s * 1e12 + 0.5);
    r->modules = slc_pet_module_count(&config->geometry);
    r->units = config->geometry.blocks_y * config->geometry.blocks_z;
    status = slc_pet_rates_sum_open(&config->geometry, &config->good, &r->sum, error);
    if (status == SLC_OK && (r->count = calloc(r->sum.crystals, sizeof *r->count)) == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory for the counts of %u crystals", r->sum.crystals);
    }
    if (status != SLC_OK) {
        slc_pet_rates_close(r);
        return status;
    }
    *out = r;
    return SLC_OK;
}

void slc_pet_rates_close(slc_pet_rates *r)
{
    if (r != NULL) {
        slc_pet_rates_sum_close(&r->sum);
        free(r->count);
        slc_columns_clear(&slc_pet_rate_rows_schema, &r->rows);
        free(r->bin);
        free(r->block);
        free(r);
    }
}

/* ---- rows -------------------------------------------------------------------------------------- */

static int64_t bin_of(const slc_pet_rates *r, int64_t time_ps)
{
    return time_ps / r->bin_ps - (time_ps % r->bin_ps < 0);
}

static slc_status grow(slc_pet_rates *r, slc_error *error)
{
    const size_t n = r->rows.head.size;
    if (n == MOST_ROWS) {
        return slc_fail(error, SLC_ERR_FORMAT, "there are more than %d bins of %g s: choose longer ones",
                        (int)MOST_ROWS, r->config.bin_s);
    }
    if (n < r->capacity) {
        return SLC_OK;
    }
    const size_t capacity = n + n / 2 + 64;
    int64_t *bin = realloc(r->bin, capacity * sizeof *bin);
    r->bin = bin != NULL ? bin : r->bin;
    if (bin == NULL || slc_columns_reserve(&slc_pet_rate_rows_schema, &r->rows, capacity, 0) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu bins of rates", capacity);
    }
    r->capacity = capacity;
    return SLC_OK;
}

/* Makes room for a row in front of number `row`. */
static void shift(slc_pet_rates *r, size_t row)
{
    const size_t behind = r->rows.head.size - row;
    for (size_t c = 0; c < slc_pet_rate_rows_schema.n_columns; c++) {
        const slc_column *column = &slc_pet_rate_rows_schema.columns[c];
        const size_t size = slc_type_size(column->type);
        char *data = *slc_column_pointer(&r->rows, column);
        memmove(data + (row + 1) * size, data + row * size, behind * size);
        memset(data + row * size, 0, size);
    }
    memmove(r->bin + row + 1, r->bin + row, behind * sizeof *r->bin);
    r->rows.head.size++;
}

/* The row of a bin, which is most often one of the last. */
static slc_status row_of(slc_pet_rates *r, int64_t bin, size_t *row, slc_error *error)
{
    size_t at = r->rows.head.size;
    while (at > 0 && r->bin[at - 1] > bin) {
        at--;
    }
    if (at > 0 && r->bin[at - 1] == bin) {
        *row = at - 1;
        return SLC_OK;
    }
    const slc_status status = grow(r, error);
    if (status == SLC_OK) {
        shift(r, at);
        r->bin[at] = bin;
        r->rows.begin_s[at] = (double)bin * (double)r->bin_ps / 1e12;
        r->rows.length_s[at] = (double)r->bin_ps / 1e12;
        *row = at;
    }
    return status;
}

/* ---- singles, pairs ---------------------------------------------------------------------------- */

/* Adds up the randoms of the bin that singles have left: 2 · W · s1 · s2 · bin, over the pairs either way. */
static slc_status close_bin(slc_pet_rates *r, slc_error *error)
{
    size_t row = 0;
    const slc_status status = row_of(r, r->open_bin, &row, error);
    if (status == SLC_OK) {
        const double products = slc_pet_rates_products(&r->sum, r->count);
        r->rows.randoms[row] += products / ((double)r->bin_ps * 1e-12) * r->config.window_ns * 1e-9;
        memset(r->count, 0, r->sum.crystals * sizeof *r->count);
    }
    return status;
}

/* The singles of one decay, and of one window, are one moment. */
static uint64_t apart(int64_t a, int64_t b)
{
    return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

/* Counts them, and singles by crystal: a step each, without a branch. */
static void count_part(slc_pet_rates *r, const slc_pet_singles *part)
{
    const double window_ps = r->config.window_ns * 1e3; /* whole numbers are above it if above its floor */
    const uint64_t together_ps = window_ps < 0x1p63 ? (uint64_t)window_ps : UINT64_MAX;
    const int64_t *time = part->time_ps;
    uint32_t *count = r->count;
    int64_t before = r->any ? r->last_ps : time[0];
    uint64_t moments = r->any ? 0 : 1;
    for (size_t i = 0; i < part->head.size; i++) {
        moments += apart(before, time[i]) > together_ps;
        before = time[i];
        count[part->crystal[i]]++;
    }
    r->moments += moments;
}

/* No branch, so that the compiler looks at several at once: mostly there is nothing to find. */
static slc_status check_crystals(const slc_pet_rates *r, const slc_pet_singles *singles, size_t begin,
                                 size_t end, slc_error *error)
{
    uint32_t wrong = 0;
    for (size_t i = begin; i < end; i++) {
        wrong |= (uint32_t)(singles->crystal[i] >= r->sum.crystals);
    }
    if (wrong == 0) {
        return SLC_OK;
    }
    size_t i = begin;
    while (singles->crystal[i] < r->sum.crystals) {
        i++;
    }
    return slc_fail(error, SLC_ERR_FORMAT, "single %zu is of crystal %u, and there are %u", i,
                    singles->crystal[i], r->sum.crystals);
}

/* Singles [begin, end) of one bin. */
static slc_status add_part(slc_pet_rates *r, const slc_pet_singles *singles, size_t begin, size_t end,
                           slc_error *error)
{
    const int64_t bin = bin_of(r, singles->time_ps[begin]);
    size_t row = 0;
    slc_status status = r->any && bin != r->open_bin ? close_bin(r, error) : SLC_OK;
    status = status == SLC_OK ? row_of(r, bin, &row, error) : status;
    status = status == SLC_OK ? check_crystals(r, singles, begin, end, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    r->open_bin = bin;
    slc_pet_singles part = *singles;
    part.head.size = end - begin;
    part.time_ps += begin;
    part.crystal += begin;
    part.energy_kev += begin;
    r->rows.singles[row] += end - begin;
    count_part(r, &part);
    r->first_ps = r->any ? r->first_ps : part.time_ps[0];
    r->last_ps = part.time_ps[part.head.size - 1];
    r->any = true;
    return SLC_OK;
}

static slc_status add_singles(slc_pet_rates *r, const slc_pet_singles *singles, slc_error *error)
{
    const size_t n = singles->head.size;
    slc_status status = SLC_OK;
    for (size_t begin = 0, end = 0; begin < n && status == SLC_OK; begin = end) {
        const int64_t bin = bin_of(r, singles->time_ps[begin]);
        /* The first single of another bin, by halving. */
        size_t high = n;
        end = begin + 1;
        while (end < high) {
            const size_t middle = end + (high - end) / 2;
            if (bin_of(r, singles->time_ps[middle]) == bin) {
                end = middle + 1;
            } else {
                high = middle;
            }
        }
        status = add_part(r, singles, begin, end, error);
    }
    return status;
}

/* The times of a bin, as far as there are such numbers: a division for a bin and not for a pair. */
typedef struct times {
    int64_t first, last;
} times;

static times times_of(const slc_pet_rates *r, int64_t time_ps)
{
    int64_t before = time_ps % r->bin_ps;
    before += before < 0 ? r->bin_ps : 0;
    const int64_t after = r->bin_ps - 1 - before;
    return (times){time_ps < INT64_MIN + before ? INT64_MIN : time_ps - before,
                   time_ps > INT64_MAX - after ? INT64_MAX : time_ps + after};
}

static slc_status add_pairs(slc_pet_rates *r, const slc_pet_coincidences *pairs, slc_error *error)
{
    const int64_t *time = pairs->time_ps;
    for (size_t i = 0; i < pairs->head.size;) {
        const times bin = times_of(r, time[i]);
        const size_t begin = i;
        size_t row = 0, delayeds = 0;
        const slc_status status = row_of(r, bin_of(r, time[i]), &row, error);
        if (status != SLC_OK) {
            return status;
        }
        for (; i < pairs->head.size && time[i] >= bin.first && time[i] <= bin.last; i++) {
            delayeds += pairs->delayed[i] != 0;
        }
        r->rows.delayeds[row] += delayeds;
        r->rows.prompts[row] += i - begin - delayeds;
    }
    return SLC_OK;
}

/* ---- frames, losses, dead time ----------------------------------------------------------------- */

static void count_blocks(slc_pet_rates *r, const slc_pet_frame *frames, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t unit = frames[i].head_unit & 15U, module = frames[i].module;
        r->block[module * SLC_PET_MAX_UNITS + unit]++;
    }
}

/* Without dead time, blocks need not be told apart, and the conversion has counted the frames of blocks that
 * there are; unless frames wait in it, and its counts are of others. */
static void count_frames(slc_pet_rates *r, const slc_pet_batch *batch)
{
    const slc_pet_convert_counts *c = &batch->totals->convert;
    const uint64_t strange = c->module + c->unit, before = r->all_frames;
    r->all_frames += batch->n;
    if (r->config.dead_time_ns <= 0 && before == r->converted && c->frames == r->all_frames) {
        r->totals.frames += batch->n - (strange - r->strange);
    } else {
        count_blocks(r, batch->frames, batch->n);
    }
    r->converted = c->frames;
    r->strange = strange;
}

/* Closes a stretch of time: what the blocks have lost in it. */
static void judge_blocks(slc_pet_rates *r)
{
    const double seconds = ((double)r->now_ps - (double)r->stretch_ps) * 1e-12;
    const double dead_s = r->config.dead_time_ns * 1e-9;
    for (uint32_t module = 0; module < r->modules; module++) {
        for (uint32_t unit = 0; unit < r->units; unit++) {
            const double seen = (double)r->block[module * SLC_PET_MAX_UNITS + unit];
            r->totals.frames += r->block[module * SLC_PET_MAX_UNITS + unit];
            if (seen == 0 || dead_s <= 0) {
                continue;
            }
            const double all = seconds > 0 ? seconds * slc_pet_true_rate(seen / seconds, dead_s,
                                                                         r->config.paralysable)
                                           : NAN;
            if (!isfinite(all)) {
                r->totals.saturated++;
                continue;
            }
            r->totals.dead_frames += all - seen;
            r->totals.worst_fraction = fmax(r->totals.worst_fraction, 1 - seen / all);
        }
    }
    memset(r->block, 0, BLOCKS * sizeof *r->block);
    r->stretch_ps = r->now_ps;
}

/* What is behind the last whole stretch. How far the time has come with its frames is known to a horizon
 * only, which may be all of it: they are taken to lose as many as those before. */
static void judge_rest(slc_pet_rates *r)
{
    const double before = (double)r->totals.frames;
    if (before == 0 || (double)r->now_ps - (double)r->stretch_ps >= (double)r->bin_ps) {
        judge_blocks(r);
        return;
    }
    for (uint32_t module = 0; module < r->modules; module++) {
        for (uint32_t unit = 0; unit < r->units; unit++) {
            r->totals.frames += r->block[module * SLC_PET_MAX_UNITS + unit];
        }
    }
    r->totals.dead_frames *= (double)r->totals.frames / before;
}

static uint64_t lost_of(const slc_pet_totals *t)
{
    return t->convert.module + t->convert.unit + t->convert.position + t->convert.no_crystal + t->sort.late;
}

static uint64_t multiples_of(const slc_pet_totals *t)
{
    uint64_t sum = 0;
    for (int i = 3; i < SLC_PET_MULTIPLICITIES; i++) {
        sum += t->prompt.multiplicity[i];
    }
    return sum;
}

/* Adds `total` events of a column, evenly over the time from `begin` on up to `end`. */
static slc_status spread(slc_pet_rates *r, uint64_t **column, uint64_t total, int64_t begin, int64_t end,
                         slc_error *error)
{
    const int64_t last = bin_of(r, end);
    int64_t bin = begin < end ? bin_of(r, begin) : last;
    /* A time that is far ahead of the others is no reason to fill what is between. */
    bin = (uint64_t)last - (uint64_t)bin < MOST_SPREAD ? bin : last;
    const double span = (double)end - (double)begin;
    uint64_t given = 0;
    slc_status status = SLC_OK;
    for (; bin <= last && given < total && status == SLC_OK; bin++) {
        const double until = ((double)bin + 1) * (double)r->bin_ps - (double)begin;
        const uint64_t due = bin == last || until >= span ? total : (uint64_t)((double)total * until / span);
        size_t row = 0;
        if (due > given) {
            status = row_of(r, bin, &row, error);
            if (status == SLC_OK) {
                (*column)[row] += due - given; /* the column may have moved with the row */
                given = due;
            }
        }
    }
    return status;
}

/* What has no time of its own goes to the time that has passed since the call before. */
static slc_status put_counts(slc_pet_rates *r, int64_t frames_from, int64_t singles_from, slc_error *error)
{
    slc_status status = spread(r, &r->rows.frames, r->frames, frames_from, r->now_ps, error);
    if (status == SLC_OK) {
        status = spread(r, &r->rows.lost, r->lost, frames_from, r->now_ps, error);
    }
    if (status == SLC_OK) {
        status = spread(r, &r->rows.multiples, r->multiples, singles_from, r->last_ps, error);
    }
    r->frames = r->lost = r->multiples = 0;
    return status;
}

slc_status slc_pet_rates_add(slc_pet_rates *r, const slc_pet_batch *batch, slc_error *error)
{
    const slc_pet_result *result = batch->result;
    const slc_pet_totals *totals = batch->totals;
    const bool began = r->any;
    const int64_t before_ps = r->last_ps, before_now_ps = r->now_ps;
    const uint64_t all_lost = lost_of(totals), all_multiples = multiples_of(totals);
    slc_status status = add_singles(r, &result->singles, error);
    status = status == SLC_OK ? add_pairs(r, &result->pairs, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    r->frames += batch->n;
    r->lost += batch->skipped + all_lost - r->before_lost;
    r->multiples += all_multiples - r->before_multiples;
    r->before_lost = all_lost;
    r->before_multiples = all_multiples;
    count_frames(r, batch);
    if (!r->any) {
        return SLC_OK;
    }
    r->stretch_ps = began ? r->stretch_ps : r->first_ps;
    /* The frames are ahead of what the sort gives out by its horizon; at the end they are not. */
    const bool waits = totals->sort.held > 0;
    const int64_t ahead = waits && r->last_ps < INT64_MAX - r->config.horizon_ps ? r->config.horizon_ps : 0;
    r->now_ps = !began || r->last_ps + ahead > before_now_ps ? r->last_ps + ahead : before_now_ps;
    /* Times may be farther apart than a signed number can say. */
    const bool due = r->now_ps > r->stretch_ps &&
                     (uint64_t)r->now_ps - (uint64_t)r->stretch_ps >= (uint64_t)r->bin_ps;
    if (due && batch->n > 0) {
        judge_blocks(r);
    }
    return put_counts(r, began ? before_now_ps : r->first_ps, began ? before_ps : r->first_ps, error);
}

/* The first and the last bin that have singles were measured in part, as sluice/pet_rates.h has it. Rows
 * outside of them, of frames whose singles never came, have no length. */
static void shorten(slc_pet_rates *r)
{
    const double bin = (double)r->bin_ps, begin = (double)bin_of(r, r->first_ps) * bin;
    const double end = ((double)bin_of(r, r->last_ps) + 1) * bin;
    const double gap = r->moments > 1 ? ((double)r->last_ps - (double)r->first_ps) / (double)(r->moments - 1)
                                      : INFINITY;
    const double from = fmax((double)r->first_ps - gap, begin), to = fmin((double)r->last_ps + gap, end);
    r->totals.randoms = 0;
    for (size_t row = 0; row < r->rows.head.size; row++) {
        const double first = (double)r->bin[row] * bin, last = first + bin;
        const bool whole = first >= from && last <= to; /* without roundings of times far from 0 */
        const double length = whole ? bin : fmax(fmin(last, to) - fmax(first, from), 0);
        r->rows.length_s[row] = length / 1e12;
        r->rows.randoms[row] *= length > 0 ? bin / length : 0;
        r->totals.randoms += r->rows.randoms[row];
    }
}

slc_status slc_pet_rates_finish(slc_pet_rates *r, slc_pet_rates_totals *totals, slc_error *error)
{
    slc_status status = SLC_OK;
    if (r->any) {
        status = close_bin(r, error);
        judge_rest(r);
        r->totals.seconds = ((double)r->last_ps - (double)r->first_ps) * 1e-12;
        shorten(r);
    }
    if (totals != NULL) {
        *totals = r->totals;
    }
    return status;
}

const slc_pet_rate_rows *slc_pet_rates_rows(const slc_pet_rates *r)
{
    return &r->rows;
}

void slc_pet_rates_totals_of(const slc_pet_rates *r, slc_pet_rates_totals *totals)
{
    *totals = r->totals;
}
