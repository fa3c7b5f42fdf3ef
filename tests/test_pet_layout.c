/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of crystals: what is made of rows in any order, what is refused and by which words, and that frames
 * become the crystals of their rows.
 */
#include "pet/pet_layout.h"
#include "pet/pet_scanner.h"
#include "pet/pet_stages.h"
#include "support/cmocka_all.h"
#include "support/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODULES = 3, UNITS = 2, NY = 4, NZ = 5, LOCALS = NY * NZ, ROWS = MODULES * UNITS * LOCALS };

/* Flat units that look towards the axis, side by side along it. */
static void fill(slc_pet_crystal_row rows[ROWS])
{
    for (uint32_t i = 0; i < ROWS; i++) {
        const uint32_t module = i / (UNITS * LOCALS), unit = i / LOCALS % UNITS, local = i % LOCALS;
        const double turn = 2 * module, c = cos(turn), s = sin(turn);
        const double y = 2.5 * (local / NZ), z = 2.0 * (local % NZ) + 11 * unit;
        rows[i] = (slc_pet_crystal_row){module,      unit,     local, 0, {40 * c - y * s, 40 * s + y * c, z},
                                        {-c, -s, 0}, {0, 0, 1}};
    }
}

static void shuffle(slc_pet_crystal_row *rows, size_t n, uint64_t seed)
{
    for (size_t i = n; i > 1; i--) {
        const size_t k = random_below(&seed, (uint32_t)i);
        const slc_pet_crystal_row row = rows[i - 1];
        rows[i - 1] = rows[k];
        rows[k] = row;
    }
}

static void rows_in_any_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        slc_pet_crystal_row rows[ROWS];
        slc_pet_geometry g = {.channels = 0};
        slc_error error = {0};
        fill(rows);
        if (seed > 0) {
            shuffle(rows, ROWS, seed);
        }
        if (slc_pet_layout_make(rows, ROWS, 10, &g, &error) != SLC_OK) {
            fail_msg("%s", error.text);
        }
        assert_int_equal(slc_pet_geometry_check(&g, NULL), SLC_OK);
        assert_int_equal(slc_pet_crystals(&g), ROWS);
        assert_int_equal(slc_pet_module_count(&g), MODULES);
        assert_int_equal(g.blocks_y * g.blocks_z, UNITS);
        assert_int_equal(g.crystals_y, NY);
        assert_int_equal(g.crystals_z, NZ);
        assert_true(g.layout->grid && !g.layout->rings && g.layout->layers == 1);
        assert_true(fabs(g.radius_mm - 35) < 1e-12 && fabs(g.pitch_z_mm - 2) < 1e-12);
        assert_int_equal(slc_pet_numbers_repeat(&g), seed == 0);
        for (uint32_t i = 0; i < ROWS; i++) {
            uint32_t module, unit, local;
            double position[3], normal[3];
            slc_pet_crystal_place(&g, i, &module, &unit, &local);
            assert_true(module == rows[i].module && unit == rows[i].unit && local == rows[i].crystal);
            assert_int_equal(slc_pet_crystal(&g, module, unit, local), i);
            slc_pet_crystal_position(&g, i, position, normal);
            assert_memory_equal(position, rows[i].position_mm, sizeof position);
            for (int k = 0; k < 3; k++) {
                assert_true(fabs(normal[k] - rows[i].normal[k]) < 1e-15);
            }
        }
        slc_pet_geometry_clear(&g);
        assert_null(g.layout);
    }
}

