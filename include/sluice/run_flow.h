/* SPDX-License-Identifier: Apache-2.0
 *
 * One flow for every detector: a source (files, pipes, memory, a live feed) x a chain (VELO, CMS, images,
 * PET, or one of the caller's) x the caller, who pulls results in order. A thread reads ahead, each worker
 * has a chain of its own, and memory is bounded by the batches in flight.
 *
 *     slc_flow_config_default(&config);
 *     config.paths = paths, config.n_paths = n;
 *     slc_flow_velo_setup setup = {.config = &velo};
 *     status = slc_flow_open(&config, &slc_flow_velo, &setup, &flow, &error);
 *     while (status == SLC_OK && (status = slc_flow_next(flow, &item, &error)) == SLC_OK) {
 *         const slc_flow_velo_result *result = item->result;
 *         ...
 *         slc_flow_release(flow, item);
 *     }
 *     slc_flow_close(flow);
 *
 * Results do not depend on threads or on how events were cut into batches. docs/howto/library.md teaches it.
 */
#ifndef SLUICE_RUN_FLOW_H
#define SLUICE_RUN_FLOW_H

#include <sluice/cms_chain.h>
#include <sluice/image_label.h>
#include <sluice/image_mask.h>
#include <sluice/image_split.h>
#include <sluice/io.h>
#include <sluice/io_pet.h>
#include <sluice/io_pixel.h>
#include <sluice/pixel_stream.h>
#include <sluice/velo_chain.h>
#include <sluice/velo_check.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_flow slc_flow;

/* ---- what comes out ------------------------------------------------------------------------------ */

/* A batch that is through its chain, or the end of an input. It is the caller's from _next to _release; no
 * item that the caller holds is written to, and a released one's memory is used again. */
typedef struct slc_flow_item {
    uint64_t number;  /* of the batch in the flow, from 0 */
    uint32_t input;   /* index of its path */
    const char *path; /* its name */
    bool ended;       /* no batch: the input has ended (config.keep_going alone gives these) */
    bool opened;      /* of an end: it could be opened */
    void *result;     /* what the chain made: slc_flow_velo_result, slc_flow_cms_result …; NULL at an end */
    slc_batch batch;  /* raw events, of chains that take them */
    slc_faults reading;   /* found in reading it, or after the last batch; lost events have no number */
    slc_status status;    /* of the batch; of an end: why reading ended, SLC_END as it should */
    slc_error error;      /* its text */
    char damage[512];     /* the reader's line on the first damage so far: of an end, of a batch with strict;
                             what is to be told of an image; else "" */
    slc_io_totals totals; /* of an end: what reading the input has come to */
    /* Of the result, which the chain sets in `run`: what its events add to the checksum of a run (base.h)
     * that begins with them, and how many they are. */
    uint64_t checksum, n_summed;
    void *user; /* config.user_bytes of the caller's, zeroed once */
    double seconds_reading, seconds_finishing, seconds_working;
} slc_flow_item;

/* ---- what goes in -------------------------------------------------------------------------------- */

