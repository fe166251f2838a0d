/* A library for LD_PRELOAD that makes system calls of a program fail, by a plan in its environment.
 *
 * Rust's crates make some system calls without the C library, so functions of the C library are not
 * replaced: a seccomp filter sends the calls of interest to a handler of SIGSYS in the same process.
 * The handler counts those that concern files below a folder, and lets them happen, fail, or kill the
 * process. Its own calls come from one instruction that the filter lets through. The process may not
 * start other programs. Linux on x86-64 and AArch64.
 *
 *   FAULT_ROOT   the folder
 *   FAULT_KIND   which calls count: open, read, write, sync, rename, map, make, remove, lock, or any
 *   FAULT_AT     the number of the call that fails, from 1; 0 for none
 *   FAULT_DO     EIO, ENOSPC, EROFS, EMFILE or EINTR: the call fails so; half: a write takes half of its
 *                bytes, and the next one fails with ENOSPC; KILL: the process is killed before the call,
 *                KILL_AFTER: after it; vanish: the folder is renamed to FAULT_ROOT.gone before the call
 *   FAULT_QUOTA  writes fail with ENOSPC once these bytes have been written
 *   FAULT_LOG    a file outside of the folder: one line for each call that counts
 *   FAULT_CLOCK  seconds by which the clock jumps, forward and back, with every reading
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define NUMBER(r) ((long)(r)[REG_RAX])
#define ARGUMENT(r, i) ((long)(r)[(int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9}[i]])
#define RETURN(r, value) ((r)[REG_RAX] = (value))
#define REGISTERS(context) ((context)->uc_mcontext.gregs)
__asm__(".text\n.globl faults_call\n.hidden faults_call\nfaults_call:\n"
        "mov %rdi, %rax\nmov %rsi, %rdi\nmov %rdx, %rsi\nmov %rcx, %rdx\nmov %r8, %r10\nmov %r9, %r8\n"
        "mov 8(%rsp), %r9\nsyscall\n.globl faults_returns\n.hidden faults_returns\nfaults_returns:\nret\n");
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define NUMBER(r) ((long)(r)[8])
#define ARGUMENT(r, i) ((long)(r)[i])
#define RETURN(r, value) ((r)[0] = (value))
#define REGISTERS(context) ((context)->uc_mcontext.regs)
__asm__(".text\n.globl faults_call\n.hidden faults_call\nfaults_call:\n"
        "mov x8, x0\nmov x0, x1\nmov x1, x2\nmov x2, x3\nmov x3, x4\nmov x4, x5\nmov x5, x6\nsvc #0\n"
        ".globl faults_returns\n.hidden faults_returns\nfaults_returns:\nret\n");
#else
#error "only for x86-64 and AArch64"
#endif

/* Makes a system call that the filter lets through; the result is -errno where it fails. */
long faults_call(long number, long a, long b, long c, long d, long e, long f);
/* The address behind its instruction. */
extern char faults_returns[];

static char root[512], gone[520];
static size_t root_length;
static char kind[16], action[16];
static long at, quota = -1, clock_jump;
static int log_file = -1;
static long counted, written, half_done;

static long call(long number, long a, long b, long c, long d) { return faults_call(number, a, b, c, d, 0, 0); }

static int below(const char *path) {
    return strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == 0);
}

/* The path of an open file. */
static int of_file(long fd, char *path, size_t size) {
    char link[32] = "/proc/self/fd/";
    char digits[12];
    int count = 0, length = 14;
    if (fd < 0) return 0;
    do { digits[count++] = '0' + fd % 10; fd /= 10; } while (fd > 0);
    while (count > 0) link[length++] = digits[--count];
    link[length] = 0;
    long got = call(SYS_readlinkat, AT_FDCWD, (long)link, (long)path, size - 1);
    path[got > 0 ? got : 0] = 0;
    return got > 0;
}

