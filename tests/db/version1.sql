-- A tuning database as version 1 wrote it: do not change. The schema's text must stay what that version stored.
PRAGMA application_id = 1179931982;
PRAGMA user_version = 1;
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
INSERT INTO problem VALUES (1, 'fft:type=c2c,n=64x64x64,prec=f64');
INSERT INTO plan VALUES (1, 'cpu;threads=2;fft=fftw(rigor=measure)'), (2, 'cpu;threads=1;fft=fftw(rigor=estimate)');
INSERT INTO environment VALUES (1, 'cpu', 'Example CPU', 'avx2', '{"cores":2}', '', 'gcc 12.2.0', 'fftw 3.3.10',
                                'generator-1');
INSERT INTO session VALUES (1, 1, 1700000000000, 1700000009000, 'complete', 7, 'exhaustive', 30.0, 'fourtune tune');
INSERT INTO run VALUES (1, 1, 1, 1, 0, 'ok', 1e-15, '[900,800]', '[["fft",800]]', 4194304, 'wisdom of run 1', '',
                        1700000001000);
INSERT INTO verdict VALUES (1, 1, 1, 2, NULL, '', 1000.0, NULL, 1.0, 1.0, 0, 1700000002000);
INSERT INTO verdict VALUES (2, 1, 1, 1, 2, '{}', 850.0, 1000.0, 1.1, 1.2, 9, 1700000003000);