typedef struct slc_flow_config {
    size_t size;              /* set by slc_flow_config_default */
    const char *const *paths; /* inputs, one after the other; "-" is standard input. Kept until _close */
    uint32_t n_paths;
    slc_io_config io;      /* how files of events are read */
    uint32_t batch_events; /* a batch ends at so many events (frames, pages) */
    size_t batch_bytes;    /* or at so many bytes */
    /* Batches in flight, those that the caller holds not counted. 0: 2 · threads + 2, for one worker 3,
     * of a chain with state 2, but 1 if one worker has the only processor. */
    uint32_t n_slots;
    /* threads: workers, each with a chain (or, of a chain that keeps state between batches, its threads);
     * 1: all is done in the caller's thread, but for reading ahead; 0 (default): one for each processor.
     * device: as in cuda.h, several as "cuda:0,1" or "all", instead of what the chain's own configuration
     * says (velo, cms, image: as many workers on each GPU, and worker i has number i of them, in turn). */
    slc_exec exec;
    bool strict; /* batches of one event, so that the first fault is the first of the input */
    /* Without, a batch or an input that fails ends the flow: _next returns its error. With it they are items
     * like others, and so are the ends of inputs. */
    bool keep_going;
    /* The caller wants results alone: the bytes of item->batch go back to reading when the chain (and `work`)
     * is through with them, so that fewer are in memory; it then has no events, and of its sizes `size`. */
    bool results_alone;
    /* The calling thread has its signals blocked from the first _next to the last, and the reading thread
     * gets them, whose blocking call they interrupt. */
    bool signals_to_reader;
    bool (*stop)(void *context); /* asked before each batch is read, and where an input ends inside an event,
                                    in the reading thread: true ends the input at hand and all reading. NULL:
                                    never */
    /* In place of paths: fills the item's batch (or what its chain takes) and returns SLC_OK, or SLC_END. One
     * call at a time. */
    slc_status (*read)(void *context, slc_flow_item *item, slc_error *error);
    /* A step of the caller's in the worker, after the chain; what it returns is the item's status. NULL:
     * none. */
    slc_status (*work)(void *context, slc_flow_item *item, slc_error *error);
    void *context; /* of these three */
    size_t user_bytes;
    void (*user_clear)(void *user); /* gives back what the caller has put there; NULL: nothing */
    /* Part number `part` of `n_parts`, from 0; n_parts 0 or 1: all. Parts are the same for every process that
     * sees the same paths with the same sizes, each event is in one of them, and theirs one after the other
     * are those of all. Of n_parts paths or more each is in one part, by bytes; else parts are ranges of
     * bytes that begin at events (velo, cms), of pages (image) or of frames (pixel). Paths are regular files
     * then.
     * Places in inputs count from their beginning. */
    uint32_t part, n_parts;
    /* For totals.first_event all events before the part are read once more: of velo and cms. */
    bool count_before;
    /* Set by the flow for the chain, from input_open to input_close: of this input what begins at `from` or
     * after it, and before `until`, in bytes, pages or frames; 0 and UINT64_MAX: all. */
    uint64_t from, until;
    /* slc_flow_next comes back without an item, SLC_OK and *item NULL, after waiting for so many seconds, so
     * that the caller can look after signals and call it again; then even one worker on one processor has a
     * thread that reads ahead if inputs are pipes or `read`. What the caller's thread works on is not
     * waiting. 0: it waits as long as it takes. */
    double patience;
    uint32_t worker;      /* set by the flow for the chain's `open`: whose chain it is, from 0 */
    uint64_t reserved[4]; /* 0 */
} slc_flow_config;
SLC_API void slc_flow_config_default(slc_flow_config *config, size_t size);
#define slc_flow_config_default(config) slc_flow_config_default(config, sizeof *(config))

/* ---- chains -------------------------------------------------------------------------------------- */

