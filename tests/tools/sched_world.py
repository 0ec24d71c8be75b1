# SPDX-License-Identifier: MIT
"""sched_world: a machine that exists only here, and the trace that its kernel would print.

World(seed) schedules tasks on a few CPUs at random and notes what each of them did while it does
so. The notes are the truth: they are not computed from the trace. Pids are given out again as soon
as their owners are gone, tasks change their names, and every life has names of its own, so that a
name tells which life is meant.

    world.text     what /sys/kernel/tracing/trace would show
    world.lives    every task but the idle ones, with its times, counts and waits
    world.cpus     per CPU: busy_ns, idle_ns, switches
    world.waits    every wait from a wakeup to a run: who, where, woken by whom, who ran meanwhile
"""
import random

US = 1000


class Life:
    def __init__(self, pid, comm, born):
        self.pid, self.comm, self.names, self.born = pid, comm, [comm], born
        self.forked, self.ended = False, None
        self.cpu = None       # where it runs
        self.last_cpu = None
        self.since = None     # of its run, or of what it is waiting for
        self.state = "sleeping"
        self.woken_by = self.woken_on = self.target = None
        self.cpu_ns = self.switches = self.preemptions = self.wakeups = self.migrations = 0
        self.waits, self.preempted = [], []  # lengths


