/* Runs a kernel of AArch64 under an emulator, without a C library: reads a launch from standard input, writes
 * its results.
 *
 * Input, in int64: buffers, how many of the last ones are results, scalars, units, units a call; the size of
 * each buffer; the scalars. Then the bytes of all buffers. */
#include <stddef.h>
#include <stdint.h>

enum { BEYOND = 128, READ = 63, WRITE = 64, EXIT = 93, MMAP = 222 };

extern void kernel(const int64_t *row, int64_t begin, int64_t end);

static int64_t call(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d) {
  register int64_t x8 __asm__("x8") = number;
  register int64_t x0 __asm__("x0") = a;
  register int64_t x1 __asm__("x1") = b;
  register int64_t x2 __asm__("x2") = c;
  register int64_t x3 __asm__("x3") = d;
  register int64_t x4 __asm__("x4") = -1; /* of mmap: no file, from its start */
  register int64_t x5 __asm__("x5") = 0;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}

static _Noreturn void leave(int status) {
  for (;;)
    call(EXIT, status, 0, 0, 0);
}

static void move_all(int64_t number, int64_t file, void *start, int64_t size) {
  int64_t at = (int64_t)start;
  for (int64_t done; size > 0; at += done, size -= done) {
    done = call(number, file, at, size, 0);
    if (done <= 0)
      leave(1);
  }
}

static void *allocate(int64_t size) { /* of pages, filled with zeros */
  return (void *)call(MMAP, 0, size + BEYOND, 3, 0x22);
}

void *memcpy(void *target, const void *source, size_t size) {
  for (size_t i = 0; i < size; ++i)
    ((volatile char *)target)[i] = ((const char *)source)[i];
  return target;
}

void *memset(void *target, int value, size_t size) {
  for (size_t i = 0; i < size; ++i)
    ((volatile char *)target)[i] = (char)value;
  return target;
}

void _start(void) {
  int64_t head[5];
  move_all(READ, 0, head, sizeof head);
  int64_t buffers = head[0], results = head[1], scalars = head[2], units = head[3], step = head[4];
  int64_t *sizes = allocate(8 * buffers);
  int64_t *row = allocate(8 * (buffers + scalars));
  move_all(READ, 0, sizes, 8 * buffers);
  move_all(READ, 0, row + buffers, 8 * scalars);
  for (int64_t i = 0; i < buffers; ++i) {
    void *buffer = allocate(sizes[i]);
    move_all(READ, 0, buffer, sizes[i]);
    row[i] = (int64_t)buffer;
  }
  for (int64_t begin = (units - 1) / step * step; begin >= 0; begin -= step)
    kernel(row, begin, begin + step < units ? begin + step : units);
  for (int64_t i = buffers - results; i < buffers; ++i)
    move_all(WRITE, 1, (void *)row[i], sizes[i]);
  leave(0);
}
