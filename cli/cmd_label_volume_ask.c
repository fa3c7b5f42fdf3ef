/* SPDX-License-Identifier: Apache-2.0
 * Of `sluice label --volume`: what is asked for, and what is written of a component. */
#include "cli_words.h"
#include "cmd_label_mask.h"
#include "cmd_label_size.h"
#include "cmd_label_volume.h"
#include "cmd_label_words.h"

#include <string.h>

#define COMMAND (&slc_cmd_label)

/* ---- what is asked for ------------------------------------------------------------------------- */

/* Words that volumes do not have. */
static int check_words(const slc_label_options *options, int n_inputs)
{
    static const char *const others[] = {"preview", "device", "device-memory", "algorithm", "part"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (slc_cli_word(COMMAND, others[i]) != NULL) {
            return slc_cli_wrong(COMMAND, "--volume does not go with --%s", others[i]);
        }
    }
    const int labels = options->labels ? slc_label_check_labels(options) : SLC_CLI_GO_ON;
    if (labels != SLC_CLI_GO_ON) {
        return labels;
    }
    const char *word = options->threshold != NULL ? "--threshold"
                       : options->inverse         ? "--inverse"
                                                  : slc_label_mask_word(options);
    if (options->equal && word != NULL) {
        return slc_cli_wrong(COMMAND, "--equal does not go with %s", word);
    }
    word = options->output != NULL ? "--output"
           : options->threads != 1 ? "--threads"
           : options->largest > 0  ? "--largest"
                                   : NULL;
    if (options->stream && word != NULL) {
        return slc_cli_wrong(COMMAND, "--volume --stream does not go with %s", word);
    }
    if (options->split != NULL && options->periodic != NULL) {
        return slc_cli_wrong(COMMAND, "--split does not go with --periodic: distances end at the borders");
    }
    if (options->output != NULL && n_inputs > 1) {
        return slc_cli_wrong(COMMAND, "--volume writes the labels of one input, not of %d", n_inputs);
    }
    if (options->write_mask != NULL && n_inputs > 1) {
        return slc_cli_wrong(COMMAND, "--volume writes the mask of one input, not of %d", n_inputs);
    }
    if (options->output != NULL &&
        (slc_cli_ends_with(options->output, ".png") || slc_cli_ends_with(options->output, ".pgm"))) {
        return slc_cli_wrong(COMMAND, "--volume writes labels of 32 bits: .npy or .tif, not %s",
                             options->output);
    }
    if (options->stats == NULL && slc_cli_word(COMMAND, "features") != NULL) {
        return slc_cli_wrong(COMMAND, "--features needs --stats, where they go");
    }
    const int status = slc_label_check_intensity(options, n_inputs);
    return status == SLC_CLI_GO_ON
               ? slc_cli_results_check(COMMAND, "stats", false, options->stats, &options->results)
               : status;
}

/* Labels, and numbers of 64 bits, are no grey values. */
static uint32_t choose_all(const slc_label_options *options)
{
    const bool own = (options->equal || options->labels) && options->intensity == NULL;
    return own ? SLC_VOLUME_ALL : SLC_VOLUME_ALL | SLC_VOLUME_GREY | SLC_VOLUME_SPREAD;
}

/* Features have the names that they have of images; `area` is the volume. */
static int choose_features(const slc_label_options *options, uint32_t *features)
{
    static const uint32_t of[][2] = {
        {SLC_IMAGE_AREA, SLC_VOLUME_SIZE},     {SLC_IMAGE_BOX, SLC_VOLUME_BOX},
        {SLC_IMAGE_FIRST, SLC_VOLUME_FIRST},   {SLC_IMAGE_SUMS, SLC_VOLUME_SUMS},
        {SLC_IMAGE_SECOND, SLC_VOLUME_SECOND}, {SLC_IMAGE_CENTROID, SLC_VOLUME_CENTROID},
        {SLC_IMAGE_GREY, SLC_VOLUME_GREY},     {SLC_IMAGE_SPREAD, SLC_VOLUME_SPREAD}};
    uint32_t left = options->features == SLC_IMAGE_MEASURES
                        ? 0
                        : options->features & ~(uint32_t)SLC_IMAGE_LABEL; /* is written in any case */
    *features = options->features == SLC_IMAGE_MEASURES ? choose_all(options) : 0;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        *features |= (left & of[i][0]) != 0 ? of[i][1] : 0;
        left &= ~of[i][0];
    }
    for (uint32_t flag = 1; flag <= SLC_IMAGE_MEASURES; flag <<= 1) {
        if ((left & flag) != 0) {
            return slc_cli_wrong(COMMAND,
                                 "--volume has no feature '%s': area (the volume), box, first, sums, second, "
                                 "centroid, grey, spread, all",
                                 slc_image_feature_name(flag));
        }
    }
    if (options->intensity != NULL && slc_cli_word(COMMAND, "features") == NULL) {
        *features |= SLC_VOLUME_GREY | SLC_VOLUME_SPREAD;
    }
    return SLC_CLI_GO_ON;
}

