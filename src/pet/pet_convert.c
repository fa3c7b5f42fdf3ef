/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames to singles. What the tables say of a module and unit is folded into few numbers when the stage
 * opens: the number of its first crystal, and what each crystal of a block adds to it. So a frame costs two
 * loads for its crystal and one for each further table there is. Frames that cannot be are looked at again,
 * by themselves.
 */
#include "base/config.h"
#include "pet/pet_clock.h"
#include "pet/pet_scanner.h"
#include "pet/pet_stages.h"

#include <sluice/pet_convert.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = SLC_PET_MAX_MODULES * SLC_PET_MAX_UNITS,
    NO_SLOT = UINT16_MAX, /* of `block` */
    PART = 1 << 13,       /* least frames for a thread */
    PER_LINE = 4,         /* frames in a line of the cache */
    AT_ONCE = 256,        /* frames whose crystals are found before they are converted */
    MOST_THREADS = 64
};

/* Instead of a crystal's number: of no block, or refused by the clock, and of a block's place without one. */
static const uint32_t NO_BLOCK = UINT32_MAX, NONE = UINT32_MAX - 1;

/* Where times of modules have come to. */
typedef struct clocks {
    uint64_t latest[SLC_PET_MAX_MODULES]; /* ticks, all turns */
    uint64_t first[SLC_PET_MAX_MODULES];  /* of this call */
    bool began[SLC_PET_MAX_MODULES];
    uint64_t backwards;
} clocks;

/* What is known of a crystal, in one place, as it is a miss of the cache in a large scanner. */
typedef struct crystal_row {
    float gain;
    int32_t offset;
} crystal_row;

struct slc_pet_convert {
    slc_pet_convert_config config;
    slc_pet_geometry geometry;
    slc_team *team;
    bool lent;             /* the team is not the stage's own */
    uint16_t block[SLOTS]; /* of [module][unit], NO_SLOT where there is none */
    uint32_t *base;        /* number of a block's crystal 0 */
    uint32_t *add;         /* of a crystal in its block */
    uint32_t add_stride;   /* 0: one for all blocks */
    uint32_t side;
    size_t map_stride; /* 0: one map for all blocks */
    uint16_t *map;
    crystal_row *crystal; /* NULL: nothing is changed */
    float *energy;
    uint32_t energy_bins;
    float bins_per_kev;
    clocks clocks;
    slc_pet_clock *clock; /* NULL where counters have 64 bits */
    slc_pet_convert_counts counts;
};

/* ---- opening ----------------------------------------------------------------------------------- */

void slc_pet_convert_config_default(slc_pet_convert_config *config)
{
    *config = (slc_pet_convert_config){.size = sizeof *config,
                                       .tick_numerator = 1,
                                       .tick_denominator = 1,
                                       .tick_bits = 64,
                                       .high_kev = INFINITY,
                                       .exec = {.threads = 1, .target = SLC_SIMD_AUTO}};
}

static slc_status check(const slc_pet_convert_config *c, slc_error *error)
{
    if (c->tick_numerator == 0 || c->tick_denominator == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "tick: %u / %u ps", c->tick_numerator, c->tick_denominator);
    }
    if (c->tick_bits < 8 || c->tick_bits > 64) {
        return slc_fail(error, SLC_ERR_USAGE, "tick_bits: %u is not from 8 to 64", c->tick_bits);
    }
    if (isnan(c->low_kev) || isnan(c->high_kev) || c->low_kev >= c->high_kev) {
        return slc_fail(error, SLC_ERR_USAGE, "energies: no energy is from %g to below %g keV", c->low_kev,
                        c->high_kev);
    }
    return SLC_OK;
}

static void *copy_of(const void *table, size_t bytes)
{
    void *copy = table != NULL ? malloc(bytes) : NULL;
    if (copy != NULL) {
        memcpy(copy, table, bytes);
    }
    return copy;
}

