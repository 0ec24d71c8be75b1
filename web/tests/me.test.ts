// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";

import { may, mayBe, me } from "../src/api/me";

describe("me", () => {
	it("ranks roles", () => {
		expect(mayBe("view", "view")).toBe(true);
		expect(mayBe("view", "control")).toBe(false);
		expect(mayBe("control", "view")).toBe(true);
		expect(mayBe("admin", "control")).toBe(true);
		expect(mayBe("nobody", "view")).toBe(false);
	});
	it("allows nothing as long as nobody is known", () => {
		expect(may("view")).toBe(false);
		me.value = { needs_login: true, user: "ann", role: "view" };
		expect(may("view")).toBe(true);
		expect(may("control")).toBe(false);
		me.value = { needs_login: false, user: null, role: "admin" };
		expect(may("control")).toBe(true);
	});
});
