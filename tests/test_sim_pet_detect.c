/* SPDX-License-Identifier: Apache-2.0
 *
 * What crystals see in generated PET data: crystals as boxes against a look at every one of them,
 * interactions in a ring and in its boxes against photons that go by small steps, depth against its
 * distribution, and the place of a block's light against the energies that make it.
 */
#include "pet/pet_scanner.h"
#include "sim/sim_pet_boxes.h"
#include "sim/sim_pet_photon.h"
#include "support/cmocka_all.h"
#include "support/near.h"
#include "support/pet_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double electron = 510.99895;

static slc_sim_pet_config open_config(void)
{
    slc_sim_pet_config config = pet_sim_ideal(21);
    config.gain_spread = 0;
    config.crystal = "LSO";
    config.source[0] = (slc_sim_pet_source){20, -10, 4, 0, 0, 2e6};
    return config;
}

/* ---- boxes ----------------------------------------------------------------------------------------- */

/* The next one by a look at all. */
static bool next_of_all(const sim_pet_boxes *boxes, uint32_t n, const double from[3], const double to[3],
                        sim_pet_crossing *c)
{
    sim_pet_crossing best = {.enter = HUGE_VAL};
    for (uint32_t i = 0; i < n; i++) {
        sim_pet_crossing one = {.crystal = i};
        if (slc_sim_pet_box_cross(slc_sim_pet_box_of(boxes, i), from, to, &one.enter, &one.leave) &&
            (one.enter > c->enter || (one.enter == c->enter && i > c->crystal)) && one.enter < best.enter) {
            best = one;
        }
    }
    if (isinf(best.enter)) {
        return false;
    }
    *c = best;
    return true;
}

static void rays_meet_what_they_meet(const char *scanner, bool flat, int rays)
{
    slc_pet_geometry g;
    slc_error error;
    sim_pet_boxes *boxes;
    assert_int_equal(slc_pet_scanner(scanner, &g, &error), SLC_OK);
    assert_int_equal(slc_sim_pet_boxes_make(&g, flat, &boxes, &error), SLC_OK);
    const uint32_t n = slc_pet_crystals(&g);
    uint64_t random = 3;
    size_t met = 0, none = 0;
    for (int i = 0; i < rays; i++) {
        double from[3], to[3];
        for (int k = 0; k < 3; k++) {
            from[k] = 2.5 * g.radius_mm * (random_open(&random) - 0.5);
        }
        sim_pet_direction(&random, 1, to);
        if (i % 4 == 0) { /* from inside a crystal */
            const sim_pet_box *box = slc_sim_pet_box_of(boxes, slc_random_below(&random, n));
            for (int k = 0; k < 3; k++) {
                from[k] = box->middle[k] + (random_open(&random) - 0.5) * g.depth_mm / 2 * box->side[0][k];
            }
        } else if (i % 4 == 1) { /* as most photons go */
            memset(from, 0, sizeof from);
            to[2] *= 0.1;
            const double length = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]);
            for (int k = 0; k < 3; k++) {
                to[k] /= length;
            }
        }
        sim_pet_crossing one = {.enter = -1}, other = {.enter = -1};
        for (bool more = true; more;) {
            more = slc_sim_pet_boxes_next(boxes, from, to, &one);
            assert_true(more == next_of_all(boxes, n, from, to, &other));
            assert_true(!more || (one.crystal == other.crystal && one.enter == other.enter &&
                                  one.leave == other.leave && one.leave >= one.enter));
            met += more;
            none += !more && one.enter < 0;
        }
    }
    print_message("%s: %zu crystals met, %zu rays met none\n", scanner, met, none);
    assert_true(met > (size_t)rays / 4 && none > 0);
    slc_sim_pet_boxes_free(boxes);
}

static void boxes_are_found(void **state)
{
    (void)state;
    rays_meet_what_they_meet("mouse20", false, 400);
    rays_meet_what_they_meet("mouse20", true, 400);
    rays_meet_what_they_meet("channels=6,blocks=1x2,crystals=4x3,radius=30mm,pitch=3mm,depth=20mm", false,
                             4000);
    rays_meet_what_they_meet("channels=24,crystals=1x1,radius=10mm,pitch=4mm,depth=5mm", false, 2000);
    rays_meet_what_they_meet("channels=1,blocks=1x2,crystals=1x1,radius=10mm,pitch=4mm,depth=5mm", false,
                             2000);
}