/* A ring's own rows, as a table, are where the ring has them. */
static void ideal_ring_as_a_table(void **state)
{
    (void)state;
    slc_pet_geometry ring, g;
    assert_int_equal(
        slc_pet_scanner("channels=5,modules=2,module-rings=2,blocks=2x3,crystals=3x4,radius=60mm,"
                        "pitch=2mm,depth=12mm",
                        &ring, NULL),
        SLC_OK);
    const uint32_t n = slc_pet_crystals(&ring);
    slc_pet_crystal_row *rows = calloc(n, sizeof *rows);
    assert_non_null(rows);
    for (uint32_t i = 0; i < n; i++) {
        rows[i] = slc_pet_row_of(&ring, i);
    }
    g = ring;
    assert_int_equal(slc_pet_layout_make_rings(rows, n, &g, NULL), SLC_OK);
    assert_true(g.layout->rings && slc_pet_rings(&g) == slc_pet_rings(&ring));
    slc_pet_geometry table;
    assert_int_equal(slc_pet_layout_make(rows, n, ring.depth_mm, &table, NULL), SLC_OK);
    assert_int_equal(table.crystals_y, 3);
    assert_int_equal(table.crystals_z, 4);
    assert_true(fabs(table.radius_mm - ring.radius_mm) < 1e-9 && fabs(table.pitch_z_mm - 2) < 1e-9);
    for (uint32_t i = 0; i < n; i++) {
        double a[3], b[3], c[3], d[3];
        slc_pet_crystal_position(&ring, i, a, b);
        slc_pet_crystal_position(i % 2 != 0 ? &g : &table, i, c, d);
        assert_memory_equal(a, c, sizeof a);
        uint32_t module[2], unit[2], local[2];
        slc_pet_crystal_place(&ring, i, &module[0], &unit[0], &local[0]);
        slc_pet_crystal_place(&table, i, &module[1], &unit[1], &local[1]);
        assert_true(module[0] == module[1] && unit[0] == unit[1] && local[0] == local[1]);
    }
    slc_error error = {0};
    slc_pet_crystal_row first = rows[0];
    rows[0] = rows[1];
    rows[1] = first;
    slc_pet_geometry_clear(&g);
    g = ring;
    assert_int_equal(slc_pet_layout_make_rings(rows, n, &g, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "not numbered as those of rings of 60"));
    assert_null(g.layout);
    slc_pet_geometry_clear(&table);
    free(rows);
}

/* ---- grids ------------------------------------------------------------------------------------- */

