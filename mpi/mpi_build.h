/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `sluice-mpi build`: event building. Readout units have the packets (MFPs) of their sources for packs
 * of consecutive events; every process serves units and is a builder, which pulls its packs (pack p is of
 * builder p modulo their number) and makes events of them.
 * mpi_build.c          options, the run, what all processes agree on
 * mpi_build_units.c    which units there are, and what they have for a pack
 * mpi_build_split.c    units that are made of a file of events
 * mpi_build_files.c    units that are files of packets
 * mpi_build_exchange.c who has what ready, and pulling it
 * mpi_build_bench.c    the exchange beside copying in memory
 * mpi_build_work.c     what builders do with events
 * mpi_build_print.c    what it came to
 */
#ifndef SLUICE_MPI_BUILD_H
#define SLUICE_MPI_BUILD_H

#include "mpi_commands.h"
#include "mpi_world.h"

#include <sluice/sluice.h>

#include <pthread.h>
#include <stdatomic.h>

typedef struct slc_build_options {
    const char *geometry, *config, *output;
    uint64_t generate, rate, packs, packing, in_flight, piece, repeat;
    double timeout;
    slc_cli_number_list stall;
    bool split, json, quiet;
} slc_build_options;

/* ---- units ------------------------------------------------------------------------------------- */

/* One of the run's units, as everybody knows it. */
typedef struct slc_build_unit {
    const char *name; /* of its file; NULL: there is none */
    int rank;         /* who serves it */
    uint32_t n_sources;
    slc_io_mfp_source *sources; /* by rising number */
    uint64_t bytes;             /* of its fragments or of its file, as they were shared out */
    slc_faults faults;
} slc_build_unit;

/* The packs of a run: of `packing` events from event_id on, but for the last. */
typedef struct slc_build_packs {
    uint64_t event_id, n_events, n_packs;
    uint32_t packing;
} slc_build_packs;
uint32_t slc_build_events_of(const slc_build_packs *packs, uint64_t pack);

typedef struct slc_build_split slc_build_split;
typedef struct slc_build_file slc_build_file;

/* What a process serves. A pack of it is the sizes of its units (8 bytes each, for each of them), then their
 * bytes, each from a multiple of 8 on. */
typedef struct slc_build_units {
    slc_build_unit *all;
    uint32_t n_all, n_mine;
    uint32_t *mine; /* in `all` */
    slc_build_packs packs;
    uint64_t capacity;                                   /* bytes that a pack of this process has at most */
    uint64_t lost_events, cut_events, incomplete_events; /* of reading what is split */
    char damage[512];                                    /* the reader's line on it */
    slc_build_split *split;
    slc_build_file **files; /* of mine */
    uint64_t generate;      /* bytes of a pack */
    double rate;            /* bytes in a second; 0: as fast as they are taken */
} slc_build_units;

/* Collective. */
slc_status slc_build_units_open(slc_build_units *units, const slc_mpi_world *world,
                                const slc_build_options *options, char **inputs, int n_inputs,
                                slc_error *error);
void slc_build_units_close(slc_build_units *units);
/* What this process has for a pack, to `to`; packs are asked for in their order. `given_up`: nobody wants it.
 * `used`: the room held this process's pack before. */
slc_status slc_build_units_fill(slc_build_units *units, uint64_t pack, bool given_up, bool used, uint8_t *to,
                                uint64_t *size, slc_error *error);

/* A file of events, all of whose sources are shared out over the processes, by bytes. */
slc_status slc_build_split_open(slc_build_split **split, slc_build_units *units, const slc_mpi_world *world,
                                uint32_t packing, char **inputs, int n_inputs, slc_error *error);
void slc_build_split_close(slc_build_split *split);
/* Of sources that are `rank`'s; the caller frees them. */
slc_status slc_build_split_sources(const slc_build_split *split, int rank, slc_io_mfp_source **sources,
                                   uint32_t *n, uint64_t *bytes, slc_error *error);
uint64_t slc_build_split_capacity(const slc_build_split *split);
slc_status slc_build_split_fill(slc_build_split *split, uint64_t pack, uint32_t n_events, uint8_t *to,
                                uint64_t *size, slc_error *error);

/* A file of packets. */
slc_status slc_build_file_open(slc_build_file **file, const char *path, slc_error *error);
void slc_build_file_close(slc_build_file *file);
/* Which packs it seems to be of. */
slc_build_packs slc_build_file_packs(const slc_build_file *file);
/* Puts its packets into packs, and says which sources it has. */
slc_status slc_build_file_settle(slc_build_file *file, const slc_build_packs *packs,
                                 slc_io_mfp_source **sources, uint32_t *n, slc_error *error);
uint64_t slc_build_file_capacity(const slc_build_file *file);
uint64_t slc_build_file_size(const slc_build_file *file, uint64_t pack);
void slc_build_file_fill(const slc_build_file *file, uint64_t pack, uint8_t *to);

