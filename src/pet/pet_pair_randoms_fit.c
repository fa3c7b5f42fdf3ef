/* SPDX-License-Identifier: Apache-2.0
 *
 * Randoms of each pair (sluice/pet_rates.h): what the counts come to. A crystal's weight in a bin is its
 * singles there times its share 1 − α·p; of delayeds, its singles times its part of the mixed pairs. Sums of
 * products over all good pairs are those of pet_rates_sum.h, less those within blocks.
 */
#include "base/columns.h"
#include "pet/pet_pair_randoms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const slc_column crystal_columns[] = {
    SOA_COLUMN(slc_pet_crystal_rates, crystal, "index"), SOA_COLUMN(slc_pet_crystal_rates, singles, "1"),
    SOA_COLUMN(slc_pet_crystal_rates, singles_hz, "Hz"), SOA_COLUMN(slc_pet_crystal_rates, weight, "1"),
    SOA_COLUMN(slc_pet_crystal_rates, alive, "1"),
};
SOA_SCHEMA(slc_pet_crystal_rates, slc_pet_crystal_rates_schema, "crystals", crystal_columns);

/* ---- sums -------------------------------------------------------------------------------------- */

/* Of one crystal its good partners in its own block. */
static double own_partners(const slc_pet_pair_randoms *p, uint32_t c, const double *weight, double block_sum)
{
    const uint32_t b = p->block[c];
    if (p->own_pairs[b] <= SLC_PET_OWN_ANY) {
        return p->own_pairs[b] == SLC_PET_OWN_NONE     ? 0
               : p->own_pairs[b] == SLC_PET_OWN_OTHERS ? block_sum - weight[c]
                                                       : block_sum;
    }
    double sum = 0;
    for (uint32_t i = p->block_from[b]; i < p->block_from[b + 1]; i++) {
        sum += slc_pet_is_good(&p->sum.rule, c, p->in_block[i]) ? weight[p->in_block[i]] : 0;
    }
    return sum;
}

static double block_sum(const slc_pet_pair_randoms *p, uint32_t b, const double *weight)
{
    double sum = 0;
    for (uint32_t i = p->block_from[b]; i < p->block_from[b + 1]; i++) {
        sum += weight[p->in_block[i]];
    }
    return sum;
}

void slc_pet_pair_sums(const slc_pet_pair_randoms *p, const double *weight, double *apart, double *own)
{
    *own = 0;
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        const double sum = block_sum(p, b, weight);
        for (uint32_t i = p->block_from[b]; i < p->block_from[b + 1]; i++) {
            const uint32_t c = p->in_block[i];
            *own += weight[c] * own_partners(p, c, weight, sum);
        }
    }
    *apart = fmax(slc_pet_rates_weigh(&p->sum, weight) - *own, 0);
}

/* Of each crystal its good partners in other blocks. */
static void find_partners(const slc_pet_pair_randoms *p, const double *weight, double *partners)
{
    slc_pet_rates_partners(&p->sum, weight, partners);
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        const double sum = block_sum(p, b, weight);
        for (uint32_t i = p->block_from[b]; i < p->block_from[b + 1]; i++) {
            const uint32_t c = p->in_block[i];
            partners[c] = fmax(partners[c] - own_partners(p, c, weight, sum), 0);
        }
    }
}

/* ---- time -------------------------------------------------------------------------------------- */

/* The first bin and the last are as long as the part of them that was measured. */
static void find_lengths(slc_pet_pair_randoms *p)
{
    const size_t n = p->bins.head.size;
    const double bin = (double)p->bin_ps;
    uint64_t openers = 0;
    for (size_t row = 0; row < n; row++) {
        openers += p->openers[row];
    }
    const double span = (double)p->last_ps - (double)p->first_ps;
    const double gap = openers > 1 ? span / (double)(openers - 1) : INFINITY;
    for (size_t row = 0; row < n; row++) {
        const double begin = (double)p->bin[row] * bin, end = begin + bin;
        const double from = row == 0 ? fmax((double)p->first_ps - gap, begin) : begin;
        const double to = row + 1 == n ? fmin((double)p->last_ps + gap, end) : end;
        p->bins.begin_s[row] = begin / 1e12;
        p->bins.length_s[row] = (to - from) / 1e12;
    }
}