static slc_pet_geometry make(slc_pet_crystal_row rows[ROWS])
{
    slc_pet_geometry g;
    slc_error error = {0};
    if (slc_pet_layout_make(rows, ROWS, 0, &g, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    return g;
}

static void places_along_the_axis(void **state)
{
    (void)state;
    slc_pet_crystal_row rows[ROWS];
    fill(rows); /* the other way along */
    for (size_t i = 0; i < ROWS; i++) {
        rows[i].axis[2] = -1;
    }
    slc_pet_geometry g = make(rows);
    assert_true(g.layout->grid && g.crystals_z == NZ);
    slc_pet_geometry_clear(&g);
    fill(rows); /* two layers behind each other, the second half a crystal on */
    for (size_t i = 0; i < ROWS; i++) {
        const uint32_t y = rows[i].crystal / NZ, layer = y / (NY / 2);
        for (int k = 0; k < 2 && layer != 0; k++) { /* back where the first began, and 6 mm farther out */
            const double across = k == 0 ? rows[i].normal[1] : -rows[i].normal[0];
            rows[i].position_mm[k] += -6 * rows[i].normal[k] - 5 * across;
        }
        rows[i].position_mm[2] += layer;
        rows[i].layer = layer;
    }
    g = make(rows);
    assert_true(g.layout->grid && g.crystals_z == NZ && g.crystals_y == NY && g.layout->layers == 2);
    slc_pet_geometry_clear(&g);
    fill(rows); /* numbered across first: no grid, and no frame can tell without a map */
    for (size_t i = 0; i < ROWS; i++) {
        rows[i].crystal = rows[i].crystal % NZ * NY + rows[i].crystal / NZ;
    }
    g = make(rows);
    assert_true(!g.layout->grid && g.crystals_y == 1 && g.crystals_z == LOCALS);
    slc_error error = {0};
    slc_pet_tables tables = {.geometry = g};
    assert_int_equal(slc_pet_tables_check(&tables, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "without a position table a frame cannot tell them"));
    uint16_t map[MODULES * UNITS * 32 * 32] = {0};
    tables.position = map;
    tables.position_side = 32;
    assert_int_equal(slc_pet_tables_check(&tables, NULL), SLC_OK);
    slc_pet_geometry_clear(&g);
}

/* ---- words ------------------------------------------------------------------------------------- */

static slc_pet_geometry told(const char *more)
{
    char words[256];
    slc_pet_geometry g;
    slc_error error = {0};
    (void)snprintf(words, sizeof words,
                   "channels=8,module-rings=2,blocks=2x2,crystals=3x4,radius=50mm,pitch=2mm,depth=10mm%s",
                   more);
    if (slc_pet_scanner(words, &g, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    return g;
}

/* Position of a crystal of a module's block, y and z. */
static const double *place(const slc_pet_geometry *g, uint32_t module, uint32_t unit, uint32_t local)
{
    return g->layout->row[slc_pet_crystal(g, module, unit, local)].position_mm;
}

static double apart(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

/* Each layer is the single one farther out, in frames behind the last row of the one before. */
static void several_layers(void **state)
{
    static const char *const shapes[] = {"",
                                         ",flat=block,pitch-y=6mm,turn=10deg,direction=clockwise,shift=3mm"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char words[160];
        (void)snprintf(words, sizeof words, "%s,layers=3,layer-gap=0.5mm", shapes[i]);
        slc_pet_geometry one = told(shapes[i]), g = told(words);
        const uint32_t locals = one.crystals_y * one.crystals_z, units = one.blocks_y * one.blocks_z;
        assert_true(!g.layout->rings && g.layout->grid && g.layout->layers == 3);
        assert_int_equal(slc_pet_crystals(&g), 3 * slc_pet_crystals(&one));
        assert_int_equal(g.crystals_z, one.crystals_z);
        assert_int_equal(g.crystals_y, 3 * one.crystals_y);
        assert_true(g.depth_mm == one.depth_mm && fabs(g.radius_mm - one.radius_mm) < 1e-9);
        for (uint32_t c = 0; c < slc_pet_crystals(&g); c++) {
            const slc_pet_crystal_row *r = &g.layout->row[c];
            double p[3], direction[3];
            assert_int_equal(c, (r->module * units + r->unit) * 3 * locals + r->crystal);
            assert_int_equal(r->layer, r->crystal / locals);
            slc_pet_crystal_position(&one, slc_pet_crystal(&one, r->module, r->unit, r->crystal % locals), p,
                                     direction);
            for (int k = 0; k < 3; k++) {
                p[k] -= r->layer * (one.depth_mm + 0.5) * direction[k];
            }
            assert_true(apart(p, r->position_mm) < 1e-9);
        }
        slc_pet_geometry_clear(&one);
        slc_pet_geometry_clear(&g);
    }
}

/* "0x1mm" is no number in hexadecimal. */
static void a_gap_of_nothing_by_something(void **state)
{
    (void)state;
    slc_pet_geometry g = told(",block-gap=0x1.5mm"), h = told(",block-gap=0.0x1.5mm");
    for (uint32_t i = 0; i < slc_pet_crystals(&g); i++) {
        assert_memory_equal(g.layout->row[i].position_mm, h.layout->row[i].position_mm,
                            sizeof g.layout->row[i].position_mm);
    }
    assert_true(fabs(apart(place(&g, 0, 0, 3), place(&g, 0, 1, 0)) - 3.5) < 1e-9);
    slc_pet_geometry_clear(&g);
    slc_pet_geometry_clear(&h);
}

/* The middle of a module is where its middle is on the ideal ring, but for the bend. */
static void in_flat_modules(void **state)
{
    (void)state;
    const double turn = 6.283185307179586;
    slc_pet_geometry g = told(",flat=module,pitch-y=6.4mm,block-gap=1.5x0.5mm,module-gap=4mm"),
                     ideal = told("");
    assert_true(g.layout->rings && ideal.layout == NULL);
    assert_int_equal(slc_pet_crystals(&g), 8 * 2 * 4 * 12);
    for (uint32_t module = 0; module < 16; module++) {
        double middle[3] = {0};
        for (uint32_t i = 0; i < 48; i++) {
            const double *p = place(&g, module, i / 12, i % 12);
            for (int k = 0; k < 3; k++) {
                middle[k] += p[k] / 48;
            }
        }
        assert_true(fabs(hypot(middle[0], middle[1]) - 55) < 1e-9);
        const double angle = turn * (6 * (module % 8) + 2.5) / 48;
        assert_true(fabs(middle[0] - 55 * cos(angle)) < 1e-9 && fabs(middle[1] - 55 * sin(angle)) < 1e-9);
        /* blocks of 4 rings, 2 mm each, and half a mm between: 16.5 mm; then 4 mm: modules are 8 · 2 + 0.5 +
         * 4 apart */
        assert_true(fabs(middle[2] - (module < 8 ? -10.25 : 10.25)) < 1e-9);
        assert_true(fabs(apart(place(&g, module, 0, 0), place(&g, module, 0, 4)) - 6.4) < 1e-9); /* y */
        assert_true(fabs(apart(place(&g, module, 0, 8), place(&g, module, 2, 0)) - 7.9) < 1e-9);
        assert_true(fabs(apart(place(&g, module, 0, 3), place(&g, module, 1, 0)) - 2.5) < 1e-9); /* z */
        for (uint32_t i = 0; i < 48; i++) { /* all in its plane */
            const double *p = place(&g, module, i / 12, i % 12);
            assert_true(fabs(p[0] * cos(angle) + p[1] * sin(angle) - 55) < 1e-9);
        }
    }
    for (uint32_t i = 0; i < slc_pet_crystals(&g);
         i++) { /* numbers are the ring's, and places near its own */
        double p[3], normal[3], q[3];
        slc_pet_crystal_position(&g, i, p, normal);
        slc_pet_crystal_position(&ideal, i, q, normal);
        p[2] = q[2];
        assert_true(apart(p, q) < 5);
    }
    slc_pet_geometry_clear(&g);
}

static void turned_and_the_other_way_round(void **state)
{
    (void)state;
    slc_pet_geometry a = told(",flat=block,pitch-y=4mm"), ideal = told("");
    slc_pet_geometry b = told(",direction=clockwise,turn=-30deg,shift=-7.5mm,pitch-y=4mm,flat=block");
    slc_pet_geometry c = told(",turn=12.5");
    const double thirty = 6.283185307179586 / 12, turned = thirty * 12.5 / 30;
    for (uint32_t i = 0; i < slc_pet_crystals(&a); i++) {
        const double *p = a.layout->row[i].position_mm, *q = b.layout->row[i].position_mm;
        const double x = p[0] * cos(thirty) - p[1] * sin(thirty), y = p[0] * sin(thirty) + p[1] * cos(thirty);
        assert_true(fabs(x - q[0]) < 1e-9 && fabs(-y - q[1]) < 1e-9 && fabs(p[2] - 7.5 - q[2]) < 1e-9);
        double r[3], normal[3];
        const double *s = c.layout->row[i].position_mm;
        slc_pet_crystal_position(&ideal, i, r, normal);
        assert_true(fabs(r[0] * cos(turned) - r[1] * sin(turned) - s[0]) < 1e-9 && fabs(r[2] - s[2]) < 1e-9);
    }
    slc_pet_geometry_clear(&a);
    slc_pet_geometry_clear(&b);
    slc_pet_geometry_clear(&c);
}

static void words_that_do_not_fit(void **state)
{
    static const struct {
        const char *more, *told;
    } cases[] = {
        {",flat=module,pitch-y=9mm", "8 flat sides of 54 mm do not fit around a radius of 50 mm"},
        {",flat=module", "flat= and pitch-y= belong together"},
        {",pitch-y=3mm", "flat= and pitch-y= belong together"},
        {",flat=block,pitch-y=2mm,block-gap=1x0mm", "gaps around the ring are told with flat=module"},
        {",flat=round,pitch-y=2mm", "a scanner cannot be told by \"flat=round"},
        {",flat=block,pitch-y=2mm,block-gap=0x-1mm", "a scanner cannot be told by \"block-gap=0x-1mm"},
        {",layer-gap=1mm", "layer-gap= is of several layers="},
        {",layers=2", "2 layers of 0 mm: how deep each is, depth=, is to be told"},
        {",depth=5mm,layers=300", "there may be 256"},
        {",block-gap=1", "a scanner cannot be told by \"block-gap=1"},
        {",turn=x", "a scanner cannot be told by \"turn=x"},
        {",shift=1mm,shift=1mm", "a scanner cannot be told by \"shift=1mm"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[256];
        slc_pet_geometry g = {.channels = 7};
        slc_error error = {0};
        (void)snprintf(words, sizeof words,
                       "channels=8,module-rings=2,blocks=2x2,crystals=3x4,radius=50mm,pitch=2mm%s",
                       cases[i].more);
        assert_int_equal(slc_pet_scanner(words, &g, &error), SLC_ERR_USAGE);
        if (strstr(error.text, cases[i].told) == NULL) {
            fail_msg("%s\nis told, not\n%s", error.text, cases[i].told);
        }
        assert_true(g.channels == 7 && g.layout == NULL);
    }
}

/* ---- refusals ---------------------------------------------------------------------------------- */

static void change(slc_pet_crystal_row *rows, int what)
{
    switch (what) {
    case 0:
        rows[7].crystal = 8;
        break;
    case 1:
        rows[ROWS - 1].module = MODULES;
        break;
    case 2:
        rows[3].normal[0] = 0;
        rows[3].normal[1] = 0;
        break;
    case 3:
        rows[3].axis[2] = 1.01;
        break;
    case 4:
        rows[5].position_mm[1] = NAN;
        break;
    case 5:
        rows[5].normal[2] = NAN;
        break;
    case 6:
        memcpy(rows[90].position_mm, rows[4].position_mm, sizeof rows[4].position_mm);
        break;
    case 7:
        memcpy(rows[6].axis, rows[6].normal, sizeof rows[6].axis);
        break;
    case 8:
        rows[0].module = 256;
        break;
    case 9:
        rows[0].unit = 16;
        break;
    default:
        rows[0].crystal = 65535;
        break;
    }
}

static void refused(void **state)
{
    static const char *const words[] = {"row 9: module 0, unit 0, crystal 8 is in row 8 already",
                                        "crystal 19 of module 2, unit 1 is missing: there are 4 modules of 2 "
                                        "units, and units of 20 crystals",
                                        "row 4: the normal (0, 0, 0) is 0 long, and must be 1 long",
                                        "row 4: the axis (0, 0, 1.01) is 1.01 long, and must be 1 long",
                                        "row 6: a crystal at y = nan mm",
                                        "row 6: the normal (-1, -0, nan) is nan long",
                                        "rows 5 and 91 are two crystals at one place",
                                        "row 7: the axis (-1, -0, 0) goes along the normal",
                                        "row 1: module 256, unit 0, crystal 0: a frame can tell of 256 "
                                        "modules, 16 units of one and 65535 crystals",
                                        "row 1: module 0, unit 16",
                                        "row 1: module 0, unit 0, crystal 65535"};
    (void)state;
    for (int what = 0; what < (int)(sizeof words / sizeof *words); what++) {
        slc_pet_crystal_row rows[ROWS];
        slc_pet_geometry g = {.channels = 7};
        slc_error error = {0};
        fill(rows);
        change(rows, what);
        assert_int_equal(slc_pet_layout_make(rows, ROWS, 0, &g, &error), SLC_ERR_FORMAT);
        if (strstr(error.text, words[what]) == NULL) {
            fail_msg("%s\nis told, not\n%s", error.text, words[what]);
        }
        assert_true(g.channels == 7 && g.layout == NULL);
    }
    slc_error error = {0};
    slc_pet_geometry g;
    assert_int_equal(slc_pet_layout_make(NULL, 0, 0, &g, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "a table without a crystal"));
}

static void turn_round(slc_pet_crystal_row *r)
{
    for (int k = 0; k < 3; k++) {
        r->normal[k] = -r->normal[k];
    }
}

static slc_status made_of(const slc_pet_crystal_row *rows, size_t n, slc_error *error)
{
    slc_pet_geometry g = {.layout = NULL};
    const slc_status status = slc_pet_layout_make(rows, n, 0, &g, error);
    slc_pet_geometry_clear(&g);
    return status;
}

/* Normals away from the field of view, of all rows, of a module, of one crystal: none of these is taken. */
static void normals_outwards(void **state)
{
    static const struct {
        size_t from, to;
        const char *words;
    } cases[] = {{0, ROWS,
                  "row 1: the normal (1, 0, 0) points away from the other crystals, and must point towards "
                  "the field of view; so in 120 of 120 rows"},
                 {2 * UNITS * LOCALS, ROWS, "row 81: the normal"},
                 {57, 58, "row 58: the normal"}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        slc_pet_crystal_row rows[ROWS];
        slc_error error = {0};
        fill(rows);
        for (size_t i = cases[c].from; i < cases[c].to; i++) {
            turn_round(&rows[i]);
        }
        assert_int_equal(made_of(rows, ROWS, &error), SLC_ERR_FORMAT);
        if (strstr(error.text, cases[c].words) == NULL) {
            fail_msg("%s\nis told, not\n%s", error.text, cases[c].words);
        }
    }
}

/* Two panels face each other, each of two layers; one alone, of which nothing can be told, is taken as it is.
 */
static void normals_of_panels(void **state)
{
    enum { OF_PANEL = 2 * LOCALS };
    (void)state;
    slc_pet_crystal_row rows[2 * OF_PANEL];
    slc_error error = {0};
    for (uint32_t i = 0; i < 2 * OF_PANEL; i++) {
        const uint32_t module = i / OF_PANEL, local = i % OF_PANEL, layer = local / LOCALS;
        const double side = module == 0 ? 1 : -1;
        rows[i] = (slc_pet_crystal_row){
            module,
            0,
            local,
            layer,
            {side * (30 + 8.0 * layer), 2.0 * (local % LOCALS / NZ), 2.0 * (local % NZ)},
            {-side, 0, 0},
            {0, 0, 1}};
    }
    assert_int_equal(made_of(rows, 2 * OF_PANEL, &error), SLC_OK);
    assert_int_equal(made_of(rows, OF_PANEL, &error), SLC_OK);
    for (uint32_t i = 0; i < 2 * OF_PANEL; i++) {
        turn_round(&rows[i]);
    }
    assert_int_equal(made_of(rows, 2 * OF_PANEL, &error), SLC_ERR_FORMAT);
    assert_int_equal(made_of(rows, OF_PANEL, &error), SLC_OK);
    for (uint32_t i = 0; i < OF_PANEL; i++) {
        turn_round(&rows[i]);
    }
    assert_int_equal(made_of(rows, 2 * OF_PANEL, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "row 41: the normal (-1, 0, 0) points away"));
}

/* ---- frames ------------------------------------------------------------------------------------ */

static void frames_become_the_crystals_of_rows(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2; seed++) {
        slc_pet_crystal_row rows[ROWS];
        fill(rows);
        if (seed > 0) {
            shuffle(rows, ROWS, seed);
        }
        slc_pet_geometry g = make(rows);
        slc_pet_frame frames[ROWS];
        memset(frames, 0, sizeof frames);
        for (uint32_t i = 0; i < ROWS; i++) {
            frames[i].module = (uint8_t)rows[i].module;
            frames[i].head_unit = (uint8_t)(0x50 | rows[i].unit);
            frames[i].x = (uint8_t)(rows[i].crystal % NZ);
            frames[i].y = (uint8_t)(rows[i].crystal / NZ);
            frames[i].time[7] = (uint8_t)i;
            frames[i].energy[0] = 2;
        }
        const slc_pet_tables tables = {.geometry = g};
        slc_pet_convert_config config;
        slc_pet_convert *stage = NULL;
        slc_pet_singles singles = {.time_ps = NULL};
        slc_pet_convert_config_default(&config);
        assert_int_equal(slc_pet_convert_open(&config, &tables, &stage, NULL), SLC_OK);
        assert_int_equal(slc_pet_convert_run(stage, frames, NULL, ROWS, true, &singles, NULL, NULL), SLC_OK);
        assert_int_equal(singles.head.size, ROWS);
        for (uint32_t i = 0; i < ROWS; i++) {
            assert_int_equal(singles.crystal[i], i);
        }
        slc_pet_convert_close(stage);
        slc_columns_clear(&slc_pet_singles_schema, &singles);
        slc_pet_geometry_clear(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_any_order),
        cmocka_unit_test(ideal_ring_as_a_table),
        cmocka_unit_test(places_along_the_axis),
        cmocka_unit_test(refused),
        cmocka_unit_test(normals_outwards),
        cmocka_unit_test(normals_of_panels),
        cmocka_unit_test(frames_become_the_crystals_of_rows),
        cmocka_unit_test(several_layers),
        cmocka_unit_test(a_gap_of_nothing_by_something),
        cmocka_unit_test(in_flat_modules),
        cmocka_unit_test(turned_and_the_other_way_round),
        cmocka_unit_test(words_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
