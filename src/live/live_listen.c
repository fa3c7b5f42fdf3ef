/* SPDX-License-Identifier: Apache-2.0
 *
 * The one socket that a page is served at: of this machine alone, unless more was asked for.
 */
#include "live/live_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef union place {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
} place;

/* "127.0.0.1:8080", "[::1]:8080". */
static bool parse(const char *text, place *p, socklen_t *size)
{
    char host[64];
    const bool six = text[0] == '[';
    const char *begin = text + (six ? 1 : 0);
    const size_t n = strcspn(begin, six ? "]" : ":");
    const char *colon = begin + n + (six && begin[n] == ']' ? 1 : 0);
    const size_t digits = *colon == ':' ? strspn(colon + 1, "0123456789") : 0;
    if (n >= sizeof host || digits == 0 || digits > 5 || colon[1 + digits] != '\0' ||
        (six && begin[n] != ']')) {
        return false;
    }
    const unsigned long port = strtoul(colon + 1, NULL, 10);
    memcpy(host, begin, n);
    host[n] = '\0';
    memset(p, 0, sizeof *p);
    if (six) {
        p->six.sin6_family = AF_INET6;
        p->six.sin6_port = htons((uint16_t)port);
        *size = sizeof p->six;
        return port <= 65535 && inet_pton(AF_INET6, host, &p->six.sin6_addr) == 1;
    }
    p->four.sin_family = AF_INET;
    p->four.sin_port = htons((uint16_t)port);
    *size = sizeof p->four;
    return port <= 65535 && inet_pton(AF_INET, host, &p->four.sin_addr) == 1;
}

static bool is_loopback(const place *p)
{
    return p->any.sa_family == AF_INET ? ntohl(p->four.sin_addr.s_addr) >> 24 == 127
                                       : IN6_IS_ADDR_LOOPBACK(&p->six.sin6_addr) != 0;
}

static int try_socket(const place *p, socklen_t size)
{
    const int on = 1, file = socket(p->any.sa_family, SOCK_STREAM, 0);
    if (file < 0) {
        return -1;
    }
    const bool six = p->any.sa_family == AF_INET6;
    if (fcntl(file, F_SETFD, FD_CLOEXEC) != 0 || fcntl(file, F_SETFL, O_NONBLOCK) != 0 ||
        setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        (six && setsockopt(file, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0) ||
        bind(file, &p->any, size) != 0 || listen(file, 1024) != 0) {
        const int why = errno;
        (void)close(file);
        errno = why;
        return -1;
    }
    return file;
}

static void put_url(int file, char *url, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "";
    place p;
    socklen_t length = sizeof p;
    memset(&p, 0, sizeof p);
    (void)getsockname(file, &p.any, &length);
    const bool six = p.any.sa_family == AF_INET6;
    (void)inet_ntop(p.any.sa_family, six ? (const void *)&p.six.sin6_addr : (const void *)&p.four.sin_addr,
                    host, sizeof host);
    (void)snprintf(url, size, six ? "http://[%s]:%u/" : "http://%s:%u/", host,
                   ntohs(six ? p.six.sin6_port : p.four.sin_port));
}

slc_status slc_live_listen(const slc_live_config *config, int *file, char *url, size_t size, slc_error *error)
{
    place p;
    socklen_t length = 0;
    const char *text = config->address;
    *file = -1;
    if (!parse(text, &p, &length)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "'%s' is no address for a page: 127.0.0.1:8080 or [::1]:8080 is one", text);
    }
    if (!is_loopback(&p) && (!config->anywhere || config->token == NULL)) {
        return slc_fail(
            error, SLC_ERR_USAGE,
            "%s can be reached from other machines: a page is served there only if that is asked for "
            "(--serve-anywhere), and with a token (--serve-token)",
            text);
    }
    *file = try_socket(&p, length);
    if (*file < 0) {
        return slc_fail(error, SLC_ERR_IO, "%s: cannot serve a page there: %s", text, strerror(errno));
    }
    put_url(*file, url, size);
    return SLC_OK;
}
