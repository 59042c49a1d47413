/* The same patterns in vectorscan: how long it takes to build the automaton, how large it is, how fast it scans.
   cc -O2 vectorscan.c -lhs (libvectorscan-dev)     usage: vectorscan PATTERNS FILE
   Each line of PATTERNS is a pattern in hex and s or i (case counts or not), as scanner-bench writes them. */
#include <hs/hs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static unsigned long found;
static int on_match(unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *context) {
    (void)id, (void)from, (void)to, (void)flags, (void)context;
    found++;
    return 0;
}
static double now(void) { return (double)clock() / CLOCKS_PER_SEC; }

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: %s PATTERNS FILE\n", argv[0]), 2;
    char **patterns = calloc(1 << 17, sizeof *patterns), line[1 << 14];
    size_t *lengths = calloc(1 << 17, sizeof *lengths);
    unsigned *flags = calloc(1 << 17, sizeof *flags), *ids = calloc(1 << 17, sizeof *ids), count = 0;
    FILE *file = fopen(argv[1], "r");
    if (!file) return perror(argv[1]), 1;
    while (count < 1 << 17 && fgets(line, sizeof line, file)) {
        char *space = strchr(line, ' ');
        if (!space) continue;
        size_t length = (size_t)(space - line) / 2;
        patterns[count] = malloc(length + 1);
        for (size_t i = 0; i < length; i++) sscanf(line + 2 * i, "%2hhx", (unsigned char *)&patterns[count][i]);
        /* A literal that begins with a zero byte is refused as empty (5.4.9): it is entered without it. */
        while (length && !*patterns[count]) patterns[count]++, length--;
        lengths[count] = length;
        flags[count] = HS_FLAG_SINGLEMATCH | (space[1] == 'i' ? HS_FLAG_CASELESS : 0);
        ids[count] = count;
        count++;
    }
    fclose(file);
    hs_database_t *database;
    hs_compile_error_t *error;
    double start = now();
    if (hs_compile_lit_multi((const char *const *)patterns, flags, ids, lengths, count, HS_MODE_BLOCK, NULL, &database,
                             &error) != HS_SUCCESS)
        return fprintf(stderr, "%s\n", error->message), 1;
    double built = now() - start;
    size_t size = 0;
    hs_database_size(database, &size);
    hs_scratch_t *scratch = NULL;
    hs_alloc_scratch(database, &scratch);
    file = fopen(argv[2], "rb");
    if (!file) return perror(argv[2]), 1;
    size_t capacity = 1u << 28, length;
    char *text = malloc(capacity);
    length = fread(text, 1, capacity, file);
    double best = 1e9;
    for (int round = 0; round < 3; round++) {
        start = now();
        for (size_t at = 0; at < length; at += 1 << 20)
            hs_scan(database, text + at, (unsigned)(length - at < 1 << 20 ? length - at : 1 << 20), 0, scratch, on_match,
                    NULL);
        if (now() - start < best) best = now() - start;
    }
    printf("%u patterns: built in %.1f ms, %zu KiB; %.0f MB/s, %lu matches\n", count, built * 1e3, size >> 10,
           (double)length / best / 1e6, found);
    return 0;
}
