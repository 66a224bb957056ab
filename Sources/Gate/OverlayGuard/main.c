// applocker-overlay-guard attach | detach
//
// Attaches the program of overlay_guard.bpf.c to the kernel and pins it with its map, so that it stays in force without
// any process. The map stays pinned after `detach`: a gate that has it open would fill another one in vain.
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include <bpf/libbpf.h>

#define FILE_SYSTEM "/sys/fs/bpf"
#define DIRECTORY FILE_SYSTEM "/applocker"

static const char map_pin[] = DIRECTORY "/locked_files";
static const char link_pin[] = DIRECTORY "/link";
static const char new_link_pin[] = DIRECTORY "/new_link";

// The compiled overlay_guard.bpf.c.
__asm__(".section .rodata\n"
        ".balign 8\n"
        "object_start: .incbin \"" OBJECT "\"\n"
        "object_end:\n"
        ".previous\n");
extern const char object_start[], object_end[];

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("applocker-overlay-guard: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs(" Overlay mounts in user namespaces can evade AppLocker; `sudo applocker doctor` tests it and shows the remedy.\n", stderr);
    exit(1);
}

// A program can be attached although the module is not active: the kernel would never call it.
static bool is_security_module_active(void) {
    char names[1024] = ",";
    FILE *file = fopen("/sys/kernel/security/lsm", "re");
    if (!file) return false;
    size_t count = fread(names + 1, 1, sizeof names - 3, file);
    fclose(file);
    names[1 + count] = ',';
    return strstr(names, ",bpf,") != NULL;
}

static int ignore_output(enum libbpf_print_level level, const char *format, va_list arguments) {
    (void)level, (void)format, (void)arguments;
    return 0;
}

static void attach(void) {
    struct statfs status;
    if (!is_security_module_active())
        fail("The kernel's BPF security module is not active: add \"bpf\" to the kernel's parameter lsm=.");
    if (statfs(FILE_SYSTEM, &status) != 0 || status.f_type != BPF_FS_MAGIC)
        fail("No BPF file system is mounted at " FILE_SYSTEM ".");
    if (mkdir(DIRECTORY, 0700) != 0 && errno != EEXIST) fail(DIRECTORY " can't be created (%s).", strerror(errno));

    libbpf_set_print(ignore_output);
    struct bpf_object *object = bpf_object__open_mem(object_start, (size_t)(object_end - object_start), NULL);
    if (!object) fail("The program can't be read (%s).", strerror(errno));
    // A map that is pinned already is used again, with its entries.
    struct bpf_map *map = bpf_object__find_map_by_name(object, "locked_files");
    if (!map || bpf_map__set_pin_path(map, map_pin) != 0 || bpf_object__load(object) != 0)
        fail("The kernel refuses the program (%s).", strerror(errno));
    struct bpf_link *link = bpf_program__attach(bpf_object__find_program_by_name(object, "overlay_guard"));
    if (!link) fail("The program can't be attached (%s).", strerror(errno));
    // The new program is in force before the old one is released, by being replaced.
    if ((unlink(new_link_pin) != 0 && errno != ENOENT) || bpf_link__pin(link, new_link_pin) != 0
        || rename(new_link_pin, link_pin) != 0)
        fail("The program can't be pinned in " DIRECTORY " (%s).", strerror(errno));
}

static void detach(void) {
    unlink(new_link_pin);
    if (unlink(link_pin) != 0 && errno != ENOENT) {
        fprintf(stderr, "applocker-overlay-guard: %s can't be removed (%s).\n", link_pin, strerror(errno));
        exit(1);
    }
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "attach") == 0) {
        attach();
    } else if (count == 2 && strcmp(arguments[1], "detach") == 0) {
        detach();
    } else {
        fputs("usage: applocker-overlay-guard attach | detach\n", stderr);
        return 2;
    }
    return 0;
}
