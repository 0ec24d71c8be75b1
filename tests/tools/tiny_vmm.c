/* SPDX-License-Identifier: MIT */
/*
 * tiny_vmm: a virtual machine of x86 whose guest does what the tests know, for hosts too slow to boot a system in it.
 *
 *	tiny_vmm CPU spin|halt|write	runs it, its virtual CPU on that CPU of the host, until SIGTERM
 *	tiny_vmm names			where its guest's functions are, as /proc/kallsyms would say it
 *
 * The guest has one virtual CPU in long mode, with interrupts on and a tick of 10 ms, and two address spaces. In each of them a
 * program computes: three parts of its time in heavy(), one in light(); so does the guest's kernel, in the second one. Each
 * program is mapped in its own space only.
 *
 *	spin	first space 8 units of time, second space 4, kernel 4, again and again
 *	halt	one such round, then it waits for the next tick
 *	write	a hundredth of a unit in the kernel, then a byte to a port, which leaves the guest for this program
 *
 * The kernel has a stack of its own, as a kernel thread has, and another for what comes from a program.
 *
 * It says "ready tid=N tables=A,B stacks=A,B delay=NS" when its guest begins to run, with where the two begin and what the thread has waited for a CPU before, and at its end "done rounds=N ticks=N halted=N total=N": what the guest
 * counted itself, the last two in units of its time stamp counter.
 */
#include <asm/kvm.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* The guest's memory, physical: its kernel's 2 MiB, then those of the two programs. */
#define GDT 0x1000U
#define IDT 0x2000U
#define TSS 0x3000U
#define WORDS 0x6000U
#define STACK                                                                                      \
	0x8000U /* its end, of the kernel; both in their own 16 KiB, as a kernel's tasks have them */
#define TRAPS 0xc000U /* of what comes from a program */
#define STACK_SIZE 0x4000U
#define TABLES_A 0x10000U
#define TABLES_B 0x20000U
#define CODE 0x100000U
#define PAGE_2M 0x200000U
#define MEMORY (3 * PAGE_2M)
/* Where it is mapped. */
#define KERNEL 0xffffffff80000000ULL
#define PROGRAM_A 0x400000U
#define PROGRAM_B 0x800000U

#define UNIT 20000U
#define TICK_NS 10000000U
#define CPUID_MOST 100U
#define PORT 0x3f8

/* What both sides know: 64-bit words at WORDS. */
enum word { WORD_MODE, WORD_UNIT, WORD_ROUNDS, WORD_TICKS, WORD_HALTED, WORD_START, WORD_NOW };
enum mode { MODE_SPIN, MODE_HALT, MODE_WRITE, MODES };
static const char *const modes[MODES] = { "spin", "halt", "write" };

/* --- the guest's code --- */

#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x

/* In %rdi: rounds of a unit. Of all their registers the programs change %rcx only. */
#define WORK "lea (%rdi,%rdi,2), %rcx\n call 1f\n mov %rdi, %rcx\n call 2f\n"
#define LOOPS(who)                                                                                 \
	".balign 64\n" who "_heavy: 1: dec %rcx\n jnz 1b\n ret\n"                                  \
	".balign 64\n" who "_light: 2: dec %rcx\n jnz 2b\n ret\n"                                  \
	".balign 64\n" who "_end:\n"