/* A chain is a table. `setup` is what _open was given, and stays the caller's until _close. */
typedef struct slc_flow_chain {
    size_t size; /* sizeof(slc_flow_chain) */
    const char *name;
    bool joined;      /* all paths are one input: input_open, with the first, takes them of config.paths */
    bool files_alone; /* it needs its own input: config.read is refused */
    bool ordered;     /* keeps state between batches: there is one, and exec.threads are its own */
    bool apart; /* of an ordered one with several threads: it is not run in the caller's thread, and goes on
                   while the caller writes what it gave */
    /* How many workers there are to be, at most exec.threads, whose number is known by then. NULL: as many.
     */
    uint32_t (*workers)(const void *setup, const slc_flow_config *config);
    /* The word for devices that the flow deals out, or NULL: each GPU gets so many workers, and `open` the
     * one that is its worker's, as config->exec.device. NULL: the chain sees to its device. */
    const char *(*device)(const void *setup, const slc_flow_config *config);
    /* The chain of a worker, in its thread; the first in slc_flow_open, so that a wrong setup is told before
     * reading. */
    slc_status (*open)(const void *setup, const slc_flow_config *config, void **chain, slc_error *error);
    void (*close)(void *chain);
    size_t result_bytes; /* of item->result, zeroed once */
    /* What it has besides these bytes, and giving that back. Each may be NULL. */
    slc_status (*item_open)(const void *setup, slc_flow_item *item, slc_error *error);
    void (*item_close)(slc_flow_item *item);
    /* An input of paths: opened, read (SLC_END after the last batch), by one thread at a time; closed. */
    slc_status (*input_open)(const void *setup, const slc_flow_config *config, const char *path, void **input,
                             slc_error *error);
    slc_status (*read)(void *input, const slc_flow_config *config, slc_flow_item *item, slc_error *error);
    void (*input_close)(void *input);
    /* What of reading may be done in any thread: bytes of files, checksums, expansion. May be NULL. Called
     * once for each batch. With item->ended set by it, the item is the end of its input, whose only batch it
     * was to be, and the status says why. */
    slc_status (*finish)(slc_flow_item *item, slc_error *error);
    slc_status (*run)(void *chain, const void *setup, slc_flow_item *item, slc_error *error);
    /* What a chain with state still holds, after all inputs: one more item. NULL: nothing. */
    slc_status (*run_last)(void *chain, const void *setup, slc_flow_item *item, slc_error *error);
    /* In order, before the item is handed out: numbers that depend on earlier batches. At an input's end
     * `item->ended` is set. May be NULL. */
    void (*settle)(void *input, slc_flow_item *item);
    bool read_by_workers; /* of regular files, on processors: who is free reads, nobody reads ahead */
} slc_flow_chain;

/* LHCb's VELO: MDF files, and events of hits as JSON. */
typedef struct slc_flow_velo_setup {
    const slc_velo_config *config;
    const slc_velo_geometry *geometry; /* NULL: the ideal one */
    bool truth;                        /* read truth */
    bool identity;                     /* and which event is which */
    bool identity_alone;               /* that, and nothing is reconstructed */
} slc_flow_velo_setup;
typedef struct slc_flow_velo_result {
    slc_velo_result found;
    bool raw;               /* of raw banks; else the events came as hits */
    slc_velo_truth truth;   /* with setup.truth */
    slc_lhcb_events events; /* with setup.identity */
    slc_faults truth_faults;
    double seconds_truth, seconds_checksum; /* of seconds_working */
} slc_flow_velo_result;
SLC_API extern const slc_flow_chain slc_flow_velo;

/* CMS's pixels: files of raw events. */
typedef struct slc_flow_cms_setup {
    const slc_cms_config *config;
    const slc_cms_cabling *cabling;
    const slc_cms_gains *gains; /* or NULL */
} slc_flow_cms_setup;
typedef struct slc_flow_cms_result {
    slc_cms_result found;
    slc_cms_events events; /* which they are; not in the checksum */
} slc_flow_cms_result;
SLC_API extern const slc_flow_chain slc_flow_cms;

/* Dense images: a page an item. exec.threads are shared by pages of several paths, each worker with a
 * labeller of its own; what is over, and those of a single path, are threads inside the labeller. */
