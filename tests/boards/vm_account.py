# SPDX-License-Identifier: MIT
"""vm_account: what a virtual CPU's thread did at each moment, from the events of kiseki_vm.ko.

A machine of states over the lines of vm_dump and sample_dump, made for the tests and from nothing but the meaning of the
events; the product's own analysis is another one. Every moment between two events has one class, so the classes
of a range add up to its length; what the events cannot mean is counted.
"""
from collections import Counter, namedtuple

TRAP = 256
WFX = TRAP + 1  # a guest that waits; bit 0 of the detail: for an event, which is no halt
Task = namedtuple("Task", "tid pid vcpu comm")
Sample = namedtuple("Sample", "tick cpu task mode weight pc table context current reason detail kernel user")
Event = namedtuple("Event", "tick cpu kind task next value detail left")  # left: where a guest was left, by words


def task(word):
    tid, pid, vcpu, comm = word.split("/", 3)
    return Task(int(tid), int(pid), -1 if vcpu == "-" else int(vcpu), comm)


def parse_sample(tick, cpu, who, words):
    """Of a guest, what is not known is None."""
    said = dict(w.split("=", 1) for w in words[2:])
    reason, _, detail = said.get("reason", "").partition("/")
    number = {k: int(said[k], 0) if k in said else None for k in ("pc", "table", "context", "task")}
    chains = [[int(x, 0) for x in said[k].split(",")] if k in said else [] for k in ("k", "u")]
    return Sample(tick, cpu, who, words[0], int(words[1], 0), number["pc"], number["table"], number["context"],
                  number["task"], int(reason, 0) if reason else None, int(detail, 0) if detail else None, *chains)


def parse(lines):
    """Samples, events in order of time, and how many records were lost."""
    samples, events, lost = [], [], 0
    for line in lines:
        if line.startswith("loss "):
            lost += int(line.split(" ")[3])
            continue
        cpu, tick, kind, who, *words = line.split(" ")
        cpu, tick = int(cpu), int(tick)
        if kind == "sample":
            samples.append(parse_sample(tick, cpu, task(who), words))
            continue
        other = task(words.pop(0)) if kind in ("switch", "wake") else None
        numbers = [int(words.pop(0), 0) for _ in range(2) if words and words[0][0].isdigit()]
        value, detail, *_ = [*numbers, 0, 0]
        left = {"mode": words[0], **dict(w.split("=", 1) for w in words[1:])} if words else {}
        events.append(Event(tick, cpu, kind, task(who), other, value, detail, left))
    return sorted(samples, key=lambda s: s.tick), sorted(events, key=lambda e: e.tick), lost


class Vcpu:
    """One thread's states: `spans` are (from, to, class); `wrong` are the events that could not be."""

    def __init__(self, tid):
        self.tid, self.state, self.since = tid, None, None
        self.spans, self.wrong, self.switches = [], [], 0
        self.is_outside = self.is_halted = False
        self.takers = Counter()  # ns, by the name of who came when it could have gone on

    def become(self, event, state, *allowed):
        if self.state is not None:
            if allowed and self.state not in allowed:
                self.wrong.append((self.state, event))
            self.spans.append((self.since, event.tick, self.state))
        self.state, self.since = state, event.tick

    def leave_cpu(self, e):
        self.switches += 1
        on_cpu = ("kernel", "outside", "poll")
        if not e.value:
            self.become(e, "steal", *on_cpu)
            self.taker = e.next.comm
        else:
            self.become(e, "halt" if self.is_halted else "sleep", *on_cpu)

    def take(self, e):
        if e.kind == "switch" and e.next.tid == self.tid:
            if self.state == "steal":
                self.takers[self.taker] += e.tick - self.since
            self.become(e, "outside" if self.is_outside else "kernel", "steal", "woken", "halt", "sleep")
        elif e.kind == "wake" and e.next.tid == self.tid:
            # One that was about to sleep, and is still on its CPU, just goes on.
            if self.state in ("halt", "sleep"):
                self.become(e, "woken")
        elif e.task.tid != self.tid:
            return
        elif e.kind == "switch":
            self.leave_cpu(e)
        elif e.kind == "entry":
            self.is_outside = self.is_halted = False
            self.become(e, "guest", "kernel", "outside", "poll")
        elif e.kind == "exit":
            self.is_halted = e.value == WFX and not e.detail & 1
            self.become(e, "poll" if self.is_halted else "kernel", "guest")
        elif e.kind == "outside":
            self.is_outside, self.is_halted = True, False
            self.become(e, "outside", "kernel", "poll")

    def total(self, start, end):
        """ns of each class in a range."""
        sums = Counter()
        for a, b, state in self.spans:
            sums[state] += max(0, min(b, end) - max(a, start))
        return sums

    def quiet(self):
        """The longest time in which the VMM was not asked for anything: between what the guest printed."""
        ticks = [a for a, _, state in self.spans if state == "outside"]
        return max(zip(ticks, ticks[1:]), key=lambda x: x[1] - x[0])


def account(events, tid):
    vcpu = Vcpu(tid)
    for event in events:
        vcpu.take(event)
    return vcpu
