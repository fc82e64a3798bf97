/* What `import Glibc` lacks on Linux: calls behind _GNU_SOURCE, macros, variadics. One prefix, no logic. */
#pragma once

#include "CLinuxLoop.h"
#include "CLinuxProcess.h"
