/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice pet acquire`: datagrams of frames from the network into raw files, and live to singles and
 * coincidences. Raw data come first: where an output of the live chain fails, that is told, and the
 * acquisition goes on.
 */
#include "cmd_pet_acquire.h"
#include "cli_words.h"
#include "cmd_pet_tell.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COMMAND (&slc_cmd_pet_acquire)

/* Sizes have a least: what is smaller is a slip, and would make thousands of files or lose everything. A
 * block has 64k. */
#define SIZE_AS "a size, as 500M or 4G"
#define O       slc_pet_acquire_options
static const slc_cli_option table[] = {
    {"listen", 0, NEEDED | TEXTS(O, listen), "ADDR:PORT",
     "where datagrams come to; again for more; tcp:ADDR:PORT: streams"},
    {"tcp-length", 0, TEXT(O, tcp_length), "BYTES",
     "in a stream each message has its length before it, in 2 or 4 bytes; 4:big"},
    {"output", 'o', RAW | OUTPUT(O, output), "FILE", "write what comes to this raw file"},
    {"continue", 0, RAW | INPUT_AS(O, resume, "a file of the acquisition"), "FILE",
     "in place of --output: go on after the files of FILE's acquisition"},
    {"shards", 0, COUNT(O, shards, 1, SLC_DAQ_PET_SOCKETS), "N",
     "sockets at each address, which share its senders"},
    {"timestamps", 0, FLAG(O, timestamps), NULL,
     "keep when the system received each datagram (SO_TIMESTAMPNS)"},
    {"duration", 0, TIME(O, duration_ns, SLC_CLI_POSITIVE, "a time, as 60s"), "TIME",
     "end after 60s, 500ms; otherwise by a signal: Ctrl-C, SIGTERM"},
    {"frames", 0, COUNT(O, most_frames, 0, 1e18), "N",
     "end when so many frames are there, or a few more; 0: any number"},
    {"rotate-size", 0, BYTES_FROM(O, rotate_bytes, "128k", SIZE_AS), "SIZE",
     "begin another file (FILE.0001...) at 4G, 500M (1G is 2^30)"},
    {"rotate-time", 0, TIME_FROM(O, rotate_ns, "100ms", "less", "a time, as 60s"), "TIME",
     "begin another file after 600s"},
    {"sync", 0, FLAG(O, sync), NULL, "wait for the disk at each write"},
    {"replace", 0, FLAG(O, replace), NULL, "overwrite FILE, and what followed it in its acquisition"},
    {"header-bytes", 0, COUNT(O, header_bytes, 0, 1024), "N", "bytes before the frames of a datagram"},
    {"sequence", 0, TEXT(O, sequence), "AT:BYTES",
     "a counter of 4 or 8 bytes stands at this byte; :big at its end"},
    {"ring", 0, BYTES_FROM(O, ring_bytes, "8M", SIZE_AS), "SIZE",
     "memory between sockets and disk (default 256M; k to T: powers of 1024)"},
    {"socket-buffer", 0, BYTES_FROM(O, socket_bytes, "64k", SIZE_AS), "SIZE",
     "room in the system for each socket (default 64M)"},
    SLC_PET_FRAME_OPTIONS(slc_pet_run_options),
    SLC_PET_PROMPT_OPTIONS(slc_pet_run_options),
    SLC_PET_RUN_TIME_OPTIONS,
    {"coincidences", 0, OUTPUTS(slc_pet_run_options, output, slc_pet_run_list_files), "NAME",
     "write the coincidences, live"},
    SLC_PET_RUN_RESULT_OPTIONS(0),
    {"threads", 0, COUNT(slc_pet_run_options, threads, 0, 64), "N",
     "of the live chain; 0: one for each processor"},
    {"progress", 0, FLAG(O, progress), NULL, "a line of numbers each second, though nobody is watching"},
    SLC_CLI_SERVE(slc_pet_run_options, serve),
    {"tolerate-loss", 0, FLAG(O, tolerate_loss), NULL,
     "exit status 0 also if more than 0.1 % of the frames are lost or foreign"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object instead of a table"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "print nothing but errors and what was lost"},
};
#undef O

static void set_defaults(void *at)
{
    *(slc_pet_acquire_options *)at = (slc_pet_acquire_options){.run = SLC_PET_RUN_DEFAULTS, .shards = 1};
}

/* ---- words ------------------------------------------------------------------------------------- */

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

/* Times of the system go before all else. */
static void timestamps_word(slc_io_pet_payload *p)
{
    p->stamped = true;
    p->header_bytes += SLC_IO_PET_STAMP;
    p->sequence_at += p->sequence_bytes > 0 ? SLC_IO_PET_STAMP : 0;
}

/* What the file tells of datagrams need not be said again; other words would make the rest of the acquisition
 * another one. */
static int resume_word(slc_pet_acquire_job *job)
{
    slc_io_pet_payload *p = &job->config.raw.payload;
    const slc_pet_acquire_options *o = job->options;
    slc_io_pet_raw_info info;
    slc_error error = {.status = SLC_OK};
    if (o->output != NULL) {
        return slc_cli_wrong(COMMAND, "--continue and --output exclude each other: it goes on with its file");
    }
    if (o->replace) {
        return slc_cli_wrong(COMMAND, "--continue and --replace exclude each other");
    }
    if (slc_io_pet_raw_open(o->resume, &job->resumed, &error) != SLC_OK) {
        slc_cli_say(COMMAND->name, "%s", error.text);
        return SLC_CLI_FAILED;
    }
    slc_io_pet_raw_info_of(job->resumed, &info);
    const slc_io_pet_payload *is = &info.payload;
    const bool header = o->header_bytes > 0 || o->sequence != NULL || o->timestamps;
    if (header && (p->header_bytes != is->header_bytes || p->sequence_at != is->sequence_at ||
                   p->sequence_bytes != is->sequence_bytes || p->stamped != is->stamped ||
                   p->sequence_big_endian != is->sequence_big_endian)) {
        return slc_cli_wrong(COMMAND,
                             "%s: its datagrams have another header than --header-bytes, --sequence and "
                             "--timestamps tell; without these it is taken from the file",
                             o->resume);
    }
    *p = *is;
    job->config.output = o->resume;
    job->config.resume = true;
    const slc_io_pet_format *format = slc_io_pet_raw_format(job->resumed);
    return format != NULL && o->run.frames.format == NULL ? slc_pet_format_take(COMMAND, &job->words, format)
                                                          : SLC_CLI_GO_ON;
}

/* "2", "4:big". */
static int tcp_word(slc_pet_acquire_job *job)
{
    const char *text = job->options->tcp_length;
    slc_daq_pet_config *c = &job->config;
    bool any = false;
    for (uint32_t i = 0; i < c->n_listen; i++) {
        any = any || strncmp(c->listen[i], "tcp:", 4) == 0;
    }
    if (text == NULL) {
        return SLC_CLI_GO_ON;
    }
    if ((text[0] != '2' && text[0] != '4') || (strcmp(text + 1, "") != 0 && strcmp(text + 1, ":big") != 0)) {
        return slc_cli_wrong(COMMAND, "--tcp-length takes 2 or 4 bytes, as 4 or 4:big, not '%s'", text);
    }
    if (!any) {
        return slc_cli_wrong(COMMAND, "--tcp-length is of --listen tcp:ADDR:PORT");
    }
    c->stream_length_bytes = (uint32_t)(text[0] - '0');
    c->stream_length_big_endian = text[1] == ':';
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
            if (n == SLC_DAQ_PET_SOCKETS) {
                return slc_cli_wrong(COMMAND, "--listen: %d sockets at most", (int)SLC_DAQ_PET_SOCKETS);
            }
            memcpy(job->word[n], word, sizeof word);
            job->config.listen[n] = job->word[n];
            job->config.n_listen++;
        }
    }
    return SLC_CLI_GO_ON;
}

/* Is there any option of the chain? */
static bool has_chain_words(void)
{
    bool any = false;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const size_t serve = offsetof(slc_pet_run_options, serve), member = table[i].member;
        const bool of_chain = member < sizeof(slc_pet_run_options) &&
                              member != offsetof(slc_pet_run_options, frames.format) &&
                              (member < serve || member >= serve + sizeof(slc_cli_serve));
        any = any || (of_chain && slc_cli_word(COMMAND, table[i].name) != NULL);
    }
    return any;
}

/* The chain, if anything is wanted of it. */
static int choose_chain(slc_pet_acquire_job *job)
{
    const slc_pet_run_options *o = &job->options->run;
    if (o->singles == NULL && o->output == NULL && o->late == NULL && o->sinogram == NULL &&
        o->marks == NULL && o->rates == NULL && o->rate_plot == NULL && o->dead_time_ns <= 0) {
        return has_chain_words()
                   ? slc_cli_wrong(COMMAND,
                                   "nothing is found without --coincidences, --singles, --late, --marks, "
                                   "--sinogram, --rates, --rate-plot or --dead-time")
                   : SLC_CLI_GO_ON;
    }
    job->run.options = o;
    job->run.command = COMMAND->name;
    int status = slc_pet_run_config_of(COMMAND, "--coincidences", &job->run);
    status = status == SLC_CLI_GO_ON ? slc_pet_marks_check(COMMAND, &job->words, o->marks) : status;
    slc_pet_convert_config_of(&job->words, o->words.kev, &job->run.config.convert);
    job->config.keep_marks = o->marks != NULL;
    job->config.chain = &job->run.config;
    job->config.tables = &job->run.tables;
    status = status == SLC_CLI_GO_ON ? slc_pet_run_tables(COMMAND, &job->run) : status;
    if (status == SLC_CLI_GO_ON) {
        slc_pet_measured_tell(&job->run.measured, COMMAND->name, o->frames.tables);
    }
    return status;
}

static int choose(slc_pet_acquire_job *job)
{
    const slc_pet_acquire_options *o = job->options;
    slc_daq_pet_config *c = &job->config;
    c->output = o->output;
    c->frames = o->most_frames;
    c->seconds = o->duration_ns * 1e-9;
    c->shards = (uint32_t)o->shards;
    c->raw.sync = o->sync;
    c->raw.replace = o->replace;
    c->raw.rotate_seconds = o->rotate_ns * 1e-9;
    c->raw.rotate_bytes = o->rotate_bytes;
    c->ring_bytes = (size_t)o->ring_bytes;
    c->socket_bytes = (size_t)o->socket_bytes;
    int status = listen_words(job);
    status = status == SLC_CLI_GO_ON ? tcp_word(job) : status;
    status = status == SLC_CLI_GO_ON ? sequence_word(job) : status;
    if (status == SLC_CLI_GO_ON && o->timestamps) {
        timestamps_word(&c->raw.payload);
    }
    job->words = o->run.frames;
    status = status == SLC_CLI_GO_ON ? slc_pet_format_of(COMMAND, &job->words, NULL, 0) : status;
    status = status == SLC_CLI_GO_ON && o->resume != NULL ? resume_word(job) : status;
    c->raw.format = job->words.used;
    return status == SLC_CLI_GO_ON ? choose_chain(job) : status;
}

static int check_files(const slc_pet_acquire_options *o)
{
    if (o->output == NULL && o->resume == NULL &&
        (o->rotate_bytes > 0 || o->rotate_ns > 0 || o->sync || o->replace)) {
        return slc_cli_wrong(COMMAND, "--rotate-size, --rotate-time, --sync and --replace are of --output");
    }
    return slc_pet_files_check(COMMAND, o, NULL, 0);
}

/* ---- an acquisition ---------------------------------------------------------------------------- */

/* --output may be a pipe, whose opening waits for a reader; nothing would end that wait. It is waited for
 * here instead, not longer than the acquisition may take, and kept until it is opened. False: it ends. */
static bool wait_for_reader(slc_pet_acquire_job *job)
{
    const char *name = job->options->output;
    const double began = slc_clock_seconds(), most = job->config.seconds;
    const struct timespec moment = {.tv_nsec = 20000000};
    struct stat there;
    bool told = job->options->quiet;
    if (name == NULL || stat(name, &there) != 0 || !S_ISFIFO(there.st_mode)) {
        return true;
    }
    while ((job->held_pipe = open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == ENXIO) {
        const double waited = slc_clock_seconds() - began;
        if (slc_cli_interrupted()) {
            return false;
        }
        if (most > 0 && waited >= most) {
            slc_cli_say(COMMAND->name, "%s: nobody has opened this pipe to read it", name);
            return false;
        }
        if (!told && waited >= 1) {
            told = true;
            slc_cli_say(COMMAND->name, "waiting for a reader of %s, before it listens", name);
        }
        (void)nanosleep(&moment, NULL);
    }
    return true; /* of another error the opening tells */
}

static void let_go(slc_pet_acquire_job *job)
{
    if (job->held_pipe >= 0) {
        (void)close(job->held_pipe);
        job->held_pipe = -1;
    }
}

static void on_listening(void *context, uint32_t number, const char *address, size_t room)
{
    slc_pet_acquire_job *job = context;
    const size_t wanted = job->config.socket_bytes > 0 ? job->config.socket_bytes : (size_t)64 << 20;
    job->began = true;
    let_go(job); /* it is opened */
    (void)snprintf(job->address[number], sizeof job->address[number], "%s", address);
    if (job->options->quiet) {
        return;
    }
    if (number == 0 && room < wanted) {
        slc_cli_say(COMMAND->name,
                    "sockets have room for %zu KiB, not for %zu: the system's limit, which "
                    "'sudo sysctl net.core.rmem_max=%zu' raises",
                    room >> 10, wanted >> 10, wanted);
    }
    slc_cli_note(COMMAND->name, "listening at %s", address);
}

static void on_note(void *context, const char *text)
{
    slc_pet_acquire_job *job = context;
    if (!job->options->quiet || strstr(text, " left out") != NULL || strstr(text, " broken") != NULL) {
        slc_pet_acquire_wipe(job);
        slc_cli_say(COMMAND->name, "%s", text);
    }
}

static void on_resumes(void *context, const slc_daq_pet_resumed *from)
{
    const slc_pet_acquire_job *job = context;
    const bool counts = job->config.raw.payload.sequence_bytes > 0;
    if (from->damaged > 0) {
        slc_cli_say(COMMAND->name, "%s: %" PRIu64 " damaged places in what was acquired before", from->last,
                    from->damaged);
    }
    if (job->options->quiet) {
        return;
    }
    slc_cli_say(COMMAND->name, "goes on behind %s, with datagram %" PRIu64 "%s", from->last, from->datagrams,
                counts ? "" : "; without a sequence counter nobody knows what was lost between");
    if (counts && from->read_from > 0) {
        slc_cli_say(COMMAND->name,
                    "counters of %u modules are known, by the last GiB; of others, what was lost between is "
                    "not counted here, but by sluice pet run --series",
                    from->counters);
    }
}

static void on_sample(void *context, const slc_pet_frame *frames, size_t n)
{
    const slc_pet_acquire_job *job = context;
    slc_live_pet_frames(job->run.page_pet, frames, n);
}

static int process(slc_pet_acquire_job *job)
{
    const slc_pet_acquire_options *o = job->options;
    /* Of a pipe that nobody reads any more the write tells, and the other outputs go on. */
    (void)signal(SIGPIPE, SIG_IGN);
    slc_cli_catch_signals();
    if (!wait_for_reader(job)) {
        return SLC_CLI_FAILED; /* where a signal came, the process ends by it */
    }
    job->run.ending = &job->ending;
    job->run.reads_once = true;
    if (job->config.chain != NULL && slc_pet_run_outputs_open(&job->run) != SLC_OK) {
        slc_cli_say(COMMAND->name, "%s", job->run.error.text);
        return SLC_CLI_FAILED;
    }
    job->shows_line = !o->quiet && (o->progress || isatty(STDERR_FILENO) == 1);
    job->config.context = job;
    job->config.resumes = on_resumes;
    job->config.note = on_note;
    job->config.listening = on_listening;
    job->config.live = slc_pet_acquire_live;
    job->config.sample = job->run.page_pet != NULL ? on_sample : NULL;
    job->config.tell = slc_pet_acquire_tell;
    job->config.stop = slc_cli_stop;
    const slc_status status = slc_daq_pet_acquire(&job->config, &job->counts, &job->error);
    slc_pet_acquire_wipe(job);
    slc_cli_accept_signal(); /* as good an end as any */
    if (status == SLC_ERR_USAGE && job->counts.datagrams == 0) {
        return slc_cli_wrong(COMMAND, "%s", job->error.text);
    }
    if (status != SLC_OK) {
        slc_cli_say(COMMAND->name, "%s", job->error.text);
    }
    if (!job->began) {
        return SLC_CLI_FAILED;
    }
    const bool live = job->config.chain == NULL || slc_pet_acquire_finish(job);
    bool complete = slc_pet_acquire_tell_losses(job) || o->tolerate_loss;
    complete = !slc_pet_malformed_tell(COMMAND->name, job->counts.malformed, job->counts.datagrams) &&
               complete;
    if (status == SLC_OK && job->counts.datagrams == 0) {
        slc_cli_say(COMMAND->name, "nothing was received");
        complete = false;
    }
    if (!slc_pet_acquire_print(job)) {
        return SLC_CLI_FAILED;
    }
    const bool in_time = slc_pet_clock_tell(COMMAND->name, &job->counts.chain.convert) || o->tolerate_loss;
    const bool kept = slc_pet_late_tell(COMMAND->name, &job->counts.chain.sort,
                                        job->run.config.sort.horizon_ps);
    return status == SLC_OK && live && kept && complete && in_time ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

static int act(const slc_cli_call *call)
{
    slc_pet_acquire_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        slc_cli_say(COMMAND->name, "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    job->options = call->options;
    job->held_pipe = -1;
    slc_daq_pet_config_default(&job->config);
    int status = choose(job);
    status = status == SLC_CLI_GO_ON ? check_files(job->options) : status;
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_page_open(call, &job->options->run, &job->run, job->config.chain != NULL);
    }
    status = status == SLC_CLI_GO_ON ? process(job) : status;
    const slc_live_pet_state end = slc_pet_acquire_state(job, &job->counts);
    slc_pet_page_close(&job->run, &job->options->run.serve, &end, status);
    let_go(job);
    slc_pet_run_outputs_abandon(&job->run);
    slc_pet_format_clear(&job->words);
    slc_io_pet_raw_close(job->resumed);
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
        "sluice pet run reads; with --coincidences, --singles and other outputs of that command it finds "
        "these\n"
        "at the same time. Ends after --duration or --frames, or by a signal, with everything written.\n",
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .defaults = set_defaults,
    .act = act,
};
