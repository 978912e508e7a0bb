-- The two roles that the control plane works as. Roles belong to the whole
-- server, databases of one server may be migrated at the same moment, so every
-- statement here must be repeatable and must survive losing a race.
--
-- signalbox_app     serves tenants: sees only rows of the workspace in the
--                   setting app.workspace.
-- signalbox_system  serves look-ups by kid, the outbox, consumers and the
--                   reconciler: sees whole tables, but only those granted.
--
-- Neither can log in or bypass row-level security. Down leaves them: another
-- database of the server may use them.

-- +goose Up
-- +goose StatementBegin
DO $$
DECLARE
    wanted text;
    tries  int;
    -- Since 16 being a member does not imply being allowed to work as the role.
    may    text := CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['signalbox_app', 'signalbox_system'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS NOREPLICATION', wanted);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL; -- another database's migration made it
            END;
        END IF;
        IF EXISTS (SELECT FROM pg_roles WHERE rolname = wanted AND (rolsuper OR rolbypassrls)) THEN
            RAISE EXCEPTION 'role % can bypass row-level security', wanted
                USING HINT = format('ALTER ROLE %I NOSUPERUSER NOBYPASSRLS', wanted);
        END IF;
        -- A migrating role that is no superuser must be granted the role to work as it.
        tries := 0;
        WHILE NOT pg_has_role(current_user, wanted, may) LOOP
            BEGIN
                EXECUTE format('GRANT %I TO %I', wanted, current_user);
            EXCEPTION WHEN unique_violation OR internal_error THEN
                tries := tries + 1; -- "tuple concurrently updated" has no code of its own
                IF tries > 20 THEN
                    RAISE;
                END IF;
            END;
        END LOOP;
    END LOOP;
END
$$;
-- +goose StatementEnd

GRANT USAGE ON SCHEMA public TO signalbox_app, signalbox_system;

-- +goose Down
REVOKE USAGE ON SCHEMA public FROM signalbox_app, signalbox_system;
