/* SPDX-License-Identifier: Apache-2.0
 *
 * Charge in CMS's silicon: what a crossing leaves, its drift to the pixels, noise, thresholds and the count
 * that comes out. The amount of charge follows J. Moyal's formula for Landau's distribution (Philosophical
 * Magazine 46, 1955, 263), whose variable is minus the logarithm of a squared normal number.
 */
#include "sim/sim_cms_event.h"

/* Electrons for a micrometre at the peak, width of the peak over its height, what is left of each step's own
 * fluctuation; width of the cloud of a charge that drifted all the way. */
#define PEAK_E_UM  76.0
#define WIDTH      0.08
#define STEP_UM    15.0
#define STEP_WIDTH 0.15
#define CLOUD_UM   8.0
/* Noise of a pixel; threshold and its spread. The innermost layer's chips are others. */
#define NOISE_E            180.0
#define THRESHOLD_E        1800.0
#define THRESHOLD_LAYER1_E 2200.0
#define THRESHOLD_SPREAD_E 120.0
/* Counts: those of the calibration stage, backwards. */
#define FACTOR_LAYER1   50.0
#define OFFSET_LAYER1_E (-670.0)
#define FACTOR          47.0
#define OFFSET_E        (-60.0)
/* Mean number of digis that a noisy column sends in an event. */
#define NOISY_DIGIS 3.0

enum { ROWS = SLC_CMS_ROWS, COLUMNS = SLC_CMS_COLUMNS, MOST_ADC = 255, OUTSIDE = -1 };

/* ---- places --------------------------------------------------------------------------------------- */

/* The row at so many pitches from the module's edge: rows 79 and 80 are two pitches long. */
static int row_at(double pitches)
{
    const int p = (int)floor(pitches);
    if (p < 0 || p >= ROWS + 2) {
        return OUTSIDE;
    }
    return p < 79 ? p : p < 81 ? 79 : p < 83 ? 80 : p - 2;
}

/* The column: of a chip's 52, the first and the last are two pitches long. */
static int column_at(double pitches)
{
    const int p = (int)floor(pitches);
    if (p < 0 || p >= COLUMNS + 16) {
        return OUTSIDE;
    }
    const int chip = p / 54, in = p % 54;
    return 52 * chip + (in < 2 ? 0 : in >= 52 ? 51 : in - 1);
}

/* ---- one crossing --------------------------------------------------------------------------------- */

static void deposit(slc_sim_cms *sim, double x_um, double y_um, double charge)
{
    const int x = row_at((x_um + SIM_CMS_HALF_X_UM) / 100), y = column_at((y_um + SIM_CMS_HALF_Y_UM) / 150);
    if (x == OUTSIDE || y == OUTSIDE) {
        return;
    }
    const uint32_t pixel = (uint32_t)(x * COLUMNS + y);
    uint32_t *row = slc_sim_list_append(&sim->touched, 1, sizeof *row, &sim->failed);
    if (row != NULL) {
        *row = pixel;
        sim->charge[pixel] += (float)charge;
    }
}

/* Mean 0, width 1, from four even numbers of 16 bits: its tails end at 3.5. Steps are many and small, and
 * their sums lose the shape anyway. */
static double step_normal(sim_random *random)
{
    const uint64_t bits = random_bits(random);
    const uint32_t sum = (uint32_t)((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) +
                                    (bits >> 48));
    return ((double)sum - 2 * 65535.0) * (1.7320508 / 65536);
}

/* Charge along the track in short steps. What was freed deep in the silicon drifts further, and spreads. */
static void ionise(slc_sim_cms *sim, sim_cms_crossing *c, double drift_um)
{
    sim_random *random = &sim->random;
    const double cot_x = (double)c->cot_x, cot_y = (double)c->cot_y;
    const double length = SIM_CMS_THICKNESS_UM * sqrt(1 + cot_x * cot_x + cot_y * cot_y);
    const double normal = random_normal(random);
    /* Its mean is 1.27 above the peak; cut where a single pixel could not measure it anyway. */
    const double moyal = fmin(-log(normal * normal + 1e-12), 25);
    const double total = PEAK_E_UM * length * (1 + WIDTH * moyal);
    const uint32_t steps = (uint32_t)(length / STEP_UM) + 1;
    double sum = 0;
    for (uint32_t i = 0; i < steps; i++) {
        const double depth = (i + 0.5) / steps; /* 1 at the pixels */
        const double root = 1 - STEP_WIDTH * STEP_WIDTH + STEP_WIDTH * step_normal(random);
        const double charge = total / steps * root * root * root; /* its mean is 1 */
        const double cloud = CLOUD_UM * sqrt(1 - depth);
        const double along = (depth - 0.5) * SIM_CMS_THICKNESS_UM;
        const double cloud_x = cloud * step_normal(random), cloud_y = cloud * step_normal(random);
        deposit(sim, (double)c->x_um + cot_x * along + drift_um * (1 - depth) + cloud_x,
                (double)c->y_um + cot_y * along + cloud_y, charge);
        sum += charge;
    }
    c->charge_e = (float)sum;
}