/* %r12: the words; %r14, %r15: the kernel's stack and place while a program runs. */
__asm__(".pushsection .rodata\n .balign 64\n"
	"user_code:\n" WORK "int $0x80\n" LOOPS(
		"user") "kernel_code:\n"
			"	mov $0x1b, %ecx\n rdmsr\n or $0xc00, %eax\n wrmsr\n" /* its interrupt controller, by MSRs */
			"	xor %edx, %edx\n"
			"	mov $0x80f, %ecx\n mov $0x1ff, %eax\n wrmsr\n"
			"	mov $0x83e, %ecx\n mov $0xb, %eax\n wrmsr\n"
			"	mov $0x832, %ecx\n mov $0x20020, %eax\n wrmsr\n"
			"	mov $0x838, %ecx\n mov $" TEXT(
				TICK_NS) ", %eax\n wrmsr\n"
					 "	call .Lguest_now\n mov %rax, 40(%r12)\n"
					 "	sti\n"
					 ".Lguest_again: call .Lguest_now\n mov %rax, 48(%r12)\n"
					 "	incq 16(%r12)\n"
					 "	cmpq $2, (%r12)\n je .Lguest_write\n"
					 "	mov 8(%r12), %rdi\n shl %rdi\n mov $" TEXT(
						 TABLES_A) ", %eax\n"
							   "	mov $" TEXT(
								   PROGRAM_A) ", %esi\n call "
									      ".Lguest_run\n"
									      "	mov 8(%r12), "
									      "%rdi\n mov $" TEXT(
										      TABLES_B) ", "
												"%e"
												"ax"
												"\n"
												"	mov $" TEXT(
													PROGRAM_B) ", %esi\n call .Lguest_run\n"
														   "	mov 8(%r12), %rdi\n" WORK
														   "	cmpq $1, (%r12)\n jne .Lguest_again\n"
														   "	call .Lguest_now\n mov %rax, %rbx\n hlt\n call .Lguest_now\n sub %rbx, %rax\n add %rax, 32(%r12)\n"
														   "	jmp .Lguest_again\n"
														   ".Lguest_write: imul $5243, 8(%r12), %rdi\n shr $19, %rdi\n" WORK
														   "	mov $" TEXT(
															   PORT) ", %edx\n mov $0x2e, %al\n out %al, %dx\n jmp .Lguest_again\n"
																 ".Lguest_now: rdtsc\n shl $32, %rdx\n or %rdx, %rax\n ret\n"
																 ".Lguest_run: pop %r15\n mov %rsp, %r14\n mov %rax, %cr3\n" /* tables in %rax, entry in %rsi */
																 "	lea 0x1ff000(%rsi), %rax\n"
																 "	push $0x23\n push %rax\n push $0x202\n push $0x1b\n push %rsi\n iretq\n"
																 "kernel_trap:	mov %r14, %rsp\n sti\n jmp *%r15\n"
																 "kernel_tick:	push %rax\n push %rcx\n push %rdx\n"
																 "	incq 24(%r12)\n mov $0x80b, %ecx\n xor %eax, %eax\n xor %edx, %edx\n wrmsr\n"
																 "	pop %rdx\n pop %rcx\n pop %rax\n iretq\n" LOOPS(
																	 "kernel") ".popsection\n");

extern const uint8_t user_code[], user_heavy[], user_light[], user_end[];
extern const uint8_t kernel_code[], kernel_trap[], kernel_tick[], kernel_heavy[], kernel_light[],
	kernel_end[];

static size_t distance(const uint8_t *from, const uint8_t *to)
{
	return (uintptr_t)to - (uintptr_t)from;
}

static uint64_t in_kernel(const uint8_t *label)
{
	return KERNEL + CODE + distance(kernel_code, label);
}

static uint64_t in_program(uint64_t at, const uint8_t *label)
{
	return at + distance(user_code, label);
}

static int print_names(void)
{
	static const uint64_t programs[] = { PROGRAM_A, PROGRAM_B };

	for (int i = 0; i < 2; i++)
		printf("%016llx t %c_main\n%016llx t %c_heavy\n%016llx t %c_light\n%016llx t "
		       "%c_end\n",
		       (unsigned long long)programs[i], 'a' + i,
		       (unsigned long long)in_program(programs[i], user_heavy), 'a' + i,
		       (unsigned long long)in_program(programs[i], user_light), 'a' + i,
		       (unsigned long long)in_program(programs[i], user_end), 'a' + i);
	printf("%016llx T kernel_main\n%016llx T kernel_heavy\n%016llx T kernel_light\n%016llx T "
	       "kernel_end\n",
	       (unsigned long long)in_kernel(kernel_code),
	       (unsigned long long)in_kernel(kernel_heavy),
	       (unsigned long long)in_kernel(kernel_light),
	       (unsigned long long)in_kernel(kernel_end));
	return 0;
}

