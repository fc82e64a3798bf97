#define _GNU_SOURCE
#include "CTestProbe.h"

#include <sys/socket.h>

int CTestProbe_accept(int listener) { return accept4(listener, 0, 0, SOCK_CLOEXEC); }
