/* SPDX-License-Identifier: Apache-2.0
 *
 * The physics of the object in generated PET data, against sums and steps that are slow and plain: angles and
 * energies of Compton's scattering, what is left of photons behind matter, how far positrons go, how far two
 * photons are from one line, which gammas an isotope has.
 */
#include "pet/pet_scanner.h"
#include "sim/sim_pet_photon.h"
#include "support/cmocka_all.h"
#include "support/near.h"
#include "support/pet_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double electron = 510.99895, pi = 3.14159265358979324;

/* ---- Compton's scattering -------------------------------------------------------------------------- */

/* O. Klein and Y. Nishina: the cross section by solid angle, but for constants. */
static double klein_nishina(double energy, double cosine)
{
    const double p = 1 / (1 + energy / electron * (1 - cosine));
    return p * p * (p + 1 / p - 1 + cosine * cosine);
}

static void angles_are_those_of_klein_and_nishina(void **state)
{
    (void)state;
    enum { N = 400000, BINS = 40, FINE = 500 };
    const double energies[] = {60, 170, electron, 602.7, 1077.3, 1691};
    for (size_t k = 0; k < sizeof energies / sizeof *energies; k++) {
        const double energy = energies[k];
        uint64_t random = random_stream(5, 77, k);
        double count[BINS] = {0}, wanted[BINS] = {0}, all = 0, chi2 = 0;
        for (int i = 0; i < N; i++) {
            double cosine;
            const double share = sim_pet_compton(energy, &random, &cosine);
            assert_near(share, 1 / (1 + energy / electron * (1 - cosine)), 1e-12);
            const int bin = (int)((cosine + 1) / 2 * BINS);
            count[bin < BINS ? bin : BINS - 1]++;
        }
        for (int i = 0; i < BINS * FINE; i++) {
            const double w = klein_nishina(energy, -1 + (i + 0.5) * 2 / (BINS * FINE));
            wanted[i / FINE] += w;
            all += w;
        }
        for (int i = 0; i < BINS; i++) {
            const double n = N * wanted[i] / all;
            chi2 += (count[i] - n) * (count[i] - n) / n;
        }
        print_message("%g keV: chi2 %.1f of %d bins\n", energy, chi2, BINS);
        assert_near(chi2, BINS - 1, 4 * sqrt(2.0 * BINS));
    }
}

static void cross_section_is_its_integral(void **state)
{
    (void)state;
    const double energies[] = {20, 60, 170, 300, electron, 602.7, 1077.3, 1691};
    for (size_t k = 0; k < sizeof energies / sizeof *energies; k++) {
        double here = 0, at_511 = 0;
        for (int i = 0; i < 200000; i++) {
            const double cosine = -1 + (i + 0.5) / 100000;
            here += klein_nishina(energies[k], cosine);
            at_511 += klein_nishina(electron, cosine);
        }
        assert_near(sim_pet_compton_share(energies[k]) / (here / at_511), 1, 1e-7);
    }
}

/* ---- matter ---------------------------------------------------------------------------------------- */

/* The last phantom that a point is in. */
static double mu_at(const slc_sim_pet_config *c, const double at[3])
{
    double mu = 0;
    for (uint32_t i = 0; i < c->n_phantoms; i++) {
        const slc_sim_pet_phantom *p = &c->phantom[i];
        const double x = at[0] - p->x_mm, y = at[1] - p->y_mm;
        if (x * x + y * y < p->radius_mm * p->radius_mm && fabs(at[2] - p->z_mm) < 0.5 * p->length_mm) {
            mu = p->mu_per_mm;
        }
    }
    return mu;
}

