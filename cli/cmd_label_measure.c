/* SPDX-License-Identifier: Apache-2.0
 * `sluice label --labels`, and which features can be had with what else is asked for. */
#include "cli_words.h"
#include "cmd_label.h"

#define COMMAND (&slc_cmd_label)

static const uint32_t greys = SLC_IMAGE_GREY | SLC_IMAGE_SPREAD;

/* Labels are there already: what has to do with finding them would be ignored. */
int slc_label_check_labels(const slc_label_options *options)
{
    static const char *const others[] = {"threshold",  "inverse",       "min-area",   "max-area", "border",
                                         "simd",       "device-memory", "algorithm",  "device",   "stream",
                                         "equal",      "periodic",      "hysteresis", "local",    "mask",
                                         "fill-holes", "max-hole",      "split"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (slc_cli_word(COMMAND, others[i]) != NULL) {
            return slc_cli_wrong(COMMAND, "--labels does not go with --%s: the labels are there already",
                                 others[i]);
        }
    }
    if (slc_cli_word(COMMAND, "connectivity") != NULL &&
        (options->stats == NULL || (options->features & SLC_IMAGE_EULER) == 0)) {
        return slc_cli_wrong(COMMAND,
                             "--labels does not go with --connectivity: the labels are there already "
                             "(it is used with --stats and the feature euler alone)");
    }
    return SLC_CLI_GO_ON;
}

/* Where grey values come from. */
int slc_label_check_intensity(const slc_label_options *options, int n_inputs)
{
    const bool chosen = slc_cli_word(COMMAND, "features") != NULL;
    if (options->intensity != NULL && !options->labels && !options->volume) {
        return slc_cli_wrong(COMMAND, "--intensity needs --labels: the values of an image that is labelled "
                                      "are its own");
    }
    if (options->intensity != NULL && options->stats == NULL) {
        return slc_cli_wrong(COMMAND, "--intensity needs --stats, where its values go");
    }
    if (options->intensity != NULL && n_inputs > 1) {
        return slc_cli_wrong(COMMAND, "--intensity goes with one %s, not with %d",
                             options->volume ? "volume" : "label image", n_inputs);
    }
    if (options->intensity != NULL && chosen && options->filter == NULL && (options->features & greys) == 0) {
        return slc_cli_wrong(COMMAND, "--intensity is for the features grey and spread, which are not in "
                                      "--features");
    }
    if (options->labels && options->intensity == NULL && options->features != SLC_IMAGE_MEASURES &&
        (options->features & greys) != 0) {
        return slc_cli_wrong(COMMAND, "--features %s with --labels needs --intensity, an image of the values",
                             (options->features & SLC_IMAGE_GREY) != 0 ? "grey" : "spread");
    }
    return SLC_CLI_GO_ON;
}

/* Streams see no label image. */
static int check_stream(const slc_label_options *options)
{
    const char *word = options->filter != NULL ? "filter" : options->largest > 0 ? "largest" : NULL;
    if (options->stream && word != NULL) {
        return slc_cli_wrong(COMMAND, "--stream does not go with --%s, which needs the label image", word);
    }
    for (uint32_t flag = SLC_IMAGE_ALL + 1; flag <= SLC_IMAGE_MEASURES && options->stream; flag <<= 1) {
        if (options->features != SLC_IMAGE_MEASURES && (options->features & flag) != 0) {
            return slc_cli_wrong(COMMAND, "--stream has no feature '%s', which needs the label image",
                                 slc_image_feature_name(flag));
        }
    }
    return SLC_CLI_GO_ON;
}

int slc_label_check_measures(slc_label_job *job)
{
    const slc_label_options *options = job->options;
    const bool all = options->features == SLC_IMAGE_MEASURES;
    int status = options->labels ? slc_label_check_labels(options) : SLC_CLI_GO_ON;
    status = status == SLC_CLI_GO_ON ? slc_label_check_intensity(options, job->n_inputs) : status;
    status = status == SLC_CLI_GO_ON ? check_stream(options) : status;
    job->features = options->features;
    if (all && options->stream) {
        job->features = SLC_IMAGE_ALL;
    }
    if (all && options->labels && options->intensity == NULL) {
        job->features &= ~greys;
    }
    if (options->intensity != NULL && slc_cli_word(COMMAND, "features") == NULL) {
        job->features |= greys;
    }
    return status;
}
