/* SPDX-License-Identifier: Apache-2.0
 * Sinograms: bins against a table made from their definition, both ways; counts; what is written is read,
 * STIR's other order of axes too; what is no sinogram is refused.
 */
#include "io/pet/io_pet_list.h"
#include "support/cmocka_all.h"

#include "io/pet/io_pet_bins.h"
#include "support/pet_list.h"

/* ---- bins -------------------------------------------------------------------------------------- */

static int32_t halved(int32_t x) /* floor(x / 2) */
{
    return (x - (x % 2 != 0 && x < 0)) / 2;
}

/* Every view and place of the definition, tried one by one, until the pair is found. */
static bool found_by_search(const slc_io_pet_bins *bins, uint32_t a, uint32_t b, slc_io_pet_bin *bin)
{
    const int32_t d = (int32_t)bins->crystals_per_ring, low = -(int32_t)(bins->tangential / 2);
    for (int32_t v = 0; v < d / 2; v++) {
        for (int32_t t = low; t < low + (int32_t)bins->tangential; t++) {
            const uint32_t first = (uint32_t)((v + halved(t) + d) % d);
            const uint32_t second = (uint32_t)((v - halved(t + 1) + d / 2 + d) % d);
            const bool swapped = first == b % bins->crystals_per_ring;
            if (first == (swapped ? b : a) % bins->crystals_per_ring &&
                second == (swapped ? a : b) % bins->crystals_per_ring) {
                bin->view = (uint32_t)v;
                bin->tangential = (uint32_t)(t - low);
                bin->ring1 = (swapped ? b : a) / bins->crystals_per_ring;
                bin->ring2 = (swapped ? a : b) / bins->crystals_per_ring;
                return true;
            }
        }
    }
    return false;
}

static void bins_are_those_of_the_definition(void **state)
{
    (void)state;
    static const uint32_t shapes[][4] = {
        {12, 3, 0, 2}, {10, 2, 5, 1}, {8, 4, 6, 1}, {14, 1, 7, 0}, {4, 2, 0, 1}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        slc_io_pet_bins bins;
        slc_error error = {0};
        assert_int_equal(
            slc_io_pet_bins_init(&bins, shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3], &error),
            SLC_OK);
        const uint32_t all = shapes[s][0] * shapes[s][1];
        uint64_t in_bins = 0;
        uint8_t *seen = calloc((size_t)bins.bins, 1);
        assert_non_null(seen);
        for (uint32_t a = 0; a < all; a++) {
            for (uint32_t b = 0; b < all; b++) {
                slc_io_pet_bin bin = {0}, wanted = {0}, back = {0};
                const uint32_t ra = a / shapes[s][0], rb = b / shapes[s][0];
                const bool there = found_by_search(&bins, a, b, &wanted) &&
                                   (ra > rb ? ra - rb : rb - ra) <= shapes[s][3];
                assert_int_equal(slc_io_pet_bin_of(&bins, a, b, &bin), there);
                if (!there) {
                    continue;
                }
                assert_memory_equal(&bin, &wanted, sizeof bin);
                const uint64_t offset = slc_io_pet_bin_offset(&bins, &bin);
                assert_true(offset < bins.bins);
                assert_true(slc_io_pet_bin_at(&bins, offset, &back));
                assert_memory_equal(&back, &bin, sizeof bin);
                uint32_t c, d;
                slc_io_pet_bin_crystals(&bins, &back, &c, &d);
                assert_true((c == a && d == b) || (c == b && d == a));
                in_bins += seen[offset] == 0;
                seen[offset] = 1;
            }
        }
        assert_int_equal(in_bins, bins.bins); /* none is empty, none is shared by other pairs */
        slc_io_pet_bin bin;
        assert_false(slc_io_pet_bin_at(&bins, bins.bins, &bin));
        free(seen);
    }
}

/* ---- counts ------------------------------------------------------------------------------------ */

static slc_io_pet_sinogram *make(uint32_t difference, bool rebin, bool subtract,
                                 const slc_pet_coincidences *pairs)
{
    const slc_io_pet_sinogram_config config = {.size = sizeof(slc_io_pet_sinogram_config),
                                               .geometry = pet_small,
                                               .tangential = 39,
                                               .ring_difference = difference,
                                               .rebin = rebin,
                                               .subtract = subtract};
    slc_io_pet_sinogram *sinogram = NULL;
    slc_error error = {0};
    assert_int_equal(slc_io_pet_sinogram_open(&config, &sinogram, &error), SLC_OK);
    assert_int_equal(slc_io_pet_sinogram_add(sinogram, pairs, &error), SLC_OK);
    return sinogram;
}

