/* SPDX-License-Identifier: MIT */
/*
 * ctf_graph: see ctf_graph.h. The graph is source.ctf.fs (from the library's own plugin) with every
 * output port connected to an input port of the sink component defined here.
 */
#include "convert/ctf_graph.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "convert/ctf_reason.h"

#define METADATA_MAX (64L * 1024 * 1024) /* LTTng's largest are some hundred KiB */

struct ctf_graph {
	char *dir;
	bt_graph *graph;
	bt_self_component_sink *self;
	bt_message_iterator **iterators;
	size_t n_iterators;
	/* One pull: what is asked for, and what the sink's method found. */
	size_t wanted;
	bt_message_iterator_next_status status;
	bt_message_array_const messages;
	uint64_t n_messages;
};

/* The innermost cause is the one that names file and offset. The library refuses to be called
 * again before its error was taken. */
static int failed(const struct ctf_graph *g, struct error *e)
{
	const bt_error *error = bt_current_thread_take_error();
	const char *cause = "libbabeltrace2 gives no reason";

	if (error && bt_error_get_cause_count(error))
		cause = bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0));
	error_set(e, EBADMSG, "cannot read CTF trace %s: %s", g->dir, cause);
	if (e)
		ctf_reason_tidy(e->text);
	if (error)
		bt_error_release(error);
	return -EBADMSG;
}

static int no_memory(const struct ctf_graph *g, struct error *e)
{
	bt_current_thread_clear_error();
	return error_set(e, ENOMEM, "cannot read CTF trace %s: out of memory", g->dir);
}

