// SPDX-License-Identifier: MIT
// views: the table of all views. A view is one folder under views/ and one entry here; its code is loaded when
// it is first shown. The first entry is what an address without a view shows.
import type { ComponentType } from "preact";

import { alertList, countOpen } from "../api/alerts";
import * as alerts from "../views/alerts/words";
import * as boot from "../views/boot/words";
import * as devices from "../views/devices/words";
import * as fleet from "../views/fleet/words";
import * as functions from "../views/functions/words";
import * as latency from "../views/latency/words";
import * as log from "../views/log/words";
import * as profile from "../views/profile/words";
import * as timeline from "../views/timeline/words";
import * as vm from "../views/vm/words";

export interface View {
	/** In the address. */
	readonly id: string;
	/** Its title, for those who write the address by hand. */
	readonly also?: string;
	readonly title: () => string;
	/** What the keyboard opens it with, and its place in the order. */
	readonly key: string;
	/** How much of it wants to be looked at, beside its title; 0: nothing does. */
	readonly badge?: () => number;
	readonly load: () => Promise<{ readonly default: ComponentType }>;
}

export const views: readonly View[] = [
	{
		id: "devices",
		title: () => devices.say("title"),
		key: "1",
		load: () => import("../views/devices/devices"),
	},
	{
		id: "timeline",
		title: () => timeline.say("title"),
		key: "2",
		load: () => import("../views/timeline/timeline"),
	},
	{
		id: "latency",
		title: () => latency.say("title"),
		key: "3",
		load: () => import("../views/latency/latency"),
	},
	{
		id: "functions",
		title: () => functions.say("title"),
		key: "4",
		load: () => import("../views/functions/functions"),
	},
	{
		id: "profile",
		title: () => profile.say("title"),
		key: "5",
		load: () => import("../views/profile/profile"),
	},
	{
		id: "vm",
		also: "machines",
		title: () => vm.say("title"),
		key: "6",
		load: () => import("../views/vm/vm"),
	},
	{ id: "boot", title: () => boot.say("title"), key: "7", load: () => import("../views/boot/boot") },
	{ id: "log", title: () => log.say("title"), key: "8", load: () => import("../views/log/log") },
	{ id: "fleet", title: () => fleet.say("title"), key: "9", load: () => import("../views/fleet/fleet") },
	{
		id: "alerts",
		title: () => alerts.say("title"),
		key: "!",
		badge: () => countOpen(alertList.value.alerts ?? []),
		load: () => import("../views/alerts/alerts"),
	},
];
