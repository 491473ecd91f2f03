-- Vectors, in one set for each embedding model. At most one set is active, and recalls compare no other.
-- `revision` counts the changes to a set's vectors, so that a process that keeps them in memory knows when to look.
CREATE TABLE vector_sets (
    -- Never used again: what is kept in memory under a key must not meet another model's vectors.
    key       INTEGER PRIMARY KEY AUTOINCREMENT,
    model     TEXT    NOT NULL UNIQUE,
    dimension INTEGER,
    active    INTEGER NOT NULL DEFAULT 0,
    revision  INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX vector_sets_active ON vector_sets (active) WHERE active;

-- A vector is of its memory's present text. A write that changes the text removes it in the same transaction.
-- `revision` is the one that the set had when the vector came in.
CREATE TABLE vectors (
    space      INTEGER NOT NULL,
    vector_set INTEGER NOT NULL REFERENCES vector_sets (key),
    memory     INTEGER NOT NULL REFERENCES memories (key),
    revision   INTEGER NOT NULL,
    vector     BLOB    NOT NULL
);
CREATE UNIQUE INDEX vectors_by_memory ON vectors (space, memory, vector_set);
CREATE INDEX vectors_by_revision ON vectors (space, vector_set, revision, memory);

-- Each set has its own queue, `vector KEY`, filled when the set is made. What waited before there were sets need not.
DELETE FROM outbox;
