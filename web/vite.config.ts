// SPDX-License-Identifier: MIT
// How the bundle is made. All files have hashes in their names, so a browser may keep them for ever;
// nothing is inlined, because the page's security policy lets nothing inline run.
import { defineConfig } from "vitest/config";

// What Node.js has; its types are no part of the page.
declare const process: { readonly env: Readonly<Record<string, string | undefined>> };

const collector = process.env["KISEKI_HTTP"] ?? "http://127.0.0.1:8080";

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
	// `npm run dev`: the page from here, the data from a collector on this machine.
	// It refuses to be told anything by a page of another origin, so it is given its own.
	server: {
		proxy: { "/api": { target: collector, changeOrigin: true, headers: { origin: collector } } },
		// A test reads a vector of the formats, and the chart of boots lies outside.
		fs: { allow: [".."] },
	},
	test: { include: ["tests/**/*.test.ts"], environment: "node" },
});