typedef struct slc_flow_image_setup {
    const slc_image_label_config *config; /* its exec.threads are not used */
    bool otsu;                            /* the threshold of each page by Otsu's method */
    bool labels;                          /* label images, too */
    bool inverse;                         /* of the background */
    bool pages_alone;                     /* nothing is labelled: pages and their thresholds */
    /* What is foreground, if the threshold alone does not say it (image_mask.h), or NULL. Its `low` is that
     * of config, or Otsu's, its connectivity config's, its exec is not used. */
    const slc_image_mask_config *mask;
    const slc_image *within; /* with `mask`: of every page only pixels where this is above 0; NULL: all */
    /* Pages are label images (slc_image_measure): nothing is labelled, and of `config` the features and the
     * connectivity count. Grey values are those of `intensity`, a file with a page of the same size for each
     * page of a single input; NULL: none, and no features of grey values (SLC_ERR_USAGE). */
    bool regions;
    const char *intensity;
    /* Components for which this holds are kept, "area>=20 && solidity>0.9": any columns of components, up to
     * 16 terms with commas or && between; of these the `largest` with most pixels (0: all), of equal ones the
     * first. The others become background; labels, but those of regions, are numbered anew. NULL: all. */
    const char *filter;
    uint32_t largest;
    /* With `mask`, and not of the background: components are the parts of image_split.h of this depth, whose
     * other settings are those of config; NULL: none are split. */
    const slc_image_split_config *split;
} slc_flow_image_setup;
typedef struct slc_flow_image_result {
    slc_image image;                 /* the page, with memory of the item's */
    bool alone;                      /* it is all of its file: of a format whose files have one page */
    double threshold;                /* not a number for rows of bits, which need none */
    const char *fault;               /* why the page has no foreground and so no components, or NULL */
    slc_image_components components; /* the columns of config.features, which may be any; one event */
    uint32_t *labels;                /* with setup.labels: width · height, else NULL */
    uint32_t n_labels;
    /* How large a pixel is by the file's own words; 0: it does not say. TIFF alone: OME-XML, ImageJ, tags. */
    double pixel_x_um, pixel_y_um;
    const char *pixel_from; /* "OME", "ImageJ", "resolution", or NULL */
    uint32_t filtered;      /* components that setup.filter and setup.largest left out */
    double seconds;         /* labelling alone, and making the foreground of setup.mask */
} slc_flow_image_result;
SLC_API extern const slc_flow_chain slc_flow_image;

/* Sparse pixels: frames, streams of pixels with times, or lists that are an image; each input tells which it
 * is. A worker does one after the other, as streams must be; exec.threads are those of the clusterer of
 * frames. */
