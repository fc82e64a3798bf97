/* callers http PORT CALLERS REQUESTS BODY_FILE | callers inject SOCKET CALLERS REQUESTS PAYLOAD_FILE: so many callers,
 * each of which sends a request, waits until it is done, and sends the next. Over HTTP a request is done with its
 * answer; over inject.sock with the outcome. Prints the rate of finished requests a second, and p50 and p99 of the wait
 * in milliseconds. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 1 << 16 };

struct caller {
    int file;
    size_t used;
    int64_t asked;
    char buffer[BUFFER + 1];
};

static char *request;
static size_t request_length;
static int is_http;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void ask(struct caller *caller) {
    caller->asked = now();
    if (write(caller->file, request, request_length) != (ssize_t)request_length) err(1, "cannot ask");
}

/* Whether the received bytes complete the request; removes them then. */
static int is_done(struct caller *caller) {
    caller->buffer[caller->used] = 0;
    char *end;
    if (is_http) {
        if (!(end = strstr(caller->buffer, "\r\n\r\n"))) return 0;
        char *length = strcasestr(caller->buffer, "\r\ncontent-length:");
        end += 4 + (length ? strtoul(length + 17, NULL, 10) : 0);
        if (end > caller->buffer + caller->used) return 0;
        if (strncmp(caller->buffer, "HTTP/1.1 200", 12)) errx(1, "answered: %.200s", caller->buffer);
    } else {
        char *outcome = strstr(caller->buffer, "\"outcome\":");
        if (strstr(caller->buffer, "\"error\"")) errx(1, "refused: %.200s", caller->buffer);
        if (!outcome || !(end = strchr(outcome, '\n'))) return 0;
        if (strncmp(outcome, "\"outcome\":\"handled\"", 19)) errx(1, "ended so: %.200s", outcome);
        end++;
    }
    caller->used -= end - caller->buffer;
    memmove(caller->buffer, end, caller->used);
    return 1;
}

static int connected(const char *place) {
    struct sockaddr_in port = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(atoi(place))};
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    strncpy(path.sun_path, place, sizeof path.sun_path - 1);
    int file = socket(is_http ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
    if (connect(file, is_http ? (void *)&port : (void *)&path, is_http ? sizeof port : sizeof path)) err(1, "%s", place);
    return file;
}

static int by_length(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

int main(int count, char **words) {
    if (count != 6) errx(2, "usage: callers http|inject PLACE CALLERS REQUESTS FILE");
    is_http = !strcmp(words[1], "http");
    int callers = atoi(words[3]), requests = atoi(words[4]);
    FILE *file = fopen(words[5], "r");
    char body[BUFFER] = "";
    if (!file) err(1, "%s", words[5]);
    size_t length = fread(body, 1, sizeof body - 1, file);
    while (length && body[length - 1] == '\n') body[--length] = 0;
    request_length = is_http ? asprintf(&request,
        "POST /hooks/noop HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s", length,
        body) : asprintf(&request, "{\"op\":\"deliver\",\"payload\":%s,\"wait\":\"outcome\"}\n", body);
    int poll = epoll_create1(0);
    int64_t *waits = calloc(requests, sizeof *waits), start = now();
    int asked = 0, done = 0;
    for (int i = 0; i < callers && asked < requests; i++, asked++) {
        struct caller *caller = calloc(1, sizeof *caller);
        caller->file = connected(words[2]);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = caller};
        epoll_ctl(poll, EPOLL_CTL_ADD, caller->file, &event);
        ask(caller);
    }
    while (done < requests) {
        struct epoll_event events[64];
        int ready = epoll_wait(poll, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            struct caller *caller = events[i].data.ptr;
            ssize_t read_now = read(caller->file, caller->buffer + caller->used, BUFFER - caller->used);
            if (read_now <= 0) errx(1, "a connection was closed");
            caller->used += read_now;
            if (!is_done(caller)) continue;
            waits[done++] = now() - caller->asked;
            if (asked < requests) { asked++; ask(caller); }
        }
    }
    double seconds = (now() - start) / 1e9;
    qsort(waits, done, sizeof *waits, by_length);
    printf("%.0f %.2f %.2f\n", done / seconds, waits[done / 2] / 1e6, waits[done * 99 / 100] / 1e6);
}
