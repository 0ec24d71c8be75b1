// SPDX-License-Identifier: MIT
// flame: the script of a flame graph's page. It draws the tree of stacks that the page carries.
//
// Boxes are elements, and only those that are at least a pixel wide exist: what is zoomed into is laid out anew, so the
// work depends on what can be seen. Names are put into the page as text, never as markup.

const LEVEL_PX = 18, LEAST_PX = 1, TEXT_PX = 24;

// No functions, but what holds some.
const GROUPS = ["", "process", "thread", "host", "machine", "vcpu"];

// The data has one row for each node, in the order of the tree: level, name, its own part, and of a comparison that of
// the profile before.
function treeOf(data) {
	const root = { name: "all", object: "", level: 0, parent: null, children: [], self: 0, before: 0, value: 0, was: 0 };
	const path = [root];
	for (const [level, name, object, self, before] of data.nodes) {
		const parent = path[level - 1];
		const node = {
			name: data.texts[name], object: data.texts[object], level, parent, children: [],
			self, before: before ?? 0, value: self, was: before ?? 0,
		};
		parent.children.push(node);
		path[level] = node;
		path.length = level + 1;
	}
	sum(root);
	return root;
}

function sum(root) {
	const list = [root];
	for (let i = 0; i < list.length; i++) list.push(...list[i].children);
	for (const node of list.reverse())
		for (const child of node.children) {
			node.value += child.value;
			node.was += child.was;
		}
}

function hash(text) {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return (h >>> 0) / 4294967296;
}

// One object, one hue; the kernel's are the warm ones; each class of a virtual CPU's time has its own. A group (a process, a machine) is grey.
function colourOf(node) {
	if (GROUPS.includes(node.object)) return "#c9d3da";
	const warm = node.object.startsWith("["), what = node.object === "class" ? node.name : node.object;
	const hue = warm ? 8 + 30 * hash(what) : 50 + 200 * hash(what);
	return `hsl(${hue.toFixed(0)} 62% ${(66 + 12 * hash(node.name)).toFixed(0)}%)`;
}

// Red: a larger share than before. Blue: a smaller one. A change of a twentieth of all is as deep as it gets.
function changeColour(change) {
	const depth = Math.min(1, Math.abs(change) / 0.05), light = (92 - 34 * Math.sqrt(depth)).toFixed(0);
	return Math.abs(change) < 1e-6 ? "#e4e7ea" : `hsl(${change > 0 ? 4 : 212} 75% ${light}%)`;
}

function amount(value, unit) {
	if (unit !== "ns") return `${value.toLocaleString("en")} ${unit}`;
	for (const [name, ns] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]])
		if (value >= ns) return `${(value / ns).toPrecision(4)} ${name}`;
	return `${value} ns`;
}

const percent = (part, whole) => (whole ? `${(100 * part / whole).toFixed(2)} %` : "-");

class Flame {
	constructor(data) {
		this.data = data;
		this.root = treeOf(data);
		this.zoom = this.at = this.root;
		this.found = null;
		this.down = false;
		this.boxes = new Map();
		this.place = document.getElementById("flame");
		this.stage = this.place.appendChild(document.createElement("div"));
		this.stage.className = "stage";
		this.describePage();
		this.listen();
		this.draw();
		this.place.scrollTop = this.place.scrollHeight;
	}

	describePage() {
		const { data } = this;
		document.getElementById("title").textContent = data.title;
		document.getElementById("about").textContent = data.about;
	}

	listen() {
		const get = (id) => document.getElementById(id);
		this.place.addEventListener("click", (e) => {
			const node = e.target.node;
			if (node) this.zoomTo(node === this.zoom && node.parent ? node.parent : node);
		});
		this.place.addEventListener("pointerover", (e) => e.target.node && this.describe(e.target.node));
		this.place.addEventListener("keydown", (e) => this.key(e));
		get("search").addEventListener("input", (e) => this.search(e.target.value, e.target));
		get("bar").addEventListener("submit", (e) => e.preventDefault());
		get("bar").addEventListener("reset", () => {
			this.search("", get("search"));
			this.zoomTo(this.root);
		});
		get("turn").addEventListener("click", (e) => {
			this.down = !this.down;
			e.currentTarget.setAttribute("aria-pressed", String(this.down));
			this.draw();
			this.place.scrollTop = this.down ? 0 : this.place.scrollHeight;
		});
		globalThis.addEventListener("resize", () => this.draw());
	}

