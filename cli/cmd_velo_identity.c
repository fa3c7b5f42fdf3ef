/* SPDX-License-Identifier: Apache-2.0
 *
 * Which event is which: run, event and bunch crossing, the input, and the record in it, as columns of the
 * outputs; counted and kept in the order of the input.
 */
#include "cli_rows.h"
#include "cmd_velo.h"

#include <inttypes.h>

bool slc_velo_identity_take(slc_velo_job *job, const slc_flow_velo_result *result)
{
    const slc_lhcb_events *events = &result->events;
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
void slc_velo_tell_identity(const slc_velo_input *input, const char *path)
{
    const uint64_t header = input->identity_from[SLC_LHCB_IDENTITY_HEADER];
    const uint64_t none = input->identity_from[SLC_LHCB_IDENTITY_NONE];
    if (input->raw && header > 0) {
        slc_cli_say("velo",
                    "%s: %" PRIu64
                    " event%s without an ODIN bank that can be read: run, orbit (as event) and "
                    "bunch crossing are those of the record's header",
                    path, header, header == 1 ? "" : "s");
    }
    if (input->raw && none > 0) {
        slc_cli_say("velo", "%s: %" PRIu64 " event%s without run and event number", path, none,
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
