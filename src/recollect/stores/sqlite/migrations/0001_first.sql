-- Everything belongs to a space and is looked up by it first. Times are microseconds since 1970, UTC.

-- `memories` and `length` are the statistics BM25 needs, kept as rows come and go. `change` is the number of the
-- space's last change: every write takes the next one.
CREATE TABLE spaces (
    key      INTEGER PRIMARY KEY,
    id       TEXT    NOT NULL UNIQUE,
    memories INTEGER NOT NULL DEFAULT 0,
    length   REAL    NOT NULL DEFAULT 0,
    change   INTEGER NOT NULL DEFAULT 0
);

-- The present state of each memory. One of no project has an empty `project`, which an index can look up. What
-- scopes filter by stands before the text, so that a filter need not read past it. `indexed_at` is the `valid_from`
-- of its postings: an edit that leaves the words alone leaves them alone too.
CREATE TABLE memories (
    -- Never used again, not even after a purge: what refers to it from outside must not meet another memory.
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    space      INTEGER NOT NULL REFERENCES spaces (key),
    id         BLOB    NOT NULL,
    deleted_at INTEGER,
    project    TEXT    NOT NULL,
    session    TEXT,
    place      INTEGER,
    category   TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    importance REAL    NOT NULL,
    sensitive  INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    action     TEXT    NOT NULL,
    length     REAL    NOT NULL,
    change     INTEGER NOT NULL,
    indexed_at INTEGER NOT NULL,
    tags       TEXT    NOT NULL,
    keywords   TEXT    NOT NULL,
    content    TEXT    NOT NULL
);
CREATE UNIQUE INDEX memories_by_id ON memories (space, id);
CREATE INDEX memories_by_time ON memories (space, created_at);
-- Holds all that a scope asks about, so that the rows themselves need not be read.
CREATE INDEX memories_by_scope ON memories (space, project, session, place, category, deleted_at);
CREATE INDEX memories_by_change ON memories (space, change);

-- Past states: a row of `memories` as it was until `valid_to`.
CREATE TABLE revisions (
    memory     INTEGER NOT NULL REFERENCES memories (key),
    space      INTEGER NOT NULL REFERENCES spaces (key),
    id         BLOB    NOT NULL,
    deleted_at INTEGER,
    project    TEXT    NOT NULL,
    session    TEXT,
    place      INTEGER,
    category   TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    importance REAL    NOT NULL,
    sensitive  INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    action     TEXT    NOT NULL,
    length     REAL    NOT NULL,
    tags       TEXT    NOT NULL,
    keywords   TEXT    NOT NULL,
    content    TEXT    NOT NULL,
    valid_to   INTEGER NOT NULL
);
CREATE UNIQUE INDEX revisions_by_memory ON revisions (space, memory, version);

-- Which memory holds which term, how often (weighted by field), how long it is, and since and until when.
-- Clustered by space and term: a query reads one run of pages for each of its terms.
CREATE TABLE postings (
    space      INTEGER NOT NULL,
    term       TEXT    NOT NULL,
    memory     INTEGER NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to   INTEGER,
    tf         REAL    NOT NULL,
    length     REAL    NOT NULL,
    PRIMARY KEY (space, term, memory, valid_from)
) WITHOUT ROWID;

CREATE TABLE links (
    space      INTEGER NOT NULL,
    source     INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    target     INTEGER NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to   INTEGER,
    change     INTEGER NOT NULL,
    PRIMARY KEY (space, source, kind, target, valid_from)
) WITHOUT ROWID;
CREATE INDEX links_by_target ON links (space, target, kind, source, valid_from, valid_to);
CREATE INDEX links_by_change ON links (space, change);

-- What has changed and still waits for work off the write path: written with the row, taken out when done.
CREATE TABLE outbox (
    space  INTEGER NOT NULL,
    work   TEXT    NOT NULL,
    memory INTEGER NOT NULL,
    change INTEGER NOT NULL,
    PRIMARY KEY (space, work, memory)
) WITHOUT ROWID;

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- What the store is, as opposed to what its owner wants: the analysis its postings were made with.
CREATE TABLE about (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