/* A path as it is given to a call; relative ones with the folder that they are relative to. */
static void of_path(long folder, const char *given, char *path, size_t size) {
    size_t length = 0;
    if (given[0] != '/') {
        if ((int)folder == AT_FDCWD) {
            long got = call(SYS_getcwd, (long)path, size, 0, 0);
            length = got > 1 ? got - 1 : 0;
        } else {
            of_file(folder, path, size);
            length = strlen(path);
        }
        if (length + 1 < size) path[length++] = '/';
    }
    for (size_t i = 0; given[i] && length + 1 < size; i++) path[length++] = given[i];
    path[length] = 0;
}

/* What a call does, and to which file; NULL where it does not count. */
static const char *classify(long number, const long *args, char *path, size_t size) {
    switch (number) {
#ifdef SYS_open
    case SYS_open: of_path(AT_FDCWD, (char *)args[0], path, size); return "open";
    case SYS_rename: of_path(AT_FDCWD, (char *)args[1], path, size); return "rename";
    case SYS_mkdir: of_path(AT_FDCWD, (char *)args[0], path, size); return "make";
    case SYS_unlink:
    case SYS_rmdir: of_path(AT_FDCWD, (char *)args[0], path, size); return "remove";
#endif
    case SYS_openat: of_path(args[0], (char *)args[1], path, size); return "open";
#ifdef SYS_renameat
    case SYS_renameat:
#endif
    case SYS_renameat2: of_path(args[2], (char *)args[3], path, size); return "rename";
    case SYS_mkdirat: of_path(args[0], (char *)args[1], path, size); return "make";
    case SYS_unlinkat: of_path(args[0], (char *)args[1], path, size); return "remove";
    case SYS_read:
    case SYS_pread64: return of_file(args[0], path, size) ? "read" : NULL;
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev: return of_file(args[0], path, size) ? "write" : NULL;
    case SYS_fsync:
    case SYS_fdatasync: return of_file(args[0], path, size) ? "sync" : NULL;
    case SYS_flock: return of_file(args[0], path, size) ? "lock" : NULL;
    case SYS_mmap: return (int)args[4] >= 0 && of_file((int)args[4], path, size) ? "map" : NULL;
    }
    return NULL;
}

static int writes(const char *what, long number, const long *args) {
    long flags = 0;
    if (strcmp(what, "open") == 0) {
        flags = number == SYS_openat ? args[2] : args[1];
        return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0;
    }
    return strcmp(what, "read") != 0 && strcmp(what, "map") != 0 && strcmp(what, "lock") != 0;
}

static void note(long place, const char *what, const char *path) {
    char line[800];
    char digits[20];
    int count = 0;
    size_t length = 0;
    do { digits[count++] = '0' + place % 10; place /= 10; } while (place > 0);
    while (count > 0) line[length++] = digits[--count];
    line[length++] = ' ';
    for (; *what; what++) line[length++] = *what;
    line[length++] = ' ';
    for (; *path && length + 2 < sizeof line; path++) line[length++] = *path;
    line[length++] = '\n';
    call(SYS_write, log_file, (long)line, length, 0);
}

static void die(void) {
    call(SYS_kill, call(SYS_getpid, 0, 0, 0, 0), SIGKILL, 0, 0);
    for (;;) {}
}

