/* SPDX-License-Identifier: Apache-2.0
 * Events of CMS's digis for tests.
 */
#include "support/cms_events.h"

#include "base/columns.h"
#include "support/cmocka_all.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

/* ---- digis -------------------------------------------------------------------------------------- */

enum { POISON = -77777777 };

void cms_digis_put(slc_cms_digis *digis, uint32_t module, uint32_t x, uint32_t y, uint32_t adc)
{
    const size_t row = digis->head.size;
    if (row == digis->head.capacity) {
        assert_int_equal(
            slc_columns_reserve(&slc_cms_digis_schema, digis, 2 * row + 256, digis->head.event_capacity + 1),
            SLC_OK);
    }
    digis->head.size++;
    digis->cluster[row] = POISON;
    digis->packed[row] = (x & 0x7ff) | (y & 0x7ff) << 11 | (adc & 0x3ff) << 22;
    digis->raw_id[row] = 0x12000000 + module;
    digis->adc[row] = (uint16_t)adc;
    digis->x[row] = (uint16_t)x;
    digis->y[row] = (uint16_t)y;
    digis->module[row] = (uint16_t)module;
}

void cms_digis_end(slc_cms_digis *digis)
{
    if (digis->head.n_events == digis->head.event_capacity) {
        assert_int_equal(slc_columns_reserve(&slc_cms_digis_schema, digis, digis->head.capacity,
                                             2 * digis->head.n_events + 16),
                         SLC_OK);
    }
    slc_columns_end_event(digis);
}

void cms_digis_poison(slc_cms_digis *digis)
{
    for (size_t row = 0; row < digis->head.size; row++) {
        digis->cluster[row] = POISON;
    }
}

void cms_digis_copy(slc_cms_digis *into, const slc_cms_digis *from)
{
    slc_columns_reset(into);
    assert_int_equal(
        slc_columns_reserve(&slc_cms_digis_schema, into, from->head.size + 1, from->head.n_events + 1),
        SLC_OK);
    assert_int_equal(slc_columns_append_events(&slc_cms_digis_schema, from, 0, from->head.n_events, into),
                     SLC_OK);
}

void cms_digis_clear(slc_cms_digis *digis)
{
    slc_columns_clear(&slc_cms_digis_schema, digis);
}

const char *cms_columns_differ(const slc_schema *schema, const void *a, const void *b, size_t *row)
{
    const char *why = NULL;
    const slc_columns *head = a;
    *row = 0;
    if (!slc_columns_zip(a, b, &why)) {
        return "events";
    }
    for (size_t c = 0; c < schema->n_columns; c++) {
        const size_t size = slc_type_size(schema->columns[c].type);
        const char *one = slc_column_data(a, &schema->columns[c]);
        const char *other = slc_column_data(b, &schema->columns[c]);
        for (size_t i = 0; i < head->size; i++) {
            if (memcmp(one + i * size, other + i * size, size) != 0) {
                *row = i;
                return schema->columns[c].name;
            }
        }
    }
    return NULL;
}

const char *cms_faults_differ(const slc_faults *a, const slc_faults *b)
{
    for (uint32_t i = 0; i < a->n_kinds || i < b->n_kinds; i++) {
        const slc_fault_code code = i < a->n_kinds ? a->kind[i].code : b->kind[i].code;
        if (a->n_kinds != b->n_kinds || a->kind[i].code != b->kind[i].code || a->kind[i].n != b->kind[i].n) {
            return slc_fault_name(code);
        }
    }
    if (a->n_kept != b->n_kept) {
        return "kept";
    }
    for (uint32_t i = 0; i < a->n_kept; i++) {
        if (a->kept[i].event != b->kept[i].event || a->kept[i].offset != b->kept[i].offset ||
            a->kept[i].module != b->kept[i].module || a->kept[i].code != b->kept[i].code) {
            return "kept";
        }
    }
    return NULL;
}

/* ---- an event in the making -------------------------------------------------------------------- */

