/* SPDX-License-Identifier: MIT */
/* guest_linear: see guest_linear.h. */
#include "device/guest/guest_linear.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define HEADERS_MAX 4096U

/* What is not memory, as modules, has no physical address there. */
static void take_segment(struct guest_linear *l, const Elf64_Phdr *s)
{
	if (s->p_type != PT_LOAD || !s->p_paddr || s->p_paddr == UINT64_MAX || !s->p_memsz ||
	    s->p_memsz > UINT64_MAX - s->p_vaddr || l->n == GUEST_LINEAR_MAX)
		return;
	l->piece[l->n].from = s->p_vaddr;
	l->piece[l->n].to = s->p_vaddr + s->p_memsz;
	l->piece[l->n++].physical = s->p_paddr;
}

void guest_linear_load(struct guest_linear *l, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Phdr segment;
	Elf64_Ehdr head;
	uint32_t i;

	l->n = 0;
	if (fd < 0 || pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(segment) || head.e_phoff > HEADERS_MAX)
		return;
	for (i = 0; i < head.e_phnum && i < HEADERS_MAX; i++) {
		if (pread(fd, &segment, sizeof(segment),
			  (off_t)(head.e_phoff + i * sizeof(segment))) != (ssize_t)sizeof(segment))
			return;
		take_segment(l, &segment);
	}
}

bool guest_linear_get(const struct guest_linear *l, uint64_t address, uint64_t *ret)
{
	uint32_t i;

	for (i = 0; i < l->n; i++) {
		if (address < l->piece[i].from || address >= l->piece[i].to)
			continue;
		*ret = l->piece[i].physical + (address - l->piece[i].from);
		return true;
	}
	return false;
}