/* A step of a hundredth of a mm after the other. */
static void paths_are_those_of_small_steps(void **state)
{
    (void)state;
    const double step = 0.01;
    slc_sim_pet_config c = pet_sim_ideal(11);
    uint64_t random = 17;
    size_t inside = 0, outside = 0;
    for (int round = 0; round < 200; round++) {
        c.n_phantoms = 1 + slc_random_below(&random, 5);
        for (uint32_t i = 0; i < c.n_phantoms; i++) {
            c.phantom[i] = (slc_sim_pet_phantom){
                60 * random_open(&random) - 30, 60 * random_open(&random) - 30,
                40 * random_open(&random) - 20, 3 + 30 * random_open(&random),
                5 + 60 * random_open(&random),  0.05 * random_open(&random)};
        }
        double from[3], to[3];
        for (int k = 0; k < 3; k++) {
            from[k] = 60 * random_open(&random) - 30;
        }
        sim_pet_direction(&random, 1, to);
        if (round % 10 == 0) { /* along the axis, and across it */
            to[0] = to[1] = 0;
            to[2] = round % 20 == 0 ? 1 : -1;
        } else if (round % 10 == 1) {
            to[0] = 0.6;
            to[1] = -0.8;
            to[2] = 0;
        }
        const double depth = 0.7 * random_open(&random);
        double left = depth, length = -1;
        for (int i = 0; i < 20000 && length < 0; i++) {
            const double t = (i + 0.5) * step;
            const double at[3] = {from[0] + t * to[0], from[1] + t * to[1], from[2] + t * to[2]};
            left -= mu_at(&c, at) * step;
            length = left < 0 ? t : -1;
        }
        const double found = slc_sim_pet_reach(&c, from, to, depth);
        const double edge = 12 * 0.05 * step; /* the steps at the phantoms' borders */
        if (length < 0 ? left < edge : slc_sim_pet_reach(&c, from, to, depth + edge) < 0) {
            continue;
        }
        assert_true((found < 0) == (length < 0));
        if (length >= 0) { /* a little more depth or less makes the difference of the steps, at least */
            const double low = slc_sim_pet_reach(&c, from, to, fmax(depth - edge, 0));
            const double high = slc_sim_pet_reach(&c, from, to, depth + edge);
            assert_true(length > low - 2 * step && length < high + 2 * step);
        }
        inside += length >= 0;
        outside += length < 0;
    }
    print_message("%zu photons stopped, %zu came through\n", inside, outside);
    assert_true(inside > 40 && outside > 40);
}

/* Of a point in the middle of a cylinder, which is longer than what the scanner sees. */
static void what_comes_through_is_exponential(void **state)
{
    (void)state;
    slc_sim_pet_config c = pet_sim_ideal(11);
    c.source[0].activity_bq = 4e6;
    c.n_phantoms = 1;
    c.phantom[0] = (slc_sim_pet_phantom){0, 0, 0, 40, 200, 0.0096};
    pet_made made;
    pet_make(&made, &c, 0.1);
    const double h = 0.5 * 26 * 1.6, r = 75 + 6.5, steepest = h / sqrt(h * h + r * r), decays = 4e5;
    double through = 0, clean = 0;
    for (int i = 0; i < 10000; i++) {
        const double u = steepest * (i + 0.5) / 10000;
        through += exp(-0.0096 * 40 / sqrt(1 - u * u)) / 10000;
    }
    double once = 0, energies = 0;
    for (size_t i = 0; i < made.n; i++) {
        clean += made.truth.scattered[i] == 0;
        once += made.truth.scattered[i] == 1;
        const double e = (double)made.truth.left_kev[i];
        assert_true(made.truth.scattered[i] == 0 ? fabs(e - electron) < 1e-3 : e < electron);
        assert_true(made.truth.scattered[i] != 1 || e > electron / 3 - 1e-3);
        energies += made.truth.scattered[i] == 1 ? e : 0;
    }
    const double wanted = 2 * decays * steepest * through;
    print_message("without scatter %.0f, computed %.0f; once scattered %.0f of %zu\n", clean, wanted, once,
                  made.n);
    assert_near(clean, wanted, 4 * sqrt(1.5 * wanted));
    assert_true(once > 0.1 * clean && once < 0.6 * clean && energies / once > 250 && energies / once < 450);
    pet_clear(&made);
}

/* A cavity in the middle of the cylinder takes matter away; a source beside the phantom sees none on one
 * side. */