static void boxes_are_as_large_as_neighbours_are_apart(void **state)
{
    (void)state;
    slc_pet_geometry g;
    slc_error error;
    sim_pet_boxes *boxes;
    assert_int_equal(slc_pet_scanner("mouse20", &g, &error), SLC_OK);
    assert_int_equal(slc_sim_pet_boxes_make(&g, false, &boxes, &error), SLC_OK);
    const sim_pet_box *box = slc_sim_pet_box_of(boxes, 1234);
    assert_near(box->half[0], 6.5, 1e-12);
    assert_near(box->half[1], 81.5 * sin(3.14159265358979324 / 520) * cos(3.14159265358979324 / 520), 1e-9);
    assert_near(box->half[2], 0.8, 1e-9);
    assert_near(box->side[2][2], 1, 1e-12);
    slc_sim_pet_boxes_free(boxes);
    assert_int_equal(slc_pet_scanner("channels=1,crystals=1x1,radius=10mm,pitch=4mm,depth=5mm", &g, &error),
                     SLC_OK);
    assert_int_equal(slc_sim_pet_boxes_make(&g, false, &boxes, &error), SLC_ERR_USAGE);
    assert_null(boxes);
}

/* ---- photons by small steps ------------------------------------------------------------------------ */

/* What becomes of photons, each of them all its frames. */
typedef struct fate {
    double photons, seen, crystals, energy, whole, squares;
} fate;

static double uniform(uint64_t *random)
{
    return ((double)(slc_random_u64(random) >> 11) + 0.5) * 0x1p-53;
}

/* By trial: how far Compton's scattering turns a photon. */
static double any_cosine(double energy, uint64_t *random)
{
    for (;;) {
        const double cosine = 2 * uniform(random) - 1, p = 1 / (1 + energy / electron * (1 - cosine));
        if (2 * uniform(random) < p * p * (p + 1 / p - 1 + cosine * cosine)) {
            return cosine;
        }
    }
}

static bool in_crystals(const slc_pet_geometry *g, const double at[3])
{
    const double r = hypot(at[0], at[1]), half = 0.5 * slc_pet_rings(g) * g->pitch_z_mm;
    return r > g->radius_mm && r < g->radius_mm + g->depth_mm && fabs(at[2]) < half;
}

static void step_by_step(const slc_pet_geometry *g, const double from[3], uint64_t *random, fate *f)
{
    const double step = 0.1, turn = 2 * 3.14159265358979324;
    double at[3] = {from[0], from[1], from[2]}, to[3], energy = electron, sum = 0;
    int crystal[8], n = 0;
    sim_pet_direction(random, 1, to);
    f->photons++;
    for (int interactions = 0; interactions < 8 && energy > 0;) {
        for (int k = 0; k < 3; k++) {
            at[k] += step * to[k];
        }
        if (fabs(at[2]) > 60 || hypot(at[0], at[1]) > 100) {
            break;
        }
        double here = 0, whole = 0; /* the cross section at this energy and at 511 keV, by its integral */
        static double table[600];
        if (table[0] == 0) {
            for (int e = 0; e < 600; e++) {
                for (int i = 0; i < 2000; i++) {
                    const double c = -1 + (i + 0.5) / 1000, p = 1 / (1 + (e + 0.5) / electron * (1 - c));
                    table[e] += p * p * (p + 1 / p - 1 + c * c);
                }
            }
        }
        here = table[(int)energy];
        whole = 0.5 * (table[510] + table[511]);
        const double photo = 0.32 * pow(electron / energy, 3), compton = 0.68 * here / whole;
        if (!in_crystals(g, at) || uniform(random) > 0.087 * (photo + compton) * step) {
            continue;
        }
        const int per_ring = (int)slc_pet_crystals_per_ring(g);
        const int k = (int)floor(atan2(at[1], at[0]) / turn * per_ring + 0.5 + per_ring) % per_ring;
        const int ring = (int)floor(at[2] / g->pitch_z_mm + 0.5 * slc_pet_rings(g));
        bool new = true;
        for (int i = 0; i < n; i++) {
            new = new &&crystal[i] != k + ring *per_ring;
        }
        crystal[n] = k + ring * per_ring;
        n += new;
        interactions++;
        double left = 0;
        if (uniform(random) * (photo + compton) > photo && energy > 50 && interactions < 8) {
            const double cosine = any_cosine(energy, random);
            left = energy / (1 + energy / electron * (1 - cosine));
            sim_pet_turn(to, cosine, random);
        }
        sum += energy - left;
        energy = left;
    }
    f->seen += n > 0;
    f->crystals += n;
    f->energy += sum;
    f->squares += sum * sum;
    f->whole += sum > 510;
}

