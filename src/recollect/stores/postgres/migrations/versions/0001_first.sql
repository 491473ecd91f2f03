-- Everything that belongs to a memory begins its key with the space, and is partitioned by it: a recall or a write
-- touches one partition of each table. Times are microseconds since 1970, UTC, as on the laptop.
-- There are no foreign keys between partitioned tables: a write holds its space's row, which orders it, and checking
-- each posting would cost more than writing it.

-- Who may do what.

CREATE TABLE people (
    key        integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         text    COLLATE "C" NOT NULL UNIQUE,
    -- May make people and spaces; reads no space that they are not a member of.
    admin      boolean NOT NULL DEFAULT false,
    created_at bigint  NOT NULL
);

-- `memories`, `length` and `links` are statistics kept as rows come and go: BM25 needs the first two, and without
-- links nothing has to be looked up. `change` is the number of the space's last change: every write takes the next
-- one under this row's lock, so whoever has seen change n has seen all below it.
CREATE TABLE spaces (
    key        integer          GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         text             COLLATE "C" NOT NULL UNIQUE,
    -- A person's own space, or a team's if null.
    owner      integer          REFERENCES people (key),
    created_at bigint           NOT NULL DEFAULT 0,
    memories   integer          NOT NULL DEFAULT 0,
    length     double precision NOT NULL DEFAULT 0,
    links      integer          NOT NULL DEFAULT 0,
    change     bigint           NOT NULL DEFAULT 0
) WITH (fillfactor = 50); -- updated by every write: room for the new version on the same page

CREATE TABLE memberships (
    space  integer NOT NULL REFERENCES spaces (key) ON DELETE CASCADE,
    person integer NOT NULL REFERENCES people (key) ON DELETE CASCADE,
    role   text    NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
    PRIMARY KEY (space, person)
);
CREATE INDEX memberships_by_person ON memberships (person);

-- The secret itself is nowhere: `hash` is its SHA-256, which is enough for 256 random bits.
CREATE TABLE api_keys (
    prefix       text    COLLATE "C" PRIMARY KEY,
    person       integer NOT NULL REFERENCES people (key) ON DELETE CASCADE,
    hash         bytea   NOT NULL,
    name         text    NOT NULL,
    scope        text    NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
    -- Only these spaces, or all of the person's if null.
    spaces       integer[],
    created_at   bigint  NOT NULL,
    expires_at   bigint,
    last_used_at bigint,
    revoked_at   bigint
);
CREATE INDEX api_keys_by_person ON api_keys (person);

-- What is kept.

-- The present state of each memory. `key` is the number of the change that made it, so it is never used again.
-- One of no project has an empty `project`. `indexed_at` is the `valid_from` of its postings: an edit that leaves
-- the words alone leaves them alone too.
CREATE TABLE memories (
    space      integer NOT NULL,
    key        integer NOT NULL,
    id         uuid    NOT NULL,
    deleted_at bigint,
    project    text    NOT NULL,
    session    text,
    place      integer,
    category   text    NOT NULL,
    created_at bigint  NOT NULL,
    updated_at bigint  NOT NULL,
    importance double precision NOT NULL,
    sensitive  boolean NOT NULL,
    version    integer NOT NULL,
    action     text    NOT NULL,
    length     real    NOT NULL,
    change     bigint  NOT NULL,
    indexed_at bigint  NOT NULL,
    tags       text    NOT NULL,
    keywords   text    NOT NULL,
    content    text    NOT NULL,
    PRIMARY KEY (space, key),
    UNIQUE (space, id)
) PARTITION BY HASH (space);
CREATE INDEX memories_by_time ON memories (space, created_at, id);
CREATE INDEX memories_by_change ON memories (space, change);
-- Sessions lead to a memory's neighbours.
CREATE INDEX memories_by_session ON memories (space, session, place) WHERE session IS NOT NULL;

