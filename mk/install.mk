# make install and make uninstall. Each folder can be moved by its own variable, as packagers expect.
BINDIR       ?= $(PREFIX)/bin
LIBDIR       ?= $(PREFIX)/lib
INCLUDEDIR   ?= $(PREFIX)/include
MANDIR       ?= $(PREFIX)/share/man
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
COMPLETIONS  ?= $(PREFIX)/share
INSTALL      ?= install
MANUALS      := $(wildcard docs/man/*.1)

INSTALLED := $(BINDIR)/gait $(LIBDIR)/libgait.a $(LIBDIR)/libgait.so $(LIBDIR)/libgait.so.$(MAJOR) \
    $(LIBDIR)/libgait.so.$(VERSION) $(patsubst include/%,$(INCLUDEDIR)/%,$(HEADERS)) \
    $(COMPLETIONS)/bash-completion/completions/gait $(COMPLETIONS)/zsh/site-functions/_gait \
    $(COMPLETIONS)/fish/vendor_completions.d/gait.fish \
    $(PKGCONFIGDIR)/libgait.pc $(patsubst docs/man/%,$(MANDIR)/man1/%,$(MANUALS))

.PHONY: install uninstall
install: all
	$(INSTALL) -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBDIR) $(INCLUDEDIR)/gait $(PKGCONFIGDIR) $(MANDIR)/man1)
	$(INSTALL) -m 755 $(OUT)/gait $(DESTDIR)$(BINDIR)/
	$(INSTALL) -m 644 $(OUT)/libgait.a $(OUT)/libgait.so.$(VERSION) $(DESTDIR)$(LIBDIR)/
	ln -sf libgait.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libgait.so.$(MAJOR)
	ln -sf libgait.so.$(MAJOR) $(DESTDIR)$(LIBDIR)/libgait.so
	$(INSTALL) -m 644 $(HEADERS) $(DESTDIR)$(INCLUDEDIR)/gait/
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	    -e 's|@VERSION@|$(VERSION)|' src/libgait/libgait.pc.in > $(DESTDIR)$(PKGCONFIGDIR)/libgait.pc
	$(INSTALL) -m 644 $(MANUALS) $(DESTDIR)$(MANDIR)/man1/
	$(INSTALL) -D -m 644 completions/gait.bash $(DESTDIR)$(COMPLETIONS)/bash-completion/completions/gait
	$(INSTALL) -D -m 644 completions/_gait $(DESTDIR)$(COMPLETIONS)/zsh/site-functions/_gait
	$(INSTALL) -D -m 644 completions/gait.fish $(DESTDIR)$(COMPLETIONS)/fish/vendor_completions.d/gait.fish

uninstall:
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	-rmdir $(DESTDIR)$(INCLUDEDIR)/gait
