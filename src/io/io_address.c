/* SPDX-License-Identifier: Apache-2.0
 * Addresses of sockets as people write them, multicast groups among them. */
#if defined(__linux__)
#define _GNU_SOURCE /* struct group_req, struct ip_mreqn */
#endif
#include "io/io_address.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What the socket is for. */
typedef enum purpose { LISTEN, SEND, REACH } purpose;
typedef struct patience {
    bool (*give_up)(void *context); /* NULL: never */
    void *context;
} patience;

enum { SLICE_MS = 20 /* so often who connects asks whether to go on */ };

/* "HOST%INTERFACE:PORT" in its parts. */
typedef struct parts {
    char host[256], port[8];
    const char *interface; /* NULL: none */
} parts;

/* Cuts; the host may stand in brackets, as it must where it has colons, or be empty: any. */
static bool cut(const char *address, parts *p)
{
    const char *colon = strrchr(address, ':');
    if (colon == NULL || strlen(colon + 1) == 0 || strlen(colon + 1) > 5 ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1) || strtoul(colon + 1, NULL, 10) > 65535) {
        return false;
    }
    size_t size = (size_t)(colon - address);
    if (size >= 2 && address[0] == '[' && address[size - 1] == ']') {
        address++;
        size -= 2;
    } else if (memchr(address, ':', size) != NULL) {
        return false;
    }
    if (size >= sizeof p->host) {
        return false;
    }
    memcpy(p->host, address, size);
    p->host[size] = '\0';
    (void)snprintf(p->port, sizeof p->port, "%s", colon + 1);
    char *percent = strchr(p->host, '%');
    p->interface = percent != NULL ? percent + 1 : NULL;
    if (percent != NULL) {
        *percent = '\0';
    }
    return true;
}

static bool is_group(const struct addrinfo *a)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): filled by its caller */
    if (a->ai_family == AF_INET) {
        const struct sockaddr_in *at = (const void *)a->ai_addr;
        return IN_MULTICAST(ntohl(at->sin_addr.s_addr));
    }
    return a->ai_family == AF_INET6 &&
           IN6_IS_ADDR_MULTICAST(&((const struct sockaddr_in6 *)(const void *)a->ai_addr)->sin6_addr);
}

/* The interface's number, 0 for the system's choice. */
static unsigned interface_of(const parts *p)
{
    return p->interface != NULL ? if_nametoindex(p->interface) : 0;
}

/* Does an interface belong to the address? If so it is set where the system wants it. */
static bool set_interface(struct addrinfo *a, const parts *p)
{
    struct sockaddr_in6 *six = (void *)a->ai_addr;
    if (a->ai_family != AF_INET6) {
        return is_group(a);
    }
    if (!IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) && !is_group(a)) {
        return false;
    }
    six->sin6_scope_id = interface_of(p);
    return true;
}

/* Bound, and a member of the group if it is one, whose port others may listen at, too. */
static bool listen_at(int file, const struct addrinfo *a, const parts *p)
{
    const int yes = 1;
    if (a->ai_socktype == SOCK_STREAM) { /* also where connections of before have not quite ended */
        return setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
               bind(file, a->ai_addr, a->ai_addrlen) == 0 && listen(file, 64) == 0 &&
               fcntl(file, F_SETFL, O_NONBLOCK) == 0;
    }
    if (!is_group(a)) {
        return bind(file, a->ai_addr, a->ai_addrlen) == 0;
    }
    struct group_req group = {.gr_interface = interface_of(p)};
    memcpy(&group.gr_group, a->ai_addr, a->ai_addrlen);
    return setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
           bind(file, a->ai_addr, a->ai_addrlen) == 0 &&
           setsockopt(file, a->ai_family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6, MCAST_JOIN_GROUP, &group,
                      sizeof group) == 0;
}