/* By bytes, longest first into the lightest of n bins: `bin` of each. NULL bins: no memory. */
slc_status slc_build_balance(const uint64_t *bytes, uint32_t n, int bins, int *bin);

/* ---- exchange ---------------------------------------------------------------------------------- */

/* A pack on its way to this process, its builder. */
typedef struct slc_build_pull {
    uint64_t pack;
    bool begun;
    slc_batch batch;
    uint8_t *state; /* of each process: waited for, on its way, late */
    uint64_t *size;
    MPI_Request *requests;
    size_t n_requests, request_capacity;
} slc_build_pull;

typedef struct slc_build_exchange {
    slc_mpi_world world;
    slc_build_units *units;
    uint64_t n_packs, piece, slot_bytes;
    uint64_t *capacity, *at; /* of each process: of its slots, and its place in a batch */
    uint32_t in_flight, n_slots;
    double timeout, *patience; /* seconds that are left to wait for each process */
    MPI_Win window;
    bool has_window;
    uint8_t *base;         /* words, then slots */
    slc_build_pull *pulls; /* in_flight */
    /* The thread that fills slots, and what it came to. */
    pthread_t thread;
    bool has_thread, filled; /* all slots have held a pack */
    atomic_bool stop;
    const slc_cli_number_list *stall;
    slc_status status;
    slc_error error;
    uint64_t bytes;                  /* pulled */
    double seconds, seconds_waiting; /* pulling; of these, until something was ready */
    double processor;                /* seconds of the builder's thread in pulling, but for waiting */
} slc_build_exchange;

/* All are collective but _pull. */
slc_status slc_build_exchange_open(slc_build_exchange *exchange, const slc_mpi_world *world,
                                   slc_build_units *units, const slc_build_options *options,
                                   slc_error *error);
/* Begins to serve packs from the first; _end when this process has pulled or dropped all that are its own. */
slc_status slc_build_exchange_begin(slc_build_exchange *exchange, slc_error *error);
slc_status slc_build_exchange_end(slc_build_exchange *exchange, slc_error *error);
void slc_build_exchange_close(slc_build_exchange *exchange);
/* Number k of this process's packs, with what others had in time; later ones are begun. `drop`: it is not
 * wanted, and *pull is NULL. */
slc_status slc_build_exchange_pull(slc_build_exchange *exchange, uint64_t k, bool drop, slc_build_pull **pull,
                                   slc_error *error);
/* Seconds of processor time of the calling thread: what a step costs, however many share the processors. */
double slc_build_processor(void);
/* Waits for all processes. */
void slc_build_barrier(void);
enum { SLC_BUILD_WAITED = 0, SLC_BUILD_COMING, SLC_BUILD_LATE };
uint8_t *slc_build_exchange_slot(const slc_build_exchange *exchange, uint64_t pack);

/* ---- work -------------------------------------------------------------------------------------- */

typedef struct slc_build_totals {
    uint64_t events, lost_events, incomplete_events, cut_events;
    uint64_t superpixels, isolated, pixels, hits, tracks, primaries;
    uint64_t checksum, bytes, packs;
    double exchange, waiting, building, velo, writing; /* seconds, summed over the processes */
    double cpu_exchange, cpu_building, cpu_velo;       /* the same of processor time */
    double seconds;                                    /* of all of it */
    slc_faults faults;                                 /* of events */
} slc_build_totals;

typedef struct slc_build_job {
    const slc_build_options *options;
    slc_mpi_world world;
    slc_build_units units;
    slc_build_exchange exchange;
    slc_velo_config config;
    slc_velo_geometry *geometry; /* NULL: the ideal one */
    slc_velo_chain *chain;
    slc_velo_result result;
    slc_io_writer *writer; /* NULL without -o */
    char *output;          /* this process's */
    uint8_t *event;        /* the banks of one */
    size_t event_capacity;
    slc_io_mfp_unit *parts; /* of the pack at hand */
    slc_build_totals totals;
    slc_error error;
} slc_build_job;

slc_status slc_build_work_open(slc_build_job *job, slc_error *error);
void slc_build_work_close(slc_build_job *job);
/* Events of a pack that was pulled: built, reconstructed, written. */
slc_status slc_build_events(slc_build_job *job, slc_build_pull *pull, slc_error *error);
slc_status slc_build_work(slc_build_job *job, slc_build_pull *pull, slc_error *error);

/* All processes' totals and faults, in process 0. Collective. */
slc_status slc_build_gather(slc_build_job *job, slc_error *error);
/* By process 0: true if nothing was lost. */
bool slc_build_print(slc_build_job *job, bool *fine);

/* --generate: an exit status. */
int slc_build_bench(slc_build_job *job);

#endif