static slc_status put_tally(void *context, const slc_pet_tally *tally)
{
    slc_pet_pair_randoms *p = context;
    int64_t bin = tally->bin;
    for (uint32_t k = 0; k < p->doubled; k++) {
        bin = bin / 2 - (bin % 2 < 0);
    }
    size_t low = 0, high = p->bins.head.size;
    while (low + 1 < high) {
        const size_t middle = low + (high - low) / 2;
        low = p->bin[middle] <= bin ? middle : low;
        high = p->bin[middle] <= bin ? high : middle;
    }
    p->two[low] += tally->two;
    p->three[low] += tally->three;
    return SLC_OK;
}

/* Stretches of neighbouring bins, with the counts of their crystals. */
static slc_status find_stretches(slc_pet_pair_randoms *p, slc_error *error)
{
    const size_t n = p->bins.head.size;
    p->n_stretches = n < SLC_PET_STRETCHES ? n : SLC_PET_STRETCHES;
    p->stretch = calloc(p->n_stretches * p->crystals + 1, sizeof *p->stretch);
    if (p->stretch == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the randoms of %u crystals", p->crystals);
    }
    for (size_t row = 0; row < n; row++) {
        double *to = p->stretch + row * p->n_stretches / n * p->crystals;
        const uint64_t *from = p->count + row * p->crystals;
        for (uint32_t c = 0; c < p->crystals; c++) {
            to[c] += (double)from[c];
            p->all[c] += (double)from[c];
        }
    }
    return SLC_OK;
}

/* opengate's policies are by themselves. */
static bool is_all_open(const slc_pet_coincidence_config *prompt)
{
    return prompt->all_open || (prompt->policy >= SLC_PET_OPENGATE_REMOVE_MULTIPLES &&
                                prompt->policy <= SLC_PET_OPENGATE_TAKE_WINNER_IF_ALL_ARE_GOODS);
}

/* ---- shares of crystals ------------------------------------------------------------------------ */

/* Where every single opens a window, a partner before the first single of a pair is in none with both: of the
 * first company behind it alone counts, of the second any. That is half and half, and not the same for all
 * crystals: those near to the source are the earlier ones of their pairs. */
static void set_weights(slc_pet_pair_randoms *p, double alpha)
{
    const double least = 1e-3; /* a crystal whose singles all have company is not without any */
    const double any = is_all_open(&p->config.prompt) ? 0.5 : 1;
    for (uint32_t c = 0; c < p->crystals; c++) {
        const double part = any * (double)p->company[c] + (1 - any) * (double)p->behind[c];
        p->weight[c] = p->all[c] > 0 ? fmax(1 - alpha * part / p->all[c], least) : 1;
    }
}

/* How likely the ends of mixed pairs are as they are, but for a constant. */
static double likelihood(slc_pet_pair_randoms *p, double alpha, double *wanted)
{
    memset(wanted, 0, p->crystals * sizeof *wanted);
    set_weights(p, alpha);
    /* By geometry pairs are looked at one by one: then all of the time is one stretch. */
    const size_t n = p->sum.rule.geometry && p->n_stretches > 0 ? 1 : p->n_stretches;
    for (size_t s = 0; s < n; s++) {
        const double *count = n < p->n_stretches ? p->all : p->stretch + s * p->crystals;
        for (uint32_t c = 0; c < p->crystals; c++) {
            p->work[c] = count[c] * p->weight[c];
        }
        find_partners(p, p->work, p->partners);
        for (uint32_t c = 0; c < p->crystals; c++) {
            wanted[c] += p->work[c] * p->partners[c];
        }
    }
    double sum = 0, ends = 0, all = 0;
    for (uint32_t c = 0; c < p->crystals; c++) {
        if (p->fan[c] > 0 && wanted[c] > 0) {
            sum += (double)p->fan[c] * log(wanted[c]);
            ends += (double)p->fan[c];
        }
        all += wanted[c];
    }
    return all > 0 ? sum - ends * log(all) : 0;
}

/* The highest of the likelihood between 0 and 1, by golden sections: it has one. */
static slc_status find_alpha(slc_pet_pair_randoms *p, slc_error *error)
{
    const double golden = 0.6180339887498949;
    const double most = is_all_open(&p->config.prompt) ? 2 : 1; /* parts are then smaller */
    double *wanted = calloc(p->crystals, sizeof *wanted), low = 0, high = most;
    if (wanted == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the randoms of %u crystals", p->crystals);
    }
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double at_a = likelihood(p, a, wanted), at_b = likelihood(p, b, wanted);
    while (high - low > (p->sum.rule.geometry ? 1e-2 : 1e-4)) {
        if (at_a >= at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - golden * (high - low);
            at_a = likelihood(p, a, wanted);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + golden * (high - low);
            at_b = likelihood(p, b, wanted);
        }
    }
    free(wanted);
    p->totals.company = low == 0 ? 0 : high == most ? most : (low + high) / 2;
    set_weights(p, p->totals.company);
    return SLC_OK;
}

