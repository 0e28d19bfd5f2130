# harness: evidence that an AI agent is confined.
#
#   make            build ./harness and its helpers
#   make run        packages, build, an engine, ./harness run all
#   make check      all tests; make check-unit needs no root and no Docker
#   make help       every target

VERSION := 0.2.0

CC ?= cc
BUILD ?= build
WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Wcast-qual \
	-Wpointer-arith -Wwrite-strings -Wundef -Wimplicit-fallthrough -Wold-style-definition
CFLAGS ?= -O2
HARDENING ?= -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE
ALL_CFLAGS = -std=gnu17 $(WARNINGS) -fvisibility=hidden -I. -D_GNU_SOURCE -DHARNESS_VERSION='"$(VERSION)"' \
	$(HARDENING) $(CFLAGS) $(SANITIZE) -MMD -MP
ALL_LDFLAGS = $(if $(SANITIZE),,-pie -Wl,-z,relro,-z,now) -Wl,--as-needed $(LDFLAGS) $(SANITIZE)

# The database of a second deployment; without its library the programs for it refuse (core/postgres_none.c).
LIBPQ ?= $(wildcard /usr/include/postgresql/libpq-fe.h)
PQ := $(if $(LIBPQ),-lpq)

ROOMS := core mcp oracle gateway services observers adapter mutations reports runner

# make V=1 shows each command in full; else one short line stands for it.
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $(2))

.DEFAULT_GOAL := all

