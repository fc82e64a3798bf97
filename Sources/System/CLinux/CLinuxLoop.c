#define _GNU_SOURCE
#include "CLinuxLoop.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <time.h>

int CLinux_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

int CLinux_accept4(int listener) { return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }

int CLinux_peer_credentials(int socket, pid_t *pid, uid_t *uid, gid_t *gid) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    int result = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length);
    if (result == 0) {
        *pid = credentials.pid;
        *uid = credentials.uid;
        *gid = credentials.gid;
    }
    return result;
}

int CLinux_peer_groups(int socket, gid_t *groups, unsigned count) {
    socklen_t length = count * sizeof *groups;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &length) != 0 && errno != ERANGE)
        return -1;
    return length / sizeof *groups;
}

int CLinux_name_thread(const char *name) { return pthread_setname_np(pthread_self(), name); }

/* Room for one descriptor, aligned as the kernel wants it (cmsg(3)). */
union one_descriptor {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr header;
};

int CLinux_send_descriptor(int socket, int descriptor) {
    char byte = 0;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    union one_descriptor control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 ? 0 : -1;
}

int CLinux_receive_descriptor(int socket) {
    char byte;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    union one_descriptor control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (count == 0) return -2;
    if (count < 0) return -1;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
        errno = EPROTO;
        return -1;
    }
    int descriptor;
    memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
    return descriptor;
}

int CLinux_clock_is_synchronised(void) {
    struct timex facts = {.modes = 0};
    int state = adjtimex(&facts);
    return state < 0 ? -1 : state != TIME_ERROR && (facts.status & STA_UNSYNC) == 0;
}

int CLinux_poll(void *descriptors, unsigned long count, long long nanoseconds) {
    struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return ppoll(descriptors, count, nanoseconds < 0 ? NULL : &time, NULL);
}

int CLinux_terminal_size(int terminal, int *columns, int *lines) {
    struct winsize size;
    if (ioctl(terminal, TIOCGWINSZ, &size) != 0) return -1;
    *columns = size.ws_col;
    *lines = size.ws_row;
    return 0;
}
