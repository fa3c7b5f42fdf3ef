/* SPDX-License-Identifier: Apache-2.0
 *
 * Scanners of files: tables of crystals in CSV as others may write them, every beginning of one, what is
 * refused by which words, and the same in HDF5.
 */
#include "io/pet/io_pet_list.h"
#include "pet/pet_layout.h"
#include "pet/pet_scanner.h"
#include "support/cmocka_all.h"
#include "support/temporary_folder.h"

#include <math.h>

static const char head[] = "module,unit,crystal,x_mm,y_mm,z_mm,normal_x,normal_y,normal_z,axis_x,axis_y,axis_"
                           "z,layer\n";
static const char body[] = "0,0,0,50,-1,0.5,-1,0,0,0,0,1,0\n0,0,1,50,-1,2.5,-1,0,0,0,0,1,0\n"
                           "0,0,2,50,1,0.5,-1,0,0,0,0,1,0\n0,0,3,50,1,2.5,-1,0,0,0,0,1,0\n"
                           "1,0,0,-50,-1,0.5,1,0,0,0,0,1,0\n1,0,1,-50,-1,2.5,1,0,0,0,0,1,0\n"
                           "1,0,2,-50,1,0.5,1,0,0,0,0,1,0\n1,0,3,-50,1,2.5,1,0,0,0,0,1,0\n";

static slc_status parse(const char *text, slc_pet_geometry *g, slc_error *error)
{
    return slc_io_pet_scanner_parse(text, strlen(text), "t.csv", g, error);
}

