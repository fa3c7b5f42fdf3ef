/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice join`: the parts of a run (--part) as one file of results. It is done in a process of its own: of
 * files with damage in HDF5's own structures some end the process that reads them, whoever calls HDF5.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "cli_options.h"
#include "cli_talk.h"
#include "cli_tree.h"

#include <sluice/sluice.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct join_options {
    const char *output;
    bool copy, json, quiet;
} join_options;

#define O join_options
static const slc_cli_option table[] = {
    {"output", 'o', NEEDED | OUTPUT_AS(O, output, ENDS_OR(".hdf5", ".h5")), "FILE",
     "write the whole as HDF5: .h5"},
    {"copy", 0, FLAG(O, copy), NULL,
     "copy the rows; without it the file refers to the parts, which must stay where they are"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object instead of a table"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no table, only errors"},
};
#undef O

static bool print(const slc_io_joined *joined, const join_options *options)
{
    static const slc_cli_column columns[] = {
        {"group", 0, "{group}", NULL}, {"events", 12, "{events}", NULL}, {"rows", 14, "{rows}", NULL}};
    static const slc_cli_line head[] = {{NULL, "{parts} parts, {events} events in {output}{.how}\n", NULL}};
    slc_cli_tree tree = slc_cli_tree_new("join");
    slc_cli_put(&tree, "version", slc_version());
    slc_cli_put(&tree, "output", options->output);
    slc_cli_put(&tree, ".how", options->copy ? "" : ", which refers to them");
    slc_cli_put_bool(&tree, "copied", options->copy);
    slc_cli_put(&tree, "parts", joined->parts);
    slc_cli_put(&tree, "events", joined->events);
    slc_cli_put_array(&tree, "groups");
    for (size_t i = 0; i < joined->n_groups; i++) {
        slc_cli_tree row = slc_cli_append(&tree, "groups");
        slc_cli_put(&row, "group", (const char *)joined->group[i].name);
        slc_cli_put(&row, "events", joined->group[i].events);
        slc_cli_put(&row, "rows", joined->group[i].rows);
    }
    if (options->json) {
        return slc_cli_tree_print_json(&tree);
    }
    slc_cli_print_lines(&tree, "", head, 1);
    slc_cli_print_table(&tree, "groups", " ", columns, sizeof columns / sizeof *columns);
    slc_cli_tree_clear(&tree);
    return true;
}

/* What came of it, where both processes see it. */
typedef struct outcome {
    slc_io_joined joined;
    slc_error error;
    slc_status status;
    bool done;
} outcome;

static void join(const slc_cli_call *call, outcome *came)
{
    const join_options *options = call->options;
    came->status = slc_io_join((const char *const *)call->operands, (size_t)call->n, options->output,
                               options->copy, call->command_line, &came->joined, &came->error);
    came->done = true;
}

/* The other process has ended in the midst of it. */
static void tell_crash(const slc_cli_call *call, pid_t child, outcome *came)
{
    const join_options *options = call->options;
    char name[4096];
    if (snprintf(name, sizeof name, "%s.tmp-%ld", options->output, (long)child) < (int)sizeof name) {
        (void)unlink(name);
    }
    came->status = SLC_ERR_FORMAT;
    (void)snprintf(came->error.text, sizeof came->error.text, "%.300s: HDF5 crashes on it: it is damaged",
                   call->operands[came->joined.reading]);
}

/* False if there is no second process. */
static bool join_apart(const slc_cli_call *call, outcome *came)
{
    const pid_t parent = getpid();
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child < 0) {
        return false;
    }
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent) {
            join(call, came);
        }
        _exit(0);
    }
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!came->done) {
        tell_crash(call, child, came);
    }
    return true;
}

static int act(const slc_cli_call *call)
{
    const join_options *options = call->options;
    outcome own = {.done = false}, *came = &own;
    void *shared = mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    came = shared != MAP_FAILED ? shared : came;
    if (shared == MAP_FAILED || !join_apart(call, came)) {
        join(call, came);
    }
    if (came->status != SLC_OK) {
        slc_cli_say("join", "%s: no file was written", came->error.text);
        return SLC_CLI_FAILED;
    }
    return (options->quiet && !options->json) || print(&came->joined, options) ? SLC_CLI_DONE
                                                                               : SLC_CLI_FAILED;
}

const slc_cli_command slc_cmd_join = {
    .name = "join",
    .operands = "PART...",
    .summary = "join the results of the parts of a run",
    .description =
        "Makes one file of the HDF5 results of all parts of a run (--part of velo, cms, cluster, label), in\n"
        "any order. Every data set is that of one run over all inputs. Parts that are missing, there twice,\n"
        "interrupted, or of another run (options, inputs, version, number of parts) are refused by name, "
        "and\n"
        "nothing is written then.\n",
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .reads_operands = true,
    .act = act,
};
