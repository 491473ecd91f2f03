-- The second wall. The server works as `recollect_app`, a role that owns nothing and sees rows only through the
-- policies below; `recollect_system` is the worker's and the operator's. Both are taken on for one transaction at a
-- time, so a pooler in transaction mode can stand between.
--
-- `recollect_enter` says for the rest of a transaction whose key is at work; what that person may do follows from
-- the directory, not from the program: recollect.readable, .writable and .administered are arrays of spaces.
--
-- The wall is for statements that forgot to ask whose rows they touch. Statements that somebody else wrote would get
-- past it, since whoever logs in may take on either role: what comes from outside is always a parameter.
--
-- Policies are forced on the owner of the tables too. A later migration that touches rows says `SET LOCAL ROLE
-- recollect_system` first; a backup needs a superuser, or a role with BYPASSRLS.

DO $$
DECLARE
    name   text;
    -- Since 16 a grant says whether it can be taken on, and whether it works without being taken on. The owner must
    -- not have the system's rights as long as it has not taken on that role.
    modern constant boolean := current_setting('server_version_num')::integer >= 160000;
BEGIN
    FOREACH name IN ARRAY ARRAY['recollect_app', 'recollect_system'] LOOP
        BEGIN
            -- Roles belong to the whole cluster: another database's Recollect may have made them. Asked first, since
            -- who may not make roles is told so even of one that is there.
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', name);
            END IF;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END;
        IF NOT pg_has_role(current_user, name, CASE WHEN modern THEN 'SET' ELSE 'MEMBER' END) THEN
            EXECUTE format('GRANT %I TO %I', name, current_user)
                || CASE WHEN modern THEN ' WITH INHERIT FALSE, SET TRUE' ELSE '' END;
        END IF;
    END LOOP;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE insufficient_privilege USING MESSAGE = format(
        'the roles recollect_app and recollect_system are missing or not yours to take on; have a superuser run: '
        'CREATE ROLE recollect_app NOLOGIN; CREATE ROLE recollect_system NOLOGIN; '
        'GRANT recollect_app, recollect_system TO %I', current_user);
END
$$;
GRANT USAGE ON SCHEMA public TO recollect_app, recollect_system;

