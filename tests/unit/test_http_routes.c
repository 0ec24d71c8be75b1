/* SPDX-License-Identifier: MIT */
/* The table of routes and docs/api/openapi.json say the same: paths, methods, parameters, words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "collector/http_request.h"
#include "collector/http_static.h"
#include "command/config_args.h"
#include "convert/formats.h"
#include "convert/func_export.h"
#include "convert/profile_export.h"

static json_t *api;

static int load(void **state)
{
	(void)state;
	api = json_loadb((const char *)static_openapi, static_openapi_len, 0, NULL);
	return !api;
}

static int unload(void **state)
{
	(void)state;
	json_decref(api);
	return 0;
}

static json_t *find_operation(const struct http_route *route)
{
	const char *key = strcmp(route->method, "GET") ? "post" : "get";

	return json_object_get(json_object_get(json_object_get(api, "paths"), route->pattern), key);
}

/* The names of an operation's parameters that stand in the query or the path. */
static size_t count_params(const json_t *operation, const char *where, const char *among)
{
	const json_t *one, *list = json_object_get(operation, "parameters");
	char word[64], words[512];
	size_t i, n = 0;

	snprintf(words, sizeof(words), " %s ", among);
	json_array_foreach(list, i, one)
	{
		if (strcmp(json_string_value(json_object_get(one, "in")), where))
			continue;
		n++;
		snprintf(word, sizeof(word), " %s ",
			 json_string_value(json_object_get(one, "name")));
		if (!strstr(words, word))
			fail_msg("%s is described and not taken (%s)", word, among);
	}
	return n;
}

static size_t count_words(const char *words)
{
	size_t n = 0;

	for (; *words; words += strspn(words, " ")) {
		n++;
		words += strcspn(words, " ");
	}
	return n;
}

static void all_routes_are_described(void **state)
{
	const struct http_route *route;
	size_t i;

	(void)state;
	for (i = 0; (route = http_routes_get(i)); i++) {
		const json_t *o = find_operation(route);

		if (!o)
			fail_msg("%s %s is not described", route->method, route->pattern);
		assert_non_null(json_object_get(o, "summary"));
		assert_string_equal(json_string_value(json_object_get(o, "summary")),
				    route->summary);
		if (count_params(o, "query", route->params) != count_words(route->params))
			fail_msg("%s %s: not all of \"%s\" are described", route->method,
				 route->pattern, route->params);
		assert_int_equal(count_params(o, "path", "device run file user"),
				 strchr(route->pattern, '{') != NULL);
	}
	assert_true(i > 20);
}

/* What readers of OpenAPI 3.0.3 refuse or stumble over: no list of required members is empty, and an enum that takes
 * null has it. */
static void check_schemas(json_t *value, const char *where)
{
	json_t *one, *list = json_object_get(value, "enum");
	const char *key;
	bool has_null = false;
	size_t i;

	if (json_is_array(json_object_get(value, "required")))
		assert_true(json_array_size(json_object_get(value, "required")) > 0);
	json_array_foreach(list, i, one) has_null = has_null || json_is_null(one);
	if (list && json_is_true(json_object_get(value, "nullable")) && !has_null)
		fail_msg("%s is nullable, and its enum has no null", where);
	json_object_foreach(value, key, one)
	{
		check_schemas(one, key);
	}
	json_array_foreach(value, i, one)
	{
		check_schemas(one, where);
	}
}

static void description_is_one_for_generators(void **state)
{
	json_t *item, *operation, *ids = json_object();
	const char *path, *method, *id;

	(void)state;
	check_schemas(api, "api");
	json_object_foreach(json_object_get(api, "paths"), path, item)
	{
		json_object_foreach(item, method, operation)
		{
			id = json_string_value(json_object_get(operation, "operationId"));
			if (!id || json_object_get(ids, id))
				fail_msg("%s %s has no operationId of its own", method, path);
			json_object_set_new(ids, id, json_true());
			/* Any target may be too long. */
			if (!json_object_get(json_object_get(operation, "responses"), "414"))
				fail_msg("%s %s: 414 is not described", method, path);
		}
	}
	json_decref(ids);
}

static bool has_route(const char *method, const char *path)
{
	const struct http_route *route;
	size_t i;

	for (i = 0; (route = http_routes_get(i)); i++)
		if (!strcmp(route->pattern, path) && !strcasecmp(route->method, method))
			return true;
	return false;
}