typedef struct slc_flow_pixel_choice {
    int64_t time_window; /* ticks; negative: none. Begins as -1 for frames, as the default for streams */
    int64_t disorder;    /* of a stream, in ticks; negative: it is read whole and sorted first, as at first */
} slc_flow_pixel_choice;
typedef struct slc_flow_pixel_setup {
    /* Who is adjacent, features, algorithm. Columns and time window are each input's, and width and height,
     * unless `sized`: then pixels outside are left out and counted. */
    const slc_pixel_cluster_config *config;
    bool sized;
    bool labels;         /* which cluster each pixel is of; of streams, the pixels of clusters */
    double tick_seconds; /* as in slc_io_pixels_options */
    uint32_t max_open;   /* of streams; 0: the default */
    /* When an input has been opened, by who reads it: sees what it is, and may choose or refuse. NULL:
     * nothing */
    slc_status (*choose)(void *context, const slc_io_pixels_info *about, slc_flow_pixel_choice *choice,
                         slc_error *error);
    /* Before each piece is read: true ends the input, a stream with the clusters until then. NULL: never */
    bool (*stop)(void *context);
    /* Where an input ends: true if it was made to end, by a signal say. A line, packet or array that is not
     * whole there is left out, and is no damage. NULL: never */
    bool (*cut)(void *context);
    void *context; /* of all three */
    /* Clusters get the time since the last of these edges (.tpx3 alone: else SLC_ERR_USAGE; features need
     * SLC_PIXEL_TIMES). Those of another time than from accept_begin to before accept_end are left out. */
    slc_io_pixels_edge trigger;
    bool accepting;
    double accept_begin, accept_end;    /* seconds */
    const slc_io_pixels_layout *layout; /* as in slc_io_pixels_options, both */
    const uint8_t *chips;
    /* No cluster reaches from one chip to another, wherever the layout has them. Of .tpx3 alone, and not
     * `sized` (SLC_ERR_USAGE). Clusters that begin in the same tick come in the order of their chips. */
    bool within_chip;
    slc_io_pixels_tables *tables; /* the same; of this flow alone */
    /* Clusters for which this holds are kept: "size>=3,mass>50", up to 16 of their columns; also "tot", the
     * mass, or "energy_kev" in its place, "shot", "since_trigger_ns" and "chip". NULL: all */
    const char *filter;
    bool chip_column; /* which chip each cluster is on; of .tpx3, and features need SLC_PIXEL_BOX */
    const slc_io_pixels_live *live; /* as in slc_io_pixels_options */
} slc_flow_pixel_setup;
/* Triggers in the order of time, each with its clusters, which are one behind the other. */
typedef struct slc_flow_pixel_shots {
    slc_columns head;
    uint64_t *shot;        /* number in the input, from 0 */
    int64_t *trigger_time; /* in sixths of a tick: 25 ns / 96 */
    uint16_t *counter;     /* of the readout, modulo 4096 */
    uint64_t *first;       /* of its clusters, among the input's from 0 */
    uint32_t *clusters;
} slc_flow_pixel_shots;
SLC_API extern const slc_schema slc_flow_pixel_shots_schema;
/* Of an input so far. */
typedef struct slc_flow_pixel_totals {
    uint64_t frames, clusters;
    uint64_t clustered; /* pixels that are in them; with a filter, of frames, entries of one place once */
    uint64_t outside;   /* of the sensor */
    slc_pixel_stream_counts stream;
    double seconds;    /* clustering alone */
    uint64_t filtered; /* clusters that the filter left out; they are not among `clusters` */
    /* With a trigger. */
    uint64_t triggers;      /* shots */
    uint64_t lost_triggers; /* that the counter passed over */
    uint64_t repeated;      /* the same edge again, in the stream of another chip; left out */
    uint64_t unordered;     /* triggers that came after later ones; left out if their clusters had gone */
    uint64_t before, pixels_before; /* clusters before the first trigger, and their pixels */
    uint64_t not_accepted; /* clusters that were left out by their time, those before the first, too */
} slc_flow_pixel_totals;
typedef struct slc_flow_pixel_result {
    slc_io_pixels_info about;
    bool is_stream;
    bool last;                   /* of its input, if that was read to its end */
    slc_pixels pixels;           /* that were read; of frames and images, those that were clustered */
    const slc_pixels *taken;     /* of a stream: `pixels`, or the list of all, sorted by time; else NULL */
    size_t taken_first, n_taken; /* the rows of it that went into these clusters */
    const int64_t *frames;       /* their numbers in the file; NULL: there are none */
    /* For the features of config and about.with (`size` is there for a filter, too); an event a frame, or, of
     * a stream, one in all, which ends in the last item. `largest` counts pixels of the file. */
    slc_pixel_clusters clusters;
    const uint32_t *label; /* with setup.labels: of each pixel, in its frame from 0; UINT32_MAX: of one that
                              the filter left out */
    /* With setup.labels, of a stream: the pixels of `clusters`, an event each. `pixel` counts pixels of the
     * file. With setup.trigger, of each the time since its cluster's trigger; else NULL. */
    slc_pixel_members members;
    const double *member_since_trigger_ns;
    slc_io_pixels_counts counts;
    slc_flow_pixel_totals totals;
    /* With setup.trigger, of each cluster: the number of its shot, -1 before the first, and the time of its
     * first pixel since then, not a number there. Else NULL. */
    const int64_t *shot;
    const double *since_trigger_ns;
    const int32_t *chip;        /* with setup.chip_column, of each cluster; -1: on several */
    slc_flow_pixel_shots shots; /* that are complete: no later cluster is of them */
    const double *energy_kev;   /* of each, with a calibration and SLC_PIXEL_MASS: mass is in eV then */
} slc_flow_pixel_result;
SLC_API extern const slc_flow_chain slc_flow_pixel;