/* Connected, and leaving by the interface that is named with a group. */
static bool send_to(int file, const struct addrinfo *a, const parts *p)
{
    const int number = (int)interface_of(p);
    const struct ip_mreqn from = {.imr_ifindex = number};
    int wrong = 0;
    if (p->interface != NULL && is_group(a)) {
        wrong = a->ai_family == AF_INET
                    ? setsockopt(file, IPPROTO_IP, IP_MULTICAST_IF, &from, sizeof from)
                    : setsockopt(file, IPPROTO_IPV6, IPV6_MULTICAST_IF, &number, sizeof number);
    }
    return wrong == 0 && connect(file, a->ai_addr, a->ai_addrlen) == 0;
}

/* A stream, which may take its time until somebody answers. */
static bool reach(int file, const struct addrinfo *a, const patience *p)
{
    struct pollfd ready = {.fd = file, .events = POLLOUT};
    int wrong = 0, n = 0;
    socklen_t size = sizeof wrong;
    if (fcntl(file, F_SETFL, O_NONBLOCK) != 0) {
        return false;
    }
    if (connect(file, a->ai_addr, a->ai_addrlen) == 0) {
        return true;
    }
    while (errno == EINPROGRESS || errno == EINTR) {
        n = poll(&ready, 1, SLICE_MS);
        if (n > 0) {
            (void)getsockopt(file, SOL_SOCKET, SO_ERROR, &wrong, &size);
            errno = wrong;
            return wrong == 0;
        }
        errno = n == 0 ? EINPROGRESS : errno;
        if (p->give_up != NULL && p->give_up(p->context)) {
            errno = ECANCELED;
        }
    }
    return false;
}

/* What a person can do about it. */
static const char *advice(int wrong, purpose why, const struct addrinfo *found)
{
    if (why == REACH) {
        return wrong == ECONNREFUSED ? "; nobody listens there (yet)" : "";
    }
    if (why != LISTEN) {
        return "";
    }
    return wrong == EADDRNOTAVAIL ? "; no interface of this machine has it"
           : wrong == EADDRINUSE
               ? (found->ai_socktype == SOCK_STREAM ? "; ss -tlpn shows by whom" : "; ss -ulpn shows by whom")
           : wrong == EACCES ? "; ports below 1024 are root's (CAP_NET_BIND_SERVICE)"
           : wrong == ENODEV && is_group(found)
               ? "; name the interface of the group, as 239.1.2.3%eth0:9000 or [ff15::1%eth0]:9000"
               : "";
}

bool slc_io_address_is_stream(const char *address)
{
    return strncmp(address, "tcp:", 4) == 0;
}

/* The kind of an address, and the address behind the prefix of one to listen at. */
static int kind_of(const char **address, purpose why)
{
    const bool stream = why == LISTEN && slc_io_address_is_stream(*address);
    *address += stream ? 4 : 0;
    return stream || why == REACH ? SOCK_STREAM : SOCK_DGRAM;
}

static slc_status find(const char *address, purpose why, parts *p, struct addrinfo **found, slc_error *error)
{
    const char *whole = address;
    const int kind = kind_of(&address, why);
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = kind,
                                   .ai_flags = AI_NUMERICSERV | (why == LISTEN ? AI_PASSIVE : 0)};
    if (!cut(address, p)) {
        return slc_fail(error, SLC_ERR_USAGE, "'%s' is no address: HOST:PORT or [HOST]:PORT", whole);
    }
    const int wrong = getaddrinfo(p->host[0] != '\0' ? p->host : NULL, p->port, &hints, found);
    if (wrong != 0) {
        return slc_fail(error, SLC_ERR_IO, "%s: cannot find that address: %s", address, gai_strerror(wrong));
    }
    slc_status status = SLC_OK;
    if (p->interface != NULL && !set_interface(*found, p)) {
        status = slc_fail(error, SLC_ERR_USAGE,
                          "'%s': an interface (%%%s) is of multicast groups and link-local addresses alone",
                          address, p->interface);
    } else if (p->interface != NULL && interface_of(p) == 0) {
        status = slc_fail(error, SLC_ERR_IO, "%s: there is no interface '%s'", address, p->interface);
    }
    if (status != SLC_OK) {
        freeaddrinfo(*found);
    }
    return status;
}

static bool use(int file, const struct addrinfo *a, const parts *p, purpose why, const patience *waits)
{
    return why == LISTEN ? listen_at(file, a, p) : why == SEND ? send_to(file, a, p) : reach(file, a, waits);
}

