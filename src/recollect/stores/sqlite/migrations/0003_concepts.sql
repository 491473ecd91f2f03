-- What memories are about, space by space.

-- Who reads concepts out of memories: `rules`, a language model, or whoever made what was imported, who `reads` no
-- more. A model may ask so often and use so many tokens; `calls` and `tokens` are what it was granted so far. NULL
-- says that nobody set a limit, and then it is granted nothing; `rules` asks for nothing.
CREATE TABLE extractors (
    key         INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT    NOT NULL UNIQUE,
    reads       INTEGER NOT NULL DEFAULT 1,
    calls       INTEGER NOT NULL DEFAULT 0,
    tokens      INTEGER NOT NULL DEFAULT 0,
    most_calls  INTEGER,
    most_tokens INTEGER
);

-- A concept, by the name that it was first written with.
CREATE TABLE concepts (
    key   INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES spaces (key),
    name  TEXT    NOT NULL
);

-- Nothing here refers to a concept or an edge by a foreign key: whenever one is removed, SQLite would look for it in the
-- whole of each table, as their indexes begin with the space.

-- All names that lead to a concept, folded: its own and, with `given` set, those that somebody gave it.
CREATE TABLE concept_names (
    space   INTEGER NOT NULL,
    folded  TEXT    NOT NULL,
    concept INTEGER NOT NULL,
    given   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (space, folded)
) WITHOUT ROWID;
CREATE INDEX concept_names_by_concept ON concept_names (space, concept, given);

-- Which memory mentions which concept, in its present text: a write that changes the text removes them in the same
-- transaction. Every mention is kept; which concepts are too common to tell anything is asked when they are read.
CREATE TABLE memory_concepts (
    space     INTEGER NOT NULL,
    memory    INTEGER NOT NULL,
    concept   INTEGER NOT NULL,
    extractor INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    PRIMARY KEY (space, memory, concept, extractor)
) WITHOUT ROWID;
CREATE INDEX memory_concepts_by_concept ON memory_concepts (space, concept, memory);

-- What is said of two concepts. An edge that no memory states any more is ended, and stays for a look into the past.
CREATE TABLE concept_edges (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    space      INTEGER NOT NULL,
    source     INTEGER NOT NULL,
    relation   TEXT    NOT NULL,
    target     INTEGER NOT NULL,
    weight     REAL    NOT NULL DEFAULT 1,
    valid_from INTEGER NOT NULL,
    valid_to   INTEGER
);
CREATE UNIQUE INDEX concept_edges_present ON concept_edges (space, source, relation, target) WHERE valid_to IS NULL;
CREATE INDEX concept_edges_by_source ON concept_edges (space, source, target);
CREATE INDEX concept_edges_by_target ON concept_edges (space, target, source);

-- Which memories state an edge, or stated it until `valid_to`.
CREATE TABLE edge_evidence (
    space     INTEGER NOT NULL,
    edge      INTEGER NOT NULL,
    memory    INTEGER NOT NULL,
    extractor INTEGER NOT NULL,
    valid_to  INTEGER,
    PRIMARY KEY (space, edge, memory, extractor)
) WITHOUT ROWID;
CREATE INDEX edge_evidence_by_memory ON edge_evidence (space, memory, edge);

-- What a model answered for a text, by the text's digest, so that it is not asked again. Before there is an answer, the
-- row says that somebody is asking, and since which second, so that nobody else does.
CREATE TABLE extracted (
    space      INTEGER NOT NULL,
    extractor  INTEGER NOT NULL,
    digest     BLOB    NOT NULL,
    asked_at   INTEGER NOT NULL,
    extraction TEXT,
    PRIMARY KEY (space, extractor, digest)
) WITHOUT ROWID;
