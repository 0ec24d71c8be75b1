#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""vm_host.py [SECONDS]: a script for sample_make: a host with two virtual machines, as one could be.

Two physical CPUs, two machines of two virtual CPUs each. "shop" serves: it works in bursts and halts between them.
"batch" computes: its first virtual CPU all the time, its second only in the first half. In the second fifth a task of the
host takes its part of CPU 1. Guests tell who their processes are. The same command prints the same bytes: all chance
comes from one generator with a fixed start.

The account is not worked out here; tests compare what different parts of the program make of it.
"""
import random
import sys

NS = 1_000_000_000
MS = 1_000_000
US = 1_000
START = 5 * NS
RUN, WFI, ABORT, HVC = 0, 0x101, 0x124, 0x116  # exits of arm64: an interrupt, halt, device memory, hypercall
KVM, MMIO, SCHED = 0xFFFF800080110010, 0xFFFF800080120040, 0xFFFF800080130020

chance = random.Random(8)
lines = []


class Process:
    def __init__(self, pid, name, table, share, places):
        self.pid, self.name, self.table, self.share = pid, name, table, share
        self.places = places  # addresses, the first is the most frequent


class Vcpu:
    """A virtual CPU: what it runs, and when it has something to do again."""

    def __init__(self, vm, number, processes, burst, pause, until=1.0):
        self.vm, self.number, self.processes = vm, number, processes
        self.burst, self.pause, self.until = burst, pause, until
        self.task = f"{vm + 1 + number}/{vm}/{number}/CPU%20{number}/KVM"
        self.wake_at = None  # halted until then
        self.left = 0  # of the burst
        self.now = processes[0]

    def next_process(self):
        self.now = chance.choices(self.processes, [p.share for p in self.processes])[0]

    def halt(self, now, end):
        done = (now - START) / (end - START) > self.until
        self.wake_at = end + NS if done else now + int(self.pause * chance.uniform(0.4, 1.6))


class Task:
    """A task of the host that only computes, from one moment to another."""

    def __init__(self, pid, name, begin, end):
        self.task, self.begin, self.end = f"{pid}/{pid}/-/{name}", begin, end


class Cpu:
    def __init__(self, number, vcpus, host, end):
        self.number, self.vcpus, self.host, self.end = number, vcpus, host, end
        self.now = START
        self.sample_at = START + self.period()
        self.current = None
        self.queue = list(vcpus)
        for v in vcpus:
            v.left = v.burst

    @staticmethod
    def period():
        return chance.randint(MS // 2, MS + MS // 2)

    def put(self, text):
        lines.append((self.now, f"{self.number} {self.now} {text}"))

    def name(self):
        return self.current.task if self.current else f"0/0/-/swapper/{self.number}"

    def wake(self):
        for v in self.vcpus:
            if v.wake_at is not None and v.wake_at <= self.now:
                v.wake_at = None
                v.left = int(v.burst * chance.uniform(0.5, 1.5))
                v.next_process()
                self.put(f"wake {self.name()} {v.task} {self.number}")
                self.queue.append(v)

    def first_wake(self):
        times = [v.wake_at for v in self.vcpus if v.wake_at is not None]
        return min(times) if times else self.end

    def sample(self, mode, chain):
        extra = ""
        if mode.startswith("guest"):
            p = self.current.now
            place = chance.choices(p.places, [2 ** -i for i in range(len(p.places))])[0]
            mode = "guest-kernel" if place >> 63 else "guest-user"
            extra = f" pc={place:#x} table={p.table:#x} context={p.pid}"
        self.put(f"sample {self.name()} {mode} {MS} k={chain:#x}{extra}")
        self.sample_at = self.now + self.period()

    def go_to(self, until, mode, chain):
        """Time passes; samples are taken in it."""
        while self.sample_at < until:
            self.now = self.sample_at
            self.sample(mode, chain)
            if mode == "guest":  # the sample's own interrupt
                self.put(f"exit {self.name()} {RUN}")
                self.now += 3 * US
                self.put(f"entry {self.name()}")
        self.now = max(self.now, until)

    def switch(self, to, state):
        name = self.name()
        self.current = to
        self.put(f"switch {name} {self.name()} {state}")

    def pick(self):
        if self.host and self.host.begin <= self.now < self.host.end and self.host not in self.queue:
            self.queue.append(self.host)
        return self.queue.pop(0) if self.queue else None

    def run_guest(self, until):
        """Until its time is over, it has nothing to do, or it is left for a device."""
        v = self.current
        self.put(f"entry {v.task}")
        while self.now < until and v.left > 0:
            step = min(int(chance.expovariate(1 / (700 * US))) + 20 * US, v.left, until - self.now)
            self.go_to(self.now + step, "guest", KVM)
            v.left -= step
            self.wake()
            if v.left <= 0 or self.now >= until:
                break
            if chance.random() < 0.35:
                v.next_process()
            self.leave_shortly(v)
        if v.left <= 0:
            self.put(f"exit {v.task} {WFI:#x} 0x07e00000")
            self.go_to(self.now + 2 * US, "kernel", SCHED)
            v.halt(self.now, self.end)
            return 1
        self.put(f"exit {v.task} {RUN}")
        self.go_to(self.now + 3 * US, "kernel", SCHED)
        self.queue.append(v)
        return 0

    def leave_shortly(self, v):
        kind = chance.random()
        if kind < 0.3:
            self.put(f"exit {v.task} {ABORT:#x} 0x93c08006")
            self.go_to(self.now + chance.randint(8, 30) * US, "kernel", MMIO)
            self.put(f"outside {v.task} 6")
            self.go_to(self.now + chance.randint(20, 150) * US, "user", MMIO)
        elif kind < 0.5:
            self.put(f"exit {v.task} {HVC:#x} 0x56000000")
            self.go_to(self.now + chance.randint(2, 9) * US, "kernel", KVM)
        else:
            self.put(f"exit {v.task} {RUN}")
            self.go_to(self.now + chance.randint(3, 12) * US, "kernel", KVM)
        self.put(f"entry {v.task}")

    def run(self):
        while self.now < self.end:
            self.wake()
            state = getattr(self, "state", 0)
            to = self.pick()
            if to is not self.current:
                self.switch(to, state)
            self.state = 0
            until = min(self.end, self.now + chance.randint(3, 8) * MS)
            if to is None:
                self.go_to(min(self.end, self.first_wake()), "idle", SCHED)
            elif isinstance(to, Task):
                self.go_to(min(until, to.end), "kernel" if chance.random() < 0.3 else "user", SCHED)
            else:
                self.state = self.run_guest(until)


def describe(vm, name, processes):
    print(f"life {vm} 1 0 exec {name}")
    print(f"guest {vm} function 0xffffa00008001000 0xffffa00008001800 do_syscall")
    print(f"guest {vm} function 0xffffa00008002000 0xffffa00008002800 tcp_sendmsg")
    print(f"guest {vm} function 0xffffa00008003000 0xffffa00008003800 copy_page")
    for p in processes:
        print(f"guest {vm} life {p.pid} 1 0 exec {p.name}")
        print(f"guest {vm} table {p.pid} {p.pid} 0 {p.table:#x} 0 begin {p.name}")
        print(f"guest {vm} mapping {p.pid} 0 0x400000 0x480000 0 - /usr/bin/{p.name}")


def main():
    end = START + int(float(sys.argv[1] if len(sys.argv) > 1 else 10) * NS)
    length = end - START
    shop = [
        Process(320, "web", 0x41003000, 5, [0x401000, 0x401400, 0xFFFFA00008002000, 0x402200]),
        Process(411, "cache", 0x41007000, 3, [0x404000, 0xFFFFA00008001000, 0x404800]),
        Process(77, "logger", 0x4100B000, 1, [0xFFFFA00008003000, 0x408000]),
    ]
    batch = [
        Process(511, "compress", 0x51003000, 8, [0x410000, 0x410400, 0x412000, 0xFFFFA00008003000]),
        Process(512, "check", 0x51007000, 2, [0x420000, 0x421000]),
    ]
    print("device host-2\nkernel 6.1.0\nmachine aarch64\ncpus 2\nsampling 1000000 50 1 2 1 31")
    describe(4100, "shop", shop)
    describe(4200, "batch", batch)
    print("life 900 1 0 exec backup")
    print(f"function {KVM - 16:#x} {KVM + 4096 - 16:#x} kvm_arch_vcpu_ioctl_run")
    print(f"function {MMIO - 64:#x} {MMIO + 4096 - 64:#x} io_mem_abort")
    print(f"function {SCHED - 32:#x} {SCHED + 4096 - 32:#x} schedule")
    backup = Task(900, "backup", START + length // 5, START + 2 * length // 5)
    for number, host in ((0, None), (1, backup)):
        vcpus = [
            Vcpu(4100, number, shop, 4 * MS, 7 * MS),
            Vcpu(4200, number, batch, 60 * MS, MS, 1.0 if number == 0 else 0.5),
        ]
        Cpu(number, vcpus, host, end).run()
    for _, text in sorted(lines, key=lambda x: x[0]):
        print(text)


main()
