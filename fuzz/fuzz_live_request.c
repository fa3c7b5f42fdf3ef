/* SPDX-License-Identifier: Apache-2.0
 * Any texts as a request for the live page: method, path, Host, Authorization, query, one a line. */
#include "fuzz.h"
#include "live/live_request.h"
#include "live/live_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char token[] = "a-token-of-24-characters";
    char *text = malloc(size + 1), *part[7] = {NULL};
    fuzz_require(text != NULL, "memory");
    memcpy(text, bytes, size);
    text[size] = '\0';
    char *at = text;
    for (int i = 0; i < 7 && at != NULL; i++) {
        part[i] = at;
        at = strchr(at, '\n');
        if (at != NULL) {
            *at++ = '\0';
        }
    }
    const slc_live_request request = {.method = part[0] != NULL ? part[0] : "",
                                      .path = part[1] != NULL ? part[1] : "",
                                      .host = part[2],
                                      .authorization = part[3],
                                      .block = part[4],
                                      .n = part[5],
                                      .history = part[6]};
    const slc_live_answer open = slc_live_request_judge(&request, ""),
                          closed = slc_live_request_judge(&request, token);
    fuzz_require(open.verdict != SLC_LIVE_BAD_TOKEN, "nobody is asked for a token that there is not");
    fuzz_require((open.verdict != SLC_LIVE_GRANTED) || open.path != SLC_LIVE_PATH_NONE,
                 "what is granted is a path of ours");
    fuzz_require(closed.verdict == open.verdict || closed.verdict == SLC_LIVE_BAD_TOKEN,
                 "a token changes nothing else");
    fuzz_require(slc_live_verdict_status(open.verdict) >= 200, "every verdict has a status");
    slc_live_text json = {.text = NULL};
    slc_live_text_string(&json, text);
    slc_live_text_label(&json, text);
    fuzz_require(!json.failed && json.size >= 2, "any text can be written");
    slc_live_text_clear(&json);
    free(text);
    return 0;
}