/* ---- one module ----------------------------------------------------------------------------------- */

static double threshold(uint32_t module, sim_random *random)
{
    const double mean = module < SLC_CMS_LAYER1_END ? THRESHOLD_LAYER1_E : THRESHOLD_E;
    return mean + THRESHOLD_SPREAD_E * random_normal(random);
}

/* The count that the calibration turns into this charge. */
static uint8_t to_adc(const slc_sim_cms *sim, uint32_t module, uint32_t x, uint32_t y, double charge)
{
    const slc_cms_gains *gains = &sim->gains;
    const slc_cms_gain g = gains->gain[module * SLC_CMS_GAINS + y * SLC_CMS_GAIN_BLOCKS + x / 80];
    const bool inner = module < SLC_CMS_LAYER1_END;
    const double gain = g.gain * (double)gains->gain_step + (double)gains->gain_low;
    /* Of marked columns the pedestal is not known; they send something. */
    const bool marked = g.pedestal == gains->dead || g.pedestal == gains->noisy;
    const double pedestal = marked ? 30
                                   : g.pedestal * (double)gains->pedestal_step + (double)gains->pedestal_low;
    const double units = (charge - (inner ? OFFSET_LAYER1_E : OFFSET_E)) / (inner ? FACTOR_LAYER1 : FACTOR);
    const double adc = floor(units / gain + pedestal + 0.5);
    return (uint8_t)(adc < 0 ? 0 : adc > MOST_ADC ? MOST_ADC : adc);
}

static void put_pixel(slc_sim_cms *sim, uint32_t module, uint32_t x, uint32_t y, double charge)
{
    sim_cms_pixel *row = slc_sim_list_append(&sim->pixels, 1, sizeof *row, &sim->failed);
    if (row != NULL) {
        *row = (sim_cms_pixel){.module = (uint16_t)module,
                               .x = (uint8_t)x,
                               .y = (uint16_t)y,
                               .adc = to_adc(sim, module, x, y, charge)};
    }
}

/* Applies noise and threshold to what has been touched: a pixel keeps its charge where it is above, and 0
 * otherwise. The stamp tells which have been read. */
static void read_out(slc_sim_cms *sim, uint32_t module)
{
    const uint32_t *touched = sim->touched.rows;
    for (size_t i = 0; i < sim->touched.size; i++) {
        const uint32_t pixel = touched[i];
        if (sim->stamp[pixel] == 0) {
            const double charge = (double)sim->charge[pixel] + NOISE_E * random_normal(&sim->random);
            const bool above = charge > threshold(module, &sim->random);
            sim->stamp[pixel] = UINT32_MAX;
            sim->charge[pixel] = above ? (float)charge : 0;
            if (above) {
                put_pixel(sim, module, pixel / COLUMNS, pixel % COLUMNS, charge);
            }
        }
    }
}

/* How many pixels of a crossing, entries begin … end - 1 of what was touched, are above threshold. */
static uint32_t count_above(slc_sim_cms *sim, size_t begin, size_t end, uint32_t stamp)
{
    const uint32_t *touched = sim->touched.rows;
    uint32_t n = 0;
    for (size_t i = begin; i < end; i++) {
        n += sim->charge[touched[i]] > 0 && sim->stamp[touched[i]] != stamp;
        sim->stamp[touched[i]] = stamp;
    }
    return n;
}

static void forget(slc_sim_cms *sim)
{
    const uint32_t *touched = sim->touched.rows;
    for (size_t i = 0; i < sim->touched.size; i++) {
        sim->charge[touched[i]] = 0;
        sim->stamp[touched[i]] = 0;
    }
    sim->touched.size = 0;
}

