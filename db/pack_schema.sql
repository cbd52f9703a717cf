-- A pack: tuned plans that are shipped and only read. docs/design/packs.md explains the tables. Rows are written in one
-- order that follows from their contents, so the same contents give the same file.

CREATE TABLE manifest (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE environment (
  id INTEGER PRIMARY KEY,
  backend TEXT NOT NULL,
  device TEXT NOT NULL,
  isa TEXT NOT NULL,
  traits TEXT NOT NULL,
  driver TEXT NOT NULL,
  compiler TEXT NOT NULL,
  libraries TEXT NOT NULL,
  generator TEXT NOT NULL
) STRICT;

CREATE TABLE wisdom (
  id INTEGER PRIMARY KEY,
  bytes INTEGER NOT NULL,
  text BLOB NOT NULL
) STRICT;

-- What every text of the table plan is compressed against.
CREATE TABLE dictionary (
  id INTEGER PRIMARY KEY,
  data BLOB NOT NULL
) STRICT;

-- rank 0 is the winner, 1 the first runner-up. token_hash, kin and size are what a look-up searches for. data is token,
-- plan and validity, and from version 2 on the objective if that is not the time, each followed by a newline, compressed
-- by zstd. Times are nanoseconds, ratios millionths.
CREATE TABLE plan (
  id INTEGER PRIMARY KEY,
  token_hash INTEGER NOT NULL,
  kin INTEGER NOT NULL REFERENCES kin,
  size REAL NOT NULL,
  environment INTEGER NOT NULL REFERENCES environment,
  rank INTEGER NOT NULL,
  data BLOB NOT NULL,
  winner_ns INTEGER NOT NULL,
  incumbent_ns INTEGER NOT NULL,
  ratio_low INTEGER NOT NULL,
  ratio_high INTEGER NOT NULL,
  rounds INTEGER NOT NULL,
  error REAL,
  created_ms INTEGER NOT NULL,
  wisdom INTEGER REFERENCES wisdom,
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX plan_of_token ON plan (token_hash);
CREATE INDEX plan_of_kin ON plan (kin, size);

-- Groups of problems of which one can borrow the plan of another.
CREATE TABLE kin (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL
) STRICT;

-- Compiled kernels under the digest of text, options and target; image is compressed by zstd, checksum the SHA-256 of
-- digest and image.
CREATE TABLE kernel (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  entry TEXT NOT NULL,
  target TEXT NOT NULL,
  compiler TEXT NOT NULL,
  log TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  checksum TEXT NOT NULL
) STRICT;
CREATE TABLE image (
  id INTEGER PRIMARY KEY REFERENCES kernel,
  data BLOB NOT NULL
) STRICT;

-- Ed25519 over the manifest, which has the digests of everything else.
CREATE TABLE signature (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
