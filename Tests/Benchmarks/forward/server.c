/* A server that accepts every POST /users/track: one thread, keep-alive. Counts requests and elements of "events".
 * usage: server PORTFILE    Writes its port there; at SIGTERM prints "REQUESTS ELEMENTS". */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char answer[] =
    "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n{\"message\":\"success\"}";
static volatile sig_atomic_t is_stopping;
static long requests, elements;

struct client {
    size_t length;
    char input[1 << 21];
};

static void stop(int number) {
    (void)number;
    is_stopping = 1;
}

/* Answers the complete requests; returns 0 when the client is gone. */
static int serve(int socket, struct client *client) {
    ssize_t count = recv(socket, client->input + client->length, sizeof client->input - 1 - client->length, 0);
    if (count <= 0) return 0;
    client->length += count;
    for (;;) {
        client->input[client->length] = 0;
        char *end = strstr(client->input, "\r\n\r\n");
        char *field = end ? strcasestr(client->input, "\r\ncontent-length:") : NULL;
        if (!field) return 1;
        size_t whole = end + 4 - client->input + strtoul(field + 17, NULL, 10);
        if (client->length < whole) return 1;
        requests++;
        for (char *name = end; (name = memmem(name, client->input + whole - name, "\"name\":", 7)); name += 7) elements++;
        if (send(socket, answer, sizeof answer - 1, MSG_NOSIGNAL) < 0) return 0;
        memmove(client->input, client->input + whole, client->length - whole);
        client->length -= whole;
    }
}

int main(int count, char **words) {
    if (count != 2) return 2;
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    struct pollfd polls[64] = {{.fd = socket(AF_INET, SOCK_STREAM, 0), .events = POLLIN}};
    struct client *clients[64] = {0};
    int used = 1;
    if (bind(polls[0].fd, (void *)&address, length) || listen(polls[0].fd, 64) ||
        getsockname(polls[0].fd, (void *)&address, &length))
        return 1;
    FILE *file = fopen(words[1], "w");
    fprintf(file, "%d\n", ntohs(address.sin_port));
    fclose(file);
    while (!is_stopping) {
        if (poll(polls, used, -1) < 0) continue;
        for (int i = used - 1; i > 0; i--) {
            if (!polls[i].revents || serve(polls[i].fd, clients[i])) continue;
            close(polls[i].fd);
            free(clients[i]);
            used--;
            polls[i] = polls[used];
            clients[i] = clients[used];
        }
        if (polls[0].revents && used < 64) {
            clients[used] = calloc(1, sizeof **clients);
            polls[used++] = (struct pollfd){.fd = accept(polls[0].fd, NULL, NULL), .events = POLLIN};
        }
    }
    printf("%ld %ld\n", requests, elements);
    return 0;
}
