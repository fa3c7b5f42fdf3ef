/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference vectors: rows of GATE 9's, opengate's and the seed's own sorters on 50 000 singles, at 20 and
 * at 200 million a second. All 94 files, for times in floating point and in integers, batches from 1 to all,
 * every instruction set and 1 to 8 threads. With SLUICE_TEST_DEVICE=cuda in the environment the same on a
 * GPU, or in the emulator (tests/simt), where SLUICE_TEST_SMALL leaves a part of the files.
 */
#include "support/cmocka_all.h"

#include "support/sanitized.h"
#include "support/support.h"

#include <sluice/cuda.h>

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char archive[] = "pet/coincidence-vectors.tar.xz";
static char folder[64];

enum { RATES = 2, SINGLES = 50000, VECTORS = 94 };
static const char *const rates[RATES] = {"lo", "hi"};

/* Singles in time order. Integer times are of a unit that is so fine that rounding to it moves no difference
 * over an edge of a window, which two of them are near to, and so coarse that 4096 singles are less than 2^32
 * units apart, as the fast way to find prompts needs. */
typedef struct singles {
    double time_ns[SINGLES];
    int64_t time[SINGLES];
    uint32_t crystal[SINGLES];
    float energy[SINGLES];
    double units; /* in a nanosecond */
} singles;
static singles inputs[RATES];

static const char *device; /* NULL: the processor */

/* ---- files ------------------------------------------------------------------------------------- */

static support_bytes read_vector(const char *name)
{
    char path[200];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return support_read(path);
}

typedef struct record {
    uint32_t crystal;
    float energy;
    double time;
    uint32_t place;
} record;

static int by_time(const void *a, const void *b)
{
    const record *x = a, *y = b;
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time)
                              : (x->place > y->place) - (x->place < y->place);
}

static void read_singles(singles *to, const char *rate, double units)
{
    static record records[SINGLES];
    char name[40];
    (void)snprintf(name, sizeof name, "singles_%s.bin", rate);
    support_bytes bytes = read_vector(name);
    assert_int_equal(bytes.size, 16 * SINGLES);
    for (uint32_t i = 0; i < SINGLES; i++) {
        memcpy(&records[i].crystal, bytes.at + 16 * i, 4);
        memcpy(&records[i].energy, bytes.at + 16 * i + 4, 4);
        memcpy(&records[i].time, bytes.at + 16 * i + 8, 8);
        records[i].place = i;
    }
    support_clear(&bytes);
    qsort(records, SINGLES, sizeof *records, by_time);
    to->units = units;
    for (uint32_t i = 0; i < SINGLES; i++) {
        to->time_ns[i] = records[i].time;
        to->time[i] = llround(records[i].time * units);
        to->crystal[i] = records[i].crystal;
        to->energy[i] = records[i].energy;
    }
}

static int unpack(void **state)
{
    (void)state;
    char command[4400];
    strcpy(folder, "/tmp/sluice-test-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    (void)snprintf(command, sizeof command, "tar -xJf '%s' -C %s --strip-components=1", support_data(archive),
                   folder);
    if (system(command) != 0) {
        return -1;
    }
    read_singles(&inputs[0], rates[0], 16000);
    read_singles(&inputs[1], rates[1], 170000);
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    DIR *files = opendir(folder);
    for (const struct dirent *file = readdir(files); file != NULL; file = readdir(files)) {
        char path[400];
        (void)snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
        (void)unlink(path);
    }
    (void)closedir(files);
    return rmdir(folder);
}

/* ---- runs -------------------------------------------------------------------------------------- */

