/* SPDX-License-Identifier: Apache-2.0
 *
 * --gec-velo, --gec-ut, --gec-scifi and --gec-ut-scifi of `sluice velo`: how many events the global event cut
 * leaves out, and by which limit.
 */
#include "cmd_velo.h"

#include <inttypes.h>

/* In the order of the bits of event_cuts. */
static const char *const limits[SLC_VELO_GEC_LIMITS] = {"velo", "ut", "scifi", "ut_scifi"};
static const char *const options[SLC_VELO_GEC_LIMITS] = {"velo", "ut", "scifi", "ut-scifi"};
static const char *const detectors[SLC_VELO_GEC_LIMITS] = {"the VELO", "the UT", "the SciFi",
                                                           "the UT and the SciFi"};

static uint32_t limit_of(const slc_velo_job *job, int k)
{
    const slc_velo_gec_config *gec = &job->options->settings.gec;
    const uint32_t all[SLC_VELO_GEC_LIMITS] = {gec->max_velo, gec->max_ut, gec->max_scifi, gec->max_ut_scifi};
    return all[k];
}

bool slc_velo_gec_is_on(const slc_velo_job *job)
{
    bool any = false;
    for (int k = 0; k < SLC_VELO_GEC_LIMITS; k++) {
        any = any || limit_of(job, k) > 0;
    }
    return any;
}

static void add(slc_velo_gec *to, const slc_velo_event_cuts *cuts)
{
    for (size_t e = 0; e < cuts->head.size; e++) {
        const uint64_t of[SLC_VELO_GEC_LIMITS] = {cuts->velo_clusters[e], cuts->ut_clusters[e],
                                                  cuts->scifi_clusters[e],
                                                  (uint64_t)cuts->ut_clusters[e] + cuts->scifi_clusters[e]};
        for (int k = 0; k < SLC_VELO_GEC_LIMITS; k++) {
            to->by[k] += cuts->cut[e] >> k & 1;
            to->clusters[k] += of[k];
        }
        to->cut += cuts->cut[e] != 0;
        to->events++;
    }
}

void slc_velo_gec_take(slc_velo_job *job, const slc_flow_velo_result *result)
{
    if (slc_velo_gec_is_on(job) && result->raw) {
        add(&job->input.gec, &result->found.cuts);
        add(&job->totals.gec, &result->found.cuts);
    }
}

/* A cut that cannot cut is told: who gave it takes the events for small ones. */
void slc_velo_gec_tell(const slc_velo_job *job, const char *path)
{
    const slc_velo_gec *gec = &job->input.gec;
    if (slc_velo_gec_is_on(job) && !job->input.raw) {
        slc_cli_say("velo", "%s: its events came as hits: they have no banks for a global event cut", path);
        return;
    }
    for (int k = 0; k < SLC_VELO_GEC_LIMITS && gec->events > 0; k++) {
        if (limit_of(job, k) > 0 && gec->clusters[k] == 0) {
            slc_cli_say("velo",
                        "%s: --gec-%s cuts nothing: none of its %" PRIu64 " events has clusters of %s", path,
                        options[k], gec->events, detectors[k]);
        }
    }
}

void slc_velo_gec_put(const slc_velo_job *job, slc_cli_tree *tree)
{
    const slc_velo_gec *gec = &job->totals.gec;
    if (!slc_velo_gec_is_on(job)) {
        return;
    }
    slc_cli_tree to = slc_cli_inner(tree, "gec");
    slc_cli_put(&to, "events", gec->events);
    slc_cli_put(&to, "cut_events", gec->cut);
    for (int k = 0; k < SLC_VELO_GEC_LIMITS; k++) {
        slc_cli_tree of = slc_cli_inner(&to, limits[k]);
        slc_cli_put(&of, "limit", limit_of(job, k));
        slc_cli_put(&of, "cut_events", gec->by[k]);
        slc_cli_put(&of, "clusters", gec->clusters[k]);
    }
}