static void the_last_phantom_counts(void **state)
{
    (void)state;
    slc_sim_pet_config c = pet_sim_ideal(11);
    c.n_phantoms = 2;
    c.phantom[0] = (slc_sim_pet_phantom){0, 0, 0, 40, 200, 0.0096};
    c.phantom[1] = (slc_sim_pet_phantom){0, 0, 0, 30, 100, 0};
    const double from[3] = {0, 0, 0}, to[3] = {1, 0, 0};
    assert_near(slc_sim_pet_reach(&c, from, to, 0.05), 30 + 0.05 / 0.0096, 1e-9);
    assert_true(slc_sim_pet_reach(&c, from, to, 0.0961) < 0);
    const slc_sim_pet_phantom first = c.phantom[0];
    c.phantom[0] = c.phantom[1];
    c.phantom[1] = first;
    assert_near(slc_sim_pet_reach(&c, from, to, 0.05), 0.05 / 0.0096, 1e-9);
}

/* ---- pairs of rows --------------------------------------------------------------------------------- */

static const slc_sim_pet_truth *sorted_truth;

static int by_event(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const uint64_t e = sorted_truth->event[x], f = sorted_truth->event[y];
    return e != f ? (e < f ? -1 : 1) : (int)sorted_truth->photon[x] - (int)sorted_truth->photon[y];
}

static size_t *rows_by_event(const pet_made *made)
{
    size_t *row = malloc(made->n * sizeof *row);
    assert_non_null(row);
    for (size_t i = 0; i < made->n; i++) {
        row[i] = i;
    }
    sorted_truth = &made->truth;
    qsort(row, made->n, sizeof *row, by_event);
    return row;
}

static bool are_pair(const slc_sim_pet_truth *t, size_t first, size_t second)
{
    return t->event[first] == t->event[second] && t->photon[first] == SLC_SIM_PET_FIRST &&
           t->photon[second] == SLC_SIM_PET_SECOND;
}

/* In a phantom as small as a grain photons scatter where they begin, so that the crystals of the two tell the
 * angle; and the energy that goes with it is Compton's. */
static void scatter_angles_and_energies_belong_together(void **state)
{
    (void)state;
    slc_sim_pet_config c = pet_sim_ideal(11);
    c.source[0].activity_bq = 4e6;
    c.n_phantoms = 1;
    c.phantom[0] = (slc_sim_pet_phantom){0, 0, 0, 0.2, 0.4, 5};
    pet_made made;
    pet_make(&made, &c, 0.2);
    size_t *row = rows_by_event(&made), n = 0;
    const slc_sim_pet_truth *t = &made.truth;
    double sum = 0, squares = 0;
    for (size_t i = 1; i < made.n; i++) {
        const size_t a = row[i - 1], b = row[i];
        if (!are_pair(t, a, b) || t->scattered[a] + t->scattered[b] != 1) {
            continue;
        }
        double at[3], other[3], direction[3], dot = 0, one = 0, two = 0;
        slc_pet_crystal_position(&c.geometry, t->crystal[a], at, direction);
        slc_pet_crystal_position(&c.geometry, t->crystal[b], other, direction);
        for (int k = 0; k < 3; k++) {
            dot -= at[k] * other[k];
            one += at[k] * at[k];
            two += other[k] * other[k];
        }
        const double e = (double)t->left_kev[t->scattered[a] ? a : b];
        const double wanted = electron / (2 - dot / sqrt(one * two));
        sum += e - wanted;
        squares += (e - wanted) * (e - wanted);
        n++;
        assert_true(fabs(e - wanted) < 10); /* half a crystal of two is a degree */
    }
    print_message("%zu pairs, energies off by %.3f, %.3f keV rms\n", n, sum / (double)n,
                  sqrt(squares / (double)n));
    assert_true(n > 5000);
    assert_near(sum / (double)n, 0, 0.3);
    free(row);
    pet_clear(&made);
}

/* Each of the two angles is normal: a full width of 0.5 degrees is a width of 0.2123. Of a thin ring of many
 * crystals the one around it can be seen. */
