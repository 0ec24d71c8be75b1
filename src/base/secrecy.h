/* SPDX-License-Identifier: MIT */
/*
 * secrecy: a process that holds a key or a password shows its memory to nobody.
 *
 * No core file is written when it crashes, and other processes of the same user cannot read its memory, attach to
 * it or see its environment in /proc; root can. Keys are in memory that a library of others allocates, so
 * to leave out single pages would leave copies in. It is entered where secrets are read (key_file.h), so
 * that none of the programs can forget it; it is for good.
 */
#ifndef KISEKI_BASE_SECRECY_H
#define KISEKI_BASE_SECRECY_H

void secrecy_enter(void);

#endif
