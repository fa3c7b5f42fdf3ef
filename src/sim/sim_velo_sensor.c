/* SPDX-License-Identifier: Apache-2.0
 *
 * One sensor of the VELO generator: from the crossings of particles to super-pixels, and back to which
 * particle made which cluster. Charge is released along the path through 200 µm of silicon, with delta rays;
 * it diffuses on its way to the pixels; a pixel fires above a threshold. The clusters are found here by a
 * plain flood fill: truth then needs nothing of the reconstruction, and tests can compare the two.
 */
#include "base/bytes.h"
#include "sim/sim_velo_event.h"
#include "velo/velo_geometry.h"

#include <stdlib.h>
#include <string.h>

/* Silicon: thickness and step of the path (mm), electrons per mm at minimum ionisation without delta rays,
 * how many independent energy transfers make them up, energy per electron (MeV). */
static const double thickness = 0.200, path_step = 0.020;
static const double electrons_per_mm = 76e3, transfers_per_mm = 420, energy_per_electron = 3.62e-6;
/* Diffusion of charge that drifts through the whole sensor, mm. */
static const double diffusion = 0.0042;
/* A pixel's threshold and its noise; less charge than `least_charge` of one crossing in one pixel is not
 * followed. */
static const double threshold = 1300, threshold_noise = 90;
static const float least_charge = 50;
/* Delta rays that are followed in the sensor: energies in MeV. */
static const double delta_least = 0.030, delta_most = 1.5, delta_density = 0.0178;

enum { GAUSS_STEPS = 1023, HIT = UINT32_MAX >> 1 };
static const double gauss_range = 4.0;

bool slc_sim_sensor_init(slc_sim_velo *sim)
{
    for (int i = 0; i <= GAUSS_STEPS; i++) {
        const double x = gauss_range * (2.0 * i / GAUSS_STEPS - 1);
        sim->gauss[i] = (float)(0.5 * erfc(-x / sqrt(2)));
    }
    /* A pixel's centre is in its middle, and pixels touch: each edge follows from the one before. */
    double edge = (double)sim->geometry.local_x_mm[0] - 0.5 * (double)SLC_VELO_PITCH_MM;
    sim->column_edge[0] = edge;
    for (int c = 0; c < SLC_VELO_COLUMNS; c++) {
        const double width = 2 * ((double)sim->geometry.local_x_mm[c] - edge);
        if (!(width > 0.01 && width < 1)) {
            return false;
        }
        /* Pixels come in two widths; snapping to micrometres keeps rounding from adding up. */
        edge += round(width * 1e4) * 1e-4;
        sim->column_edge[c + 1] = edge;
    }
    return true;
}

/* The part of a unit Gaussian below x. */
static double below(const slc_sim_velo *sim, double x)
{
    const double at = (x + gauss_range) * (GAUSS_STEPS / (2 * gauss_range));
    if (at <= 0) {
        return 0;
    }
    if (at >= GAUSS_STEPS) {
        return 1;
    }
    const int i = (int)at;
    const double part = at - i;
    return (1 - part) * (double)sim->gauss[i] + part * (double)sim->gauss[i + 1];
}

/* The column that holds u; u lies inside the sensor. */
static int column_of(const slc_sim_velo *sim, double u)
{
    int c = (int)(u / (double)SLC_VELO_PITCH_MM);
    c = c < 0 ? 0 : c > SLC_VELO_COLUMNS - 1 ? SLC_VELO_COLUMNS - 1 : c;
    while (c > 0 && u < sim->column_edge[c]) {
        c--;
    }
    while (c < SLC_VELO_COLUMNS - 1 && u >= sim->column_edge[c + 1]) {
        c++;
    }
    return c;
}

/* ---- charge ---------------------------------------------------------------------------------- */

static void add_deposit(slc_sim_velo *sim, int column, int row, double electrons)
{
    if (column < 0 || column >= SLC_VELO_COLUMNS || row < 0 || row >= SLC_VELO_ROWS || !(electrons > 0)) {
        return;
    }
    const uint32_t pixel = (uint32_t)(column * SLC_VELO_ROWS + row);
    sim_deposit *deposits = sim->deposits.rows;
    for (size_t i = sim->deposits.size; i-- > 0;) { /* most often one of the last */
        if (deposits[i].pixel == pixel) {
            deposits[i].electrons += (float)electrons;
            return;
        }
    }
    sim_deposit *added = slc_sim_list_append(&sim->deposits, 1, sizeof *added, &sim->failed);
    if (added != NULL) {
        *added = (sim_deposit){pixel, (float)electrons};
    }
}

