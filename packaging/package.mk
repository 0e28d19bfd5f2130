# What leaves the tree: an installed program, its documents, a source archive, a Debian package. Included by the Makefile.
#
#   make install prefix=/usr/local DESTDIR=       DESTDIR is put before every path; nothing is built anew but what is missing
#
# The program finds what belongs to it from its own path (core/process.c, runner/paths.c): libexec/harness and share/harness
# of the same prefix. So a prefix can be moved as a whole.

prefix ?= /usr/local
bindir ?= $(prefix)/bin
libexecdir ?= $(prefix)/libexec
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man
docdir ?= $(datadir)/doc/harness
bashdir ?= $(datadir)/bash-completion/completions
zshdir ?= $(datadir)/zsh/site-functions
fishdir ?= $(datadir)/fish/vendor_completions.d
INSTALL ?= install

# Neither of the two may be somewhere else: that is where the program looks.
HELPERS_AT = $(DESTDIR)$(libexecdir)/harness
SCENARIOS_AT = $(DESTDIR)$(datadir)/harness/scenarios
EFFECTS_AT = $(DESTDIR)$(datadir)/harness/effects
SCHEMA_AT = $(DESTDIR)$(datadir)/harness/schema

INSTALLED_PROGRAMS = $(filter-out $(BUILD)/harness,$(PROGRAMS))
SCENARIO_FILES := $(shell find scenarios -name '*.json' | LC_ALL=C sort)
EFFECT_FILES := $(wildcard effects/*.json)
COMPLETIONS := packaging/completion
MANUALS := docs/harness.1 docs/harness-gateway.1
# As they lie in the source, so that their links hold.
INSTALLED_DOCS := README.md CHANGELOG.md SECURITY.md LICENSE $(wildcard docs/*.md docs/rooms/*.md docs/*.py) ci/scan-bundle
EXAMPLE_FILES := $(shell find docs/examples -type f | LC_ALL=C sort)
SCHEMA_FILES := $(wildcard reports/schema/*.json)

# What harness prints, into a file: all of it, or the file stays as it was.
print = $(BUILD)/harness $(1) >$(BUILD)/printed && cp $(BUILD)/printed $(2)

.PHONY: docs
docs: all $(BUILD)/tests/test_schemas ## docs/harness.1, docs/routes.md, docs/limits.md, docs/claims.md, packaging/completion and reports/schema, from the tables in the code
	$(BUILD)/tests/test_schemas write
	@mkdir -p $(COMPLETIONS)
	$(call print,manual,docs/harness.1)
	$(call print,page routes,docs/routes.md)
	$(call print,page limits,docs/limits.md)
	$(call print,page claims,docs/claims.md)
	$(call print,completion bash,$(COMPLETIONS)/harness.bash)
	$(call print,completion zsh,$(COMPLETIONS)/harness.zsh)
	$(call print,completion fish,$(COMPLETIONS)/harness.fish)

.PHONY: install
install: all ## what `make` built, below prefix=/usr/local; DESTDIR is put before it
	$(INSTALL) -d $(DESTDIR)$(bindir) $(HELPERS_AT) $(DESTDIR)$(docdir)
	$(INSTALL) -m 755 $(BUILD)/harness $(DESTDIR)$(bindir)/harness
	$(INSTALL) -m 755 $(INSTALLED_PROGRAMS) $(HELPERS_AT)
	ln -sfr $(HELPERS_AT)/harness-gateway $(DESTDIR)$(bindir)/harness-gateway
	@for file in $(SCENARIO_FILES:scenarios/%=%); do \
		$(INSTALL) -D -m 644 "scenarios/$$file" "$(SCENARIOS_AT)/$$file" || exit 1; done
	@for file in $(EXAMPLE_FILES); do mode=644; [ ! -x "$$file" ] || mode=755; \
		$(INSTALL) -D -m $$mode "$$file" "$(DESTDIR)$(docdir)/$$file" || exit 1; done
	@for file in $(INSTALLED_DOCS); do $(INSTALL) -D -m 644 "$$file" "$(DESTDIR)$(docdir)/$$file" || exit 1; done
	$(INSTALL) -D -m 644 -t $(EFFECTS_AT) $(EFFECT_FILES)
	$(INSTALL) -D -m 644 -t $(SCHEMA_AT) $(SCHEMA_FILES)
	$(INSTALL) -D -m 644 -t $(DESTDIR)$(mandir)/man1 $(MANUALS)
	$(INSTALL) -D -m 644 $(COMPLETIONS)/harness.bash $(DESTDIR)$(bashdir)/harness
	$(INSTALL) -D -m 644 $(COMPLETIONS)/harness.zsh $(DESTDIR)$(zshdir)/_harness
	$(INSTALL) -D -m 644 $(COMPLETIONS)/harness.fish $(DESTDIR)$(fishdir)/harness.fish

# File by file, and folder by folder where nothing is left in it: what somebody else put beside ours stays.
define remove_from
@for name in $(2); do rm -f "$(1)/$$name"; done
@[ ! -d "$(1)" ] || for folder in $(filter-out ./,$(sort $(dir $(2)))); do \
	(cd "$(1)" && [ ! -d "$$folder" ] || rmdir -p --ignore-fail-on-non-empty "$$folder"); done
endef
.PHONY: uninstall
uninstall: ## what `make install` put below the same prefix and DESTDIR, and nothing else
	$(call remove_from,$(DESTDIR)$(bindir),harness harness-gateway)
	$(call remove_from,$(HELPERS_AT),$(notdir $(INSTALLED_PROGRAMS)))
	$(call remove_from,$(SCENARIOS_AT),$(SCENARIO_FILES:scenarios/%=%))
	$(call remove_from,$(EFFECTS_AT),$(notdir $(EFFECT_FILES)))
	$(call remove_from,$(SCHEMA_AT),$(notdir $(SCHEMA_FILES)))
	$(call remove_from,$(DESTDIR)$(docdir),$(INSTALLED_DOCS) $(EXAMPLE_FILES))
	$(call remove_from,$(DESTDIR)$(mandir)/man1,$(notdir $(MANUALS)))
	@rm -f $(DESTDIR)$(bashdir)/harness $(DESTDIR)$(zshdir)/_harness $(DESTDIR)$(fishdir)/harness.fish
	@for folder in $(SCENARIOS_AT) $(EFFECTS_AT) $(SCHEMA_AT) $(DESTDIR)$(datadir)/harness $(HELPERS_AT) $(DESTDIR)$(docdir); do \
		[ ! -d "$$folder" ] || rmdir --ignore-fail-on-non-empty "$$folder"; done

# ---- to give away ----------------------------------------------------------------------------------------------------

DIST := $(BUILD)/harness-$(VERSION).tar.gz

.PHONY: dist
dist: ## the source archive of what is committed, in build/: the same commit gives the same bytes
	@ci/dist $(VERSION) $(DIST)
	@sha256sum $(DIST)

.PHONY: deb
deb: dist ## a Debian package of it, in build/ (ci/deps build package)
	@ci/deb $(DIST) $(BUILD)

.PHONY: check-package
check-package: all ## installation, manual pages, completion, archive and Debian package (ci/deps package)
	@ci/run-tests BUILD=$(BUILD) package: $(wildcard tests/package/test_*.sh tests/package/test_*.py)

# ---- what a CI runs --------------------------------------------------------------------------------------------------

.PHONY: check-suite
check-suite: all ## a run and a replay on the engine of another Debian suite, SUITE=trixie (ci/deps suite; a minute to make it)
	ci/engine start
	@ci/run-tests BUILD=$(BUILD) suite: $(wildcard tests/suite/test_*.sh)

.PHONY: check-workflow
check-workflow: all ## .github/workflows and action.yml: linted, and their steps run here (ci/deps workflow)
	@ci/run-tests BUILD=$(BUILD) workflow: $(wildcard tests/ci/test_*.sh)