static void photons_are_not_in_one_line(void **state)
{
    (void)state;
    slc_sim_pet_config c = pet_sim_ideal(11);
    assert_int_equal(slc_pet_scanner("channels=256,blocks=16x1,crystals=16x1,radius=1000mm,pitch=400mm",
                                     &c.geometry, NULL),
                     SLC_OK);
    c.noncollinearity_deg = 0.5;
    c.source[0].activity_bq = 2e6;
    pet_made made;
    pet_make(&made, &c, 0.1);
    size_t *row = rows_by_event(&made), n = 0;
    double squares = 0, fourth = 0;
    for (size_t i = 1; i < made.n; i++) {
        if (are_pair(&made.truth, row[i - 1], row[i])) {
            const int32_t a = (int32_t)made.truth.crystal[row[i - 1]],
                          b = (int32_t)made.truth.crystal[row[i]];
            const double off = (double)(((a - b) & 65535) - 32768) * 360 / 65536;
            squares += off * off;
            fourth += off * off * off * off;
            n++;
        }
    }
    const double slope = 200 / sqrt(200.0 * 200 + 1000 * 1000);
    const double wanted = 0.5 / 2.3548200450309493 * sqrt(atanh(slope) / slope);
    const double width = sqrt(squares / (double)n);
    print_message("%zu pairs, %.5f degrees, computed %.5f\n", n, width, wanted);
    assert_true(n > 30000);
    assert_near(width, wanted, 4 * wanted / sqrt(2 * (double)n));
    assert_near(fourth / (double)n / pow(width, 4), 3, 0.15);
    free(row);
    pet_clear(&made);
}

/* ---- isotopes -------------------------------------------------------------------------------------- */

/* A branch with positrons: in 100 decays, endpoint and mean of its spectrum as the Nuclear Data Sheets have
 * it, and the charge of the nucleus that is left. */
typedef struct branch {
    double percent, end, mean, z;
} branch;

/* Of a branch: the mean energy, the variance along one direction, and what is within a radius. */
typedef struct moments {
    double energy, variance, within;
} moments;

static moments of_branch(const branch *b, double radius)
{
    moments m = {0};
    double all = 0;
    for (int i = 0; i < 20000; i++) {
        const double e = b->end * (i + 0.5) / 20000, w = 1 + e / electron, p = sqrt(w * w - 1);
        const double x = 2 * pi / 137.035999 * b->z * w / p, q = (b->end - e) / electron;
        const double weight = p * w * q * q * x / expm1(x);
        const double z = 7.217, b1 = 4.569 * 14.32 / pow(z, 1.209), b2 = 1 / (2.873 - 0.02309 * z);
        const double sigma = 0.5 * b1 * e * e * 1e-6 / (b2 + e * 1e-3), r = radius / sigma;
        all += weight;
        m.energy += weight * e;
        m.variance += weight * sigma * sigma;
        m.within += weight * (erf(r / sqrt(2)) - sqrt(2 / pi) * r * exp(-0.5 * r * r));
    }
    return (moments){m.energy / all, m.variance / all, m.within / all};
}

static const struct isotope {
    const char *name;
    branch branch[4];
    double line[3], percent[3]; /* gammas, in 100 decays */
    double with_positron;       /* of the first line, in 100 decays */
    double radius;
} isotopes[] = {
    {"F-18", {{96.86, 633.5, 249.8, 8}}, {0}, {0}, 0, 0.5},
    {"Ga-68", {{87.68, 1899.1, 836.0, 30}, {1.20, 821.7, 352.6, 30}}, {1077.3}, {3.23}, 1.20, 2.5},
    {"I-124",
     {{10.7, 2137.6, 974.7, 52}, {11.7, 1534.9, 687.0, 52}, {0.3, 812, 366, 52}},
     {602.7, 722.8, 1691},
     {62.9, 10.36, 11.15},
     12.0,
     2.5},
};

