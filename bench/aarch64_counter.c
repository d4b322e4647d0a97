/* A plugin for QEMU's user mode that counts how often each block of instructions is executed.
 *
 *   qemu-aarch64 -plugin libcounter.so,out=FILE PROGRAM
 *
 * The program may mark what is to be counted with prctl(MARK, label): from then on executions count for this label
 * (any number); label 0, where a program starts, is everything else. FILE has one line per mapping of
 * memory and one per block, with its instruction words and its executions under every label (bench/aarch64_counts.py
 * reads it). Counters are incremented by code that QEMU inlines into its translation of the block: exact for
 * one thread; several threads are reported, as they may lose counts.
 *
 * The declarations are those of QEMU's plugin interface, version 1 (qemu-plugin.h), which distributions do
 * not ship; a plugin's undefined symbols are found in the emulator that loads it.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
typedef void (*tb_callback)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*vcpu_callback)(qemu_plugin_id_t, unsigned);
typedef void (*exit_callback)(qemu_plugin_id_t, void *);
typedef void (*syscall_callback)(qemu_plugin_id_t, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                 uint64_t, uint64_t, uint64_t, uint64_t);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, tb_callback);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, enum qemu_plugin_op, void *, uint64_t);
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t, vcpu_callback);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t, syscall_callback);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, exit_callback, void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
extern uintptr_t guest_base; /* the emulator's: host address = address of the program + guest_base */

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

enum { MARK = 0x5a504d4b, SYS_PRCTL_AARCH64 = 167, BUCKETS = 1 << 16 };

struct share {
    struct share *next;
    uint32_t label;
    uint64_t executed;
};

struct block {
    struct block *next;
    uint64_t address;
    size_t length;
    uint64_t executed; /* incremented by translated code */
    uint64_t settled;  /* of those, attributed to a label */
    struct share *shares; /* the last label first */
    uint32_t words[];
};

static struct block *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t label;
static unsigned threads;
static pid_t process;
static char *output_path, *mappings;

static void out_of_memory(void)
{
    fprintf(stderr, "counter: out of memory\n");
    _exit(1);
}

/* Blocks are known by address and contents: code that is translated again keeps its counter, and other
 * code at an address that was used before gets one of its own. */
static struct block *find_block(const struct qemu_plugin_tb *tb)
{
    size_t length = qemu_plugin_tb_n_insns(tb);
    uint64_t address = qemu_plugin_tb_vaddr(tb);
    struct block *made = calloc(1, sizeof *made + length * sizeof(uint32_t));
    if (made == NULL) {
        out_of_memory();
    }
    made->address = address;
    made->length = length;
    for (size_t i = 0; i < length; i++) {
        memcpy(&made->words[i], qemu_plugin_insn_data(qemu_plugin_tb_get_insn(tb, i)), sizeof(uint32_t));
    }
    struct block **at = &buckets[(address >> 2) % BUCKETS];
    for (; *at != NULL; at = &(*at)->next) {
        struct block *known = *at;
        if (known->address == address && known->length == length &&
            memcmp(known->words, made->words, length * sizeof(uint32_t)) == 0) {
            free(made);
            return known;
        }
    }
    *at = made;
    return made;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    pthread_mutex_lock(&lock);
    struct block *block = find_block(tb);
    pthread_mutex_unlock(&lock);
    qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &block->executed, 1);
}

static void on_thread(qemu_plugin_id_t id, unsigned index)
{
    (void)id, (void)index;
    threads++;
}

static void remember_mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    size_t size = 0, room = 1 << 16;
    char *text = malloc(room);
    while (file != NULL && text != NULL) {
        size_t read = fread(text + size, 1, room - size - 1, file);
        size += read;
        if (read == 0) {
            break;
        }
        if (size + 1 == room) {
            text = realloc(text, room *= 2);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    if (text != NULL) {
        text[size] = '\0';
        free(mappings);
        mappings = text;
    }
}

static void add_share(struct block *block, uint64_t executed)
{
    struct share *share = block->shares;
    while (share != NULL && share->label != label) {
        share = share->next;
    }
    if (share == NULL) {
        share = calloc(1, sizeof *share);
        if (share == NULL) {
            out_of_memory();
        }
        share->label = label;
        share->next = block->shares;
        block->shares = share;
    }
    share->executed += executed;
}

static void settle(void)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct block *block = buckets[i]; block != NULL; block = block->next) {
            if (block->executed != block->settled) {
                add_share(block, block->executed - block->settled);
                block->settled = block->executed;
            }
        }
    }
}

static void on_system_call(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                           uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)vcpu, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    if (number != SYS_PRCTL_AARCH64 || a1 != MARK || a2 > UINT32_MAX) {
        return;
    }
    pthread_mutex_lock(&lock);
    settle();
    label = (uint32_t)a2;
    remember_mappings();
    pthread_mutex_unlock(&lock);
}

static void write_mappings(FILE *file)
{
    for (char *line = strtok(mappings, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        uint64_t begin, end;
        char path[4096] = "";
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %4095[^\n]", &begin, &end, path) >= 2) {
            fprintf(file, "map %" PRIx64 " %" PRIx64 " %s\n", begin - guest_base, end - guest_base, path);
        }
    }
}

static void write_blocks(FILE *file)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct block *block = buckets[i]; block != NULL; block = block->next) {
            if (block->executed == 0) {
                continue;
            }
            fprintf(file, "block %" PRIx64 " ", block->address);
            for (size_t j = 0; j < block->length; j++) {
                fprintf(file, "%08" PRIx32, block->words[j]);
            }
            for (struct share *share = block->shares; share != NULL; share = share->next) {
                fprintf(file, " %" PRIu32 ":%" PRIu64, share->label, share->executed);
            }
            fputc('\n', file);
        }
    }
}

static void on_exit_of_program(qemu_plugin_id_t id, void *unused)
{
    (void)id, (void)unused;
    if (getpid() != process) { /* a child that was forked */
        return;
    }
    settle();
    if (mappings == NULL) {
        remember_mappings();
    }
    FILE *file = fopen(output_path, "w");
    if (file == NULL) {
        perror(output_path);
        return;
    }
    fprintf(file, "threads %u\n", threads);
    write_mappings(file);
    write_blocks(file);
    fprintf(file, "end\n");
    fclose(file);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                                               char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "out=", 4) == 0) {
            output_path = strdup(argv[i] + 4);
        }
    }
    if (output_path == NULL) {
        fprintf(stderr, "counter: expected out=FILE\n");
        return 1;
    }
    process = getpid();
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_init_cb(id, on_thread);
    qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
    qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
    return 0;
}