/* Maps of the flood: those of the tables, or one that takes x for z and y for y. */
static bool fill_map(slc_pet_convert *s, const slc_pet_tables *t)
{
    const slc_pet_geometry *g = &s->geometry;
    if (t->position != NULL) {
        s->side = t->position_side;
        s->map_stride = (size_t)s->side * s->side;
        s->map = copy_of(t->position, slc_pet_position_elements(t) * sizeof *s->map);
        return s->map != NULL;
    }
    s->side = g->crystals_y > g->crystals_z ? g->crystals_y : g->crystals_z;
    s->map = malloc((size_t)s->side * s->side * sizeof *s->map);
    for (uint32_t y = 0; s->map != NULL && y < s->side; y++) {
        for (uint32_t x = 0; x < s->side; x++) {
            const bool there = y < g->crystals_y && x < g->crystals_z;
            s->map[y * s->side + x] = there ? (uint16_t)(y * g->crystals_z + x) : SLC_PET_NO_CRYSTAL;
        }
    }
    return s->map != NULL;
}

/* Numbers of crystals, as a block's first and what each of its crystals adds to that. */
static void fill_numbers(slc_pet_convert *s, uint32_t blocks, uint32_t locals)
{
    const slc_pet_geometry *g = &s->geometry;
    const uint32_t units = g->blocks_y * g->blocks_z;
    for (uint32_t block = 0; block < blocks; block++) {
        s->base[block] = slc_pet_crystal(g, block / units, block % units, 0);
    }
    for (uint32_t block = 0; block < (s->add_stride == 0 ? 1 : blocks); block++) {
        for (uint32_t local = 0; local < locals; local++) {
            s->add[block * s->add_stride + local] = slc_pet_crystal(g, block / units, block % units, local) -
                                                    s->base[block];
        }
    }
}

static bool fill_tables(slc_pet_convert *s, const slc_pet_tables *t)
{
    const slc_pet_geometry *g = &s->geometry;
    const uint32_t modules = slc_pet_module_count(g), units = g->blocks_y * g->blocks_z;
    const uint32_t locals = g->crystals_y * g->crystals_z;
    assert(modules > 0 && units > 0 && locals > 0);
    s->add_stride = slc_pet_numbers_repeat(g) ? 0 : locals;
    s->base = malloc((size_t)modules * units * sizeof *s->base);
    s->add = malloc((s->add_stride == 0 ? 1 : (size_t)modules * units) * locals * sizeof *s->add);
    if (s->base == NULL || s->add == NULL || !fill_map(s, t)) {
        return false;
    }
    fill_numbers(s, modules * units, locals);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        const uint32_t module = slot / SLC_PET_MAX_UNITS, unit = slot % SLC_PET_MAX_UNITS;
        const bool there = module < modules && unit < units;
        s->block[slot] = there ? (uint16_t)(module * units + unit) : NO_SLOT;
    }
    const size_t crystals = slc_pet_crystals(g);
    const bool changes = t->gain != NULL || t->time_offset_ps != NULL;
    s->crystal = changes ? malloc(crystals * sizeof *s->crystal) : NULL;
    for (size_t i = 0; s->crystal != NULL && i < crystals; i++) {
        s->crystal[i].gain = t->gain != NULL ? t->gain[i] : 1;
        s->crystal[i].offset = t->time_offset_ps != NULL ? t->time_offset_ps[i] : 0;
    }
    s->energy = copy_of(t->energy, slc_pet_energy_elements(t) * sizeof *s->energy);
    s->energy_bins = t->energy_bins;
    s->bins_per_kev = t->energy != NULL ? 1 / t->energy_bin_kev : 0;
    return changes == (s->crystal != NULL) && (t->energy == NULL) == (s->energy == NULL);
}

slc_status slc_pet_convert_open(const slc_pet_convert_config *given, const slc_pet_tables *tables,
                                slc_pet_convert **out, slc_error *error)
{
    *out = NULL;
    slc_pet_convert_config own;
    const slc_pet_convert_config *config = &own;
    slc_pet_convert_config_default(&own);
    slc_status status = slc_config_take(&own, sizeof own, given, "slc_pet_convert_config", error);
    status = status == SLC_OK ? check(config, error) : status;
    status = status == SLC_OK ? slc_pet_tables_check(tables, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_pet_convert *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a conversion of frames");
    }
    s->config = *config;
    s->geometry = tables->geometry;
    uint32_t threads = config->exec.threads == 0 ? slc_team_processors() : config->exec.threads;
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    if (!fill_tables(s, tables) || slc_team_open(threads, &s->team) != SLC_OK) {
        slc_pet_convert_close(s);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the tables of a conversion of frames");
    }
    status = slc_pet_clock_open(config, &s->geometry, &s->clock, error);
    if (status != SLC_OK) {
        slc_pet_convert_close(s);
        return status;
    }
    *out = s;
    return SLC_OK;
}