/* a with a · (a's partners) = mixed pairs of each crystal: each step takes the root of what is missing. */
static slc_status find_parts(slc_pet_pair_randoms *p)
{
    double *a = p->work, worst = 1;
    for (uint32_t c = 0; c < p->crystals; c++) {
        a[c] = sqrt((double)p->fan[c]);
    }
    for (int step = 0; step < 500 && worst > 1e-9; step++) {
        find_partners(p, a, p->partners);
        worst = 0;
        for (uint32_t c = 0; c < p->crystals; c++) {
            const double have = a[c] * p->partners[c], want = (double)p->fan[c];
            const double factor = have > 0 ? sqrt(want / have) : 0;
            worst = fmax(worst, have > 0 ? fabs(factor - 1) : 0);
            a[c] *= factor;
        }
    }
    for (uint32_t c = 0; c < p->crystals; c++) {
        p->weight[c] = p->all[c] > 0 ? a[c] / p->all[c] : 0;
    }
    return SLC_OK;
}

/* ---- the number of all ------------------------------------------------------------------------- */

/* What single windows lose of load k, with x singles in a window on average. */
static double opening(const slc_pet_pair_randoms *p, double k, double x)
{
    const slc_pet_policy policy = p->config.prompt.policy;
    const bool goods = policy == SLC_PET_TAKE_ALL_GOODS || policy == SLC_PET_MULTIPLES_AS_ALL;
    const bool all_open = is_all_open(&p->config.prompt);
    const bool winner = policy == SLC_PET_TAKE_WINNER_OF_GOODS ||
                        policy == SLC_PET_OPENGATE_TAKE_WINNER_OF_GOODS;
    const double chosen = winner && k * x > 1e-9 ? -expm1(-k * x) / (k * x) : 1;
    return all_open ? chosen : (goods ? 1 + k * x / 2 : chosen) / (1 + k * x);
}

/* What is summed over bins. */
typedef struct expected {
    double apart, own, rate, x; /* randoms without any loss; singles a second; and in a window */
} expected;

static void find_rows(slc_pet_pair_randoms *p, expected *rows, double *most)
{
    const double window_s = p->config.prompt.window_ns * 1e-9;
    *most = 0;
    for (size_t r = 0; r < p->bins.head.size; r++) {
        const uint64_t *count = p->count + r * p->crystals;
        const double length = p->bins.length_s[r];
        for (uint32_t c = 0; c < p->crystals; c++) {
            p->work[c] = (double)count[c] * p->weight[c];
        }
        slc_pet_pair_sums(p, p->work, &rows[r].apart, &rows[r].own);
        const double scale = length > 0 ? window_s / length : 0; /* both orders are in the sums */
        rows[r].apart *= scale;
        rows[r].own *= scale;
        rows[r].rate = length > 0 ? (double)p->bins.singles[r] / length : 0;
        const double opened = length > 0 ? fmin((double)p->openers[r] / length * window_s, 0.999) : 0;
        rows[r].x = opened / (1 - opened);
        *most = fmax(*most, rows[r].rate);
    }
}

/* Mixed pairs of load k to be expected with κ 1. */
static double mixed(const slc_pet_pair_randoms *p, const expected *rows, double most, double k, double c)
{
    double sum = 0;
    for (size_t r = 0; r < p->bins.head.size; r++) {
        const double rate = most > 0 ? rows[r].rate / most : 0;
        sum += 2 * rows[r].apart * opening(p, k, rows[r].x) * exp(-k * c * rate);
    }
    return sum;
}

