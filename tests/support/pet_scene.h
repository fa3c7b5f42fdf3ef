/* SPDX-License-Identifier: Apache-2.0
 *
 * An acquisition over loopback for tests: frames are sent in a thread of their own as soon as all sockets are
 * open, and the acquisition ends a while after the last of them. Include behind cmocka_all.h.
 */
#ifndef SUPPORT_PET_SCENE_H
#define SUPPORT_PET_SCENE_H

#include <sluice/daq_pet.h>

#include "support/pet_raw.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

typedef struct scene {
    void (*send)(struct scene *scene); /* NULL: nothing comes, and the acquisition ends by itself */
    long end_ms;                       /* from the last frame to the end */
    slc_daq_pet_config config;
    slc_daq_pet_counts counts;
    slc_error error;
    char address[4][96];
    uint32_t n_addresses;
    slc_pet_frame *frames;
    size_t n;
    slc_daq_pet_send_config how;
    uint64_t sent, datagrams;
    slc_status send_status;
    slc_error send_error;
    pthread_t thread;
    bool started;
    atomic_bool sent_all; /* the sender has returned */
    /* What a test's callbacks note. */
    uint32_t lives;
    bool wait; /* the results are taken only when all has been sent */
    uint64_t pairs, singles;
    uint64_t chain_frames, chain_skipped, chain_gaps, last; /* of batches */
} scene;

static inline void nap(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&time, NULL);
}

static inline void *send_in_thread(void *argument)
{
    scene *s = argument;
    s->send(s);
    nap(s->end_ms); /* the last ones are on their way */
    atomic_store(&s->sent_all, true);
    return NULL;
}

static inline void on_listening(void *context, uint32_t socket, const char *address, size_t room)
{
    scene *s = context;
    assert_true(room > 0);
    (void)snprintf(s->address[socket], sizeof s->address[socket], "%s", address);
    if (++s->n_addresses == s->config.n_listen && s->send != NULL) {
        s->started = pthread_create(&s->thread, NULL, send_in_thread, s) == 0;
    }
}

static inline bool on_stop(void *context)
{
    scene *s = context;
    return s->send != NULL && atomic_load(&s->sent_all);
}

/* To the test's file, through the smallest ring. */
static inline void begin(scene *s, uint32_t sockets)
{
    memset(s, 0, sizeof *s);
    s->end_ms = 100;
    slc_daq_pet_config_default(&s->config);
    slc_daq_pet_send_config_default(&s->how);
    s->config.n_listen = sockets;
    for (uint32_t i = 0; i < sockets; i++) {
        s->config.listen[i] = "127.0.0.1:0";
    }
    s->config.output = path;
    s->config.context = s;
    s->config.listening = on_listening;
    s->config.stop = on_stop;
    s->config.ring_bytes = 1; /* the least */
    s->config.seconds = 30;   /* a test that hangs ends, and fails */
}

static inline slc_status acquire(scene *s)
{
    const slc_status status = slc_daq_pet_acquire(&s->config, &s->counts, &s->error);
    if (s->started) {
        (void)pthread_join(s->thread, NULL);
    }
    return status;
}

/* The scene's frames, to all of its sockets. */
static inline void send_frames(scene *s)
{
    s->how.n_to = s->n_addresses;
    for (uint32_t i = 0; i < s->n_addresses; i++) {
        s->how.to[i] = s->address[i];
    }
    s->send_status = slc_daq_pet_send_frames(&s->how, s->frames, s->n, &s->sent, &s->datagrams,
                                             &s->send_error);
}

#endif
