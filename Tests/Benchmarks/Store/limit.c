/* Measures SQLite itself on this machine: WAL, synchronous=FULL, one bare row of the payload's size for each delivery,
 * BATCH rows a commit, no thread, no index. Prints rows a second.
 * Usage: limit DIRECTORY BATCH SECONDS BYTES */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void check(sqlite3 *database, int result, int expected) {
    if (result == expected) return;
    fprintf(stderr, "limit: %s\n", sqlite3_errmsg(database));
    exit(1);
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    int batch = atoi(arguments[2]), bytes = atoi(arguments[4]);
    double seconds = atof(arguments[3]);
    char *body = calloc(1, bytes);
    sqlite3 *database;
    if (chdir(arguments[1]) != 0) return 1;
    check(database, sqlite3_open("limit.db", &database), SQLITE_OK);
    check(database, sqlite3_exec(database,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE rows (seq INTEGER PRIMARY KEY, body BLOB)", 0, 0, 0), SQLITE_OK);
    sqlite3_stmt *begin, *insert, *commit;
    check(database, sqlite3_prepare_v2(database, "BEGIN IMMEDIATE", -1, &begin, 0), SQLITE_OK);
    check(database, sqlite3_prepare_v2(database, "INSERT INTO rows (body) VALUES (?)", -1, &insert, 0), SQLITE_OK);
    check(database, sqlite3_prepare_v2(database, "COMMIT", -1, &commit, 0), SQLITE_OK);
    long rows = 0;
    double start = now(), end;
    while ((end = now()) - start < seconds) {
        check(database, sqlite3_step(begin), SQLITE_DONE);
        sqlite3_reset(begin);
        for (int i = 0; i < batch; i++, rows++) {
            sqlite3_bind_blob(insert, 1, body, bytes, SQLITE_STATIC);
            check(database, sqlite3_step(insert), SQLITE_DONE);
            sqlite3_reset(insert);
        }
        check(database, sqlite3_step(commit), SQLITE_DONE);
        sqlite3_reset(commit);
    }
    printf("%.0f\n", rows / (end - start));
    return 0;
}