/* --- its memory --- */

static uint8_t *memory;

static uint64_t *words_at(uint64_t at)
{
	return (uint64_t *)(void *)(memory + at);
}

/* The kernel's 2 MiB for itself, and a program's for both. */
static void map_pages(uint64_t at, uint64_t program, uint64_t page)
{
	enum { PRESENT = 1, WRITE = 2, USER = 4, LARGE = 0x80, TABLE = PRESENT | WRITE | USER };

	words_at(at)[0] = (at + 0x1000) | TABLE;
	words_at(at + 0x1000)[0] = (at + 0x2000) | TABLE;
	words_at(at + 0x2000)[program / PAGE_2M] = page | TABLE | LARGE;
	words_at(at)[511] = (at + 0x3000) | TABLE;
	words_at(at + 0x3000)[510] = (at + 0x4000) | TABLE;
	words_at(at + 0x4000)[0] = PRESENT | WRITE | LARGE;
}

static void set_gate(unsigned int vector, const uint8_t *label, unsigned int kind)
{
	uint64_t to = in_kernel(label), *gate = words_at(IDT + 16 * vector);

	gate[0] = (to & 0xffff) | 0x08 << 16 | (uint64_t)kind << 40 | (to >> 16 & 0xffff) << 48;
	gate[1] = to >> 32;
}

static void fill_memory(enum mode mode)
{
	static const uint64_t segments[] = { 0, 0x00af9b000000ffff, 0x00cf93000000ffff,
					     0x00affb000000ffff, 0x00cff3000000ffff };
	uint64_t trap_stack = KERNEL + TRAPS;

	memcpy(memory + GDT, segments, sizeof(segments));
	memcpy(memory + TSS + 4, &trap_stack, sizeof(trap_stack));
	set_gate(0x20, kernel_tick, 0x8e);
	set_gate(0x80, kernel_trap, 0xee);
	map_pages(TABLES_A, PROGRAM_A, PAGE_2M);
	map_pages(TABLES_B, PROGRAM_B, 2 * PAGE_2M);
	memcpy(memory + CODE, kernel_code, distance(kernel_code, kernel_end));
	memcpy(memory + PAGE_2M, user_code, distance(user_code, user_end));
	memcpy(memory + 2 * PAGE_2M, user_code, distance(user_code, user_end));
	words_at(WORDS)[WORD_MODE] = mode;
	words_at(WORDS)[WORD_UNIT] = UNIT;
}

/* --- the machine --- */

static int order(int fd, unsigned long what, unsigned long argument, const char *name)
{
	int r = ioctl(fd, what, argument);

	if (r < 0) {
		fprintf(stderr, "tiny_vmm: ");
		perror(name);
		exit(1);
	}
	return r;
}
#define ORDER(fd, what, argument) order(fd, what, (unsigned long)(argument), #what)

static void set_registers(int vcpu)
{
	struct kvm_segment code = {
		.limit = 0xffffffff, .selector = 8, .type = 11, .present = 1, .s = 1, .l = 1, .g = 1
	};
	struct kvm_segment data = { .limit = 0xffffffff,
				    .selector = 16,
				    .type = 3,
				    .present = 1,
				    .s = 1,
				    .db = 1,
				    .g = 1 };
	struct kvm_segment tss = {
		.base = KERNEL + TSS, .limit = 0x67, .selector = 40, .type = 11, .present = 1
	};
	struct kvm_regs regs = { .rip = in_kernel(kernel_code),
				 .rsp = KERNEL + STACK,
				 .r12 = KERNEL + WORDS,
				 .rflags = 2 };
	struct kvm_sregs s;

	ORDER(vcpu, KVM_GET_SREGS, &s);
	s.cs = code;
	s.ds = s.es = s.ss = data;
	s.tr = tss;
	s.gdt.base = KERNEL + GDT;
	s.gdt.limit = 39;
	s.idt.base = KERNEL + IDT;
	s.idt.limit = 0xfff;
	s.cr0 = 0x80010033; /* paging, protection */
	s.cr3 = TABLES_A;
	s.cr4 = 0x20;	/* long entries of page tables */
	s.efer = 0x500; /* long mode, enabled and active */
	ORDER(vcpu, KVM_SET_SREGS, &s);
	ORDER(vcpu, KVM_SET_REGS, &regs);
}

