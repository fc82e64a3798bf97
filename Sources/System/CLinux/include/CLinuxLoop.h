/* For the event loop, the sockets and the journal: calls that glibc declares only under _GNU_SOURCE or that the Glibc
 * import leaves out. Return values and errno are those of the underlying call. */
#pragma once

#include <sys/types.h>

/* Creates a nonblocking, close-on-exec eventfd with the count 0. */
int CLinux_eventfd(void);

/* Accepts the next connection of a listening socket, nonblocking and close-on-exec. */
int CLinux_accept4(int listener);

/* Reads SO_PEERCRED: the credentials that the peer of a Unix socket had when it connected. */
int CLinux_peer_credentials(int socket, pid_t *_Nonnull pid, uid_t *_Nonnull uid, gid_t *_Nonnull gid);

/* Reads SO_PEERGROUPS: the supplementary groups that the peer of a Unix socket had when it connected. Returns their
 * number, which may exceed count: then none was read. -1 with errno. */
int CLinux_peer_groups(int socket, gid_t *_Nonnull groups, unsigned count);

/* Sets the calling thread's name, shown by ps -L and gdb; at most 15 bytes. */
int CLinux_name_thread(const char *_Nonnull name);

/* Sends a descriptor over a connected Unix stream socket (SCM_RIGHTS), with one byte, the only data on that socket.
 * Does not wait. */
int CLinux_send_descriptor(int socket, int descriptor);

/* Receives a descriptor sent this way, close-on-exec. -1 with errno; -2 if the peer has closed. Does not wait. */
int CLinux_receive_descriptor(int socket);

/* Returns whether the kernel's clock is synchronised (adjtimex): 1 or 0; -1 with errno. */
int CLinux_clock_is_synchronised(void);

/* poll(2) of struct pollfd with a timeout in nanoseconds (ppoll); a negative one means no limit. */
int CLinux_poll(void *_Nonnull descriptors, unsigned long count, long long nanoseconds);

/* Reads the size of a terminal (TIOCGWINSZ). */
int CLinux_terminal_size(int terminal, int *_Nonnull columns, int *_Nonnull lines);