static const slc_sim_pet_truth *sorted_truth;

static int by_photon(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const uint64_t e = sorted_truth->event[x], f = sorted_truth->event[y];
    return e != f ? (e < f ? -1 : 1) : (int)sorted_truth->photon[x] - (int)sorted_truth->photon[y];
}

static size_t *rows_by_photon(const slc_sim_pet_truth *truth)
{
    size_t *row = malloc(truth->head.size * sizeof *row);
    assert_non_null(row);
    for (size_t i = 0; i < truth->head.size; i++) {
        row[i] = i;
    }
    sorted_truth = truth;
    qsort(row, truth->head.size, sizeof *row, by_photon);
    return row;
}

static bool is_same_photon(const slc_sim_pet_truth *t, size_t a, size_t b)
{
    return t->event[a] == t->event[b] && t->photon[a] == t->photon[b];
}

static fate fate_of(const slc_sim_pet_truth *t, double photons)
{
    fate f = {.photons = photons};
    size_t *row = rows_by_photon(t);
    for (size_t i = 0, n = 0; i < t->head.size; i += n) {
        double sum = 0;
        for (n = 0; i + n < t->head.size && is_same_photon(t, row[i], row[i + n]); n++) {
            sum += (double)t->left_kev[row[i + n]];
        }
        for (size_t k = 0; k < n; k++) {
            assert_int_equal(t->shared[row[i + k]], n > 1);
        }
        f.seen++;
        f.crystals += (double)n;
        f.energy += sum;
        f.squares += sum * sum;
        f.whole += sum > 510;
        assert_true(sum < electron + 0.01);
    }
    free(row);
    return f;
}

/* Shares of all photons, and the mean energy: equal within four widths and `by`. */
static void compare(const char *what, const fate *a, const fate *b, double by)
{
    const double shares[3][2] = {{a->seen / a->photons, b->seen / b->photons},
                                 {a->whole / a->photons, b->whole / b->photons},
                                 {a->crystals / a->photons, b->crystals / b->photons}};
    const double photons = a->photons < b->photons ? a->photons : b->photons;
    print_message("%s: seen %.4f, computed %.4f; whole %.4f, %.4f; crystals %.4f, %.4f; energy %.2f, %.2f\n",
                  what, shares[0][0], shares[0][1], shares[1][0], shares[1][1], shares[2][0], shares[2][1],
                  a->energy / a->seen, b->energy / b->seen);
    for (int i = 0; i < 3; i++) {
        const double spread = (i == 2 ? 2 : 1) * sqrt(shares[i][1] / photons) * sqrt(2);
        assert_near(shares[i][0], shares[i][1], 4 * spread + by * shares[i][1]);
    }
    const double mean = b->energy / b->seen, width = sqrt(b->squares / b->seen - mean * mean);
    assert_near(a->energy / a->seen, mean, 4 * width * sqrt(2 / (photons * shares[0][1])) + by * mean);
}

static void crystals_see_what_small_steps_say(void **state)
{
    (void)state;
    slc_sim_pet_config c = open_config();
    c.each_crystal = true;
    const double from[3] = {20, -10, 4}, decays = 4e5;
    fate steps = {0};
    uint64_t random = 8;
    for (int i = 0; i < 60000; i++) {
        step_by_step(&c.geometry, from, &random, &steps);
    }
    for (int boxes = 0; boxes < 2; boxes++) {
        slc_error error;
        slc_sim_pet *sim;
        slc_pet_singles singles = {.head = {0}};
        slc_sim_pet_truth truth = {.head = {0}};
        assert_int_equal(slc_sim_pet_open(&c, &sim, &error), SLC_OK);
        if (boxes == 1) {
            assert_int_equal(slc_sim_pet_take_boxes(sim, &error), SLC_OK);
        }
        assert_int_equal(slc_sim_pet_next_singles(sim, decays / 2e6, &singles, &truth, &error), SLC_OK);
        const fate f = fate_of(&truth, 2 * decays);
        /* Boxes of a ring overlap at its face by half a percent, and leave gaps at its back. */
        compare(boxes == 1 ? "boxes" : "ring", &f, &steps, boxes == 1 ? 0.01 : 0);
        slc_sim_pet_close(sim);
        slc_columns_clear(&slc_pet_singles_schema, &singles);
        slc_columns_clear(&slc_sim_pet_truth_schema, &truth);
    }
}

/* Without a depth: as many as the solid angle says, and where there is one, the same crystals as the ring's.
 */
