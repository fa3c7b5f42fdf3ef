/* SPDX-License-Identifier: Apache-2.0
 *
 * One JSON event to columns. Nothing in it is believed: lengths, ranges and indices are checked, and an event
 * that fails anywhere leaves no trace. Columns of the particles are found by the names that the event itself
 * gives them.
 */
#include "io/lhcb/io_velojson.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* No VELO event comes near; it keeps indices far from the end of 32 bits. */
enum { MAX_ROWS = 1 << 24 };

__attribute__((format(printf, 2, 3))) static slc_status wrong(slc_velojson_reason *reason, const char *format,
                                                              ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
    return SLC_ERR_FORMAT;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static bool get_float(const json_t *value, float *out)
{
    const double number = json_number_value(value);
    if (!json_is_number(value) || !isfinite(number) || fabs(number) > (double)3.0e38F) {
        return false;
    }
    *out = (float)number;
    return true;
}

/* Integers, also where they are written as 1.0 or true. */
static bool get_integer(const json_t *value, int64_t low, int64_t high, int64_t *out)
{
    int64_t number;
    if (json_is_boolean(value)) {
        number = json_is_true(value) ? 1 : 0;
    } else if (json_is_integer(value)) {
        number = json_integer_value(value);
    } else if (json_is_real(value) && fabs(json_real_value(value)) < 9.0e15 &&
               floor(json_real_value(value)) == json_real_value(value)) {
        number = (int64_t)json_real_value(value);
    } else {
        return false;
    }
    *out = number;
    return number >= low && number <= high;
}

static slc_status fill_floats(const json_t *array, const char *name, float *out, slc_velojson_reason *reason)
{
    const size_t n = json_array_size(array);
    for (size_t i = 0; i < n; i++) {
        if (!get_float(json_array_get(array, i), &out[i])) {
            return wrong(reason, "%s[%zu] is not a finite number", name, i);
        }
    }
    return SLC_OK;
}

/* ---- hits ------------------------------------------------------------------------------------ */

static slc_status read_modules(const json_t *event, size_t n_hits, uint8_t *module,
                               slc_velojson_reason *reason)
{
    const json_t *sums = json_object_get(event, "module_prefix_sum");
    if (!json_is_array(sums)) {
        return wrong(reason, "no array module_prefix_sum");
    }
    if (json_array_size(sums) != SLC_VELO_MODULES + 1) {
        return wrong(reason, "module_prefix_sum has %zu entries, not %d", json_array_size(sums),
                     SLC_VELO_MODULES + 1);
    }
    int64_t from = 0;
    for (size_t m = 0; m <= SLC_VELO_MODULES; m++) {
        int64_t to;
        if (!get_integer(json_array_get(sums, m), from, (int64_t)n_hits, &to) || (m == 0 && to != 0)) {
            return wrong(reason, "module_prefix_sum[%zu] is not an integer from %lld to %lld", m,
                         (long long)from, m == 0 ? 0LL : (long long)n_hits);
        }
        if (m > 0 && to > from) {
            memset(module + from, (int)(m - 1), (size_t)(to - from));
        }
        from = to;
    }
    if (from != (int64_t)n_hits) {
        return wrong(reason, "module_prefix_sum ends at %lld, there are %zu hits", (long long)from, n_hits);
    }
    return SLC_OK;
}

static slc_status read_hits(const json_t *event, slc_velo_hits *hits, slc_velojson_reason *reason)
{
    static const char *const names[3] = {"x", "y", "z"};
    const json_t *axes[3];
    for (size_t a = 0; a < 3; a++) {
        axes[a] = json_object_get(event, names[a]);
        if (!json_is_array(axes[a])) {
            return wrong(reason, "no array %s", names[a]);
        }
        if (json_array_size(axes[a]) != json_array_size(axes[0])) {
            return wrong(reason, "x has %zu entries, %s has %zu", json_array_size(axes[0]), names[a],
                         json_array_size(axes[a]));
        }
    }
    const size_t n = json_array_size(axes[0]), at = hits->head.size;
    if (n > MAX_ROWS) {
        return wrong(reason, "%zu hits, at most %d are allowed", n, MAX_ROWS);
    }
    if (slc_columns_reserve(&slc_velo_hits_schema, hits, at + n, hits->head.event_capacity) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    float *const columns[3] = {hits->x_mm + at, hits->y_mm + at, hits->z_mm + at};
    for (size_t a = 0; a < 3; a++) {
        const slc_status status = fill_floats(axes[a], names[a], columns[a], reason);
        if (status != SLC_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < n; i++) {
        hits->channel[at + i] = (uint32_t)i;
        hits->n_pixels[at + i] = 0;
    }
    const slc_status status = read_modules(event, n, hits->module + at, reason);
    if (status == SLC_OK) {
        hits->head.size += n;
    }
    return status;
}

/* ---- particles ------------------------------------------------------------------------------- */

typedef enum field {
    FIELD_KEY = 0,
    FIELD_PID,
    FIELD_P,
    FIELD_PT,
    FIELD_ETA,
    FIELD_PHI,
    FIELD_CHARGE,
    FIELD_HITS,
    FIELD_FIRST_FLAG,
    N_FLAGS = 8,
    N_FIELDS = FIELD_FIRST_FLAG + N_FLAGS
} field;

static const struct {
    const char *name;
    uint32_t flag;
} fields[N_FIELDS] = {
    [FIELD_KEY] = {"key", 0},
    [FIELD_PID] = {"pid", 0},
    [FIELD_P] = {"p", 0},
    [FIELD_PT] = {"pt", 0},
    [FIELD_ETA] = {"eta", 0},
    [FIELD_PHI] = {"phi", 0},
    [FIELD_CHARGE] = {"charge", 0},
    [FIELD_HITS] = {"hits", 0},
    {"isLong", SLC_VELO_IS_LONG},
    {"isDown", SLC_VELO_IS_DOWN},
    {"hasVelo", SLC_VELO_HAS_VELO},
    {"hasUT", SLC_VELO_HAS_UT},
    {"hasScifi", SLC_VELO_HAS_SCIFI},
    {"fromBeautyDecay", SLC_VELO_FROM_BEAUTY},
    {"fromCharmDecay", SLC_VELO_FROM_CHARM},
    {"fromStrangeDecay", SLC_VELO_FROM_STRANGE},
};

/* Where in a particle's row each field stands; -1 where the event does not have it. */
typedef struct layout {
    int at[N_FIELDS];
    size_t width;
} layout;

static slc_status read_layout(const json_t *description, layout *columns, slc_velojson_reason *reason)
{
    if (!json_is_array(description)) {
        return wrong(reason, "montecarlo.description is not an array of names");
    }
    columns->width = json_array_size(description);
    if (columns->width > 1024) {
        return wrong(reason, "montecarlo.description names %zu columns, at most 1024 are allowed",
                     columns->width);
    }
    for (size_t f = 0; f < N_FIELDS; f++) {
        columns->at[f] = -1;
        for (size_t i = 0; i < columns->width && columns->at[f] < 0; i++) {
            const char *name = json_string_value(json_array_get(description, i));
            if (name == NULL) {
                return wrong(reason, "montecarlo.description[%zu] is not a string", i);
            }
            columns->at[f] = strcmp(name, fields[f].name) == 0 ? (int)i : -1;
        }
    }
    return columns->at[FIELD_HITS] >= 0 ? SLC_OK
                                        : wrong(reason, "montecarlo.description names no column hits");
}

static const json_t *cell(const json_t *row, const layout *columns, size_t f)
{
    return columns->at[f] >= 0 ? json_array_get(row, (size_t)columns->at[f]) : NULL;
}

static slc_status read_numbers(const json_t *row, const layout *columns, size_t index,
                               slc_velo_particles *particles, size_t at, slc_velojson_reason *reason)
{
    float *const floats[] = {&particles->p_mev[at], &particles->pt_mev[at], &particles->eta[at],
                             &particles->phi_rad[at], &particles->charge[at]};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        const json_t *value = cell(row, columns, FIELD_P + i);
        *floats[i] = NAN;
        if (value != NULL && !get_float(value, floats[i])) {
            return wrong(reason, "montecarlo.particles[%zu]: %s is not a finite number", index,
                         fields[FIELD_P + i].name);
        }
    }
    int64_t key = 0, pid = 0;
    const json_t *key_cell = cell(row, columns, FIELD_KEY), *pid_cell = cell(row, columns, FIELD_PID);
    if ((key_cell != NULL && !get_integer(key_cell, 0, UINT32_MAX, &key)) ||
        (pid_cell != NULL && !get_integer(pid_cell, INT32_MIN, INT32_MAX, &pid))) {
        return wrong(reason, "montecarlo.particles[%zu]: key or pid is not an integer of 32 bits", index);
    }
    particles->key[at] = (uint32_t)key;
    particles->pid[at] = (int32_t)pid;
    uint32_t flags = 0;
    for (size_t f = FIELD_FIRST_FLAG; f < N_FIELDS; f++) {
        const json_t *value = cell(row, columns, f);
        int64_t set = 0;
        if (value != NULL && !get_integer(value, 0, 1, &set)) {
            return wrong(reason, "montecarlo.particles[%zu]: %s is not 0 or 1", index, fields[f].name);
        }
        flags |= set != 0 ? fields[f].flag : 0;
    }
    particles->flags[at] = flags;
    return SLC_OK;
}

static slc_status read_ids(const json_t *list, size_t index, size_t n_hits, slc_velo_particle_ids *ids,
                           slc_velojson_reason *reason)
{
    if (!json_is_array(list)) {
        return wrong(reason, "montecarlo.particles[%zu]: hits is not an array", index);
    }
    const size_t n = json_array_size(list), at = ids->head.size;
    if (n > MAX_ROWS || at + n > UINT32_MAX) {
        return wrong(reason, "montecarlo.particles[%zu]: %zu hits", index, n);
    }
    if (slc_columns_reserve(&slc_velo_particle_ids_schema, ids, at + n, ids->head.event_capacity) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        int64_t hit;
        if (!get_integer(json_array_get(list, i), 0, (int64_t)n_hits - 1, &hit)) {
            return wrong(reason,
                         "montecarlo.particles[%zu]: hits[%zu] is not the index of one of the %zu hits",
                         index, i, n_hits);
        }
        ids->id[at + i] = (uint32_t)hit;
    }
    ids->head.size += n;
    return SLC_OK;
}

static slc_status read_particle(const json_t *row, const layout *columns, size_t index, size_t n_hits,
                                size_t first_id, slc_velo_truth *truth, slc_velojson_reason *reason)
{
    slc_velo_particles *particles = &truth->particles;
    const size_t at = particles->head.size, id_begin = truth->ids.head.size;
    if (json_array_size(row) != columns->width) {
        return wrong(reason, "montecarlo.particles[%zu] has %zu entries, montecarlo.description has %zu",
                     index, json_array_size(row), columns->width);
    }
    slc_status status = read_numbers(row, columns, index, particles, at, reason);
    if (status == SLC_OK) {
        status = read_ids(cell(row, columns, FIELD_HITS), index, n_hits, &truth->ids, reason);
    }
    if (status == SLC_OK) {
        particles->origin_x_mm[at] = particles->origin_y_mm[at] = particles->origin_z_mm[at] = NAN;
        particles->mother_key[at] = 0;
        particles->mother_pid[at] = 0;
        particles->id_begin[at] = (uint32_t)(id_begin - first_id);
        particles->n_ids[at] = (uint32_t)(truth->ids.head.size - id_begin);
        particles->head.size++;
    }
    return status;
}

static slc_status read_truth(const json_t *event, size_t n_hits, slc_velo_truth *truth,
                             slc_velojson_reason *reason)
{
    const json_t *montecarlo = json_object_get(event, "montecarlo");
    if (montecarlo == NULL) {
        return SLC_OK;
    }
    const json_t *rows = json_object_get(montecarlo, "particles");
    if (!json_is_array(rows)) {
        return wrong(reason, "montecarlo has no array particles");
    }
    layout columns = {.width = 0};
    slc_status status = read_layout(json_object_get(montecarlo, "description"), &columns, reason);
    if (status != SLC_OK) {
        return status;
    }
    slc_velo_particles *particles = &truth->particles;
    const size_t n = json_array_size(rows), first_id = truth->ids.head.size;
    if (n > MAX_ROWS) {
        return wrong(reason, "%zu particles, at most %d are allowed", n, MAX_ROWS);
    }
    status = slc_columns_reserve(&slc_velo_particles_schema, particles, particles->head.size + n,
                                 particles->head.event_capacity);
    for (size_t i = 0; status == SLC_OK && i < n; i++) {
        status = read_particle(json_array_get(rows, i), &columns, i, n_hits, first_id, truth, reason);
    }
    return status;
}

slc_status slc_velojson_event(const json_t *event, slc_velo_hits *hits, slc_velo_truth *truth,
                              slc_velojson_reason *reason)
{
    const size_t hits_before = hits->head.size, particles_before = truth->particles.head.size,
                 ids_before = truth->ids.head.size;
    if (!json_is_object(event)) {
        return wrong(reason, "not a JSON object");
    }
    slc_status status = read_hits(event, hits, reason);
    if (status == SLC_OK) {
        status = read_truth(event, hits->head.size - hits_before, truth, reason);
    }
    if (status != SLC_OK) {
        hits->head.size = hits_before;
        truth->particles.head.size = particles_before;
        truth->ids.head.size = ids_before;
    }
    return status;
}
