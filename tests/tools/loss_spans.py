# SPDX-License-Identifier: MIT
"""loss_spans: where in time losses lie: what a generator of numbered events knows, what an export says, what the
ledger says, and what is asked of it: they must be the same.

For accounting tests of all kinds. Times are nanoseconds of the run's clock, CPUs are numbers.

	rows     losses: (cpu, from_ns, to_ns, count); None where nobody knows it: from_ns where nothing of the run came before
	found    {cpu: {number: ns}} of events that came back
	made     {cpu: how many were made}, numbered from 0 by each CPU
"""


class WrongSpan(Exception):
    pass


def of_export(item):
    """A "lost" item of an export in ndjson; without a begin nothing came before, without a count nobody knows it."""
    return item["cpu"], item.get("from_ns"), item["to_ns"], item.get("count")


def of_ledger(row):
    """A row of the API's ledger, of a CPU; None: of no CPU."""
    if row["cpu"] is None or row["cause"] == "store":
        return None
    return row["cpu"], row["from_ns"], row["to_ns"] or 0, row["count"]


def holes(found, made, span):
    """Numbers that did not come back, as (cpu, ns before, ns behind, how many): they were made between those. None: nothing came
    before, and when the run began nobody but its device knows."""
    result = []
    for cpu, n in made.items():
        here = found.get(cpu, {})
        last, since = -1, None
        for number in [*sorted(here), n]:
            until = here.get(number, span[1])
            if number - last > 1:
                result.append((cpu, since, until, number - last - 1))
            last, since = number, until
    return result


def unite(rows):
    """{cpu: what the rows cover, as sorted (from, to) that do not touch}"""
    result = {}
    for cpu, since, until in sorted((cpu, since or 0, until) for cpu, since, until, _ in rows):
        spans = result.setdefault(cpu, [])
        if spans and since <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(until, spans[-1][1])
        else:
            spans.append((since, until))
    return result


def begun(rows):
    """The rows whose begin is known."""
    return [row for row in rows if row[1] is not None]


def shared(spans, since, until):
    """How much of a time is covered; at least 1 if it is touched."""
    return sum(max(min(b, until) - max(a, since), 1) for a, b in spans if a <= until and b >= since)


def check_truth(missing, rows, slack_ns):
    """Each missing number was made within a loss of its CPU, and losses cover the time in which so many are missing."""
    spans = unite(rows)
    for cpu, since, until, count in missing:
        since = until if since is None else since
        covered = shared(spans.get(cpu, []), since, until)
        if not covered:
            raise WrongSpan(f"CPU {cpu}: {count} events were made between {since} and {until} ns and did not come back, "
                            f"and no loss of that CPU lies there: {spans.get(cpu)}")
        if covered + slack_ns < until - since:
            raise WrongSpan(f"CPU {cpu}: {count} events are missing in {until - since} ns, of which losses cover {covered}")


def check_same(exported, ledger, slack_ns):
    """The losses of an export and those of the ledger are at the same times, and as many. In the ledger one ends when the device
    told it, in an export with the next event."""
    for name, some, others in (("the export", exported, ledger), ("the ledger", ledger, exported)):
        spans = unite(others)
        for cpu, since, until, count in some:
            since = until if since is None else since  # the ledger knows when the run began
            if not shared(spans.get(cpu, []), until - slack_ns, until):
                raise WrongSpan(f"CPU {cpu}: {name} has a loss of {count} up to {until} ns, the other has {spans.get(cpu)}")
            if shared(spans.get(cpu, []), since, until) + slack_ns < until - since:
                raise WrongSpan(f"CPU {cpu}: {name} has a loss of {count} in {since}..{until} ns, the other has {spans.get(cpu)}")
    for cpu in {r[0] for r in [*exported, *ledger]}:
        sums = [sum(r[3] or 0 for r in rows if r[0] == cpu) for rows in (exported, ledger)]
        if sums[0] != sums[1]:
            raise WrongSpan(f"CPU {cpu}: {sums[0]} lost by the export, {sums[1]} by the ledger")


def check_uncovered(uncovered, rows, lanes):
    """The API's `uncovered` of a run is what its rows cover, of all CPUs together. A row without a begin ends before the
    run's first event, and so covers nothing of the run."""
    covered = sum(b - a for spans in unite(begun(rows)).values() for a, b in spans) / lanes
    if abs(uncovered["lost_ns"] - covered) > max(1000, covered / 1000):
        raise WrongSpan(f"uncovered: {uncovered}, but the rows cover {covered:.0f} ns of each of {lanes} CPUs")


def sum_lost(answer):
    """What a timeline says of losses, wherever it says so."""
    if isinstance(answer, list):
        return sum(map(sum_lost, answer))
    if not isinstance(answer, dict):
        return 0
    return sum(sum_lost(v) if k not in ("lost", "uncounted") else sum(v) if isinstance(v, list) else v
               for k, v in answer.items())


def check_window(get, path, rows):
    """An answer about a time within the longest loss names that loss. `get` takes a path of the API, and gives its JSON."""
    cpu, since, until, _ = max(rows, key=lambda r: r[2] - r[1])
    part = (until - since) // 3
    asked = f"from_ns={since + part}&to_ns={until - part}"
    ledger = get(f"{path}/ledger?{asked}")
    told = [r for r in map(of_ledger, ledger["rows"]) if r and r[0] == cpu]
    if not told or not sum(ledger["lost"].values()) + ledger["lost_uncounted"]:
        raise WrongSpan(f"the ledger of {asked}, within a loss of CPU {cpu}, has {ledger['rows']}")
    if not sum_lost(get(f"{path}/timeline?{asked}")):
        raise WrongSpan(f"the timeline of {asked}, within a loss of CPU {cpu}, shows none")


def check_all(get, run, exported, lanes, slack_ns):
    """All but what only the generator knows; returns the ledger's rows."""
    ledger = get(f"runs/{run}/ledger")
    rows = [r for r in map(of_ledger, ledger["rows"]) if r]
    check_same(exported, rows, slack_ns)
    check_uncovered(ledger["uncovered"], rows, lanes)
    if begun(rows):
        check_window(get, f"runs/{run}", begun(rows))
    return rows
