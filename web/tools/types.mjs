// SPDX-License-Identifier: MIT
// types: the schemas of the API's description as TypeScript types, so that the page cannot believe
// something that the collector does not say.
//
//	node tools/types.mjs OPENAPI.json OUT.ts
import { readFileSync, writeFileSync } from "node:fs";

const [, , from, to] = process.argv;
const document = JSON.parse(readFileSync(from, "utf8"));

function scalar(s) {
	if (s.enum) return s.enum.map((v) => JSON.stringify(v)).join(" | ");
	return { integer: "number", number: "number", string: "string", boolean: "boolean" }[s.type] ?? "unknown";
}

function object(s, depth) {
	const pad = "\t".repeat(depth + 1);
	const required = new Set(s.required ?? []);
	const lines = Object.entries(s.properties ?? {}).map(([name, p]) => {
		const doc = p.description ? `${pad}/** ${p.description.replaceAll("*/", "* /")} */\n` : "";
		return `${doc}${pad}${JSON.stringify(name)}${required.has(name) ? "" : "?"}: ${type(p, depth + 1)};`;
	});
	const more = s.additionalProperties;
	if (more && typeof more === "object") lines.push(`${pad}[key: string]: ${type(more, depth + 1)};`);
	if (!lines.length) return "Record<string, unknown>";
	return `{\n${lines.join("\n")}\n${"\t".repeat(depth)}}`;
}

function type(s, depth) {
	let text;
	if (s.$ref) text = s.$ref.split("/").pop();
	else if (s.oneOf || s.anyOf) text = (s.oneOf ?? s.anyOf).map((x) => type(x, depth)).join(" | ");
	else if (s.allOf) text = s.allOf.map((x) => type(x, depth)).join(" & ");
	else if (s.type === "array") text = `Array<${type(s.items ?? {}, depth)}>`;
	else if (s.type === "object" || s.properties) text = object(s, depth);
	else text = scalar(s);
	return s.nullable ? `${text} | null` : text;
}

const parts = Object.entries(document.components.schemas).map(
	([name, s]) => `${s.description ? `/** ${s.description} */\n` : ""}export type ${name} = ${type(s, 0)};\n`,
);
writeFileSync(
	to,
	`// SPDX-License-Identifier: MIT\n// Made from docs/api/openapi.json by tools/types.mjs.\n\n${parts.join("\n")}`,
);
