/* SPDX-License-Identifier: Apache-2.0
 * What `sluice cms` prints: a table for people, or one JSON object. */
#include "cli_sums.h"
#include "cli_tree.h"
#include "cmd_cms.h"

#include <string.h>

#define TOTAL(member) FIELD(slc_cms_totals, member)
static const slc_cli_field fields[] = {
    {"events", TOTAL(events)},
    {"lost_events", TOTAL(lost_events)},
    {"words.all", TOTAL(words.words)},
    {"words.empty", TOTAL(words.empty)},
    {"words.errors", TOTAL(words.errors)},
    {"words.invalid", TOTAL(words.invalid)},
    {"words.bad_roc", TOTAL(words.bad_roc)},
    {"words.digis", TOTAL(words.digis)},
    {"dead_column_digis", TOTAL(columns.dead)},
    {"noisy_column_digis", TOTAL(columns.noisy)},
    {"digis_without_gains", TOTAL(columns.beyond)},
    {"modules", TOTAL(modules)},
    {"clusters", TOTAL(clusters)},
    {"pixels", TOTAL(pixels)},
};
static const slc_cli_field seconds[] = {
    {"decode", TOTAL(seconds[SLC_CMS_STAGE_DECODE])},
    {"calibrate", TOTAL(seconds[SLC_CMS_STAGE_CALIBRATE])},
    {"cluster", TOTAL(seconds[SLC_CMS_STAGE_CLUSTER])},
    {"position", TOTAL(seconds[SLC_CMS_STAGE_POSITION])},
    {"total", TOTAL(seconds_total)},
};

static const slc_cli_line lines[] = {
    {"events", "{events}", NULL},
    {"lost events", "{lost_events}", "lost_events"},
    {"words",
     "{words.all} ({words.empty} empty, {words.errors} errors, {words.invalid} invalid, {words.bad_roc} of "
     "bad "
     "chips)",
     NULL},
    {"digis", "{words.digis} ({dead_column_digis} in dead, {noisy_column_digis} in noisy columns)", NULL},
    {"lost digis", "{digis_without_gains} of modules that the gains do not have: in no cluster",
     "digis_without_gains"},
    {"modules", "{modules} with digis", NULL},
    {"clusters", "{clusters} above the charge cut, of {pixels/clusters|.2f} pixels", NULL},
    {"checksum", "{checksum}", NULL},
    {"faults", "{faults|list}", NULL},
    {"time",
     "{.chain|.3f} s in the chain ({words.digis/.chain*1e-6|.1f} Mdigi/s), {seconds.total|.3f} s in all",
     NULL},
};

bool slc_cms_print(const slc_cms_job *job)
{
    const slc_cms_totals *totals = &job->totals;
    slc_cli_tree tree = slc_cli_tree_new("cms");
    slc_cli_put_fields(&tree, "", fields, sizeof fields / sizeof *fields, totals);
    slc_cli_put(&tree, "partial", job->partial);
    slc_cli_put_hex(&tree, "checksum", totals->checksum);
    slc_cli_put_faults(&tree, "faults", &totals->faults);
    slc_cli_put_fields(&tree, "seconds", seconds, sizeof seconds / sizeof *seconds, totals);
    slc_cli_put(&tree, ".chain", slc_cli_sum(totals->seconds, SLC_CMS_STAGES));
    if (job->config.exec.device != NULL && strcmp(job->config.exec.device, "cpu") != 0) {
        slc_cli_put(&tree, "not_page_locked_bytes", totals->unlocked_bytes);
    }
    slc_cli_put(&tree, "device", job->options->device != NULL ? job->options->device : "cpu");
    return slc_cli_tree_tell(&tree, job->options->json, lines, sizeof lines / sizeof *lines);
}
