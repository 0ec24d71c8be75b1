/* SPDX-License-Identifier: MIT */
/*
 * build_id: see build_id.h.
 *
 * Memory is read through the kernel, which answers with an error where nothing is mapped: another
 * thread may close the object at this very moment. Where the kernel refuses that, it is read
 * straight. All is bounded by the object's own mapping, since the header may be anything.
 */
#include "device/func/build_id.h"

#include <elf.h>
#include <link.h>
#include <sys/uio.h>

#include "device/func/sys.h"

#define NOTES_MAX 4096U
#define HEADERS_MAX 64U

static bool peek(uint64_t at, void *out, size_t len)
{
	struct iovec local = { .iov_base = out, .iov_len = len };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)at, .iov_len = len };
	ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	if (n < 0 && (errno == ENOSYS || errno == EPERM)) {
		memcpy(out, (const void *)(uintptr_t)at, len);
		return true;
	}
	return n == (ssize_t)len;
}

static uint64_t align4(uint64_t v)
{
	return (v + 3) & ~3ULL;
}

/* The build-id among these notes. */
static uint32_t find_note(uint64_t at, uint64_t end, uint8_t ret[MAPS_BUILD_ID_MAX])
{
	ElfW(Nhdr) note;
	char name[4];

	while (end - at >= sizeof(note) && peek(at, &note, sizeof(note))) {
		uint64_t desc = at + sizeof(note) + align4(note.n_namesz);

		if (note.n_namesz > NOTES_MAX || note.n_descsz > NOTES_MAX ||
		    desc + note.n_descsz > end)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    note.n_descsz <= MAPS_BUILD_ID_MAX && peek(at + sizeof(note), name, 4) &&
		    !memcmp(name, "GNU", 4))
			return peek(desc, ret, note.n_descsz) ? note.n_descsz : 0;
		at = desc + align4(note.n_descsz);
		if (at > end)
			return 0;
	}
	return 0;
}

uint32_t build_id_get(uint64_t head, uint64_t end, uint8_t ret[MAPS_BUILD_ID_MAX])
{
	ElfW(Ehdr) elf;
	ElfW(Phdr) p;
	uint64_t at, bias = head, note;
	uint32_t i, len = 0;

	if (end - head < sizeof(elf) || !peek(head, &elf, sizeof(elf)) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_phentsize != sizeof(p) ||
	    elf.e_phnum > HEADERS_MAX || elf.e_phoff > end - head ||
	    elf.e_phnum * sizeof(p) > end - head - elf.e_phoff)
		return 0;
	at = head + elf.e_phoff;
	/* Notes come before the segments that are loaded, so the bias is looked for first. A segment of
	 * zeros alone has no place in the file, and may say that it were the first. */
	for (i = 0; i < elf.e_phnum; i++)
		if (peek(at + i * sizeof(p), &p, sizeof(p)) && p.p_type == PT_LOAD &&
		    p.p_offset == 0 && p.p_filesz)
			bias = head - p.p_vaddr;
	for (i = 0; i < elf.e_phnum && !len; i++) {
		if (!peek(at + i * sizeof(p), &p, sizeof(p)) || p.p_type != PT_NOTE)
			continue;
		note = bias + p.p_vaddr;
		if (note >= head && note < end && p.p_memsz <= end - note)
			len = find_note(note, note + p.p_memsz, ret);
	}
	return len;
}
