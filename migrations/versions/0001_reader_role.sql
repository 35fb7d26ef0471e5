-- The role of read-only connections: every table, but not the password hashes.
-- Roles belong to the whole server, so another database of it may have made it already.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'ppcfetch_reader') THEN
        BEGIN
            CREATE ROLE ppcfetch_reader NOLOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
        END;
    END IF;
    BEGIN
        EXECUTE format('GRANT ppcfetch_reader TO %I', current_user);
    EXCEPTION WHEN insufficient_privilege THEN
        RAISE WARNING 'may not grant ppcfetch_reader to %; its readers keep their own role',
            current_user;
    END;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO ppcfetch_reader', current_schema());
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO ppcfetch_reader', current_schema());
    REVOKE SELECT ON users FROM ppcfetch_reader;
    GRANT SELECT (id, email, operator, created_at) ON users TO ppcfetch_reader;
    EXECUTE format(
        'ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT SELECT ON TABLES TO ppcfetch_reader',
        current_schema()
    );
EXCEPTION WHEN insufficient_privilege THEN
    RAISE WARNING 'may not make the role ppcfetch_reader; readers rely on read-only transactions';
END
$$;