static slc_status open_at(const char *address, purpose why, const patience *waits, int *file,
                          slc_error *error)
{
    static const char *const verb[] = {"listen there", "send there", "connect"};
    parts p;
    struct addrinfo *found = NULL;
    *file = -1;
    slc_status status = find(address, why, &p, &found, error);
    if (status != SLC_OK) {
        return status;
    }
    int last = EADDRNOTAVAIL;
    for (const struct addrinfo *a = found; a != NULL && *file < 0; a = a->ai_next) {
        const char *rest = address;
        const int made = socket(a->ai_family, kind_of(&rest, why), 0);
        if (made >= 0 && use(made, a, &p, why, waits)) {
            *file = made;
        } else {
            last = errno;
            if (made >= 0) {
                (void)close(made);
            }
        }
    }
    if (*file < 0) {
        status = slc_fail(error, SLC_ERR_IO, "%s: cannot %s: %s%s", address, verb[why], strerror(last),
                          advice(last, why, found));
    }
    freeaddrinfo(found);
    return status;
}

/* Another one of the port that `like` is bound to. */
static int open_beside(const struct sockaddr_storage *like, socklen_t length)
{
    const int yes = 1, file = socket(like->ss_family, SOCK_DGRAM, 0);
    if (file >= 0 && (setsockopt(file, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) != 0 ||
                      bind(file, (const struct sockaddr *)like, length) != 0)) {
        const int wrong = errno;
        (void)close(file);
        errno = wrong;
        return -1;
    }
    return file;
}

static bool is_of_group(const struct sockaddr_storage *at)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): without const, which is not used */
    const struct addrinfo a = {.ai_family = at->ss_family, .ai_addr = (struct sockaddr *)(uintptr_t)at};
    return is_group(&a);
}

/* The first was bound alone, so that no other program is at the port, with whom datagrams would be shared;
 * then it makes room for those that share them. */
static slc_status share(const char *address, uint32_t n, int *files, slc_error *error)
{
    struct sockaddr_storage at;
    socklen_t length = sizeof at;
    if (getsockname(files[0], (struct sockaddr *)&at, &length) != 0) {
        return slc_fail(error, SLC_ERR_IO, "%s: cannot listen there: %s", address, strerror(errno));
    }
    if (is_of_group(&at)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "'%s': each of several sockets would get all that is sent to a group", address);
    }
    (void)close(files[0]);
    files[0] = -1;
    for (uint32_t i = 0; i < n; i++) {
        files[i] = open_beside(&at, length);
        if (files[i] < 0) {
            return slc_fail(error, SLC_ERR_IO, "%s: cannot listen there with several sockets: %s", address,
                            strerror(errno));
        }
    }
    return SLC_OK;
}

slc_status slc_io_address_listen(const char *address, uint32_t n, int *files, slc_error *error)
{
    for (uint32_t i = 0; i < n; i++) {
        files[i] = -1;
    }
    slc_status status = open_at(address, LISTEN, NULL, &files[0], error);
    status = status == SLC_OK && n > 1 ? share(address, n, files, error) : status;
    for (uint32_t i = 0; i < n && status != SLC_OK; i++) {
        if (files[i] >= 0) {
            (void)close(files[i]);
            files[i] = -1;
        }
    }
    return status;
}

slc_status slc_io_address_connect(const char *address, int *file, slc_error *error)
{
    return open_at(address, SEND, NULL, file, error);
}

slc_status slc_io_address_reach(const char *address, bool (*give_up)(void *context), void *context, int *file,
                                slc_error *error)
{
    return open_at(address, REACH, &(patience){give_up, context}, file, error);
}

void slc_io_address_of(int file, char *text, size_t size)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[64] = "?", port[8] = "?";
    if (getsockname(file, (struct sockaddr *)&address, &length) == 0) {
        (void)getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                          NI_NUMERICHOST | NI_NUMERICSERV);
    }
    const bool brackets = strchr(host, ':') != NULL;
    (void)snprintf(text, size, brackets ? "[%s]:%s" : "%s:%s", host, port);
}