static slc_io_pet_sinogram_values write_and_read(slc_io_pet_sinogram *sinogram, const char *name)
{
    slc_io_pet_sinogram_values values;
    slc_error error = {0};
    assert_int_equal(slc_io_pet_sinogram_write(sinogram, pet_in_folder(name), &error), SLC_OK);
    slc_io_pet_sinogram_close(sinogram);
    assert_int_equal(slc_io_pet_sinogram_read(pet_in_folder("a.hs"), &values, &error), SLC_OK);
    return values;
}

static double sum(const slc_io_pet_sinogram_values *v)
{
    double all = 0;
    for (size_t i = 0; i < (size_t)v->sinograms * v->views * v->tangential; i++) {
        all += (double)v->value[i];
    }
    return all;
}

/* Counts by the test's own way: the bin by search, its segment's sinograms counted one by one. */
static void assert_counts(const slc_io_pet_sinogram_values *v, const slc_pet_coincidences *pairs,
                          int32_t difference, bool rebin, bool subtract)
{
    slc_io_pet_bins bins;
    const size_t n = (size_t)v->sinograms * v->views * v->tangential;
    assert_int_equal(slc_io_pet_bins_init(&bins, 40, 12, 39, (uint32_t)difference, NULL), SLC_OK);
    float *wanted = calloc(n, sizeof *wanted);
    assert_non_null(wanted);
    for (size_t i = 0; i < pairs->head.size; i++) {
        slc_io_pet_bin bin = {0};
        assert_true(found_by_search(&bins, pairs->crystal1[i], pairs->crystal2[i], &bin));
        const int32_t d = (int32_t)bin.ring2 - (int32_t)bin.ring1;
        if (d < -difference || d > difference || (pairs->delayed[i] != 0 && !subtract)) {
            continue;
        }
        int32_t at = rebin ? (int32_t)(bin.ring1 + bin.ring2)
                           : (int32_t)(bin.ring1 < bin.ring2 ? bin.ring1 : bin.ring2);
        for (int32_t below = -difference; below < d && !rebin; below++) {
            at += 12 - (below < 0 ? -below : below);
        }
        wanted[((size_t)at * v->views + bin.view) * v->tangential + bin.tangential] += pairs->delayed[i] != 0
                                                                                           ? -1.0F
                                                                                           : 1.0F;
    }
    assert_memory_equal(wanted, v->value, n * sizeof *wanted);
    free(wanted);
}

static void counts_are_written_and_read(void **state)
{
    (void)state;
    slc_pet_coincidences pairs = pet_pairs(3000, 1000, 11);
    static const struct {
        uint32_t difference, sinograms, segments;
        bool rebin, subtract;
    } cases[] = {{11, 144, 23, false, false}, {11, 144, 23, false, true}, {4, 88, 9, false, false},
                 {11, 23, 1, true, true},     {3, 23, 1, true, false},    {0, 12, 1, true, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        slc_io_pet_sinogram *sinogram = make(cases[k].difference, cases[k].rebin, cases[k].subtract, &pairs);
        uint64_t in, outside;
        slc_io_pet_sinogram_counts_of(sinogram, &in, &outside);
        assert_int_equal(in + outside, cases[k].subtract ? 4000 : 3000);
        slc_io_pet_sinogram_values v = write_and_read(sinogram, k % 2 == 0 ? "a.hs" : "a");
        assert_int_equal(v.sinograms, cases[k].sinograms);
        assert_int_equal(v.segments, cases[k].segments);
        assert_int_equal(v.views, 20);
        assert_int_equal(v.tangential, 39);
        assert_counts(&v, &pairs, (int32_t)cases[k].difference, cases[k].rebin && cases[k].difference > 0,
                      cases[k].subtract);
        if (cases[k].difference == 11) {
            assert_true(sum(&v) == (cases[k].subtract ? 2000 : 3000));
            assert_int_equal(outside, 0);
        }
        free(v.value);
    }
    assert_int_equal(count_files(), 2);
    pet_clear(&pairs);
}

/* ---- files ------------------------------------------------------------------------------------- */

static const char by_view[] = "!number format := float\nimagedata byte order := LITTLEENDIAN\n"
                              "!number of bytes per pixel := 4\nmatrix axis label [4] := segment\n"
                              "!matrix size [4] := 2\nmatrix axis label [3] := view\n!matrix size [3] := 2\n"
                              "matrix axis label [2] := axial coordinate\n!matrix size [2] := { 2, 1}\n"
                              "matrix axis label [1] := tangential coordinate\n!matrix size [1] := 1\n";

static void the_order_of_axes_is_the_headers(void **state)
{
    (void)state;
    /* Segment 0: views of axial places; segment 1: one place. */
    const float file[6] = {1, 2, 3, 4, 5, 6}, wanted[6] = {1, 3, 2, 4, 5, 6};
    slc_io_pet_sinogram_values v;
    slc_error error = {0};
    assert_int_equal(slc_io_pet_sinogram_parse(by_view, file, sizeof file, "m", &v, &error), SLC_OK);
    assert_int_equal(v.sinograms, 3);
    assert_memory_equal(v.value, wanted, sizeof wanted);
    free(v.value);
    for (size_t size = 0; size < sizeof file; size++) {
        assert_int_equal(slc_io_pet_sinogram_parse(by_view, file, size, "m", &v, &error), SLC_ERR_FORMAT);
        assert_null(v.value);
    }
    /* The header may be cut anywhere, too: then it is refused, or was whole but for its last byte. */
    char header[sizeof by_view];
    for (size_t size = 0; size < sizeof by_view - 2; size++) {
        memcpy(header, by_view, size);
        header[size] = '\0';
        assert_int_not_equal(slc_io_pet_sinogram_parse(header, file, sizeof file, "m", &v, &error), SLC_OK);
        assert_null(v.value);
    }
}

static void what_is_no_sinogram_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } wrong[] = {{"float", "short"},          {"LITTLE", "BIGGER"},     {"pixel := 4", "pixel := 2"},
                 {"{ 2, 1}", "{ 2, 0}"},      {"{ 2, 1}", "{ 2 1 1"},   {"{ 2, 1}", "{ 2    "},
                 {"[4] := 2", "[4] := 0"},    {"[1] := 1", "[1] := x"}, {":= view", ":= look"},
                 {":= segment", ":= segmint"}};
    const float file[6] = {0};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        char header[sizeof by_view];
        slc_io_pet_sinogram_values v;
        slc_error error = {0};
        memcpy(header, by_view, sizeof by_view);
        char *at = strstr(header, wrong[k].from);
        assert_non_null(at);
        memcpy(at, wrong[k].to, strlen(wrong[k].to));
        const slc_status status = slc_io_pet_sinogram_parse(header, file, sizeof file, "m", &v, &error);
        assert_true(status == SLC_ERR_FORMAT || status == SLC_ERR_UNSUPPORTED);
        assert_memory_equal(error.text, "m: ", 3);
    }
}

