#include "core/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"

#define STANDARD_FDS 3
#define KEPT_MAX (SPAWN_FDS_MAX + STANDARD_FDS)
#define CHILD_END_MS 10000

enum step {
	STEP_EXEC,
	STEP_SESSION,
	STEP_PARENT,
	STEP_DESCRIPTORS,
	STEP_NETNS,
	STEP_PRIVILEGES,
	STEP_DIRECTORY,
};

/* All that the child needs, laid out before it exists: it shares our memory and may only make system calls. */
struct plan {
	const struct spawn_options *options;
	char *const *envp;
	pid_t parent;
	int null_fd;
	struct spawn_fd fds[KEPT_MAX]; /* the caller's map and /dev/null in what it leaves of 0, 1, 2; sorted by .to */
	size_t count;
	int above; /* the first number above all targets */
	volatile int number; /* errno of the step that failed, or 0: written by the child */
	volatile enum step step;
};

static const char *step_name(enum step step);

/* ---- In the child: system calls alone, nothing that allocates, locks, or returns to the parent's frames. ---- */

static bool set_parent_death(const struct plan *plan)
{
	if (plan->options->survive_parent)
		return true;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return false;
	/* The parent may have died before the request. */
	errno = ESRCH;
	return getppid() == plan->parent;
}

static void reset_signals(void)
{
	static const unsigned char kernel_default[64];

	/* The system call itself: the library's wrapper leaves out the two signals that it keeps for threads. */
	for (int signal = 1; signal < _NSIG; signal++)
		if (signal != SIGKILL && signal != SIGSTOP)
			syscall(SYS_rt_sigaction, signal, kernel_default, NULL, _NSIG / CHAR_BIT);
}

/* Moves every source above all targets first, so that no target overwrites a source that is still to come. Sets
 * *executable and *netns to their moved descriptors. */
static bool map_descriptors(const struct plan *plan, int *executable, int *netns)
{
	const struct spawn_options *options = plan->options;
	int moved[KEPT_MAX];
	unsigned next = 0;

	for (size_t i = 0; i < plan->count; i++) {
		moved[i] = fcntl(plan->fds[i].from, F_DUPFD_CLOEXEC, plan->above);
		if (moved[i] < 0)
			return false;
	}
	*executable = options->path ? -1 : fcntl(options->executable, F_DUPFD_CLOEXEC, plan->above);
	*netns = options->netns < 0 ? -1 : fcntl(options->netns, F_DUPFD_CLOEXEC, plan->above);
	if ((!options->path && *executable < 0) || (options->netns >= 0 && *netns < 0))
		return false;
	for (size_t i = 0; i < plan->count; i++) {
		unsigned to = (unsigned)plan->fds[i].to;

		if (dup2(moved[i], plan->fds[i].to) < 0)
			return false;
		if (to > next && close_range(next, to - 1, 0) < 0)
			return false;
		next = to + 1;
	}
	return true;
}

/* Closes all above the targets but `executable`, which is CLOEXEC. */
static bool close_others(const struct plan *plan, int executable)
{
	unsigned above = (unsigned)plan->above, kept = (unsigned)executable;

	if (executable < 0)
		return close_range(above, UINT_MAX, 0) == 0;
	return (kept == above || close_range(above, kept - 1, 0) == 0) && close_range(kept + 1, UINT_MAX, 0) == 0;
}

/* Raw calls: glibc's wrappers of this family speak to all threads through memory that we share. */
static bool drop_privileges(const struct plan *plan)
{
	const struct spawn_options *options = plan->options;
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_setgroups, 0, NULL) == 0 &&
	       syscall(SYS_setresgid, options->gid, options->gid, options->gid) == 0 &&
	       syscall(SYS_setresuid, options->uid, options->uid, options->uid) == 0 &&
	       prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 &&
	       syscall(SYS_capset, &header, none) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/* Where its caller may not run either, it runs anywhere. */
