#define _GNU_SOURCE
#include "CLinuxLoop.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

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

int CLinux_name_thread(const char *name) { return pthread_setname_np(pthread_self(), name); }
