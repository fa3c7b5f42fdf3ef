/* SPDX-License-Identifier: Apache-2.0
 *
 * A toy chain for tests of the flow: a path's name says what its input does ("5": five batches; "3!": three
 * and an error; "x": cannot be opened), a script what fails, and everything that is called is counted.
 */
#ifndef TESTS_SUPPORT_FLOW_TOY_H
#define TESTS_SUPPORT_FLOW_TOY_H

#include <sluice/run_flow.h>

#include <pthread.h>
#include <stdatomic.h>

enum { NEVER = -1 };

/* What a run is to do, and what it did. Counters of one thread are plain memory: were they two threads', the
 * thread sanitizer would say so. */
typedef struct flow_script {
    int work_fails, work_fails_too, open_fails, step_fails, stop_after;
    bool delays;
    atomic_int n_chains, n_chains_open, n_inputs_open, n_worked, n_users_cleared;
    atomic_int n_early; /* finished in another thread than worked on */
    atomic_int wrong;
    int n_read, n_finished; /* read: the reader's */
    atomic_int read_now, handed;
    uint32_t most_in_flight;
} flow_script;

typedef struct flow_made {
    int number, product;
    bool is_finished;
    pthread_t finisher;
} flow_made;

typedef struct flow_toy_chain {
    flow_script *s;
    atomic_int busy;
    int sum; /* of the numbers that it has seen */
} flow_toy_chain;

flow_script flow_script_new(void);
/* Keeps the script: its stop, its step in the worker, n_slots as what may be in flight. */
slc_flow_config flow_toy_config(flow_script *s, const char *const *paths, uint32_t n_paths, uint32_t threads,
                                uint32_t n_slots);
/* The next number into the item, for a `read` of the test's own. */
slc_status flow_toy_take(flow_script *s, slc_flow_item *item);
void flow_toy_delay(const flow_script *s, int salt);
int flow_toy_results(void); /* that are open */

/* Their setup is a pointer to a pointer to a script. The second keeps state, and its last item has the sum.
 */
extern const slc_flow_chain flow_toy, flow_toy_with_state;

#endif