# Every object is of one version: another one makes them all anew.
OF_VERSION := $(BUILD)/of/$(VERSION)
$(OF_VERSION):
	@mkdir -p $(@D)
	@rm -f $(@D)/*
	@touch $@

$(BUILD)/obj/%.o: %.c $(OF_VERSION)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/lib/%.a:
	@mkdir -p $(@D)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcsD $@ $^

MAINS :=
PROGRAMS := $(BUILD)/agent

# What the mutants of the gateway replace, at their link alone.
MUTANT_WRAP := $(foreach name,program_measure spawn answer_refuse,-Wl,--wrap=$(name))

# program: its file with main(), the rooms it may link, libraries. All other files of a room go into the room's archive.
define program
MAINS += $(2)
PROGRAMS += $(BUILD)/$(1)
$(BUILD)/$(1): $(BUILD)/obj/$(2:.c=.o) $(foreach room,$(3),$(BUILD)/lib/$(room).a)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) -o $$@ $$(filter %.o,$$^) -Wl,--start-group $(foreach room,$(3),$(BUILD)/lib/$(room).a) -Wl,--end-group $$(ALL_LDFLAGS) $(4)
endef

$(eval $(call program,harness,runner/main.c,runner reports mutations adapter gateway observers oracle mcp core,-lcurl -lcjson -lz -lmd -lmnl -lcrypto))
$(eval $(call program,libexec/bridge,adapter/bridge.c,adapter mcp core,-lcjson -lmd))
$(eval $(call program,libexec/watchdog,adapter/watchdog.c,adapter core,))
$(eval $(call program,libexec/stop,adapter/stop.c,adapter core,-lcurl -lcjson -lz -lmd))
$(eval $(call program,libexec/harness-gateway,gateway/main.c,gateway mcp core,-lcjson -lmd -lsqlite3 -lmicrohttpd))
$(eval $(call program,libexec/otlp-export,gateway/otlp_export.c,gateway core,-lcurl -lcjson))
$(eval $(call program,libexec/recorder,observers/recorder.c,observers mcp core,-lcjson -lmd))
$(eval $(call program,libexec/mcp-http,mcp/http_relay.c,mcp core,-lcurl -lcjson -lmd))
$(eval $(call program,libexec/hostile-gateway,gateway/hostile_gateway.c,gateway mcp core,-lcjson -lmd))
$(eval $(call program,libexec/hostile-upstream,observers/hostile_upstream.c,observers mcp core,-lcjson -lmd))
$(eval $(call program,libexec/audit-trap,observers/audit_trap.c,core,-lsqlite3 -lmd))
$(eval $(call program,libexec/refusals,observers/refusals.c,observers mcp core,-lcjson -lmd))
$(eval $(call program,libexec/hostile-collector,observers/spans_hostile.c,observers mcp core,-lmicrohttpd -lcjson -lmd))
$(eval $(call program,libexec/gateway-mutant,gateway/mutant.c,gateway mcp core,-lcjson -lmd -lsqlite3 -lmicrohttpd $(MUTANT_WRAP)))
$(eval $(call program,libexec/order-service,services/order_service.c,services mcp core,-lsqlite3 $(PQ) -lmicrohttpd -lcjson -lmd))
$(eval $(call program,libexec/hostile-orders,services/order_hostile.c,services mcp core,-lsqlite3 $(PQ) -lmicrohttpd -lcjson -lmd))
$(eval $(call program,libexec/order-import,services/order_import.c,services core,-lsqlite3 $(PQ) -lcjson -lmd))
$(eval $(call program,libexec/order-writer,services/order_writer.c,core,-lsqlite3 $(PQ) -lmd))
$(eval $(call program,libexec/order-database,services/order_database.c,core,$(PQ) -lmd))
$(eval $(call program,libexec/netns-beacon,observers/netns_beacon.c,core,))
$(eval $(call program,libexec/observer-tcp,observers/tcp.c,observers core,-lmd))
$(eval $(call program,libexec/observer-udp,observers/udp.c,observers core,-lresolv -lmd))
$(eval $(call program,libexec/observer-capture,observers/capture.c,observers core,-lpcap -lmd))
$(eval $(call program,libexec/observer-files,observers/files.c,observers core,-larchive -lcjson -lmd))
$(eval $(call program,libexec/observer-logs,observers/logs.c,observers core,-lcjson -lmd))
$(eval $(call program,libexec/observer-client,observers/client.c,observers core,-lcjson -lmd))
$(eval $(call program,libexec/observer-state,observers/state.c,observers core,-lcjson -lmd))
$(eval $(call program,libexec/observer-audit,observers/audit.c,observers core,-lsqlite3 -lcjson -lmd))
$(eval $(call program,libexec/observer-correlation,observers/correlation_sqlite.c,observers core,-lsqlite3 -lcjson -lmd))
$(eval $(call program,libexec/observer-orders,observers/orders_sqlite.c,observers core,-lsqlite3 -lcjson -lmd))
$(eval $(call program,libexec/observer-correlation-pg,observers/correlation_pg.c,observers core,-lsqlite3 $(PQ) -lcjson -lmd))
$(eval $(call program,libexec/observer-orders-pg,observers/orders_pg.c,observers core,$(PQ) -lcjson -lmd))
$(eval $(call program,libexec/observer-bytes,observers/bytes.c,observers core,-lmd))
$(eval $(call program,libexec/observer-deliveries,observers/deliveries.c,observers core,-lcjson -lmd))
$(eval $(call program,libexec/observer-spans,observers/spans.c,observers core,-lmicrohttpd -lcjson -lmd))
$(eval $(call program,libexec/observer-children,observers/children.c,observers core,-lmd))

# What a build is, for its manifests: one object of harness alone, so that a commit rebuilds no other.
BUILD_FACTS := $(BUILD)/obj/build_facts
$(BUILD)/harness: $(BUILD_FACTS).o
$(BUILD_FACTS).c: ci/build-facts $(foreach room,$(ROOMS),$(BUILD)/lib/$(room).a) FORCE
	@mkdir -p $(@D)
	@ci/build-facts '$(CC)' $(filter %.a,$^) >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(BUILD_FACTS).o: $(BUILD_FACTS).c
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<
.PHONY: FORCE

sources = $(filter-out $(MAINS) $(if $(LIBPQ),core/postgres_none.c,core/postgres.c),$(wildcard $(1)/*.c))
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(call sources,$(1)))
ARCHIVES := $(foreach room,$(ROOMS),$(BUILD)/lib/$(room).a)
$(foreach room,$(ROOMS),$(eval $(BUILD)/lib/$(room).a: $(call objects,$(room))))

.PHONY: all
# ./harness is that of the folder build alone: builds beside it, for sanitizers or another compiler, leave it.
all: $(if $(filter build,$(BUILD)),harness) $(PROGRAMS) ## ./harness and its helpers (the default)

harness: $(BUILD)/harness
	@ln -sf $(BUILD)/harness $@

# The agent is the adversary's side: one static program that includes nothing of ours, built without sanitizers.
$(BUILD)/agent: $(wildcard agent/*.c agent/*.h)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -std=gnu17 $(WARNINGS) -D_GNU_SOURCE -Os -static -Wl,--build-id=none -o $@ $(filter %.c,$^)
	@strip --strip-all $@

# ---- tests -----------------------------------------------------------------------------------------------------------
#
# A tier is a folder: tests/unit (pure), tests/hostile (bundles that verify must refuse), tests/sim (a scripted engine),
# tests/live (a real engine). Each test_*.c in it is
# one program, build/tests/NAME for a unit test, build/tests/TIER-NAME for another: beside libexec, where they look for our
# helpers. A test_*.sh is a test as it stands, with the build folder in $BUILD. main_*.c are programs that tests start; the
# other files are shared by all tests.

tests_in = $(foreach file,$(wildcard tests/$(1)/test_*.c),$(2)/tests/$(patsubst unit-%,%,$(1)-$(notdir $(file:.c=)))) \
	$(wildcard tests/$(1)/test_*.sh)
programs_of = $(filter-out %.sh,$(call tests_in,$(1),$(BUILD)))
TEST_MAINS := $(wildcard tests/*/main_*.c)
TEST_MAIN_PROGRAMS = $(foreach file,$(TEST_MAINS),$(BUILD)/tests/$(patsubst unit-%,%,$(subst /,-,$(patsubst tests/%.c,%,$(file)))))
TEST_PROGRAMS = $(foreach tier,unit sim live,$(call programs_of,$(tier))) $(TEST_MAIN_PROGRAMS)
TEST_LIBS := -lcunit -lcurl -lcjson -lz -lmd -lmnl -lcrypto -larchive -ljansson -lpcap -lresolv -lsqlite3 $(PQ) -lmicrohttpd
TEST_HELPERS := $(filter-out $(TEST_MAINS) $(wildcard tests/*/test_*.c tests/fuzz/*.c tests/bench/*.c),$(wildcard tests/*/*.c))