static void all_that_is_described_is_there(void **state)
{
	const char *path, *method;
	json_t *item, *operation;

	(void)state;
	json_object_foreach(json_object_get(api, "paths"), path, item)
	{
		json_object_foreach(item, method, operation)
		{
			if (!has_route(method, path))
				fail_msg("%s %s is described and not there", method, path);
		}
	}
}

/* The route for a request, or NULL with what is allowed. */
static const struct http_route *find(struct http_request *q, const char *method, const char *target)
{
	struct error e = ERROR_INIT;

	q->route = NULL;
	assert_int_equal(http_target_parse(&q->target, target, &e), 0);
	return http_routes_find(q, method) < 0 ? NULL : q->route;
}

static void finds_routes(void **state)
{
	struct http_request q = { .http = NULL };

	(void)state;
	assert_ptr_equal(find(&q, "GET", "/api/v1/devices")->handle, http_devices);
	assert_ptr_equal(find(&q, "HEAD", "/api/v1/devices")->handle, http_devices);
	assert_ptr_equal(find(&q, "GET", "/")->handle, http_page);
	assert_ptr_equal(find(&q, "GET", "/assets/a-b.js")->handle, http_asset);
	assert_string_equal(q.captured[0], "a-b.js");
	assert_null(find(&q, "GET", "/assets/a/b.js"));
	assert_ptr_equal(find(&q, "POST", "/api/v1/devices/a,b*/start?timeout_ms=1")->handle,
			 http_instruct_start);
	assert_string_equal(q.captured[0], "a,b*");
	assert_null(find(&q, "POST", "/api/v1/devices"));
	assert_string_equal(q.allow, "GET, HEAD");
	assert_null(find(&q, "GET", "/api/v1/devices/a/start"));
	assert_string_equal(q.allow, "POST");
	assert_null(find(&q, "GET", "/api/v1/devices/a/b/c"));
	assert_string_equal(q.allow, "");
	/* A device may be called as a path is. */
	assert_ptr_equal(find(&q, "GET", "/api/v1/devices/runs")->handle, http_device);
}

static void formats_are_described(void **state)
{
	struct http_route export = { .method = "GET", .pattern = "/api/v1/runs/{run}/export" };
	const json_t *list = json_object_get(find_operation(&export), "parameters"), *one, *word;
	const struct profile_format *profile = NULL;
	const struct func_format *calls = NULL;
	const json_t *words = NULL;
	size_t i;

	(void)state;
	json_array_foreach(list, i, one)
	{
		if (!strcmp(json_string_value(json_object_get(one, "name")), "format"))
			words = json_object_get(json_object_get(one, "schema"), "enum");
	}
	assert_non_null(words);
	/* Those of the scheduler, then those of calls alone, then those of profiles alone. */
	for (i = 0; formats_get(i); i++) {
		word = json_array_get(words, i);
		assert_string_equal(json_string_value(word), formats_get(i)->name);
	}
	while ((calls = func_export_next(calls))) {
		if (formats_find(calls->name))
			continue;
		word = json_array_get(words, i++);
		assert_string_equal(json_string_value(word), calls->name);
	}
	while ((profile = profile_export_next(profile))) {
		if (formats_find(profile->name) || func_export_find(profile->name))
			continue;
		word = json_array_get(words, i++);
		assert_string_equal(json_string_value(word), profile->name);
	}
	assert_int_equal(json_array_size(words), i);
}

/* The words of a property of Config are those that the parser of configurations takes and writes. */
static void check_words(const char *name, const char *(*word_of)(uint32_t))
{
	const json_t *schemas = json_object_get(json_object_get(api, "components"), "schemas");
	const json_t *properties =
		json_object_get(json_object_get(schemas, "Config"), "properties");
	const json_t *words = json_object_get(json_object_get(properties, name), "enum"), *word;
	struct message_config c = { 0 };
	struct error e = ERROR_INIT;
	size_t i;

	assert_true(json_array_size(words) > 1);
	json_array_foreach(words, i, word)
	{
		assert_string_equal(json_string_value(word), word_of((uint32_t)i));
		assert_int_equal(config_option_parse(&c, name, json_string_value(word), &e), 0);
	}
	assert_null(word_of((uint32_t)i));
}

static void words_of_configurations_are_described(void **state)
{
	(void)state;
	check_words("policy", config_policy_word);
	check_words("func", config_func_word);
	check_words("source", config_origin_word);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_routes_are_described),
		cmocka_unit_test(description_is_one_for_generators),
		cmocka_unit_test(all_that_is_described_is_there),
		cmocka_unit_test(finds_routes),
		cmocka_unit_test(formats_are_described),
		cmocka_unit_test(words_of_configurations_are_described),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
