-- Back to memories without concepts, and to a removal of spaces that knows of none.
GRANT CREATE ON SCHEMA public TO recollect_system;
SET LOCAL ROLE recollect_system;
CREATE OR REPLACE FUNCTION recollect_erase_space(gone integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name text;
BEGIN
    PERFORM FROM public.spaces AS s WHERE s.key = gone FOR UPDATE;
    -- The queue before the vectors: whoever is just keeping one has its entry, and is waited for.
    DELETE FROM public.outbox WHERE space = gone;
    FOR name IN
        SELECT c.relname FROM pg_class AS c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'p' AND c.relname ~ '^vectors_[0-9]+$'
    LOOP
        EXECUTE format('DELETE FROM public.%I WHERE space = $1', name) USING gone;
    END LOOP;
    DELETE FROM public.links WHERE space = gone;
    DELETE FROM public.postings WHERE space = gone;
    DELETE FROM public.revisions WHERE space = gone;
    DELETE FROM public.memories WHERE space = gone;
    DELETE FROM public.settings WHERE space = gone;
    DELETE FROM public.spaces WHERE key = gone;
END
$$;
-- Nobody is left who could do these.
DELETE FROM procrastinate_jobs WHERE task_name = 'extract';
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM recollect_system;

DROP FUNCTION recollect_queue_reading;
DROP TABLE unread, extracted, edge_evidence, concept_edges, memory_concepts, concept_names, concepts, extractors;