$(BUILD)/obj/tests/%.o: ALL_CFLAGS += -DTEST_BUILD='"$(BUILD)"'
$(BUILD)/lib/tests.a: $(TEST_HELPERS:%.c=$(BUILD)/obj/%.o)

define link_test
@mkdir -p $(@D)
$(call say,LINK,$@)
$(Q)$(CC) $(1) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(ALL_LDFLAGS) $(TEST_LIBS)
endef

$(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(BUILD)/lib/tests.a $(ARCHIVES)
	$(call link_test)

$(BUILD)/tests/sim-%: $(BUILD)/obj/tests/sim/%.o $(BUILD)/lib/tests.a $(ARCHIVES)
	$(call link_test)

$(BUILD)/tests/live-%: $(BUILD)/obj/tests/live/%.o $(BUILD)/lib/tests.a $(ARCHIVES)
	$(call link_test)

$(BUILD)/tests/bench-%: $(BUILD)/obj/tests/bench/%.o $(BUILD)/lib/tests.a $(ARCHIVES)
	$(call link_test)

# For valgrind: with the system calls that it does not know done in another way.
VALGRIND_WRAP := -Wl,--wrap=syscall,--wrap=pidfd_open,--wrap=pidfd_send_signal,--wrap=close_range
$(BUILD)/tests/valgrind-%: $(BUILD)/obj/tests/sim/%.o $(BUILD)/lib/tests.a $(ARCHIVES)
	$(call link_test,$(VALGRIND_WRAP))

BENCH_PARTS := $(filter-out %/bench.c %/gateway.c %/evidence.c %/reports.c %/bench_agent.c,$(wildcard tests/bench/*.c))
$(BUILD)/lib/bench.a: $(BENCH_PARTS:%.c=$(BUILD)/obj/%.o)
$(BUILD)/tests/bench-bench $(BUILD)/tests/bench-gateway $(BUILD)/tests/bench-evidence $(BUILD)/tests/bench-reports: \
	$(BUILD)/lib/bench.a

$(BUILD)/tests/bench-agent: tests/bench/bench_agent.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -std=gnu17 $(WARNINGS) -D_GNU_SOURCE -Os -static -Wl,--build-id=none -o $@ $<
	@strip --strip-all $@

$(BUILD)/tests/fuzz_%: $(BUILD)/obj/tests/fuzz/fuzz_%.o $(ARCHIVES)
	$(call link_test,-fsanitize=fuzzer)

# The same functions, without libFuzzer, for the unit test that replays their corpus.
FUZZ_TARGETS := $(wildcard tests/fuzz/fuzz_*.c)
$(BUILD)/lib/fuzz.a: $(FUZZ_TARGETS:%.c=$(BUILD)/obj/%.o)
$(BUILD)/tests/test_fuzz: $(BUILD)/lib/fuzz.a

# Objects stay after a test is linked: they are an input of the next build.
.SECONDARY:

# Inside a recipe: as many jobs as processors, unless the user already said how many.
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
ASAN := BUILD=build-asan SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all" CFLAGS="-O1 -g" \
	HARDENING="-fno-omit-frame-pointer"
FUZZ := BUILD=build-fuzz CC=clang SANITIZE="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" \
	CFLAGS="-O1 -g" HARDENING="-fno-omit-frame-pointer"

.PHONY: tests
tests: all $(TEST_PROGRAMS)

# ---- what a user calls -----------------------------------------------------------------------------------------------

# After `sudo make`, what was built belongs to the user behind sudo, as the bundles do.
GIVE_BACK = [ -z "$$SUDO_UID" ] || chown -hR "$$SUDO_UID:$$SUDO_GID" $$(ls -d build build-* harness 2>/dev/null)
SAY_ENGINE = ci/engine status; ci/postgres status; \
	echo "They keep running. What was started here ends with: ci/engine stop, ci/postgres stop"

.PHONY: run
run: ## packages, build, an engine if none answers, ./harness run all
	ci/deps build engine postgres
	$(MAKE) $(PARALLEL) all
	@$(GIVE_BACK)
	ci/engine start
	ci/postgres start
	@status=0; ci/as-root ./harness run all || status=$$?; $(SAY_ENGINE); exit $$status

.PHONY: check
check: ## every test: unit, simulated engine, both under sanitizers, live; installs and starts what it needs
	ci/deps
	$(MAKE) $(PARALLEL) tests
	$(MAKE) $(PARALLEL) $(ASAN) tests
	@$(GIVE_BACK)
	ci/engine start
	ci/postgres start
	@$(SAY_ENGINE)
	@ci/run-tests BUILD=build unit: $(call tests_in,unit,build) hostile: $(call tests_in,hostile,build) \
		BUILD=build-asan unit-asan: $(call tests_in,unit,build-asan) sim: $(call tests_in,sim,build-asan) \
		BUILD=build live: $(call tests_in,live,build)

.PHONY: check-unit
check-unit: all $(filter-out $(BUILD)/tests/live-%,$(TEST_PROGRAMS)) ## unit tests; needs no root, no engine, installs nothing
	@ci/run-tests BUILD=$(BUILD) unit: $(call tests_in,unit,$(BUILD)) hostile: $(call tests_in,hostile,$(BUILD))

.PHONY: check-sim
check-sim: all $(filter-out $(BUILD)/tests/live-%,$(TEST_PROGRAMS)) ## tests against the simulated engine, without sanitizers
	@ci/run-tests BUILD=$(BUILD) sim: $(call tests_in,sim,$(BUILD))

.PHONY: check-asan
check-asan: ## unit tests and simulated engine under AddressSanitizer and UndefinedBehaviorSanitizer, in build-asan
	$(MAKE) $(PARALLEL) $(ASAN) tests
	@ci/run-tests BUILD=build-asan unit-asan: $(call tests_in,unit,build-asan) sim: $(call tests_in,sim,build-asan) \
		hostile: $(call tests_in,hostile,build-asan)

VALGRIND_PROGRAMS := $(patsubst tests/sim/%.c,$(BUILD)/tests/valgrind-%,$(wildcard tests/sim/test_*.c))
.PHONY: check-valgrind
check-valgrind: all $(TEST_MAIN_PROGRAMS) $(VALGRIND_PROGRAMS) ## tests against the simulated engine under valgrind
	@ci/run-tests BUILD=$(BUILD) valgrind: $(VALGRIND_PROGRAMS)

.PHONY: check-live
check-live: tests ## tests on a real engine; each skips itself, and says so, where none answers
	@ci/run-tests BUILD=$(BUILD) live: $(call tests_in,live,$(BUILD))

.PHONY: check-interop
check-interop: all $(BUILD)/tests/main_report_pages ## the gateway with the official SDKs' clients, the conformance suite and real servers; from npm and PyPI
	@ci/interop || true # a test says itself what it lacks
	@ci/cmcp || true
	@ci/run-tests BUILD=$(BUILD) interop: $(wildcard tests/interop/test_*.sh tests/interop/test_*.py)

.PHONY: check-patches
check-patches: tests ## plants the defects of tests/patches, one at a time: the test that each names must go red
	@BUILD=$(BUILD) ci/check-patches

.PHONY: bench
bench: all bench-gateway bench-evidence bench-reports $(BUILD)/tests/bench-bench $(BUILD)/tests/bench-agent ## time and memory against the bare engine; prints the tables of docs/performance.md
	ci/engine start
	ci/as-root $(BUILD)/tests/bench-bench

.PHONY: bench-gateway
bench-gateway: all $(BUILD)/tests/bench-gateway ## the part of it that needs no engine: the gateway, beside the real cMCP where ci/cmcp installed it
	$(BUILD)/tests/bench-gateway

.PHONY: bench-evidence
bench-evidence: all $(BUILD)/tests/bench-evidence ## the part of it that verifies and seals bundles of up to a million observations; needs no engine
	$(BUILD)/tests/bench-evidence

.PHONY: bench-reports
bench-reports: all $(BUILD)/tests/bench-reports ## the part of it that writes junit.xml, ctrf.json and report.html of 100,000 cells
	$(BUILD)/tests/bench-reports

.PHONY: lint
lint: ## include rule, header owners, banned calls, state, layout, length, clang, analyzers, shell scripts
	@ci/lint

.PHONY: format
format: ## lays out every C file as .clang-format says
	@ci/lint --fix format

.PHONY: fuzzers
fuzzers: $(FUZZ_TARGETS:tests/fuzz/%.c=$(BUILD)/tests/%)

FUZZ_SECONDS ?= 20
.PHONY: fuzz
fuzz: ## every fuzz target for a while, in build-fuzz (FUZZ_SECONDS=20, of each)
	$(MAKE) $(PARALLEL) $(FUZZ) fuzzers
	ci/fuzz $(FUZZ_SECONDS)

.PHONY: soak
soak: ## hours, not minutes: each fuzz target for 10 minutes, 200 kills, each engine fault, `run all` over and over
	$(MAKE) $(PARALLEL) all $(BUILD)/tests/live-main_proxy $(BUILD)/tests/test_audit_kill $(BUILD)/tests/main_audit_writer \
		$(BUILD)/tests/test_gateway_kill $(BUILD)/tests/test_verify_memory
	$(MAKE) $(PARALLEL) $(FUZZ) fuzzers
	ci/engine start
	ci/as-root ci/soak

.PHONY: clean
clean: ## removes what was built; bundles stay
	rm -rf build build-* harness

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1 /p' Makefile packaging/package.mk | while read -r target text; do printf '  make %-14s %s\n' "$$target" "$$text"; done

include packaging/package.mk

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
