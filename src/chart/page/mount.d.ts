// SPDX-License-Identifier: MIT
// What TypeScript sees of mount.js. The script's own type is the same one, so the two cannot differ.
export type { BootPart, ChartData, Handle, Language, Mount, MountOptions } from "./types.js";

export declare const mount: import("./types.js").Mount;
