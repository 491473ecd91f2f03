-- What memories are about, space by space.

-- Who reads concepts out of memories: `rules`, a language model, or whoever made what was imported, who `reads` no
-- more. A model may ask so often and use so many tokens; `calls` and `tokens` are what it was granted so far. NULL
-- stands for no limit.
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
CREATE INDEX concepts_by_space ON concepts (space, key);

-- All names that lead to a concept, folded: its own and, with `given` set, those that somebody gave it.
CREATE TABLE concept_names (
    space   INTEGER NOT NULL,
    folded  TEXT    NOT NULL,
    concept INTEGER NOT NULL REFERENCES concepts (key),
    given   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (space, folded)
) WITHOUT ROWID;
CREATE INDEX concept_names_by_concept ON concept_names (concept);

-- Which memory mentions which concept, in its present text: a write that changes the text removes them in the same
-- transaction. Every mention is kept; which concepts are too common to tell anything is asked when they are read.
CREATE TABLE memory_concepts (
    space     INTEGER NOT NULL,
    memory    INTEGER NOT NULL,
    concept   INTEGER NOT NULL REFERENCES concepts (key),
    extractor INTEGER NOT NULL REFERENCES extractors (key),
    kind      TEXT    NOT NULL,
    PRIMARY KEY (space, memory, concept, extractor)
) WITHOUT ROWID;
CREATE INDEX memory_concepts_by_concept ON memory_concepts (space, concept, memory);

-- What is said of two concepts. An edge that no memory states any more is ended, and stays for a look into the past.
CREATE TABLE concept_edges (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    space      INTEGER NOT NULL,
    source     INTEGER NOT NULL REFERENCES concepts (key),
    relation   TEXT    NOT NULL,
    target     INTEGER NOT NULL REFERENCES concepts (key),
    weight     REAL    NOT NULL DEFAULT 1,
    valid_from INTEGER NOT NULL,
    valid_to   INTEGER
);
CREATE UNIQUE INDEX concept_edges_present ON concept_edges (space, source, relation, target) WHERE valid_to IS NULL;
CREATE INDEX concept_edges_by_source ON concept_edges (space, source, target);
CREATE INDEX concept_edges_by_target ON concept_edges (space, target, source);

-- Which memories state an edge.
CREATE TABLE edge_evidence (
    space     INTEGER NOT NULL,
    edge      INTEGER NOT NULL REFERENCES concept_edges (key),
    memory    INTEGER NOT NULL,
    extractor INTEGER NOT NULL REFERENCES extractors (key),
    PRIMARY KEY (space, edge, memory, extractor)
) WITHOUT ROWID;
CREATE INDEX edge_evidence_by_memory ON edge_evidence (space, memory, edge);

-- What a model answered for a text, by the text's digest, so that it is not asked again.
CREATE TABLE extracted (
    space      INTEGER NOT NULL,
    extractor  INTEGER NOT NULL REFERENCES extractors (key),
    digest     BLOB    NOT NULL,
    extraction TEXT    NOT NULL,
    PRIMARY KEY (space, extractor, digest)
) WITHOUT ROWID;
