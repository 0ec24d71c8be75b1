/* SPDX-License-Identifier: MIT */
/* boot_sign: see boot_sign.h. */
#include "chart/boot_sign.h"

#define LIGHTEST 0xffcb00U
#define DARKEST 0xa84400U

#define PROCESSES "processes"
#define MACHINE "machine"
#define MARKS "marks"
#define TWO "comparison"

const char *const boot_sign_shapes[SHAPES] = {
	"box", "thin", "hatch", "ramp", "line", "dash", "tick", "whisker", "glyph", "frame",
};

const struct boot_sign_look boot_signs[SIGNS] = {
	[SIGN_RUNNING] = { "running", PROCESSES, SHAPE_RAMP, "#ffcb00", "",
			   "running: the darker, the more of the time on a CPU (0 to 100 %)" },
	[SIGN_RUNNABLE] = { "runnable", PROCESSES, SHAPE_HATCH, "#4a90d9", "",
			    "runnable: wanted a CPU and had none" },
	[SIGN_DISK_WAIT] = { "disk-wait", PROCESSES, SHAPE_BOX, "#808080", "",
			     "uninterruptible sleep (D): mostly waiting for a disk" },
	[SIGN_SLEEPING] = { "sleeping", PROCESSES, SHAPE_THIN, "#d3d3d3", "",
			    "sleeping (S): waiting for an event" },
	[SIGN_STOPPED] = { "stopped", PROCESSES, SHAPE_BOX, "#9575cd", "",
			   "stopped or traced (T)" },
	[SIGN_ZOMBIE] = { "zombie", PROCESSES, SHAPE_THIN, "#404040", "",
			  "zombie (Z): ended, not yet asked for by its parent" },
	[SIGN_UNKNOWN] = { "unknown", PROCESSES, SHAPE_HATCH, "#b0a8a0", "",
			   "not known: nobody looked, or events were lost" },
	[SIGN_FORK] = { "fork", PROCESSES, SHAPE_LINE, "#9aa7b4", "",
			"from a parent to the child that it started" },
	[SIGN_ERROR] = { "error", PROCESSES, SHAPE_WHISKER, "#5c6b7a", "",
			 "the start or end may be off by so much" },
	[SIGN_BEFORE] = { "before", PROCESSES, SHAPE_GLYPH, "#5c6b7a", "\xe2\x97\x82",
			  "was there before the recording began" },
	[SIGN_ALIVE] = { "alive", PROCESSES, SHAPE_GLYPH, "#5c6b7a", "\xe2\x96\xb8",
			 "was still there when it ended" },
	[SIGN_FAILED] = { "failed", PROCESSES, SHAPE_GLYPH, "#c62828", "\xc3\x97",
			  "ended with an exit code other than 0, or by a signal" },
	[SIGN_FOLDED] = { "folded", PROCESSES, SHAPE_TICK, "#6d4c9f", "",
			  "a shorter or folded process, drawn in the row of its parent" },
	[SIGN_KERNEL] = { "kernel", PROCESSES, SHAPE_GLYPH, "#4a6f94", "[k]",
			  "name in brackets: a kernel thread" },
	[SIGN_SELF] = { "self", PROCESSES, SHAPE_GLYPH, "#00796b", "\xe2\x97\x89",
			"the recorder itself" },
	[SIGN_PATH] = { "path", PROCESSES, SHAPE_FRAME, "#c2185b", "",
			"critical path: what had to happen, one after the other" },
	[SIGN_INFERRED] = { "inferred", PROCESSES, SHAPE_DASH, "#c2185b", "",
			    "step of the path that is inferred, not recorded" },
	[SIGN_CPU_USER] = { "cpu-user", MACHINE, SHAPE_BOX, "#5b8ff9", "", "CPU: programs" },
	[SIGN_CPU_SYSTEM] = { "cpu-system", MACHINE, SHAPE_BOX, "#2f54a3", "", "CPU: kernel" },
	[SIGN_CPU_IRQ] = { "cpu-irq", MACHINE, SHAPE_BOX, "#8e5bd0", "", "CPU: interrupts" },
	[SIGN_CPU_STEAL] = { "cpu-steal", MACHINE, SHAPE_BOX, "#e0729a", "",
			     "CPU: taken by the hypervisor" },
	[SIGN_CPU_IOWAIT] = { "cpu-iowait", MACHINE, SHAPE_BOX, "#f2b8a0", "",
			      "CPU: idle while a disk was waited for" },
	[SIGN_DISK_READ] = { "disk-read", MACHINE, SHAPE_BOX, "#3aa99f", "", "disk: read" },
	[SIGN_DISK_WRITE] = { "disk-write", MACHINE, SHAPE_BOX, "#e08e45", "", "disk: written" },
	[SIGN_DISK_BUSY] = { "disk-busy", MACHINE, SHAPE_LINE, "#b33951", "",
			     "disk: utilisation (right scale, 0 to 100 %)" },
	[SIGN_MEMORY_USED] = { "memory-used", MACHINE, SHAPE_BOX, "#7a8fa6", "", "memory: used" },
	[SIGN_MEMORY_CACHED] = { "memory-cached", MACHINE, SHAPE_BOX, "#b9cbdc", "",
				 "memory: caches and buffers" },
	[SIGN_MEMORY_FREE] = { "memory-free", MACHINE, SHAPE_BOX, "#e8eef4", "", "memory: free" },
	[SIGN_SWAP] = { "swap", MACHINE, SHAPE_LINE, "#b33951", "", "swap in use" },
	[SIGN_SOME] = { "some", MACHINE, SHAPE_BOX, "#f0b4a4", "",
			"pressure: some tasks waited for it" },
	[SIGN_FULL] = { "full", MACHINE, SHAPE_BOX, "#c0392b", "",
			"pressure: all that could have run waited" },
	[SIGN_MESSAGE] = { "message", MARKS, SHAPE_TICK, "#90a4ae", "", "kernel message" },
	[SIGN_WARNING] = { "warning", MARKS, SHAPE_TICK, "#f9a825", "", "kernel message: warning" },
	[SIGN_FAILURE] = { "failure", MARKS, SHAPE_TICK, "#c62828", "",
			   "kernel message: error or worse" },
	[SIGN_PHASE] = { "phase", MARKS, SHAPE_TICK, "#5e6ad2", "",
			 "phase of init: a unit or script, or the root changed" },
	[SIGN_TARGET] = { "target", MARKS, SHAPE_LINE, "#2e7d32", "",
			  "the target: what was waited for is there" },
	[SIGN_CLOCK] = { "clock", MARKS, SHAPE_DASH, "#8e24aa", "", "the real time was set" },
	[SIGN_MISSING] = { "missing", MARKS, SHAPE_DASH, "#c62828", "",
			   "from here on something was not recorded" },
	[SIGN_STOP] = { "stop", MARKS, SHAPE_DASH, "#37474f", "", "recording ended" },
	[SIGN_GAP] = { "gap", MARKS, SHAPE_HATCH, "#d9685b", "",
		       "a gap: something is missing, and a note says what" },
	[SIGN_NEW] = { "new", TWO, SHAPE_GLYPH, "#2e7d32", "+", "only in the second boot" },
	[SIGN_GONE] = { "gone", TWO, SHAPE_GLYPH, "#c62828", "\xe2\x88\x92",
			"only in the first boot" },
	[SIGN_LATER] = { "later", TWO, SHAPE_BOX, "#ef8a62", "",
			 "second boot: started later by so much" },
	[SIGN_EARLIER] = { "earlier", TWO, SHAPE_BOX, "#67a9cf", "",
			   "second boot: started earlier by so much" },
	[SIGN_GHOST] = { "ghost", TWO, SHAPE_FRAME, "#90a4ae", "",
			 "where the process was in the first boot" },
};

static uint32_t mix(uint32_t shift, uint32_t level)
{
	uint32_t a = LIGHTEST >> shift & 0xff, b = DARKEST >> shift & 0xff;

	/* Every channel falls, so the difference is not negative. */
	return (a - ((a - b) * level + (BOOT_SIGN_LEVELS - 1) / 2) / (BOOT_SIGN_LEVELS - 1))
	       << shift;
}

uint32_t boot_sign_running(uint32_t level)
{
	if (level >= BOOT_SIGN_LEVELS)
		level = BOOT_SIGN_LEVELS - 1;
	return mix(16, level) | mix(8, level) | mix(0, level);
}

uint32_t boot_sign_level(uint32_t permille)
{
	if (permille >= 1000)
		return BOOT_SIGN_LEVELS - 1;
	return (permille * (BOOT_SIGN_LEVELS - 1) + 500) / 1000;
}
