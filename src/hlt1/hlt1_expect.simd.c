/* SPDX-License-Identifier: Apache-2.0
 *
 * Where tracks are expected in the SciFi, a vector of them at a time, and what may be their hits.
 *
 * Every number is made by the same operations in the same order as the oracle in tests/oracle/ does for one
 * track after the other: the same bits.
 */
#include "hlt1/hlt1_forward_lanes.h"

static const float window_mm = 150.0f, free_window_mm = 50.0f, window_per_q = 2e6f, outer_mm = 100.0f,
                   stereo_mm = 800.0f, stereo_limit = 50.0f;
enum { /* the numbers of a start */
       START_VELO_X = 0,
       START_Y,
       START_Z,
       START_VELO_TX,
       START_TY = SLC_HLT1_FORWARD_TY,
       START_TX,
       START_Q_OVER_P,
       START_X,
       START_RANGE,
       START_NUMBERS = SLC_HLT1_FORWARD_NUMBERS
};

/* A number of each start. */
static inline f32v of_start(const slc_hlt1_forward_work *w, size_t number)
{
    return f32v_load(w->start[number]);
}

/* The slopes that all starts may have behind the magnet: what it does to them, times momentum, are
 * polynomials of the slopes before it. */
static void expect_slopes(const slc_hlt1_forward_in *in, slc_hlt1_forward_work *w)
{
    const slc_hlt1_forward_tables *tables = in->tables;
    const f32v tx = of_start(w, START_TX), ty = of_start(w, START_TY), charge = f(-tables->polarity);
    f32v kick0 = f(0), kick1 = kick0, kick2 = kick0, power_x = f(1.0f);
    for (size_t a = 0; a < 5; a++) {
        f32v power = power_x;
        for (size_t b = 0; b < 5; b++) {
            const float *kick = tables->kick[5 * a + b];
            kick0 = ADD(kick0, MUL(f(kick[0]), power));
            kick1 = ADD(kick1, MUL(f(kick[1]), power));
            kick2 = ADD(kick2, MUL(f(kick[2]), power));
            power = MUL(power, ty);
        }
        power_x = MUL(power_x, tx);
    }
    const f32v q0 = MUL(charge, of_start(w, in->free ? START_RANGE : START_Q_OVER_P));
    const f32v q1 = in->free ? MUL(charge, of_start(w, START_RANGE + 1)) : q0;
    for (size_t k = 0; k < SLC_SCIFI_STATIONS; k++) {
        const f32v kick = in->free || k == 0 ? kick0 : k == 1 ? kick1 : kick2;
        const f32v one = MUL(kick, q0), other = MUL(kick, q1);
        f32v_store(w->slope[k][0], ADD(tx, f32v_min(one, other)));
        f32v_store(w->slope[k][1], ADD(tx, f32v_max(one, other)));
    }
    f32v_store(w->kick, kick0);
    f32v_store(w->tolerance, tolerance_of(of_start(w, START_Q_OVER_P)));
}

/* Where all starts cross layer k, and what may be their hits. */
static void cross_layer(const slc_hlt1_forward_in *in, slc_hlt1_forward_work *w, size_t k)
{
    const slc_hlt1_forward_tables *tables = in->tables;
    const float zone_z = tables->zone_z[k], dxdy = tables->dxdy[k];
    const f32v ty = of_start(w, START_TY), zero = f(0), outer = f(dxdy == 0 ? outer_mm : 0);
    const f32v faster = DIV(f(1.0f), SUB(f(1.0f), MUL(ty, f(SLC_SCIFI_DZDY))));
    const f32v way = SUB(f(zone_z), of_start(w, START_Z));
    const f32v y = MUL(ADD(of_start(w, START_Y), MUL(ty, way)), faster);
    const f32v z = ADD(f(zone_z), MUL(y, f(SLC_SCIFI_DZDY)));
    const f32v behind = SUB(z, f(tables->params->magnet_z_mm[0])), tilted = MUL(y, f(dxdy));
    const f32v reach = ADD(f(window_mm), MUL(f(window_per_q), f32v_abs(of_start(w, START_Q_OVER_P))));
    const f32v least = f32v_load(w->slope[k / 4][0]), most = f32v_load(w->slope[k / 4][1]);
    const f32v around = in->free ? f(free_window_mm) : dxdy == 0 ? reach : f(stereo_mm);
    const f32v x = of_start(w, START_X);
    const mask32 grows = f32v_gt(f32v_load(w->slope[0][0]), of_start(w, START_TX));
    const f32v left = SUB(ADD(x, MUL(least, behind)), tilted);
    const f32v right = SUB(ADD(x, MUL(most, behind)), tilted);
    f32v_store(w->y[k], y);
    f32v_store(w->z[k], z);
    f32v_store(w->d[k], SUB(z, f(SLC_HLT1_SCIFI_Z_MM)));
    f32v_store(w->velo_x[k],
               ADD(of_start(w, START_VELO_X), MUL(of_start(w, START_VELO_TX), SUB(z, of_start(w, START_Z)))));
    f32v_store(w->centre[k], left);
    f32v_store(w->low[k], SUB(SUB(left, around), in->free ? zero : f32v_select(grows, zero, outer)));
    f32v_store(w->high[k], ADD(ADD(right, around), in->free ? zero : f32v_select(grows, outer, zero)));
}

