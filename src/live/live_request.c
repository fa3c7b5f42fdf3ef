/* SPDX-License-Identifier: Apache-2.0
 *
 * What a request is for, and whether it is granted.
 */
#include "live/live_request.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *path;
    bool open; /* without a token: what tells nothing of the run */
} paths[SLC_LIVE_PATHS] = {
    [SLC_LIVE_PATH_NONE] = {"", true},
    [SLC_LIVE_PATH_PAGE] = {"/", true},
    [SLC_LIVE_PATH_SCRIPT] = {"/page.js", true},
    [SLC_LIVE_PATH_STYLE] = {"/page.css", true},
    [SLC_LIVE_PATH_STATUS] = {"/status.json", false},
    [SLC_LIVE_PATH_MAP] = {"/map.bin", false},
    [SLC_LIVE_PATH_EVENT] = {"/event.json", false},
    [SLC_LIVE_PATH_METRICS] = {"/metrics", false},
    [SLC_LIVE_PATH_HEALTH] = {"/healthz", true},
};

static const struct {
    unsigned status;
    const char *name, *text;
} verdicts[SLC_LIVE_VERDICTS] = {
    [SLC_LIVE_GRANTED] = {200, "granted", ""},
    [SLC_LIVE_BAD_METHOD] = {405, "method", "only GET and HEAD, without a body: nothing can be changed here"},
    [SLC_LIVE_BAD_HOST] = {421, "host",
                           "this page answers to addresses in numbers and to localhost alone, as in "
                           "http://127.0.0.1:8080/: a name could lead here from another site"},
    [SLC_LIVE_BAD_PATH] =
        {404, "path",
         "there are: / /page.js /page.css /status.json /map.bin?block=N /event.json?n=N /metrics "
         "/healthz"},
    [SLC_LIVE_BAD_TOKEN] =
        {401, "token",
         "the token of --serve-token is missing or wrong: \"Authorization: Bearer TOKEN\", or "
         "#TOKEN behind the address of the page"},
    [SLC_LIVE_BAD_QUESTION] = {400, "question", "block and n are whole numbers, history is 1"},
    [SLC_LIVE_BAD_REQUEST] = {400, "request", "no HTTP"},
};

unsigned slc_live_verdict_status(slc_live_verdict verdict)
{
    return verdicts[verdict].status;
}

const char *slc_live_verdict_name(slc_live_verdict verdict)
{
    return verdicts[verdict].name;
}

const char *slc_live_verdict_text(slc_live_verdict verdict)
{
    return verdicts[verdict].text;
}

/* ":8080", ":", or nothing. */
static bool is_port(const char *text)
{
    if (*text == '\0') {
        return true;
    }
    const size_t digits = *text == ':' ? strspn(text + 1, "0123456789") : 0;
    return *text == ':' && digits <= 5 && text[1 + digits] == '\0';
}

bool slc_live_host_is_ours(const char *host)
{
    char name[64];
    unsigned char address[sizeof(struct in6_addr)];
    if (host == NULL) {
        return false;
    }
    const bool six = host[0] == '[';
    const size_t n = strcspn(host + (six ? 1 : 0), six ? "]" : ":");
    if (n == 0 || n >= sizeof name) {
        return false;
    }
    memcpy(name, host + (six ? 1 : 0), n);
    name[n] = '\0';
    const char *rest = host + n + (six ? 1 : 0);
    if (six) {
        return *rest == ']' && is_port(rest + 1) && inet_pton(AF_INET6, name, address) == 1;
    }
    return is_port(rest) && (strcasecmp(name, "localhost") == 0 || inet_pton(AF_INET, name, address) == 1);
}

bool slc_live_same_secret(const char *secret, const char *given)
{
    const size_t n = strlen(secret), m = strlen(given);
    volatile unsigned differs = n != m || n == 0;
    for (size_t i = 0; i < m; i++) {
        differs |= (unsigned)(unsigned char)secret[n > 0 ? i % n : 0] ^ (unsigned)(unsigned char)given[i];
    }
    return differs == 0;
}

bool slc_live_token_is_good(const char *token)
{
    static const char unlike[] = "\"<>`%"; /* a browser writes these otherwise after an address's # */
    size_t n = 0;
    for (; token[n] > 0x20 && token[n] < 0x7f && strchr(unlike, token[n]) == NULL; n++) {
    }
    return token[n] == '\0' && strncmp(token, "token=", 6) != 0 && n >= SLC_LIVE_TOKEN_LEAST &&
           n <= SLC_LIVE_TOKEN;
}

static bool bears(const char *authorization, const char *token)
{
    static const char scheme[] = "Bearer ";
    return authorization != NULL && strncasecmp(authorization, scheme, sizeof scheme - 1) == 0 &&
           slc_live_same_secret(token, authorization + sizeof scheme - 1);
}

/* Digits, and not so many that they do not fit. */
static bool whole(const char *text, uint64_t *number)
{
    const size_t n = text != NULL ? strspn(text, "0123456789") : 0;
    if (n == 0 || n > 18 || text[n] != '\0') {
        return false;
    }
    *number = 0;
    for (size_t i = 0; i < n; i++) {
        *number = 10 * *number + (uint64_t)(text[i] - '0');
    }
    return true;
}

/* The question behind a path; what a path knows nothing of is not looked at. */
static slc_live_verdict ask(const slc_live_request *request, slc_live_answer *answer)
{
    bool good = true;
    if (answer->path == SLC_LIVE_PATH_MAP) {
        answer->has_number = request->block != NULL;
        good = request->block == NULL ||
               (whole(request->block, &answer->number) && answer->number <= UINT32_MAX);
    } else if (answer->path == SLC_LIVE_PATH_EVENT) {
        answer->has_number = request->n != NULL;
        good = request->n == NULL || whole(request->n, &answer->number);
    } else if (answer->path == SLC_LIVE_PATH_STATUS && request->history != NULL) {
        good = whole(request->history, &answer->number) && answer->number <= 1;
    }
    return good ? SLC_LIVE_GRANTED : SLC_LIVE_BAD_QUESTION;
}

slc_live_answer slc_live_request_judge(const slc_live_request *request, const char *token)
{
    slc_live_answer answer = {.verdict = SLC_LIVE_BAD_METHOD};
    const bool head = strcmp(request->method, "HEAD") == 0;
    if ((!head && strcmp(request->method, "GET") != 0) || request->has_body) {
        return answer;
    }
    if (!slc_live_host_is_ours(request->host)) {
        answer.verdict = SLC_LIVE_BAD_HOST;
        return answer;
    }
    for (int i = SLC_LIVE_PATH_PAGE; i < SLC_LIVE_PATHS; i++) {
        answer.path = strcmp(request->path, paths[i].path) == 0 ? (slc_live_path)i : answer.path;
    }
    if (answer.path == SLC_LIVE_PATH_NONE) {
        answer.verdict = SLC_LIVE_BAD_PATH;
    } else if (token[0] != '\0' && !paths[answer.path].open && !bears(request->authorization, token)) {
        answer.verdict = SLC_LIVE_BAD_TOKEN;
    } else {
        answer.verdict = ask(request, &answer);
    }
    return answer;
}
