/* SPDX-License-Identifier: Apache-2.0
 * --serve: the live page of a command. */
#include "cli_serve.h"
#include "cli_talk.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char *command;

/* The first line. Who else can read the file knows it. */
static int read_token(const slc_cli_command *of, const char *file, char *token, size_t size)
{
    struct stat is;
    FILE *in = fopen(file, "r");
    const size_t n = in != NULL ? fread(token, 1, size - 1, in) : 0;
    token[n] = '\0';
    const size_t line = strcspn(token, "\r\n");
    const char *wrong = in == NULL || ferror(in) != 0     ? strerror(errno)
                        : n == 0                          ? "it is empty"
                        : line < n && token[line] == '\0' ? "there is a byte of value 0 in it"
                                                          : NULL;
    if (wrong != NULL) {
        slc_cli_say(of->name, "%s: cannot read a token: %s", file, wrong);
        if (in != NULL) {
            (void)fclose(in);
        }
        return SLC_CLI_FAILED;
    }
    token[line] = '\0';
    if (fstat(fileno(in), &is) == 0 && (is.st_mode & (S_IRGRP | S_IROTH)) != 0) {
        slc_cli_say(of->name, "%s: others can read this token (chmod 600)", file);
    }
    (void)fclose(in);
    return SLC_CLI_GO_ON;
}

static void also(void *live, const char *line)
{
    slc_live_tell(live, line);
}

int slc_cli_serve_open(const slc_cli_call *call, const slc_cli_serve *options, bool quiet, slc_live **live)
{
    char token[1024];
    slc_live_config config;
    slc_error error = {.status = SLC_OK};
    *live = NULL;
    if (options->address == NULL) {
        const char *without = options->anywhere        ? "--serve-anywhere"
                              : options->token != NULL ? "--serve-token"
                              : options->hold          ? "--serve-hold"
                                                       : NULL;
        return without == NULL ? SLC_CLI_GO_ON : slc_cli_wrong(call->command, "%s needs --serve", without);
    }
    slc_live_config_default(&config);
    if (options->token != NULL) {
        const int status = read_token(call->command, options->token, token, sizeof token);
        if (status != SLC_CLI_GO_ON) {
            return status;
        }
        config.token = token;
    }
    command = call->command->name;
    config.address = options->address;
    config.anywhere = options->anywhere;
    config.command = command;
    config.title = call->command_line;
    const slc_status status = slc_live_open(&config, live, &error);
    memset(token, 0, sizeof token);
    if (status == SLC_ERR_USAGE || status == SLC_ERR_UNSUPPORTED) {
        return slc_cli_wrong(call->command, options->alone ? "--at: %s" : "--serve: %s", error.text);
    }
    if (status != SLC_OK) {
        slc_cli_say(command, options->alone ? "%s" : "--serve: %s; the work goes on without a page",
                    error.text);
        return options->alone ? SLC_CLI_FAILED : SLC_CLI_GO_ON;
    }
    if (!quiet) {
        slc_cli_say(command, "page: %s%s", slc_live_url(*live), options->token != NULL ? "#TOKEN" : "");
    }
    slc_cli_talk_also(also, *live);
    return SLC_CLI_GO_ON;
}

void slc_cli_serve_tell(slc_live *live)
{
    char line[512];
    while (slc_live_refused(live, line, sizeof line)) {
        slc_cli_say(command, "%s", line);
    }
}

void slc_cli_serve_close(const slc_cli_serve *options, slc_live *live)
{
    if (live == NULL) {
        return;
    }
    slc_cli_serve_tell(live);
    slc_cli_talk_also(NULL, NULL);
    if (options->hold && !slc_cli_cut() && !slc_cli_interrupted()) {
        slc_cli_say(command, "done; the page stays at %s until a signal", slc_live_url(live));
        (void)fflush(stdout);
        while (!slc_cli_interrupted()) {
            (void)nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
            slc_cli_serve_tell(live);
        }
        slc_cli_accept_signal();
    }
    slc_live_close(live);
}

/* ---- the page of a flow ------------------------------------------------------------------------ */

double slc_cli_page_patience(const slc_cli_page *page)
{
    return page->live != NULL ? 0.5 : 0;
}

int slc_cli_page_open(const slc_cli_call *call, const slc_cli_serve *options, bool quiet,
                      const slc_flow_chain *chain, const void *setup, slc_cli_page *page)
{
    slc_error error = {.status = SLC_OK};
    page->options = options;
    const int status = slc_cli_serve_open(call, options, quiet, &page->live);
    if (status == SLC_CLI_GO_ON &&
        slc_live_flow_open(page->live, chain, setup, &page->flow, &error) != SLC_OK) {
        slc_cli_say(call->command->name, "%s", error.text);
        return SLC_CLI_FAILED;
    }
    return status;
}

static void publish(const slc_cli_page *page, slc_live_state state, slc_flow *flow, const char *input,
                    const slc_live_flow_state *more)
{
    slc_flow_totals totals;
    slc_live_flow_state now = more != NULL ? *more : (slc_live_flow_state){.flow = NULL};
    if (flow != NULL) {
        slc_flow_totals_of(flow, &totals);
        now.flow = &totals;
    }
    now.input = input;
    (void)slc_live_flow_publish(page->flow, state, &now);
}

void slc_cli_page_tick(const slc_cli_page *page, slc_flow *flow, const char *input,
                       const slc_live_flow_state *more)
{
    if (slc_live_due(page->live)) {
        publish(page, slc_cli_interrupted() ? SLC_LIVE_ENDING : SLC_LIVE_RUNNING, flow, input, more);
        slc_cli_serve_tell(page->live);
    }
}

void slc_cli_page_close(slc_cli_page *page, int status, slc_flow *flow, const slc_live_flow_state *more)
{
    if (page->live != NULL) {
        publish(page, status == SLC_CLI_DONE ? SLC_LIVE_FINISHED : SLC_LIVE_FAILED, flow, NULL, more);
        slc_cli_serve_close(page->options, page->live);
    }
    slc_live_flow_close(page->flow);
    *page = (slc_cli_page){.live = NULL};
}