void slc_pet_convert_close(slc_pet_convert *s)
{
    if (s == NULL) {
        return;
    }
    if (!s->lent) {
        slc_team_close(s->team);
    }
    slc_pet_clock_close(s->clock);
    free(s->base);
    free(s->add);
    free(s->map);
    free(s->crystal);
    free(s->energy);
    free(s);
}

/* ---- one frame --------------------------------------------------------------------------------- */

static uint64_t ticks_of(const slc_pet_frame *frame)
{
    uint64_t ticks;
    memcpy(&ticks, frame->time, sizeof ticks);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return ticks;
#else
    return __builtin_bswap64(ticks);
#endif
}

/* The crystal's number in its block, SLC_PET_NO_CRYSTAL where there is none; *block is NO_SLOT or the block.
 */
static uint32_t local_of(const slc_pet_convert *s, const slc_pet_frame *frame, uint32_t *block)
{
    *block = s->block[frame->module * SLC_PET_MAX_UNITS + (frame->head_unit & 15)];
    if (*block == NO_SLOT || frame->x >= s->side || frame->y >= s->side) {
        return SLC_PET_NO_CRYSTAL;
    }
    return s->map[*block * s->map_stride + frame->y * s->side + frame->x];
}

static bool refuses(const slc_pet_convert *s, const slc_pet_frame *frame)
{
    return s->clock != NULL && slc_pet_clock_refuses(frame);
}

static float correct(const slc_pet_convert *s, uint32_t crystal, float energy)
{
    const float bin = energy * s->bins_per_kev, last = (float)(s->energy_bins - 1);
    const size_t at = bin < last ? (size_t)bin : s->energy_bins - 1U;
    return energy * s->energy[(size_t)crystal * s->energy_bins + at];
}

/* Ticks of 64 bits are without a sign; those of a counter that begins again are below 0 where it went back
 * beyond its first turn. */
static uint64_t picoseconds(const slc_pet_convert_config *c, uint64_t ticks)
{
    if (c->tick_denominator == 1) {
        return ticks * c->tick_numerator;
    }
    uint64_t whole = ticks / c->tick_denominator, rest = ticks % c->tick_denominator;
    if (c->tick_bits < 64 && ticks > INT64_MAX) { /* rounded down, and the rest from 0 */
        whole = ~(~ticks / c->tick_denominator);
        rest = ticks - whole * c->tick_denominator;
    }
    return whole * c->tick_numerator + rest * c->tick_numerator / c->tick_denominator;
}

/* Where a module's time has come to. Before the first frame that is the earliest there is. */
static uint64_t follow(clocks *clock, uint32_t module, uint64_t ticks, uint64_t *backwards)
{
    if (!clock->began[module]) {
        clock->began[module] = true;
        clock->first[module] = ticks;
    }
    *backwards += ticks < clock->latest[module];
    clock->latest[module] = ticks;
    return ticks;
}

/* ---- many frames ------------------------------------------------------------------------------- */

/* A thread's part: frames, and rows from `base` on, of which it fills `kept`. */
typedef struct part {
    size_t begin, end, kept;
    uint64_t bad; /* frames of no crystal, of whatever kind */
    uint64_t below, above;
    clocks clock;
} part;

typedef struct work {
    slc_pet_convert *stage;
    const slc_pet_frame *frames;
    slc_pet_singles *singles;
    size_t base;
    part *parts;
} work;

/* Crystals of some frames, of `left` in all; SLC_PET_NO_CRYSTAL's place is taken by NONE. What is known of
 * them is asked for, so that it has come when it is looked at, and so are the frames behind: a processor by
 * itself begins anew at each page of memory. */
static void find_crystals(const slc_pet_convert *s, const slc_pet_frame *frames, size_t n, size_t left,
                          uint32_t *crystals)
{
    const size_t ahead = left - n >= AT_ONCE ? AT_ONCE : 0;
    for (size_t i = 0; i < n; i++) {
        if (i % PER_LINE == 0) {
            __builtin_prefetch(&frames[i + ahead]);
        }
        uint32_t block;
        const uint32_t local = local_of(s, &frames[i], &block);
        crystals[i] = block == NO_SLOT || refuses(s, &frames[i]) ? NO_BLOCK
                      : local == SLC_PET_NO_CRYSTAL              ? NONE
                                                    : s->base[block] + s->add[block * s->add_stride + local];
        if (s->crystal != NULL && crystals[i] < NONE) {
            __builtin_prefetch(&s->crystal[crystals[i]]);
        }
    }
}

