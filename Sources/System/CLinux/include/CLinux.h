/* Parts of Linux that `import Glibc` lacks: calls behind _GNU_SOURCE, macros, variadics. One prefix, no logic. */
#pragma once

#include "CLinuxDisk.h"
#include "CLinuxLoop.h"
#include "CLinuxProcess.h"
