-- Back to nothing, but for what belongs to the cluster (the roles) and to others (the extension).
DO $$
DECLARE
    gone record;
BEGIN
    FOR gone IN
        SELECT c.oid::regclass AS name FROM pg_class AS c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND (c.relname ~ '^(procrastinate_|vectors_[0-9])' OR c.relname IN (
            'people', 'spaces', 'memberships', 'api_keys', 'memories', 'revisions', 'postings', 'links',
            'vector_sets', 'vector_indexes', 'outbox', 'job_errors', 'settings', 'audit', 'about'))
    LOOP
        EXECUTE format('DROP TABLE IF EXISTS %s CASCADE', gone.name);
    END LOOP;
    FOR gone IN
        SELECT p.oid::regprocedure AS name FROM pg_proc AS p
        WHERE p.pronamespace = 'public'::regnamespace AND p.proname ~ '^(procrastinate|recollect)_'
    LOOP
        EXECUTE format('DROP FUNCTION IF EXISTS %s CASCADE', gone.name);
    END LOOP;
    FOR gone IN
        SELECT t.oid::regtype AS name FROM pg_type AS t
        WHERE t.typnamespace = 'public'::regnamespace AND t.typname ~ '^procrastinate_' AND t.typtype IN ('e', 'c')
    LOOP
        EXECUTE format('DROP TYPE IF EXISTS %s CASCADE', gone.name);
    END LOOP;
END
$$;
