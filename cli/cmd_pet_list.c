/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice pet list`: what is in a list-mode file of coincidences, and the same pairs in another format or as
 * a sinogram.
 */
#include "cmd_pet_list.h"
#include "cli_results.h"
#include "cli_words.h"
#include "cmd_pet_open.h"
#include "cmd_pet_run.h"
#include "cmd_pet_tell.h"

#include <sluice/sluice.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND (&slc_cmd_pet_list)

enum { AT_ONCE = 1 << 16 /* pairs */ };

typedef slc_pet_list_options list_options;
typedef slc_pet_list_job job;

/* Columns as those of HDF5 in other forms, which are not read. */
enum { TO_ARROW = SLC_IO_PET_LIST_FORMATS + 1, TO_NPZ = TO_ARROW + 2, TO_SINOGRAM };

static const char *to_name(size_t i)
{
    return i + 1 >= TO_ARROW ? slc_pet_columns_name(i + 1 - TO_ARROW) : slc_pet_list_format_name(i);
}

static const slc_cli_choice to_choice = {.kind = "format", .name = to_name, .last = "sinogram", .from = 1};

static char *output_files(const void *options, const char *name, size_t i)
{
    const list_options *o = options;
    return o->to == TO_SINOGRAM ? slc_pet_sinogram_files(o, name, i) : slc_pet_list_files(o->to - 1, name, i);
}

#define O list_options
static const slc_cli_option options_table[] = {
    {"format", 0, CHOICE(O, format, NAMES_FROM_1("format", slc_pet_list_format_name)), "FORMAT",
     "of FILE: castor safir siemens yrt gate hdf5 petsird; else as it looks"},
    {"tables", 0, INPUT_AS(O, tables, "the tables"), "FILE",
     "its scanner's tables (HDF5): the scanner, and what was measured of it"},
    {"scanner", 0, INPUTS(O, scanner, slc_pet_scanner_files), "NAME",
     "in place of --tables: by name, in words, or FILE.csv; a wrong name lists all"},
    {"crystals-per-ring", 0, COUNT(O, crystals_per_ring, 0, 65536), "N",
     "with --rings, in place of --scanner: one without blocks"},
    {"rings", 0, COUNT(O, rings, 0, 65536), "N", "see --crystals-per-ring"},
    {"radius", 0, LENGTH(O, radius_mm, SLC_CLI_POSITIVE, "a length, as 60mm"), "LENGTH",
     "of such a scanner, to the crystals' fronts (default 100mm)"},
    {"pitch", 0, LENGTH(O, pitch_mm, SLC_CLI_POSITIVE, "a length, as 2mm"), "LENGTH",
     "from ring to ring of such a scanner (default 2mm)"},
    {"map", 0, INPUT(O, map), "FILE",
     "a crystal map, in place of --scanner: its rings, crystals, radius and pitch"},
    {"to", 0, CHOICE(O, to, &to_choice), "FORMAT",
     "write the pairs as one of those, arrow, npy, npz, sinogram; else by NAME"},
    {"output", 'o', STDOUT_TOO | OUTPUTS(O, output, output_files), "NAME",
     "write them there; formats of several files add their endings"},
    {"tof", 0, TEXT(O, tof), "TIME",
     "resolution (FWHM) of times of flight, 250ps, or none; else as FILE says"},
    {"window", 0, TIME(O, window_ns, SLC_CLI_POSITIVE, "a time, as 4ns"), "TIME",
     "of the coincidences, for headers; else as FILE says"},
    {"prompts", 0, FLAG(O, prompts), NULL, "write prompts alone: castor and yrt have no delayeds"},
    SLC_PET_FACTOR_OPTIONS(list_options, factors),
    {"ring-difference", 0, COUNT(O, ring_difference, 0, 65536), "N",
     "of a sinogram, the largest (65536: all there are)"},
    {"tangential", 0, COUNT(O, tangential, 0, 65536), "N",
     "of a sinogram, bins across (0: half of the crystals of a ring)"},
    {"rebin", 0, FLAG(O, rebin), NULL, "a sinogram by single-slice rebinning instead of all pairs of rings"},
    {"subtract", 0, FLAG(O, subtract), NULL, "delayeds count -1 in a sinogram; otherwise they are left out"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "print nothing but errors"},
};
#undef O

static void set_defaults(void *at)
{
    *(list_options *)at = (list_options){.ring_difference = 65536, .radius_mm = 100, .pitch_mm = 2};
}

/* ---- options ----------------------------------------------------------------------------------- */

static const char needs_scanner[] =
    "--to needs the scanner: --tables, --scanner, --map or --crystals-per-ring";

/* Of the file and of what is written, by their ends where words do not tell it. A pipe has none. */
static int find_formats(list_options *o, const char *path)
{
    static const struct {
        int format, to;
    } columns[] = {
        {SLC_PET_RUN_ARROW, TO_ARROW}, {SLC_PET_RUN_NPY, TO_ARROW + 1}, {SLC_PET_RUN_NPZ, TO_ARROW + 2}};
    if (o->format == 0 && strcmp(path, "-") != 0) {
        o->format = slc_pet_list_format_of(0, path) + 1;
        const slc_io_format_row *row = o->format == 0 ? slc_io_format_of(path) : NULL;
        o->format = row != NULL && row->kind == SLC_IO_KIND_PET_PAIRS ? row->pairs + 1 : o->format;
    }
    if (o->format == 0) {
        return slc_cli_wrong(COMMAND, "%s does not tell its format: give --format",
                             strcmp(path, "-") == 0 ? "standard input" : path);
    }
    if (o->to != 0 || o->output == NULL) {
        return SLC_CLI_GO_ON;
    }
    const int format = slc_pet_run_format_of(o->output);
    o->to = slc_cli_ends_with(o->output, ".hs") || slc_cli_ends_with(o->output, ".s") ? TO_SINOGRAM
            : format < SLC_IO_PET_LIST_FORMATS                                        ? format + 1
                                                                                      : 0;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        o->to = format == columns[i].format ? columns[i].to : o->to;
    }
    return o->to != 0
               ? SLC_CLI_GO_ON
               : slc_cli_wrong(COMMAND, "the end of --output %s tells no format: give --to", o->output);
}

/* Has what is written a place for them? The value of --to, from 1. */
static bool has_flights(int to)
{
    return to == SLC_IO_PET_CASTOR + 1 || to == SLC_IO_PET_YRT + 1 || to == SLC_IO_PET_PETSIRD + 1 ||
           to == SLC_IO_PET_HDF5 + 1 || to == TO_ARROW;
}

/* Words that go together, and those that would do nothing. */
static int check_words(const list_options *o, bool sinogram)
{
    const bool of_sinograms = o->rebin || o->subtract || o->tangential != 0 || o->ring_difference != 65536;
    if ((o->to != 0) != (o->output != NULL)) {
        return slc_cli_wrong(COMMAND, "--to and --output belong together");
    }
    if (o->output != NULL && strcmp(o->output, "-") == 0 && (!o->quiet || o->json)) {
        return slc_cli_wrong(COMMAND, "--output - and what is told both print: %s",
                             o->json ? "leave out --json" : "add --quiet");
    }
    if (o->to == 0 && (o->tof != NULL || o->window_ns > 0 || o->prompts)) {
        return slc_cli_wrong(COMMAND, "--tof, --window and --prompts are of what is written: give --to");
    }
    if (o->tof != NULL && o->to != 0 && strcmp(o->tof, "none") != 0 && !has_flights(o->to)) {
        return slc_cli_wrong(COMMAND, "--tof: %s has no place for a resolution of times of flight",
                             sinogram ? "sinogram" : to_name((size_t)o->to - 1));
    }
    if (o->prompts && sinogram && !o->subtract) {
        return slc_cli_wrong(COMMAND, "--prompts: a sinogram has prompts alone, unless --subtract is given");
    }
    if (slc_pet_factors_wanted(&o->factors) && o->to != SLC_IO_PET_CASTOR + 1) {
        return slc_cli_wrong(COMMAND, "--normalise and --attenuation need --to castor");
    }
    if (o->factors.normalise && o->tables == NULL) {
        return slc_cli_wrong(COMMAND, "--normalise needs --tables, which have the efficiencies");
    }
    if (!sinogram && of_sinograms) {
        return slc_cli_wrong(COMMAND,
                             "--ring-difference, --tangential, --rebin and --subtract need --to sinogram");
    }
    if ((slc_cli_word(COMMAND, "radius") != NULL || slc_cli_word(COMMAND, "pitch") != NULL) &&
        o->crystals_per_ring == 0) {
        return slc_cli_wrong(COMMAND, "--radius and --pitch are of --crystals-per-ring and --rings");
    }
    return SLC_CLI_GO_ON;
}

static int choose(job *j)
{
    const list_options *o = j->options;
    j->from = (slc_io_pet_list_format)(o->format - 1);
    j->to_name = o->to == TO_SINOGRAM ? "sinogram" : o->to > 0 ? to_name((size_t)o->to - 1) : NULL;
    j->sinogram = o->to == TO_SINOGRAM;
    j->to = o->to >= TO_ARROW && !j->sinogram ? SLC_IO_PET_HDF5
            : o->to > 0 && !j->sinogram       ? (slc_io_pet_list_format)(o->to - 1)
                                              : 0;
    int status = check_words(o, j->sinogram);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    if (o->tof != NULL && strcmp(o->tof, "none") != 0 &&
        (!slc_cli_time(o->tof, &j->tof_ns) || j->tof_ns <= 0)) {
        return slc_cli_wrong(COMMAND, "--tof takes a time, as 250ps, or none, not '%s'", o->tof);
    }
    j->window_ns = o->window_ns;
    status = slc_pet_list_scanner(COMMAND, j);
    if (status == SLC_CLI_GO_ON && o->to != 0 && !j->has_geometry && j->from != SLC_IO_PET_HDF5 &&
        j->from != SLC_IO_PET_PETSIRD && j->from != SLC_IO_PET_CASTOR) {
        return slc_cli_wrong(COMMAND, "%s", needs_scanner);
    }
    if (status == SLC_CLI_GO_ON && j->from == SLC_IO_PET_GATE && !j->has_geometry) {
        return slc_cli_wrong(
            COMMAND, "--format gate needs the scanner: --tables, --scanner, --map or --crystals-per-ring");
    }
    return status;
}

/* All files that the input's name stands for are kept. */
static int check_files(const job *j, char **input)
{
    int status = slc_pet_files_check(COMMAND, j->options, input, 1);
    char *part = NULL;
    for (size_t i = 0; status == SLC_CLI_GO_ON && strcmp(*input, "-") != 0 &&
                       (part = slc_io_pet_list_file(*input, j->from, i)) != NULL;
         i++) {
        if (strcmp(part, *input) != 0 && access(part, F_OK) == 0) {
            status = slc_cli_check(COMMAND, j->options, &part, 1);
        }
        free(part);
    }
    return status;
}

/* ---- work -------------------------------------------------------------------------------------- */

static bool differ(double a, double b)
{
    return fabs(a - b) > 1e-6 * fmax(fabs(a), fabs(b));
}

/* What was given stands above what the file says; that they are not the same is told. */
static void tell_difference(const char *path, const char *what, const char *unit, double given, double said)
{
    if (said != 0 && differ(given, said)) {
        slc_cli_say("pet list", "%s says that its %s is %.9g %s; %.9g %s is taken, as given", path, what,
                    said, unit, given, unit);
    }
}

/* Of the tables, where the file does not tell it, pairs have times, and what is written has a place for it.
 */
static void take_measured_tof(job *j)
{
    const bool has_times = j->from == SLC_IO_PET_HDF5 || j->from == SLC_IO_PET_YRT ||
                           j->from == SLC_IO_PET_GATE;
    const bool takes = j->to == SLC_IO_PET_CASTOR || j->to == SLC_IO_PET_YRT || j->to == SLC_IO_PET_PETSIRD ||
                       j->to == SLC_IO_PET_HDF5;
    if (j->tof_ns <= 0 && has_times && takes && j->options->to != 0 && !j->sinogram) {
        const slc_pet_tables tables = {.time_fwhm_ps = j->tables_fwhm_ps};
        slc_pet_measured_tof(&j->measured, &tables, &j->tof_ns);
        slc_pet_measured_tell(&j->measured, COMMAND->name, j->options->tables);
    }
}

/* The scanner, window and time of flight of what is written: as given, or else as the file says. */
static int settle(job *j, const char *path)
{
    const slc_io_pet_list_about *about = &j->about;
    if (!j->has_geometry && !about->has_geometry &&
        !slc_pet_list_scanner_named(COMMAND->name, path, about, &j->geometry)) {
        return about->scanner_file[0] != '\0' ? slc_cli_wrong(COMMAND, "%s; %s does not tell it: %s",
                                                              needs_scanner, path, about->scanner_file)
                                              : slc_cli_wrong(COMMAND, "%s", needs_scanner);
    }
    if (!j->has_geometry && about->has_geometry) {
        j->geometry = about->geometry;
        slc_pet_list_scanner_tell(COMMAND->name, path, (int)j->from, about);
    }
    if (j->options->window_ns <= 0) {
        j->window_ns = about->window_ps / 1000;
    } else {
        tell_difference(path, "window", "ns", j->window_ns, about->window_ps / 1000);
    }
    if (j->options->tof == NULL) {
        j->tof_ns = about->tof_resolution_ps / 1000;
        take_measured_tof(j);
    } else if (j->tof_ns > 0) {
        tell_difference(path, "resolution", "ps", j->tof_ns * 1000, about->tof_resolution_ps);
    }
    const bool needs_window = j->tof_ns > 0 || (j->options->to != 0 && j->to == SLC_IO_PET_PETSIRD);
    if (j->window_ns == 0 && needs_window && !j->sinogram) {
        j->window_ns = 10;
        slc_cli_say("pet list", "%s does not tell its window: 10 ns are taken; --window gives it", path);
    }
    if (about->start_is_found && !j->sinogram) {
        slc_cli_say(
            "pet list",
            "%s does not tell when its time began: it is taken to have at %.9g s, the millisecond of its "
            "earliest pair",
            path, (double)about->start_ps * 1e-12);
    }
    return SLC_CLI_GO_ON;
}

static slc_status open_output(job *j)
{
    const list_options *o = j->options;
    if (j->sinogram) {
        slc_io_pet_sinogram_config config;
        slc_io_pet_sinogram_config_default(&config);
        config.geometry = j->geometry;
        config.tangential = (uint32_t)o->tangential;
        config.ring_difference = slc_pet_ring_difference_of(&config.geometry, o->ring_difference);
        config.rebin = o->rebin;
        config.subtract = o->subtract;
        const slc_status status = slc_io_pet_sinogram_open(&config, &j->image, &j->error);
        if (status == SLC_OK) {
            slc_pet_tell_sinogram("pet list", j->image);
        }
        return status;
    }
    const char *name = j->has_geometry ? slc_pet_scanner_word_name(o->scanner) : j->about.scanner;
    slc_io_pet_list_config config;
    slc_io_pet_list_config_default(&config);
    config.geometry = j->geometry;
    config.scanner = name;
    config.tof = j->tof_ns > 0;
    config.tof_resolution_ps = j->tof_ns * 1000;
    config.window_ps = j->window_ns * 1000;
    config.start_ps = j->about.start_ps;
    config.duration_s = j->about.duration_s;
    config.partial = &j->partial;
    config.low_kev = j->about.low_kev;
    config.high_kev = j->about.high_kev;
    config.energy_bins = j->about.energy_bins;
    config.efficiency = j->about.efficiency;
    config.prompt_multiples = j->about.prompt_multiples;
    config.delayed_multiples = o->prompts ? SLC_PET_MULTIPLES_NO_PAIRS : j->about.delayed_multiples;
    if (j->factors == NULL) { /* those with tables are there */
        const slc_pet_tables tables = {.geometry = j->geometry};
        const int words = slc_pet_factors_of_words(COMMAND, &o->factors, &tables, &j->factors);
        if (words != SLC_CLI_GO_ON) {
            return slc_fail(&j->error, SLC_ERR_USAGE, "the factors cannot be had");
        }
    }
    config.factors = j->factors;
    config.corrections = j->kept != 0 ? &j->corrections : NULL;
    config.form = o->to >= TO_ARROW ? slc_pet_columns_form((size_t)(o->to - TO_ARROW), o->output) : NULL;
    return slc_io_pet_list_create(o->output, j->to, &config, &j->writer, &j->error);
}

/* A pipe that a signal ended may have left a piece of a record, which is no damage. */
static slc_status pass_on(job *j, char *path)
{
    slc_status status = SLC_OK;
    while (status == SLC_OK && !slc_cli_stop(NULL)) {
        slc_columns_reset(&j->pairs);
        status = slc_io_pet_list_read(j->input, AT_ONCE, &j->pairs, &j->error);
        if (status != SLC_OK) {
            break;
        }
        slc_pet_list_corrections_take(j);
        if (j->options->prompts) {
            slc_pet_list_corrections_keep_prompts(j);
            slc_pet_keep_prompts(&j->pairs);
        }
        if (j->image != NULL) {
            status = slc_io_pet_sinogram_add(j->image, &j->pairs, &j->error);
        } else if (j->writer != NULL) {
            status = slc_io_pet_list_write(j->writer, &j->pairs, &j->error);
            j->written += j->pairs.head.size;
        }
    }
    j->partial = slc_cli_stop(NULL) && slc_cli_cut();
    if (status == SLC_ERR_FORMAT && j->partial && slc_cli_reads_once(&path, 1)) {
        status = SLC_OK;
    }
    return status == SLC_END ? SLC_OK : status;
}

static slc_status finish(job *j)
{
    slc_status status = SLC_OK;
    if (j->image != NULL) {
        slc_io_pet_sinogram_counts_of(j->image, &j->written, &j->left_out);
        slc_pet_outside_tell(COMMAND->name, j->options->output, j->left_out);
        status = slc_io_pet_sinogram_write(j->image, j->options->output, &j->error);
    } else if (j->writer != NULL) {
        j->left_out = slc_io_pet_list_left_out(j->writer);
        slc_pet_dead_tell(COMMAND->name, j->options->output, slc_io_pet_list_dead(j->writer));
        j->written -= j->left_out;
        if (j->options->quiet) { /* else it stands in the table */
            slc_pet_left_out_tell(COMMAND->name, j->options->output, j->left_out);
        }
        status = slc_io_pet_list_finish(j->writer, &j->error);
        j->writer = NULL;
    }
    return status;
}

/* ---- the end ----------------------------------------------------------------------------------- */

#define T slc_io_pet_list_totals
#define A slc_io_pet_list_about
static void put(const job *j, const char *path, slc_cli_tree *tree)
{
    static const slc_cli_field counted[] = {{"prompts", FIELD(T, prompts)},
                                            {"delayeds", FIELD(T, delayeds)},
                                            {"time_tags", FIELD(T, time_tags)},
                                            {"other", FIELD(T, other)},
                                            {"seconds", FIELD(T, seconds)}};
    const slc_io_pet_list_about *a = &j->about;
    slc_cli_put(tree, "command", "pet list");
    slc_cli_put(tree, "file", path);
    slc_cli_put(tree, "format", slc_io_pet_list_name(j->from));
    slc_cli_put_bool(tree, "partial", j->partial);
    slc_cli_put_fields(tree, "", counted, sizeof counted / sizeof *counted, &j->totals);
    if (a->window_ps > 0) {
        slc_cli_put(tree, "window_ps", a->window_ps);
    }
    if (a->tof_resolution_ps > 0) {
        slc_cli_put(tree, "tof_resolution_ps", a->tof_resolution_ps);
    }
    if (a->duration_s > 0) {
        slc_cli_put(tree, "duration_s", a->duration_s);
    }
    if (a->left_out[0] != '\0') {
        slc_cli_put(tree, "not_read", (const char *)a->left_out);
    }
    slc_cli_put(tree, "no_crystal", a->no_crystal);
    slc_cli_put(tree, "no_tof", a->no_tof);
    slc_pet_list_corrections_put(j, tree);
    if (a->moved[0] != '\0') {
        slc_cli_put(tree, "moved", (const char *)a->moved);
    }
    if (j->from == SLC_IO_PET_HDF5) {
        slc_cli_put_integer(tree, "start_ps", a->start_ps);
        slc_cli_put_bool(tree, "start_is_told", !a->start_is_found);
    }
    if (j->options->to != 0) {
        slc_cli_put(tree, "to", j->to_name);
        slc_cli_put(tree, "written", j->written);
        slc_cli_put(tree, "left_out", j->left_out);
        slc_cli_put(tree, ".output", j->options->output);
        slc_pet_measured_put(&j->measured, tree);
    }
}
#undef T
#undef A

static bool tell(const job *j, const char *path)
{
    static const slc_cli_line lines[] = {
        {NULL, "{file}\n  format       {format}\n  prompts      {prompts}\n  delayeds     {delayeds}", NULL},
        {NULL, "  time tags    {time_tags}\n  other        {other}\n  seconds      {seconds|.6f}", NULL},
        {NULL, "  of each pair {.corrections}", ".corrections"},
        {NULL, "  written      {written} to {.output}\n  left out     {left_out}", "to"},
    };
    slc_cli_tree tree = slc_cli_tree_new("pet list");
    put(j, path, &tree);
    const bool printed = !j->options->json || slc_cli_tree_print_json(&tree);
    if (!j->options->json && !j->options->quiet) {
        slc_cli_print_lines(&tree, "", lines, sizeof lines / sizeof *lines);
    }
    slc_cli_tree_clear(&tree);
    return printed;
}

static const char interrupted[] = "interrupted before a pair was read: nothing was written";

/* That there are none is an answer, but nothing to convert; YRT has no head, so that such a file is empty. */
static slc_status check_pairs(job *j, const char *path)
{
    const bool none = j->totals.prompts + j->totals.delayeds == 0;
    if (none && j->partial && j->options->to != 0) {
        return slc_fail(&j->error, SLC_ERR_FORMAT, "%s", interrupted);
    }
    if (none && (j->options->to != 0 || (j->from == SLC_IO_PET_YRT && !j->partial))) {
        return slc_fail(&j->error, SLC_ERR_FORMAT, "%s: there are no coincidences in it", path);
    }
    if (j->writer != NULL && j->written == slc_io_pet_list_left_out(j->writer)) {
        return slc_fail(&j->error, SLC_ERR_FORMAT,
                        "%s: of %" PRIu64 " prompts and %" PRIu64 " delayeds none is left to be written",
                        path, j->totals.prompts, j->totals.delayeds);
    }
    return SLC_OK;
}

static slc_status open_all(job *j, const char *path, int *settled)
{
    slc_status status = slc_io_pet_list_open(path, j->from, j->has_geometry ? &j->geometry : NULL, &j->input,
                                             &j->error);
    if (status == SLC_OK) {
        slc_io_pet_list_about_of(j->input, &j->about);
        slc_pet_moved_tell(COMMAND->name, path, &j->about);
    }
    if (status == SLC_OK && j->options->to != 0) {
        *settled = settle(j, path);
        if (*settled == SLC_CLI_GO_ON) {
            *settled = slc_pet_list_corrections_settle(COMMAND, j, path);
        }
        status = *settled == SLC_CLI_GO_ON ? open_output(j) : SLC_OK;
    }
    return status;
}

static void tell_partial(const job *j)
{
    slc_cli_kept files = {.n = 0};
    slc_cli_kept_add(&files, j->options->output);
    slc_cli_tell_partial("pet list",
                         j->options->to != 0 ? j->written : j->totals.prompts + j->totals.delayeds, "pair",
                         &files);
    slc_cli_accept_signal();
}

static int process(job *j, char *path)
{
    int settled = SLC_CLI_GO_ON;
    bool many = false;
    slc_cli_end_with_signals(&path, 1);
    slc_cli_catch_signals();
    slc_status status = open_all(j, path, &settled);
    if (settled != SLC_CLI_GO_ON) {
        return settled;
    }
    if (status == SLC_ERR_FORMAT && slc_cli_reads_once(&path, 1) && slc_cli_stop(NULL)) {
        j->partial = slc_cli_cut();
        status = slc_fail(&j->error, SLC_ERR_FORMAT, "%s", interrupted);
    }
    status = status == SLC_OK ? pass_on(j, path) : status;
    if (slc_cli_broken()) {
        return SLC_CLI_FAILED;
    }
    if (j->input != NULL) {
        slc_io_pet_list_about_of(j->input, &j->about);
        j->totals = j->about.totals;
        slc_pet_not_read_tell(COMMAND->name, path, j->about.left_out);
        many = slc_pet_strangers_tell(COMMAND->name, path, &j->about);
    }
    status = status == SLC_OK ? check_pairs(j, path) : status;
    status = status == SLC_OK ? finish(j) : status;
    if (status != SLC_OK) {
        slc_cli_say("pet list", "%s", j->error.text);
        if (j->partial) {
            slc_cli_accept_signal();
        }
        return SLC_CLI_FAILED;
    }
    if (j->partial) {
        tell_partial(j);
    }
    return tell(j, path) && !j->partial && !many ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

static int act(const slc_cli_call *call)
{
    job j = {.options = call->options};
    int status = call->n == 1 ? find_formats(call->options, call->operands[0]) : slc_pet_one_list(COMMAND);
    status = status == SLC_CLI_GO_ON ? choose(&j) : status;
    status = status == SLC_CLI_GO_ON ? check_files(&j, call->operands) : status;
    status = status == SLC_CLI_GO_ON ? process(&j, call->operands[0]) : status;
    slc_io_pet_list_abandon(j.writer);
    slc_io_pet_sinogram_close(j.image);
    slc_pet_factors_close(j.factors);
    slc_columns_clear(&slc_pet_coincidences_schema, &j.pairs);
    if (j.has_geometry) { /* else it is the file's */
        slc_pet_geometry_clear(&j.geometry);
    }
    slc_io_pet_list_close(j.input);
    return status;
}

const slc_cli_command slc_cmd_pet_list = {
    .name = "pet list",
    .operands = "FILE",
    .summary = "tell what is in a list-mode file, convert it",
    .description =
        "Reads coincidences of a list-mode file to the end and counts them; with --to writes them in "
        "another\n"
        "format or as a sinogram. FILE is the header where there is one (castor, siemens), or the data.\n"
        "'-' is standard input, for formats of one file.\n" SLC_PET_REPLACES,
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .defaults = set_defaults,
    .act = act,
};