static bt_component_class_initialize_method_status sink_initialize(
	bt_self_component_sink *self, bt_self_component_sink_configuration *configuration,
	const bt_value *params, void *data)
{
	struct ctf_graph *g = data;
	char name[24];
	size_t i;

	(void)configuration;
	(void)params;
	g->self = self;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), g);
	for (i = 0; i < g->n_iterators; i++) {
		snprintf(name, sizeof(name), "in%zu", i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL) !=
		    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static struct ctf_graph *sink_data(bt_self_component_sink *self)
{
	return bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
}

static bt_component_class_sink_graph_is_configured_method_status sink_graph_is_configured(
	bt_self_component_sink *self)
{
	struct ctf_graph *g = sink_data(self);
	size_t i;

	for (i = 0; i < g->n_iterators; i++)
		if (bt_message_iterator_create_from_sink_component(
			    self, bt_self_component_sink_borrow_input_port_by_index(self, i),
			    &g->iterators[i]) !=
		    BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
			return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

/* The end of one stream is not the end of the sink, so it is always asked again. */
static bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	struct ctf_graph *g = sink_data(self);

	g->n_messages = 0;
	g->status = bt_message_iterator_next(g->iterators[g->wanted], &g->messages, &g->n_messages);
	if (g->status < 0)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

static void sink_finalize(bt_self_component_sink *self)
{
	struct ctf_graph *g = sink_data(self);
	size_t i;

	for (i = 0; g && i < g->n_iterators; i++)
		bt_message_iterator_put_ref(g->iterators[i]);
	if (g)
		g->n_iterators = 0;
}

/* A fifo in the place of the metadata would block the library for ever. */
static int check_metadata(const struct ctf_graph *g, struct error *e)
{
	_cleanup_free_ char *path = NULL;
	struct stat st;

	if (asprintf(&path, "%s/metadata", g->dir) < 0) {
		path = NULL;
		return error_set(e, ENOMEM, "cannot read CTF trace %s: out of memory", g->dir);
	}
	if (stat(path, &st) < 0)
		return error_set(e, errno, "cannot read CTF trace %s: metadata: %s", g->dir,
				 strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size == 0 || st.st_size > METADATA_MAX)
		return error_set(e, EBADMSG, "cannot read CTF trace %s: metadata is %s", g->dir,
				 !S_ISREG(st.st_mode) ? "not a file"
				 : st.st_size	      ? "too large"
						      : "empty");
	return 0;
}

static bt_value *source_params(const char *dir)
{
	bt_value *params = bt_value_map_create();
	bt_value *inputs = NULL;

	if (!params)
		return NULL;
	if (bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) !=
		    BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK ||
	    bt_value_array_append_string_element(inputs, dir) !=
		    BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK) {
		bt_value_put_ref(params);
		return NULL;
	}
	return params;
}

/* Of the process that reads, which finds no files once it is in its sandbox. */
static const bt_plugin *loaded;

void ctf_graph_load_plugin(void)
{
	if (!loaded && bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE,
				      &loaded) != BT_PLUGIN_FIND_STATUS_OK)
		bt_current_thread_clear_error();
}

static int add_source(struct ctf_graph *g, const bt_component_source **ret, struct error *e)
{
	const bt_component_class_source *class;
	const bt_plugin *plugin = loaded;
	bt_graph_add_component_status status;
	bt_value *params;

	if (!plugin) {
		ctf_graph_load_plugin();
		plugin = loaded;
	}
	if (!plugin)
		return error_set(e, ENOENT,
				 "cannot read CTF trace %s: libbabeltrace2 has no plugin ctf",
				 g->dir);
	class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
	params = class ? source_params(g->dir) : NULL;
	if (!params)
		return no_memory(g, e);
	status = bt_graph_add_source_component(g->graph, class, "in", params,
					       BT_LOGGING_LEVEL_WARNING, ret);
	bt_value_put_ref(params);
	return status == BT_GRAPH_ADD_COMPONENT_STATUS_OK ? 0 : failed(g, e);
}

static int add_sink(struct ctf_graph *g, const bt_component_sink **ret, struct error *e)
{
	bt_component_class_sink *class = bt_component_class_sink_create("kiseki", sink_consume);
	bt_graph_add_component_status status;

	if (!class)
		return no_memory(g, e);
	bt_component_class_sink_set_initialize_method(class, sink_initialize);
	bt_component_class_sink_set_graph_is_configured_method(class, sink_graph_is_configured);
	bt_component_class_sink_set_finalize_method(class, sink_finalize);
	status =
		bt_graph_add_sink_component_with_initialize_method_data(g->graph, class, "out",
									NULL, g,
									BT_LOGGING_LEVEL_NONE, ret);
	bt_component_class_sink_put_ref(class);
	return status == BT_GRAPH_ADD_COMPONENT_STATUS_OK ? 0 : failed(g, e);
}

static int build(struct ctf_graph *g, struct error *e)
{
	const bt_component_source *source = NULL;
	const bt_component_sink *sink = NULL;
	uint64_t i, n;
	int r;

	g->graph = bt_graph_create(0);
	if (!g->graph)
		return no_memory(g, e);
	r = add_source(g, &source, e);
	if (r < 0)
		return r;
	n = bt_component_source_get_output_port_count(source);
	if (n == 0 || n > CTF_STREAMS_MAX)
		return error_set(e, EBADMSG, "cannot read CTF trace %s: it has %s streams", g->dir,
				 n ? "too many" : "no");
	g->iterators = calloc(n, sizeof(bt_message_iterator *));
	if (!g->iterators)
		return no_memory(g, e);
	g->n_iterators = n;
	r = add_sink(g, &sink, e);
	for (i = 0; r >= 0 && i < n; i++)
		if (bt_graph_connect_ports(
			    g->graph,
			    bt_component_source_borrow_output_port_by_index_const(source, i),
			    bt_component_sink_borrow_input_port_by_index_const(sink, i),
			    NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
			r = failed(g, e);
	return r;
}

int ctf_graph_open(struct ctf_graph **ret, const char *dir, struct error *e)
{
	CLEANUP(ctf_graph) struct ctf_graph *g = calloc(1, sizeof(*g));
	int r;

	if (!g || !(g->dir = strdup(dir)))
		return error_set(e, ENOMEM, "cannot read CTF trace %s: out of memory", dir);
	bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
	r = check_metadata(g, e);
	if (r >= 0)
		r = build(g, e);
	if (r < 0)
		return r;
	*ret = take_ptr(g);
	return 0;
}

void ctf_graph_free(struct ctf_graph *g)
{
	if (!g)
		return;
	bt_graph_put_ref(g->graph);
	free(g->iterators);
	free(g->dir);
	free(g);
}

size_t ctf_graph_streams(const struct ctf_graph *g)
{
	return g->n_iterators;
}

int ctf_graph_pull(struct ctf_graph *g, size_t stream, bt_message_array_const *ret, uint64_t *ret_n,
		   struct error *e)
{
	bt_graph_run_once_status status;

	g->wanted = stream;
	g->status = BT_MESSAGE_ITERATOR_NEXT_STATUS_ERROR;
	status = bt_graph_run_once(g->graph);
	if (status == BT_GRAPH_RUN_ONCE_STATUS_MEMORY_ERROR)
		return no_memory(g, e);
	if (status != BT_GRAPH_RUN_ONCE_STATUS_OK)
		return failed(g, e);
	if (g->status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
		return 0;
	if (g->status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return failed(g, e);
	*ret = g->messages;
	*ret_n = g->n_messages;
	return 1;
}