static void flat_boxes_are_the_ring(void **state)
{
    (void)state;
    slc_sim_pet_config c = open_config();
    c.crystal = NULL;
    c.noncollinearity_deg = 1e-9; /* all decays are followed */
    c.source[0] = (slc_sim_pet_source){0, 0, 0, 0, 0, 2e6};
    slc_sim_pet_truth truth[2] = {{.head = {0}}, {.head = {0}}};
    for (int boxes = 0; boxes < 2; boxes++) {
        slc_error error;
        slc_sim_pet *sim;
        slc_pet_singles singles = {.head = {0}};
        assert_int_equal(slc_sim_pet_open(&c, &sim, &error), SLC_OK);
        if (boxes == 1) {
            assert_int_equal(slc_sim_pet_take_boxes(sim, &error), SLC_OK);
        }
        assert_int_equal(slc_sim_pet_next_singles(sim, 0.1, &singles, &truth[boxes], &error), SLC_OK);
        slc_sim_pet_close(sim);
        slc_columns_clear(&slc_pet_singles_schema, &singles);
    }
    const double n = (double)truth[0].head.size;
    assert_near((double)truth[1].head.size, n, 6 * sqrt(n));
    for (int i = 0; i < 2; i++) {
        slc_columns_clear(&slc_sim_pet_truth_schema, &truth[i]);
    }
}

/* ---- depth ----------------------------------------------------------------------------------------- */

/* Photons of a point in the middle of a thin ring go straight into crystals: how deep, and how many, is an
 * exponential that ends with the crystal. Of two photons the difference of times is that of their depths. */
static void depth_is_exponential(void **state)
{
    (void)state;
    slc_sim_pet_config c = open_config();
    assert_int_equal(
        slc_pet_scanner("channels=20,crystals=20x16,radius=600mm,pitch=1mm,depth=20mm", &c.geometry, NULL),
        SLC_OK);
    c.crystal = "0.087,1"; /* which absorb where they are met */
    c.source[0] = (slc_sim_pet_source){0, 0, 0, 0, 0, 2e7};
    pet_made made;
    pet_make(&made, &c, 0.2);
    const double mu = 0.087, depth = 20, left = exp(-mu * depth), half = 8;
    double seen = 0;
    for (int i = 0; i < 20000; i++) { /* those that go steeply leave by the end */
        const double z = half * (i + 0.5) / 20000 * 1.0, slope = z / 600; /* where they enter */
        const double deepest = fmin(depth, half / slope - 600);
        seen += (1 - exp(-mu * deepest * sqrt(1 + slope * slope))) / 20000;
    }
    const double decays = 4e6, wanted = 2 * decays * seen * half / sqrt(half * half + 600 * 600);
    assert_near((double)made.n, wanted, 4 * sqrt(1.5 * wanted));
    /* The variance of a depth below the end of the crystal. */
    const double mean = 1 / mu - depth * left / (1 - left);
    const double square = 2 / (mu * mu) - (depth * depth + 2 * depth / mu) * left / (1 - left);
    size_t *row = rows_by_photon(&made.truth), n = 0;
    double squares = 0;
    for (size_t i = 1; i < made.n; i++) {
        if (made.truth.event[row[i]] == made.truth.event[row[i - 1]]) {
            const double way = 0.299792458 *
                               (double)(made.truth.time_ps[row[i]] - made.truth.time_ps[row[i - 1]]);
            squares += way * way;
            n++;
        }
    }
    const double rounding = 2 * 0.299792458 * 0.299792458 / 12;
    print_message("%zu frames, computed %.0f; of %zu pairs depths differ by %.4f mm rms, computed %.4f\n",
                  made.n, wanted, n, sqrt(squares / (double)n), sqrt(2 * (square - mean * mean) + rounding));
    assert_true(n > 20000);
    assert_near(squares / (double)n, 2 * (square - mean * mean) + rounding,
                4 * 2 * (square - mean * mean) * sqrt(2 / (double)n));
    free(row);
    pet_clear(&made);
}

/* ---- light of blocks ------------------------------------------------------------------------------- */

enum { BINS = 16 }; /* of the distance between crystals */

/* Where the light of frames is between crystals, by x and y. */
typedef struct places {
    double n, x[BINS], y[BINS];
} places;

static void add_place(places *p, double x, double y)
{
    p->n++;
    p->x[(int)((x - floor(x)) * BINS) % BINS]++;
    p->y[(int)((y - floor(y)) * BINS) % BINS]++;
}

