/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cluster tcp://HOST:PORT`, `tcp-listen://ADDR:PORT`, `udp://ADDR:PORT`: words of a readout as they
 * come, until a signal or the end of the connection.
 */
#include "cli_words.h"
#include "cmd_cluster.h"

#include <inttypes.h>
#include <string.h>

static const char *const prefixes[] = {"tcp://", "tcp-listen://", "udp://"};

static bool is_address(const char *input)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (strncmp(input, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* A signal is the ordinary end, so that results are not partial (slc_cli_stop). */
static bool is_over(void *context)
{
    (void)context;
    return slc_cli_interrupted();
}

static void on_note(void *context, const char *text)
{
    const slc_cluster_job *job = context;
    if (!job->options->quiet || strstr(text, " broke off") != NULL || strstr(text, " inside ") != NULL) {
        slc_cli_say("cluster", "%s: %s", job->inputs[0], text);
    }
}

int slc_cluster_choose_live(slc_cluster_job *job, const slc_cli_command *command)
{
    for (int i = 0; i < job->n_inputs; i++) {
        job->is_live = job->is_live || is_address(job->inputs[i]);
    }
    if (!job->is_live) {
        return SLC_CLI_GO_ON;
    }
    if (job->n_inputs > 1) {
        return slc_cli_wrong(command, "an input over the network is the only one, as it has no end");
    }
    if (job->options->part.n > 0) {
        return slc_cli_wrong(command, "--part is of files, and not of what comes over the network");
    }
    if (job->sorted) {
        return slc_cli_wrong(command, "--disorder all would wait for the end of what comes over the network");
    }
    job->live = (slc_io_pixels_live){.give_up = is_over, .tell = on_note, .context = job};
    job->setup.live = &job->live;
    return SLC_CLI_GO_ON;
}

void slc_cluster_live_notes(const slc_cluster_job *job, int i)
{
    const slc_io_pixels_counts *c = &job->done[i].counts;
    const char *input = job->inputs[i];
    if (!job->is_live) {
        return;
    }
    if (c->dropped > 0) {
        slc_cli_say("cluster",
                    "%s: the system had no room for %" PRIu64 " datagrams besides %" PRIu64
                    " that were received: words are lost (sudo sysctl net.core.rmem_max=67108864 makes room)",
                    input, c->dropped, c->datagrams);
    }
    if (c->broken_bytes > 0) {
        slc_cli_say("cluster", "%s: %" PRIu64 " bytes of words that were not whole were left out", input,
                    c->broken_bytes);
    }
}
