/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice pet coincidences`: singles in any order to coincidences.
 */
#include "cli_results.h"
#include "cmd_pet.h"
#include "cmd_pet_tell.h"

#include <sluice/sluice.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_pet_coincidences)

typedef struct coincidences_options {
    slc_pet_coincidence_words words;
    const char *output, *device, *scanner;
    int is_f64, format; /* format from 1; 0: none */
    uint64_t batch, threads;
    bool json, quiet;
} coincidences_options;

#define O coincidences_options
static const slc_cli_option options_table[] = {
    {"input", 0, CHOICE(O, is_f64, WORDS("singles", "singles-f64")), "FORMAT",
     "singles (default: i64 ps, u32 crystal, f32 keV) or singles-f64 (times f64 ns)"},
    SLC_PET_COINCIDENCE_OPTIONS(coincidences_options),
    {"scanner", 0, INPUTS(O, scanner, slc_pet_scanner_files), "NAME",
     "of good pairs by geometry: by name, in words, or FILE.csv"},
    {"format", 0, CHOICE(O, format, WORDS_FROM_1("indices", "csv")), "WHAT",
     "print indices of the sorted singles, or csv: times, crystals, energies"},
    {"output", 'o', STDOUT_TOO | OUTPUT(O, output), "FILE", "write them there instead of standard output"},
    {"batch", 0, COUNT(O, batch, 1, 1e9), "N", "singles at a time; results do not depend on it"},
    {"threads", 0, COUNT(O, threads, 0, 64), "N", "for times in picoseconds; 0: one for each processor"},
    {"device", 0, DEVICE(O, device), "WHICH",
     "cpu (the default), or a GPU: cuda or cuda:N; results do not depend on it"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object with the counts"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no summary on standard error, only errors"},
};
#undef O

static void set_defaults(void *at)
{
    *(coincidences_options *)at = (coincidences_options){.batch = 1 << 20, .threads = 1};
}

enum { AT_ONCE = 1 << 20 /* singles */ };
enum { FORMAT_NONE = 0, FORMAT_INDICES, FORMAT_CSV };

typedef struct job {
    const coincidences_options *options;
    slc_pet_coincidence_config config;
    slc_pet_geometry geometry; /* of good pairs by geometry */
    bool is_f64;
    int format;
    slc_pet_singles singles, work;
    slc_pet_singles_f64 singles_f64, work_f64;
    slc_pet_groups groups;
    slc_pet_coincidences pairs;
    slc_io_writer *writer;
    slc_pet_coincidence_counts counts;
    double randoms, randoms_sigma; /* of the prompts, beside delayed windows */
    double seconds_sort, seconds_find;
    bool cut, partial; /* a signal ended the reading; that, or the search */
    slc_error error;
} job;

/* ---- options ----------------------------------------------------------------------------------- */

static int choose_scanner(job *j)
{
    const char *name = j->options->scanner;
    if ((j->config.good.kind == SLC_PET_GOOD_GEOMETRY) != (name != NULL)) {
        return slc_cli_wrong(COMMAND, name != NULL
                                          ? "--scanner says where crystals are, for --good by geometry alone"
                                          : "--good by geometry needs --scanner");
    }
    j->config.good.scanner = &j->geometry;
    return name != NULL ? slc_pet_scanner_of(COMMAND, name, &j->geometry) : SLC_CLI_GO_ON;
}

static int choose(job *j)
{
    const coincidences_options *o = j->options;
    j->is_f64 = o->is_f64 == 1;
    j->format = o->format;
    if (j->format == FORMAT_CSV && j->is_f64) {
        return slc_cli_wrong(COMMAND, "--format csv needs times in picoseconds: --input singles");
    }
    if (o->output != NULL && j->format == FORMAT_NONE) {
        return slc_cli_wrong(COMMAND, "--output needs --format: what is to be written");
    }
    const bool prints = o->output == NULL || strcmp(o->output, "-") == 0;
    if (o->json && j->format != FORMAT_NONE && prints) {
        return slc_cli_wrong(COMMAND, "--json and --format both print: give one of them a file by --output");
    }
    const int status = slc_pet_coincidence_config_of(COMMAND, &o->words, &j->config);
    j->config.exec.threads = (uint32_t)o->threads;
    j->config.exec.device = o->device;
    return status == SLC_CLI_GO_ON ? choose_scanner(j) : status;
}

/* ---- work -------------------------------------------------------------------------------------- */

/* Of good pairs by geometry, all singles are of crystals that are somewhere. */
static slc_status check_crystals(job *j, const char *path)
{
    if (j->options->scanner == NULL) {
        return SLC_OK;
    }
    const uint32_t crystals = slc_pet_crystals(&j->geometry);
    const uint32_t *crystal = j->is_f64 ? j->singles_f64.crystal : j->singles.crystal;
    const size_t n = j->is_f64 ? j->singles_f64.head.size : j->singles.head.size;
    for (size_t i = 0; i < n; i++) {
        if (crystal[i] >= crystals) {
            return slc_fail(&j->error, SLC_ERR_FORMAT,
                            "%s: single %zu is of crystal %" PRIu32 ", and the scanner has %" PRIu32, path, i,
                            crystal[i], crystals);
        }
    }
    return SLC_OK;
}

/* A pipe that a signal ended may have left a piece of a record, which is no damage. */
static slc_status read_singles(job *j, char *path)
{
    slc_io_pet_singles *input = NULL;
    slc_status status = slc_io_pet_singles_open(path, j->is_f64 ? SLC_IO_PET_SINGLES_F64 : SLC_IO_PET_SINGLES,
                                                &input, &j->error);
    while (status == SLC_OK && !slc_cli_stop(NULL)) {
        status = j->is_f64 ? slc_io_pet_singles_read_f64(input, AT_ONCE, &j->singles_f64, &j->error)
                           : slc_io_pet_singles_read(input, AT_ONCE, &j->singles, &j->error);
    }
    if (input != NULL) {
        slc_pet_note_tell(COMMAND->name, path, slc_io_pet_singles_note(input));
    }
    slc_io_pet_singles_close(input);
    j->cut = slc_cli_stop(NULL);
    if (status == SLC_ERR_FORMAT && j->cut && slc_cli_reads_once(&path, 1)) {
        status = SLC_OK;
    }
    const bool none = j->singles.head.size + j->singles_f64.head.size == 0;
    if (none && j->cut) {
        return slc_fail(&j->error, SLC_ERR_FORMAT,
                        "interrupted before a single was read: nothing was written");
    }
    if (none && status == SLC_END) {
        return slc_fail(&j->error, SLC_ERR_FORMAT, "%s: there are no singles in it", path);
    }
    return status == SLC_END || status == SLC_OK ? check_crystals(j, path) : status;
}

static slc_status sort_singles(job *j)
{
    const double began = slc_clock_seconds();
    const slc_status status = j->is_f64 ? slc_pet_sort_all_f64(&j->singles_f64, &j->work_f64)
                                        : slc_pet_sort_all(&j->singles, &j->work);
    j->seconds_sort = slc_clock_seconds() - began;
    return status == SLC_OK ? SLC_OK : slc_fail(&j->error, status, "no memory to sort the singles");
}

/* The next batch of what is in memory. */
static slc_status find_some(job *j, slc_pet_coincidence *stage, size_t at, size_t n, bool last)
{
    if (j->is_f64) {
        slc_pet_singles_f64 part = j->singles_f64;
        part.head.size = n;
        part.time_ns += at;
        part.crystal += at;
        part.energy_kev += at;
        return slc_pet_coincidence_run_f64(stage, &part, last, &j->groups, &j->error);
    }
    slc_pet_singles part = j->singles;
    part.head.size = n;
    part.time_ps += at;
    part.crystal += at;
    part.energy_kev += at;
    return j->format == FORMAT_CSV ? slc_pet_coincidence_run_pairs(stage, &part, last, &j->pairs, &j->error)
                                   : slc_pet_coincidence_run(stage, &part, last, &j->groups, &j->error);
}

static void print_groups(FILE *out, const slc_pet_groups *groups)
{
    for (size_t r = 0; r < groups->head.size; r++) {
        (void)fprintf(out, "%" PRIu64, groups->first[r]);
        for (uint32_t k = 1; k < groups->size[r]; k++) {
            (void)fprintf(out, ",%" PRIu64, groups->second[r] + k - 1);
        }
        (void)fputc('\n', out);
    }
}

/* Delayeds alone do not tell how many prompts are random. */
static bool wants_randoms(const job *j)
{
    return j->config.offset_ns > 0 && !j->is_f64;
}

static slc_status find_randoms(job *j)
{
    slc_pet_coincidence_config prompt = j->config;
    slc_pet_randoms *randoms = NULL;
    prompt.offset_ns = 0;
    slc_status status = slc_pet_randoms_open(&prompt, j->config.offset_ns, &randoms, &j->error);
    status = status == SLC_OK ? slc_pet_randoms_run(randoms, &j->singles, true, &j->error) : status;
    if (status == SLC_OK) {
        j->randoms = slc_pet_randoms_estimate(randoms, &j->randoms_sigma);
    }
    slc_pet_randoms_close(randoms);
    return status;
}

/* The windows of the last singles that a signal let through are not closed, as others may be in these. A
 * signal that comes later ends the search. */
static slc_status find_all(job *j, slc_pet_coincidence *stage)
{
    const size_t all = j->is_f64 ? j->singles_f64.head.size : j->singles.head.size;
    slc_status status = SLC_OK;
    size_t at = 0;
    for (size_t n = 0; at < all && status == SLC_OK && (j->cut || !slc_cli_stop(NULL)); at += n) {
        n = all - at < j->options->batch ? all - at : (size_t)j->options->batch;
        slc_columns_reset(&j->groups);
        slc_columns_reset(&j->pairs);
        const double began = slc_clock_seconds();
        status = find_some(j, stage, at, n, at + n == all && !j->cut);
        j->seconds_find += slc_clock_seconds() - began;
        if (status == SLC_OK && j->format == FORMAT_INDICES) {
            print_groups(slc_io_text_stream(j->writer), &j->groups);
        } else if (status == SLC_OK && j->format == FORMAT_CSV) {
            const slc_io_text_form form = {.schema = &slc_pet_coincidences_schema, .exec = &j->config.exec};
            status = slc_io_text_rows(j->writer, &form, &j->pairs, &j->error);
        }
    }
    j->partial = slc_cli_cut() && (j->cut || at < all);
    if (status == SLC_OK) {
        slc_pet_coincidence_counts_of(stage, &j->counts);
    }
    return status;
}

/* ---- the end ----------------------------------------------------------------------------------- */

#define C slc_pet_coincidence_counts
static bool tell(const job *j)
{
    static const slc_cli_field fields[] = {{"singles", FIELD(C, singles)},
                                           {"inside", FIELD(C, inside)},
                                           {"windows", FIELD(C, windows)},
                                           {"pairs", FIELD(C, pairs)},
                                           {"groups", FIELD(C, groups)}};
    slc_cli_tree tree = slc_cli_tree_new("pet coincidences");
    slc_cli_put(&tree, "command", "pet coincidences");
    slc_cli_put_bool(&tree, "partial", j->partial);
    slc_cli_put(&tree, "policy", slc_pet_policy_name(j->config.policy));
    slc_cli_put(&tree, "device", j->options->device != NULL ? j->options->device : "cpu");
    slc_cli_put_fields(&tree, "", fields, sizeof fields / sizeof *fields, &j->counts);
    slc_cli_put_counts(&tree, "multiplicity", j->counts.multiplicity, SLC_PET_MULTIPLICITIES);
    slc_cli_put(&tree, "seconds_sort", j->seconds_sort);
    slc_cli_put(&tree, "seconds_find", j->seconds_find);
    if (wants_randoms(j)) {
        slc_pet_put_randoms(&tree, j->randoms, j->randoms_sigma);
    }
    const bool printed = !j->options->json || slc_cli_tree_print_json(&tree);
    if (!j->options->json && !j->options->quiet) {
        slc_cli_tree_say(&tree,
                         "{singles} singles, {windows} windows with two or more, {pairs} pairs, {groups} "
                         "larger groups; sorted in {seconds_sort|.3f} s, found in {seconds_find|.3f} s");
    }
    slc_cli_tree_clear(&tree);
    return printed;
}
#undef C

/* Tells where the window of energies leaves next to nothing; SLC_ERR_FORMAT if it leaves nothing. */
static slc_status check_energies(job *j, const char *path)
{
    char text[SLC_REPORT_PET_DOUBT];
    const size_t all = j->is_f64 ? j->singles_f64.head.size : j->singles.head.size;
    const float *kev = j->is_f64 ? j->singles_f64.energy_kev : j->singles.energy_kev;
    if (j->counts.inside == all ||
        !slc_report_pet_energies_doubt(kev, all, j->config.low_kev, j->config.high_kev, j->counts.inside,
                                       text)) {
        return SLC_OK;
    }
    if (j->counts.inside == 0) {
        return slc_fail(&j->error, SLC_ERR_FORMAT, "%s: %s", path, text);
    }
    slc_cli_say("pet coincidences", "%s", text);
    return SLC_OK;
}

static slc_status create(job *j)
{
    const char *name = j->options->output != NULL ? j->options->output : "-";
    const slc_io_text_form form = {.schema = &slc_pet_coincidences_schema};
    const slc_status status = slc_io_text_create(name, &j->writer, &j->error);
    return status == SLC_OK && j->format == FORMAT_CSV ? slc_io_text_rows(j->writer, &form, NULL, &j->error)
                                                       : status;
}

/* What only a search that came to its end tells. */
static slc_status judge(job *j, const char *path)
{
    if (j->partial) {
        j->randoms = j->randoms_sigma = NAN;
        return SLC_OK;
    }
    const slc_status status = check_energies(j, path);
    return status == SLC_OK && wants_randoms(j) && j->options->json ? find_randoms(j) : status;
}

static slc_status run(job *j, char *path)
{
    slc_pet_coincidence *stage = NULL;
    /* Asked for first, as a GPU that is not there is found before singles are read. */
    slc_status status = slc_pet_coincidence_open(&j->config, &stage, &j->error);
    status = status == SLC_OK ? read_singles(j, path) : status;
    status = status == SLC_OK ? sort_singles(j) : status;
    status = status == SLC_OK && j->format != FORMAT_NONE ? create(j) : status;
    status = status == SLC_OK ? find_all(j, stage) : status;
    status = status == SLC_OK ? judge(j, path) : status;
    slc_pet_coincidence_close(stage);
    return status;
}

static int process(job *j, char *path)
{
    slc_cli_end_with_signals(&path, 1);
    slc_cli_catch_signals();
    slc_status status = run(j, path);
    const uint64_t rows = j->counts.pairs + j->counts.groups;
    const bool broken = slc_cli_broken();
    if (status == SLC_OK && j->partial && rows == 0 && j->format != FORMAT_NONE) {
        status = slc_fail(&j->error, SLC_ERR_FORMAT,
                          "interrupted before a pair was found: nothing was written");
    }
    if (j->writer != NULL && status == SLC_OK && !broken) {
        status = slc_io_finish(j->writer, &j->error);
    } else if (j->writer != NULL) {
        slc_io_abandon(j->writer);
    }
    if (broken) {
        return SLC_CLI_FAILED; /* the process ends as the signal would have ended it */
    }
    if (slc_cli_cut()) {
        slc_cli_accept_signal();
    }
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(COMMAND, "%s", j->error.text);
    }
    if (status != SLC_OK) {
        slc_cli_say("pet coincidences", "%s", j->error.text);
        return SLC_CLI_FAILED;
    }
    if (j->partial) {
        slc_cli_kept files = {.n = 0};
        slc_cli_kept_add(&files, j->options->output);
        slc_cli_tell_partial("pet coincidences", rows, "row", &files);
    }
    return tell(j) && !j->partial ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

static int act(const slc_cli_call *call)
{
    job j = {.options = call->options};
    int status = slc_pet_files_check(COMMAND, call->options, call->operands, call->n);
    status = status == SLC_CLI_GO_ON ? choose(&j) : status;
    status = status == SLC_CLI_GO_ON ? process(&j, call->operands[0]) : status;
    slc_pet_geometry_clear(&j.geometry);
    slc_columns_clear(&slc_pet_singles_schema, &j.singles);
    slc_columns_clear(&slc_pet_singles_schema, &j.work);
    slc_columns_clear(&slc_pet_singles_f64_schema, &j.singles_f64);
    slc_columns_clear(&slc_pet_singles_f64_schema, &j.work_f64);
    slc_columns_clear(&slc_pet_groups_schema, &j.groups);
    slc_columns_clear(&slc_pet_coincidences_schema, &j.pairs);
    return status;
}

const slc_cli_command slc_cmd_pet_coincidences = {
    .name = "pet coincidences",
    .operands = "SINGLES",
    .summary = "find coincidences of PET singles",
    .description =
        "Sorts singles by time and finds coincidences by the rules of GATE 9, opengate or PETSIRD. '-' is\n"
        "standard input. A row of indices is a pair, or a group that was kept whole, as numbers of the "
        "sorted\nsingles from 0; with --energies, of those inside.\n" SLC_PET_REPLACES,
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .min_operands = 1,
    .max_operands = 1,
    .defaults = set_defaults,
    .act = act,
};
