// Socket options of Linux that the C library's own headers lack or give as macros Swift can't see.
#ifndef HANDOFF_LINUX_SOCKETS_H
#define HANDOFF_LINUX_SOCKETS_H

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/tcp.h>

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

// What the kernel knows of a TCP connection; older kernels fill in less, and `filled` says how much.
static inline int handoff_tcp_info(int descriptor, struct tcp_info *info, socklen_t *filled) {
    memset(info, 0, sizeof *info);
    *filled = sizeof *info;
    return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, filled);
}

#endif