-- What the policies ask. They call these inside a sub-select, so once a statement and not once a row. Outside of a
-- transaction that was entered the answers are: no space, nobody, no.
CREATE FUNCTION recollect_spaces(name text) RETURNS integer[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(nullif(current_setting('recollect.' || name, true), ''), '{}')::integer[];

CREATE FUNCTION recollect_person() RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(nullif(current_setting('recollect.person', true), ''), '0')::integer;

-- Whether the caller runs the server.
CREATE FUNCTION recollect_is_admin() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(nullif(current_setting('recollect.admin', true), ''), 'false')::boolean;

-- Whether the caller's key may say who else may do what: all that a key of a lower scope does is use what is there.
CREATE FUNCTION recollect_may_administer() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(current_setting('recollect.scope', true), '') = 'admin';

-- Whether the caller's key reaches only some of the person's spaces.
CREATE FUNCTION recollect_is_restricted() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(nullif(current_setting('recollect.restricted', true), ''), 'true')::boolean;

-- Whether this is the operator's transaction: the role that was taken on, also within functions of others.
CREATE FUNCTION recollect_is_operator() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN current_setting('role') = 'recollect_system';

-- Forces a table's walls on everybody. The system's policy asks for the role itself: in Postgres 15 an owner who may
-- take it on would have its rights already.
CREATE FUNCTION recollect_guard(wanted regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    part regclass;
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', wanted);
    EXECUTE format('CREATE POLICY system ON %s TO recollect_system USING (current_user = ''recollect_system'')', wanted);
    -- Partitions have no policy at all, so that they are reached through their parent or not at all.
    FOR part IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = wanted LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', part);
    END LOOP;
END
$$;

-- Walls around what belongs to a space, for a table of the schema or one made later.
CREATE FUNCTION recollect_wall(wanted regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM public.recollect_guard(wanted);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO recollect_app, recollect_system', wanted);
    EXECUTE format($policy$
        CREATE POLICY reading ON %s FOR SELECT TO recollect_app
        USING (space = ANY ((SELECT public.recollect_spaces('readable'))::integer[]))$policy$, wanted);
    EXECUTE format($policy$
        CREATE POLICY adding ON %s FOR INSERT TO recollect_app
        WITH CHECK (space = ANY ((SELECT public.recollect_spaces('writable'))::integer[]))$policy$, wanted);
    EXECUTE format($policy$
        CREATE POLICY changing ON %s FOR UPDATE TO recollect_app
        USING (space = ANY ((SELECT public.recollect_spaces('writable'))::integer[]))$policy$, wanted);
    EXECUTE format($policy$
        CREATE POLICY removing ON %s FOR DELETE TO recollect_app
        USING (space = ANY ((SELECT public.recollect_spaces('writable'))::integer[]))$policy$, wanted);
END
$$;
SELECT recollect_wall(name::regclass)
FROM unnest(ARRAY['memories', 'revisions', 'postings', 'links', 'outbox']) AS walled (name);

-- A vector set's table, made when its dimension is known. It needs its owner's rights and its policies, so it is
-- made here and not by whoever embeds. `PLAIN` keeps vectors in the row: out of line, reading them takes three times
-- as long. Past what a page holds, out of line is the only way.
CREATE FUNCTION recollect_make_vectors(vector_set integer, dimension integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name text := 'vectors_' || vector_set;
BEGIN
    EXECUTE format('CREATE TABLE public.%I (space integer NOT NULL, memory integer NOT NULL, '
                   'vector public.halfvec(%s) NOT NULL, PRIMARY KEY (space, memory)) PARTITION BY HASH (space)',
                   name, dimension);
    FOR part IN 0..15 LOOP
        EXECUTE format('CREATE TABLE public.%I PARTITION OF public.%I FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
                       name || '_p' || part, name, part);
        IF dimension <= 4000 THEN
            EXECUTE format('ALTER TABLE public.%I ALTER COLUMN vector SET STORAGE PLAIN', name || '_p' || part);
        END IF;
    END LOOP;
    PERFORM public.recollect_wall(format('public.%I', name)::regclass);
END
$$;
CREATE FUNCTION recollect_drop_vectors(vector_set integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('DROP TABLE IF EXISTS public.%I', 'vectors_' || vector_set);
END
$$;

-- The directory, the settings and the log. Nobody writes to the first but through the functions of the next file;
-- of spaces, whoever may write counts their changes, and no key's hash is shown to anybody.

GRANT SELECT ON spaces, people, memberships, settings, audit, vector_sets, vector_indexes, about TO recollect_app;
GRANT UPDATE (memories, length, links, change) ON spaces TO recollect_app;
GRANT SELECT (prefix, person, name, scope, spaces, created_at, expires_at, last_used_at, revoked_at),
      UPDATE (revoked_at) ON api_keys TO recollect_app;
GRANT INSERT, UPDATE, DELETE ON settings TO recollect_app;
GRANT INSERT ON audit TO recollect_app;
GRANT SELECT, INSERT ON audit TO recollect_system;
GRANT SELECT, INSERT, UPDATE, DELETE
ON spaces, people, memberships, api_keys, settings, vector_sets, vector_indexes, about TO recollect_system;
GRANT SELECT, INSERT, UPDATE, DELETE
ON procrastinate_jobs, procrastinate_events, procrastinate_periodic_defers, procrastinate_workers TO recollect_system;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO recollect_system;
-- Whoever logs in asks which schema there is before they take on a role.
GRANT SELECT ON alembic_version TO PUBLIC;

SELECT recollect_guard(name::regclass)
FROM unnest(ARRAY['spaces', 'people', 'memberships', 'api_keys', 'settings', 'audit', 'vector_indexes'])
    AS guarded (name);

CREATE POLICY reading ON spaces FOR SELECT TO recollect_app
USING (key = ANY ((SELECT recollect_spaces('readable'))::integer[]));
CREATE POLICY changing ON spaces FOR UPDATE TO recollect_app
USING (key = ANY ((SELECT recollect_spaces('writable'))::integer[]));

CREATE POLICY reading ON memberships FOR SELECT TO recollect_app
USING (space = ANY ((SELECT recollect_spaces('readable'))::integer[]));

-- People see themselves and those they share a space with, as the policy above lets them; who runs the server, all.
CREATE POLICY reading ON people FOR SELECT TO recollect_app
USING (
    (SELECT recollect_is_admin()) OR key = (SELECT recollect_person())
    OR key IN (SELECT m.person FROM memberships AS m)
);

-- A key sees itself; one that may administer sees, and revokes, the others of its person that reach no further than
-- itself; who runs the server, everybody's. What is revoked stays so.
CREATE POLICY reading ON api_keys FOR SELECT TO recollect_app
USING (
    (SELECT recollect_is_admin()) OR prefix = (SELECT current_setting('recollect.key', true))
    OR (
        person = (SELECT recollect_person()) AND (SELECT recollect_may_administer())
        AND ((SELECT NOT recollect_is_restricted()) OR spaces <@ (SELECT recollect_spaces('readable')))
    )
);
CREATE POLICY revoking ON api_keys FOR UPDATE TO recollect_app
USING (
    (SELECT recollect_is_admin()) OR prefix = (SELECT current_setting('recollect.key', true))
    OR (
        person = (SELECT recollect_person()) AND (SELECT recollect_may_administer())
        AND ((SELECT NOT recollect_is_restricted()) OR spaces <@ (SELECT recollect_spaces('readable')))
    )
)
WITH CHECK (revoked_at IS NOT NULL);

-- Everyone's recalls follow the server's settings.
CREATE POLICY reading ON settings FOR SELECT TO recollect_app
USING (space = 0 OR space = ANY ((SELECT recollect_spaces('readable'))::integer[]));
CREATE POLICY changing ON settings FOR ALL TO recollect_app
USING (
    space = 0 AND (SELECT recollect_is_admin())
    OR space = ANY ((SELECT recollect_spaces('administered'))::integer[])
);

-- A log is written by whom it is about, where they may write, and read by whoever administers the space.
CREATE POLICY adding ON audit FOR INSERT TO recollect_app
WITH CHECK (
    space = ANY ((SELECT recollect_spaces('writable'))::integer[])
    AND key = current_setting('recollect.key', true) AND person = current_setting('recollect.name', true)
);
CREATE POLICY reading ON audit FOR SELECT TO recollect_app
USING (space = ANY ((SELECT recollect_spaces('administered'))::integer[]));

CREATE POLICY reading ON vector_indexes FOR SELECT TO recollect_app
USING (space = ANY ((SELECT recollect_spaces('readable'))::integer[]));
