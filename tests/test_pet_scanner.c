/* SPDX-License-Identifier: Apache-2.0
 *
 * Scanners by name, and in words: what each word sets, what is left out, and what cannot be, of every
 * beginning of good words, too.
 */
#include "pet/pet_scanner.h"
#include "support/cmocka_all.h"

#include <sluice/pet_types.h>

#include <string.h>

static void names(void **state)
{
    (void)state;
    size_t n = 0;
    for (const char *name; (name = slc_pet_scanner_name(n)) != NULL; n++) {
        slc_pet_geometry geometry;
        assert_int_equal(slc_pet_scanner(name, &geometry, NULL), SLC_OK);
        assert_int_equal(slc_pet_geometry_check(&geometry, NULL), SLC_OK);
    }
    assert_true(n >= 3);
    slc_pet_geometry geometry = {.channels = 7};
    slc_error error = {0};
    assert_int_equal(slc_pet_scanner("mouse", &geometry, &error), SLC_ERR_USAGE);
    assert_int_equal(geometry.channels, 7);
    assert_non_null(
        strstr(error.text, "no scanner is named \"mouse\"; there are mouse20, explorer and vectors"));
}

static void assert_geometry(const char *words, slc_pet_geometry wanted)
{
    slc_pet_geometry g;
    memset(&g, 0xff, sizeof g);
    assert_int_equal(slc_pet_scanner(words, &g, NULL), SLC_OK);
    assert_int_equal(g.channels, wanted.channels);
    assert_int_equal(g.modules, wanted.modules);
    assert_int_equal(g.module_rings, wanted.module_rings);
    assert_int_equal(g.blocks_y, wanted.blocks_y);
    assert_int_equal(g.blocks_z, wanted.blocks_z);
    assert_int_equal(g.crystals_y, wanted.crystals_y);
    assert_int_equal(g.crystals_z, wanted.crystals_z);
    assert_true(g.radius_mm == wanted.radius_mm && g.pitch_z_mm == wanted.pitch_z_mm &&
                g.depth_mm == wanted.depth_mm);
}

static void words(void **state)
{
    (void)state;
    assert_geometry(
        "channels=5,modules=2,module-rings=3,blocks=4x1,crystals=7x8,radius=60mm,pitch=1.6mm,depth=12mm",
        (slc_pet_geometry){5, 2, 3, 4, 1, 7, 8, 60, 1.6, 12, NULL});
    assert_geometry("pitch=2,radius=30.5,crystals=13x9,channels=20",
                    (slc_pet_geometry){20, 1, 1, 1, 1, 13, 9, 30.5, 2, 0, NULL});
}

static void words_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        const char *words, *text;
    } cases[] = {
        {"channels=5", "has not all"},
        {"=", "cannot be told by \"=\""},
        {"channels=0,crystals=1x1,radius=1,pitch=1", "by \"channels=0,"},
        {"channels=65537,crystals=1x1,radius=1,pitch=1", "by \"channels=65537,"},
        {"channels=-1,crystals=1x1,radius=1,pitch=1", "by \"channels=-1,"},
        {"channels=5,channels=5,crystals=1x1,radius=1,pitch=1", "by \"channels=5,crystals"},
        {"channels=5,crystals=8,radius=1,pitch=1", "by \"crystals=8,"},
        {"channels=5,crystals=8x,radius=1,pitch=1", "by \"crystals=8x,"},
        {"channels=5,crystals=8x8,radius=1cm,pitch=1", "by \"radius=1cm,"},
        {"channels=5,crystals=8x8,radius=nan,pitch=1", "by \"radius=nan,"},
        {"channels=5,crystals=8x8,radius=-1,pitch=1", "by \"radius=-1,"},
        {"channels=5,crystals=8x8,radius=1,pitch=1,", "by \"\""},
        {"channels=5,crystals=8x8,radius=1,pitch=1,size=3", "by \"size=3\""},
        {"channels=257,crystals=8x8,radius=1,pitch=1", "257 modules"},
        {"channels=5,blocks=17x1,crystals=8x8,radius=1,pitch=1", "17"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slc_pet_geometry geometry = {.channels = 7};
        slc_error error = {0};
        assert_int_equal(slc_pet_scanner(cases[i].words, &geometry, &error), SLC_ERR_USAGE);
        assert_int_equal(geometry.channels, 7);
        if (strstr(error.text, cases[i].text) == NULL) {
            fail_msg("'%s' is not in '%s'", cases[i].text, error.text);
        }
    }
    /* Cut anywhere before the last number, something is missing. */
    const char good[] = "channels=5,blocks=2x2,crystals=8x8,radius=60mm,pitch=";
    for (size_t size = 0; size < sizeof good - 1; size++) {
        char part[sizeof good] = "";
        slc_pet_geometry geometry;
        memcpy(part, good, size);
        assert_int_equal(slc_pet_scanner(part, &geometry, NULL), SLC_ERR_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(words),
        cmocka_unit_test(words_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