/* Charge released at (u, v), at height w over the middle of the sensor, as the pixels see it. */
static void collect(slc_sim_velo *sim, double u, double v, double w, double electrons)
{
    const double pitch = (double)SLC_VELO_PITCH_MM, *edge = sim->column_edge;
    if (u <= edge[0] || u >= edge[SLC_VELO_COLUMNS] || v <= 0 || v >= SLC_VELO_ROWS * pitch) {
        return;
    }
    const int column = column_of(sim, u), row = (int)(v / pitch);
    const double depth = fmin(fmax(w / thickness + 0.5, 0.001), 1.0), width = diffusion * sqrt(depth);
    double in_column[3], in_row[3];
    in_column[0] = below(sim, (edge[column] - u) / width);
    in_column[2] = 1 - below(sim, (edge[column + 1] - u) / width);
    in_column[1] = 1 - in_column[0] - in_column[2];
    in_row[0] = below(sim, (row * pitch - v) / width);
    in_row[2] = 1 - below(sim, ((row + 1) * pitch - v) / width);
    in_row[1] = 1 - in_row[0] - in_row[2];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3 && in_column[i] > 0; j++) {
            add_deposit(sim, column + i - 1, row + j - 1, electrons * in_column[i] * in_row[j]);
        }
    }
}

/* An electron of the sensor's own material, that wanders until its energy is spent or it leaves. */
static void delta_ray(slc_sim_velo *sim, const sim_crossing *c, double w)
{
    sim_random *random = &sim->random;
    const double mass = 0.511, step = 0.010; /* MeV, mm */
    const double share = random_uniform(random);
    const double kinetic = 1 / ((1 - share) / delta_least + share / delta_most);
    /* Practical range (L. Katz, A. Penfold, 1952), in g/cm², over the density of silicon. */
    const double range = 4.12 * pow(kinetic, 1.265 - 0.0954 * log(kinetic)) / 2.33;
    const double cosine = sqrt(kinetic / (kinetic + 2 * mass));
    sim_vector at = {c->u + c->du_dw * w, c->v + c->dv_dw * w, w}, direction = {c->du_dw, c->dv_dw, 1};
    direction = vector_scale(direction, 1 / vector_length(direction));
    direction = vector_turn(direction, sqrt(1 - cosine * cosine), cosine,
                            random_between(random, 0, 2 * SIM_PI));
    const double steps = fmax(1, ceil(range / step)), per_step = kinetic / energy_per_electron / steps;
    for (double i = 0; i < steps && fabs(at.z) < thickness / 2; i++) {
        const double left = kinetic * (1 - i / steps);
        const double beta_p = left * (left + 2 * mass) / (left + mass);
        const double sigma = 13.6 / beta_p * sqrt(step / 93.7) *
                             0.65; /* Highland's logarithm at this thickness */
        const double angle = fmin(sigma * sqrt(2 * random_exponential(random)), 2.5);
        collect(sim, at.x, at.y, at.z, per_step);
        at = vector_along(at, direction, fmin(step, range));
        direction = vector_turn(direction, sin(angle), cos(angle), random_between(random, 0, 2 * SIM_PI));
    }
}

/* All charge of one crossing, into sim->deposits. */
static void ionise(slc_sim_velo *sim, const sim_crossing *c)
{
    sim_random *random = &sim->random;
    const double stretch = sqrt(1 + c->du_dw * c->du_dw + c->dv_dw * c->dv_dw);
    const double length = thickness * stretch;
    const int steps = (int)fmin(ceil(length / path_step), 2000);
    const double shape = fmax(1, transfers_per_mm * length / steps);
    const double electrons = electrons_per_mm * length / steps * c->ionisation;
    sim->deposits.size = 0;
    for (int i = 0; i < steps; i++) {
        const double w = thickness * ((i + 0.5) / steps - 0.5);
        collect(sim, c->u + c->du_dw * w, c->v + c->dv_dw * w, w,
                electrons * random_gamma_near_one(random, shape));
    }
    const double mean = delta_density * length * c->ionisation * (1 / delta_least - 1 / delta_most);
    for (uint32_t n = random_poisson(random, fmin(mean, 5)); n > 0; n--) {
        delta_ray(sim, c, thickness * random_between(random, -0.5, 0.5));
    }
}

