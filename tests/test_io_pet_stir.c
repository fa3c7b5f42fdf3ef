/* SPDX-License-Identifier: Apache-2.0
 * STIR's sample files: Siemens' mMR, two of SAFIR with their crystal maps. What is read, written and read
 * again is the same.
 */
#include "pet/pet_scanner.h"
#include "support/cmocka_all.h"

#include "support/pet_list.h"
#include "support/support.h"

#include <math.h>

static const char mmr[] = "pet/stir-listmode/small_listmode_file.l";
static const char mmr_header[] = "pet/stir-listmode/PET_ACQ_small.l.hdr.STIR";
static const char generic[] = "pet/stir-safir-generic/coincidencesLM.clm.safir";
static const char generic_map[] = "pet/stir-safir-generic/DualRingPrototype_crystal_map.txt";
static const char virtual[] = "pet/stir-safir-virtual/point_5.clm.safir";
static const char virtual_map[] = "pet/stir-safir-virtual/crystal_map_front.txt";

/* A scanner of so many crystals; all that list-mode files need to know. */
static slc_pet_geometry ring_of(uint32_t crystals_per_ring, uint32_t rings)
{
    return (slc_pet_geometry){1, 1, 1, 1, 1, crystals_per_ring, rings, 328, 4.0625, 20, NULL};
}

static slc_pet_coincidences read_all(const char *name, slc_io_pet_list_format format,
                                     const slc_pet_geometry *geometry, slc_io_pet_list_totals *totals)
{
    slc_io_pet_list *input = NULL;
    slc_pet_coincidences pairs = {0};
    slc_error error = {0};
    assert_int_equal(slc_io_pet_list_open(name, format, geometry, &input, &error), SLC_OK);
    assert_int_equal(pet_read_all(input, 10000, &pairs, totals, &error), SLC_END);
    assert_int_equal(pairs.head.size, totals->prompts + totals->delayeds);
    return pairs;
}

static void assert_mmr(const slc_io_pet_list_totals *totals)
{
    assert_int_equal(totals->prompts, 218881);
    assert_int_equal(totals->delayeds, 35320);
    assert_int_equal(totals->time_tags, 613);
    assert_int_equal(totals->other, 2);
    assert_true(fabs(totals->seconds - 0.612) < 1e-9);
}

static void siemens_is_read_by_its_words(void **state)
{
    (void)state;
    slc_io_pet_list_totals totals;
    slc_pet_coincidences pairs = read_all(support_data(mmr), SLC_IO_PET_SIEMENS, NULL, &totals);
    assert_mmr(&totals);
    /* Bins within 4084 sinograms (ring differences up to 60) of 252 views of 344 places, as the header says.
     */
    uint32_t largest = 0;
    for (size_t i = 0; i < pairs.head.size; i++) {
        largest = pairs.crystal1[i] > largest ? pairs.crystal1[i] : largest;
    }
    assert_in_range(largest, 4000U * 252 * 344, 4084U * 252 * 344 - 1);
    pet_clear(&pairs);
}

/* One at a time, since a batch is put in order: prompts before delayeds of the same time. */
static void write_one_by_one(slc_io_pet_list_writer *writer, const slc_pet_coincidences *pairs)
{
    for (size_t i = 0; i < pairs->head.size; i++) {
        slc_pet_coincidences one = *pairs;
        one.head.size = 1;
        one.time_ps += i;
        one.dt_ps += i;
        one.crystal1 += i;
        one.crystal2 += i;
        one.delayed += i;
        assert_int_equal(slc_io_pet_list_write(writer, &one, NULL), SLC_OK);
    }
}

static void assert_same(const slc_pet_coincidences *a, const slc_pet_coincidences *b)
{
    assert_int_equal(a->head.size, b->head.size);
    assert_memory_equal(a->time_ps, b->time_ps, a->head.size * sizeof *a->time_ps);
    assert_memory_equal(a->crystal1, b->crystal1, a->head.size * sizeof *a->crystal1);
    assert_memory_equal(a->crystal2, b->crystal2, a->head.size * sizeof *a->crystal2);
    assert_memory_equal(a->delayed, b->delayed, a->head.size);
}

/* By its header, which has the shape of the sinogram: every bin is a pair of crystals of the mMR, and a file
 * of ours with those pairs is the same pairs. */
