/* What a snapshot of the environment holds: every fact, one of them unknown. */
#ifndef HARNESS_TESTS_UNIT_SNAPSHOT_H
#define HARNESS_TESTS_UNIT_SNAPSHOT_H

static const char fixture_snapshot[] =
	"{\"build.compiler\":\"gcc 12.2.0\",\"build.libc\":\"glibc 2.36\",\"cgroup.version\":2,"
	"\"ci.attempt\":\"1\",\"ci.image\":\"ubuntu24\",\"ci.imageVersion\":\"20261101.1\","
	"\"ci.provider\":\"github\",\"ci.runId\":\"42\",\"ci.runner\":\"github-hosted\",\"ci.runnerArch\":\"X64\","
	"\"ci.runnerOs\":\"Linux\",\"ci.sha\":\"dddddddddddddddddddddddddddddddddddddddd\","
	"\"ci.workflow\":\"o/r/.github/workflows/w.yml@refs/heads/main\",\"clock.source\":\"tsc\","
	"\"clock.synchronised\":false,\"containerd.gitCommit\":\"abc\",\"containerd.version\":\"1.6.20\","
	"\"cpu.microcode\":\"0x1\",\"cpu.model\":\"a processor\",\"cpu.online\":2,\"cpu.vendor\":\"GenuineIntel\","
	"\"cpu.virtualised\":false,\"cpu.vulnerabilities\":[\"meltdown:mitigation\"],"
	"\"cpu.vulnerabilitiesSha256\":\"eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee\","
	"\"dockerInit.gitCommit\":\"abc\",\"dockerInit.version\":\"0.19.0\",\"engine.api\":\"1.41\","
	"\"engine.apiVersion\":\"1.41\",\"engine.architecture\":\"x86_64\","
	"\"engine.backingFilesystem\":\"extfs\",\"engine.cgroupDriver\":\"systemd\","
	"\"engine.cgroupVersion\":\"2\",\"engine.defaultRuntime\":\"runc\",\"engine.gitCommit\":null,"
	"\"engine.imageStore\":\"graphdriver\",\"engine.kernelVersion\":\"6.1.0-18-amd64\","
	"\"engine.liveRestore\":false,\"engine.loggingDriver\":\"json-file\",\"engine.minApiVersion\":\"1.12\","
	"\"engine.operatingSystem\":\"Debian GNU/Linux 12 (bookworm)\",\"engine.osType\":\"linux\","
	"\"engine.runtimes\":[\"runc\"],\"engine.securityOptions\":[\"name=seccomp,profile=default\"],"
	"\"engine.storageDriver\":\"overlay2\",\"engine.version\":\"20.10.24\",\"engine.warnings\":0,"
	"\"host.cpus\":2,\"host.ipv6Loopback\":true,\"host.memoryBytes\":4294967296,\"host.postgres\":true,"
	"\"host.userXattr\":true,"
	"\"kernel.boot\":\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\",\"kernel.buildId\":\"c0ffee00\","
	"\"kernel.cmdlineFlags\":[\"mitigations=auto\"],"
	"\"kernel.cmdlineSha256\":\"eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee\","
	"\"kernel.configSha256\":\"eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee\","
	"\"kernel.configSource\":\"boot\",\"kernel.machine\":\"x86_64\",\"kernel.name\":\"Linux\","
	"\"kernel.release\":\"6.1.0-18-amd64\",\"kernel.tainted\":0,\"kernel.version\":\"#1 SMP Debian\","
	"\"lsm.list\":[\"capability\",\"apparmor\"],\"postgres.version\":\"15.18\","
	"\"process.dockerHostSet\":false,"
	"\"process.ldPreloadSet\":false,\"runc.gitCommit\":\"abc\",\"runc.version\":\"1.1.5\","
	"\"seccomp.actions\":[\"kill_process\",\"errno\",\"allow\"],\"sysctl.corePatternClass\":\"file\","
	"\"sysctl.corePatternRelative\":true,\"sysctl.coreUsesPid\":0,\"sysctl.ipv6BindOnly\":0,"
	"\"sysctl.ipv6Disabled\":0,\"sysctl.maxUserNamespaces\":15000,\"sysctl.ptraceScope\":0,"
	"\"sysctl.randomizeVaSpace\":0,\"sysctl.suidDumpable\":0,\"sysctl.unprivilegedBpfDisabled\":0,"
	"\"sysctl.unprivilegedUsernsClone\":0}";

#endif
