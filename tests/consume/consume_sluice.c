/* SPDX-License-Identifier: Apache-2.0
 *
 * A user's program: simulates an event and finds its tracks, and calls into io, so that a dependency which
 * the package does not name shows when this is linked.
 */
#include <sluice/sluice.h>

#include <stdio.h>

static int failed(const char *what, slc_status status, const slc_error *error)
{
    if (status != SLC_OK) {
        fprintf(stderr, "%s: %s: %s\n", what, slc_status_name(status), error->text);
    }
    return status != SLC_OK;
}

static size_t count_tracks(const slc_batch *batch)
{
    slc_velo_config config;
    slc_velo_chain *chain = NULL;
    slc_velo_result result = {0};
    slc_error error = {SLC_OK, ""};
    size_t tracks = 0;
    slc_velo_config_default(&config);
    if (!failed("open", slc_velo_chain_open(&config, NULL, &chain, &error), &error) &&
        !failed("reserve", slc_velo_chain_reserve(chain, batch, &result, &error), &error) &&
        !failed("run", slc_velo_chain_run(chain, batch, &result, &error), &error)) {
        tracks = result.tracks.head.size;
    }
    slc_velo_result_clear(&result);
    slc_velo_chain_close(chain);
    return tracks;
}

/* What the headers promise: formats have names, and a file in a folder that is not there is an error. */
static bool formats_work(void)
{
    slc_io_writer *writer = NULL;
    slc_error error = {SLC_OK, ""};
    slc_io_images *images = NULL;
    const slc_status status = slc_io_results_create("/nonexistent-folder/result.h5", NULL, &writer, &error);
    if (slc_io_images_open("/nonexistent-folder/image.png", NULL, &images, &error) != SLC_ERR_IO) {
        return false;
    }
    return status == SLC_ERR_IO && writer == NULL && slc_io_format_at(0) != NULL;
}

int main(void)
{
    slc_sim_velo_config config;
    slc_sim_velo *sim = NULL;
    slc_batch batch = {0};
    slc_error error = {SLC_OK, ""};
    slc_sim_velo_config_default(&config);
    int wrong = failed("simulate", slc_sim_velo_open(&config, NULL, &sim, &error), &error) ||
                failed("event", slc_sim_velo_event(sim, 0, &batch, NULL, &error), &error);
    slc_sim_velo_close(sim);
    const size_t tracks = wrong ? 0 : count_tracks(&batch);
    slc_batch_clear(&batch);
    if (tracks == 0 || !formats_work()) {
        wrong = 1;
    }
    printf("libsluice %s: %zu tracks\n", slc_version(), tracks);
    (void)slc_cuda_devices(&error);
    printf("cuda: %s\n", slc_cuda_built(NULL) != NULL ? slc_cuda_built(NULL) : error.text);
    return wrong;
}