/* Axes with commas between them, each at most once. */
static int choose_periodic(const char *text, uint32_t *periodic)
{
    static const char axes[] = "xyz";
    const char *at = text;
    do {
        const char *axis = *at != '\0' ? strchr(axes, *at) : NULL;
        const uint32_t bit = axis != NULL ? (uint32_t)1 << (axis - axes) : 0;
        if (bit == 0 || (*periodic & bit) != 0 || (at[1] != ',' && at[1] != '\0')) {
            return slc_cli_wrong(COMMAND, "--periodic takes x, y, z or several with commas, not '%s'", text);
        }
        *periodic |= bit;
        at += at[1] == ',' ? 2 : 1;
    } while (*at != '\0' || at[-1] == ',');
    return SLC_CLI_GO_ON;
}

/* Which components are kept. */
static int choose_kept(slc_volume_config *config, const slc_label_options *options)
{
    config->min_volume = options->min_area;
    config->max_volume = options->max_area != 0 ? options->max_area : UINT64_MAX;
    config->border = (slc_image_border)options->border;
    config->filter = options->filter;
    config->largest = (uint32_t)options->largest;
    return config->min_volume <= config->max_volume
               ? SLC_CLI_GO_ON
               : slc_cli_wrong(COMMAND, "--min-area %llu is more than --max-area %llu: nothing would be left",
                               (unsigned long long)config->min_volume,
                               (unsigned long long)config->max_volume);
}

static int choose_config(slc_label_volume_job *job, const slc_label_options *options)
{
    slc_volume_config *config = &job->config;
    slc_label_job *label = job->label;
    slc_volume_config_default(config);
    slc_image_label_config_default(&label->config);
    const uint64_t connectivity = slc_cli_word(COMMAND, "connectivity") != NULL ? options->connectivity : 26;
    if (connectivity != 6 && connectivity != 18 && connectivity != 26) {
        return slc_cli_wrong(COMMAND, "--connectivity takes 6, 18 or 26 with --volume, not '%llu'",
                             (unsigned long long)connectivity);
    }
    config->connectivity = (uint32_t)connectivity;
    config->equal = options->equal;
    config->inverse = options->inverse;
    if (slc_simd_choose(options->simd, &config->exec.target, &label->error) != SLC_OK) {
        return slc_cli_wrong(COMMAND, "%s", label->error.text);
    }
    config->exec.threads = (uint32_t)options->threads;
    int status = slc_label_mask_choose(label);
    config->threshold = label->config.threshold;
    if (status == SLC_CLI_GO_ON && options->periodic != NULL) {
        status = choose_periodic(options->periodic, &config->periodic);
    }
    status = status == SLC_CLI_GO_ON ? choose_kept(config, options) : status;
    return status == SLC_CLI_GO_ON && options->stats != NULL ? choose_features(options, &config->features)
                                                             : status;
}

/* ---- what is written --------------------------------------------------------------------------- */

static const struct {
    const char *from;
    size_t member;
    const char *name, *unit;
} becomes[SLC_LABEL_VOLUME_PHYSICAL] = {
    {"volume", offsetof(slc_volume_components, volume), "volume_um3", "um3"},
    {"x", offsetof(slc_volume_components, x), "x_um", "um"},
    {"y", offsetof(slc_volume_components, y), "y_um", "um"},
    {"z", offsetof(slc_volume_components, z), "z_um", "um"},
    {"weighted_x", offsetof(slc_volume_components, weighted_x), "weighted_x_um", "um"},
    {"weighted_y", offsetof(slc_volume_components, weighted_y), "weighted_y_um", "um"},
    {"weighted_z", offsetof(slc_volume_components, weighted_z), "weighted_z_um", "um"},
};

