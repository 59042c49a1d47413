// Socket options of Linux that the C library's own headers lack or give as macros Swift can't see.
#ifndef HANDOFF_LINUX_SOCKETS_H
#define HANDOFF_LINUX_SOCKETS_H

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
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
// What is ready, waiting at most `milliseconds` for it (-1: for ever): token and events of each, at most 128.
static inline int handoff_epoll_take(int set, uint64_t *tokens, uint32_t *events, int count, int milliseconds) {
    struct epoll_event ready[128];
    int found = epoll_wait(set, ready, count < 128 ? count : 128, milliseconds);
    for (int i = 0; i < found; i++) {
        tokens[i] = ready[i].data.u64;
        events[i] = ready[i].events;
    }
    return found;
}
static inline int handoff_wake_descriptor(void) {
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

// Asks for the time of arrival and the destination address with every datagram (struct in6_pktinfo is hidden behind
// _GNU_SOURCE: IPV6_RECVPKTINFO = 49, IPV6_PKTINFO = 50).
static inline int handoff_datagram_details(int descriptor, int is_ipv6) {
    int on = 1;
    if (setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0) return -1;
    if (is_ipv6 && setsockopt(descriptor, IPPROTO_IPV6, 49, &on, sizeof on) != 0) return -1;
    return setsockopt(descriptor, IPPROTO_IP, IP_PKTINFO, &on, sizeof on) == 0 || is_ipv6 ? 0 : -1;
}

// One datagram: its bytes, sender, destination address (family 0 when unknown), kernel time (0 when unknown), and whether
// it was longer than the buffer.
static inline ssize_t handoff_receive_datagram(int descriptor, void *bytes, size_t count, struct sockaddr_storage *from,
                                               struct sockaddr_storage *to, int64_t *nanoseconds, int *is_cut) {
    union {
        struct cmsghdr header;
        char space[256];
    } control;
    struct iovec piece = {.iov_base = bytes, .iov_len = count};
    struct msghdr message = {.msg_name = from,
                             .msg_namelen = sizeof *from,
                             .msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t received = recvmsg(descriptor, &message, 0);
    memset(to, 0, sizeof *to);
    *nanoseconds = 0;
    *is_cut = 0;
    if (received < 0) return received;
    *is_cut = (message.msg_flags & MSG_TRUNC) != 0;
    for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
        if (item->cmsg_level == SOL_SOCKET && item->cmsg_type == SO_TIMESTAMPNS) {
            struct timespec time;
            memcpy(&time, CMSG_DATA(item), sizeof time);
            *nanoseconds = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
        } else if (item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_PKTINFO) {
            // struct in_pktinfo: interface, local address, destination address.
            struct sockaddr_in *ipv4 = (struct sockaddr_in *)to;
            ipv4->sin_family = AF_INET;
            memcpy(&ipv4->sin_addr, CMSG_DATA(item) + 8, 4);
        } else if (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == 50) {
            struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)to;
            ipv6->sin6_family = AF_INET6;
            memcpy(&ipv6->sin6_addr, CMSG_DATA(item), 16);
        }
    }
    return received;
}

// The name that debuggers and `top -H` show for the calling thread (at most 15 bytes).
static inline void handoff_name_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

#endif
