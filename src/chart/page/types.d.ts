// SPDX-License-Identifier: MIT
// types: the data that a chart is made of (docs/format/boot-json.md has it in words), what the script makes of it, and
// what mount() takes and gives back.

// --- as it comes: what `kiseki boot chart` puts into a page, and what the collector answers to …/boot.chart.json ---

export interface ChartData {
	version: number;
	options: { min_ns: number; kernel: boolean };
	signs: Sign[];
	/** Colours of running, from little CPU use to all of it. */
	ramp: string[];
	/** One boot, or two that are compared. */
	boots: BootPart[];
	pairs?: { target_ns: number; n_new: number; n_gone: number; list: [a: number, b: number, start: number, end: number, length: number, cpu: number, disk: number][] };
	path?: { to_ns: number; steps: [process: number, from: number, to: number, inferred: number][] };
}

export interface Sign {
	key: string;
	group: string;
	shape: string;
	colour: string;
	glyph: string;
	text: string;
}

export interface BootPart {
	base_ns: number;
	from_ns: number;
	to_ns: number;
	heading: Heading;
	boot: BootData;
}

/** In English; the script says the same in the chart's language (heading.js). */
export interface Heading {
	title: string;
	facts: [label: string, text: string][];
	notes: string[];
}

export interface BootData {
	device: string;
	kernel: string;
	machine: string;
	origin: string;
	command_line: string;
	release: string;
	from_ns: number;
	to_ns: number;
	interval_ns: number;
	target: string;
	realtime_ns: number;
	is_cut: boolean;
	has_events: boolean;
	states: Record<string, string>;
	cpus: number;
	target_ns: number;
	is_exact: boolean;
	tells_interrupts: boolean;
	processes: ProcessData[];
	points: Points;
	disks: { name: string; is_part: boolean; points: Points }[];
	marks: Mark[];
	gaps: { from_ns: number; to_ns: number; why: string }[];
	texts: string[];
}

/** Columns of equal length; `ns` says until when. */
export interface Points {
	ns: number[];
	[column: string]: number[];
}

export interface Mark {
	ns: number;
	type: string;
	level: number;
	process: number;
	text: string;
}

export interface ProcessData {
	pid: number;
	parent: number;
	parent_pid: number;
	from_ns: number;
	to_ns: number;
	from_error_ns: number;
	to_error_ns: number;
	is_kernel: boolean;
	is_self: boolean;
	is_alive: boolean;
	was_there: boolean;
	exit_code: number;
	threads: number;
	names: Name[];
	spans: { state: string; length_ns: number[]; share?: number[]; whom?: number[]; where?: number[] };
	state_ns: number[];
	cpu_ns: number;
	account: Account;
}

export interface Name {
	from_ns: number;
	comm: string;
	args: string;
}

export interface Account {
	user_ns: number;
	system_ns: number;
	waited_ns: number;
	disk_ns: number;
	swap_ns: number;
	read_bytes: number;
	written_bytes: number;
	rss_kib: number;
	faults: number;
	is_complete: boolean;
}

// --- as the script has it ---

/** Spans in columns: the i-th ends at to[i] and begins where the one before ends. */
export interface Spans {
	n: number;
	to: Float64Array;
	state: Uint8Array;
	share: Uint16Array;
	whom: Int32Array;
	where: Uint32Array;
}

export interface Process extends Omit<ProcessData, "spans"> {
	index: number;
	from: number;
	to: number;
	comm: string;
	args: string;
	spans: Spans;
	children: number[];
	ran: number;
	/** What a search looks at. */
	text: string;
}

export interface Boot extends Omit<BootData, "processes"> {
	index: number;
	base: number;
	limits: Stretch;
	processes: Process[];
	rows: Row[];
	rowOf: Int32Array;
	top: number;
	bottom: number;
}

export interface Stretch {
	from: number;
	to: number;
}

/** A stretch of time on so many pixels. */
export interface View extends Stretch {
	width: number;
}

export interface Row {
	process: Process;
	boot: Boot;
	/** Index of the row of its parent, or -1. */
	parent: number;
	depth: number;
	folded: Process[];
	children: number;
	item: Item | null;
	above: Item | null;
}

/** Something with a place and a height: a row of the machine, or that of a process. */
export interface Item {
	kind: string;
	boot: Boot;
	y: number;
	h: number;
	row: Row | null;
	points: Points;
	name: string;
	resource: number;
	lanes: number;
	swap: number;
}

export interface Rows {
	rows: Row[];
	rowOf: Int32Array;
}

export interface RowOptions {
	kernel: boolean;
	least: number;
	sort: string;
	folded: Set<Process>;
}

export interface Step extends Stretch {
	process: Process;
	inferred: boolean;
}

export interface Path {
	boot: Boot;
	to: number;
	steps: Step[];
}

export interface Pair {
	a: number;
	b: number;
	start: number;
	end: number;
	length: number;
	cpu: number;
	disk: number;
}