/* Places, then the features, or what is made of them. */
static void choose_columns(slc_label_volume_job *job)
{
    static const slc_column places[SLC_LABEL_PLACES] = {
        {"input", "index", offsetof(slc_label_volume_rows, input), SLC_TYPE_U32},
        {"page", "index", offsetof(slc_label_volume_rows, page), SLC_TYPE_U32},
        {"label", "index", offsetof(slc_label_volume_rows, label), SLC_TYPE_U32}};
    memcpy(job->columns, places, sizeof places);
    memcpy(job->place_columns, places, sizeof places);
    job->n_places = SLC_LABEL_PLACES;
    const slc_schema own = slc_volume_components_schema(job->config.features,
                                                        job->columns + SLC_LABEL_PLACES);
    const size_t n = own.n_columns + SLC_LABEL_PLACES;
    for (size_t i = SLC_LABEL_PLACES; i < n && job->label->options->pixel_size != NULL; i++) {
        for (size_t k = 0; k < SLC_LABEL_VOLUME_PHYSICAL; k++) {
            if (job->columns[i].member == becomes[k].member) {
                job->columns[i] = (slc_column){
                    becomes[k].name, becomes[k].unit,
                    offsetof(slc_label_volume_rows, physical) + k * sizeof(double *), SLC_TYPE_F64};
                job->place_columns[job->n_places++] = job->columns[i];
                break;
            }
        }
    }
    job->label->written = (slc_schema){"components", job->columns, n};
}

bool slc_label_volume_sizes(const slc_label_volume_job *job, const char *path,
                            const slc_label_volume_rows *rows)
{
    const slc_label_job *label = job->label;
    const slc_io_image_size *own = &job->stack.pixel;
    const bool told = label->pixel_x_um > 0;
    const double x = told ? label->pixel_x_um : own->x_um, y = told ? label->pixel_y_um : own->y_um;
    const double z = told ? label->pixel_z_um : own->z_um;
    const double factors[SLC_LABEL_VOLUME_PHYSICAL] = {x * y * z, x, y, z, x, y, z};
    if (label->options->pixel_size == NULL || rows->columns.head.size == 0) {
        return true;
    }
    if (!told && (own->from == NULL || !(z > 0))) {
        slc_cli_say("label", "%s: the file does not say how %s: --pixel-size X,Y,Z does, as 0.65,0.65,2um",
                    path, own->from == NULL ? "large a voxel is" : "far apart its slices are");
        return false;
    }
    for (size_t k = 0; k < SLC_LABEL_VOLUME_PHYSICAL; k++) {
        const void *from;
        memcpy(&from, (const char *)&rows->columns + becomes[k].member, sizeof from);
        for (size_t i = 0; rows->physical[k] != NULL && i < rows->columns.head.size; i++) {
            const double number = k == 0 ? (double)((const uint64_t *)from)[i] : ((const double *)from)[i];
            rows->physical[k][i] = number * factors[k];
        }
    }
    return true;
}

/* ---- all of it --------------------------------------------------------------------------------- */

int slc_label_volume_ask(slc_label_volume_job *job)
{
    const slc_label_options *options = job->label->options;
    int status = check_words(options, job->label->n_inputs);
    status = status == SLC_CLI_GO_ON ? choose_config(job, options) : status;
    status = status == SLC_CLI_GO_ON ? slc_label_size_choose(job->label) : status;
    if (status == SLC_CLI_GO_ON) {
        choose_columns(job);
    }
    return status;
}

int slc_label_volume_open(slc_label_volume_job *job)
{
    slc_error *error = &job->label->error;
    if (job->label->options->labels) { /* nothing is labelled */
        return SLC_CLI_GO_ON;
    }
    slc_volume_config config = job->config;
    config.equal = config.equal || job->label->setup.split != NULL; /* parts are labels already */
    const slc_status status = slc_volume_open(&config, &job->labeller, error);
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(COMMAND, "%s", error->text);
    }
    if (status != SLC_OK) {
        slc_cli_say("label", "%s", error->text);
    }
    return status == SLC_OK ? SLC_CLI_GO_ON : SLC_CLI_FAILED;
}
