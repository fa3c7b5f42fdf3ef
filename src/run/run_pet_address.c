/* SPDX-License-Identifier: Apache-2.0
 * Addresses of UDP sockets as people write them. */
#include "run/run_pet_address.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Cuts "HOST:PORT"; the host may stand in brackets, as it must where it has colons, or be empty: any. */
static bool cut(const char *address, char host[256], char port[8])
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
    if (size >= 256) {
        return false;
    }
    memcpy(host, address, size);
    host[size] = '\0';
    (void)snprintf(port, 8, "%s", colon + 1);
    return true;
}

static slc_status open_at(const char *address, bool listen, int *file, slc_error *error)
{
    char host[256], port[8];
    *file = -1;
    if (!cut(address, host, port)) {
        return slc_fail(error, SLC_ERR_USAGE, "'%s' is no address: HOST:PORT or [HOST]:PORT", address);
    }
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_DGRAM,
                                   .ai_flags = AI_NUMERICSERV | (listen ? AI_PASSIVE : 0)};
    struct addrinfo *found = NULL;
    const int wrong = getaddrinfo(host[0] != '\0' ? host : NULL, port, &hints, &found);
    if (wrong != 0) {
        return slc_fail(error, SLC_ERR_IO, "%s: %s", address, gai_strerror(wrong));
    }
    int last = EADDRNOTAVAIL;
    for (const struct addrinfo *a = found; a != NULL && *file < 0; a = a->ai_next) {
        const int made = socket(a->ai_family, SOCK_DGRAM, 0);
        if (made >= 0 && (listen ? bind(made, a->ai_addr, a->ai_addrlen)
                                 : connect(made, a->ai_addr, a->ai_addrlen)) == 0) {
            *file = made;
        } else {
            last = errno;
            if (made >= 0) {
                (void)close(made);
            }
        }
    }
    freeaddrinfo(found);
    return *file >= 0 ? SLC_OK
                      : slc_fail(error, SLC_ERR_IO, "%s: cannot %s: %s", address,
                                 listen ? "listen there" : "send there", strerror(last));
}

slc_status slc_run_pet_listen(const char *address, int *file, slc_error *error)
{
    return open_at(address, true, file, error);
}

slc_status slc_run_pet_connect(const char *address, int *file, slc_error *error)
{
    return open_at(address, false, file, error);
}

void slc_run_pet_address_of(int file, char *text, size_t size)
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
