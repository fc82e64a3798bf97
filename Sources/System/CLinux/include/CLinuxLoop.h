/* For the event loop, the sockets and the journal: calls that glibc declares only under _GNU_SOURCE or that
 * the Glibc import leaves out. Return values and errno are those of the call behind. */
#pragma once

#include <sys/types.h>

/* A nonblocking, close-on-exec eventfd with the count 0. */
int CLinux_eventfd(void);

/* The next connection of a listening socket, nonblocking and close-on-exec from birth. */
int CLinux_accept4(int listener);

/* SO_PEERCRED: who the other end of a connected Unix socket was when it connected. */
int CLinux_peer_credentials(int socket, pid_t *_Nonnull pid, uid_t *_Nonnull uid, gid_t *_Nonnull gid);

/* The calling thread's name, as ps -L and gdb show it; at most 15 bytes. */
int CLinux_name_thread(const char *_Nonnull name);

/* Hands a descriptor over a connected Unix stream socket, with one byte, which is all that is sent there. Does not wait. */
int CLinux_send_descriptor(int socket, int descriptor);

/* Takes a descriptor that was handed over so, close-on-exec. -1 with errno; -2: the other end has closed. Does not wait. */
int CLinux_receive_descriptor(int socket);

/* Whether the kernel's clock is synchronised (adjtimex): 1 or 0; -1 with errno. */
int CLinux_clock_is_synchronised(void);

/* poll(2) of struct pollfd to the nanosecond (ppoll); without end for a negative time. */
int CLinux_poll(void *_Nonnull descriptors, unsigned long count, long long nanoseconds);
