/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: from fragment to fragment of an event, whose sizes may be damaged, by the rules of
 * docs/formats/cms-raw.md. The index of a batch walks this way over an event that is complete; the reader of
 * files over a stream of events of which it sees more and more, and in which events have no size of their
 * own. Behind damage the index looks at every fourth byte, as fragments are words; the reader at every byte,
 * as one lost byte moves all events behind it.
 */
#ifndef SLUICE_CMS_FRAGMENT_H
#define SLUICE_CMS_FRAGMENT_H

#include <sluice/cms_types.h>

enum {
    SLC_CMS_EVENT_HEAD = 4,    /* number of fragments */
    SLC_CMS_FRAGMENT_HEAD = 8, /* id and size */
    SLC_CMS_FRAGMENT_WORD = 8, /* header, trailer */
    SLC_CMS_FRAGMENT_LEAST = 2 * SLC_CMS_FRAGMENT_WORD,
    SLC_CMS_FRAGMENT_START = SLC_CMS_FRAGMENT_HEAD + SLC_CMS_FRAGMENT_WORD, /* that show where one begins */
    SLC_CMS_EVENT_FRAGMENTS = 4096, /* a larger number alone begins no event: ids have 12 bits */
    SLC_CMS_HOLE = 256, /* so many bytes of 0 are no events without fragments, but a hole in the file */
    /* Bytes that show whether an event begins, however many of its first fragments are empty. */
    SLC_CMS_EVENT_START = SLC_CMS_EVENT_HEAD + SLC_CMS_FEDS * SLC_CMS_FRAGMENT_HEAD + SLC_CMS_FRAGMENT_START
};

/* The bytes of an event from its number of fragments on. */
typedef struct slc_cms_view {
    const uint8_t *bytes;
    size_t size;  /* that are there */
    bool whole;   /* nothing comes behind them */
    bool stream;  /* other events may follow */
    size_t limit; /* an event has at most so many bytes */
} slc_cms_view;

typedef enum slc_cms_step {
    SLC_CMS_STEP_FRAGMENT = 0, /* one was found, whether its size is right or not */
    SLC_CMS_STEP_EMPTY,        /* one of size 0: a FED without data */
    SLC_CMS_STEP_LOST,         /* bytes that are no fragment, up to `end` */
    SLC_CMS_STEP_END,          /* here the bytes end, or another event begins */
    SLC_CMS_STEP_MORE,         /* `want` bytes must be there to decide */
    SLC_CMS_STEP_LARGE         /* the event does not end within the limit */
} slc_cms_step;

typedef struct slc_cms_fragment {
    uint32_t fed;
    bool damaged;      /* the size is wrong, or there is none */
    size_t begin, end; /* of its headers, words and trailers */
    size_t want;
} slc_cms_fragment;

/* The step from byte `at`, at least SLC_CMS_EVENT_HEAD; the next one is from fragment->end. */
slc_cms_step slc_cms_fragment_next(const slc_cms_view *view, size_t at, slc_cms_fragment *fragment);

/* Whether a fragment with data begins at bytes of which `size` are there; false with fewer than
 * SLC_CMS_FRAGMENT_START. */
bool slc_cms_fragment_begins(const uint8_t *bytes, size_t size);
/* Whether here is a fragment of size 0. Where fewer than SLC_CMS_FRAGMENT_START bytes are there, none may
 * come behind them. */
bool slc_cms_fragment_is_empty(const uint8_t *bytes, size_t size);
/* Whether a fragment with data begins here, or behind empty ones: at most `most` in all. */
bool slc_cms_fragments_begin(const uint8_t *bytes, size_t size, uint32_t most);
/* Whether an event begins that has such a fragment. SLC_CMS_EVENT_START bytes suffice. */
bool slc_cms_event_begins(const uint8_t *bytes, size_t size);

/* Fields of the 64-bit words of headers and trailers. */
bool slc_cms_word_is_header(const uint8_t *bytes);
bool slc_cms_word_is_trailer(const uint8_t *bytes);
uint32_t slc_cms_header_source(const uint8_t *bytes);
uint32_t slc_cms_trailer_length(const uint8_t *bytes); /* in 64-bit words */

#endif
