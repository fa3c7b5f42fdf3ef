/* SPDX-License-Identifier: Apache-2.0
 * Which event is which (cli_identity.h). */
#include "cli_identity.h"
#include "cli_rows.h"
#include "cli_talk.h"

#include <inttypes.h>
#include <jansson.h>

bool slc_cli_identity_keep(slc_cli_identity *identity)
{
    identity->columns = slc_cli_json_columns(&slc_lhcb_events_schema);
    return identity->columns != NULL;
}

void slc_cli_identity_clear(slc_cli_identity *identity)
{
    json_decref(identity->columns);
    identity->columns = NULL;
}

bool slc_cli_identity_take(slc_cli_identity *identity, slc_cli_identity_from of_input, const char *command,
                           const slc_lhcb_events *events)
{
    for (size_t i = 0; i < events->head.size; i++) {
        of_input[events->identity_from[i]]++;
        identity->from[events->identity_from[i]]++;
    }
    if (identity->columns != NULL &&
        !slc_cli_json_append_columns(identity->columns, &slc_lhcb_events_schema, events)) {
        slc_cli_say(command, "no memory for identity");
        return false;
    }
    return true;
}

/* Also under --quiet: other numbers stand where a reader of the file expects ODIN's. */
void slc_cli_identity_tell(const slc_cli_identity_from of_input, const char *command, const char *path)
{
    const uint64_t header = of_input[SLC_LHCB_IDENTITY_HEADER], none = of_input[SLC_LHCB_IDENTITY_NONE];
    if (header > 0) {
        slc_cli_say(command,
                    "%s: %" PRIu64
                    " event%s without an ODIN bank that can be read: run, orbit (as event) and "
                    "bunch crossing are those of the record's header",
                    path, header, header == 1 ? "" : "s");
    }
    if (none > 0) {
        slc_cli_say(command, "%s: %" PRIu64 " event%s without run and event number", path, none,
                    none == 1 ? "" : "s");
    }
}

void slc_cli_identity_put(slc_cli_identity *identity, slc_cli_tree *tree, char *const *inputs, int n_inputs)
{
    if (identity->columns == NULL) {
        return;
    }
    slc_cli_put_json(tree, "identity", identity->columns);
    identity->columns = NULL;
    for (int i = 0; i < n_inputs; i++) {
        slc_cli_append_text(tree, "identity.inputs", inputs[i]);
    }
    for (int i = 0; i < SLC_LHCB_IDENTITY_SOURCES; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "identity.events_from.%s",
                       slc_lhcb_identity_name((slc_lhcb_identity_from)i));
        slc_cli_put(tree, path, identity->from[i]);
    }
}
