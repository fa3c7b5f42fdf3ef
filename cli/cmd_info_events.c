/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice info --events`: which events a file of LHCb's has. They are printed as they are read, so that
 * neither their number nor the end of a pipe matters.
 */
#include "cli_options.h"
#include "cli_rows.h"
#include "cli_talk.h"
#include "cmd_info.h"

#include <inttypes.h>
#include <jansson.h>

typedef struct listing {
    slc_flow *flow;
    json_t *files;   /* NULL without --json */
    uint32_t headed; /* inputs that have their heading */
    bool any, failed;
} listing;

static void print_heading(listing *list, const slc_flow_item *item)
{
    if (list->headed <= item->input) {
        list->headed = item->input + 1;
        (void)printf("%s\n    record         run                event  bcid  crossing  trigger    type"
                     "      bytes  told by\n",
                     item->path);
    }
}

static void print_rows(listing *list, const slc_flow_item *item, const slc_lhcb_events *events)
{
    static const char *const crossings[] = {"none", "beam 1", "beam 2", "both"};
    print_heading(list, item);
    for (size_t i = 0; i < events->head.size; i++) {
        const slc_lhcb_identity_from from = (slc_lhcb_identity_from)events->identity_from[i];
        (void)printf("%10" PRIu64 "%12" PRIu32 "%21" PRIu64 "%6u  ", events->record[i], events->run[i],
                     events->event[i], events->bcid[i]);
        if (from == SLC_LHCB_IDENTITY_ODIN) {
            (void)printf("%8s%9u  0x%04x", crossings[events->crossing_type[i] & 3], events->trigger_type[i],
                         events->event_type[i]);
        } else {
            (void)printf("%8s%9s%8s", "-", "-", "-");
        }
        (void)printf("%11" PRIu32 "  %s\n", events->bytes[i], slc_lhcb_identity_name(from));
    }
}

static void take_batch(listing *list, const slc_flow_item *item)
{
    const slc_flow_velo_result *result = item->result;
    if (item->status < 0) {
        slc_cli_say("info", "%s", item->error.text);
        list->failed = true;
    } else if (list->files == NULL) {
        print_rows(list, item, &result->events);
    } else if (!slc_cli_json_rows(stdout, &slc_lhcb_events_schema, &result->events, NULL, &list->any)) {
        slc_cli_say("info", "%s: no memory for a row", item->path);
        list->failed = true;
    }
    (void)fflush(stdout);
}

static void take_end(listing *list, const slc_flow_item *item)
{
    if (item->status < 0) {
        slc_cli_say("info", "%s", item->error.text);
        list->failed = true;
    }
    if (item->totals.lost_events > 0) {
        slc_cli_say("info", "%s; %" PRIu64 " event%s lost, %" PRIu64 " read",
                    item->damage[0] != '\0' ? item->damage : item->path, item->totals.lost_events,
                    item->totals.lost_events == 1 ? "" : "s", item->totals.events);
        list->failed = true;
    }
    if (item->totals.incomplete_events > 0) {
        slc_cli_say("info", "%s; %" PRIu64 " of %" PRIu64 " events lack a source",
                    item->damage[0] != '\0' ? item->damage : item->path, item->totals.incomplete_events,
                    item->totals.events);
        list->failed = true;
    }
    if (list->files != NULL && item->opened) {
        (void)json_array_append_new(list->files,
                                    json_pack("{s:o, s:I, s:I}", "file", slc_cli_json_text(item->path),
                                              "events", (json_int_t)item->totals.events, "lost_events",
                                              (json_int_t)item->totals.lost_events));
    }
}

static slc_status go_through(listing *list, slc_error *error)
{
    slc_flow_item *item;
    slc_status status = SLC_OK;
    while (ferror(stdout) == 0 && (status = slc_flow_next(list->flow, &item, error)) == SLC_OK) {
        if (item->ended) {
            take_end(list, item);
        } else {
            take_batch(list, item);
        }
        slc_flow_release(list->flow, item);
    }
    return status;
}

int slc_info_list_events(char **inputs, int n, bool json)
{
    slc_error error = {SLC_OK, ""};
    slc_velo_config velo;
    slc_flow_config config;
    slc_velo_config_default(&velo);
    slc_flow_config_default(&config);
    config.paths = (const char *const *)inputs;
    config.n_paths = (uint32_t)n;
    config.exec.threads = 1;
    config.keep_going = true;
    const slc_flow_velo_setup setup = {.config = &velo, .identity = true, .identity_alone = true};
    listing list = {.files = json ? json_array() : NULL};
    slc_status status = slc_flow_open(&config, &slc_flow_velo, &setup, &list.flow, &error);
    if (status == SLC_OK && json) {
        (void)fputs("{\"events\":[", stdout);
    }
    status = status == SLC_OK ? go_through(&list, &error) : status;
    if (status < 0) {
        slc_cli_say("info", "%s", error.text);
    } else if (json) {
        (void)fputs(list.any ? "\n],\n\"files\":" : "],\n\"files\":", stdout);
        (void)json_dumpf(list.files, stdout, JSON_COMPACT);
        (void)fputs("}\n", stdout);
    }
    slc_flow_close(list.flow);
    json_decref(list.files);
    return status < 0 || list.failed ? SLC_CLI_FAILED : SLC_CLI_DONE;
}
