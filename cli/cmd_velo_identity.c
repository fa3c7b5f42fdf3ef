/* SPDX-License-Identifier: Apache-2.0
 *
 * Which event is which: run, event and bunch crossing, the input, and the record in it, as columns of the
 * outputs. Found by the workers, since a walk over the banks of an event costs as much as its smallest stage;
 * counted and kept in the order of the input.
 */
#include "cli_rows.h"
#include "cmd_velo.h"

#include <inttypes.h>

static bool is_wanted(const slc_velo_job *job)
{
    return job->hdf5 != NULL || job->identity != NULL;
}

slc_status slc_velo_identify(const slc_velo_job *job, slc_velo_slot *slot)
{
    const uint32_t index = job->input.index;
    slc_lhcb_events *events = &slot->events;
    slc_status status = SLC_OK;
    if (job->input.raw && is_wanted(job)) {
        const uint32_t n = slot->batch.n_events;
        status = slc_columns_reserve(&slc_lhcb_events_schema, events, n > 0 ? n : 1, n);
        status = status == SLC_OK ? slc_lhcb_identity_run(&slot->batch, index, events, NULL) : status;
    }
    for (size_t i = 0; i < events->head.size && !job->input.raw; i++) {
        events->input[i] = index;
    }
    return status == SLC_OK
               ? SLC_OK
               : slc_fail(&slot->error, status, "identity of events: %s", slc_status_name(status));
}

bool slc_velo_identity_take(slc_velo_job *job, const slc_velo_slot *slot)
{
    const slc_lhcb_events *events = &slot->events;
    if (!is_wanted(job)) {
        return true;
    }
    for (size_t i = 0; i < events->head.size; i++) {
        job->input.identity_from[events->identity_from[i]]++;
        job->identity_from[events->identity_from[i]]++;
    }
    if (job->identity != NULL &&
        !slc_cli_json_append_columns(job->identity, &slc_lhcb_events_schema, events)) {
        slc_cli_say("velo", "no memory for identity");
        return false;
    }
    return true;
}

/* Also under --quiet: other numbers stand where a reader of the file expects ODIN's. Lists of hits never have
 * them. */
void slc_velo_tell_identity(const slc_velo_input *input)
{
    const uint64_t header = input->identity_from[SLC_LHCB_IDENTITY_HEADER];
    const uint64_t none = input->identity_from[SLC_LHCB_IDENTITY_NONE];
    if (input->raw && header > 0) {
        slc_cli_say("velo",
                    "%s: %" PRIu64
                    " event%s without an ODIN bank that can be read: run, orbit (as event) and "
                    "bunch crossing are those of the record's header",
                    input->path, header, header == 1 ? "" : "s");
    }
    if (input->raw && none > 0) {
        slc_cli_say("velo", "%s: %" PRIu64 " event%s without run and event number", input->path, none,
                    none == 1 ? "" : "s");
    }
}

void slc_velo_identity_put(slc_velo_job *job, slc_cli_tree *tree)
{
    if (job->identity == NULL) {
        return;
    }
    slc_cli_put_json(tree, "identity", job->identity);
    job->identity = NULL;
    for (int i = 0; i < job->n_inputs; i++) {
        slc_cli_append_text(tree, "identity.inputs", job->inputs[i]);
    }
    for (int i = 0; i < SLC_LHCB_IDENTITY_SOURCES; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "identity.events_from.%s",
                       slc_lhcb_identity_name((slc_lhcb_identity_from)i));
        slc_cli_put(tree, path, job->identity_from[i]);
    }
}
