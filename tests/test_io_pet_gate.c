/* SPDX-License-Identifier: Apache-2.0
 * Pairs as GATE's CSV: the same bytes whoever makes the lines, and energies that read back to the last bit.
 */
#include "support/cmocka_all.h"

#include "support/pet_list.h"

#include <math.h>
#include <stdlib.h>

/* Pairs, so many at once, which are flushed after each time; the file's bytes. */
static char *written(const slc_pet_coincidences *pairs, const slc_exec *exec, size_t most, size_t *size)
{
    const char *name = pet_in_folder("pairs.csv");
    slc_io_pet_list_config config = pet_config(false);
    slc_io_pet_list_writer *writer = NULL;
    slc_error error = {0};
    config.exec = exec;
    assert_int_equal(slc_io_pet_list_create(name, SLC_IO_PET_GATE, &config, &writer, &error), SLC_OK);
    for (size_t at = 0, n; at < pairs->head.size; at += n) {
        n = pairs->head.size - at < most ? pairs->head.size - at : most;
        const slc_pet_coincidences part = {.head.size = n,
                                           .time_ps = pairs->time_ps + at,
                                           .dt_ps = pairs->dt_ps + at,
                                           .crystal1 = pairs->crystal1 + at,
                                           .crystal2 = pairs->crystal2 + at,
                                           .energy1_kev = pairs->energy1_kev + at,
                                           .energy2_kev = pairs->energy2_kev + at,
                                           .delayed = pairs->delayed + at};
        assert_int_equal(slc_io_pet_list_write(writer, &part, &error), SLC_OK);
        assert_int_equal(slc_io_pet_list_flush(writer, 0, &error), SLC_OK);
    }
    assert_int_equal(slc_io_pet_list_finish(writer, &error), SLC_OK);
    return pet_bytes(name, size);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    static const uint32_t threads[] = {1, 2, 5};
    static const size_t most[] = {7001, 2048, 100};
    slc_pet_coincidences pairs = pet_pairs(6000, 1000, 17);
    size_t size = 0;
    char *wanted = written(&pairs, NULL, 7000, &size);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        const slc_exec exec = {.threads = threads[i]};
        size_t size_got = 0;
        char *got = written(&pairs, &exec, most[i], &size_got);
        assert_int_equal(size_got, size);
        assert_memory_equal(got, wanted, size);
        free(got);
    }
    free(wanted);
    pet_clear(&pairs);
}

/* Of all sizes, with the neighbours of powers of two and of ten, where digits are fewest. */
static float energy_at(size_t i, uint64_t *seed)
{
    const float whole = i % 3 == 0   ? ldexpf(1, (int)(i / 3 % 60) - 20)
                        : i % 3 == 1 ? (float)pow(10, (int)(i / 3 % 18) - 6)
                                     : ldexpf((float)(0.5 + random_unit(seed) / 2), (int)(i / 3 % 60) - 20);
    return i % 2 == 0 ? whole : nextafterf(whole, i % 4 == 1 ? 0 : INFINITY);
}

static void energies_are_kept(void **state)
{
    (void)state;
    enum { N = 30000 };
    slc_pet_coincidences pairs = pet_pairs(N, 0, 19), got = {0};
    slc_io_pet_list *input = NULL;
    slc_io_pet_list_totals totals;
    slc_error error = {0};
    uint64_t seed = 23;
    for (size_t i = 0; i < N; i++) {
        pairs.energy1_kev[i] = energy_at(i, &seed);
        pairs.energy2_kev[i] = i == 0 ? 0 : (float)(2000 * random_unit(&seed));
    }
    pet_write(pet_in_folder("e.csv"), SLC_IO_PET_GATE, false, &pairs);
    assert_int_equal(
        slc_io_pet_list_open(pet_in_folder("e.csv"), SLC_IO_PET_GATE, &pet_small, &input, &error), SLC_OK);
    assert_int_equal(pet_read_all(input, 1000, &got, &totals, &error), SLC_END);
    assert_int_equal(got.head.size, N);
    assert_memory_equal(got.energy1_kev, pairs.energy1_kev, N * sizeof *got.energy1_kev);
    assert_memory_equal(got.energy2_kev, pairs.energy2_kev, N * sizeof *got.energy2_kev);
    pet_clear(&pairs);
    pet_clear(&got);
}

/* The keV's own digits. */
static void energies_are_short(void **state)
{
    (void)state;
    slc_pet_coincidences pairs = pet_pairs(1, 0, 3);
    size_t size = 0;
    pairs.energy1_kev[0] = 511;
    pairs.energy2_kev[0] = 487.3F;
    char *text = written(&pairs, NULL, 1, &size);
    assert_non_null(strstr(text, ",0.511,0.4873,"));
    free(text);
    pet_clear(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_do_not_matter, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(energies_are_kept, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(energies_are_short, make_folder, remove_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