class World:
    def __init__(self, seed, cpus=4, pids=12, steps=6000, again=True):
        self.random, self.again = random.Random(seed), again
        self.n_cpus, self.pids, self.now = cpus, list(range(100, 100 + pids)), 5_000_000 * US
        self.lines, self.lives, self.waits, self.alive = [], [], [], []
        self.running, self.slices = [None] * cpus, [[] for _ in range(cpus)]
        self.since = [self.now + US] * cpus  # the first event comes then
        self.cpus = [{"busy_ns": 0, "idle_ns": 0, "switches": 0} for _ in range(cpus)]
        self.begin()
        for _ in range(steps):
            self.step(self.random.randrange(cpus))
        self.end()
        header = f"# tracer: nop\n#\n# entries-in-buffer/entries-written: {len(self.lines)}/{len(self.lines)}   #P:{cpus}\n#\n"
        self.text = header + "".join(self.lines)

    # --- what the kernel prints ---

    def event(self, cpu, text):
        life = self.running[cpu]
        who = f"{life.comm}-{life.pid}" if life else "<idle>-0"
        self.lines.append(f"{who:>22}   [{cpu:03}] ..... {self.now // US // 10**6}.{self.now // US % 10**6:06}: {text}\n")

    def tick(self):
        """Each event has a microsecond of its own."""
        self.now += self.random.choice((1, 2, 3, 5, 17, 40, 90)) * US

    # --- what happens ---

    def new_life(self):
        pid = self.pids.pop(self.random.randrange(len(self.pids)))
        life = Life(pid, f"life{len(self.lives)}", self.now)
        self.lives.append(life)
        self.alive.append(life)
        return life

    def begin(self):
        """Each CPU wakes a task of its own, so that all of them are known from the start."""
        for cpu in range(self.n_cpus):
            self.now += US
            self.wake(cpu, self.new_life(), target=cpu)
        for cpu in range(self.n_cpus):
            self.tick()
            self.switch(cpu, self.lives[cpu])

    def end(self):
        """Every CPU comes to rest, with an event of its own."""
        for cpu in range(self.n_cpus):
            self.tick()
            if self.running[cpu]:
                self.switch(cpu, None, "S")
        for cpu in range(self.n_cpus):  # a sign of life behind all waits
            self.tick()
            self.event(cpu, "sched_waking: comm=ends pid=99 prio=120 target_cpu=000")
        for cpu in range(self.n_cpus):
            self.note_slice(cpu)

    def step(self, cpu):
        self.tick()
        current = self.running[cpu]
        runnable = [x for x in self.alive if x.state in ("woken", "preempted")]
        sleeping = [x for x in self.alive if x.state == "sleeping"]
        what = self.random.random()
        if what < 0.25 and sleeping:
            self.wake(cpu, self.random.choice(sleeping))
        elif not current:
            if runnable:
                self.switch(cpu, self.random.choice(runnable))
        elif what < 0.45 and runnable:
            self.switch(cpu, self.random.choice(runnable), "R")
        elif what < 0.52 and self.pids:
            self.fork(cpu, current)
        elif what < 0.56:
            self.rename(cpu, current)
        elif what < 0.60 and len(self.alive) > self.n_cpus:
            self.exit(cpu, current, runnable)
        else:
            self.switch(cpu, self.random.choice(runnable) if runnable and what < 0.9 else None, "S")

    def wake(self, cpu, life, target=None, kind="sched_waking"):
        target = self.random.randrange(self.n_cpus) if target is None else target
        self.event(cpu, f"{kind}: comm={life.comm} pid={life.pid} prio=120 target_cpu={target:03}")
        life.state, life.since = "woken", self.now
        life.woken_by, life.woken_on, life.target = self.running[cpu], cpu, target
        life.wakeups += 1

    def fork(self, cpu, parent):
        child = self.new_life()
        self.event(cpu, f"sched_process_fork: comm={parent.comm} pid={parent.pid} child_comm={parent.comm} child_pid={child.pid}")
        child.names, child.comm, name, child.forked = [parent.comm], parent.comm, child.comm, True
        self.tick()
        self.wake(cpu, child, kind="sched_wakeup_new")
        child.first_name = name  # it calls itself so when it runs

    def rename(self, cpu, life, name=None):
        name = name or f"{life.comm.split('_')[0]}_{len(life.names)}"
        self.event(cpu, f"task_rename: pid={life.pid} oldcomm={life.comm} newcomm={name} oom_score_adj=0")
        life.comm = name
        life.names.append(name)

    def exit(self, cpu, life, runnable):
        self.event(cpu, f"sched_process_exit: comm={life.comm} pid={life.pid} prio=120")
        self.tick()
        self.switch(cpu, self.random.choice(runnable) if runnable else None, "X")
        self.alive.remove(life)
        if self.again:
            self.pids.append(life.pid)

    def switch(self, cpu, following, state="R"):
        previous = self.running[cpu]
        names = [(x.comm, x.pid) if x else (f"swapper/{cpu}", 0) for x in (previous, following)]
        self.event(cpu, f"sched_switch: prev_comm={names[0][0]} prev_pid={names[0][1]} prev_prio=120 prev_state={state} ==> "
                        f"next_comm={names[1][0]} next_pid={names[1][1]} next_prio=120")
        self.cpus[cpu]["switches"] += 1
        self.note_slice(cpu)
        if previous:
            previous.cpu_ns += self.now - previous.since
            previous.switches += 1
            previous.preemptions += state == "R"
            previous.ended = self.now if state == "X" else None
            previous.state, previous.since, previous.cpu = {"R": "preempted", "S": "sleeping", "X": "dead"}[state], self.now, None
        self.running[cpu] = following
        if following:
            self.start(cpu, following)

    def note_slice(self, cpu):
        life, from_ns = self.running[cpu], self.since[cpu]
        self.slices[cpu].append((from_ns, self.now, life))
        self.cpus[cpu]["busy_ns" if life else "idle_ns"] += self.now - from_ns
        self.since[cpu] = self.now

    def start(self, cpu, life):
        length = self.now - life.since
        if life.state == "woken":
            life.waits.append(length)
            self.waits.append(self.tell(cpu, life))
        else:
            life.preempted.append(length)
        life.migrations += life.last_cpu not in (None, cpu)
        life.state, life.cpu, life.last_cpu, life.since = "running", cpu, cpu, self.now
        name = getattr(life, "first_name", None)
        if name:
            del life.first_name
            self.tick()
            self.rename(cpu, life, name)

    def tell(self, cpu, life):
        """One wait, and who had the CPU where it ended, by time."""
        shares = {}
        for from_ns, to_ns, who in reversed(self.slices[cpu]):
            if to_ns <= life.since:
                break
            shares[who] = shares.get(who, 0) + min(to_ns, self.now) - max(from_ns, life.since)
        idle = shares.pop(None, 0)
        return {"life": life, "comm": life.comm, "cpu": cpu, "target": life.target, "waker": life.woken_by,
                "waker_comm": life.woken_by.comm if life.woken_by else None,
                "waker_cpu": life.woken_on, "from_ns": life.since, "to_ns": self.now, "idle_ns": idle, "shares": shares}
