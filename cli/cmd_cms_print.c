/* SPDX-License-Identifier: Apache-2.0
 * What `sluice cms` prints: a table for people, or one JSON object. */
#include "cli_faults.h"
#include "cli_sums.h"
#include "cmd_cms.h"

#include <inttypes.h>
#include <jansson.h>

void slc_cms_print_text(const slc_cms_job *job)
{
    const slc_cms_totals *totals = &job->totals;
    const double seconds = slc_cli_sum(totals->seconds, SLC_CMS_STAGES);
    (void)printf("%-14s %" PRIu64 "\n", "events", totals->events);
    if (totals->lost_events > 0) {
        (void)printf("%-14s %" PRIu64 "\n", "lost events", totals->lost_events);
    }
    (void)printf("%-14s %" PRIu64 " (%" PRIu64 " empty, %" PRIu64 " errors, %" PRIu64 " invalid, %" PRIu64
                 " of bad chips)\n",
                 "words", totals->words.words, totals->words.empty, totals->words.errors,
                 totals->words.invalid, totals->words.bad_roc);
    (void)printf("%-14s %" PRIu64 " (%" PRIu64 " in dead, %" PRIu64 " in noisy columns)\n", "digis",
                 totals->words.digis, totals->columns.dead, totals->columns.noisy);
    if (totals->columns.beyond > 0) {
        (void)printf("%-14s %" PRIu64 " of modules that the gains do not have: in no cluster\n", "lost digis",
                     totals->columns.beyond);
    }
    (void)printf("%-14s %" PRIu64 " with digis\n", "modules", totals->modules);
    (void)printf("%-14s %" PRIu64 " above the charge cut, of %.2f pixels\n", "clusters", totals->clusters,
                 slc_cli_ratio((double)totals->pixels, (double)totals->clusters));
    slc_cli_print_faults(&totals->faults);
    (void)printf("%-14s %.3f s in the chain (%.1f Mdigi/s), %.3f s in all\n", "time", seconds,
                 slc_cli_ratio((double)totals->words.digis, seconds) * 1e-6, totals->seconds_total);
}

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *seconds_object(const slc_cms_totals *totals)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "decode", totals->seconds[SLC_CMS_STAGE_DECODE],
                     "calibrate", totals->seconds[SLC_CMS_STAGE_CALIBRATE], "cluster",
                     totals->seconds[SLC_CMS_STAGE_CLUSTER], "position",
                     totals->seconds[SLC_CMS_STAGE_POSITION], "total", totals->seconds_total);
}

bool slc_cms_print_json(const slc_cms_job *job)
{
    const slc_cms_totals *totals = &job->totals;
    const slc_cms_word_counts *words = &totals->words;
    char checksum[17];
    (void)snprintf(checksum, sizeof checksum, "%016" PRIx64, totals->checksum);
    json_t *counts = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "all", number(words->words), "empty",
                               number(words->empty), "errors", number(words->errors), "invalid",
                               number(words->invalid), "bad_roc", number(words->bad_roc), "digis",
                               number(words->digis));
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:s}", "events", number(totals->events),
        "lost_events", number(totals->lost_events), "words", counts, "dead_column_digis",
        number(totals->columns.dead), "noisy_column_digis", number(totals->columns.noisy),
        "digis_without_gains", number(totals->columns.beyond), "modules", number(totals->modules), "clusters",
        number(totals->clusters), "pixels", number(totals->pixels), "checksum", checksum, "faults",
        slc_cli_faults_json(&totals->faults), "seconds", seconds_object(totals), "device",
        job->options->device != NULL ? job->options->device : "cpu");
    return slc_cli_print_json("cms", object);
}