typedef struct draft {
    uint16_t module, x, y, adc;
    uint64_t rank; /* where it goes in a shuffled order */
} draft;

typedef struct drafts {
    draft *of;
    size_t size, capacity;
} drafts;

static void put(drafts *list, uint32_t module, uint32_t x, uint32_t y, uint32_t adc)
{
    if (list->size == list->capacity) {
        list->capacity = 2 * list->capacity + 256;
        list->of = realloc(list->of, list->capacity * sizeof *list->of);
        assert_non_null(list->of);
    }
    list->of[list->size++] = (draft){
        .module = (uint16_t)module, .x = (uint16_t)x, .y = (uint16_t)y, .adc = (uint16_t)adc};
}

static int by_rank(const void *first, const void *second)
{
    const draft *a = first, *b = second;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static void sort(drafts *list, size_t begin)
{
    if (list->size > begin) {
        qsort(list->of + begin, list->size - begin, sizeof *list->of, by_rank);
    }
}

/* Fisher and Yates. */
static void shuffle(drafts *list, size_t begin, uint64_t *seed)
{
    for (size_t i = list->size; i > begin + 1; i--) {
        const size_t j = begin + random_below(seed, (uint32_t)(i - begin));
        const draft kept = list->of[i - 1];
        list->of[i - 1] = list->of[j];
        list->of[j] = kept;
    }
}

/* ---- charges ------------------------------------------------------------------------------------ */

/* Such that clusters lie below, above and exactly at the cuts of 2000 and 4000 electrons, and sums saturate.
 */
static uint32_t charge(uint32_t kind, uint64_t *seed)
{
    switch (kind) {
    case 0:
        return 100 + random_below(seed, 20000);
    case 1:
        return random_below(seed, 2) != 0 ? 1000 : 2000;
    case 2:
        return random_below(seed, 400);
    case 3:
        return 500 * random_below(seed, 8);
    default:
        return UINT16_MAX;
    }
}
enum { CHARGES = 5 };

/* ---- shapes ------------------------------------------------------------------------------------- */

enum { ROWS = SLC_CMS_ROWS, COLUMNS = SLC_CMS_COLUMNS, AREA = ROWS * COLUMNS };

/* A content in the making: at most `n` digis of a module. */
typedef struct shape {
    drafts *list;
    size_t begin;
    uint32_t module, n, charges;
    uint64_t *seed;
} shape;

static bool full(const shape *of)
{
    return of->list->size - of->begin >= of->n;
}

static void dot(const shape *of, uint32_t x, uint32_t y)
{
    if (x < ROWS && y < COLUMNS && !full(of)) {
        put(of->list, of->module, x, y, charge(of->charges, of->seed));
    }
}

static void scattered(const shape *of)
{
    while (!full(of)) {
        const uint32_t x = random_below(of->seed, ROWS);
        dot(of, x, random_below(of->seed, COLUMNS));
    }
}

/* Random walks, which come back to their own pixels: blobs of about 20 pixels with duplicates. */
static void blobs(const shape *of)
{
    uint32_t x = 0, y = 0, left = 0;
    while (!full(of)) {
        if (left == 0) {
            x = random_below(of->seed, ROWS);
            y = random_below(of->seed, COLUMNS);
            left = 1 + random_below(of->seed, 40);
        }
        dot(of, x, y);
        x = (x + ROWS + random_below(of->seed, 3) - 1) % ROWS;
        y = (y + COLUMNS + random_below(of->seed, 3) - 1) % COLUMNS;
        left--;
    }
}

/* There and back again, one row left free between two ways: the longest chain that fits. */
static void snake(const shape *of)
{
    for (uint32_t x = 0; x < ROWS && !full(of); x += 2) {
        const bool back = x / 2 % 2 != 0;
        for (uint32_t i = 0; i < COLUMNS; i++) {
            dot(of, x, back ? COLUMNS - 1 - i : i);
        }
        dot(of, x + 1, back ? 0 : COLUMNS - 1);
    }
}

/* The same along the other axis, in the reverse order of its way. */
static void snake_of_columns(const shape *of)
{
    for (uint32_t turn = 0; 2 * turn < COLUMNS && !full(of); turn++) {
        const uint32_t y = COLUMNS - 1 - 2 * turn;
        for (uint32_t i = 0; i < ROWS; i++) {
            dot(of, turn % 2 != 0 ? ROWS - 1 - i : i, y);
        }
        if (y > 0) {
            dot(of, turn % 2 != 0 ? 0 : ROWS - 1, y - 1);
        }
    }
}

/* Inwards, one pixel left free between two turns. */
static void spiral(const shape *of)
{
    static const int step_x[4] = {0, 1, 0, -1}, step_y[4] = {1, 0, -1, 0};
    int x = 0, y = -2, length_x = ROWS - 1, length_y = COLUMNS + 1;
    for (int side = 0; !full(of); side++) {
        const int way = side % 4, length = way % 2 == 0 ? length_y : length_x;
        if (length <= 1) {
            return;
        }
        for (int i = 0; i < length; i++) {
            x += step_x[way];
            y += step_y[way];
            if (x >= 0 && y >= 0) {
                dot(of, (uint32_t)x, (uint32_t)y);
            }
        }
        *(way % 2 == 0 ? &length_y : &length_x) -= 2;
    }
}

/* Teeth that are joined at their far ends only. */
static void comb(const shape *of)
{
    const uint32_t height = 2 + random_below(of->seed, ROWS - 2);
    for (uint32_t y = 0; y < COLUMNS && !full(of); y += 2) {
        for (uint32_t x = 0; x < height; x++) {
            dot(of, x, y);
        }
        dot(of, height - 1, y + 1);
    }
}

static void rectangle(const shape *of)
{
    const uint32_t width = 1 + random_below(of->seed, COLUMNS), left = random_below(of->seed, COLUMNS);
    const uint32_t top = random_below(of->seed, ROWS);
    for (uint32_t i = 0; !full(of) && i / width < ROWS; i++) {
        dot(of, (top + i / width) % ROWS, (left + i % width) % COLUMNS);
    }
}

/* Every second pixel: joined by corners alone. */
static void checkered(const shape *of)
{
    for (uint32_t i = 0; i < AREA / 2 && !full(of); i++) {
        const uint32_t x = i / (COLUMNS / 2);
        dot(of, x, 2 * (i % (COLUMNS / 2)) + x % 2);
    }
}

/* The same few pixels again and again. */
static void repeated(const shape *of)
{
    const uint32_t x = random_below(of->seed, ROWS), y = random_below(of->seed, COLUMNS);
    while (!full(of)) {
        const uint32_t dx = random_below(of->seed, 3);
        dot(of, x + dx, y + 2 * random_below(of->seed, 3));
    }
}

/* Diagonals, which come near to each other and do not touch, or do. */
static void diagonals(const shape *of)
{
    for (uint32_t turn = 0; !full(of) && turn < 4 * COLUMNS; turn++) {
        const uint32_t from = random_below(of->seed, COLUMNS), length = 1 + random_below(of->seed, ROWS);
        const bool falling = random_below(of->seed, 2) != 0;
        for (uint32_t i = 0; i < length; i++) {
            dot(of, falling ? ROWS - 1 - i : i, (from + i) % COLUMNS);
        }
    }
}

/* The module's corners and borders. */
static void borders(const shape *of)
{
    while (!full(of)) {
        const bool row = random_below(of->seed, 2) != 0, far = random_below(of->seed, 2) != 0;
        const uint32_t along = random_below(of->seed, row ? COLUMNS : ROWS);
        dot(of, row ? (far ? ROWS - 1 : 0) : along, row ? along : (far ? COLUMNS - 1 : 0));
    }
}

typedef void (*draw)(const shape *);
static const draw shapes[] = {scattered, blobs,     blobs,    snake,     snake_of_columns, spiral,   comb,
                              rectangle, checkered, repeated, diagonals, borders,          scattered};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* ---- a content ---------------------------------------------------------------------------------- */

static uint32_t content_size(uint64_t *seed)
{
    const uint32_t dice = random_below(seed, 1000);
    if (dice < 1) {
        return random_below(seed, 20001);
    }
    if (dice < 5) {
        return random_below(seed, 8000);
    }
    if (dice < 40) {
        return random_below(seed, 2000);
    }
    return 1 + random_below(seed, dice < 500 ? 40 : 400);
}

/* The order of the digis of a content that begins at `begin`. */
static void arrange(drafts *list, size_t begin, uint64_t *seed)
{
    const uint32_t order = random_below(seed, 5);
    if (order == 0) {
        return; /* as they were drawn */
    }
    if (order == 1) {
        shuffle(list, begin, seed);
        return;
    }
    for (size_t i = begin; i < list->size; i++) {
        draft *d = &list->of[i];
        const uint64_t raster = order == 2 ? (uint64_t)d->x * COLUMNS + d->y : (uint64_t)d->y * ROWS + d->x;
        /* qsort keeps no order of equals: the second key is where the digi was. */
        d->rank = (order == 4 ? UINT32_MAX - raster : raster) << 32 | i;
    }
    sort(list, begin);
}

static void add_content(drafts *list, uint32_t module, uint32_t n, uint64_t *seed)
{
    const shape of = {.list = list,
                      .begin = list->size,
                      .module = module,
                      .n = n,
                      .charges = random_below(seed, 20) == 0 ? CHARGES - 1 : random_below(seed, CHARGES - 1),
                      .seed = seed};
    shapes[random_below(seed, SHAPES)](&of);
    if (random_below(seed, 3) == 0) { /* some are sent twice */
        const size_t drawn = list->size - of.begin;
        const uint32_t twice = drawn == 0 ? 0 : random_below(seed, (uint32_t)(drawn / 4 + 2));
        for (uint32_t i = 0; i < twice; i++) {
            const draft d = list->of[of.begin + random_below(seed, (uint32_t)drawn)];
            put(list, module, d.x, d.y, charge(of.charges, seed));
        }
    }
    arrange(list, of.begin, seed);
}

/* ---- an event ----------------------------------------------------------------------------------- */

/* Half of them in the innermost layer, where the cut is another one. */
static uint32_t any_module(uint64_t *seed)
{
    const uint32_t dice = random_below(seed, 20);
    if (dice == 0) {
        return random_below(seed, 2) != 0 ? SLC_CMS_MODULES_PHASE1 - 1 : 0;
    }
    return random_below(seed, dice < 10 ? SLC_CMS_LAYER1_END : SLC_CMS_MODULES_PHASE1);
}

/* Digis that are none, and with `bounds` such as are out of bounds, in between. */
static void spoil(drafts *list, uint32_t percent, bool bounds, uint64_t *seed)
{
    static const uint32_t none[] = {SLC_CMS_NO_MODULE, 9999, SLC_CMS_MODULES_PHASE1, UINT16_MAX};
    static const uint32_t out[][2] = {{ROWS, 0},        {0, COLUMNS},        {UINT16_MAX, UINT16_MAX},
                                      {ROWS - 1, 2048}, {2047, COLUMNS - 1}, {UINT16_MAX, 5}};
    drafts mixed = {.size = 0};
    for (size_t i = 0; i <= list->size; i++) {
        while (random_below(seed, 100) < percent) {
            const uint32_t module = none[random_below(seed, 4)], x = random_below(seed, ROWS);
            const uint32_t y = random_below(seed, COLUMNS);
            put(&mixed, module, x, y, random_below(seed, 5000));
        }
        if (bounds && random_below(seed, 50) == 0) {
            const uint32_t *at = out[random_below(seed, 6)];
            put(&mixed, list->size > 0 && i > 0 ? list->of[i - 1].module : any_module(seed), at[0], at[1],
                5000);
        }
        if (i < list->size) {
            const draft *d = &list->of[i];
            put(&mixed, d->module, d->x, d->y, d->adc);
        }
    }
    free(list->of);
    *list = mixed;
}

/* Contents cut into stretches of random lengths, and the stretches shuffled. */
static void cut(drafts *list, uint64_t *seed)
{
    uint64_t stretch = random_u64(seed) >> 32;
    for (size_t i = 0; i < list->size; i++) {
        if (random_below(seed, 30) == 0) {
            stretch = random_u64(seed) >> 32;
        }
        list->of[i].rank = stretch << 32 | i;
    }
    sort(list, 0);
}

static void rise(drafts *list)
{
    for (size_t i = 0; i < list->size; i++) {
        list->of[i].rank = (uint64_t)list->of[i].module << 32 | i;
    }
    sort(list, 0);
}

/* The events that chance would not make. */
static void special(drafts *list, uint32_t number, uint64_t *seed)
{
    switch (number) {
    case 1: /* nothing valid */
        spoil(list, 60, false, seed);
        break;
    case 2: /* every pixel of a module, with the largest charge: sums and numbers saturate */
        for (uint32_t i = 0; i < AREA; i++) {
            put(list, 7, i / COLUMNS, i % COLUMNS, UINT16_MAX);
        }
        shuffle(list, 0, seed);
        put(list, 8, 3, 4, 5000);
        break;
    case 3: /* more digis than there are pixels */
        for (uint32_t i = 0; i < AREA + 5000; i++) {
            const uint32_t x = 80 + random_below(seed, 3), y = 200 + random_below(seed, 3);
            put(list, 1500, x, y, 1 + random_below(seed, 9));
        }
        break;
    case 4: /* one digi for each module, from the last to the first */
        for (uint32_t m = SLC_CMS_MODULES_PHASE1; m-- > 0;) {
            put(list, m, m % ROWS, m % COLUMNS, 1000 + 500 * (m % 8));
        }
        break;
    case 5: /* exactly the default limit of a module, and one more */
        for (uint32_t i = 0; i < 12001; i++) {
            put(list, i < 6000 ? 100 : 101, i % 6001 / 100, i % 100 * 3, 4000 + i % 2);
        }
        break;
    default: /* 0: nothing at all */
        break;
    }
}
enum { SPECIAL = 6 };

static void usual(drafts *list, uint64_t *seed)
{
    const uint32_t contents = 1 + random_below(seed, 26);
    const uint32_t order = random_below(seed, 6), percent = random_below(seed, 3);
    for (uint32_t i = 0; i < contents; i++) {
        const uint32_t module = any_module(seed);
        add_content(list, module, content_size(seed), seed);
    }
    if (order < 2) {
        rise(list);
    } else if (order == 2) {
        cut(list, seed);
    } else if (order == 3) {
        shuffle(list, 0, seed);
    } /* else: as they come, so that modules are in any order and some come twice */
    spoil(list, percent == 0 ? 0 : percent == 1 ? 5 : 40, random_below(seed, 4) == 0, seed);
}

static uint32_t count_modules(const drafts *list)
{
    static bool present[SLC_CMS_MODULES_PHASE1];
    uint32_t n = 0;
    memset(present, 0, sizeof present);
    for (size_t i = 0; i < list->size; i++) {
        const draft *d = &list->of[i];
        if (d->module < SLC_CMS_MODULES_PHASE1 && d->x < ROWS && d->y < COLUMNS) {
            n += !present[d->module];
            present[d->module] = true;
        }
    }
    return n;
}

uint32_t cms_events_append(uint64_t seed, uint32_t number, slc_cms_digis *digis)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15ULL + ((uint64_t)number << 20);
    drafts list = {.size = 0};
    (void)random_u64(&state);
    if (number < SPECIAL) {
        special(&list, number, &state);
    } else {
        usual(&list, &state);
    }
    for (size_t i = 0; i < list.size; i++) {
        const draft *d = &list.of[i];
        cms_digis_put(digis, d->module, d->x, d->y, d->adc);
    }
    cms_digis_end(digis);
    const uint32_t modules = count_modules(&list);
    free(list.of);
    return modules;
}
