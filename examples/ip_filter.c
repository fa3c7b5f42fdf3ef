/* SPDX-License-Identifier: Apache-2.0
 *
 * The impact-parameter filter of A. Hennequin's thesis (2022, section 2.4.1): of an event's tracks, those
 * which pass by all vertices at a distance. Once as a plain loop, once as the library's kernel on the
 * instruction set that SLUICE_SIMD or the argument names; prints what both keep, the ns per track of both,
 * and their ratio.
 *
 *     example_ip_filter [auto|c|sse4|avx2|…]
 */
#include <sluice/velo_ip.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRACKS = 2000, VERTICES = 8 };
static const float cut_mm = 0.1f;

/* The plain form: a track, and all vertices for it. Returns how many tracks are kept. */
static size_t filter_plain(const slc_velo_states *s, const slc_velo_points *v, uint32_t *track, float *ip_mm)
{
    size_t kept = 0;
    for (uint32_t t = 0; t < s->head.size; t++) {
        const float tx = s->tx[t], ty = s->ty[t];
        float nearest = INFINITY;
        for (size_t k = 0; k < v->head.size; k++) {
            const float dx = s->x_mm[t] - v->x_mm[k];
            const float dy = s->y_mm[t] - v->y_mm[k];
            const float dz = s->z_mm[t] - v->z_mm[k];
            const float cx = dy - dz * ty, cy = dz * tx - dx, cz = dx * ty - dy * tx;
            const float distance2 = cx * cx + cy * cy + cz * cz;
            nearest = distance2 < nearest ? distance2 : nearest;
        }
        const float ip = sqrtf(nearest / (tx * tx + ty * ty + 1.0f));
        if (cut_mm < ip) {
            track[kept] = t;
            ip_mm[kept++] = ip;
        }
    }
    return kept;
}

/* Uniform numbers between the two, from a multiplicative generator. */
static float between(float low, float high, uint64_t *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return low + (high - low) * (float)(*state >> 40) * 0x1p-24f;
}

/* One event: most tracks begin at a vertex, a few some millimetres away. */
static void fill(slc_velo_states *s, slc_velo_points *v)
{
    uint64_t random = 1;
    for (size_t k = 0; k < VERTICES; k++) {
        v->x_mm[k] = between(-0.1f, 0.1f, &random);
        v->y_mm[k] = between(-0.1f, 0.1f, &random);
        v->z_mm[k] = between(-120.0f, 120.0f, &random);
    }
    for (size_t t = 0; t < TRACKS; t++) {
        const size_t k = t % VERTICES;
        const float away = t % 5 == 0 ? 3.0f : 0.03f;
        s->x_mm[t] = v->x_mm[k] + between(-away, away, &random);
        s->y_mm[t] = v->y_mm[k] + between(-away, away, &random);
        s->z_mm[t] = v->z_mm[k] + between(-away, away, &random);
        s->tx[t] = between(-0.3f, 0.3f, &random);
        s->ty[t] = between(-0.3f, 0.3f, &random);
    }
    s->head.size = TRACKS;
    v->head.size = VERTICES;
    slc_columns_end_event(s);
    slc_columns_end_event(v);
}

/* The fastest of 200 runs in ns per track; `kept` and `plain` are filled. */
static double time_kernel(const slc_velo_ip *filter, const slc_velo_states *s, const slc_velo_points *v,
                          slc_velo_ip_tracks *kept)
{
    double best = HUGE_VAL;
    for (int run = 0; run < 200; run++) {
        const double begin = slc_clock_seconds();
        if (slc_velo_ip_run(filter, s, v, kept, NULL) != SLC_OK) {
            return HUGE_VAL;
        }
        best = fmin(best, slc_clock_seconds() - begin);
    }
    return best * 1e9 / TRACKS;
}

static double time_plain(const slc_velo_states *s, const slc_velo_points *v, slc_velo_ip_tracks *plain)
{
    double best = HUGE_VAL;
    for (int run = 0; run < 200; run++) {
        const double begin = slc_clock_seconds();
        slc_columns_reset(plain);
        plain->head.size = filter_plain(s, v, plain->track, plain->ip_mm);
        slc_columns_end_event(plain);
        best = fmin(best, slc_clock_seconds() - begin);
    }
    return best * 1e9 / TRACKS;
}

int main(int argc, char **argv)
{
    slc_velo_states states = {0};
    slc_velo_points vertices = {0};
    slc_velo_ip_tracks kept = {0}, plain = {0};
    slc_velo_ip filter;
    slc_simd_target choice;
    slc_error error = {SLC_OK, ""};
    bool good = false;

    if (slc_simd_choose(argc > 1 ? argv[1] : NULL, &choice, &error) != SLC_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    (void)slc_velo_ip_init(&filter, choice, cut_mm, NULL); /* slc_simd_choose has looked */
    if (slc_columns_reserve(&slc_velo_states_schema, &states, TRACKS, 1) == SLC_OK &&
        slc_columns_reserve(&slc_velo_points_schema, &vertices, VERTICES, 1) == SLC_OK) {
        fill(&states, &vertices);
        if (slc_velo_ip_reserve(&states, &kept, NULL) == SLC_OK &&
            slc_velo_ip_reserve(&states, &plain, NULL) == SLC_OK) {
            const double plain_ns = time_plain(&states, &vertices, &plain);
            const double kernel_ns = time_kernel(&filter, &states, &vertices, &kept);
            printf("plain loop: %zu of %d tracks, %.2f ns per track\n", plain.head.size, TRACKS, plain_ns);
            printf("%s: %zu of %d tracks, %.2f ns per track, ratio %.1f\n", slc_simd_name(filter.target),
                   kept.head.size, TRACKS, kernel_ns, plain_ns / kernel_ns);
            /* Not nearly the same: the kernel has the order of the sums above. */
            good = kept.head.size > 0 && slc_columns_zip(&kept, &plain, NULL) &&
                   slc_columns_checksum(&slc_velo_ip_tracks_schema, &kept, 0, SLC_CHECKSUM_START) ==
                       slc_columns_checksum(&slc_velo_ip_tracks_schema, &plain, 0, SLC_CHECKSUM_START);
        }
    }
    slc_columns_clear(&slc_velo_states_schema, &states);
    slc_columns_clear(&slc_velo_points_schema, &vertices);
    slc_columns_clear(&slc_velo_ip_tracks_schema, &kept);
    slc_columns_clear(&slc_velo_ip_tracks_schema, &plain);
    return good ? 0 : 1;
}
