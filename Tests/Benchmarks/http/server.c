/* A web server that answers 204 to every request, and keeps connections: one thread, epoll. Prints its port; at SIGTERM
 * the numbers of requests and connections. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { connections_max = 4096, buffer_size = 1 << 16 };
static struct connection { char buffer[buffer_size + 1]; size_t used; } *connections[connections_max];
static volatile sig_atomic_t stopped;

static void stop(int signal) { (void)signal; stopped = 1; }

/* Removes the complete requests, and answers them. Returns their number, or -1 when one is too long. */
static int answer(int file, struct connection *c) {
    static const char reply[] = "HTTP/1.1 204 No Content\r\n\r\n";
    int count = 0;
    for (;;) {
        c->buffer[c->used] = 0;
        char *end = strstr(c->buffer, "\r\n\r\n");
        if (!end) return c->used == buffer_size ? -1 : count;
        char *length = strcasestr(c->buffer, "\r\ncontent-length:");
        size_t whole = (size_t)(end + 4 - c->buffer) + (length && length < end ? strtoul(length + 17, NULL, 10) : 0);
        if (whole > buffer_size) return -1;
        if (c->used < whole) return count;
        memmove(c->buffer, c->buffer + whole, c->used - whole);
        c->used -= whole;
        count++;
        if (write(file, reply, sizeof reply - 1) < 0) return -1;
    }
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), poll = epoll_create1(0), one = 1;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 512)) return 1;
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[64];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    long requests = 0, accepted = 0;
    while (!stopped) {
        int ready = epoll_wait(poll, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            int file = events[i].data.fd;
            if (file == listener) {
                int new = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
                if (new < 0) continue;
                if (new >= connections_max) { close(new); continue; }
                setsockopt(new, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                connections[new] = calloc(1, sizeof *connections[new]);
                accepted++;
                event = (struct epoll_event){.events = EPOLLIN, .data.fd = new};
                epoll_ctl(poll, EPOLL_CTL_ADD, new, &event);
                continue;
            }
            struct connection *c = connections[file];
            ssize_t count = read(file, c->buffer + c->used, buffer_size - c->used);
            int answered = -1;
            if (count > 0) {
                c->used += (size_t)count;
                answered = answer(file, c);
            }
            if (answered < 0) {
                free(c);
                close(file);
            } else {
                requests += answered;
            }
        }
    }
    fprintf(stderr, "server: %ld requests over %ld connections\n", requests, accepted);
    return 0;
}
