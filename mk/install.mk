# make install, make uninstall and make deb. Each folder can be moved by its own variable, as packagers expect. What nobody
# chose a mode for is a release build: a debug build looks after itself at every step.
DOCDIR       ?= $(PREFIX)/share/doc/gait
BINDIR       ?= $(PREFIX)/bin
LIBDIR       ?= $(PREFIX)/lib
INCLUDEDIR   ?= $(PREFIX)/include
MANDIR       ?= $(PREFIX)/share/man
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
COMPLETIONS  ?= $(PREFIX)/share
INSTALL      ?= install
# A page for each command comes from the command's own help, where it can be run.
COMMAND_NAMES := $(subst _,-,$(shell sed -n 's/^COMMAND(\(.*\))/\1/p' src/cli/commands.def))
MANUALS      := $(wildcard docs/man/*.1) $(if $(CROSS_COMPILE),,$(COMMAND_NAMES:%=$(OUT)/man/gait-%.1))

$(OUT)/man/gait-%.1: $(OUT)/gait
	@mkdir -p $(@D)
	@$(OUT)/gait help --manual $(subst -, ,$*) > $@

INSTALLED := $(BINDIR)/gait $(LIBDIR)/libgait.a $(LIBDIR)/libgait.so $(LIBDIR)/libgait.so.$(MAJOR) \
    $(LIBDIR)/libgait.so.$(VERSION) $(patsubst include/%,$(INCLUDEDIR)/%,$(HEADERS)) \
    $(COMPLETIONS)/bash-completion/completions/gait $(COMPLETIONS)/zsh/site-functions/_gait \
    $(COMPLETIONS)/fish/vendor_completions.d/gait.fish \
    $(DOCDIR)/LICENSE $(DOCDIR)/LINKED.txt $(DOCDIR)/CHANGELOG.md \
    $(PKGCONFIGDIR)/libgait.pc $(addprefix $(MANDIR)/man1/,$(notdir $(MANUALS)))

.PHONY: install uninstall deb
ifeq ($(origin MODE),file)
install uninstall:
	@$(MAKE) --no-print-directory MODE=release $@
else
install: all $(MANUALS)
	$(INSTALL) -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBDIR) $(INCLUDEDIR)/gait $(PKGCONFIGDIR) $(MANDIR)/man1 $(DOCDIR))
	$(INSTALL) -m 755 $(OUT)/gait $(DESTDIR)$(BINDIR)/
	$(INSTALL) -m 644 $(OUT)/libgait.a $(OUT)/libgait.so.$(VERSION) $(DESTDIR)$(LIBDIR)/
	$(STRIP) --strip-unneeded $(DESTDIR)$(LIBDIR)/libgait.so.$(VERSION)
	$(STRIP) --strip-debug --enable-deterministic-archives $(DESTDIR)$(LIBDIR)/libgait.a
	$(STRIP) $(DESTDIR)$(BINDIR)/gait
	ln -sf libgait.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libgait.so.$(MAJOR)
	ln -sf libgait.so.$(MAJOR) $(DESTDIR)$(LIBDIR)/libgait.so
	$(INSTALL) -m 644 $(HEADERS) $(DESTDIR)$(INCLUDEDIR)/gait/
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	    -e 's|@VERSION@|$(VERSION)|' src/libgait/libgait.pc.in > $(DESTDIR)$(PKGCONFIGDIR)/libgait.pc
	$(INSTALL) -m 644 $(MANUALS) $(DESTDIR)$(MANDIR)/man1/
	$(INSTALL) -m 644 LICENSE CHANGELOG.md $(DESTDIR)$(DOCDIR)/
	tools/linked_packages.sh licenses $(LINKED_ARCHIVES) > $(DESTDIR)$(DOCDIR)/LINKED.txt
	$(INSTALL) -D -m 644 completions/gait.bash $(DESTDIR)$(COMPLETIONS)/bash-completion/completions/gait
	$(INSTALL) -D -m 644 completions/_gait $(DESTDIR)$(COMPLETIONS)/zsh/site-functions/_gait
	$(INSTALL) -D -m 644 completions/gait.fish $(DESTDIR)$(COMPLETIONS)/fish/vendor_completions.d/gait.fish

uninstall:
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	-rmdir $(DESTDIR)$(INCLUDEDIR)/gait $(DESTDIR)$(DOCDIR)
endif

# Packages are made beside the tree by Debian's tools, from a copy of it: build/deb/ has both. The time that files in them
# have is that of the changelog, so the same sources make the same packages.
DEB_TREE := build/deb/gait-$(VERSION)
deb: | $(DEPS_FOR_DEB)
	rm -rf build/deb && mkdir -p $(DEB_TREE)
	tar -c --exclude=./build --exclude=./.git . | tar -x -C $(DEB_TREE)
	cd $(DEB_TREE) && dpkg-buildpackage --build=binary --no-sign
	@echo 'Packages, to be installed by apt install ./FILE:' && ls -1 build/deb/*.deb