/* PET: raw files of frames, in order of time, to coincidences. The last item is of no input: it has what the
 * windows still held. A batch ends at batch_bytes alone, 16 of a frame. config.exec is the chain's. */
typedef struct slc_flow_pet_setup {
    const slc_pet_config *config;
    const slc_pet_tables *tables;
    /* What comes of each file, opened by the flow, closed by the caller after it: with it, a file that cannot
     * be read ends there, and the next is read. NULL: that is an error of the flow's. */
    slc_io_pet_inputs *inputs;
    /* As in slc_io_pet_inputs; marks come with the batches, and those behind the last frame stay there. */
    const slc_io_pet_format *format;
    bool own_formats, keep_marks;
} slc_flow_pet_setup;
typedef slc_pet_batch slc_flow_pet_result;
SLC_API extern const slc_flow_chain slc_flow_pet;

/* ---- running ------------------------------------------------------------------------------------- */

/* Opens the first worker's chain; nothing is read yet. SLC_ERR_USAGE: the configuration, or the chain's
 * setup. */
SLC_API slc_status slc_flow_open(const slc_flow_config *config, const slc_flow_chain *chain,
                                 const void *setup, slc_flow **flow, slc_error *error);
/* NULL is allowed. Items that the caller holds are gone with it. It waits for what workers have begun and for
 * a read, but not for a pipe that stays silent, or that nobody has opened to write. */
SLC_API void slc_flow_close(slc_flow *flow);

/* The next item, in the order of reading; SLC_END after the last; the error of the first batch, input or
 * chain that failed. One thread at a time. With SLC_END and without keep_going `error` is written, too: its
 * text says what reading has lost and found, or that nothing was read, and is empty if all is well. */
SLC_API slc_status slc_flow_next(slc_flow *flow, slc_flow_item **item, slc_error *error);
SLC_API void slc_flow_release(slc_flow *flow, slc_flow_item *item); /* NULL is allowed */
/* From any thread: nothing more is read; what was read is still handed out, but for a read that is under way,
 * and nothing that a chain with state still holds. */
SLC_API void slc_flow_cancel(slc_flow *flow);

/* Before the first _next: reads another batch and runs the first chain over it, to learn what the rest
 * depends on; then, with what `setup` points to changed, it may run again (`chain` of _rerun gives access to
 * the first worker's). _next hands these out first, run anew. SLC_END after the last. Not of chains that keep
 * state between batches. Its items are not released. */
SLC_API slc_status slc_flow_ahead(slc_flow *flow, slc_flow_item **item, slc_error *error);
SLC_API slc_status slc_flow_rerun(slc_flow *flow, slc_flow_item *item, slc_error *error);
SLC_API void *slc_flow_first_chain(slc_flow *flow);

/* What the flow has come to. */
typedef struct slc_flow_totals {
    uint32_t workers;
    uint64_t items, events, lost_events;
    /* Of all that was handed out and is SLC_OK, and over how many events (docs/formats/checksum.md). */
    uint64_t checksum, n_summed;
    slc_faults faults;                 /* of reading */
    double seconds;                    /* of wall time since the first _next */
    double reading, working, starving; /* inside the calls; the last two summed over the workers */
    uint32_t first_input, n_inputs;    /* of config.part: its inputs */
    uint64_t first_place;              /* and where in the first of them it begins (bytes, pages or frames) */
    uint64_t first_event; /* the number, through all inputs, of its first event: with config.count_before */
    uint64_t unlocked_bytes; /* that the system would not page-lock for GPUs meanwhile, for all flows */
} slc_flow_totals;
SLC_API void slc_flow_totals_of(slc_flow *flow, slc_flow_totals *totals);

#ifdef __cplusplus
}
#endif
#endif
