// SPDX-License-Identifier: MIT
// What TypeScript sees of reason.js, which a page that names gaps itself can use, too.
import type { Chart, Mark } from "./types.js";

export declare const reasons: readonly (readonly [english: string, japanese: string])[];
export declare function reasonInJapanese(text: string): string;
export declare function reasonOf(chart: Pick<Chart, "language">, text: string): string;
export declare function markText(chart: Chart, mark: Mark): string;
