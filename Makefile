# kanon: a PostgreSQL extension built with PGXS.
#
#   make demo    from a clone to a hospital to look at: see tools/demo
#   make check   every test in a private server: see tools/check
#   make coverage  which lines of src the tests run: see tools/coverage
#   make bench   every benchmark, with its limits: see bench/README.md (make bench-quick: fewer rows and rounds)
#   make deb     the Debian package: see tools/deb
#   make format  the layout of the C code: see tools/format (make format-check: only say where it differs)
#   make, make install, make installcheck: as for any extension (PG_CONFIG=... chooses the server)

TOOLS = demo check coverage bench bench-quick deb format format-check

ifneq ($(filter $(TOOLS),$(MAKECMDGOALS)),)

# These run before PostgreSQL is installed, and PGXS has a `check` of its own: so here it is not included, and a script
# does the work. Goals named beside them (make clean check) run in a make of their own, in the order given.
.PHONY: $(MAKECMDGOALS)
.NOTPARALLEL:
$(filter $(TOOLS),$(MAKECMDGOALS)):
	@tools/$@
$(filter-out $(TOOLS),$(MAKECMDGOALS)):
	@$(MAKE) $@

else

EXTENSION = kanon
MODULE_big = kanon
# The version has one home: kanon.control.
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" kanon.control)

# Grammars are named x_gram.y and scanners x_lex.l; what is made from them is not kept (.gitignore).
GRAMMARS := $(wildcard src/*/*_gram.y)
GENERATED := $(GRAMMARS:.y=.c) $(patsubst %.l,%.c,$(wildcard src/*/*_lex.l))
FOLDERS := src src/* src/*/*
SOURCES := $(sort $(wildcard $(FOLDERS:=/*.c)) $(GENERATED))
OBJS = $(SOURCES:.c=.o)

# The install script is its parts, in the order of their numbers.
SQL_PARTS := $(sort $(wildcard sql/[0-9]*.sql))
EXTENSION_SQL = build/kanon--$(EXTVERSION).sql
DATA_built = $(EXTENSION_SQL)
DATA = $(wildcard sql/upgrades/kanon--*--*.sql)

EXTRA_CLEAN = build $(GENERATED) $(GRAMMARS:.y=.h)
# The tests need more than pg_regress: sql_tests/run is the installcheck.
NO_INSTALLCHECK = 1

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
SERVER_HEADERS := $(shell $(PG_CONFIG) --includedir-server 2>/dev/null)
ifeq ($(and $(wildcard $(PGXS)),$(wildcard $(SERVER_HEADERS)/postgres.h)),)
$(error $(PG_CONFIG) finds no PGXS and server headers: install postgresql-server-dev-15 or set PG_CONFIG (make demo and make check install what is missing))
endif

# PostgreSQL's headers as system headers: warnings are about our own code. Its callbacks rarely need all their parameters.
PG_CPPFLAGS = -Isrc -isystem $(SERVER_HEADERS)
PG_CFLAGS = -Wall -Wextra -Wno-unused-parameter
YFLAGS = -d

include $(PGXS)

$(EXTENSION_SQL): $(SQL_PARTS) kanon.control
	@mkdir -p $(@D)
	cat $(SQL_PARTS) > $@

# PGXS tracks no headers on Debian: every object depends on all of them, and on the server and the options that it is
# compiled for.
OBJECTS = $(OBJS) $(OBJS:.o=.bc)
$(OBJECTS): $(filter-out %_gram.h, $(wildcard $(FOLDERS:=/*.h))) build/server | $(GENERATED)
# A grammar's header comes with its C file, in one run of bison; its scanner is compiled with the same tokens.
$(GRAMMARS:.y=.h): %.h: %.c
	@touch $@
$(GRAMMARS:_gram.y=_lex.o): %_lex.o: %_gram.h
$(GRAMMARS:_gram.y=_lex.bc): %_lex.bc: %_gram.h
$(OBJS:.o=.bc): %.bc: %.c

# Distances to many rows at a time.
src/release/common/kdtree.o src/release/plain/outlier_count.o src/release/uncertain/uncertain_gaussian.o: CFLAGS += $(CFLAGS_UNROLL_LOOPS) $(CFLAGS_VECTORIZE)

build/server: FORCE
	@mkdir -p $(@D)
	@($(PG_CONFIG) && echo 'COPT = $(COPT)') > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

.PHONY: FORCE installcheck
FORCE:

# Against the running server that libpq's environment names (PGHOST, PGPORT, ...), after make install.
installcheck:
	PG_CONFIG='$(PG_CONFIG)' sql_tests/run $(TESTS)

endif
