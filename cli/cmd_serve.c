/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice serve`: the page of a finished file of results, until a signal.
 */
#include "cli_serve.h"
#include "cli_talk.h"
#include "cli_tree.h"

#include <sluice/sluice.h>

#include <stdio.h>
#include <time.h>

typedef struct serve_options {
    const char *address, *token;
    uint64_t seconds;
    bool anywhere, json, quiet;
} serve_options;

#define O serve_options
static const slc_cli_option table[] = {
    {"at", 0, TEXT(O, address), "ADDR:PORT", "where; port 0: any (default 127.0.0.1:8080)"},
    {"serve-anywhere", 0, FLAG(O, anywhere), NULL,
     "allow addresses that other machines reach; needs --serve-token"},
    {"serve-token", 0, INPUT(O, token), "FILE", "who looks must show the first line of FILE"},
    {"duration", 0, COUNT(O, seconds, 0, 1 << 30), "SECONDS", "end after so long; 0: at a signal"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object at the end: where it was, how long"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "do not say where, only errors and what was refused"},
};
#undef O

static void defaults(void *options)
{
    *(serve_options *)options = (serve_options){.address = "127.0.0.1:8080"};
}

/* The file has been read, which may take a while and a signal ends at once. */
static void begin(const serve_options *o, const char *url)
{
    slc_cli_catch_signals();
    if (!o->quiet) {
        slc_cli_note("serve", "page: %s%s", url, o->token != NULL ? "#TOKEN" : "");
    }
}

/* Until a signal, or the time is over. */
static bool serve(slc_live *live, slc_live_results *results, uint64_t seconds)
{
    const double began = slc_clock_seconds();
    bool good = true;
    while (!slc_cli_interrupted() && (seconds == 0 || slc_clock_seconds() - began < (double)seconds)) {
        good = slc_live_results_publish(results) && good;
        slc_cli_serve_tell(live);
        (void)nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    slc_cli_accept_signal();
    return good;
}

static bool print(const slc_cli_call *call, const char *url, double seconds)
{
    slc_cli_tree tree = slc_cli_tree_new("serve");
    slc_cli_put(&tree, "version", slc_version());
    slc_cli_put(&tree, "file", (const char *)call->operands[0]);
    slc_cli_put(&tree, "url", url);
    slc_cli_put(&tree, "seconds", seconds);
    return slc_cli_tree_print_json(&tree);
}

static int act(const slc_cli_call *call)
{
    const serve_options *o = call->options;
    const slc_cli_serve options = {
        .address = o->address, .token = o->token, .anywhere = o->anywhere, .alone = true};
    slc_live *live = NULL;
    slc_live_results *results = NULL;
    slc_error error = {.status = SLC_OK};
    char url[128] = "";
    const double began = slc_clock_seconds();
    int status = slc_cli_serve_open(call, &options, true, &live);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    (void)snprintf(url, sizeof url, "%s", slc_live_url(live));
    if (slc_live_results_open(live, call->operands[0], &results, &error) != SLC_OK) {
        slc_cli_say("serve", "%s", error.text);
        status = SLC_CLI_FAILED;
    } else {
        begin(o, url);
        status = serve(live, results, o->seconds) ? SLC_CLI_DONE : SLC_CLI_FAILED;
        if (status != SLC_CLI_DONE) {
            slc_cli_say("serve", "no memory for all of the page");
        }
    }
    slc_cli_serve_close(&options, live);
    slc_live_results_close(results);
    return status == SLC_CLI_DONE && o->json && !print(call, url, slc_clock_seconds() - began)
               ? SLC_CLI_FAILED
               : status;
}

const slc_cli_command slc_cmd_serve = {
    .name = "serve",
    .operands = "FILE",
    .summary = "show a file of results in a browser",
    .description = "Serves a page of finished results, HDF5 or Arrow, of velo, hlt1, cms, cluster, label or "
                   "pet: rows and\n"
                   "events, what each column holds, histograms, maps of columns that are places, and "
                   "attributes. It ends at\n"
                   "a signal, with exit status 0.\n",
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .min_operands = 1,
    .max_operands = 1,
    .reads_operands = true,
    .defaults = defaults,
    .act = act,
};
