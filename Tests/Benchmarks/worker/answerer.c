/* answerer lines | answerer confirmations COUNT FILE: a program that keeps running. It answers each line of a worker
 * handler with done; or confirms each message of rsyslog's omprog, and creates FILE after COUNT of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words) {
    char *line = NULL;
    size_t room = 0;
    long had = 0, wanted = count > 2 ? atol(words[2]) : 0;
    int answers = count > 1 && !strcmp(words[1], "lines");
    if (!answers) {
        /* Reports that it is ready. */
        puts("OK");
        fflush(stdout);
    }
    while (getline(&line, &room, stdin) > 0) {
        if (answers) {
            char *id = strstr(line, "\"id\":");
            printf("{\"id\":%ld,\"status\":\"handled\"}\n", id ? atol(id + 5) : 0);
        } else {
            puts("OK");
            if (++had == wanted) fclose(fopen(words[3], "w"));
        }
        fflush(stdout);
    }
}
