/* SPDX-License-Identifier: Apache-2.0
 *
 * --serve: the live page of a command. A command has a row in its table, opens it before its work, publishes
 * between steps, and closes it after its files. What it complains of is on the page, too.
 */
#ifndef SLUICE_CLI_SERVE_H
#define SLUICE_CLI_SERVE_H

#include "cli_options.h"

#include <sluice/live.h>
#include <sluice/live_flow.h>

/* Goes into a command's options. */
typedef struct slc_cli_serve {
    const char *address; /* NULL: no page */
    const char *token;   /* the file that has it */
    bool anywhere, hold;
    bool alone; /* the page is all of the work */
} slc_cli_serve;

/* NOLINTBEGIN(bugprone-macro-parentheses): names of types and members. */
/* Rows of a command's table. */
#define SLC_CLI_SERVE(o, m)                                                                                  \
    {"serve", 0, TEXT(o, m.address), "ADDR:PORT",                                                            \
     "a live page at http://ADDR:PORT/, with /metrics for Prometheus; port 0: any"},                         \
        {"serve-anywhere", 0, FLAG(o, m.anywhere), NULL,                                                     \
         "allow addresses that other machines reach; needs --serve-token"},                                  \
        {"serve-token", 0, INPUT(o, m.token), "FILE", "who looks must show the first line of FILE"},         \
    {                                                                                                        \
        "serve-hold", 0, FLAG(o, m.hold), NULL, "after the work, go on serving until a signal"               \
    }
enum { SLC_CLI_SERVE_ROWS = 4 };
/* NOLINTEND(bugprone-macro-parentheses) */

/* Says where it is. SLC_CLI_GO_ON, or an exit status after a complaint about what was asked for; an address
 * that cannot be had is told, and leaves *live NULL: the work goes on. */
int slc_cli_serve_open(const slc_cli_call *call, const slc_cli_serve *options, bool quiet, slc_live **live);
/* Tells what was refused since. In the thread that talks, every second or so. */
void slc_cli_serve_tell(slc_live *live);
/* After all files, and the last snapshot: with --serve-hold waits for a signal. NULL is allowed. */
void slc_cli_serve_close(const slc_cli_serve *options, slc_live *live);

/* The page of a command that runs a flow; all of it does nothing without --serve. Zero-initialise. */
typedef struct slc_cli_page {
    const slc_cli_serve *options;
    slc_live *live;
    slc_live_flow *flow;
} slc_cli_page;
/* How long slc_flow_next may wait before a command looks after its page: slc_flow_config.patience. */
double slc_cli_page_patience(const slc_cli_page *page);
/* As slc_cli_serve_open. */
int slc_cli_page_open(const slc_cli_call *call, const slc_cli_serve *options, bool quiet,
                      const slc_flow_chain *chain, const void *setup, slc_cli_page *page);
/* Every now and then: publishes if it is time. `input`: which is being read, or NULL. `more`: what else is
 * known, or NULL; without `flow` its totals, too. */
void slc_cli_page_tick(const slc_cli_page *page, slc_flow *flow, const char *input,
                       const slc_live_flow_state *more);
/* The last numbers, of `flow` or, where it is NULL, those of `more`; then as slc_cli_serve_close. */
void slc_cli_page_close(slc_cli_page *page, int status, slc_flow *flow, const slc_live_flow_state *more);

#endif
