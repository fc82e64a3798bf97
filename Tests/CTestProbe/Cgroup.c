#define _GNU_SOURCE
#include "CTestProbe.h"

#include <sys/xattr.h>

int CTestProbe_delegate(const char *cgroup) { return setxattr(cgroup, "user.delegate", "1", 1, 0); }
