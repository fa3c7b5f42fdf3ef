/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts to electrons, a block of digis at a time: where their gains are, then the gains themselves, one by
 * one, then the formulas of cms_calibrate_core.h, operation by operation. Blocks with a digi that is not
 * usual are left to the caller, so that loops have no branches.
 */
#include "cms/cms_calibrate_work.h"

#include "cms/cms_calibrate_core.h"
#include "simd/simd.h"

enum { BLOCK = SLC_CMS_CALIBRATE_BLOCK, ROOM = BLOCK + SIMD_MAX_LANES };

/* Where the gains of a block are; false where a digi has none. */
static inline bool find_gains(const slc_cms_gains *gains, const slc_cms_digis *digis, size_t at,
                              uint32_t *restrict where)
{
    const uint16_t *restrict module = digis->module + at, *restrict x = digis->x + at,
                             *restrict y = digis->y + at;
    const uint32_t modules = gains->n_modules < SLC_CMS_NO_MODULE ? gains->n_modules : SLC_CMS_NO_MODULE;
    uint32_t outside = 0;
    for (uint32_t i = 0; i < BLOCK; i++) {
        outside |= (uint32_t)(module[i] >= modules) | (uint32_t)(x[i] >= SLC_CMS_ROWS) |
                   (uint32_t)(y[i] >= SLC_CMS_COLUMNS);
        where[i] = slc_cms_gain_of(module[i], x[i], y[i]);
    }
    return outside == 0;
}

/* slc_cms_electrons, of a vector. */
static inline void put_electrons(uint32_t *to, f32v electrons, float least)
{
    const f32v v = f32v_min(f32v_max(electrons, f32v_set(least)), f32v_set(65535.0f));
    u32v_store(to, u32v_from_i32(i32v_truncate(v)));
}

/* A block in 32 bits, as vectors have them. */
typedef struct block {
    uint32_t module[ROOM], adc[ROOM], gain[ROOM], pedestal[ROOM], electrons[ROOM];
} block;

/* slc_cms_electrons_phase1. */
static inline void find_electrons(const slc_cms_calibrate_config *c, const slc_cms_gains *g, block *b)
{
    const f32v gain_step = f32v_set(g->gain_step), gain_low = f32v_set(g->gain_low);
    const f32v pedestal_step = f32v_set(g->pedestal_step), pedestal_low = f32v_set(g->pedestal_low);
    const float least = (float)c->least_e;
    for (size_t i = 0; i < BLOCK; i += SIMD_LANES) {
        const mask32 layer1 = u32v_lt(u32v_load(b->module + i), u32v_set(SLC_CMS_LAYER1_END));
        const f32v factor = f32v_select(layer1, f32v_set(c->factor_layer1), f32v_set(c->factor));
        const f32v offset = f32v_select(layer1, f32v_set(c->offset_layer1_e), f32v_set(c->offset_e));
        const f32v pedestal_byte = f32v_from_i32(i32v_from_u32(u32v_load(b->pedestal + i)));
        const f32v gain_byte = f32v_from_i32(i32v_from_u32(u32v_load(b->gain + i)));
        const f32v pedestal = f32v_add(f32v_mul(pedestal_byte, pedestal_step), pedestal_low);
        const f32v gain = f32v_add(f32v_mul(gain_byte, gain_step), gain_low);
        const f32v above = f32v_sub(f32v_from_i32(i32v_from_u32(u32v_load(b->adc + i))), pedestal);
        put_electrons(b->electrons + i, f32v_add(f32v_mul(f32v_mul(above, gain), factor), offset), least);
    }
}

static bool phase1(const slc_cms_calibrate_config *config, const slc_cms_gains *gains,
                   const slc_cms_digis *digis, size_t at)
{
    const uint16_t *restrict module = digis->module + at;
    uint16_t *restrict adc = digis->adc + at;
    uint32_t where[BLOCK], special = 0;
    block b;
    if (!find_gains(gains, digis, at, where)) {
        return false;
    }
    for (uint32_t i = 0; i < BLOCK; i++) {
        const slc_cms_gain pixel = gains->gain[where[i]];
        b.gain[i] = pixel.gain;
        b.pedestal[i] = pixel.pedestal;
    }
    for (uint32_t i = 0; i < BLOCK; i++) {
        special |= (uint32_t)(b.pedestal[i] == gains->dead) | (uint32_t)(b.pedestal[i] == gains->noisy);
        b.module[i] = module[i];
        b.adc[i] = adc[i];
    }
    if (special != 0) {
        return false;
    }
    find_electrons(config, gains, &b);
    for (uint32_t i = 0; i < BLOCK; i++) {
        adc[i] = (uint16_t)b.electrons[i];
    }
    return true;
}

/* slc_cms_electrons_phase2, of a block; what is none keeps its counts. */
static inline void find_electrons2(const slc_cms_calibrate_config *c, block *b)
{
    const u32v kink = u32v_set(c->kink), zero = u32v_set(0), none = u32v_set(SLC_CMS_NO_MODULE);
    const f32v step = f32v_set((float)((int32_t)1 << c->slope)), one = f32v_set(1.0f);
    const f32v half = f32v_set(0.5f), per_count = f32v_set(c->per_count_e);
    for (size_t i = 0; i < BLOCK; i += SIMD_LANES) {
        const u32v adc = u32v_load(b->adc + i);
        const mask32 above = u32v_ge(adc, kink);
        const u32v from = u32v_select(above, kink, zero);
        const f32v counts = f32v_from_i32(i32v_from_u32(u32v_sub(adc, from)));
        const f32v worth = f32v_mul(f32v_add(counts, half), f32v_select(above, step, one));
        put_electrons(b->electrons + i,
                      f32v_mul(f32v_add(f32v_from_i32(i32v_from_u32(from)), worth), per_count), 0.0f);
        const mask32 stays = u32v_eq(u32v_load(b->module + i), none);
        u32v_store(b->electrons + i, u32v_select(stays, adc, u32v_load(b->electrons + i)));
    }
}

static void phase2(const slc_cms_calibrate_config *config, const slc_cms_digis *digis)
{
    const uint16_t *restrict module = digis->module;
    uint16_t *restrict adc = digis->adc;
    block b;
    memset(&b, 0, sizeof b);
    for (size_t at = 0; at < digis->head.size; at += BLOCK) {
        const size_t n = digis->head.size - at < BLOCK ? digis->head.size - at : BLOCK;
        for (size_t i = 0; i < n; i++) {
            b.module[i] = module[at + i];
            b.adc[i] = adc[at + i];
        }
        find_electrons2(config, &b);
        for (size_t i = 0; i < n; i++) {
            adc[at + i] = (uint16_t)b.electrons[i];
        }
    }
}

const slc_cms_calibrate_kernels SIMD_TABLE(slc_cms_calibrate) = {
    .target = SIMD_TARGET_NAME, .phase1 = phase1, .phase2 = phase2};