static void what_cannot_be_made_is_refused(void **state)
{
    (void)state;
    slc_io_pet_sinogram_config config = {
        .size = sizeof(slc_io_pet_sinogram_config), .geometry = pet_small, .ring_difference = 12};
    slc_io_pet_sinogram *sinogram = NULL;
    slc_error error = {0};
    assert_int_equal(slc_io_pet_sinogram_open(&config, &sinogram, &error), SLC_ERR_USAGE);
    config.ring_difference = 1;
    config.tangential = 40;
    assert_int_equal(slc_io_pet_sinogram_open(&config, &sinogram, &error), SLC_ERR_USAGE);
    config.tangential = 0;
    config.geometry.channels = 1;
    config.geometry.blocks_y = 1;
    config.geometry.crystals_y = 5;
    assert_int_equal(slc_io_pet_sinogram_open(&config, &sinogram, &error), SLC_ERR_UNSUPPORTED);
    assert_null(sinogram);
    slc_pet_coincidences pairs = pet_pairs(2, 0, 1);
    sinogram = make(2, false, false, &pairs);
    pairs.crystal1[1] = 480;
    assert_int_equal(slc_io_pet_sinogram_add(sinogram, &pairs, &error), SLC_ERR_USAGE);
    assert_int_equal(slc_io_pet_sinogram_write(sinogram, "-", &error), SLC_ERR_USAGE);
    static const char *const given[] = {"b/a", "b/a.hs", "b/a.s"};
    for (size_t i = 0; i < 3; i++) {
        char *data = slc_io_pet_sinogram_file(given[i], 0), *header = slc_io_pet_sinogram_file(given[i], 1);
        assert_string_equal(data, "b/a.s");
        assert_string_equal(header, "b/a.hs");
        free(data);
        free(header);
    }
    assert_null(slc_io_pet_sinogram_file("a", 2));
    assert_int_equal(slc_io_pet_sinogram_write(sinogram, pet_in_folder("no/a.hs"), &error), SLC_ERR_IO);
    slc_io_pet_sinogram_close(sinogram);
    assert_int_equal(count_files(), 0);
    pet_clear(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_are_those_of_the_definition),
        cmocka_unit_test_setup_teardown(counts_are_written_and_read, make_folder, remove_all),
        cmocka_unit_test(the_order_of_axes_is_the_headers),
        cmocka_unit_test(what_is_no_sinogram_is_refused),
        cmocka_unit_test_setup_teardown(what_cannot_be_made_is_refused, make_folder, remove_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