static char *print_rows(const slc_pet_groups *groups, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    assert_non_null(out);
    for (size_t r = 0; r < groups->head.size; r++) {
        (void)fprintf(out, "%" PRIu64, groups->first[r]);
        for (uint32_t k = 0; k + 1 < groups->size[r]; k++) {
            (void)fprintf(out, ",%" PRIu64, groups->second[r] + k);
        }
        (void)fputc('\n', out);
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

static void find(slc_pet_coincidence_config config, const singles *in, bool is_f64, size_t batch,
                 slc_pet_groups *rows)
{
    slc_error error = {SLC_OK, ""};
    slc_pet_coincidence *stage = NULL;
    if (!is_f64) { /* a unit is a picosecond */
        config.window_ns *= in->units / 1000;
        config.offset_ns *= in->units / 1000;
    }
    config.exec.device = device;
    slc_status status = slc_pet_coincidence_open(&config, &stage, &error);
    for (size_t at = 0, n = 0; at < SINGLES && status == SLC_OK; at += n) {
        n = SINGLES - at < batch ? SINGLES - at : batch;
        const bool last = at + n == SINGLES;
        slc_pet_singles_f64 f64 = {.head = {.size = n}};
        slc_pet_singles i64 = {.head = {.size = n}};
        f64.time_ns = (double *)in->time_ns + at;
        i64.time_ps = (int64_t *)in->time + at;
        f64.crystal = i64.crystal = (uint32_t *)in->crystal + at;
        f64.energy_kev = i64.energy_kev = (float *)in->energy + at;
        status = is_f64 ? slc_pet_coincidence_run_f64(stage, &f64, last, rows, &error)
                        : slc_pet_coincidence_run(stage, &i64, last, rows, &error);
    }
    slc_pet_coincidence_close(stage);
    if (status != SLC_OK) {
        fail_msg("%s", error.text);
    }
}

static void check(const slc_pet_coincidence_config *config, const singles *in, bool is_f64, size_t batch,
                  const support_bytes *wanted, const char *name)
{
    slc_pet_groups rows = {0};
    find(*config, in, is_f64, batch, &rows);
    size_t size = 0;
    char *text = print_rows(&rows, &size);
    if (size != wanted->size || memcmp(text, wanted->at, size) != 0) {
        fail_msg("%s: other rows with %s times, batches of %zu, %u threads, target %d", name,
                 is_f64 ? "f64" : "i64", batch, config->exec.threads, (int)config->exec.target);
    }
    free(text);
    slc_columns_clear(&slc_pet_groups_schema, &rows);
}

/* On a GPU: some batches, and in the emulator one run of a few files. */
static void check_device(const char *name, const slc_pet_coincidence_config *config, const singles *in,
                         const support_bytes *wanted)
{
    static const size_t batches[] = {SINGLES, 4096, 333};
    static int files;
    const bool small = getenv("SLUICE_TEST_SMALL") != NULL;
    const int number = files++;
    if (small && number % 2 != 0) {
        return;
    }
    for (int b = 0; b < (small ? 1 : 3); b++) {
        if (!small || number / 2 % 2 == 0) {
            check(config, in, true, batches[b], wanted, name);
        }
        if (!small || number / 2 % 2 != 0) {
            check(config, in, false, batches[b], wanted, name);
        }
    }
}

/* Every way to come to the rows of one file; false where there is none of this name. */
static bool check_file(const char *name, slc_pet_coincidence_config config, const singles *in)
{
    static const size_t batches[] = {1, 333, 4096, SINGLES};
    char path[200];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    if (access(path, R_OK) != 0) {
        return false;
    }
    support_bytes wanted = support_read(path);
    if (device != NULL) {
        check_device(name, &config, in, &wanted);
        support_clear(&wanted);
        return true;
    }
    if (SANITIZED && test_small()) { /* one way for each file */
        static int files;
        const int number = files++;
        config.exec.threads = 1 + (uint32_t)number % 8;
        check(&config, in, number % 2 == 0, batches[1 + number / 2 % 3], &wanted, name);
        support_clear(&wanted);
        return true;
    }
    for (int b = 0; b < 4; b++) {
        check(&config, in, true, batches[b], &wanted, name);
        check(&config, in, false, batches[b], &wanted, name);
    }
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        config.exec.target = (slc_simd_target)t;
        if (slc_simd_runs(config.exec.target)) {
            check(&config, in, false, SINGLES, &wanted, name);
            check(&config, in, false, 777, &wanted, name);
        }
    }
    config.exec.target = SLC_SIMD_AUTO;
    for (config.exec.threads = 2; config.exec.threads <= 8; config.exec.threads++) {
        check(&config, in, false, SINGLES, &wanted, name);
        check(&config, in, false, 17001, &wanted, name);
    }
    support_clear(&wanted);
    return true;
}

/* ---- tests ------------------------------------------------------------------------------------- */

static int seen; /* files of all tests */

static slc_pet_coincidence_config plain(slc_pet_policy policy)
{
    slc_pet_coincidence_config config;
    slc_pet_coincidence_config_default(&config);
    config.window_ns = 4;
    config.policy = policy;
    return config;
}

static void the_seeds_rule(void **state)
{
    (void)state;
    assert_true(check_file("seed_lo.csv", plain(SLC_PET_KILL_ALL), &inputs[0]));
    assert_true(check_file("seed_hi.csv", plain(SLC_PET_KILL_ALL), &inputs[1]));
    seen += 2;
}

static void gate9(void **state)
{
    (void)state;
    int files = 0;
    for (int number = 0; number < 8 * (SLC_PET_KEEP_ALL + 1); number++) {
        slc_pet_coincidence_config config = plain((slc_pet_policy)(number / 8));
        const int rate = number % 2;
        config.all_open = number / 2 % 2;
        config.offset_ns = number / 4 % 2 ? 100 : 0;
        config.closed = false;
        config.compat_gate9 = true;
        config.good = (slc_pet_good){
            .kind = SLC_PET_GOOD_SECTORS, .crystals_per_ring = 312, .sectors = 24, .min_sectors = 2};
        char name[120];
        (void)snprintf(name, sizeof name, "gate9_%s_%s_%s%s.csv", rates[rate],
                       config.all_open ? "allopen" : "single", slc_pet_policy_name(config.policy),
                       config.offset_ns > 0 ? "_delayed100ns" : "");
        files += check_file(name, config, &inputs[rate]);
    }
    assert_int_equal(files, 80);
    seen += files;
}

static void opengate(void **state)
{
    (void)state;
    int files = 0;
    for (int policy = SLC_PET_OPENGATE_REMOVE_MULTIPLES;
         policy <= SLC_PET_OPENGATE_TAKE_WINNER_IF_ALL_ARE_GOODS; policy++) {
        slc_pet_coincidence_config config = plain((slc_pet_policy)policy);
        config.good = (slc_pet_good){.kind = SLC_PET_GOOD_DISTANCE,
                                     .crystals_per_ring = 312,
                                     .radius_mm = 60,
                                     .pitch_z_mm = 2,
                                     .min_mm = 59,
                                     .max_axial_mm = 39};
        for (int rate = 0; rate < RATES; rate++) {
            char name[120];
            (void)snprintf(name, sizeof name, "opengate_%s_multi_%s.csv", rates[rate],
                           strchr(slc_pet_policy_name(config.policy), ':') + 1);
            files += check_file(name, config, &inputs[rate]);
        }
    }
    assert_int_equal(files, 12);
    seen += files;
}

static void these_were_all(void **state)
{
    (void)state;
    assert_int_equal(seen, VECTORS);
}

int main(void)
{
    if (support_skip_without(archive) != 0) {
        return 77;
    }
    slc_error error = {SLC_OK, ""};
    device = getenv("SLUICE_TEST_DEVICE");
    if (device != NULL && slc_cuda_devices(&error) == 0) {
        printf("skipped: %s\n", error.text);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_seeds_rule),
        cmocka_unit_test(gate9),
        cmocka_unit_test(opengate),
        cmocka_unit_test(these_were_all),
    };
    return cmocka_run_group_tests(tests, unpack, remove_all);
}