/* Of frames with a flood map as fine as a sixteenth of a crystal and without a blur: their own places. */
static void places_of_blocks(const slc_sim_pet_config *given, places *p)
{
    slc_sim_pet_config c = *given;
    c.flood_side = 13 * BINS;
    c.flood_sigma = 0;
    pet_made made;
    pet_make(&made, &c, 0.1);
    for (size_t i = 0; i < made.n; i++) {
        add_place(p, made.frames[i].x / (double)BINS + 1e-6, made.frames[i].y / (double)BINS + 1e-6);
        assert_true(made.truth.shared[i] == 1 || made.frames[i].x % BINS == BINS / 2);
    }
    pet_clear(&made);
}

/* Of each crystal's frames: the mean place of a photon's energy in a block. */
static void places_of_crystals(const slc_sim_pet_config *given, places *p)
{
    slc_sim_pet_config c = *given;
    c.each_crystal = true;
    c.seed++;
    pet_made made;
    pet_make(&made, &c, 0.1);
    const slc_sim_pet_truth *t = &made.truth;
    size_t *row = rows_by_photon(t);
    for (size_t i = 0, n = 0; i < made.n; i += n) {
        for (n = 0; i + n < made.n && is_same_photon(t, row[i], row[i + n]); n++) {
        }
        for (uint32_t block = 0; block < 80; block++) {
            double sum = 0, x = 0, y = 0;
            for (size_t k = i; k < i + n; k++) {
                const slc_pet_frame *f = &made.frames[row[k]];
                const double e = (double)t->left_kev[row[k]];
                if (f->module * 4U + (f->head_unit & 15U) == block) {
                    sum += e;
                    x += e * f->x;
                    y += e * f->y;
                }
            }
            if (sum > 0) {
                add_place(p, x / sum + 0.5 + 1e-6, y / sum + 0.5 + 1e-6);
            }
        }
    }
    free(row);
    pet_clear(&made);
}

static void light_is_where_the_energy_is(void **state)
{
    (void)state;
    const slc_sim_pet_config c = open_config();
    places blocks = {0}, crystals = {0};
    places_of_blocks(&c, &blocks);
    places_of_crystals(&c, &crystals);
    print_message("%.0f and %.0f blocks with light, at crystals %.4f and %.4f of them\n", blocks.n,
                  crystals.n, blocks.x[BINS / 2] / blocks.n, crystals.x[BINS / 2] / crystals.n);
    assert_near(blocks.n, crystals.n, 6 * sqrt(crystals.n));
    for (int i = 0; i < BINS; i++) {
        /* A shift in 256ths is cut off: one in sixteen at a bin's border. */
        const double x = crystals.x[i] / crystals.n, y = crystals.y[i] / crystals.n;
        assert_near(blocks.x[i] / blocks.n, x, 5 * sqrt(2 * x / crystals.n) + 0.0015);
        assert_near(blocks.y[i] / blocks.n, y, 5 * sqrt(2 * y / crystals.n) + 0.0015);
    }
    assert_true(blocks.x[BINS / 2] / blocks.n < 0.9 && blocks.x[BINS / 2] / blocks.n > 0.5);
}

/* Dead time of a crystal leaves its neighbours alive, that of a block does not. */
static void dead_time_is_of_what_is_read(void **state)
{
    (void)state;
    for (int each = 0; each < 2; each++) {
        slc_sim_pet_config c = open_config();
        c.dead_time_ns = 20000;
        c.each_crystal = each == 1;
        pet_made made;
        pet_make(&made, &c, 0.05);
        int64_t last[80] = {0}, least = INT64_MAX, *crystal = calloc(13520, sizeof *crystal);
        assert_non_null(crystal);
        for (size_t i = 0; i < made.n; i++) {
            const slc_pet_frame *f = &made.frames[i];
            const int64_t time = (int64_t)pet_ticks(f);
            const size_t block = f->module * 4U + (f->head_unit & 15U), own = block * 169 + f->y * 13U + f->x;
            if (last[block] > 0) {
                least = time - last[block] < least ? time - last[block] : least;
            }
            assert_true(crystal[own] == 0 || time - crystal[own] >= 20000000);
            last[block] = crystal[own] = time;
        }
        assert_true(each == 1 ? least < 1000 : least >= 20000000);
        free(crystal);
        pet_clear(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_found),
        cmocka_unit_test(boxes_are_as_large_as_neighbours_are_apart),
        cmocka_unit_test(crystals_see_what_small_steps_say),
        cmocka_unit_test(flat_boxes_are_the_ring),
        cmocka_unit_test(depth_is_exponential),
        cmocka_unit_test(light_is_where_the_energy_is),
        cmocka_unit_test(dead_time_is_of_what_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
