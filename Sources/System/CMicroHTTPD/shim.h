/* libmicrohttpd takes its options through a variadic function, which Swift cannot call. */
#pragma once
#include <microhttpd.h>

typedef void *_Nullable (*CMicroHTTPD_TargetCallback)(
    void *_Nullable context, const char *_Nonnull target, struct MHD_Connection *_Nonnull connection);

/* Keeps percent escapes as they are. */
static inline size_t CMicroHTTPD_keep(
    void *_Nullable context, struct MHD_Connection *_Nullable connection, char *_Nonnull text) {
    size_t length = 0;
    (void) context;
    (void) connection;
    while (text[length]) length++;
    return length;
}

/* Serves connections added with MHD_add_connection, on the caller's thread: the caller calls MHD_run() when the epoll
   descriptor is readable. NULL: a system call failed. */
static inline struct MHD_Daemon *_Nullable CMicroHTTPD_start(
    unsigned int connections, size_t connection_memory, unsigned int idle_seconds,
    MHD_AccessHandlerCallback _Nonnull handler, MHD_RequestCompletedCallback _Nonnull completed,
    MHD_NotifyConnectionCallback _Nonnull connection_changed, CMicroHTTPD_TargetCallback _Nonnull target,
    void *_Nonnull context) {
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handler, context,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_NOTIFY_CONNECTION, connection_changed, context,
        MHD_OPTION_URI_LOG_CALLBACK, target, context,
        MHD_OPTION_UNESCAPE_CALLBACK, CMicroHTTPD_keep, NULL,
        MHD_OPTION_END);
}

/* The epoll descriptor, readable when there is work; -1 if there is none. */
static inline int CMicroHTTPD_epoll(struct MHD_Daemon *_Nonnull daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

/* The connection's socket; -1 if it has none. */
static inline int CMicroHTTPD_descriptor(struct MHD_Connection *_Nonnull connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? (int) info->connect_fd : -1;
}