static int make_machine(struct kvm_run **ret)
{
	struct kvm_userspace_memory_region region = { .memory_size = MEMORY };
	struct kvm_cpuid2 *cpuid =
		calloc(1, sizeof(*cpuid) + CPUID_MOST * sizeof(cpuid->entries[0]));
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), machine, vcpu, size;

	machine = ORDER(kvm, KVM_CREATE_VM, 0);
	ORDER(machine, KVM_CREATE_IRQCHIP, 0);
	region.userspace_addr = (uintptr_t)memory;
	ORDER(machine, KVM_SET_USER_MEMORY_REGION, &region);
	vcpu = ORDER(machine, KVM_CREATE_VCPU, 0);
	cpuid->nent = CPUID_MOST;
	ORDER(kvm, KVM_GET_SUPPORTED_CPUID, cpuid);
	ORDER(vcpu, KVM_SET_CPUID2, cpuid);
	free(cpuid);
	size = ORDER(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	*ret = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	set_registers(vcpu);
	return vcpu;
}

/* ns for which this thread could run and did not, so far. */
static unsigned long long get_delay(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "re");
	unsigned long long ran = 0, delay = 0;

	if (f && fscanf(f, "%llu %llu", &ran, &delay) != 2)
		delay = 0;
	if (f)
		fclose(f);
	return delay;
}

/* Runs the guest on a CPU of the host; what it writes goes nowhere. */
static void *run_vcpu(void *cpu_number)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), vcpu;
	struct kvm_run *run;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(*(int *)cpu_number, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	pthread_setname_np(pthread_self(), "CPU 0/KVM");
	vcpu = make_machine(&run);
	printf("ready tid=%d tables=%#x,%#x stacks=%#llx,%#llx delay=%llu\n", gettid(), TABLES_A,
	       TABLES_B, KERNEL + STACK - STACK_SIZE, KERNEL + TRAPS - STACK_SIZE, get_delay());
	for (;;) {
		if (ioctl(vcpu, KVM_RUN, 0) < 0 && errno == EINTR)
			continue; /* it was stopped for a while */
		if (run->exit_reason != KVM_EXIT_IO)
			break;
		if (write(nowhere, (uint8_t *)run + run->io.data_offset, 1) != 1)
			break;
	}
	fprintf(stderr, "tiny_vmm: the guest ended, with reason %u\n", run->exit_reason);
	exit(1);
}

static void print_words(void)
{
	const uint64_t *w = words_at(WORDS);

	printf("done rounds=%llu ticks=%llu halted=%llu total=%llu\n",
	       (unsigned long long)w[WORD_ROUNDS], (unsigned long long)w[WORD_TICKS],
	       (unsigned long long)w[WORD_HALTED],
	       (unsigned long long)(w[WORD_NOW] - w[WORD_START]));
}

int main(int argc, char **argv)
{
	int mode = 0, cpu, signal;
	pthread_t thread;
	sigset_t end;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 2 && !strcmp(argv[1], "names"))
		return print_names();
	while (argc == 3 && mode < MODES && strcmp(argv[2], modes[mode]))
		mode++;
	if (argc != 3 || mode == MODES)
		return 2;
	cpu = atoi(argv[1]);
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	fill_memory((enum mode)mode);
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &end, NULL);
	if (pthread_create(&thread, NULL, run_vcpu, &cpu))
		return 1;
	sigwait(&end, &signal);
	print_words();
	return 0;
}