static void one_isotope(const struct isotope *s)
{
    slc_sim_pet_config c = pet_sim_ideal(11);
    c.isotope = s->name;
    c.source[0].activity_bq = 3e6;
    pet_made made;
    pet_make(&made, &c, 0.2);
    double positrons = 0, variance = 0, within = 0;
    for (size_t i = 0; i < 4 && s->branch[i].percent > 0; i++) {
        const moments m = of_branch(&s->branch[i], s->radius);
        assert_near(m.energy / s->branch[i].mean, 1, 0.03);
        positrons += s->branch[i].percent;
        variance += s->branch[i].percent * m.variance;
        within += s->branch[i].percent * m.within;
    }
    size_t *row = rows_by_event(&made);
    const slc_sim_pet_truth *t = &made.truth;
    double n = 0, squares = 0, fourth = 0, near = 0, lines[3] = {0}, with = 0, prompts = 0, first = -1;
    for (size_t i = 0; i < made.n; i++) {
        const size_t a = row[i];
        if (t->photon[a] == SLC_SIM_PET_PROMPT) {
            assert_true(t->x_mm[a] == 0 && t->y_mm[a] == 0 && t->z_mm[a] == 0);
            for (int k = 0; k < 3; k++) {
                lines[k] += fabs((double)t->left_kev[a] - s->line[k]) < 0.01;
            }
            prompts++;
            with += fabs((double)t->left_kev[a] - s->line[0]) < 0.01 && first == (double)t->event[a];
            continue;
        }
        if (t->photon[a] == SLC_SIM_PET_FIRST) {
            const double x = (double)t->x_mm[a], y = (double)t->y_mm[a], z = (double)t->z_mm[a];
            first = (double)t->event[a];
            n++;
            squares += (x * x + y * y + z * z) / 3;
            fourth += pow((x * x + y * y + z * z) / 3, 2);
            near += sqrt(x * x + y * y + z * z) < s->radius;
        }
    }
    const double h = 0.5 * 26 * 1.6, r = 75 + 6.5, seen = h / sqrt(h * h + r * r);
    const double decays = 6e5, wanted = variance / positrons, share = within / positrons;
    print_message("%s: %.0f positrons, width %.4f mm, computed %.4f; %.4f within %g mm, computed %.4f\n",
                  s->name, n, sqrt(squares / n), sqrt(wanted), near / n, s->radius, share);
    assert_near(n, decays * seen * positrons / 100, 4 * sqrt(n));
    /* Those that are seen are a little nearer to the middle than others, by some hundredths of a mm². */
    assert_near(squares / n, wanted, 4 * sqrt((fourth / n - wanted * wanted) / n) + 0.004 * wanted);
    assert_near(near / n, share, 4 * sqrt(share * (1 - share) / n) + 0.002);
    for (int k = 0; k < 3; k++) {
        const double lines_wanted = decays * seen * s->percent[k] / 100;
        assert_near(lines[k], lines_wanted, 4 * sqrt(lines_wanted));
    }
    assert_true(prompts == lines[0] + lines[1] + lines[2]);
    const double both = decays * seen * seen * s->with_positron / 100;
    assert_near(with, both, 4 * sqrt(both));
    free(row);
    pet_clear(&made);
}

static void isotopes_have_their_ranges_and_gammas(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof isotopes / sizeof *isotopes; i++) {
        one_isotope(&isotopes[i]);
    }
}

