/* SPDX-License-Identifier: MIT */
/*
 * ksk: the frame of a .ksk file (docs/format/ksk.md).
 *
 *	8 bytes of magic, one of version, seven of zeros; blocks; index blocks; a trailer of 16 bytes:
 *	where the index starts, and its magic
 *
 * Everything between the head and the trailer is blocks as they came from the device, so a file can
 * be written as it grows and read when it is cut. The index says where segments start; whoever
 * finds none steps through the blocks.
 */
#ifndef KISEKI_STORE_KSK_H
#define KISEKI_STORE_KSK_H

#define KSK_MAGIC "KISEKI\r\n"
#define KSK_VERSION 1
#define KSK_HEAD_LEN 16U
#define KSK_TRAILER_MAGIC "KSKINDEX"
#define KSK_TRAILER_LEN 16U

#endif