/* Where the next single goes. */
typedef struct rows {
    int64_t *time;
    uint32_t *crystal;
    float *energy;
    size_t kept;
} rows;

/* `plain`: ticks are whole picoseconds, of which the compiler then makes a loop of its own. */
static inline void convert(const slc_pet_convert *s, const slc_pet_frame *frames, size_t n,
                           const uint32_t *crystals, part *p, rows *r, const bool plain)
{
    const float low = (float)s->config.low_kev, high = (float)s->config.high_kev;
    const uint64_t numerator = s->config.tick_numerator;
    size_t kept = r->kept, below = 0;
    uint64_t bad = 0, backwards = 0; /* in a register, as each would wait for the one before in memory */
    for (size_t i = 0; i < n; i++) {
        const slc_pet_frame *frame = &frames[i];
        const uint32_t crystal = crystals[i];
        if (crystal == NO_BLOCK) {
            bad++;
            continue;
        }
        const uint64_t ticks = follow(&p->clock, frame->module, ticks_of(frame), &backwards);
        if (crystal == NONE) {
            bad++;
            continue;
        }
        float energy = (float)(frame->energy[0] << 8 | frame->energy[1]);
        uint64_t ps = plain ? ticks * numerator : picoseconds(&s->config, ticks);
        if (s->crystal != NULL) {
            energy *= s->crystal[crystal].gain;
            ps += (uint64_t)(int64_t)s->crystal[crystal].offset;
        }
        if (s->energy != NULL) {
            energy = correct(s, crystal, energy);
        }
        /* Written in any case, and written over by the next where it is not kept: no branch to guess. */
        r->time[kept] = (int64_t)ps;
        r->crystal[kept] = crystal;
        r->energy[kept] = energy;
        below += energy < low;
        kept += energy >= low && energy < high;
    }
    p->clock.backwards += backwards;
    p->bad += bad;
    p->below += below;
    p->above += n - bad - below - (kept - r->kept); /* so is what is not a number */
    r->kept = kept;
}

static void convert_part(void *context, uint32_t number)
{
    const work *w = context;
    const slc_pet_convert *s = w->stage;
    part *p = &w->parts[number];
    const bool plain = s->config.tick_denominator == 1;
    const size_t row = w->base + p->begin;
    uint32_t crystals[AT_ONCE];
    rows r = {w->singles->time_ps + row, w->singles->crystal + row, w->singles->energy_kev + row, 0};
    for (size_t i = p->begin; i < p->end; i += AT_ONCE) {
        const size_t n = p->end - i < AT_ONCE ? p->end - i : AT_ONCE;
        find_crystals(s, w->frames + i, n, p->end - i, crystals);
        if (plain) {
            convert(s, w->frames + i, n, crystals, p, &r, true);
        } else {
            convert(s, w->frames + i, n, crystals, p, &r, false);
        }
    }
    p->kept = r.kept;
}

/* Tells the kinds of bad frames apart. */
static void sort_out(slc_pet_convert *s, const slc_pet_frame *frames, size_t n, slc_faults *faults)
{
    const slc_pet_geometry *g = &s->geometry;
    const uint32_t modules = slc_pet_module_count(g);
    for (size_t i = 0; i < n; i++) {
        const slc_pet_frame *frame = &frames[i];
        uint32_t block;
        const bool refused = refuses(s, frame);
        if (local_of(s, frame, &block) != SLC_PET_NO_CRYSTAL && !refused) {
            continue;
        }
        const bool no_module = frame->module >= modules, no_unit = block == NO_SLOT;
        const bool outside = frame->x >= s->side || frame->y >= s->side;
        s->counts.clock += refused; /* it is of a unit that there is */
        s->counts.module += no_module;
        s->counts.unit += !no_module && no_unit;
        s->counts.position += !refused && !no_unit && outside;
        s->counts.no_crystal += !refused && !no_unit && !outside;
        if (faults != NULL && (refused || no_unit || outside)) {
            slc_faults_add(faults,
                           refused     ? SLC_FAULT_PET_CLOCK
                           : no_module ? SLC_FAULT_PET_MODULE
                           : no_unit   ? SLC_FAULT_PET_UNIT
                                       : SLC_FAULT_PET_POSITION,
                           s->counts.frames + i, frame->module, (s->counts.frames + i) * SLC_PET_FRAME_BYTES);
        }
    }
}

