/* SPDX-License-Identifier: MIT */
/* errno: see types.h. The numbers that the driver's core answers with. */
#ifndef _LINUX_ERRNO_H
#define _LINUX_ERRNO_H

#define EPROTO 71
#define ECONNRESET 104

#endif
