/* SPDX-License-Identifier: Apache-2.0
 * The dump of CMS's positions: what is read is what was written, by its description; cut at every byte, and
 * with every number in turn one that cannot be, it is refused. tests/cli/cms_dumps.sh has the cabling and the
 * gains, and what comes of all three.
 */
#include "base/bytes.h"
#include "io/cms/io_cms_dump.h"
#include "support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MODULES = 3, MODULE = 112, MODULE_AT = 20, SIZE = 3740 + MODULE * MODULES, NUMBERS = 25 };

typedef struct dump {
    uint8_t bytes[SIZE];
} dump;

/* Shifts, widths, origin, errors, position: module + number / 1000; a turn by 90 degrees about z. */
static float number_of(size_t module, size_t i)
{
    static const float turn[] = {0, 1, 0, -1, 0, 0, 0, 0, 1};
    return i >= 16 ? turn[i - 16] : 0.1f * (float)module + (float)(i + 1) / 1000;
}

static dump make(void)
{
    dump d;
    memset(&d, 0xee, sizeof d);
    const float common[] = {0.0285f, 0.029f, 0.01f, 0.015f};
    for (size_t i = 0; i < 4; i++) {
        slc_store_f32(d.bytes + 4 * i, common[i]);
    }
    slc_store_u32(d.bytes + 16, MODULES);
    for (size_t m = 0; m < MODULES; m++) {
        uint8_t *at = d.bytes + MODULE_AT + MODULE * m;
        at[0] = m < 2;
        at[1] = 1;
        at[4] = (uint8_t)m;
        at[5] = 0;
        slc_store_u32(at + 8, m < 2 ? 0x12100000U + (uint32_t)m : 0x14000000U);
        for (size_t i = 0; i < NUMBERS; i++) {
            slc_store_f32(at + 12 + 4 * i, number_of(m, i));
        }
    }
    return d;
}

static void assert_near_to(float is, double wanted)
{
    assert_true(fabs((double)is - wanted) <= 1e-6 * fabs(wanted));
}

static void a_geometry_is_read(void **state)
{
    (void)state;
    const dump d = make();
    slc_cms_geometry g = {0};
    slc_io_cms_note note = {""};
    slc_error error = {0};
    assert_int_equal(slc_io_parse_cms_geometry(d.bytes, SIZE, "d", &g, &note, &error), SLC_OK);
    assert_non_null(strstr(note.text, "3 modules, pitches 100 and 150 um"));
    assert_int_equal(g.n_modules, MODULES);
    assert_near_to(g.pitch_x_um, 100);
    assert_near_to(g.pitch_y_um, 150);
    for (size_t m = 0; m < MODULES; m++) {
        const slc_cms_plane *p = &g.plane[m];
        const slc_cms_site *s = &g.site[m];
        const float um[] = {p->shift_x_um,    p->shift_y_um,    p->width_x_um,    p->width_y_um,
                            p->x0_um,         p->y0_um,         p->z0_um,         s->error_x_um[0],
                            s->error_x_um[1], s->error_x_um[2], s->error_y_um[0], s->error_y_um[1],
                            s->error_y_um[2]};
        for (size_t i = 0; i < 13; i++) {
            assert_near_to(um[i], (double)number_of(m, i) * 1e4);
        }
        for (size_t i = 0; i < 3; i++) {
            assert_near_to(s->position_mm[i], (double)number_of(m, 13 + i) * 10);
        }
        for (size_t i = 0; i < 9; i++) {
            assert_true(s->rotation[i] == number_of(m, 16 + i));
        }
        assert_near_to(p->thickness_um, m < 2 ? 285 : 290);
        assert_int_equal(s->raw_id, m < 2 ? 0x12100000U + m : 0x14000000U);
    }
    slc_cms_geometry_clear(&g);
    assert_null(g.site);
}

/* With this text in the reason, nothing is left over. */
static void assert_refused(const void *bytes, size_t size, const char *reason)
{
    slc_cms_geometry g = {0};
    slc_io_cms_note note = {""};
    slc_error error = {0};
    assert_int_equal(slc_io_parse_cms_geometry(bytes, size, "d", &g, &note, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, reason));
    assert_null(g.plane);
    assert_string_equal(note.text, "");
}

static void a_cut_geometry_is_refused(void **state)
{
    (void)state;
    const dump d = make();
    for (size_t size = 0; size < SIZE; size++) {
        void *exact = malloc(size > 0 ? size : 1); /* what is read beyond is seen by the sanitizers */
        assert_non_null(exact);
        memcpy(exact, d.bytes, size);
        assert_refused(exact, size, "d: byte 16: ");
        assert_false(slc_io_is_cms_gains_dump(exact, size));
        free(exact);
    }
}

static void no_number_is_believed_blindly(void **state)
{
    (void)state;
    const float impossible[] = {NAN, INFINITY, -INFINITY, 3e30f};
    for (size_t k = 0; k < sizeof impossible / sizeof *impossible; k++) {
        for (size_t i = 0; i < NUMBERS; i++) {
            dump d = make();
            slc_store_f32(d.bytes + MODULE_AT + MODULE + 12 + 4 * i, impossible[k]);
            assert_refused(d.bytes, SIZE, "d: a dump of CMS's positions: module 1: ");
        }
        for (size_t i = 0; i < 4; i++) {
            dump d = make();
            slc_store_f32(d.bytes + 4 * i, impossible[k]);
            assert_refused(d.bytes, SIZE, "d: a dump of CMS's positions: ");
        }
    }
    const struct {
        size_t byte;
        uint8_t value;
    } wrong[] = {{0, 2}, {0, 0}, {1, 2}, {4, 0}, {5, 1}, {11, 0x1a}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dump d = make();
        d.bytes[MODULE_AT + MODULE + wrong[i].byte] = wrong[i].value;
        assert_refused(d.bytes, SIZE, "module 1: ");
    }
}

/* Sizes alone tell what they are. */
static void dumps_of_no_size_are_none(void **state)
{
    (void)state;
    uint8_t *zeros = calloc(1, 1 << 22);
    slc_cms_cabling *cabling = calloc(1, sizeof *cabling);
    slc_cms_gains gains = {0};
    slc_io_cms_note note = {""};
    slc_error error = {0};
    assert_non_null(zeros);
    assert_non_null(cabling);
    assert_false(slc_io_is_cms_cabling_dump(zeros, 1440131));
    assert_true(slc_io_is_cms_cabling_dump(zeros, 1440132));
    assert_false(slc_io_is_cms_cabling_dump(zeros, 1440132 + 57601));
    for (size_t size = 1440100; size < 1440160; size++) {
        assert_int_equal(slc_io_parse_cms_cabling_dump(zeros, size, "d", cabling, &note, &error),
                         SLC_ERR_FORMAT);
    }
    for (size_t size = 24000; size < 24100; size++) { /* 24052: of no bytes of gains, which has no rows */
        assert_int_equal(slc_io_parse_cms_gains_dump(zeros, size, "d", &gains, &note, &error),
                         SLC_ERR_FORMAT);
        assert_null(gains.gain);
    }
    free(zeros);
    free(cabling);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_geometry_is_read),
        cmocka_unit_test(a_cut_geometry_is_refused),
        cmocka_unit_test(no_number_is_believed_blindly),
        cmocka_unit_test(dumps_of_no_size_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
