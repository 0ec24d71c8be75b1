/* SPDX-License-Identifier: MIT */
/*
 * kernel_abi: numbers and structs of the kernel's interface that are needed here. They never change; a C library that
 * comes without the kernel's headers, as small ones do, can so be used as it is.
 */
#ifndef KISEKI_DEVICE_BOOT_KERNEL_ABI_H
#define KISEKI_DEVICE_BOOT_KERNEL_ABI_H

#include <stdint.h>

/* Netlink. */
#define ABI_NETLINK_CONNECTOR 11
#define ABI_NETLINK_GENERIC 16
#define ABI_MESSAGE_HEAD 16U /* bytes: length, type, flags, sequence, port */
#define ABI_MESSAGE_ERROR 2U
#define ABI_MESSAGE_DONE 3U
#define ABI_MESSAGE_FIRST 16U /* types from here on are of a family */
#define ABI_FLAG_REQUEST 1U
#define ABI_FLAG_ACK 4U
#define ABI_ATTRIBUTE_TYPE 0x3fffU

struct abi_netlink_address {
	uint16_t family; /* AF_NETLINK */
	uint16_t zero;
	uint32_t port, groups;
};

/* The generic family's own. */
#define ABI_GENERIC_CONTROL 16U
#define ABI_GENERIC_GET_FAMILY 3U
#define ABI_GENERIC_FAMILY_ID 1U
#define ABI_GENERIC_FAMILY_NAME 2U

/* The connector of process events. */
#define ABI_CONNECTOR_PROCESSES 1U /* number and value of it */
#define ABI_CONNECTOR_LISTEN 1U
#define ABI_PROCESS_NONE 0x00000000U
#define ABI_PROCESS_FORK 0x00000001U
#define ABI_PROCESS_EXEC 0x00000002U
#define ABI_PROCESS_COMM 0x00000200U
#define ABI_PROCESS_EXIT 0x80000000U

/* A socket's filter. */
struct abi_filter {
	uint16_t code;
	uint8_t yes, no;
	uint32_t k;
};

struct abi_filter_program {
	unsigned short len;
	struct abi_filter *filter;
};

#define ABI_FILTER_LOAD 0x20U /* a word at a place */
#define ABI_FILTER_TO_X 0x07U
#define ABI_FILTER_JUMP 0x05U
#define ABI_FILTER_IF_EQUAL 0x15U   /* to k */
#define ABI_FILTER_IF_EQUAL_X 0x1dU /* to X */
#define ABI_FILTER_RETURN 0x06U

/* File systems, by what statfs() says. */
#define ABI_PROC 0x9fa0U
#define ABI_RAMFS 0x858458f6U
#define ABI_TMPFS 0x01021994U

#endif
