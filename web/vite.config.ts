// SPDX-License-Identifier: MIT
// How the bundle is made. All files have hashes in their names, so a browser may keep them for ever;
// nothing is inlined, because the page's security policy lets nothing inline run.
import { defineConfig } from "vitest/config";

declare const process: { readonly env: Readonly<Record<string, string | undefined>> };

export default defineConfig({
	base: "./",
	esbuild: { jsx: "automatic", jsxImportSource: "preact" },
	build: {
		target: "es2022",
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		cssCodeSplit: true,
		reportCompressedSize: false,
	},
	worker: { format: "es" },
	// `npm run dev`: the page from here, the data from a collector on this machine (KISEKI_HTTP: from another).
	server: {
		// A test reads a vector of the formats.
		fs: { allow: [".."] },
		proxy: { "/api": process.env["KISEKI_HTTP"] ?? "http://127.0.0.1:8080" },
	},
	test: { include: ["tests/**/*.test.ts"], environment: "node" },
});
