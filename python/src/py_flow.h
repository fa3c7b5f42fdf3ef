/* SPDX-License-Identifier: Apache-2.0
 *
 * A flow of the library's as an iterator of batches, whatever its chain. A chain is a table (core_chain), in
 * a file of its own: what its batches hold, and what it adds to counting and telling.
 *
 *     opening o;
 *     my_setup *setup = calloc(1, sizeof *setup);
 *     if (!core_flow_begin(state, &my_chain, values[COMMON], setup, &o)) return NULL;   takes setup
 *     ... sets what setup and o.config need; on failure: return core_flow_drop(&o)
 *     return core_flow_open(state, &o, &setup->flow);
 */
#ifndef SLUICE_PYTHON_FLOW_H
#define SLUICE_PYTHON_FLOW_H

#include "py_core.h"

/* Seconds after which a wait for a batch looks after signals. */
#define CORE_PATIENCE 0.02

typedef struct running running;

/* What a batch of a chain holds. */
typedef struct group {
    const char *name;
    const slc_schema *schema; /* NULL: `find` tells it */
    size_t place;             /* of the collection in the item's result, or with `of_user` in item->user */
    const char *with; /* the argument of open() that makes it, as "impacts=True"; NULL: always there */
    /* The collection in place of all that, and its schema, which is the item's or the setup's; NULL: none,
     * and the attribute is not there. */
    const void *(*find)(const running *r, const slc_flow_item *item, const slc_schema **schema);
    uint32_t bit; /* of `with`, which running.has has then */
    bool of_user;
} group;

/* Lines that are told at the end of an input, each a DamageWarning. They are lost if there is no memory. */
typedef struct core_lines {
    PyObject *list;
} core_lines;
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void core_tell(core_lines *lines, const char *format, ...);
/* Lines as warnings. False with an error set, which a filter makes of them. */
bool core_warn(core_state *state, const core_lines *lines);

/* Functions are called with the interpreter's lock, but for `opened`; each but `faults` may be NULL. */
typedef struct core_chain {
    const slc_flow_chain *flow;
    const group *groups;       /* up to one without a name */
    void (*free)(void *setup); /* gives back what the setup holds, and itself; NULL: free() */
    /* The flow is open, and nothing read yet. Without the interpreter's lock. */
    slc_status (*opened)(running *r, slc_error *error);
    /* Adds what is wrong with the events of a batch. */
    void (*faults)(const slc_flow_item *item, slc_faults *into);
    /* A batch comes by, in order, before it is handed out: sums, what is the item's own (item->user). */
    slc_status (*take)(running *r, slc_flow_item *item, slc_error *error);
    /* An input has ended (also for on_fault "ignore"; what is told is dropped then); all have. */
    void (*end)(running *r, const slc_flow_item *end, core_lines *lines);
    void (*end_all)(running *r, core_lines *lines);
    /* Another attribute of a batch, whose memory `owner` keeps: a number, an array. NULL without an error:
     * there is none of this name. `names`: what there is, up to a NULL. */
    PyObject *(*attribute)(core_state *state, PyObject *owner, const running *r, const slc_flow_item *item,
                           const char *name);
    const char *const *names;
    /* Adds to Reader.totals. False with an error set. */
    bool (*totals)(const running *r, PyObject *dict);
} core_chain;

typedef enum on_fault { ON_FAULT_WARN = 0, ON_FAULT_IGNORE, ON_FAULT_RAISE } on_fault;

/* A flow that is under way, with all that it needs. */
struct running {
    slc_flow *flow;
    const core_chain *chain;
    void *setup; /* the chain's */
    char **paths;
    uint32_t n_paths;
    uint32_t has;      /* bits of groups that were asked for */
    slc_faults faults; /* of the input at hand */
    long process;      /* that opened it: its threads are not in a child of fork() */
    on_fault on_fault;
    char device[256];  /* config.exec.device */
    _Atomic bool stop; /* asked by the flow where it may end reading: see slc_flow_config.stop */
};

/* What open() of a chain is making. */
typedef struct opening {
    PyObject *owner; /* of `running` */
    running *running;
    slc_flow_config config;
    PyObject *progress; /* borrowed of the arguments */
} opening;

/* Of the tuple that sluice._flow.common() makes of paths, batch, threads, on_fault, progress and device.
 * Takes `setup`, also on failure. False with an error set. */
bool core_flow_begin(core_state *state, const core_chain *chain, PyObject *common, void *setup, opening *to);
/* The reader; takes what is open. `setup` is what the library's chain is given. */
PyObject *core_flow_open(core_state *state, opening *o, const void *setup);
PyObject *core_flow_drop(opening *o); /* NULL */

/* Bytes of a path, which *bytes keeps; NULL with an error set. */
const char *core_path(PyObject *object, PyObject **bytes);

/* Numbers as a member of a dict. False with an error set. */
bool core_put_u64(PyObject *dict, const char *name, uint64_t value);
bool core_put_double(PyObject *dict, const char *name, double value);
/* What is made of n entries is no number without any. */
bool core_put_double_of(PyObject *dict, const char *name, double value, uint64_t n);
/* `dict`, or NULL, which takes it, if `good` is false. */
PyObject *core_whole(PyObject *dict, bool good);
bool core_put(PyObject *dict, const char *name, PyObject *value); /* takes the value, which may be NULL */
/* A count by name. */
PyObject *core_fault_counts(const slc_faults *faults);

/* ---- py_batch.c ---- */

/* Takes the item, also on failure. */
PyObject *core_batch_new(core_state *state, PyObject *flow, slc_flow_item *item);
int core_batch_add(PyObject *module, core_state *state);

#endif
