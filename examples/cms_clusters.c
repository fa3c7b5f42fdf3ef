/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens a file of events of CMS's pixels with its cabling and gains, finds the clusters of all events, and
 * prints how many there are and where the largest charge is.
 *
 *     cms_clusters run.cabling run.gains run.bin
 */
#include <sluice/sluice.h>

#include <inttypes.h>
#include <stdio.h>

typedef struct sums {
    uint64_t events, clusters;
    uint32_t charge_e; /* the largest */
    float x_um, y_um;  /* where that cluster is in its module */
    uint32_t module;
} sums;

static void add(const slc_cms_clusters *clusters, sums *s)
{
    s->events += clusters->head.n_events;
    s->clusters += clusters->head.size;
    for (size_t i = 0; i < clusters->head.size; i++) {
        if (clusters->charge_e[i] > s->charge_e) {
            s->charge_e = clusters->charge_e[i];
            s->x_um = clusters->x_um[i];
            s->y_um = clusters->y_um[i];
            s->module = clusters->module[i];
        }
    }
}

static slc_status run(slc_cms_chain *chain, const char *path, sums *s, slc_error *error)
{
    slc_io_source *source = NULL;
    slc_batch batch = {0};
    slc_cms_result result = {0};
    slc_faults faults = {0};
    slc_status status = slc_io_open(path, NULL, &source, error);
    while (status == SLC_OK) {
        status = slc_io_read_batch(source, 100, SIZE_MAX, &batch, &faults, error);
        if (status == SLC_OK) {
            status = slc_cms_chain_reserve(chain, &batch, &result, error);
        }
        if (status == SLC_OK) {
            status = slc_cms_chain_run(chain, &batch, &result, error);
        }
        if (status == SLC_OK) {
            add(&result.clusters, s);
        }
    }
    slc_cms_result_clear(&result);
    slc_batch_clear(&batch);
    slc_io_close(source);
    return status == SLC_END ? SLC_OK : status;
}

int main(int argc, char **argv)
{
    static slc_cms_cabling cabling; /* half a megabyte */
    if (argc != 4) {
        fprintf(stderr, "usage: %s CABLING GAINS EVENTS\n", argv[0]);
        return 2;
    }
    slc_cms_config config;
    slc_cms_gains gains = {0};
    slc_cms_chain *chain = NULL;
    slc_error error = {SLC_OK, ""};
    sums s = {0};

    slc_cms_config_default(&config, SLC_CMS_PHASE1);
    slc_status status = slc_io_read_cms_cabling(argv[1], &cabling, NULL, &error);
    if (status == SLC_OK) {
        status = slc_io_read_cms_gains(argv[2], &gains, NULL, &error);
    }
    if (status == SLC_OK) {
        status = slc_cms_chain_open(&config, &cabling, &gains, &chain, &error);
    }
    if (status == SLC_OK) {
        status = run(chain, argv[3], &s, &error);
    }
    if (status == SLC_OK) {
        printf("%" PRIu64 " events, %" PRIu64 " clusters; the largest charge, %" PRIu32
               " electrons, at (%.1f, %.1f) um in module %" PRIu32 "\n",
               s.events, s.clusters, s.charge_e, (double)s.x_um, (double)s.y_um, s.module);
    } else {
        fprintf(stderr, "%s: %s\n", slc_status_name(status), error.text);
    }
    slc_cms_chain_close(chain);
    slc_cms_gains_clear(&gains);
    return status == SLC_OK && s.clusters > 0 ? 0 : 1;
}