/* How y in the tilted layers depends on what the magnet has done to x: polynomials of the tracks' slopes. */
static void bend_y(const slc_hlt1_forward_in *in, slc_hlt1_forward_work *w)
{
    const f32v tx = of_start(w, START_VELO_TX), ty = of_start(w, START_TY), both = MUL(tx, ty);
    const f32v tx2 = MUL(tx, tx), ty2 = MUL(ty, ty), x3y = MUL(MUL(tx, tx2), ty), xy3 = MUL(both, ty2);
    const f32v x5y = MUL(MUL(MUL(tx, tx2), tx2), ty), x3y3 = MUL(x3y, ty2), xy5 = MUL(xy3, ty2);
    const f32v x2y = MUL(tx2, ty), y3 = MUL(ty, ty2), x4y = MUL(MUL(tx2, tx2), ty), x2y3 = MUL(x2y, ty2),
               y5 = MUL(y3, ty2);
    for (size_t i = 0; i < 6; i++) {
        for (size_t power = 0; power < 3; power++) {
            const float(*c)[6] = &in->tables->y_correction[6 * power];
            const bool even = power == 1;
            f32v sum = MUL(f(c[0][i]), even ? ty : both);
            sum = ADD(sum, MUL(f(c[1][i]), even ? x2y : x3y));
            sum = ADD(sum, MUL(f(c[2][i]), even ? y3 : xy3));
            sum = ADD(sum, MUL(f(c[3][i]), even ? x4y : x5y));
            sum = ADD(sum, MUL(f(c[4][i]), even ? x2y3 : x3y3));
            sum = ADD(sum, MUL(f(c[5][i]), even ? y5 : xy5));
            f32v_store(w->y_bend[power][i], sum);
        }
    }
}

/* Has start number i a hit that may be its in tilted layers of every station? */
static bool is_hopeful(const slc_hlt1_forward_work *w, size_t i)
{
    const slc_hlt1_forward_half *half = &w->halves[w->upper[i]];
    uint32_t stations = 0;
    for (uint32_t station = 0; station < SLC_SCIFI_STATIONS && stations == station; station++) {
        bool any = false;
        for (uint32_t k = 4 * station + 1; k < 4 * station + 3 && !any; k++) {
            const uint32_t first = lower(half, k, w->low[k][i]);
            any = first < half->n[k] && half->x[k][first] < w->high[k][i];
        }
        stations += any ? 1 : 0;
    }
    return stations == SLC_SCIFI_STATIONS;
}

static size_t prepare(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *starts, size_t n,
                      slc_hlt1_forward_work *w)
{
    n = n < SIMD_LANES ? n : SIMD_LANES;
    for (size_t i = 0; i < n; i++) {
        const slc_hlt1_forward_start *s = &starts[i];
        const float numbers[START_NUMBERS] = {s->velo.x, s->velo.y,   s->velo.z, s->velo.tx,  s->velo.ty,
                                              s->tx,     s->q_over_p, s->x,      s->range[0], s->range[1]};
        for (size_t k = 0; k < START_NUMBERS; k++) {
            w->start[k][i] = numbers[k];
        }
    }
    expect_slopes(in, w);
    for (size_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
        cross_layer(in, w, k);
    }
    bend_y(in, w);
    const f32v limit = MUL(f(stereo_limit),
                           ADD(f32v_abs(of_start(w, START_TX)), f32v_abs(of_start(w, START_TY))));
    f32v_store(w->limit, limit);
    f32v_store(w->per_limit, DIV(f(1.0f), limit));
    for (size_t i = 0; i < n; i++) {
        const slc_hlt1_forward_start *s = &starts[i];
        w->upper[i] = s->velo.y + s->velo.ty * (in->tables->zone_z[0] - s->velo.z) > 0 ? 1 : 0;
        w->hopeful[i] = is_hopeful(w, i);
    }
    return n;
}

const slc_hlt1_expect_kernels SIMD_TABLE(slc_hlt1_expect) = {.target = SIMD_TARGET_NAME, .prepare = prepare};
