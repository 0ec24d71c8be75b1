// SPDX-License-Identifier: MIT
// openapi: is the description of the HTTP API a valid one? Another program's word, the one that generators of clients ask.
//
//	openapi.mjs MODULES OPENAPI
import { createRequire } from "node:module";

const [modules, path] = process.argv.slice(2);
const SwaggerParser = createRequire(modules + "/node_modules/")("@apidevtools/swagger-parser");
const api = await SwaggerParser.validate(path);
console.log(`${Object.keys(api.paths).length} paths`);