/* ---- the same again -------------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(slc_pet_frame));
}

static slc_sim_pet_config everything(void)
{
    slc_sim_pet_config c;
    slc_sim_pet_config_default(&c);
    c.source[0] = (slc_sim_pet_source){5, 3, 2, 10, 30, 3e6};
    c.isotope = "I-124";
    c.n_phantoms = 1;
    c.phantom[0] = (slc_sim_pet_phantom){0, 0, 0, 30, 80, 0.0096};
    c.crystal = "LSO";
    c.lso_hz = 5;
    c.flood_side = 64;
    return c;
}

static void frames_do_not_depend_on_calls(void **state)
{
    (void)state;
    for (int each = 0; each < 2; each++) {
        slc_sim_pet_config c = everything();
        c.each_crystal = each != 0;
        pet_made whole, parts;
        pet_make(&whole, &c, 0.05);
        pet_make(&parts, &c, 0.0005);
        pet_make_more(&parts, 0.0000001);
        pet_make_more(&parts, 0.0494999);
        assert_true(whole.n == parts.n && whole.n > 10000);
        qsort(whole.frames, whole.n, sizeof *whole.frames, by_bytes);
        qsort(parts.frames, parts.n, sizeof *parts.frames, by_bytes);
        assert_memory_equal(whole.frames, parts.frames, whole.n * sizeof *whole.frames);
        pet_clear(&whole);
        pet_clear(&parts);
    }
}

/* All arithmetic is exact or rounded as IEEE 754 says. */
static void the_same_on_every_machine(void **state)
{
    (void)state;
    const slc_sim_pet_config c = everything();
    pet_made made;
    pet_make(&made, &c, 0.02);
    uint64_t hash = 1469598103934665603ULL; /* then as FNV-1a */
    const uint8_t *bytes = (const uint8_t *)made.frames;
    for (size_t i = 0; i < made.n * sizeof *made.frames; i++) {
        hash = (hash ^ bytes[i]) * 1099511628211ULL;
    }
    print_message("%zu frames, %016llx\n", made.n, (unsigned long long)hash);
    assert_true(hash == 0xcc15bb3dd53bd632ULL);
    pet_clear(&made);
}

/* The rate that is asked for is that of all that is seen. */
static void singles_come_at_the_rate(void **state)
{
    (void)state;
    slc_sim_pet_config c = everything();
    c.singles_hz = 2e6;
    c.dead_time_ns = 0;
    pet_made made;
    pet_make(&made, &c, 0.2);
    assert_near((double)made.n, 4e5, 0.008 * 4e5);
    pet_clear(&made);
}

static void refuse(const slc_sim_pet_config *config, const char *word)
{
    slc_sim_pet *sim = NULL;
    slc_error error = {.status = SLC_OK};
    assert_int_equal(slc_sim_pet_open(config, &sim, &error), SLC_ERR_USAGE);
    assert_null(sim);
    if (strstr(error.text, word) == NULL) {
        fail_msg("\"%s\" does not name %s", error.text, word);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    slc_sim_pet_config c = everything();
    c.isotope = "U-235";
    refuse(&c, "I-124");
    const char *const no_crystals[] = {"glass", "0.1", "0.1,", "0.1,2", "-1,0.3", "0.1,0.3x", "nan,0.3", ""};
    for (size_t i = 0; i < sizeof no_crystals / sizeof *no_crystals; i++) {
        c = everything();
        c.crystal = no_crystals[i];
        refuse(&c, "crystal");
    }
    c = everything();
    c.crystal = "ideal";
    c.each_crystal = true;
    refuse(&c, "each_crystal");
    c = everything();
    c.geometry.depth_mm = 0;
    refuse(&c, "depth");
    c = everything();
    c.phantom[0].radius_mm = 80;
    refuse(&c, "80 mm");
    c.phantom[0].radius_mm = 0;
    refuse(&c, "phantom 0");
    c.phantom[0] = (slc_sim_pet_phantom){0, 0, 0, 10, 10, NAN};
    refuse(&c, "mu_per_mm");
    c = everything();
    c.n_phantoms = 17;
    refuse(&c, "n_phantoms");
    c = everything();
    c.noncollinearity_deg = NAN;
    refuse(&c, "noncollinearity_deg");
    c = everything();
    c.fast = true;
    c.singles_hz = 1e6;
    refuse(&c, "fast");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(angles_are_those_of_klein_and_nishina),
        cmocka_unit_test(cross_section_is_its_integral),
        cmocka_unit_test(paths_are_those_of_small_steps),
        cmocka_unit_test(what_comes_through_is_exponential),
        cmocka_unit_test(the_last_phantom_counts),
        cmocka_unit_test(scatter_angles_and_energies_belong_together),
        cmocka_unit_test(photons_are_not_in_one_line),
        cmocka_unit_test(isotopes_have_their_ranges_and_gammas),
        cmocka_unit_test(frames_do_not_depend_on_calls),
        cmocka_unit_test(the_same_on_every_machine),
        cmocka_unit_test(singles_come_at_the_rate),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
