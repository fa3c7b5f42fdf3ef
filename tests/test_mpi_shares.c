/* SPDX-License-Identifier: Apache-2.0
 *
 * Into how many shares sluice-mpi cuts inputs: ranks that take one after the other end nearly together, with
 * files of all sizes, counted in bytes of work and not in time. And what checksums of shares come to.
 */
#include "mpi/mpi_shares.h"

#include "run/run_part.h"

#include "support/cmocka_all.h"
#include "support/random.h"
#include "support/temporary_folder.h"

#include <sluice/base.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILES = 200 };

static char names[FILES][160];
static const char *paths[FILES];
static uint64_t bytes[FILES];

/* Files without contents of these sizes: the parts of the VELO's are cut by sizes alone. */
static void make_files(int n)
{
    for (int i = 0; i < n; i++) {
        (void)snprintf(names[i], sizeof names[i], "%s/%d", folder, i);
        paths[i] = names[i];
        FILE *file = fopen(names[i], "wb");
        assert_non_null(file);
        assert_int_equal(ftruncate(fileno(file), (off_t)bytes[i]), 0);
        assert_int_equal(fclose(file), 0);
    }
}

static void remove_files(int n)
{
    for (int i = 0; i < n; i++) {
        assert_int_equal(unlink(names[i]), 0);
    }
}

/* Bytes of a share. */
static uint64_t work_of(uint32_t n, uint32_t share, uint32_t shares)
{
    slc_flow_config config;
    slc_flow_config_default(&config);
    config.paths = paths;
    config.n_paths = n;
    config.part = share;
    config.n_parts = shares;
    slc_run_part part;
    slc_error error;
    assert_int_equal(slc_run_part_of(&config, &slc_flow_velo, &part, &error), SLC_OK);
    uint64_t work = 0;
    for (uint32_t i = part.first; i < part.end; i++) {
        const uint64_t from = i == part.first ? part.from : 0;
        const uint64_t until = i + 1 == part.end && part.until < bytes[i] ? part.until : bytes[i];
        work += until - from;
    }
    return work;
}

/* The rank that is free first takes the next share. Ranks are as fast as each other but the last, which is
 * `slow` times as slow. Which part of the ranks' power is used. */
static double efficiency(const double *work, uint32_t shares, uint32_t ranks, double slow)
{
    double busy[64] = {0}, longest = 0, total = 0;
    for (uint32_t k = 0; k < shares; k++) {
        uint32_t next = 0;
        for (uint32_t r = 1; r < ranks; r++) {
            next = busy[r] < busy[next] ? r : next;
        }
        total += work[k];
        busy[next] += next == ranks - 1 ? slow * work[k] : work[k];
    }
    for (uint32_t r = 0; r < ranks; r++) {
        longest = busy[r] > longest ? busy[r] : longest;
    }
    return total / longest / ((double)ranks - 1 + 1 / slow);
}

static void try_ranks(const char *what, uint32_t n, uint32_t ranks, double with_slow)
{
    static double work[4096];
    const uint32_t shares = slc_mpi_shares_for(bytes, n, ranks);
    double total = 0, all = 0;
    assert_true(shares <= sizeof work / sizeof *work);
    for (uint32_t k = 0; k < shares; k++) {
        total += work[k] = (double)work_of(n, k, shares);
    }
    for (uint32_t i = 0; i < n; i++) {
        all += (double)bytes[i];
    }
    assert_float_equal(total, all, 0.5); /* each byte is in one share */
    const double equal = efficiency(work, shares, ranks, 1), mixed = efficiency(work, shares, ranks, 1.7);
    if (equal < 0.9 || mixed < with_slow) {
        fail_msg("%s, %u ranks: %.3f of ideal, with a slow one %.3f", what, ranks, equal, mixed);
    }
}

static void uneven_files_make_even_ranks(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        int n;
        uint64_t least, most, one; /* bytes: at random between, by powers; and of the last */
        double with_slow;          /* least efficiency with a slow rank: a large file has few pieces */
    } cases[] = {
        {"even", 100, 50000000, 50000000, 0, 0.75},
        {"one file", 1, 4000000000, 4000000000, 0, 0.5},
        {"two files", 2, 1000000, 4000000000, 0, 0.5},
        {"one to a thousand", 100, 1000000, 1000000000, 0, 0.75},
        {"one that is half of all", 100, 10000000, 10000000, 1000000000, 0.75},
        {"some empty", 60, 0, 900000000, 0, 0.75},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint64_t seed = 7 + c;
        for (int i = 0; i < cases[c].n; i++) {
            uint64_t size = cases[c].most;
            for (uint64_t halves = random_below(&seed, 10); halves > 0 && size / 2 >= cases[c].least;
                 halves--) {
                size /= 2;
            }
            bytes[i] = cases[c].least == 0 && i % 3 == 0 ? 0 : size;
        }
        if (cases[c].one > 0) {
            bytes[cases[c].n - 1] = cases[c].one;
        }
        make_files(cases[c].n);
        for (uint32_t ranks = 1; ranks <= 32; ranks = 3 * ranks - ranks / 2) {
            try_ranks(cases[c].what, (uint32_t)cases[c].n, ranks, cases[c].with_slow);
        }
        remove_files(cases[c].n);
    }
}

static void small_inputs_have_few_shares(void **state)
{
    (void)state;
    const uint64_t small[3] = {100, 0, 5000}, none[1] = {0}, larger[1] = {10 * SLC_MPI_SHARE_LEAST};
    assert_int_equal(slc_mpi_shares_for(small, 3, 64), 1);
    assert_int_equal(slc_mpi_shares_for(none, 1, 1), 1);
    assert_int_equal(slc_mpi_shares_for(larger, 1, 64), 11);
    assert_int_equal(slc_mpi_shares_for(larger, 1, 1), 2);
    assert_int_equal(slc_mpi_shares_for(larger, 1, 4), 4);
}

/* Σ H(n) F^n of 100 numbers, cut anywhere. */
static void checksums_of_shares_add_up(void **state)
{
    (void)state;
    uint64_t seed = 3, hash[100], whole = 0, power = 1;
    for (int i = 0; i < 100; i++) {
        hash[i] = random_u64(&seed);
        whole += hash[i] * power;
        power *= SLC_CHECKSUM_FACTOR;
    }
    for (uint64_t cut = 0; cut <= 100; cut++) {
        uint64_t part[2] = {0, 0};
        for (int side = 0; side < 2; side++) {
            power = 1;
            for (uint64_t i = side == 0 ? 0 : cut; i < (side == 0 ? cut : 100); i++) {
                part[side] += hash[i] * power;
                power *= SLC_CHECKSUM_FACTOR;
            }
        }
        assert_int_equal(slc_mpi_checksum_after(0, part[0]) + slc_mpi_checksum_after(cut, part[1]), whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uneven_files_make_even_ranks),
        cmocka_unit_test(small_inputs_have_few_shares),
        cmocka_unit_test(checksums_of_shares_add_up),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