	key(e) {
		const siblings = this.at.parent ? this.at.parent.children : [this.root];
		const index = siblings.indexOf(this.at);
		const up = this.down ? "ArrowUp" : "ArrowDown", down = this.down ? "ArrowDown" : "ArrowUp";
		const to = {
			[up]: this.at.parent, [down]: this.at.children[0],
			ArrowLeft: siblings[index - 1], ArrowRight: siblings[index + 1],
		}[e.key];
		if (e.key === "Enter") this.zoomTo(this.at);
		else if (e.key === "Escape") this.zoomTo(this.root);
		else if (!to) return;
		else this.goTo(to);
		e.preventDefault();
	}

	goTo(node) {
		this.boxes.get(this.at)?.classList.remove("at");
		this.at = node;
		if (!this.boxes.has(node) && node.parent) this.zoomTo(node.parent);
		const box = this.boxes.get(node);
		box?.classList.add("at");
		box?.scrollIntoView({ block: "nearest" });
		this.describe(node);
	}

	zoomTo(node) {
		this.zoom = this.at = node;
		this.draw();
		this.describe(node);
	}

	search(text, field) {
		let pattern = null;
		try {
			pattern = text ? new RegExp(text, "iu") : null;
			field.classList.remove("bad");
		} catch {
			field.classList.add("bad");
			return;
		}
		this.found = pattern;
		let part = 0;
		const list = [this.root];
		// What is below a match is part of it.
		for (const node of list)
			if (pattern && node.parent && pattern.test(node.name)) part += node.value;
			else list.push(...node.children);
		document.getElementById("found").textContent = pattern ? percent(part, this.root.value) : "";
		this.draw();
	}

	share(node) {
		const now = this.root.value ? node.value / this.root.value : 0;
		return [now, this.root.was ? node.was / this.root.was : 0];
	}

	describe(node) {
		const { unit, diff } = this.data, parent = node.parent ?? node, [now, was] = this.share(node);
		const strong = document.createElement("b");
		strong.textContent = node.name + (node.object && node.object !== node.name ? ` [${node.object.replace(/^\[|\]$/g, "")}]` : "");
		const lines = [`${amount(node.value, unit)}, ${percent(node.value, this.root.value)} of all, ` +
			`${percent(node.value, parent.value)} of ${parent === node ? "itself" : parent.name}; its own ${amount(node.self, unit)}`];
		if (diff) lines.push(`before ${(100 * was).toFixed(2)} %, now ${(100 * now).toFixed(2)} %: ${now >= was ? "+" : ""}${(100 * (now - was)).toFixed(2)}`);
		document.getElementById("detail").replaceChildren(strong, document.createElement("br"), lines.join("; "));
	}

	// Level by level: a deep stack needs no deep recursion.
	layOut(width) {
		const placed = [];
		for (let node = this.zoom.parent; node; node = node.parent) placed.push({ node, x: 0, width, above: true });
		placed.push({ node: this.zoom, x: 0, width, above: false });
		for (let i = placed.length - 1; i < placed.length; i++) {
			const { node, x, width: wide } = placed[i];
			let left = x;
			for (const child of node.children) {
				const own = node.value ? wide * child.value / node.value : 0;
				if (own >= LEAST_PX) placed.push({ node: child, x: left, width: own, above: false });
				left += own;
			}
		}
		return placed;
	}

	draw() {
		const placed = this.layOut(this.place.clientWidth);
		const levels = placed.reduce((most, { node }) => Math.max(most, node.level), 0) + 1;
		const height = Math.max(levels * LEVEL_PX, this.down ? 0 : this.place.clientHeight - 1);
		this.boxes.clear();
		this.stage.style.height = `${height}px`;
		this.stage.replaceChildren(...placed.map((p) => this.boxOf(p, height)));
	}

	boxOf({ node, x, width, above }, height) {
		const box = document.createElement("div"), [now, was] = this.share(node);
		box.node = node;
		box.className = `box${above ? " above" : ""}${node === this.at ? " at" : ""}`;
		box.role = "treeitem";
		if (this.found && !this.found.test(node.name)) box.classList.add("missed");
		box.style.left = `${x}px`;
		box.style.width = `${width}px`;
		box.style.top = `${this.down ? node.level * LEVEL_PX : height - (node.level + 1) * LEVEL_PX}px`;
		box.style.background = this.data.diff ? changeColour(now - was) : colourOf(node);
		if (width >= TEXT_PX) box.textContent = node.name;
		box.setAttribute("aria-label", `${node.name}, ${percent(node.value, this.root.value)}`);
		this.boxes.set(node, box);
		return box;
	}
}

const text = document.getElementById("data")?.textContent;
// Scripts and tests find it at the element.
if (text) Object.assign(document.getElementById("flame"), { flame: new Flame(JSON.parse(text)) });
