// SPDX-License-Identifier: MIT
// names: what machines, virtual CPUs, tasks and pieces are called where they are shown.
import type { Class, HostTask } from "../../api/vm";
import { nameOf, plain } from "../../parts/text";
import type { CpuPiece, Kind, Lane, VcpuPiece } from "./lanes";
import { say } from "./words";

/** Names of machines, by number; from the answers, which say them. */
const known = new Map<number, string>();

export function learnMachine(vm: number, name: string | null): void {
	if (name) known.set(vm, name);
}

export function machineName(vm: number, name: string | null = known.get(vm) ?? null): string {
	return name ? `${plain(name)} (${vm})` : say("machineNumber", { n: vm });
}

/** "shop/0": short enough for a row. */
export function vcpuName(vm: number, vcpu: number): string {
	return `${plain(known.get(vm) ?? String(vm))}/${vcpu < 0 ? "?" : vcpu}`;
}

export function taskName(task: HostTask | null): string {
	if (!task) return say("notKnown");
	if (task.tid === 0) return say("nobody");
	if (task.vcpu !== null) return say("vcpuOf", { vcpu: vcpuName(task.pid, task.vcpu) });
	return `${nameOf(task.comm, task.tid)} (${task.tid})`;
}

/** As it is written on a piece: the colours say the rest. */
function shortName(task: HostTask): string {
	return task.vcpu !== null ? vcpuName(task.pid, task.vcpu) : task.tid === 0 ? say("nobody") : task.comm;
}

export function laneName(lane: Lane): string {
	return lane.kind === "cpu"
		? say("cpuName", { n: lane.cpu })
		: say("vcpuName", { n: lane.vcpu < 0 ? "?" : lane.vcpu });
}

export function className(cls: Class): string {
	return say(`class_${cls}`);
}

export function kindName(kind: Kind): string {
	return say(`kind_${kind}`);
}

function isVcpu(piece: VcpuPiece | CpuPiece): piece is VcpuPiece {
	return "cls" in piece;
}

/** What is written on a piece. */
export function labelOf(piece: VcpuPiece | CpuPiece): string {
	if (!isVcpu(piece)) {
		if (piece.kind !== "vcpu" && piece.kind !== "other") return "";
		return piece.task ? shortName(piece.task) : "";
	}
	switch (piece.cls) {
		case "guest":
			return piece.place ? `${piece.place.function} · ${piece.place.process}` : "";
		case "steal":
		case "waiting":
			return piece.culprit ? `← ${shortName(piece.culprit)}` : className(piece.cls);
		case "vmm-kernel":
		case "vmm-user":
			return piece.exit ?? "";
		case "unknown":
			return className(piece.cls);
		default:
			return "";
	}
}
