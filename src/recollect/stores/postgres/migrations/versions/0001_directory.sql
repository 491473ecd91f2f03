-- What is done to the directory, and what is asked of it before anybody has entered. All of it runs with the system's
-- rights, so each function asks first whether the caller may; callers have no other way to change the directory.
-- What is refused comes with a code (RC403 not allowed, RC404 not found, RC409 a conflict) and words for the caller.
-- Nothing but what is named here is looked up: neither `public` nor temporary tables come before the catalogue.

CREATE FUNCTION recollect_enter(prefix_given text, moment bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found record;
BEGIN
    SELECT k.person, p.id AS name, k.scope, k.spaces IS NOT NULL AS restricted,
           p.admin AND k.scope = 'admin' AND k.spaces IS NULL AS admin,
           coalesce(array_agg(m.space) FILTER (WHERE m.space IS NOT NULL), '{}') AS readable,
           coalesce(array_agg(m.space) FILTER (WHERE m.role <> 'reader' AND k.scope <> 'read'), '{}') AS writable,
           coalesce(array_agg(m.space) FILTER (WHERE m.role = 'admin' AND k.scope = 'admin'), '{}') AS administered
    INTO found
    FROM public.api_keys AS k
    JOIN public.people AS p ON p.key = k.person
    LEFT JOIN public.memberships AS m ON m.person = k.person AND (k.spaces IS NULL OR m.space = ANY (k.spaces))
    WHERE k.prefix = prefix_given AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > moment)
    GROUP BY k.prefix, p.key;
    -- With a key that does not hold, everything is empty, and the answers are those of somebody who has not entered.
    PERFORM set_config('recollect.key', CASE WHEN found.person IS NULL THEN '' ELSE prefix_given END, true),
            set_config('recollect.moment', moment::text, true),
            set_config('recollect.person', coalesce(found.person::text, ''), true),
            set_config('recollect.name', coalesce(found.name, ''), true),
            set_config('recollect.scope', coalesce(found.scope, ''), true),
            set_config('recollect.restricted', coalesce(found.restricted::text, ''), true),
            set_config('recollect.admin', coalesce(found.admin::text, ''), true),
            set_config('recollect.readable', coalesce(found.readable::text, ''), true),
            set_config('recollect.writable', coalesce(found.writable::text, ''), true),
            set_config('recollect.administered', coalesce(found.administered::text, ''), true);
END
$$;

-- What a key that is presented is checked against; the comparison itself happens in the program, in constant time.
CREATE FUNCTION recollect_find_key(prefix_given text, moment bigint) RETURNS TABLE (
    hash bytea, person text, scope text, admin boolean, restricted boolean, own text, spaces text[], roles text[]
)
-- Not in SQL, which before Postgres 18 would be planned anew for every request.
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
    SELECT k.hash, p.id, k.scope, p.admin AND k.spaces IS NULL, k.spaces IS NOT NULL,
           max(s.id) FILTER (WHERE s.owner = p.key),
           coalesce(array_agg(s.id ORDER BY s.id) FILTER (WHERE s.id IS NOT NULL), '{}'),
           coalesce(array_agg(m.role ORDER BY s.id) FILTER (WHERE s.id IS NOT NULL), '{}')
    FROM public.api_keys AS k
    JOIN public.people AS p ON p.key = k.person
    LEFT JOIN public.memberships AS m ON m.person = p.key AND (k.spaces IS NULL OR m.space = ANY (k.spaces))
    LEFT JOIN public.spaces AS s ON s.key = m.space
    WHERE k.prefix = prefix_given AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > moment)
    GROUP BY k.prefix, p.key;
END
$$;

