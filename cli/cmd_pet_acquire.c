/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice pet acquire`: datagrams of frames from the network into raw files, and live to singles and
 * coincidences. Raw data come first: where an output of the live chain fails, that is told, and the
 * acquisition goes on.
 */
#include "cmd_pet_acquire.h"
#include "cli_words.h"
#include "cmd_pet_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND (&slc_cmd_pet_acquire)

#define TEXT(name_, member_, value_, help_)                                                                  \
    {                                                                                                        \
        .name = (name_), .value = (value_), .kind = SLC_CLI_TEXT,                                            \
        .member = offsetof(slc_pet_acquire_options, member_), .help = (help_)                                \
    }
#define COUNT(name_, member_, low_, high_, help_)                                                            \
    {                                                                                                        \
        .name = (name_), .value = "N", .kind = SLC_CLI_COUNT,                                                \
        .member = offsetof(slc_pet_acquire_options, member_), .low = (low_), .high = (high_),                \
        .help = (help_)                                                                                      \
    }
#define FLAG(name_, member_, help_)                                                                          \
    {                                                                                                        \
        .name = (name_), .kind = SLC_CLI_FLAG, .member = offsetof(slc_pet_acquire_options, member_),         \
        .help = (help_)                                                                                      \
    }

static const slc_cli_option table[] = {
    {.name = "listen",
     .value = "ADDR:PORT",
     .kind = SLC_CLI_TEXTS,
     .member = offsetof(slc_pet_acquire_options, listen),
     .required = true,
     .help = "where datagrams come to; again, or with commas, for more sockets"},
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_pet_acquire_options, output),
     .help = "write what comes to this raw file"},
    TEXT("duration", duration, "TIME", "end after 60s, 500ms; otherwise by a signal: Ctrl-C, SIGTERM"),
    COUNT("frames", most_frames, 0, 1e18, "end when so many frames are there; 0: any number"),
    TEXT("rotate-size", rotate_size, "SIZE", "begin another file (FILE.0001...) at 4G, 500M (1G is 2^30)"),
    TEXT("rotate-time", rotate_time, "TIME", "begin another file after 600s"),
    FLAG("sync", sync, "wait for the disk at each write"),
    FLAG("replace", replace, "overwrite FILE, and what followed it in its acquisition"),
    COUNT("header-bytes", header_bytes, 0, 1024, "bytes before the frames of a datagram"),
    TEXT("sequence", sequence, "AT:BYTES", "a counter of 4 or 8 bytes stands at this byte; :big at its end"),
    TEXT("ring", ring, "SIZE", "memory between sockets and disk (default 256M; k, M, G: powers of 1024)"),
    TEXT("socket-buffer", socket_buffer, "SIZE", "room in the system for each socket (default 64M)"),
    SLC_PET_FRAME_OPTIONS(slc_pet_acquire_options),
    SLC_PET_PROMPT_OPTIONS(slc_pet_acquire_options),
    TEXT("delayed", delayed, "TIME", "find delayed pairs, too, whose windows begin so late: 100ns"),
    TEXT("horizon", horizon, "TIME", "how far behind the latest time a single may come (default 1ms)"),
    TEXT("singles", singles, "FILE", "write the sorted singles, live"),
    TEXT("coincidences", coincidences, "NAME", "write the coincidences, live"),
    TEXT("format", format, "FORMAT", "castor, safir, siemens, yrt, gate, hdf5 or csv; else by NAME's end"),
    FLAG("prompts", prompts, "write prompts alone: castor and yrt have no delayeds"),
    COUNT("threads", threads, 0, 64, "of the live chain; 0: one for each processor"),
    FLAG("progress", progress, "a line of numbers each second, though nobody is watching"),
    FLAG("json", json, "print one JSON object instead of a table"),
    {.name = "quiet",
     .letter = 'q',
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_pet_acquire_options, quiet),
     .help = "print nothing but errors"},
};

static void set_defaults(void *at)
{
    *(slc_pet_acquire_options *)at = (slc_pet_acquire_options){.frames = {.tick_bits = 64}, .threads = 1};
}

/* ---- words ------------------------------------------------------------------------------------- */

/* "500M": k, M and G are powers of 1024. */
static int size_word(const char *option, const char *text, uint64_t *bytes)
{
    static const char units[] = "kMG";
    char *end = NULL;
    if (text == NULL) {
        return SLC_CLI_GO_ON;
    }
    const unsigned long long n = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    const char *unit = end != NULL && *end != '\0' ? strchr(units, *end) : NULL;
    const int shift = unit != NULL ? 10 * (int)(unit - units + 1) : 0;
    if (end == NULL || (*end != '\0' && (unit == NULL || end[1] != '\0')) || n == 0 || n > 1ULL << 30) {
        return slc_cli_wrong(COMMAND, "--%s takes a size, as 500M or 4G, not '%s'", option, text);
    }
    *bytes = n << shift;
    return SLC_CLI_GO_ON;
}

static int seconds_word(const char *option, const char *text, double *seconds)
{
    double ns = 0;
    if (text != NULL && (!slc_pet_time_word(text, &ns) || ns <= 0)) {
        return slc_cli_wrong(COMMAND, "--%s takes a time, as 60s, not '%s'", option, text);
    }
    *seconds = ns * 1e-9;
    return SLC_CLI_GO_ON;
}

/* "0:8", "4:4:big". */
static int sequence_word(slc_pet_acquire_job *job)
{
    const slc_pet_acquire_options *o = job->options;
    slc_io_pet_payload *p = &job->config.raw.payload;
    p->header_bytes = (uint32_t)o->header_bytes;
    if (o->sequence == NULL) {
        return SLC_CLI_GO_ON;
    }
    char *end = NULL;
    const char *text = o->sequence;
    const unsigned long at = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    const bool colon = end != NULL && end[0] == ':' && (end[1] == '4' || end[1] == '8');
    const char *order = colon ? end + 2 : "?";
    if (!colon || at > 1024 || (strcmp(order, "") != 0 && strcmp(order, ":big") != 0)) {
        return slc_cli_wrong(COMMAND,
                             "--sequence takes a place and 4 or 8 bytes, as 0:8 or 4:4:big, not '%s'", text);
    }
    p->sequence_at = (uint32_t)at;
    p->sequence_bytes = (uint32_t)(end[1] - '0');
    p->sequence_big_endian = order[0] == ':';
    if (o->header_bytes == 0) { /* the counter is all there is */
        p->header_bytes = p->sequence_at + p->sequence_bytes;
    }
    return SLC_CLI_GO_ON;
}

static int listen_words(slc_pet_acquire_job *job)
{
    const slc_cli_texts *texts = &job->options->listen;
    for (uint32_t i = 0; i < texts->n; i++) {
        const char *rest = texts->word[i];
        char word[SLC_PET_ADDRESS];
        while (slc_cli_next_word(&rest, word, sizeof word)) {
            const uint32_t n = job->config.n_listen;
            if (n == SLC_RUN_PET_SOCKETS) {
                return slc_cli_wrong(COMMAND, "--listen: %d sockets at most", (int)SLC_RUN_PET_SOCKETS);
            }
            memcpy(job->word[n], word, sizeof word);
            job->config.listen[n] = job->word[n];
            job->config.n_listen++;
        }
    }
    return SLC_CLI_GO_ON;
}

static int choose_format(slc_pet_acquire_job *job)
{
    const slc_pet_acquire_options *o = job->options;
    if (o->coincidences == NULL) {
        return o->format == NULL && !o->prompts
                   ? SLC_CLI_GO_ON
                   : slc_cli_wrong(COMMAND, "--format and --prompts are of --coincidences");
    }
    int format = SLC_PET_RUN_FORMATS;
    if (o->format == NULL) {
        format = slc_pet_run_format_of(o->coincidences);
    } else {
        for (int i = SLC_PET_RUN_FORMATS; i-- > 0;) {
            format = strcmp(o->format, slc_pet_run_format_name((size_t)i)) == 0 ? i : format;
        }
    }
    if (format == SLC_PET_RUN_FORMATS && o->format == NULL) {
        return slc_cli_wrong(COMMAND, "the end of --coincidences %s tells no format: give --format",
                             o->coincidences);
    }
    if (format == SLC_PET_RUN_FORMATS) {
        return slc_cli_unknown(COMMAND, "format", o->format, NULL, slc_pet_run_format_name, NULL);
    }
    if (o->delayed != NULL && !o->prompts && !slc_pet_run_format_has_delayeds(format)) {
        return slc_cli_wrong(COMMAND, "%s has no delayeds: add --prompts, or leave out --delayed",
                             slc_pet_run_format_name((size_t)format));
    }
    job->run.format = format;
    return SLC_CLI_GO_ON;
}

static bool has_chain_words(const slc_pet_acquire_options *o)
{
    const slc_pet_frame_words *f = &o->frames;
    const slc_pet_coincidence_words *w = &o->words;
    const char *const words[] = {f->tables,  f->scanner, f->ticks,  w->window,   w->windows,
                                 w->edge,    w->compat,  w->policy, w->energies, w->good,
                                 o->delayed, o->horizon, o->format};
    bool any = o->prompts || o->threads != 1 || f->tick_bits != 64;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        any = any || words[i] != NULL;
    }
    return any;
}

/* The chain, if anything is wanted of it. */
static int choose_chain(slc_pet_acquire_job *job)
{
    const slc_pet_acquire_options *o = job->options;
    slc_pet_config *c = &job->run.config;
    if (o->singles == NULL && o->coincidences == NULL) {
        return has_chain_words(o)
                   ? slc_cli_wrong(COMMAND, "nothing is found without --singles or --coincidences")
                   : SLC_CLI_GO_ON;
    }
    slc_pet_coincidence_words words = o->words;
    words.energies = NULL; /* cut when frames are converted: the pairs are the same */
    slc_pet_config_default(c);
    int status = slc_pet_coincidence_config_of(COMMAND, &words, &c->prompt);
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_convert_config_of(COMMAND, &o->frames, o->words.energies, &c->convert);
    }
    if (status == SLC_CLI_GO_ON && o->delayed != NULL &&
        (!slc_pet_time_word(o->delayed, &c->delay_ns) || c->delay_ns <= 0)) {
        return slc_cli_wrong(COMMAND, "--delayed takes a time, as 100ns, not '%s'", o->delayed);
    }
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_horizon_word(COMMAND, o->horizon, &c->sort.horizon_ps);
    }
    status = status == SLC_CLI_GO_ON ? choose_format(job) : status;
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_tables_of(COMMAND, &o->frames, &job->run.tables, &job->run.owned);
    }
    c->delayed = o->delayed != NULL;
    c->keep_singles = true;
    c->threads = (uint32_t)o->threads;
    job->config.chain = c;
    job->config.tables = &job->run.tables;
    job->run_options = (slc_pet_run_options){.frames = o->frames,
                                             .words = o->words,
                                             .delayed = o->delayed,
                                             .output = o->coincidences,
                                             .singles = o->singles,
                                             .prompts = o->prompts};
    job->run.options = &job->run_options;
    job->run.command = "pet acquire";
    return status;
}

static int choose(slc_pet_acquire_job *job)
{
    const slc_pet_acquire_options *o = job->options;
    slc_run_pet_config *c = &job->config;
    uint64_t ring = 0, socket = 0;
    c->output = o->output;
    c->frames = o->most_frames;
    c->raw.sync = o->sync;
    c->raw.replace = o->replace;
    int status = listen_words(job);
    status = status == SLC_CLI_GO_ON ? sequence_word(job) : status;
    status = status == SLC_CLI_GO_ON ? seconds_word("duration", o->duration, &c->seconds) : status;
    if (status == SLC_CLI_GO_ON) {
        status = seconds_word("rotate-time", o->rotate_time, &c->raw.rotate_seconds);
    }
    if (status == SLC_CLI_GO_ON) {
        status = size_word("rotate-size", o->rotate_size, &c->raw.rotate_bytes);
    }
    status = status == SLC_CLI_GO_ON ? size_word("ring", o->ring, &ring) : status;
    status = status == SLC_CLI_GO_ON ? size_word("socket-buffer", o->socket_buffer, &socket) : status;
    c->ring_bytes = (size_t)ring;
    c->socket_bytes = (size_t)socket;
    return status == SLC_CLI_GO_ON ? choose_chain(job) : status;
}

static int check_files(const slc_pet_acquire_job *job)
{
    const slc_pet_acquire_options *o = job->options;
    static const char *const flags[] = {"--output", "--singles", "--coincidences"};
    const char *const names[] = {o->output, o->singles, o->coincidences};
    for (size_t i = 0; i < 3; i++) {
        if (names[i] != NULL && strcmp(names[i], "-") == 0) {
            return slc_cli_wrong(COMMAND, "%s needs the name of a file, not '-'", flags[i]);
        }
    }
    if (o->output == NULL && (o->rotate_size != NULL || o->rotate_time != NULL || o->sync || o->replace)) {
        return slc_cli_wrong(COMMAND, "--rotate-size, --rotate-time, --sync and --replace are of --output");
    }
    slc_pet_files files = {.n = 0};
    slc_pet_files_add_raw(&files, "--output", o->output);
    slc_pet_files_add(&files, "--singles", o->singles);
    slc_pet_files_add_list(&files, "--coincidences", o->coincidences, job->run.format);
    return slc_pet_files_check(&files, COMMAND, o->frames.tables, NULL, 0);
}

/* ---- an acquisition ---------------------------------------------------------------------------- */

static void on_listening(void *context, uint32_t socket, const char *address)
{
    slc_pet_acquire_job *job = context;
    (void)snprintf(job->address[socket], sizeof job->address[socket], "%s", address);
    if (!job->options->quiet) {
        slc_cli_say("pet acquire", "listening at %s", address);
    }
}

static bool on_live(void *context, const slc_pet_result *result, const slc_run_pet_counts *counts)
{
    slc_pet_acquire_job *job = context;
    if (result == NULL) {
        slc_pet_acquire_show(job, counts);
        return true;
    }
    slc_faults_merge(&job->run.faults, &result->faults);
    if (job->live_failed) {
        return true;
    }
    const slc_pet_run_slot slot = {.result = *result};
    if (slc_pet_run_outputs_take(&job->run, &slot, false) != SLC_OK) {
        job->live_failed = true;
        slc_cli_say("pet acquire", "%s%s", job->run.error.text,
                    job->options->output != NULL ? "; raw data are written further on" : "");
    }
    return !job->live_failed || job->options->output != NULL;
}

static bool on_stop(void *context)
{
    (void)context;
    return slc_cli_interrupted();
}

/* Behind the last result: pairs that waited for others before them. */
static bool finish_live(slc_pet_acquire_job *job)
{
    const slc_pet_run_slot slot = {.n = 0};
    if (job->config.chain == NULL) {
        return true;
    }
    if (!job->live_failed && slc_pet_run_outputs_take(&job->run, &slot, true) != SLC_OK) {
        job->live_failed = true;
        slc_cli_say("pet acquire", "%s", job->run.error.text);
    }
    if (!job->live_failed) {
        slc_pet_run_outputs_finish(&job->run);
    }
    return !job->live_failed && !job->run.failed;
}

static int process(slc_pet_acquire_job *job)
{
    const slc_pet_acquire_options *o = job->options;
    if (job->config.chain != NULL && slc_pet_run_outputs_open(&job->run) != SLC_OK) {
        slc_cli_say("pet acquire", "%s", job->run.error.text);
        return SLC_CLI_FAILED;
    }
    job->shows_line = !o->quiet && (o->progress || isatty(STDERR_FILENO) == 1);
    job->config.context = job;
    job->config.listening = on_listening;
    job->config.live = on_live;
    job->config.stop = on_stop;
    slc_cli_catch_signals();
    const slc_status status = slc_run_pet_acquire(&job->config, &job->counts, &job->error);
    slc_pet_acquire_wipe(job);
    slc_cli_accept_signal(); /* as good an end as any */
    if (status == SLC_ERR_USAGE && job->counts.datagrams == 0) {
        return slc_cli_wrong(COMMAND, "%s", job->error.text);
    }
    if (status != SLC_OK) {
        slc_cli_say("pet acquire", "%s", job->error.text);
    }
    const bool live = finish_live(job);
    if (o->json) {
        if (!slc_pet_acquire_print_json(job)) {
            return SLC_CLI_FAILED;
        }
    } else if (!o->quiet) {
        slc_pet_acquire_print_text(job);
    }
    return status == SLC_OK && live ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

static int run(int argc, char **argv)
{
    slc_pet_acquire_options options;
    slc_pet_acquire_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        slc_cli_say("pet acquire", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    job->options = &options;
    int first = 0;
    int status = slc_cli_parse(COMMAND, argc, argv, &options, &first);
    status = status == SLC_CLI_GO_ON ? choose(job) : status;
    status = status == SLC_CLI_GO_ON ? check_files(job) : status;
    status = status == SLC_CLI_GO_ON ? process(job) : status;
    slc_pet_run_outputs_abandon(&job->run);
    if (job->run.owned) {
        slc_io_pet_tables_clear(&job->run.tables);
    }
    free(job);
    return status;
}

const slc_cli_command slc_cmd_pet_acquire = {
    .name = "pet acquire",
    .operands = "",
    .summary = "receive PET frames from the network, into files and live",
    .description =
        "Receives UDP datagrams of frames, counts them by module, with what was lost, and writes raw files "
        "that\n"
        "sluice pet run reads; with --singles or --coincidences it finds these at the same time. Ends after\n"
        "--duration or --frames, or by a signal, with everything written.\n",
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .defaults = set_defaults,
    .run = run,
};
