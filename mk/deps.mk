# Packages: tools/deps.sh installs them, one stamp for each purpose says that it was done. A changed script asks again.
ifeq ($(DEPS),no)
deps_stamp =
else
deps_stamp = build/deps/$(1)
endif
# Another compiler than gcc comes with the test packages.
DEPS_FOR_BUILD  := $(call deps_stamp,$(if $(filter gcc,$(CC)),build,test))
DEPS_FOR_TEST   := $(call deps_stamp,test)
DEPS_FOR_BENCH  := $(call deps_stamp,bench)
DEPS_FOR_FORMAT := $(call deps_stamp,format)

build/deps/%: tools/deps.sh
	@tools/deps.sh $*
	@mkdir -p $(@D) && touch $@

# One installation at a time.
build/deps/test build/deps/bench build/deps/format: | build/deps/build

.PHONY: deps
deps:
	@tools/deps.sh build test bench format && echo 'Everything that gait needs is installed.'