/* Joins a part's clocks to those before it, of which the part knew nothing. */
static void join_clocks(slc_pet_convert *s, const clocks *later)
{
    for (uint32_t m = 0; m < SLC_PET_MAX_MODULES; m++) {
        if (later->began[m]) {
            s->clocks.backwards += s->clocks.began[m] && later->first[m] < s->clocks.latest[m];
            s->clocks.began[m] = true;
            s->clocks.latest[m] = later->latest[m];
        }
    }
    s->clocks.backwards += later->backwards;
}

static void move_rows(slc_pet_singles *singles, size_t to, size_t from, size_t n)
{
    if (to != from) {
        memmove(singles->time_ps + to, singles->time_ps + from, n * sizeof *singles->time_ps);
        memmove(singles->crystal + to, singles->crystal + from, n * sizeof *singles->crystal);
        memmove(singles->energy_kev + to, singles->energy_kev + from, n * sizeof *singles->energy_kev);
    }
}

static void finish(work *w, uint32_t threads, size_t n, slc_faults *faults)
{
    slc_pet_convert *s = w->stage;
    size_t row = w->base;
    uint64_t bad = 0;
    for (uint32_t t = 0; t < threads; t++) {
        const part *p = &w->parts[t];
        move_rows(w->singles, row, w->base + p->begin, p->kept);
        row += p->kept;
        bad += p->bad;
        s->counts.below += p->below;
        s->counts.above += p->above;
        if (threads > 1) {
            join_clocks(s, &p->clock);
        } else {
            s->clocks = p->clock;
        }
    }
    if (bad > 0) {
        sort_out(s, w->frames, n, faults);
    }
    s->counts.frames += n;
    s->counts.singles += row - w->base;
    s->counts.backwards = s->clocks.backwards;
    if (s->clock != NULL) {
        slc_pet_clock_counts(s->clock, &s->counts);
    }
    w->singles->head.size = row;
}

slc_status slc_pet_convert_run(slc_pet_convert *stage, const slc_pet_frame *frames,
                               const uint64_t *received_ns, size_t n, bool last, slc_pet_singles *singles,
                               slc_faults *faults, slc_error *error)
{
    const size_t most = n + (stage->clock != NULL ? slc_pet_clock_held(stage->clock) : 0);
    const uint32_t team = slc_team_size(stage->team);
    work w = {.stage = stage, .frames = frames, .singles = singles, .base = singles->head.size};
    w.parts = calloc(team, sizeof *w.parts);
    if (w.parts == NULL ||
        slc_columns_reserve(&slc_pet_singles_schema, singles, singles->head.size + most + 1, 1) != SLC_OK) {
        free(w.parts);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the singles of %zu frames", most);
    }
    if (stage->clock != NULL) {
        const slc_status status = slc_pet_clock_run(stage->clock, frames, received_ns, n, last, &w.frames, &n,
                                                    error);
        if (status != SLC_OK) {
            free(w.parts);
            return status;
        }
    }
    const uint32_t parts = n / PART >= team ? team : (uint32_t)(n / PART);
    const uint32_t threads = parts > 0 ? parts : 1;
    for (uint32_t t = 0; t < threads; t++) {
        w.parts[t].begin = n / threads * t;
        w.parts[t].end = t + 1 == threads ? n : n / threads * (t + 1);
    }
    if (threads == 1) {
        w.parts[0].clock = stage->clocks;
    }
    slc_team_run(stage->team, threads, convert_part, &w);
    finish(&w, threads, n, faults);
    free(w.parts);
    return SLC_OK;
}

void slc_pet_convert_counts_of(const slc_pet_convert *stage, slc_pet_convert_counts *counts)
{
    *counts = stage->counts;
}

void slc_pet_convert_use(slc_pet_convert *stage, slc_team *team)
{
    if (!stage->lent) {
        slc_team_close(stage->team);
    }
    stage->team = team;
    stage->lent = true;
}