static void siemens_is_read_as_crystals(void **state)
{
    (void)state;
    const slc_pet_geometry geometry = ring_of(504, 64);
    slc_io_pet_list_totals totals;
    slc_pet_coincidences pairs = read_all(support_data(mmr_header), SLC_IO_PET_SIEMENS, &geometry, &totals);
    assert_mmr(&totals);
    uint64_t apart = 0;
    for (size_t i = 0; i < pairs.head.size; i++) {
        const uint32_t a = pairs.crystal1[i] / 504, b = pairs.crystal2[i] / 504;
        apart = (a > b ? a - b : b - a) > apart ? (a > b ? a - b : b - a) : apart;
        assert_true(a < 64 && b < 64);
    }
    assert_int_equal(apart, 60);
    const slc_io_pet_list_config config = {
        .size = sizeof(slc_io_pet_list_config), .geometry = geometry, .scanner = "mMR"};
    slc_io_pet_list_writer *writer = NULL;
    slc_error error = {0};
    assert_int_equal(slc_io_pet_list_create(pet_in_folder("a"), SLC_IO_PET_SIEMENS, &config, &writer, &error),
                     SLC_OK);
    write_one_by_one(writer, &pairs);
    assert_int_equal(slc_io_pet_list_left_out(writer), 0);
    assert_int_equal(slc_io_pet_list_finish(writer, &error), SLC_OK);
    slc_pet_coincidences again = read_all(pet_in_folder("a.l"), SLC_IO_PET_SIEMENS, &geometry, &totals);
    assert_same(&again, &pairs);
    pet_clear(&again);
    pet_clear(&pairs);
}

static void write_again(const slc_pet_geometry *geometry, const slc_pet_coincidences *pairs)
{
    const slc_io_pet_list_config config = {.size = sizeof(slc_io_pet_list_config), .geometry = *geometry};
    slc_io_pet_list_writer *writer = NULL;
    slc_io_pet_list_totals totals;
    assert_int_equal(
        slc_io_pet_list_create(pet_in_folder("b.clm.safir"), SLC_IO_PET_SAFIR, &config, &writer, NULL),
        SLC_OK);
    write_one_by_one(writer, pairs);
    assert_int_equal(slc_io_pet_list_finish(writer, NULL), SLC_OK);
    slc_pet_coincidences second = read_all(pet_in_folder("b.clm.safir"), SLC_IO_PET_SAFIR, geometry, &totals);
    assert_same(&second, pairs);
    pet_clear(&second);
}

static void safir_is_read_whole(void **state)
{
    (void)state;
    slc_io_pet_list_totals totals;
    slc_pet_geometry geometry = ring_of(180, 16);
    slc_pet_coincidences pairs = read_all(support_data(generic), SLC_IO_PET_SAFIR, &geometry, &totals);
    assert_int_equal(totals.prompts, 1408);
    assert_int_equal(totals.delayeds, 0);
    assert_int_equal(totals.time_tags, 93);
    assert_int_equal(totals.other, 0);
    write_again(&geometry, &pairs);
    pet_clear(&pairs);
    geometry = ring_of(180, 91);
    pairs = read_all(support_data(virtual), SLC_IO_PET_SAFIR, &geometry, &totals);
    assert_int_equal(totals.prompts, 35844);
    assert_int_equal(totals.delayeds, 43);
    assert_int_equal(totals.time_tags, 359);
    assert_int_equal(totals.other, 0);
    assert_int_equal(pairs.time_ps[pairs.head.size - 1], INT64_C(9995) * 1000000000);
    write_again(&geometry, &pairs);
    pet_clear(&pairs);
    /* With a ring less, its events are counted apart. */
    geometry = ring_of(180, 90);
    slc_pet_coincidences fewer = read_all(support_data(virtual), SLC_IO_PET_SAFIR, &geometry, &totals);
    assert_true(totals.other > 0);
    assert_int_equal(totals.other + fewer.head.size, 35887);
    pet_clear(&fewer);
}

static void maps_are_read_whole(void **state)
{
    (void)state;
    slc_io_pet_map map;
    slc_error error = {0};
    assert_int_equal(slc_io_pet_map_read(support_data(generic_map), &map, &error), SLC_OK);
    assert_int_equal(map.rings, 16);
    assert_int_equal(map.crystals_per_ring, 180);
    assert_int_equal(map.layers, 1);
    assert_true(map.position_mm[0] == 15.65F && map.position_mm[1] == 70.5F && map.position_mm[2] == -16.75F);
    slc_io_pet_map_clear(&map);
    assert_int_equal(slc_io_pet_map_read(support_data(virtual_map), &map, &error), SLC_OK);
    assert_int_equal(map.rings, 91);
    assert_int_equal(map.crystals_per_ring, 180);
    assert_true(map.position_mm[3] == 62.981F && map.position_mm[4] == 2.199F);
    /* Our numbering of crystals is theirs: the angle of crystal k is 2π·k/180 here, too. */
    slc_pet_geometry geometry = ring_of(180, 91);
    geometry.radius_mm = 58.019;
    geometry.depth_mm = 10;
    geometry.pitch_z_mm = 2.2;
    for (uint32_t c = 0; c < 180 * 91; c++) {
        double position[3], direction[3];
        slc_pet_crystal_position(&geometry, c, position, direction);
        for (size_t k = 0; k < 3; k++) {
            assert_true(fabs(position[k] - (double)map.position_mm[3 * c + k]) < 0.01);
        }
    }
    slc_io_pet_map_clear(&map);
}

int main(void)
{
    const int skip = support_skip_without(mmr);
    if (skip != 0) {
        return skip;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siemens_is_read_by_its_words),
        cmocka_unit_test_setup_teardown(siemens_is_read_as_crystals, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(safir_is_read_whole, make_folder, remove_all),
        cmocka_unit_test(maps_are_read_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