export interface Moment extends Stretch {
	state: number;
	share: number;
	whom: Process | null;
	interrupt: boolean;
	where: string;
}

export interface Theme {
	back: string;
	line: string;
	text: string;
	soft: string;
	faint: string;
	accent: string;
	row: string;
	hit: string;
	fork: string;
	frame: string;
	dark: boolean;
	font: string;
	bold: string;
	small: string;
	fills: Map<string, CanvasPattern>;
}

export type Context2D = CanvasRenderingContext2D;
export type Child = Node | string | null | undefined;

/** The elements of a chart, by what they are for. */
export interface Frame {
	root: HTMLElement;
	title: HTMLElement;
	facts: HTMLElement;
	notes: HTMLElement;
	search: HTMLInputElement;
	count: HTMLElement;
	previous: HTMLButtonElement;
	next: HTMLButtonElement;
	out: HTMLButtonElement;
	in: HTMLButtonElement;
	fit: HTMLButtonElement;
	foldall: HTMLButtonElement;
	unfoldall: HTMLButtonElement;
	sort: HTMLSelectElement;
	kernel: HTMLInputElement;
	least: HTMLInputElement;
	path: HTMLButtonElement;
	side: HTMLButtonElement;
	help: HTMLButtonElement;
	chart: HTMLElement;
	head: HTMLCanvasElement;
	scroll: HTMLElement;
	space: HTMLElement;
	rows: HTMLCanvasElement;
	select: HTMLElement;
	grip: HTMLElement;
	panel: HTMLElement;
	card: HTMLElement;
	said: HTMLElement;
	keys: HTMLDialogElement;
	tabs: Map<string, HTMLButtonElement>;
	pages: Map<string, HTMLElement>;
}

/** What the words beside the chart can make happen. */
export interface Actions {
	select(boot: Boot, process: Process): void;
	showPath(boot: Boot, process: Process | null, ns: number): void;
	reveal(from: number, to: number): void;
	/** Says that another one is selected. */
	selected(): void;
}

export type Language = "en" | "ja";
export type Word = keyof typeof import("./words.js").english;
/** A text in the language of the chart; "{name}" in it takes a value. */
export type Say = (key: Word, values?: Record<string, string | number>) => string;
/** What it is about, and what there is to say. */
export type Fact = [word: Word, text: string];

/** All of one chart. Nothing of it is anywhere else, so a page can have several. */
export interface Chart {
	frame: Frame;
	language: Language;
	say: Say;
	theme: Theme;
	actions: Actions;
	signs: Map<string, Sign>;
	ramp: string[];
	boots: Boot[];
	pairOf: [Map<number, Pair>, Map<number, Pair>];
	compared: { target: number; fresh: number; gone: number };
	view: Stretch;
	limits: Stretch;
	/** Pixels of names, of the time beside them, of both. */
	label: number;
	plot: number;
	width: number;
	/** Rows above those that scroll, and their height. */
	pinned: Item[];
	pinnedHeight: number;
	items: Item[];
	processRows: Row[];
	folded: Set<Process>;
	hits: Set<Process>;
	found: { boot: Boot; process: Process }[];
	at: number;
	selected: Process | null;
	selectedBoot: Boot | null;
	path: Path | null;
	cursor: number | null;
	tab: string;
	options: { kernel: boolean; least: number; sort: string };
	/** The request for the next frame, 0: none. */
	request: number;
	/** How often it was drawn. */
	drawn: number;
}

// --- mount ---

export interface MountOptions {
	/** Without it English. */
	language?: Language;
	/** Where keys are listened for; without it, in the chart's own element. */
	keys?: EventTarget;
	/** false: without title and facts, for a page that has them itself. */
	header?: boolean;
	/** false: the panel is closed at first. */
	panel?: boolean;
	/** Called when another process is selected, or none. */
	onSelect?: (process: { boot: number; pid: number } | null) => void;
}

/** What can be asked of a chart and done with it. Times are nanoseconds of the axis: since each boot's own start. */
export interface Handle {
	/** Takes everything away, listeners too. */
	destroy(): void;
	/** Says everything in another language. */
	setLanguage(language: Language): void;
	/** Reads the colours again, after the page's style has changed. */
	refresh(): void;
	rows(): { pid: number; comm: string; depth: number; folded: number }[];
	machine(): string[];
	view(): Stretch;
	setView(from: number, to: number): void;
	found(): number;
	selected(): number | null;
	/** Selects the first process with this pid, scrolls to it and shows what is known of it. */
	show(pid: number, boot?: number): void;
	path(): { pid: number; from: number; to: number; inferred: boolean }[] | null;
	/** Where a moment of a process is on the screen. */
	place(pid: number, ns: number, boot?: number): { x: number; y: number; label: number };
	/** How often it was drawn so far. */
	drawn(): number;
}

/** Fills an element with a chart. The data must not be changed or given to another chart afterwards. */
export type Mount = (element: HTMLElement, data: ChartData, options?: MountOptions) => Handle;