static void stay_on(int cpu)
{
	cpu_set_t set;

	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	(void)!syscall(SYS_sched_setaffinity, 0, sizeof(set), &set);
}

static enum step prepare(const struct plan *plan, int *executable)
{
	const struct spawn_options *options = plan->options;
	sigset_t none;
	int netns;

	if (options->new_session && setsid() < 0)
		return STEP_SESSION;
	if (!set_parent_death(plan))
		return STEP_PARENT;
	reset_signals();
	if (!map_descriptors(plan, executable, &netns))
		return STEP_DESCRIPTORS;
	if (netns >= 0 && setns(netns, CLONE_NEWNET) < 0)
		return STEP_NETNS;
	if (!close_others(plan, *executable))
		return STEP_DESCRIPTORS;
	if (options->drop_privileges) {
		if (!drop_privileges(plan))
			return STEP_PRIVILEGES;
		/* A change of credentials cleared it. */
		if (!set_parent_death(plan))
			return STEP_PARENT;
	}
	if (options->directory && chdir(options->directory) < 0)
		return STEP_DIRECTORY;
	stay_on(options->cpu);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	return STEP_EXEC;
}

__attribute__((noreturn)) static void child_main(struct plan *plan)
{
	const struct spawn_options *options = plan->options;
	int executable = -1;
	enum step step = prepare(plan, &executable);

	if (step == STEP_EXEC && options->path)
		execve(options->path, options->argv, plan->envp);
	else if (step == STEP_EXEC)
		syscall(SYS_execveat, executable, "", options->argv, plan->envp, AT_EMPTY_PATH);
	plan->step = step;
	plan->number = errno != 0 ? errno : EINVAL;
	_exit(127);
}

/* ---- In the parent ---- */

/* Apart, so that no variable of a longer function lives across vfork(). */
__attribute__((noinline)) static pid_t start(struct plan *plan)
{
	pid_t pid = vfork();

	if (pid == 0)
		child_main(plan);
	return pid;
}

static bool mapped(const struct plan *plan, int to)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->fds[i].to == to)
			return true;
	return false;
}

/* Inserts by rising target. */
static void insert(struct plan *plan, int from, int to)
{
	size_t at = plan->count++;

	for (; at > 0 && plan->fds[at - 1].to > to; at--)
		plan->fds[at] = plan->fds[at - 1];
	plan->fds[at] = (struct spawn_fd){ .from = from, .to = to };
}

static int lay_out(struct plan *plan, struct error **err)
{
	const struct spawn_options *options = plan->options;

	if (options->fds_count > SPAWN_FDS_MAX)
		return error_set(err, ERROR_INTERNAL, "spawn: more than %d descriptors", SPAWN_FDS_MAX);
	if (!options->argv || !options->argv[0] || (!options->path && options->executable < 0))
		return error_set(err, ERROR_INTERNAL, "spawn: no program");
	for (size_t i = 0; i < options->fds_count; i++) {
		const struct spawn_fd *fd = &options->fds[i];

		if (fd->from < 0 || fd->to < 0 || mapped(plan, fd->to))
			return error_set(err, ERROR_INTERNAL, "spawn: descriptor %d to %d", fd->from, fd->to);
		insert(plan, fd->from, fd->to);
	}
	for (int to = 0; to < STANDARD_FDS; to++)
		if (!mapped(plan, to))
			insert(plan, plan->null_fd, to);
	plan->above = plan->fds[plan->count - 1].to + 1;
	return 0;
}

/* Runs start() with every signal blocked, so that none is handled in the child while it shares our memory. */
static pid_t start_blocked(struct plan *plan, int *number)
{
	int dumpable = prctl(PR_GET_DUMPABLE);
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = start(plan);
	*number = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	/* Dumpable belongs to the memory, which the child's change of credentials shared with us. */
	if ((dumpable == 0 || dumpable == 1) && prctl(PR_GET_DUMPABLE) != dumpable)
		prctl(PR_SET_DUMPABLE, dumpable);
	return pid;
}

