// Socket options of Linux that the C library's own headers lack or give as macros Swift can't see.
#ifndef HANDOFF_LINUX_SOCKETS_H
#define HANDOFF_LINUX_SOCKETS_H

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

// The original destination of a redirected IPv4 connection (nf_conntrack, SO_ORIGINAL_DST = 80).
static inline int handoff_original_destination_ipv4(int descriptor, struct sockaddr_in *address) {
    socklen_t length = sizeof *address;
    return getsockopt(descriptor, IPPROTO_IP, 80, address, &length);
}

// The same for IPv6 (IP6T_SO_ORIGINAL_DST = 80).
static inline int handoff_original_destination_ipv6(int descriptor, struct sockaddr_in6 *address) {
    socklen_t length = sizeof *address;
    return getsockopt(descriptor, IPPROTO_IPV6, 80, address, &length);
}

// Lets a listener take connections to any address (TPROXY); needs CAP_NET_ADMIN. IP_TRANSPARENT = 19, IPV6_TRANSPARENT = 75.
static inline int handoff_set_transparent(int descriptor, int is_ipv6) {
    int on = 1;
    return is_ipv6 ? setsockopt(descriptor, IPPROTO_IPV6, 75, &on, sizeof on)
                   : setsockopt(descriptor, IPPROTO_IP, 19, &on, sizeof on);
}

// Two fields of TCP_INFO by their place in the kernel's interface: <linux/tcp.h> clashes with <netinet/tcp.h>, which has no
// tcpi_bytes_acked. 0, or -1 when the kernel is too old (before 4.1) to tell.
static inline int handoff_tcp_acknowledged(int descriptor, uint64_t *bytes, uint8_t *state) {
    unsigned char info[128] = {0};
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, 11 /* TCP_INFO */, info, &length) != 0 || length < 128) return -1;
    *state = info[0];
    memcpy(bytes, info + 120, sizeof *bytes);
    return 0;
}

// A socket that never blocks and is not inherited (the SOCK_ constants are an enumeration that Swift finds only at times).
static inline int handoff_socket(int is_ipv4, int is_stream) {
    return socket(is_ipv4 ? AF_INET : AF_INET6, (is_stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

// accept4 is hidden behind _GNU_SOURCE, so the flags are set after the fact where it can't be seen.
int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
static inline int handoff_accept(int descriptor, struct sockaddr *address, socklen_t *length) {
    return accept4(descriptor, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

// epoll_event is a packed struct with a union, which Swift would have to copy field by field.
static inline int handoff_epoll_add(int set, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
}
static inline int handoff_epoll_remove(int set, int descriptor) {
    struct epoll_event event = {0};
    return epoll_ctl(set, EPOLL_CTL_DEL, descriptor, &event);
}
// Takes what is ready now, without waiting: token and events of each, at most 128.
static inline int handoff_epoll_take(int set, uint64_t *tokens, uint32_t *events, int count) {
    struct epoll_event ready[128];
    int found = epoll_wait(set, ready, count < 128 ? count : 128, 0);
    for (int i = 0; i < found; i++) {
        tokens[i] = ready[i].data.u64;
        events[i] = ready[i].events;
    }
    return found;
}

#endif
