-- What memories are about, space by space, as on the laptop.

-- Who reads concepts out of memories: `rules`, a language model, or whoever made what was imported, who `reads` no
-- more. A model may ask so often and use so many tokens; `calls` and `tokens` are what it was granted so far. NULL
-- says that nobody set a limit, and then it is granted nothing; `rules` asks for nothing. What was there before one
-- was made known is queued for it space by space, up to the number `queued_to`; NULL once all is.
CREATE TABLE extractors (
    key         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text    NOT NULL UNIQUE,
    reads       boolean NOT NULL DEFAULT true,
    queued_to   integer,
    calls       bigint  NOT NULL DEFAULT 0,
    tokens      bigint  NOT NULL DEFAULT 0,
    most_calls  bigint,
    most_tokens bigint
);
-- Nobody's rows, like `vector_sets`: every caller's write looks up who is to read.
GRANT SELECT ON extractors TO recollect_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON extractors TO recollect_system;

-- A concept, by the name that it was first written with. Whoever makes one holds its space, and takes the next number
-- there. The index holds the name too, so that what memories share is told without a row being read.
CREATE TABLE concepts (
    space integer NOT NULL,
    key   integer NOT NULL,
    name  text    COLLATE "C" NOT NULL,
    PRIMARY KEY (space, key) INCLUDE (name)
) PARTITION BY HASH (space);

-- All names that lead to a concept, folded: its own and, with `given` set, those that somebody gave it.
CREATE TABLE concept_names (
    space   integer NOT NULL,
    concept integer NOT NULL,
    given   boolean NOT NULL DEFAULT false,
    folded  text    COLLATE "C" NOT NULL,
    PRIMARY KEY (space, folded)
) PARTITION BY HASH (space);
CREATE INDEX concept_names_by_concept ON concept_names (space, concept);

-- Which memory mentions which concept, in its present text: a write that changes the text removes them in the same
-- transaction. Every mention is kept; which concepts are too common to tell anything is asked when they are read.
CREATE TABLE memory_concepts (
    space     integer NOT NULL,
    memory    integer NOT NULL,
    concept   integer NOT NULL,
    extractor integer NOT NULL,
    kind      text    NOT NULL,
    PRIMARY KEY (space, memory, concept, extractor)
) PARTITION BY HASH (space);
CREATE INDEX memory_concepts_by_concept ON memory_concepts (space, concept, memory);

-- What is said of two concepts. An edge that no memory states any more is ended, and stays for a look into the past.
CREATE TABLE concept_edges (
    space      integer NOT NULL,
    key        integer NOT NULL,
    source     integer NOT NULL,
    target     integer NOT NULL,
    valid_from bigint  NOT NULL,
    valid_to   bigint,
    weight     real    NOT NULL DEFAULT 1,
    relation   text    COLLATE "C" NOT NULL,
    PRIMARY KEY (space, key)
) PARTITION BY HASH (space);
CREATE UNIQUE INDEX concept_edges_present ON concept_edges (space, source, relation, target) WHERE valid_to IS NULL;
CREATE INDEX concept_edges_by_source ON concept_edges (space, source, target);
CREATE INDEX concept_edges_by_target ON concept_edges (space, target, source);

-- Which memories state an edge, or stated it until `valid_to`.
CREATE TABLE edge_evidence (
    space     integer NOT NULL,
    edge      integer NOT NULL,
    memory    integer NOT NULL,
    extractor integer NOT NULL,
    valid_to  bigint,
    PRIMARY KEY (space, edge, memory, extractor)
) PARTITION BY HASH (space);
CREATE INDEX edge_evidence_by_memory ON edge_evidence (space, memory, edge);

-- What a model answered for a text, by the text's digest, so that it is not asked again. Before there is an answer, the
-- row says that somebody is asking, and since which second, so that nobody else does.
CREATE TABLE extracted (
    space      integer NOT NULL,
    extractor  integer NOT NULL,
    asked_at   bigint  NOT NULL,
    digest     bytea   NOT NULL,
    extraction text,
    PRIMARY KEY (space, extractor, digest)
) PARTITION BY HASH (space);

-- What waits to be read by whom: written with the row, taken out when done. Beside the outbox and not in it, so that
-- neither those who embed nor those who read hold up the others.
CREATE TABLE unread (
    space     integer NOT NULL,
    extractor integer NOT NULL,
    memory    integer NOT NULL,
    change    bigint  NOT NULL,
    PRIMARY KEY (space, extractor, memory)
) PARTITION BY HASH (space);

DO $$
DECLARE
    parent text;
BEGIN
    FOREACH parent IN ARRAY ARRAY['concepts', 'concept_names', 'memory_concepts', 'concept_edges', 'edge_evidence',
                                  'extracted', 'unread'] LOOP
        FOR part IN 0..15 LOOP
            EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
                           parent || '_p' || part, parent, part);
        END LOOP;
        PERFORM recollect_wall(parent::regclass);
    END LOOP;
    -- As of the postings: only index entries are read, once vacuum has been there.
    FOR part IN 0..15 LOOP
        EXECUTE format('ALTER TABLE %I SET (autovacuum_vacuum_insert_scale_factor = 0.05)', 'concepts_p' || part);
        EXECUTE format('ALTER TABLE %I SET (autovacuum_vacuum_insert_scale_factor = 0.05)',
                       'memory_concepts_p' || part);
    END LOOP;
END
$$;

-- Queues a memory for all who read. A function, as `recollect_queue` is, so that it sees whoever was made known while
-- the statement that calls it waited for the space.
CREATE FUNCTION recollect_queue_reading(space_given integer, memory_given integer, change_given bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO public.unread (space, extractor, memory, change)
    SELECT space_given, x.key, memory_given, change_given FROM public.extractors AS x WHERE x.reads
    ON CONFLICT (space, extractor, memory) DO UPDATE SET change = excluded.change;
    IF FOUND THEN
        PERFORM public.recollect_defer('extract', space_given);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION recollect_queue_reading FROM PUBLIC;
GRANT EXECUTE ON FUNCTION recollect_queue_reading TO recollect_app, recollect_system;

-- A space goes with its concepts too. Its owner alone replaces a function, and only one who could have made it.
GRANT CREATE ON SCHEMA public TO recollect_system;
SET LOCAL ROLE recollect_system;
-- Removes a space and all that is in it, but for the log: whatever is partitioned by spaces, and its settings. Whoever
-- writes to it holds its row, so all have finished. An index of its vectors is dropped by the worker, which alone can.
CREATE OR REPLACE FUNCTION recollect_erase_space(gone integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name text;
BEGIN
    PERFORM FROM public.spaces AS s WHERE s.key = gone FOR UPDATE;
    FOR name IN
        SELECT c.relname FROM pg_class AS c
        JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'space'
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'p' AND c.relname <> 'audit'
        -- The queue before the vectors: whoever is just keeping one has its entry, and is waited for.
        ORDER BY c.relname <> 'outbox', c.relname
    LOOP
        EXECUTE format('DELETE FROM public.%I WHERE space = $1', name) USING gone;
    END LOOP;
    DELETE FROM public.settings WHERE space = gone;
    DELETE FROM public.spaces WHERE key = gone;
END
$$;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM recollect_system;
