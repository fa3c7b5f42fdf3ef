/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice pet normalise`: efficiencies of crystals from coincidences of a known source, into the tables of a
 * scanner; and the factors of all pairs, for reconstructions, from these, from those that the tables have,
 * and from what an object attenuates.
 */
#include "cli_tree.h"
#include "cli_words.h"
#include "cmd_pet_factors.h"
#include "cmd_pet_tell.h"

#include <sluice/sluice.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_pet_normalise)

enum { AT_ONCE = 1 << 16 /* pairs */ };

typedef struct normalise_options {
    const char *tables, *scanner, *source, *output, *factors;
    slc_pet_factor_words words; /* but for --normalise, which is what it does */
    int format;                 /* from 1 */
    double edge_mm, fov_mm;
    uint64_t ring_difference, tangential, threads;
    bool geometric, json, quiet;
} normalise_options;

static const char *format_name(size_t i)
{
    return i < SLC_IO_PET_LIST_FORMATS ? slc_io_pet_list_name((slc_io_pet_list_format)i) : NULL;
}

static char *factor_files(const void *options, const char *name, size_t i)
{
    (void)options;
    return slc_io_pet_factors_file(name, i);
}

#define O normalise_options
static const slc_cli_option options_table[] = {
    {"output", 'o', OUTPUT(O, output), "FILE", "write the tables there, with efficiencies (HDF5)"},
    {"factors", 0, OUTPUTS(O, factors, factor_files), "NAME",
     "write factors of all pairs: NAME.cdh (CASToR) or NAME.hs (STIR)"},
    {"tables", 0, INPUT_AS(O, tables, "the tables"), "FILE",
     "the scanner's tables (HDF5), which the output has, too"},
    {"scanner", 0, TEXT(O, scanner), "NAME",
     "in place of --tables: by name or in words; a wrong name lists all"},
    {"format", 0, CHOICE(O, format, NAMES_FROM_1("format", format_name)), "FORMAT",
     "of the inputs: castor safir siemens yrt gate hdf5 petsird; else as they look"},
    {"source", 0, TEXT(O, source), "WORDS",
     "that was measured: radius=30mm,inner=0mm,length=200mm,x=,y=,z=,mu=0.096"},
    {"edge", 0, LENGTH(O, edge_mm, SLC_CLI_POSITIVE, "a length, as 2mm"), "LENGTH",
     "pairs so near to the source's edge are left out (default a crystal)"},
    {"ring-difference", 0, COUNT(O, ring_difference, 0, 65536), "N",
     "pairs whose rings are farther apart are left out (65536: none)"},
    {"geometric", 0, FLAG(O, geometric), NULL, "find radial and axial factors of pairs, too"},
    SLC_PET_ATTENUATION_OPTIONS(normalise_options, words),
    {"fov", 0, LENGTH(O, fov_mm, SLC_CLI_POSITIVE, "a length, as 60mm"), "LENGTH",
     "of NAME.cdh: pairs whose line is farther from the axis are left out"},
    {"tangential", 0, COUNT(O, tangential, 0, 65536), "N",
     "of NAME.hs, bins across (0: half of the crystals of a ring)"},
    {"threads", 0, COUNT(O, threads, 0, 64), "N", "0: one for each processor"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object with what was found"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no summary on standard error, only errors"},
};
#undef O

static void set_defaults(void *at)
{
    *(normalise_options *)at = (normalise_options){.ring_difference = 65536, .threads = 1};
}

typedef struct job {
    const normalise_options *options;
    char **paths;
    int n_paths;
    slc_pet_tables tables; /* whose memory is `owned`, but for `efficiency` */
    slc_pet_tables of_file;
    bool owned;
    slc_pet_cylinder source;
    slc_pet_normalise *normalise;
    slc_pet_factors *factors;
    slc_pet_coincidences pairs;
    float *efficiency;
    uint64_t other, no_crystal; /* records that are no pairs; that are of no crystal of the scanner */
    bool strangers;             /* more than a tenth of a list */
    slc_pet_normalise_found found;
    slc_io_pet_factors_told told;
    slc_cli_progress progress;
    uint64_t read;
    slc_error error;
} job;

/* ---- options ----------------------------------------------------------------------------------- */

static int check_words(const job *j)
{
    const normalise_options *o = j->options;
    const bool castor = o->factors != NULL &&
                        (slc_cli_ends_with(o->factors, ".cdh") || slc_cli_ends_with(o->factors, ".cdf"));
    const bool sinogram = o->factors != NULL &&
                          (slc_cli_ends_with(o->factors, ".hs") || slc_cli_ends_with(o->factors, ".s"));
    if (o->output == NULL && o->factors == NULL) {
        return slc_cli_wrong(COMMAND, "there is nothing to write: give --output, --factors or both");
    }
    if (o->factors != NULL && !castor && !sinogram) {
        return slc_cli_wrong(COMMAND, "--factors takes NAME.cdh or NAME.hs, not '%s'", o->factors);
    }
    if (j->n_paths > 0 && o->source == NULL) {
        return slc_cli_wrong(COMMAND, "what was measured must be known: give --source");
    }
    if (j->n_paths == 0 &&
        (o->source != NULL || o->output != NULL || o->edge_mm > 0 || o->format != 0 || o->geometric)) {
        return slc_cli_wrong(COMMAND, "--source, --output, --edge, --geometric and --format are of a "
                                      "measurement: give its files");
    }
    if (slc_pet_factors_wanted(&o->words) && o->factors == NULL) {
        return slc_cli_wrong(COMMAND, "--attenuation and --attenuation-image are of --factors");
    }
    if (o->fov_mm > 0 && !castor) {
        return slc_cli_wrong(COMMAND, "--fov is of --factors NAME.cdh");
    }
    if (o->tangential != 0 && !sinogram) {
        return slc_cli_wrong(COMMAND, "--tangential is of --factors NAME.hs");
    }
    return SLC_CLI_GO_ON;
}

static int source_words(job *j)
{
    const normalise_options *o = j->options;
    if (o->source != NULL && slc_pet_cylinder_of(o->source, &j->source, &j->error) != SLC_OK) {
        return slc_cli_wrong(COMMAND, "--source: %s", j->error.text);
    }
    return SLC_CLI_GO_ON;
}

static int choose(job *j)
{
    const normalise_options *o = j->options;
    const slc_pet_frame_words words = {.tables = o->tables, .scanner = o->scanner};
    int status = check_words(j);
    status = status == SLC_CLI_GO_ON ? source_words(j) : status;
    status = status == SLC_CLI_GO_ON ? slc_pet_tables_of(COMMAND, &words, &j->of_file, &j->owned) : status;
    j->tables = j->of_file;
    /* Wrong words before any work; the efficiencies come later. */
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_factors_of_words(COMMAND, &o->words, &j->tables, &j->factors);
        slc_pet_factors_close(j->factors);
        j->factors = NULL;
    }
    if (status == SLC_CLI_GO_ON && j->n_paths == 0 && j->tables.efficiency == NULL &&
        !slc_pet_factors_wanted(&o->words)) {
        return slc_cli_wrong(COMMAND, "there are no factors: give files of a measurement, --tables with "
                                      "efficiencies, or --attenuation");
    }
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------- */

static slc_status open_input(job *j, const char *path, slc_io_pet_list **input)
{
    int format = j->options->format - 1;
    if (format < 0) {
        const slc_io_format_row *row = slc_io_format_of(path);
        if (row == NULL || row->kind != SLC_IO_KIND_PET_PAIRS) {
            return slc_fail(&j->error, SLC_ERR_FORMAT,
                            "%s: does not look like a list of pairs: --format says what it is", path);
        }
        format = row->pairs;
    }
    return slc_io_pet_list_open(path, (slc_io_pet_list_format)format, &j->tables.geometry, input, &j->error);
}

static slc_status add_input(job *j, const char *path)
{
    slc_io_pet_list *input = NULL;
    slc_status status = open_input(j, path, &input);
    while (status == SLC_OK) {
        if (slc_cli_interrupted()) {
            status = slc_fail(&j->error, SLC_ERR_IO, "interrupted: nothing is written");
            break;
        }
        slc_columns_reset(&j->pairs);
        status = slc_io_pet_list_read(input, AT_ONCE, &j->pairs, &j->error);
        if (status == SLC_OK) {
            status = slc_pet_normalise_add(j->normalise, &j->pairs, &j->error);
        }
        j->read += j->pairs.head.size;
        slc_cli_progress_show(&j->progress, j->read, 0);
    }
    if (input != NULL) {
        slc_io_pet_list_about about;
        slc_io_pet_list_about_of(input, &about);
        j->other += about.totals.other;
        j->no_crystal += about.no_crystal;
        slc_pet_moved_tell("pet normalise", path, &about);
        slc_pet_not_read_tell("pet normalise", path, about.left_out);
        j->strangers = slc_pet_strangers_tell("pet normalise", path, &about) || j->strangers;
    }
    slc_io_pet_list_close(input);
    return status == SLC_END ? SLC_OK : status;
}

static slc_status measure(job *j)
{
    const normalise_options *o = j->options;
    slc_pet_normalise_config config;
    slc_pet_normalise_config_default(&config);
    config.geometry = j->tables.geometry;
    config.source = j->source;
    config.edge_mm = o->edge_mm;
    config.ring_difference = o->ring_difference < 65536 ? (uint32_t)o->ring_difference : UINT32_MAX;
    config.geometric = o->geometric;
    config.exec.threads = (uint32_t)o->threads;
    slc_status status = slc_pet_normalise_open(&config, &j->normalise, &j->error);
    slc_cli_progress_begin(&j->progress, "pet normalise", o->quiet);
    j->progress.unit = "pairs";
    for (int i = 0; i < j->n_paths && status == SLC_OK; i++) {
        status = add_input(j, j->paths[i]);
    }
    slc_cli_progress_end(&j->progress);
    j->efficiency = malloc(slc_pet_crystals(&j->tables.geometry) * sizeof *j->efficiency);
    if (status == SLC_OK && j->efficiency == NULL) {
        status = slc_fail(&j->error, SLC_ERR_MEMORY, "no memory for efficiencies");
    }
    if (status == SLC_OK) {
        status = slc_pet_normalise_solve(j->normalise, j->efficiency, &j->found, &j->error);
    }
    j->tables.efficiency = j->efficiency;
    /* Those that the tables had belong to other efficiencies. */
    j->tables.geometric = (slc_pet_geometric){.radial = j->found.radial,
                                              .axial = j->found.axial,
                                              .n_radial = j->found.n_radial,
                                              .n_axial = j->found.n_axial,
                                              .radial_mm = j->found.radial_mm,
                                              .axial_mm = j->found.axial_mm};
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------- */

static slc_status write_factors(job *j)
{
    const normalise_options *o = j->options;
    slc_pet_factor_words words = o->words;
    words.normalise = j->tables.efficiency != NULL;
    if (slc_pet_factors_of_words(COMMAND, &words, &j->tables, &j->factors) != SLC_CLI_GO_ON) {
        return slc_fail(&j->error, SLC_ERR_MEMORY, "no factors");
    }
    slc_io_pet_factors_config how;
    slc_io_pet_factors_config_default(&how);
    how.geometry = j->tables.geometry;
    how.scanner = slc_pet_scanner_word_name(o->scanner);
    how.fov_mm = o->fov_mm;
    how.ring_difference = o->ring_difference < 65536 ? (uint32_t)o->ring_difference : UINT32_MAX;
    how.tangential = (uint32_t)o->tangential;
    return slc_io_write_pet_factors(o->factors, &how, j->factors, &j->told, &j->error);
}

static json_t *list_of(const float *values, uint32_t n)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++) {
        (void)json_array_append_new(list, json_real((double)values[i]));
    }
    return list;
}

#define F slc_pet_normalise_found
static void put(const job *j, slc_cli_tree *tree)
{
    static const slc_cli_field fields[] = {
        {"prompts", FIELD(F, prompts)}, {"delayeds", FIELD(F, delayeds)},   {"outside", FIELD(F, outside)},
        {"dead", FIELD(F, dead)},       {"unseen", FIELD(F, unseen)},       {"spread", FIELD(F, spread)},
        {"chance", FIELD(F, error)},    {"converged", FIELD(F, converged)},
    };
    slc_cli_put(tree, "command", "pet normalise");
    slc_cli_put(tree, "crystals", slc_pet_crystals(&j->tables.geometry));
    if (j->n_paths > 0) {
        slc_cli_put_fields(tree, "", fields, sizeof fields / sizeof *fields, &j->found);
        slc_cli_put(tree, "other", j->other);
        slc_cli_put(tree, "no_crystal", j->no_crystal);
        slc_cli_tree blocks = slc_cli_inner(tree, "mean");
        slc_cli_put_json(&blocks, "block", list_of(j->found.block, j->found.n_blocks));
        slc_cli_put_json(&blocks, "place", list_of(j->found.place, j->found.n_places));
        if (j->found.radial != NULL) {
            slc_cli_tree geometric = slc_cli_inner(tree, "geometric");
            slc_cli_put(&geometric, "radial_mm", j->found.radial_mm);
            slc_cli_put_json(&geometric, "radial", list_of(j->found.radial, j->found.n_radial));
            slc_cli_put(&geometric, "axial_mm", j->found.axial_mm);
            slc_cli_put_json(&geometric, "axial", list_of(j->found.axial, j->found.n_axial));
        }
    }
    if (j->options->factors != NULL) {
        slc_cli_put(tree, "factors.file", j->options->factors);
        slc_cli_put(tree, "factors.pairs", j->told.pairs);
        slc_cli_put(tree, "factors.dead", j->told.dead);
        slc_cli_put(tree, "factors.outside", j->told.outside);
    }
    if (j->options->output != NULL) {
        slc_cli_put(tree, "output", j->options->output);
    }
}
#undef F

/* Crystals without an efficiency, some by their numbers; also under --quiet, as a scanner has them to be
 * mended. */
static void tell_dead(const job *j)
{
    enum { TOLD = 8 };
    char list[TOLD * 12 + 8] = "";
    size_t at = 0;
    uint32_t told = 0;
    const uint32_t n = slc_pet_crystals(&j->tables.geometry), all = j->found.dead + j->found.unseen;
    for (uint32_t i = 0; i < n && told < TOLD && all > 0; i++) {
        if (!(j->efficiency[i] > 0)) {
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%" PRIu32, told > 0 ? ", " : "", i);
            told++;
        }
    }
    if (all > 0) {
        slc_cli_say("pet normalise",
                    "%" PRIu32 " crystals have no counts, and the source does not reach %" PRIu32
                    ": their efficiency is 0 (%s%s)",
                    j->found.dead, j->found.unseen, list, all > told ? " …" : "");
    }
    if (!j->found.converged) {
        slc_cli_say("pet normalise", "the efficiencies had not come to rest: too few counts?");
    }
}

static void tell(const job *j)
{
    const normalise_options *o = j->options;
    if (j->n_paths > 0) {
        slc_cli_say("pet normalise",
                    "%" PRIu64 " prompts, %" PRIu64 " delayeds, %" PRIu64 " not through the source",
                    j->found.prompts, j->found.delayeds, j->found.outside);
        slc_cli_say("pet normalise",
                    "efficiencies of %" PRIu32
                    " crystals differ by %.1f %%, of which the counts' chance is %.1f %%",
                    slc_pet_crystals(&j->tables.geometry) - j->found.dead - j->found.unseen,
                    100 * j->found.spread, 100 * j->found.error);
    }
    if (o->factors != NULL) {
        slc_cli_say("pet normalise", "%s: %" PRIu64 " pairs", o->factors, j->told.pairs);
    }
}

static bool print_json(const job *j)
{
    slc_cli_tree tree = slc_cli_tree_new("pet normalise");
    put(j, &tree);
    return slc_cli_tree_print_json(&tree);
}

/* ---- the end ----------------------------------------------------------------------------------- */

static int process(job *j)
{
    const normalise_options *o = j->options;
    slc_cli_catch_signals();
    slc_status status = j->n_paths > 0 ? measure(j) : SLC_OK;
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(COMMAND, "--%s", j->error.text);
    }
    if (status == SLC_OK && o->output != NULL) {
        status = slc_io_write_pet_tables(o->output, &j->tables, &j->error);
    }
    status = status == SLC_OK && o->factors != NULL ? write_factors(j) : status;
    if (status != SLC_OK) {
        slc_cli_say("pet normalise", "%s", j->error.text);
        return SLC_CLI_FAILED;
    }
    if (j->n_paths > 0) {
        tell_dead(j);
    }
    slc_pet_dead_tell(COMMAND->name, o->factors, j->told.dead);
    if (o->json && !print_json(j)) {
        return SLC_CLI_FAILED;
    }
    if (!o->json && !o->quiet) {
        tell(j);
    }
    return j->strangers ? SLC_CLI_FAILED : SLC_CLI_DONE;
}

static int act(const slc_cli_call *call)
{
    const normalise_options *o = call->options;
    job j = {.options = o, .paths = call->operands, .n_paths = call->n};
    int status = slc_pet_files_check(COMMAND, o, j.paths, j.n_paths);
    status = status == SLC_CLI_GO_ON ? choose(&j) : status;
    status = status == SLC_CLI_GO_ON ? process(&j) : status;
    slc_pet_normalise_close(j.normalise);
    slc_pet_factors_close(j.factors);
    slc_columns_clear(&slc_pet_coincidences_schema, &j.pairs);
    free(j.efficiency);
    if (j.owned) {
        slc_io_pet_tables_clear(&j.of_file);
    }
    return status;
}

const slc_cli_command slc_cmd_pet_normalise = {
    .name = "pet normalise",
    .operands = "[PAIRS...]",
    .summary = "find crystals' efficiencies, write factors of pairs",
    .description =
        "Reads coincidences of a known source, a uniform cylinder or a rod that went around, and finds how "
        "much "
        "each\n"
        "crystal detects of what an average one would. The efficiencies go into the tables that --output "
        "writes; as\n"
        "factors of all pairs, with what a cylinder attenuates, into what --factors writes. Without PAIRS, "
        "--tables\n"
        "has the efficiencies. Delayeds among PAIRS are subtracted.\n" SLC_PET_REPLACES,
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .defaults = set_defaults,
    .act = act,
};