static long decide(long number, const long *args) {
    char path[700];
    const char *what = classify(number, args, path, sizeof path);
    long error = 0;
    if (what != NULL && below(path)) {
        if (quota >= 0 && (number == SYS_write || number == SYS_pwrite64)) {
            if (__atomic_add_fetch(&written, args[2], __ATOMIC_SEQ_CST) > quota) return -ENOSPC;
        }
        if (half_done && strcmp(what, "write") == 0) return -ENOSPC;
        int everywhere = strcmp(action, "EROFS") == 0 && at == 0;
        if (everywhere && writes(what, number, args)) return -EROFS;
        if (strcmp(kind, "any") == 0 || strcmp(kind, what) == 0) {
            long place = __atomic_add_fetch(&counted, 1, __ATOMIC_SEQ_CST);
            if (log_file >= 0) note(place, what, path);
            if (place == at) {
                if (strcmp(action, "KILL") == 0) die();
                if (strcmp(action, "EIO") == 0) error = EIO;
                if (strcmp(action, "ENOSPC") == 0) error = ENOSPC;
                if (strcmp(action, "EROFS") == 0) error = EROFS;
                if (strcmp(action, "EMFILE") == 0) error = EMFILE;
                if (strcmp(action, "EINTR") == 0) error = EINTR;
                if (strcmp(action, "vanish") == 0) call(SYS_renameat2, AT_FDCWD, (long)root, AT_FDCWD, (long)gone);
                if (strcmp(action, "half") == 0 && number == SYS_write && args[2] > 1) {
                    half_done = 1;
                    return call(number, args[0], args[1], args[2] / 2, 0);
                }
                if (strcmp(action, "KILL_AFTER") == 0) {
                    faults_call(number, args[0], args[1], args[2], args[3], args[4], args[5]);
                    die();
                }
                if (error) return -error;
            }
        }
    }
    return faults_call(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

static void handle(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)info;
    int kept = errno;
    long args[6];
    for (int i = 0; i < 6; i++) args[i] = ARGUMENT(REGISTERS((ucontext_t *)context), i);
    long result = decide(NUMBER(REGISTERS((ucontext_t *)context)), args);
    RETURN(REGISTERS((ucontext_t *)context), result);
    errno = kept;
}

/* The clock jumps: it is read through the C library, which need not call the system. */
int clock_gettime(clockid_t clock, struct timespec *now) {
    static long readings;
    long result = call(SYS_clock_gettime, clock, (long)now, 0, 0);
    if (result < 0) { errno = -result; return -1; }
    if (clock == CLOCK_REALTIME && clock_jump != 0) {
        now->tv_sec += __atomic_add_fetch(&readings, 1, __ATOMIC_SEQ_CST) % 2 ? clock_jump : -clock_jump;
    }
    return 0;
}

static const long CALLS[] = {
#ifdef SYS_open
    SYS_open, SYS_rename, SYS_mkdir, SYS_unlink, SYS_rmdir,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
    SYS_openat, SYS_renameat2, SYS_mkdirat, SYS_unlinkat, SYS_read, SYS_pread64, SYS_write,
    SYS_pwrite64, SYS_writev, SYS_fsync, SYS_fdatasync, SYS_flock, SYS_mmap,
};
#define COUNT (sizeof CALLS / sizeof CALLS[0])

static void copy(char *to, size_t size, const char *name) {
    const char *from = getenv(name);
    if (from != NULL && strlen(from) < size) strcpy(to, from);
}

__attribute__((constructor)) static void begin(void) {
    copy(root, sizeof root, "FAULT_ROOT");
    root_length = strlen(root);
    if (root_length == 0) return;
    strcpy(gone, root);
    strcat(gone, ".gone");
    copy(kind, sizeof kind, "FAULT_KIND");
    copy(action, sizeof action, "FAULT_DO");
    if (getenv("FAULT_AT")) at = atol(getenv("FAULT_AT"));
    if (getenv("FAULT_QUOTA")) quota = atol(getenv("FAULT_QUOTA"));
    if (getenv("FAULT_CLOCK")) clock_jump = atol(getenv("FAULT_CLOCK"));
    if (getenv("FAULT_LOG")) log_file = open(getenv("FAULT_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    struct sigaction sigsys = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    if (sigaction(SIGSYS, &sigsys, NULL) != 0) _exit(99);

    struct sock_filter filter[16 + 2 * COUNT];
    size_t n = 0;
    uintptr_t returns = (uintptr_t)faults_returns;
#define LOAD(field) filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define SKIP_UNLESS(value, count) filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (count))
#define ANSWER(what) filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (what))
    LOAD(arch);
    SKIP_UNLESS(ARCHITECTURE, 1);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1);
    ANSWER(SECCOMP_RET_ALLOW);
    LOAD(instruction_pointer);
    SKIP_UNLESS((uint32_t)returns, 3);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4);
    SKIP_UNLESS((uint32_t)(returns >> 32), 1);
    ANSWER(SECCOMP_RET_ALLOW);
    LOAD(nr);
    for (size_t i = 0; i < COUNT; i++) {
        SKIP_UNLESS((uint32_t)CALLS[i], 1);
        ANSWER(SECCOMP_RET_TRAP);
    }
    ANSWER(SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = n, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(98);
}
