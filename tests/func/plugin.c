/* SPDX-License-Identifier: MIT */
/* plugin: an object to open and close; two are built of this, alike but for their names. */
int plugin_run(int x);

static int PLUGIN_NAME(int x)
{
	return x ? PLUGIN_NAME(x - 1) + 1 : PLUGIN_VALUE;
}

__attribute__((visibility("default"))) int plugin_run(int x)
{
	return PLUGIN_NAME(x);
}
