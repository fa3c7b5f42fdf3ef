/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice pet look`: a picture of what is in the scanner, of a list of pairs (pet_look.h): for looking.
 */
#include "cli_talk.h"
#include "cli_words.h"
#include "cmd_pet_open.h"
#include "cmd_pet_run.h"

#include <sluice/pet_look.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_pet_look)

enum { AT_ONCE = 1 << 16 };

typedef struct look_options {
    slc_pet_frame_words frames; /* tables and scanner alone */
    const char *output, *image, *at, *tof, *device;
    int format;
    double voxel_mm, diameter_mm, length_mm;
    uint64_t iterations, threads;
    bool json, quiet;
} look_options;

static const slc_cli_choice png_ends = {.verb = "in", .words = (const char *const[]){".png", NULL}};
static const slc_cli_choice npy_ends = {.verb = "in", .words = (const char *const[]){".npy", NULL}};

#define O look_options
static const slc_cli_option options_table[] = {
    {"output", 'o', OUTPUT_AS(O, output, &png_ends), "FILE", "draw three slices (PNG)"},
    {"image", 0, OUTPUT_AS(O, image, &npy_ends), "FILE", "write all voxels (NPY: z, y, x of f32)"},
    {"format", 0, CHOICE(O, format, NAMES_FROM_1("format", slc_pet_list_format_name)), "FORMAT",
     "of FILE: castor safir siemens yrt gate hdf5 petsird; else by its end"},
    {"tables", 0, INPUT_AS(O, frames.tables, "the tables"), "FILE",
     "its scanner's tables (HDF5), of which the scanner alone is used"},
    {"scanner", 0, TEXT(O, frames.scanner), "NAME",
     "in place of --tables: its scanner, by name or in words; else as FILE says"},
    {"at", 0, TEXT(O, at), "X,Y,Z", "slices through that point, in mm (default: the hottest)"},
    {"iterations", 0, COUNT(O, iterations, 0, 1000), "N", "of MLEM; 0: the back-projection"},
    {"tof", 0, TEXT(O, tof), "TIME",
     "resolution (FWHM) of times of flight, 250ps, or none; else as FILE says"},
    {"voxel", 0, LENGTH(O, voxel_mm, SLC_CLI_POSITIVE, "a length, as 1mm"), "LENGTH",
     "of a voxel (default 5/16 of the crystals' pitch, or more)"},
    {"diameter", 0, LENGTH(O, diameter_mm, SLC_CLI_POSITIVE, "a length, as 80mm"), "LENGTH",
     "of the field of view (default two thirds of the way across)"},
    {"length", 0, LENGTH(O, length_mm, SLC_CLI_POSITIVE, "a length, as 40mm"), "LENGTH",
     "of the field of view (default the scanner's)"},
    {"device", 0, DEVICE(O, device), "WHICH", "cpu (the default), cuda or cuda:N"},
    {"threads", 0, COUNT(O, threads, 0, 64), "N",
     "0: one for each processor; the image does not depend on it"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "print nothing but errors and what was assumed"},
};
#undef O

static void set_defaults(void *at)
{
    *(look_options *)at = (look_options){.frames = SLC_PET_FRAME_WORDS, .iterations = 10, .threads = 1};
}

typedef struct job {
    const look_options *options;
    slc_pet_list_input list;
    slc_pet_look *look;
    slc_pet_look_image image;
    slc_pet_coincidences pairs;
    double at_mm[3], tof_ps, seconds;
    slc_pet_measured measured;
    bool reading, has_times; /* a pair's times are not the same */
    slc_error error;
} job;

/* ---- options ----------------------------------------------------------------------------------- */

static int choose(job *j)
{
    const look_options *o = j->options;
    double tof_ns = 0;
    if (o->output == NULL && o->image == NULL) {
        return slc_cli_wrong(COMMAND, "give --output or --image");
    }
    if (o->at != NULL && o->output == NULL) {
        return slc_cli_wrong(COMMAND, "--at is of the slices of --output");
    }
    if (o->tof != NULL && strcmp(o->tof, "none") != 0 && (!slc_cli_time(o->tof, &tof_ns) || tof_ns <= 0)) {
        return slc_cli_wrong(COMMAND, "--tof takes a time, as 250ps, or none, not '%s'", o->tof);
    }
    j->tof_ps = tof_ns * 1000;
    return o->at != NULL ? slc_pet_triple(COMMAND, "--at", o->at, j->at_mm) : SLC_CLI_GO_ON;
}

/* Times of flight: as given, or as the file says. */
static int settle_tof(job *j, const char *path, int format)
{
    const slc_io_pet_list_about *about = &j->list.about;
    const bool never = format == SLC_IO_PET_SAFIR || format == SLC_IO_PET_SIEMENS ||
                       (format == SLC_IO_PET_CASTOR && !about->tof);
    if (j->tof_ps > 0 && never) {
        return slc_cli_wrong(COMMAND, "--tof: %s has no times of flight", path);
    }
    if (j->options->tof == NULL && !never) {
        double tof_ns = about->tof_resolution_ps / 1000;
        if (!(tof_ns > 0)) {
            slc_pet_measured_tof(&j->measured, &j->list.tables, &tof_ns);
            slc_pet_measured_tell(&j->measured, "pet look", j->options->frames.tables);
        }
        j->tof_ps = tof_ns * 1000;
    }
    return SLC_CLI_GO_ON;
}

/* ---- work -------------------------------------------------------------------------------------- */

static slc_status open_look(job *j)
{
    const look_options *o = j->options;
    slc_pet_look_config config;
    slc_pet_look_config_default(&config);
    config.geometry = j->list.tables.geometry;
    config.voxel_mm = o->voxel_mm;
    config.diameter_mm = o->diameter_mm;
    config.length_mm = o->length_mm;
    config.iterations = (uint32_t)o->iterations;
    config.tof_fwhm_ps = j->tof_ps;
    config.exec.threads = (uint32_t)o->threads;
    config.exec.device = o->device;
    return slc_pet_look_open(&config, &j->look, &j->error);
}

/* Slices through a point that is in the field of view. */
static slc_status check_point(job *j)
{
    double diameter, length;
    slc_pet_look_field(j->look, &diameter, &length, NULL);
    const double *at = j->at_mm;
    return j->options->at == NULL || (hypot(at[0], at[1]) <= diameter / 2 && fabs(at[2]) <= length / 2)
               ? SLC_OK
               : slc_fail(
                     &j->error, SLC_ERR_USAGE,
                     "--at %s is outside of the field of view, %.4g mm across and %.4g mm long about the "
                     "middle: --diameter, --length",
                     j->options->at, diameter, length);
}

static slc_status read_pairs(job *j)
{
    slc_status status = SLC_OK;
    while (status == SLC_OK && !slc_cli_stop(NULL)) {
        slc_columns_reset(&j->pairs);
        status = slc_io_pet_list_read(j->list.list, AT_ONCE, &j->pairs, &j->error);
        for (size_t i = 0; i < j->pairs.head.size && !j->has_times; i++) {
            j->has_times = j->pairs.dt_ps[i] != 0;
        }
        status = status == SLC_OK ? slc_pet_look_add(j->look, &j->pairs, &j->error) : status;
    }
    return status == SLC_END ? SLC_OK : status;
}

static slc_status draw(job *j)
{
    const look_options *o = j->options;
    const double smooth_mm = j->list.tables.geometry.pitch_z_mm;
    char title[160], how[64], note[128];
    if (j->tof_ps > 0) {
        (void)snprintf(how, sizeof how, "times of flight of %.4g ps", j->tof_ps);
    } else {
        (void)snprintf(how, sizeof how, "no times of flight");
    }
    if (o->iterations > 0) {
        (void)snprintf(title, sizeof title, "%" PRIu64 " pairs, %" PRIu64 " iterations of MLEM, %s",
                       j->image.used, o->iterations, how);
    } else {
        (void)snprintf(title, sizeof title, "%" PRIu64 " pairs, back-projection, %s", j->image.used, how);
    }
    (void)snprintf(note, sizeof note,
                   "for looking: sensitivity of the geometry, no other correction; drawn smoothed by %.3g mm",
                   smooth_mm);
    const slc_report_pet_look picture = {
        .image = &j->image,
        .at_mm = {j->at_mm[0], j->at_mm[1], j->at_mm[2]},
        .title = title,
        .smooth_mm = smooth_mm,
        .note = note,
        .unit = o->iterations > 0 ? "pairs of a voxel" : "lines through a voxel",
    };
    return slc_report_pet_look_png(o->output, &picture, &j->error);
}

static slc_status write_image(job *j)
{
    slc_io_writer *writer = NULL;
    const slc_pet_look_image *i = &j->image;
    slc_status status = slc_io_image_writer_open(j->options->image, false, &writer, &j->error);
    for (size_t z = 0; z < i->n[2] && status == SLC_OK; z++) {
        const slc_image page = {.pixels = i->value + z * i->n[0] * i->n[1],
                                .width = i->n[0],
                                .height = i->n[1],
                                .stride = (ptrdiff_t)(i->n[0] * sizeof *i->value),
                                .type = SLC_IMAGE_F32};
        status = slc_io_image_writer_add(writer, &page, &j->error);
    }
    if (status == SLC_OK) {
        return slc_io_finish(writer, &j->error);
    }
    slc_io_abandon(writer);
    return status;
}

static slc_status make(job *j)
{
    const look_options *o = j->options;
    slc_status status = open_look(j);
    status = status == SLC_OK ? check_point(j) : status;
    if (status != SLC_OK) {
        return status;
    }
    j->reading = true;
    status = read_pairs(j);
    if (status == SLC_OK && slc_cli_stop(NULL)) {
        return slc_fail(&j->error, SLC_ERR_FORMAT, "interrupted: nothing is written");
    }
    const double began = slc_clock_seconds();
    status = status == SLC_OK ? slc_pet_look_run(j->look, &j->image, &j->error) : status;
    j->seconds = slc_clock_seconds() - began;
    if (status != SLC_OK) {
        return status;
    }
    if (j->image.missed == j->image.used) {
        return slc_fail(&j->error, SLC_ERR_FORMAT, "none of %" PRIu64 " lines is in the field of view",
                        j->image.used);
    }
    if (o->at == NULL) {
        memcpy(j->at_mm, j->image.hottest_mm, sizeof j->at_mm);
    }
    status = o->output != NULL ? draw(j) : SLC_OK;
    return status == SLC_OK && o->image != NULL ? write_image(j) : status;
}

/* ---- the end ----------------------------------------------------------------------------------- */

static void put_point(slc_cli_tree *tree, const char *name, const double at[3])
{
    slc_cli_tree inner = slc_cli_inner(tree, name);
    slc_cli_put(&inner, "x", at[0]);
    slc_cli_put(&inner, "y", at[1]);
    slc_cli_put(&inner, "z", at[2]);
}

static bool tell(const job *j)
{
    static const slc_cli_line lines[] = {
        {"pairs", "{pairs}, {missed} beside the field of view; {delayeds} delayed ones are left out", NULL},
        {"voxels", "{voxels.x} x {voxels.y} x {voxels.z} of {voxel_mm} mm", NULL},
        {"made by",
         "[iterations|{iterations} iterations of MLEM][!iterations|back-projection], "
         "[tof_ps|times of flight of {tof_ps|.4g} ps][!tof_ps|no times of flight]; for looking",
         NULL},
        {"hottest",
         "({hottest_mm.x|.2f}, {hottest_mm.y|.2f}, {hottest_mm.z|.2f}) mm; the middle of what is within "
         "{reach_mm|.3g} mm of it is ({centroid_mm.x|.3f}, {centroid_mm.y|.3f}, {centroid_mm.z|.3f}) mm",
         NULL},
        {"checksum", "{checksum}", NULL},
        {"time", "{seconds|.3f} s on {device}", NULL},
    };
    const look_options *o = j->options;
    const slc_pet_look_image *i = &j->image;
    const double n[3] = {i->n[0], i->n[1], i->n[2]};
    slc_cli_tree tree = slc_cli_tree_new("pet look");
    slc_cli_put(&tree, "command", "pet look");
    slc_cli_put(&tree, "pairs", i->used);
    slc_cli_put(&tree, "delayeds", i->delayeds);
    slc_cli_put(&tree, "outside", i->outside + j->list.about.no_crystal);
    slc_cli_put(&tree, "no_tof", j->list.about.no_tof);
    slc_cli_put(&tree, "missed", i->missed);
    slc_cli_put(&tree, "iterations", o->iterations);
    slc_cli_put(&tree, "tof_ps", j->tof_ps);
    slc_pet_measured_put(&j->measured, &tree);
    if (j->list.about.moved[0] != '\0') {
        slc_cli_put(&tree, "moved", (const char *)j->list.about.moved);
    }
    slc_cli_tree voxels = slc_cli_inner(&tree, "voxels");
    slc_cli_put(&voxels, "x", (uint64_t)n[0]);
    slc_cli_put(&voxels, "y", (uint64_t)n[1]);
    slc_cli_put(&voxels, "z", (uint64_t)n[2]);
    slc_cli_put(&tree, "voxel_mm", i->voxel_mm);
    put_point(&tree, "first_mm", i->first_mm);
    put_point(&tree, "hottest_mm", i->hottest_mm);
    put_point(&tree, "centroid_mm", i->centroid_mm);
    slc_cli_put(&tree, "reach_mm", i->reach_mm);
    slc_cli_put(&tree, "largest", i->largest);
    slc_cli_put_hex(&tree, "checksum", i->checksum);
    slc_cli_put(&tree, "device", o->device != NULL ? o->device : "cpu");
    slc_cli_put(&tree, "seconds", j->seconds);
    const bool printed = !o->json || slc_cli_tree_print_json(&tree);
    if (!o->json && !o->quiet) {
        slc_cli_print_lines(&tree, "", lines, sizeof lines / sizeof *lines);
    }
    slc_cli_tree_clear(&tree);
    return printed;
}

/* Times that are there and not used, and those that are used and not there. */
static void tell_times(const job *j, const char *path)
{
    if (j->has_times && j->tof_ps <= 0 && j->options->tof == NULL) {
        slc_cli_say("pet look",
                    "%s has times of flight, which are not used, as it does not tell their resolution: --tof "
                    "gives it",
                    path);
    }
    if (!j->has_times && j->tof_ps > 0) {
        slc_cli_say("pet look",
                    "%s: no pair has a time of flight: all are taken to be in the middle of lines", path);
    }
}

static int process(job *j, char *path)
{
    const look_options *o = j->options;
    const int format = slc_pet_list_format_of(o->format, path);
    int status = slc_pet_files_check(COMMAND, o, &path, 1);
    status = status == SLC_CLI_GO_ON ? slc_pet_list_kept(COMMAND, o, path, format) : status;
    status = status == SLC_CLI_GO_ON ? slc_pet_list_input_open(COMMAND, path, format, &o->frames, &j->list)
                                     : status;
    status = status == SLC_CLI_GO_ON ? settle_tof(j, path, format) : status;
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    slc_cli_catch_signals();
    const slc_status made = make(j);
    if (made == SLC_ERR_USAGE && !j->reading) {
        return slc_cli_wrong(COMMAND, "%s", j->error.text);
    }
    if (made != SLC_OK) {
        slc_cli_say("pet look", "%s: %s", path, j->error.text);
        return SLC_CLI_FAILED;
    }
    const bool many = slc_pet_list_input_tell(COMMAND, path, &j->list);
    tell_times(j, path);
    return tell(j) && !many ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

static int act(const slc_cli_call *call)
{
    job j = {.options = call->options};
    int status = call->n == 1 ? choose(&j) : slc_pet_one_list(COMMAND);
    status = status == SLC_CLI_GO_ON ? process(&j, call->operands[0]) : status;
    slc_pet_look_close(j.look);
    slc_pet_list_input_close(&j.list);
    slc_columns_clear(&slc_pet_coincidences_schema, &j.pairs);
    return status;
}

const slc_cli_command slc_cmd_pet_look = {
    .name = "pet look",
    .operands = "FILE",
    .summary = "draw what is in the scanner, of a list of pairs",
    .description =
        "Makes an image of a list-mode file, for looking: list-mode MLEM or a back-projection, with times "
        "of\n"
        "flight where the file has them, and no correction but the geometry's sensitivity. Draws three "
        "slices\n"
        "through the hottest point or one of yours.\n" SLC_PET_REPLACES,
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .defaults = set_defaults,
    .act = act,
};