/* ---- pixels ---------------------------------------------------------------------------------- */

static void touch(slc_sim_velo *sim, uint32_t pixel)
{
    uint32_t *row = slc_sim_list_append(&sim->pixels, 1, sizeof *row, &sim->failed);
    if (row != NULL) {
        *row = pixel;
    }
}

/* Adds the deposits of a crossing to the sensor, and remembers who made them. */
static void add_crossing(slc_sim_velo *sim, uint32_t particle)
{
    const sim_deposit *deposits = sim->deposits.rows;
    for (size_t i = 0; i < sim->deposits.size; i++) {
        if (deposits[i].electrons < least_charge) {
            continue;
        }
        sim_link *link = slc_sim_list_append(&sim->touches, 1, sizeof *link, &sim->failed);
        if (link == NULL) {
            return;
        }
        *link = (sim_link){particle, deposits[i].pixel};
        if (!(sim->charge[deposits[i].pixel] > 0)) {
            touch(sim, deposits[i].pixel);
        }
        sim->charge[deposits[i].pixel] += deposits[i].electrons;
    }
}

static bool is_dead(const slc_sim_velo *sim, uint32_t sensor, uint32_t pixel)
{
    /* A function of seed and place alone: the same pixels in every event, and no map to keep. */
    const uint64_t place = (uint64_t)sensor * SIM_PIXELS + pixel;
    const uint64_t hash = random_mix(random_mix(sim->config.seed ^ 0x6a09e667f3bcc909ULL) + place);
    return (double)(hash >> 11) * 0x1p-53 < (double)sim->config.dead_fraction;
}

/* Keeps in sim->pixels those that fire, and marks them in the map. */
static void fire(slc_sim_velo *sim, uint32_t sensor, uint32_t n_noise)
{
    uint32_t *pixels = sim->pixels.rows;
    size_t kept = 0;
    for (size_t i = 0; i < sim->pixels.size; i++) {
        const uint32_t pixel = pixels[i];
        const double charge = (double)sim->charge[pixel] + threshold_noise * random_normal(&sim->random);
        sim->charge[pixel] = 0;
        if (charge > threshold && !is_dead(sim, sensor, pixel)) {
            sim->cluster[pixel] = HIT;
            pixels[kept++] = pixel;
        }
    }
    sim->pixels.size = kept;
    for (uint32_t i = 0; i < n_noise; i++) {
        const uint32_t pixel = (uint32_t)(random_uniform(&sim->random) * SIM_PIXELS);
        if (sim->cluster[pixel] == 0 && !is_dead(sim, sensor, pixel)) {
            sim->cluster[pixel] = HIT;
            touch(sim, pixel);
        }
    }
}

/* ---- clusters -------------------------------------------------------------------------------- */

static uint32_t channel_of(uint32_t sensor, uint64_t columns, uint64_t rows, uint64_t n)
{
    const uint32_t column = (uint32_t)(columns / n), row = (uint32_t)(rows / n);
    return 2u << 28 | sensor << 18 | (column / 256) << 16 | (column % 256) << 8 | row;
}

/* Gives the connected pixels of `seed` the channel id of their cluster; `stack` has room for all pixels. */
static void flood(slc_sim_velo *sim, uint32_t sensor, uint32_t seed, uint32_t *stack)
{
    uint64_t columns = 0, rows = 0;
    size_t n = 1;
    stack[0] = seed;
    sim->cluster[seed] = 1;
    for (size_t at = 0; at < n; at++) { /* the stack keeps all members */
        const int column = (int)(stack[at] / SLC_VELO_ROWS), row = (int)(stack[at] % SLC_VELO_ROWS);
        columns += (uint64_t)column;
        rows += (uint64_t)row;
        for (int i = 0; i < 9; i++) {
            const int c = column + i / 3 - 1, r = row + i % 3 - 1;
            if (c < 0 || c >= SLC_VELO_COLUMNS || r < 0 || r >= SLC_VELO_ROWS) {
                continue;
            }
            const uint32_t pixel = (uint32_t)(c * SLC_VELO_ROWS + r);
            if (sim->cluster[pixel] == HIT) {
                sim->cluster[pixel] = 1;
                stack[n++] = pixel;
            }
        }
    }
    const uint32_t channel = channel_of(sensor, columns, rows, n);
    for (size_t i = 0; i < n; i++) {
        sim->cluster[stack[i]] = channel;
    }
}