-- When a key was last used, at most once a minute: the log has every use.
CREATE FUNCTION recollect_touch_key(prefix_given text, moment bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE public.api_keys SET last_used_at = moment
    WHERE prefix = prefix_given AND coalesce(last_used_at, 0) <= moment - 60000000
$$;

-- Notes what a caller does to a space itself; the operator's deeds are not noted.
CREATE FUNCTION recollect_note(space integer, deed text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO public.audit (space, at, key, person, deed, memories)
    SELECT space, current_setting('recollect.moment')::bigint, current_setting('recollect.key'),
           current_setting('recollect.name'), deed, '{}'
    WHERE current_setting('recollect.key', true) <> ''
$$;

-- Makes a person and their own space.
CREATE FUNCTION recollect_make_person(id_given text, may_administer boolean, moment bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made integer;
    own  integer;
BEGIN
    IF NOT (public.recollect_is_operator() OR public.recollect_is_admin()) THEN
        RAISE EXCEPTION USING ERRCODE = 'RC403', MESSAGE = 'Only who runs the server adds people.';
    END IF;
    INSERT INTO public.people (id, admin, created_at) VALUES (id_given, may_administer, moment) RETURNING key INTO made;
    INSERT INTO public.spaces (id, owner, created_at) VALUES (id_given, made, moment) RETURNING key INTO own;
    INSERT INTO public.memberships (space, person, role) VALUES (own, made, 'admin');
END
$$;

-- Makes a team's space with its first admin: oneself, unless one runs the server.
CREATE FUNCTION recollect_make_space(id_given text, admin_given text, moment bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first_admin integer;
    made        integer;
BEGIN
    IF NOT public.recollect_is_operator() THEN
        IF NOT public.recollect_may_administer() OR public.recollect_is_restricted() THEN
            RAISE EXCEPTION USING ERRCODE = 'RC403',
                MESSAGE = 'Only a key of scope admin for all of your spaces makes others.';
        ELSIF admin_given <> current_setting('recollect.name') AND NOT public.recollect_is_admin() THEN
            RAISE EXCEPTION USING ERRCODE = 'RC403', MESSAGE = 'Only who runs the server makes spaces for others.';
        END IF;
    END IF;
    SELECT p.key INTO first_admin FROM public.people AS p WHERE p.id = admin_given FOR KEY SHARE;
    IF first_admin IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'RC404', MESSAGE = format('There is no person %L.', admin_given);
    END IF;
    INSERT INTO public.spaces (id, created_at) VALUES (id_given, moment) RETURNING key INTO made;
    INSERT INTO public.memberships (space, person, role) VALUES (made, first_admin, 'admin');
    PERFORM public.recollect_note(made, 'made the space');
END
$$;

-- Gives the number and the owner of a space, its row locked, so that changes to who belongs to it come one after the
-- other. Who leaves need not administer it. A space that one may not read is as good as not there.
CREATE FUNCTION recollect_take_space(
    id_given text, leaving boolean, OUT taken integer, OUT its_owner integer
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT s.key INTO taken FROM public.spaces AS s WHERE s.id = id_given
    AND (public.recollect_is_operator() OR s.key = ANY (public.recollect_spaces('readable')));
    IF taken IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'RC404', MESSAGE = format('There is no space %L that you may see.', id_given);
    END IF;
    IF NOT (
        public.recollect_is_operator() OR taken = ANY (public.recollect_spaces('administered'))
        OR (leaving AND public.recollect_may_administer())
    ) THEN
        RAISE EXCEPTION USING ERRCODE = 'RC403', MESSAGE = format(
            'You may not administer %s: ask somebody who does, or use another key.', id_given);
    END IF;
    SELECT s.key, s.owner INTO taken, its_owner FROM public.spaces AS s WHERE s.key = taken FOR NO KEY UPDATE;
END
$$;

-- Lets a person into a space, or changes their role. A space keeps an admin, and a person their own space.
CREATE FUNCTION recollect_set_member(space_given text, person_given text, role_given text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    at_hand  record;
    newcomer integer;
BEGIN
    -- People before spaces: everywhere in this order, so that nobody waits in a circle.
    SELECT p.key INTO newcomer FROM public.people AS p WHERE p.id = person_given FOR KEY SHARE;
    SELECT * INTO at_hand FROM public.recollect_take_space(space_given, false);
    IF newcomer IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'RC404',
            MESSAGE = format('There is no person %L: whoever runs the server adds people.', person_given);
    END IF;
    INSERT INTO public.memberships (space, person, role) VALUES (at_hand.taken, newcomer, role_given)
    ON CONFLICT (space, person) DO UPDATE SET role = excluded.role;
    PERFORM public.recollect_check_admins(at_hand.taken, at_hand.its_owner);
    PERFORM public.recollect_note(at_hand.taken, format('made %s %s', person_given, role_given));
END
$$;

CREATE FUNCTION recollect_remove_member(space_given text, person_given text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    at_hand record;
BEGIN
    SELECT * INTO at_hand
    FROM public.recollect_take_space(space_given, person_given = current_setting('recollect.name', true));
    DELETE FROM public.memberships AS m USING public.people AS p
    WHERE m.space = at_hand.taken AND m.person = p.key AND p.id = person_given;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'RC404',
            MESSAGE = format('%s is not a member of %s.', person_given, space_given);
    END IF;
    PERFORM public.recollect_check_admins(at_hand.taken, at_hand.its_owner);
    PERFORM public.recollect_note(at_hand.taken, format('removed %s', person_given));
END
$$;

CREATE FUNCTION recollect_check_admins(space_given integer, its_owner integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM public.memberships AS m
        WHERE m.space = space_given AND m.role = 'admin' AND (its_owner IS NULL OR m.person = its_owner)
    ) THEN
        RAISE EXCEPTION USING ERRCODE = 'RC409', MESSAGE = CASE
            WHEN its_owner IS NULL THEN 'A space keeps at least one admin: make somebody else its admin first.'
            ELSE 'A person stays the admin of their own space.'
        END;
    END IF;
END
$$;

-- Removes a space and all that is in it, but for the log. Whoever writes to it holds its row, so all have finished.
-- An index of its vectors is dropped by the worker, which alone can.
CREATE FUNCTION recollect_erase_space(gone integer) RETURNS void
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

CREATE FUNCTION recollect_remove_space(id_given text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    at_hand record;
BEGIN
    SELECT * INTO at_hand FROM public.recollect_take_space(id_given, false);
    IF at_hand.its_owner IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'RC409',
            MESSAGE = format('%s is a person''s own space: it goes when the person is removed.', id_given);
    END IF;
    PERFORM public.recollect_erase_space(at_hand.taken), public.recollect_note(at_hand.taken, 'removed the space');
END
$$;

-- Removes a person with their keys, memberships and own space. Neither the server nor a team is left without an admin.
CREATE FUNCTION recollect_remove_person(id_given text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    gone    integer;
    orphans text[];
BEGIN
    IF NOT (public.recollect_is_operator() OR public.recollect_is_admin()) THEN
        RAISE EXCEPTION USING ERRCODE = 'RC403', MESSAGE = 'Only who runs the server removes people.';
    END IF;
    -- All that the answer depends on is locked, in one order, so that two removals cannot both rely on the other.
    PERFORM FROM public.people AS p WHERE p.admin OR p.id = id_given ORDER BY p.key FOR UPDATE;
    SELECT p.key INTO gone FROM public.people AS p WHERE p.id = id_given;
    IF gone IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'RC404', MESSAGE = format('There is no person %L.', id_given);
    END IF;
    IF NOT EXISTS (SELECT FROM public.people AS p WHERE p.admin AND p.key <> gone) THEN
        RAISE EXCEPTION USING ERRCODE = 'RC409',
            MESSAGE = format('%s is the only one who runs the server: add another admin first.', id_given);
    END IF;
    PERFORM FROM public.spaces AS s WHERE s.key IN (
        SELECT m.space FROM public.memberships AS m WHERE m.person = gone AND m.role = 'admin'
    ) ORDER BY s.id FOR UPDATE;
    SELECT array_agg(s.id ORDER BY s.id) INTO orphans
    FROM public.memberships AS m JOIN public.spaces AS s ON s.key = m.space
    WHERE m.person = gone AND m.role = 'admin' AND s.owner IS NULL AND NOT EXISTS (
        SELECT FROM public.memberships AS o WHERE o.space = m.space AND o.role = 'admin' AND o.person <> gone
    );
    IF orphans IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'RC409', MESSAGE = format(
            '%s is the only admin of %s: make somebody else admin there, or remove the space, first.', id_given,
            -- Who runs the server is not shown what spaces others have.
            CASE WHEN public.recollect_is_operator() THEN array_to_string(orphans, ', ')
                 ELSE format('%s team spaces', cardinality(orphans)) END);
    END IF;
    PERFORM public.recollect_erase_space(s.key) FROM public.spaces AS s WHERE s.owner = gone;
    DELETE FROM public.people WHERE key = gone;
END
$$;

-- Adds a key that does no more than the one that makes it. A key for somebody else is only ever their first: with a
-- further one, whoever runs the server could read that person's spaces.
CREATE FUNCTION recollect_add_key(
    prefix_given text, holder_given text, hash_given bytea, name_given text, scope_given text, spaces_given text[],
    moment bigint, expiry bigint
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    holder  integer;
    reached integer[];
BEGIN
    IF NOT public.recollect_is_operator() THEN
        IF NOT public.recollect_may_administer() THEN
            RAISE EXCEPTION USING ERRCODE = 'RC403', MESSAGE = 'Only a key of scope admin makes others.';
        ELSIF holder_given <> current_setting('recollect.name') AND NOT public.recollect_is_admin() THEN
            RAISE EXCEPTION USING ERRCODE = 'RC403', MESSAGE = 'Only who runs the server makes keys for others.';
        END IF;
    END IF;
    -- Locked, so that of two first keys one is the second.
    SELECT p.key INTO holder FROM public.people AS p WHERE p.id = holder_given FOR NO KEY UPDATE;
    IF holder IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'RC404', MESSAGE = format('There is no person %L.', holder_given);
    END IF;
    IF NOT public.recollect_is_operator() AND holder <> public.recollect_person()
        AND EXISTS (SELECT FROM public.api_keys AS k WHERE k.person = holder)
    THEN
        RAISE EXCEPTION USING ERRCODE = 'RC403', MESSAGE = format(
            '%s has had a key: only they, or the operator by `recollect keys add`, make further ones.', holder_given);
    END IF;
    SELECT array_agg(m.space ORDER BY m.space) INTO reached
    FROM public.memberships AS m JOIN public.spaces AS s ON s.key = m.space
    WHERE m.person = holder AND s.id = ANY (spaces_given);
    IF coalesce(cardinality(reached), 0) <> coalesce(cardinality(spaces_given), 0) THEN
        RAISE EXCEPTION USING ERRCODE = 'RC404',
            MESSAGE = format('%s is not in all of these spaces: a key reaches only those of its person.', holder_given);
    END IF;
    IF NOT public.recollect_is_operator() AND public.recollect_is_restricted()
        AND NOT coalesce(reached <@ public.recollect_spaces('readable'), false)
    THEN
        RAISE EXCEPTION USING ERRCODE = 'RC403',
            MESSAGE = 'Your key reaches only some of your spaces, and makes none that reaches more.';
    END IF;
    INSERT INTO public.api_keys (prefix, person, hash, name, scope, spaces, created_at, expires_at)
    VALUES (prefix_given, holder, hash_given, name_given, scope_given, reached, moment, expiry);
END
$$;

-- Work is handed over in the transaction that causes it. A space has at most one job of a task that has not begun:
-- this either makes it, or locks it until the transaction is over (the WHERE is never true, so there is no new version
-- of its row). Workers skip locked jobs, so that none can look before what it is to find is there.
CREATE FUNCTION recollect_defer(task text, space integer) RETURNS void
-- The queue's own triggers look for its tables by their bare names.
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    INSERT INTO public.procrastinate_jobs (queue_name, task_name, priority, lock, queueing_lock, args)
    SELECT 'recollect', task, 0, task || ' ' || space, task || ' ' || space, jsonb_build_object('space', space)
    WHERE public.recollect_is_operator() OR space = ANY (public.recollect_spaces('writable'))
    ON CONFLICT (queueing_lock) WHERE status = 'todo' DO UPDATE SET priority = 0 WHERE false
$$;

-- Queues a new memory for every vector set. A function, since its statements see what was committed while the one that
-- calls it waited for the space: a set that was made meanwhile.
CREATE FUNCTION recollect_queue(space_given integer, memory_given integer, change_given bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO public.outbox (space, vector_set, memory, change)
    SELECT space_given, s.key, memory_given, change_given FROM public.vector_sets AS s;
    IF FOUND THEN
        PERFORM public.recollect_defer('embed', space_given);
    END IF;
END
$$;

-- Nobody calls what is not given to them. Those that touch the walled tables belong to the system, as the owner of the
-- tables sees no more than anybody; to be given a function, a role must for that moment be one that could have made it.
GRANT CREATE ON SCHEMA public TO recollect_system;
DO $$
DECLARE
    each record;
BEGIN
    FOR each IN
        SELECT p.oid::regprocedure AS name
        FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace AND p.proname ~ '^recollect_'
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', each.name);
    END LOOP;
    GRANT EXECUTE ON FUNCTION recollect_spaces, recollect_person, recollect_is_admin, recollect_may_administer,
        recollect_is_restricted, recollect_is_operator, recollect_queue TO recollect_app, recollect_system;
    GRANT EXECUTE ON FUNCTION recollect_make_vectors, recollect_drop_vectors TO recollect_system;
    GRANT EXECUTE ON FUNCTION recollect_enter, recollect_make_person, recollect_remove_person, recollect_make_space,
        recollect_remove_space, recollect_set_member, recollect_remove_member, recollect_add_key, recollect_defer
    TO recollect_app;
    FOR each IN
        SELECT p.oid::regprocedure AS name
        FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace AND p.proname ~ '^recollect_' AND p.prosecdef
        AND p.proname NOT IN ('recollect_make_vectors', 'recollect_drop_vectors')
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO recollect_system', each.name);
    END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA public FROM recollect_system;