static void reap(pid_t pid)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED) < 0 && errno == EINTR)
		;
}

int spawn(const struct spawn_options *options, struct child *out, struct error **err)
{
	static char *const nothing[] = { NULL };
	cleanup_fd int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct plan plan = { .options = options,
			     .envp = options->envp ? options->envp : nothing,
			     .parent = getpid(),
			     .null_fd = null_fd };
	char shown[160];
	int r, number, pidfd;
	pid_t pid;

	if (null_fd < 0)
		return error_errno(err, errno, "/dev/null");
	r = lay_out(&plan, err);
	if (r < 0)
		return r;
	error_safe(options->path ? options->path : options->argv[0], shown, sizeof(shown));
	pid = start_blocked(&plan, &number);
	if (pid < 0)
		return error_errno(err, number, "starting %s: vfork", shown);
	if (plan.number != 0) {
		reap(pid);
		return error_errno(err, plan.number, "starting %s: %s", shown, step_name(plan.step));
	}
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0) {
		number = errno;
		kill(pid, SIGKILL);
		reap(pid);
		return error_errno(err, number, "starting %s: pidfd_open", shown);
	}
	*out = (struct child){ .pid = pid, .pidfd = pidfd };
	return 0;
}

static void forget(struct child *child)
{
	fd_close(&child->pidfd);
	child->pid = 0;
}

int child_wait(struct child *child, int64_t deadline, int *status, struct error **err)
{
	siginfo_t info = { 0 };
	int r;

	if (child->pid <= 0)
		return error_set(err, ERROR_INTERNAL, "waiting for no child");
	r = fd_wait(child->pidfd, POLLIN, deadline, err);
	if (r < 0)
		return r;
	if (r == 0)
		return error_set(err, ERROR_TIMEOUT, "a child still runs at its deadline");
	while (waitid(P_PIDFD, (id_t)child->pidfd, &info, WEXITED) < 0)
		if (errno != EINTR)
			return error_errno(err, errno, "waitid");
	*status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
	forget(child);
	return 0;
}

int child_signal(const struct child *child, int signal)
{
	if (child->pid <= 0) {
		errno = ESRCH;
		return -1;
	}
	return syscall(SYS_pidfd_send_signal, child->pidfd, signal, NULL, 0) == 0 ? 0 : -1;
}

bool child_running(const struct child *child)
{
	return child->pid > 0 && fd_wait(child->pidfd, POLLIN, 0, NULL) == 0;
}

bool child_stopped(const struct child *child)
{
	siginfo_t info = { .si_pid = 0 };

	/* What is looked at is left to be seen: it is gone once the child goes on. */
	return child->pid > 0 && waitid(P_PIDFD, (id_t)child->pidfd, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid > 0 && info.si_code == CLD_STOPPED;
}

void child_end(struct child *child)
{
	siginfo_t info;

	if (!child || child->pid <= 0)
		return;
	child_signal(child, SIGKILL);
	/* One that the kernel cannot end in time (a hung disk) is left to be reaped by whoever outlives us. */
	if (fd_wait(child->pidfd, POLLIN, clock_deadline(CHILD_END_MS), NULL) == 1) {
		/* No WNOHANG: a pidfd may be readable a moment before its process can be reaped. */
		while (waitid(P_PIDFD, (id_t)child->pidfd, &info, WEXITED) < 0 && errno == EINTR)
			;
	}
	forget(child);
}

static const char *const step_names[] = {
	[STEP_EXEC] = "execve",
	[STEP_SESSION] = "setsid",
	[STEP_PARENT] = "the parent's death signal",
	[STEP_DESCRIPTORS] = "mapping descriptors",
	[STEP_NETNS] = "setns",
	[STEP_PRIVILEGES] = "dropping privileges",
	[STEP_DIRECTORY] = "chdir",
};

static const char *step_name(enum step step)
{
	return step_names[step];
}