/* Sources of one module, n of them: crossings, and after them noise. */
static void run_module(slc_sim_cms *sim, uint32_t module, const uint32_t *sources, size_t n)
{
    sim_cms_crossing *crossings = sim->crossings.rows;
    const sim_cms_noise *noise = sim->noise.rows;
    const double drift = module < SLC_CMS_BARREL_END ? (double)SIM_CMS_DRIFT_UM : 0;
    const size_t n_crossings = sim->crossings.size;
    for (size_t i = 0; i < n; i++) {
        if (sources[i] < n_crossings) {
            sim_cms_crossing *c = &crossings[sources[i]];
            c->touched = (uint32_t)sim->touched.size;
            ionise(sim, c, drift);
            c->touched_end = (uint32_t)sim->touched.size;
        } else {
            uint32_t *row = slc_sim_list_append(&sim->touched, 1, sizeof *row, &sim->failed);
            if (row != NULL) {
                *row = noise[sources[i] - n_crossings].pixel;
                sim->charge[*row] += noise[sources[i] - n_crossings].charge_e;
            }
        }
    }
    read_out(sim, module);
    for (size_t i = 0; i < n; i++) {
        if (sources[i] < n_crossings) {
            sim_cms_crossing *c = &crossings[sources[i]];
            c->n_digis = count_above(sim, c->touched, c->touched_end, (uint32_t)i + 1);
        }
    }
    forget(sim);
}

/* ---- the event ------------------------------------------------------------------------------------ */

static void put_noise(slc_sim_cms *sim, uint32_t module, uint32_t pixel)
{
    sim_cms_noise *row = slc_sim_list_append(&sim->noise, 1, sizeof *row, &sim->failed);
    if (row != NULL) {
        const double least = threshold(module, &sim->random);
        const double charge = least + 1500 * random_exponential(&sim->random);
        *row = (sim_cms_noise){.module = (uint16_t)module, .pixel = pixel, .charge_e = (float)charge};
    }
}

static void draw_noise(slc_sim_cms *sim)
{
    const uint32_t n = random_poisson(&sim->random, (double)sim->config.noise_digis);
    const uint32_t *noisy = sim->noisy.rows;
    sim->noise.size = 0;
    for (uint32_t i = 0; i < n && !sim->failed; i++) {
        const uint32_t module = (uint32_t)(random_uniform(&sim->random) * SLC_CMS_MODULES_PHASE1);
        put_noise(sim, module, (uint32_t)(random_uniform(&sim->random) * (ROWS * COLUMNS)));
    }
    for (size_t i = 0; i < sim->noisy.size && !sim->failed; i++) {
        for (uint32_t k = random_poisson(&sim->random, NOISY_DIGIS); k > 0; k--) {
            const uint32_t row = (uint32_t)(random_uniform(&sim->random) * ROWS);
            put_noise(sim, noisy[i] / COLUMNS, row * COLUMNS + noisy[i] % COLUMNS);
        }
    }
}

/* Sources by module: begin[m] … begin[m + 1] - 1 of sim->sorted. */
static void sort_sources(slc_sim_cms *sim, size_t *begin)
{
    const sim_cms_crossing *crossings = sim->crossings.rows;
    const sim_cms_noise *noise = sim->noise.rows;
    const size_t n_crossings = sim->crossings.size, n = n_crossings + sim->noise.size;
    sim->sorted.size = 0;
    uint32_t *sorted = slc_sim_list_append(&sim->sorted, n, sizeof *sorted, &sim->failed);
    for (uint32_t m = 0; m <= SLC_CMS_MODULES_PHASE1; m++) {
        begin[m] = 0;
    }
    if (sorted == NULL) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        begin[i < n_crossings ? crossings[i].module : noise[i - n_crossings].module]++;
    }
    for (uint32_t m = 0; m < SLC_CMS_MODULES_PHASE1; m++) {
        begin[m + 1] += begin[m];
    }
    for (size_t i = n; i-- > 0;) {
        sorted[--begin[i < n_crossings ? crossings[i].module : noise[i - n_crossings].module]] = (uint32_t)i;
    }
}

void slc_sim_cms_pixels(slc_sim_cms *sim)
{
    size_t begin[SLC_CMS_MODULES_PHASE1 + 1];
    sim->pixels.size = 0;
    draw_noise(sim);
    sort_sources(sim, begin);
    for (uint32_t m = 0; m < SLC_CMS_MODULES_PHASE1 && !sim->failed; m++) {
        if (begin[m + 1] > begin[m]) {
            run_module(sim, m, (uint32_t *)sim->sorted.rows + begin[m], begin[m + 1] - begin[m]);
        }
    }
}
