/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice info`: decisions that travel with their events (docs/formats/decision-bank.md), by the selection
 * that made them.
 */
#include "cli_talk.h"
#include "cmd_info.h"

#include <inttypes.h>

static slc_info_selection *selection_of(slc_info_decisions *found, const slc_velo_decision *decision)
{
    for (uint32_t i = 0; i < found->n; i++) {
        if (found->of[i].names == decision->names && found->of[i].n_lines == decision->n_lines) {
            return &found->of[i];
        }
    }
    if (found->n == SLC_INFO_SELECTIONS) {
        return NULL;
    }
    found->of[found->n] = (slc_info_selection){.names = decision->names, .n_lines = decision->n_lines};
    return &found->of[found->n++];
}

void slc_info_decisions_take(slc_info_decisions *found, uint64_t event, const slc_lhcb_bank *bank)
{
    slc_velo_decision decision;
    const slc_status status = slc_velo_decision_read(bank, &decision);
    if (status == SLC_END) {
        return;
    }
    found->banks++;
    found->unknown += status == SLC_ERR_UNSUPPORTED;
    found->damaged += status == SLC_ERR_FORMAT;
    slc_info_selection *of = status == SLC_OK ? selection_of(found, &decision) : NULL;
    if (of == NULL) {
        found->others += status == SLC_OK;
        return;
    }
    /* An event that went through the same selection again has its decision twice. */
    if (of->banks == 0 || of->event != event) {
        of->event = event;
        of->events++;
        of->lines = 0;
    }
    of->banks++;
    const uint64_t more = decision.lines & ~of->lines;
    of->lines |= decision.lines;
    for (uint32_t k = 0; k < decision.n_lines; k++) {
        of->accepted[k] += more >> k & 1;
    }
}

bool slc_info_decisions_put(const slc_info_decisions *found, const char *path, slc_cli_tree *to)
{
    if (found->banks == 0) {
        return true;
    }
    slc_cli_put(to, "decisions.banks", found->banks);
    slc_cli_put(to, "decisions.damaged", found->damaged);
    slc_cli_put(to, "decisions.unknown_version", found->unknown);
    slc_cli_put(to, "decisions.other_selections", found->others);
    slc_cli_put_array(to, "decisions.selections");
    for (uint32_t i = 0; i < found->n; i++) {
        const slc_info_selection *of = &found->of[i];
        slc_cli_tree row = slc_cli_append(to, "decisions.selections");
        char text[16 * SLC_VELO_MAX_LINES];
        size_t used = 0;
        slc_cli_put_hex(&row, "names", of->names);
        slc_cli_put(&row, "lines", of->n_lines);
        slc_cli_put(&row, "events", of->events);
        slc_cli_put(&row, "banks", of->banks);
        slc_cli_put_counts(&row, "accepted", of->accepted, of->n_lines);
        for (uint32_t k = 0; k < of->n_lines && used + 24 < sizeof text; k++) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu64, k > 0 ? " " : "",
                                     of->accepted[k]);
        }
        slc_cli_put(&row, ".accepted", (const char *)text);
    }
    if (found->damaged > 0) {
        slc_cli_say("info", "%s: %" PRIu64 " of %" PRIu64 " banks with decisions are damaged", path,
                    found->damaged, found->banks);
    }
    if (found->unknown > 0) {
        slc_cli_say("info",
                    "%s: %" PRIu64 " of %" PRIu64 " banks with decisions are of a version that is not known",
                    path, found->unknown, found->banks);
    }
    return found->damaged == 0;
}

void slc_info_decisions_print(slc_cli_tree *of)
{
    static const slc_cli_column columns[] = {
        {"  decisions", -14, "", NULL}, {"selection", -18, "{names}", NULL},
        {"lines", 7, "{lines}", NULL},  {"events", 9, "{events}", NULL},
        {"banks", 9, "{banks}", NULL},  {"accepted by each", 0, "{.accepted}", NULL},
    };
    const slc_cli_tree decisions = slc_cli_inner(of, "decisions");
    slc_cli_print_table(&decisions, "selections", "  ", columns, sizeof columns / sizeof *columns);
}