static void good(const char *text)
{
    slc_pet_geometry g = {.channels = 0};
    slc_error error = {0};
    if (parse(text, &g, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(slc_pet_crystals(&g), 8);
    assert_true(slc_pet_module_count(&g) == 2 && g.crystals_y == 2 && g.crystals_z == 2);
    const double wanted[8][3] = {{50, -1, .5},  {50, -1, 2.5},  {50, 1, .5},  {50, 1, 2.5},
                                 {-50, -1, .5}, {-50, -1, 2.5}, {-50, 1, .5}, {-50, 1, 2.5}};
    for (uint32_t i = 0; i < 8; i++) {
        double position[3], normal[3];
        slc_pet_crystal_position(&g, i, position, normal);
        assert_memory_equal(position, wanted[i], sizeof position);
        assert_true(normal[0] == (i < 4 ? -1 : 1) && normal[1] == 0 && normal[2] == 0);
    }
    slc_pet_geometry_clear(&g);
}

static void as_others_write_it(void **state)
{
    (void)state;
    char text[4096], *to = text;
    (void)snprintf(text, sizeof text, "%s%s", head, body);
    good(text);
    (void)snprintf(text, sizeof text, "# %s%s", head, body); /* NumPy's savetxt */
    good(text);
    (void)snprintf(text, sizeof text, "\xEF\xBB\xBF%s%s", head, body); /* spreadsheets */
    good(text);
    for (const char *from = (const char *[]){head}[0]; *from != '\0'; from++) { /* DOS, and blanks */
        to += sprintf(to, "%s", *from == '\n' ? "\r\n" : *from == ',' ? " ,\t" : (char[]){*from, '\0'});
    }
    for (const char *from = body; *from != '\0'; from++) {
        to += sprintf(to, "%s", *from == '\n' ? "\r\n" : *from == ',' ? ", " : (char[]){*from, '\0'});
    }
    good(text);
    /* columns in another order, no layer, whole numbers as floats, and a depth */
    const char *other =
        "depth_mm,z_mm,y_mm,x_mm,axis_z,axis_y,axis_x,normal_z,normal_y,normal_x,crystal,unit,"
        "module\n"
        "4,.5,-1,50,1,0,0,0,0,-1,0.000e+00,0.0,0\n4,2.5,-1,50,1,0,0,0,0,-1,1,0,0\n"
        "4,.5,1,50,1,0,0,0,0,-1,2,0,0\n4,2.5,1,50,1,0,0,0,0,-1,3,0,0\n"
        "4,.5,-1,-50,1,0,0,0,0,1,0,0,1\n4,2.5,-1,-50,1,0,0,0,0,1,1,0,1\n"
        "4,.5,1,-50,1,0,0,0,0,1,2,0,1\n4,2.5,1,-50,1,0,0,0,0,1,3,0,1\n";
    good(other);
    slc_pet_geometry g;
    assert_int_equal(parse(other, &g, NULL), SLC_OK);
    assert_true(g.depth_mm == 4);
    slc_pet_geometry_clear(&g);
}

/* A file that is cut is refused, unless it is cut behind a whole module, which cannot be seen. */
static void every_beginning(void **state)
{
    (void)state;
    char text[2048];
    const int size = snprintf(text, sizeof text, "%s%s", head, body);
    const char *half = strstr(text, "1,0,0,-50");
    for (int n = 0; n < size; n++) {
        slc_pet_geometry g = {.channels = 7};
        slc_error error = {0};
        char *exact = malloc((size_t)n + 1); /* so that a byte too far is seen */
        assert_non_null(exact);
        memcpy(exact, text, (size_t)n);
        const slc_status status = slc_io_pet_scanner_parse(exact, (size_t)n, "t.csv", &g, &error);
        free(exact);
        const bool whole = text + n == half;
        const bool units = n > (int)strlen(head) && text + n < half && text[n - 1] == '\n';
        if (whole || units) { /* fewer crystals in the only unit there is */
            assert_int_equal(status, SLC_OK);
            slc_pet_geometry_clear(&g);
        } else {
            assert_int_equal(status, SLC_ERR_FORMAT);
            assert_int_equal(g.channels, 7);
            assert_true(strncmp(error.text, "t.csv: ", 7) == 0);
        }
    }
}

static void refused(void **state)
{
    static const struct {
        const char *from, *to, *told;
    } cases[] = {
        {"axis_y,", "", "t.csv: line 1: there is no column 'axis_y'"},
        {"normal_z", "normal_w", "t.csv: line 1: column 'normal_w' is none of a table of crystals"},
        {"normal_z", "normal_x", "t.csv: line 1: column 'normal_x' is there twice"},
        {"0,0,1,50", "0,0,1,x", "t.csv: line 3: 'x' cannot be x_mm"},
        {"0,0,1,50", "0,0,1,", "t.csv: line 3: '' cannot be x_mm"},
        {"0,0,1,50", "0,0,1,nan", "t.csv: line 3: 'nan' cannot be x_mm"},
        {"0,0,1,50", "0,0,1,inf", "t.csv: line 3: 'inf' cannot be x_mm"},
        {"0,0,1,50", "0,-1,1,50", "t.csv: line 3: '-1' cannot be unit"},
        {"0,0,1,50", "0,0.5,1,50", "t.csv: line 3: '0.5' cannot be unit"},
        {"0,0,1,50", "0,0,1,50,3", "t.csv: line 3: more fields than the first line names columns"},
        {"0,0,1,50,", "0,0,1,", "t.csv: line 3: fewer fields than the first line names columns"},
        {"0,0,1,50", "0,0,2,50", "t.csv: row 3: module 0, unit 0, crystal 2 is in row 2 already"},
        {"0,0,1,50", "0,0,4,50", "t.csv: crystal 1 of module 0, unit 0 is missing"},
        {"0,0,1,50", "0,1,1,50", "t.csv: crystal 1 of module 0, unit 0 is missing"},
        {"0,0,1,50", "300,0,1,50", "t.csv: row 2: module 300, unit 0, crystal 1: a frame can tell of 256"},
        {"2.5,-1,0,0", "2.5,0,0,0", "t.csv: row 2: the normal (0, 0, 0) is 0 long"},
        {"2.5,-1,0,0", "2.5,-2,0,0", "t.csv: row 2: the normal (-2, 0, 0) is 2 long"},
        {"2.5,-1,0,0,0,0,1", "2.5,-1,0,0,0,0,0", "t.csv: row 2: the axis (0, 0, 0) is 0 long"},
        {"0,0,1,50,-1,2.5", "0,0,1,50,-1,.5", "t.csv: rows 1 and 2 are two crystals at one place"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048], changed[2048];
        (void)snprintf(text, sizeof text, "%s%s", head, body);
        char *at = strstr(text, cases[i].from);
        assert_non_null(at);
        (void)snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, cases[i].to,
                       at + strlen(cases[i].from));
        slc_pet_geometry g = {.channels = 7};
        slc_error error = {0};
        assert_int_equal(parse(changed, &g, &error), SLC_ERR_FORMAT);
        if (strstr(error.text, cases[i].told) == NULL) {
            fail_msg("%s\nis told, not\n%s", error.text, cases[i].told);
        }
        assert_true(g.channels == 7 && g.layout == NULL);
    }
}

/* ---- HDF5 -------------------------------------------------------------------------------------- */

static void assert_same(const slc_pet_geometry *a, const slc_pet_geometry *b)
{
    assert_int_equal(slc_pet_crystals(a), slc_pet_crystals(b));
    assert_int_equal(slc_pet_rings(a), slc_pet_rings(b));
    assert_true(a->crystals_y == b->crystals_y && a->crystals_z == b->crystals_z &&
                a->radius_mm == b->radius_mm && a->pitch_z_mm == b->pitch_z_mm && a->depth_mm == b->depth_mm);
    assert_true(a->layout->rings == b->layout->rings && a->layout->grid == b->layout->grid &&
                a->layout->layers == b->layout->layers);
    for (uint32_t i = 0; i < slc_pet_crystals(a); i++) {
        assert_memory_equal(&a->layout->row[i], &b->layout->row[i], sizeof *a->layout->row);
    }
}

static void in_hdf5(void **state)
{
    (void)state;
    for (int rings = 0; rings < 2; rings++) {
        char text[2048], name[128];
        slc_pet_geometry g, again;
        slc_error error = {0};
        (void)snprintf(text, sizeof text, "%s%s", head, body);
        assert_int_equal(parse(text, &g, NULL), SLC_OK);
        if (rings != 0) {
            slc_pet_crystal_row rows[96];
            slc_pet_geometry_clear(&g);
            assert_int_equal(
                slc_pet_scanner("channels=4,blocks=1x2,crystals=3x4,radius=60mm,pitch=2mm", &g, NULL),
                SLC_OK);
            for (uint32_t i = 0; i < 96; i++) {
                rows[i] = slc_pet_row_of(&g, i);
                rows[i].position_mm[2] += 0.25; /* no ideal one */
            }
            assert_int_equal(slc_pet_layout_make_rings(rows, 96, &g, NULL), SLC_OK);
        }
        (void)snprintf(name, sizeof name, "%s.h5", path);
        const slc_pet_tables tables = {.geometry = g};
        slc_pet_tables read;
        if (slc_io_write_pet_tables(name, &tables, &error) != SLC_OK ||
            slc_io_pet_scanner(name, &again, &error) != SLC_OK ||
            slc_io_read_pet_tables(name, &read, &error) != SLC_OK) {
            fail_msg("%s", error.text);
        }
        assert_same(&g, &again);
        assert_same(&g, &read.geometry);
        slc_io_pet_tables_clear(&read);
        assert_null(read.geometry.layout);
        slc_pet_geometry_clear(&again);
        slc_pet_geometry_clear(&g);
        assert_int_equal(remove(name), 0);
    }
}

static void by_name(void **state)
{
    (void)state;
    slc_pet_geometry g;
    slc_error error = {0};
    assert_int_equal(slc_io_pet_scanner("mouse20", &g, NULL), SLC_OK);
    assert_null(g.layout);
    assert_int_equal(slc_io_pet_scanner("mouse21", &g, &error), SLC_ERR_USAGE);
    assert_int_equal(slc_io_pet_scanner("/nowhere/at/all.csv", &g, &error), SLC_ERR_IO);
    assert_non_null(strstr(error.text, "/nowhere/at/all.csv"));
    assert_true(slc_io_pet_scanner_is_file("a/b.csv") && slc_io_pet_scanner_is_file("b.h5") &&
                !slc_io_pet_scanner_is_file("mouse20"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_others_write_it),
        cmocka_unit_test(every_beginning),
        cmocka_unit_test(refused),
        cmocka_unit_test_setup_teardown(in_hdf5, make_folder, remove_folder),
        cmocka_unit_test(by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