/* κ and c of the mixed pairs of two copies and of three, and with them what is expected of one. */
static void find_factors(slc_pet_pair_randoms *p, const expected *rows, double most, double whole)
{
    double two = 0, three = 0, low = -30, high = 30;
    for (size_t r = 0; r < p->bins.head.size; r++) {
        two += (double)p->two[r];
        three += (double)p->three[r];
    }
    for (int step = 0; step < 100 && three > 0; step++) {
        const double c = (low + high) / 2;
        const bool more = mixed(p, rows, most, 3, c) * two > mixed(p, rows, most, 2, c) * three;
        low = more ? c : low;
        high = more ? high : c;
    }
    const double c = three > 0 ? (low + high) / 2 : 0, all = mixed(p, rows, most, 2, c);
    const double kappa = all > 0 ? two * whole / all : 0;
    double apart = 0, own = 0;
    for (size_t r = 0; r < p->bins.head.size; r++) {
        const double rate = most > 0 ? rows[r].rate / most : 0;
        p->bins.factor[r] = kappa * opening(p, 1, rows[r].x) * exp(-c * rate);
        apart += p->bins.factor[r] * rows[r].apart;
        own += p->bins.factor[r] * rows[r].own;
    }
    p->own = p->prompts > 0 && own > 0 ? fmin((double)p->own_prompts / own, 1) : 1;
    p->totals.within_blocks = p->own;
    p->totals.randoms = apart + p->own * own;
    p->totals.sigma = three > 0 ? p->totals.randoms / sqrt(three) : sqrt(two) / 2 * whole;
    for (size_t r = 0; r < p->bins.head.size; r++) {
        p->bins.randoms[r] = p->bins.factor[r] * (rows[r].apart + p->own * rows[r].own);
    }
}

/* Stretches have the randoms of their bins. */
static void scale_stretches(slc_pet_pair_randoms *p)
{
    const size_t n = p->bins.head.size;
    double randoms[SLC_PET_STRETCHES] = {0};
    for (size_t row = 0; row < n; row++) {
        randoms[row * p->n_stretches / n] += p->bins.randoms[row];
    }
    for (size_t s = 0; s < p->n_stretches; s++) {
        double apart = 0, own = 0, *weight = p->stretch + s * p->crystals;
        for (uint32_t c = 0; c < p->crystals; c++) {
            weight[c] *= p->weight[c];
        }
        slc_pet_pair_sums(p, weight, &apart, &own);
        const double pairs = (apart + p->own * own) / 2;
        p->stretch_factor[s] = pairs > 0 ? randoms[s] / pairs : 0;
    }
}

/* Frames of each block for each of its singles, which are fewer: energies are cut. */
static void find_block_frames(slc_pet_pair_randoms *p)
{
    const uint32_t units = p->config.geometry.blocks_y * p->config.geometry.blocks_z;
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        const size_t module = b / units, unit = b % units;
        const bool there = module < SLC_PET_MAX_MODULES && unit < SLC_PET_MAX_UNITS;
        p->block_frames[b] = there ? p->frames[module * SLC_PET_MAX_UNITS + unit] : 0;
    }
}

slc_status slc_pet_pair_randoms_fit(slc_pet_pair_randoms *p, slc_error *error)
{
    const size_t n = p->bins.head.size;
    double most = 0;
    slc_pet_randoms_counts counts;
    slc_pet_randoms_counts_of(p->mix, &counts);
    p->totals = (slc_pet_pair_randoms_totals){
        .within_blocks = 1, .bin_s = (double)p->bin_ps / 1e12, .bins = n};
    p->two = calloc(n + 1, sizeof *p->two);
    p->three = calloc(n + 1, sizeof *p->three);
    expected *rows = calloc(n + 1, sizeof *rows);
    slc_status status = p->two != NULL && p->three != NULL && rows != NULL
                            ? SLC_OK
                            : slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu bins", n);
    if (status == SLC_OK && n > 0) {
        (void)slc_pet_randoms_watched(p->mix, p->fan, put_tally, p);
        find_block_frames(p);
        find_lengths(p);
        status = find_stretches(p, error);
        if (status == SLC_OK && counts.mixed == 0) {
            p->totals.randoms = p->totals.sigma = NAN;
            set_weights(p, 0);
            memset(p->bins.factor, 0, n * sizeof *p->bins.factor);
            memset(p->bins.randoms, 0, n * sizeof *p->bins.randoms);
        } else if (status == SLC_OK) {
            status = p->config.from == SLC_PET_RANDOMS_FROM_DELAYEDS ? find_parts(p) : find_alpha(p, error);
        }
        if (status == SLC_OK && counts.mixed > 0) {
            find_rows(p, rows, &most);
            find_factors(p, rows, most, (double)counts.singles / (double)counts.mixed);
            scale_stretches(p);
        }
    }
    free(rows);
    return status;
}

/* ---- answers ----------------------------------------------------------------------------------- */