-- Past states: a row of `memories` as it was until `valid_to`.
CREATE TABLE revisions (
    space      integer NOT NULL,
    memory     integer NOT NULL,
    id         uuid    NOT NULL,
    deleted_at bigint,
    project    text    NOT NULL,
    session    text,
    place      integer,
    category   text    NOT NULL,
    created_at bigint  NOT NULL,
    updated_at bigint  NOT NULL,
    importance double precision NOT NULL,
    sensitive  boolean NOT NULL,
    version    integer NOT NULL,
    action     text    NOT NULL,
    length     real    NOT NULL,
    tags       text    NOT NULL,
    keywords   text    NOT NULL,
    content    text    NOT NULL,
    valid_to   bigint  NOT NULL,
    PRIMARY KEY (space, memory, version)
) PARTITION BY HASH (space);

-- Which memory holds which term, how often (weighted by field), how long it is, and since and until when. The index
-- holds all columns, so that a query reads a run of it for each term and no row. Weights are multiples of a half,
-- so that `real` keeps them exactly.
CREATE TABLE postings (
    space      integer NOT NULL,
    memory     integer NOT NULL,
    valid_from bigint  NOT NULL,
    valid_to   bigint,
    tf         real    NOT NULL,
    length     real    NOT NULL,
    term       text    COLLATE "C" NOT NULL,
    PRIMARY KEY (space, term, memory, valid_from) INCLUDE (valid_to, tf, length)
) PARTITION BY HASH (space);

CREATE TABLE links (
    space      integer NOT NULL,
    source     integer NOT NULL,
    kind       text    NOT NULL,
    target     integer NOT NULL,
    valid_from bigint  NOT NULL,
    valid_to   bigint,
    change     bigint  NOT NULL,
    PRIMARY KEY (space, source, kind, target, valid_from)
) PARTITION BY HASH (space);
CREATE INDEX links_by_target ON links (space, target, kind, source, valid_from, valid_to);
CREATE INDEX links_by_change ON links (space, change);

-- The vector sets, one for each embedding model; each has a table `vectors_KEY`, made with its first vector, when
-- its dimension is known. At most one set is active, and recalls compare no other.
CREATE TABLE vector_sets (
    key       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    model     text    NOT NULL UNIQUE,
    dimension integer,
    active    boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX vector_sets_active ON vector_sets (active) WHERE active;

-- Spaces whose vectors of a set have an HNSW index of their own.
CREATE TABLE vector_indexes (
    space      integer NOT NULL,
    vector_set integer NOT NULL REFERENCES vector_sets (key) ON DELETE CASCADE,
    PRIMARY KEY (space, vector_set)
);

-- What waits for a vector of which set: written with the row, taken out when done.
CREATE TABLE outbox (
    space      integer NOT NULL,
    vector_set integer NOT NULL,
    memory     integer NOT NULL,
    change     bigint  NOT NULL,
    PRIMARY KEY (space, vector_set, memory)
) PARTITION BY HASH (space);

-- The server's settings under space 0, and what single spaces have set otherwise.
CREATE TABLE settings (
    space integer NOT NULL,
    name  text    NOT NULL,
    value text    NOT NULL,
    PRIMARY KEY (space, name)
);

-- Who did what to which memories of a space, and when. Never changed, only added to: it names people, whose rows may
-- be gone since, and outlives the space.
CREATE TABLE audit (
    space    integer NOT NULL,
    at       bigint  NOT NULL,
    key      text    NOT NULL,
    person   text    NOT NULL,
    deed     text    NOT NULL,
    memories uuid[]  NOT NULL
) PARTITION BY HASH (space);
CREATE INDEX audit_by_time ON audit (space, at);

-- What the store is, as opposed to what its owner wants: the analysis its postings were made with.
CREATE TABLE about (
    name  text PRIMARY KEY,
    value text NOT NULL
);

-- Sixteen of each: with a million memories some 60,000 a partition.
DO $$
DECLARE
    parent text;
BEGIN
    FOREACH parent IN ARRAY ARRAY['memories', 'revisions', 'postings', 'links', 'outbox', 'audit'] LOOP
        FOR part IN 0..15 LOOP
            EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
                           parent || '_p' || part, parent, part);
        END LOOP;
    END LOOP;
    -- Index-only scans read the rows after all where vacuum has not been yet: have it come sooner than by default.
    FOR part IN 0..15 LOOP
        EXECUTE format('ALTER TABLE %I SET (autovacuum_vacuum_insert_scale_factor = 0.05)', 'postings_p' || part);
    END LOOP;
END
$$;