static void find_clusters(slc_sim_velo *sim, uint32_t sensor)
{
    const size_t n = sim->pixels.size;
    uint32_t *stack = slc_sim_list_append(&sim->words, n, sizeof *stack, &sim->failed); /* not yet in use */
    const uint32_t *pixels = sim->pixels.rows;
    for (size_t i = 0; i < n && stack != NULL; i++) {
        if (sim->cluster[pixels[i]] == HIT) {
            flood(sim, sensor, pixels[i], stack);
        }
    }
    sim->words.size = 0;
    const sim_link *touches = sim->touches.rows;
    for (size_t i = 0; i < sim->touches.size; i++) {
        const uint32_t channel = sim->cluster[touches[i].channel];
        if (channel == 0 || channel == HIT) {
            continue;
        }
        const size_t n_links = sim->links.size;
        const sim_link *links = sim->links.rows;
        if (n_links > 0 && links[n_links - 1].particle == touches[i].particle &&
            links[n_links - 1].channel == channel) {
            continue; /* the same crossing's next pixel */
        }
        sim_link *link = slc_sim_list_append(&sim->links, 1, sizeof *link, &sim->failed);
        if (link == NULL) {
            return;
        }
        *link = (sim_link){touches[i].particle, channel};
        ((sim_particle *)sim->particles.rows)[link->particle].modules |= 1ULL << (sensor / 4);
    }
}

/* ---- super-pixels ---------------------------------------------------------------------------- */

static int by_word(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool is_isolated(const uint8_t *pattern, uint32_t address)
{
    const int column = (int)(address / SLC_VELO_SUPERPIXEL_ROWS),
              row = (int)(address % SLC_VELO_SUPERPIXEL_ROWS);
    for (int i = 0; i < 9; i++) {
        const int c = column + i / 3 - 1, r = row + i % 3 - 1;
        if (i != 4 && c >= 0 && c < SLC_VELO_SUPERPIXEL_COLUMNS && r >= 0 && r < SLC_VELO_SUPERPIXEL_ROWS &&
            pattern[c * SLC_VELO_SUPERPIXEL_ROWS + r] != 0) {
            return false;
        }
    }
    return true;
}

/* The hit pixels as sorted super-pixel words; cleans the maps. */
static void pack(slc_sim_velo *sim)
{
    const uint32_t *pixels = sim->pixels.rows;
    for (size_t i = 0; i < sim->pixels.size; i++) {
        const uint32_t column = pixels[i] / SLC_VELO_ROWS, row = pixels[i] % SLC_VELO_ROWS;
        const uint32_t address = column / 2 * SLC_VELO_SUPERPIXEL_ROWS + row / 4;
        sim->cluster[pixels[i]] = 0;
        if (sim->pattern[address] == 0) {
            uint32_t *word = slc_sim_list_append(&sim->words, 1, sizeof *word, &sim->failed);
            if (word != NULL) {
                *word = address;
            }
        }
        sim->pattern[address] |= (uint8_t)(1U << (column % 2 * 4 + row % 4));
    }
    uint32_t *words = sim->words.rows;
    if (sim->words.size > 1) {
        qsort(words, sim->words.size, sizeof *words, by_word);
    }
    for (size_t i = 0; i < sim->words.size; i++) {
        const uint32_t address = words[i];
        words[i] = (uint32_t)sim->pattern[address] | (address % SLC_VELO_SUPERPIXEL_ROWS) << 8 |
                   (address / SLC_VELO_SUPERPIXEL_ROWS) << 14 |
                   (is_isolated(sim->pattern, address) ? 1u << 31 : 0);
    }
    for (size_t i = 0; i < sim->words.size; i++) {
        sim->pattern[(words[i] >> 14 & 511) * SLC_VELO_SUPERPIXEL_ROWS + (words[i] >> 8 & 63)] = 0;
    }
}

void slc_sim_sensor(slc_sim_velo *sim, uint32_t sensor, uint32_t n_noise)
{
    const uint32_t *order = sim->order.rows;
    const sim_crossing *crossings = sim->crossings.rows;
    sim->touches.size = sim->pixels.size = sim->words.size = 0;
    for (uint32_t i = sim->sensor_begin[sensor]; i < sim->sensor_begin[sensor + 1]; i++) {
        const sim_crossing *crossing = &crossings[order[i]];
        ionise(sim, crossing);
        add_crossing(sim, crossing->particle);
    }
    fire(sim, sensor, n_noise);
    find_clusters(sim, sensor);
    pack(sim);
}
