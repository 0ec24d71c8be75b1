/* SPDX-License-Identifier: MIT */
/*
 * words: a small program to trace the functions of: reads a file, counts its words, sorts them by a
 * method that is not the best one, and waits a little as if for a device.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 4096
#define LETTERS_MAX 32

static char word[WORDS_MAX][LETTERS_MAX];
static int count[WORDS_MAX], words;

static int find(const char *w)
{
	int i;

	for (i = 0; i < words; i++)
		if (!strcmp(word[i], w))
			return i;
	return -1;
}

static void add(const char *w)
{
	int i = find(w);

	if (i < 0 && words < WORDS_MAX) {
		i = words++;
		strcpy(word[i], w);
	}
	if (i >= 0)
		count[i]++;
}

static void parse(FILE *in)
{
	char w[LETTERS_MAX];
	int c, n = 0;

	while ((c = getc(in)) != EOF) {
		if (isalpha(c) && n < LETTERS_MAX - 1) {
			w[n++] = (char)tolower(c);
			continue;
		}
		w[n] = '\0';
		if (n)
			add(w);
		n = 0;
	}
}

static int is_less(int a, int b)
{
	return count[a] > count[b] || (count[a] == count[b] && strcmp(word[a], word[b]) < 0);
}

static void sort(int *order)
{
	int i, j, v;

	for (i = 0; i < words; i++) {
		v = i;
		for (j = i; j > 0 && is_less(v, order[j - 1]); j--)
			order[j] = order[j - 1];
		order[j] = v;
	}
}

static void wait_for_printer(void)
{
	usleep(20000);
}

static void print(const int *order)
{
	int i;

	wait_for_printer();
	for (i = 0; i < 3 && i < words; i++)
		printf("%5d %s\n", count[order[i]], word[order[i]]);
}

int main(int argc, char **argv)
{
	static int order[WORDS_MAX];
	FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;

	if (!in)
		return 1;
	parse(in);
	sort(order);
	print(order);
	return 0;
}
