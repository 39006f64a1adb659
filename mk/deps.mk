# Packages: tools/deps.sh installs them, one stamp for each purpose says that it was done. A changed script asks again.
# Those of npm, for tests, are in tests/package.json; where they cannot be had there is no stamp, and tests are skipped.
ifeq ($(DEPS),no)
deps_stamp =
else
deps_stamp = build/deps/$(1)
endif
# Another compiler than gcc comes with the test packages.
DEPS_FOR_BUILD  := $(call deps_stamp,$(if $(filter gcc,$(CC)),build,test))
DEPS_FOR_TEST   := $(call deps_stamp,test) $(call deps_stamp,node/installed)
DEPS_FOR_BENCH  := $(call deps_stamp,bench)
DEPS_FOR_FORMAT := $(call deps_stamp,format)
DEPS_FOR_DEB    := $(call deps_stamp,deb)
DEPS_FOR_TORTURE := $(call deps_stamp,torture)

build/deps/%: tools/deps.sh
	@tools/deps.sh $*
	@mkdir -p $(@D) && touch $@

build/deps/node/installed: tests/package-lock.json tools/node_packages.sh | build/deps/test
	@tools/node_packages.sh && if [ -e $@ ]; then touch $@; fi

# One installation at a time.
build/deps/test build/deps/bench build/deps/torture build/deps/format build/deps/deb: | build/deps/build

.PHONY: deps
deps:
	@tools/deps.sh build test bench format && tools/node_packages.sh && echo 'Everything that gait needs is installed.'
