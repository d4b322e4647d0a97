/* Runs a kernel of another machine under its emulator: reads a launch from standard input, writes its results.
 *
 * Input, in int64: buffers, how many of the last ones are results, scalars, units, units a call; the size of
 * each buffer; the scalars. Then the bytes of all buffers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 64, BEYOND = 128 };

extern void kernel(const int64_t *row, int64_t begin, int64_t end);

static void read_all(void *target, size_t size) {
  if (fread(target, 1, size, stdin) != size) {
    fputs("the launch ends too early\n", stderr);
    exit(1);
  }
}

int main(void) {
  int64_t head[5];
  read_all(head, sizeof head);
  int64_t buffers = head[0], results = head[1], scalars = head[2], units = head[3], step = head[4];
  int64_t *sizes = malloc(sizeof *sizes * (size_t)(buffers + 1));
  int64_t *row = malloc(sizeof *row * (size_t)(buffers + scalars + 1));
  read_all(sizes, sizeof *sizes * (size_t)buffers);
  read_all(row + buffers, sizeof *row * (size_t)scalars);
  for (int64_t i = 0; i < buffers; ++i) {
    size_t size = ((size_t)sizes[i] + LINE - 1) / LINE * LINE + BEYOND;
    void *buffer = aligned_alloc(LINE, size);
    read_all(buffer, (size_t)sizes[i]);
    row[i] = (int64_t)(intptr_t)buffer;
  }
  for (int64_t begin = (units - 1) / step * step; begin >= 0; begin -= step)
    kernel(row, begin, begin + step < units ? begin + step : units);
  for (int64_t i = buffers - results; i < buffers; ++i)
    fwrite((void *)(intptr_t)row[i], 1, (size_t)sizes[i], stdout);
  return 0;
}
