-- The tuning database as the sequence of its versions. A new file gets every section in turn; a file of version N gets
-- the sections after N. A section that has been released is never edited: add the next one instead.
-- Times are milliseconds since the epoch (UTC), durations nanoseconds. docs/design/database.md explains the tables.

-- version 1
CREATE TABLE problem (
  id INTEGER PRIMARY KEY,
  token TEXT NOT NULL UNIQUE CHECK (token <> '')
) STRICT;

CREATE TABLE plan (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE CHECK (text <> '')
) STRICT;

CREATE TABLE environment (
  id INTEGER PRIMARY KEY,
  backend TEXT NOT NULL,
  device TEXT NOT NULL,
  isa TEXT NOT NULL,
  traits TEXT NOT NULL,
  driver TEXT NOT NULL,
  compiler TEXT NOT NULL,
  libraries TEXT NOT NULL,
  generator TEXT NOT NULL,
  UNIQUE (backend, device, isa, traits, driver, compiler, libraries, generator)
) STRICT;

CREATE TABLE session (
  id INTEGER PRIMARY KEY,
  environment INTEGER NOT NULL REFERENCES environment,
  started_ms INTEGER NOT NULL,
  finished_ms INTEGER,
  outcome TEXT CHECK (outcome IN ('complete', 'interrupted', 'failed')),
  seed INTEGER NOT NULL,
  strategy TEXT NOT NULL,
  budget_seconds REAL NOT NULL,
  command TEXT NOT NULL,
  CHECK ((finished_ms IS NULL) = (outcome IS NULL))
) STRICT;

CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session,
  problem INTEGER NOT NULL REFERENCES problem,
  plan INTEGER NOT NULL REFERENCES plan,
  round INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ok', 'rejected', 'compile_error', 'too_many_resources', 'wrong_result',
                                         'timeout', 'crash', 'interrupted')),
  error REAL,
  samples_ns TEXT NOT NULL,
  stages_ns TEXT NOT NULL,
  memory_bytes INTEGER NOT NULL,
  wisdom TEXT NOT NULL,
  message TEXT NOT NULL,
  started_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX run_of_plan ON run (problem, plan);
CREATE INDEX run_of_session ON run (session);

CREATE TABLE verdict (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session,
  problem INTEGER NOT NULL REFERENCES problem,
  plan INTEGER NOT NULL REFERENCES plan,
  replaces INTEGER REFERENCES plan,
  validity TEXT NOT NULL,
  winner_ns REAL NOT NULL CHECK (winner_ns > 0),
  incumbent_ns REAL CHECK (incumbent_ns > 0),
  ratio_low REAL NOT NULL,
  ratio_high REAL NOT NULL,
  rounds INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  CHECK (0 <= ratio_low AND ratio_low <= ratio_high)
) STRICT;
CREATE INDEX verdict_of_problem ON verdict (problem);

-- version 2
-- A verdict can be withdrawn, with a reason; the one before it wins again.
ALTER TABLE verdict ADD COLUMN withdrawn TEXT CHECK (withdrawn <> '');

-- version 3
-- Compiled kernels, found again by the digest of everything that they were compiled from; image is compressed by zstd,
-- bytes its size before, checksum the SHA-256 of digest and image. Rows come and go: it is a cache.
CREATE TABLE kernel (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE CHECK (length(digest) = 64),
  entry TEXT NOT NULL,
  compiler TEXT NOT NULL,
  target TEXT NOT NULL,
  log TEXT NOT NULL,
  bytes INTEGER NOT NULL CHECK (bytes > 0),
  checksum TEXT NOT NULL CHECK (length(checksum) = 64),
  image BLOB NOT NULL,
  created_ms INTEGER NOT NULL,
  used_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX kernel_by_use ON kernel (used_ms);
-- Registers, spills, shared memory and occupancy of a GPU plan's kernels, a JSON list; empty: no kernels.
ALTER TABLE run ADD COLUMN kernels TEXT NOT NULL DEFAULT '';

-- version 4
-- BLAKE2b of what the row says, the texts that it refers to included (db/row_checksum.h), looked at whenever the row is
-- read; NULL: the row is of an earlier version and has none.
ALTER TABLE verdict ADD COLUMN checksum TEXT CHECK (length(checksum) = 64);
ALTER TABLE run ADD COLUMN checksum TEXT CHECK (length(checksum) = 64);

-- version 5
-- What the device said of itself right after the samples (clocks, power, temperature, limits), JSON; empty: nothing.
ALTER TABLE run ADD COLUMN state TEXT NOT NULL DEFAULT '';
-- Energy of one execute; NULL: not measured.
ALTER TABLE run ADD COLUMN joules REAL CHECK (joules > 0);
-- What the ratio is of: the times, or the energies.
ALTER TABLE verdict ADD COLUMN objective TEXT NOT NULL DEFAULT 'time' CHECK (objective IN ('time', 'energy'));