/* The row of a time, or the nearest one. */
static size_t row_at(const slc_pet_pair_randoms *p, int64_t time_ps, size_t guess)
{
    const int64_t bin = time_ps / p->bin_ps - (time_ps % p->bin_ps < 0);
    if (p->bin[guess] == bin) {
        return guess;
    }
    size_t low = 0, high = p->bins.head.size;
    while (low + 1 < high) {
        const size_t middle = low + (high - low) / 2;
        low = p->bin[middle] <= bin ? middle : low;
        high = p->bin[middle] <= bin ? high : middle;
    }
    const bool later = low + 1 < p->bins.head.size && bin > p->bin[low] &&
                       (uint64_t)p->bin[low + 1] - (uint64_t)bin < (uint64_t)bin - (uint64_t)p->bin[low];
    return low + later;
}

/* Singles of a crystal in a bin, per second, but for the pair's own one: crystals of pairs that were found
 * have more of them than others just by that, and few bins' singles would make much of it. */
static double others_hz(uint64_t count, double length_s)
{
    return count > 0 ? (double)(count - 1) / length_s : 0;
}

/* The part of a pair's product that there is. */
static double part_of(const slc_pet_pair_randoms *p, uint32_t a, uint32_t b)
{
    if (!slc_pet_is_good(&p->sum.rule, a, b)) {
        return 0;
    }
    return (p->block[a] == p->block[b] ? p->own : 1) * (a == b ? 0.5 : 1);
}

void slc_pet_pair_randoms_hz(const slc_pet_pair_randoms *p, const slc_pet_coincidences *pairs, float *hz)
{
    const double window_s = p->config.prompt.window_ns * 1e-9;
    size_t row = 0;
    for (size_t i = 0; i < pairs->head.size; i++) {
        const uint32_t a = pairs->crystal1[i], b = pairs->crystal2[i];
        hz[i] = 0;
        if (p->bins.head.size == 0) {
            continue;
        }
        row = row_at(p, pairs->time_ps[i], row);
        const uint64_t *count = p->count + row * p->crystals;
        const double length = p->bins.length_s[row];
        const double s1 = others_hz(count[a], length) * p->weight[a];
        const double s2 = others_hz(count[b], length) * p->weight[b];
        hz[i] = (float)(p->bins.factor[row] * 2 * window_s * (s1 * s2) * part_of(p, a, b));
    }
}

double slc_pet_pair_randoms_between(const slc_pet_pair_randoms *p, uint32_t crystal1, uint32_t crystal2)
{
    const double part = part_of(p, crystal1, crystal2);
    double sum = 0;
    for (size_t s = 0; s < p->n_stretches && part > 0; s++) {
        const double *weight = p->stretch + s * p->crystals;
        sum += p->stretch_factor[s] * (weight[crystal1] * weight[crystal2]);
    }
    return sum * part;
}

/* Of a block in a bin: its frames are as many for each single as in all of the measurement. */
static double alive(const slc_pet_pair_randoms *p, uint32_t block, const uint64_t *count, double length)
{
    const double dead_s = p->config.dead_time_ns * 1e-9;
    double here = 0, all = 0;
    for (uint32_t i = p->block_from[block]; i < p->block_from[block + 1]; i++) {
        here += (double)count[p->in_block[i]];
        all += p->all[p->in_block[i]];
    }
    if (dead_s == 0 || here == 0) {
        return 1;
    }
    const double frames = fmax((double)p->block_frames[block], all), seen = here / all * frames / length;
    return seen / slc_pet_true_rate(seen, dead_s, p->config.paralysable);
}

slc_status slc_pet_pair_randoms_crystals(const slc_pet_pair_randoms *p, size_t bin,
                                         slc_pet_crystal_rates *rows)
{
    const uint64_t *count = p->count + bin * p->crystals;
    const double length = p->bins.length_s[bin];
    slc_columns_reset(rows);
    const slc_status status = slc_columns_reserve(&slc_pet_crystal_rates_schema, rows, p->crystals, 1);
    if (status != SLC_OK) {
        return status;
    }
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        const float part = (float)alive(p, b, count, length);
        for (uint32_t i = p->block_from[b]; i < p->block_from[b + 1]; i++) {
            rows->alive[p->in_block[i]] = part;
        }
    }
    for (uint32_t c = 0; c < p->crystals; c++) {
        rows->crystal[c] = c;
        rows->singles[c] = count[c];
        rows->singles_hz[c] = (float)((double)count[c] / length);
        rows->weight[c] = (float)p->weight[c];
    }
    rows->head.size = p->crystals;
    return SLC_OK;
}
