-- Tenants, the people in them, and the revision that every change of a tenant
-- locks and raises.

-- +goose Up
CREATE TABLE workspaces (
    id         uuid        PRIMARY KEY,
    name       text        NOT NULL CONSTRAINT workspaces_name_check CHECK (length(name) BETWEEN 1 AND 100),
    slug       text        NOT NULL CONSTRAINT workspaces_slug_check CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    status     text        NOT NULL CONSTRAINT workspaces_status_check CHECK (status IN ('active', 'deleted')),
    tags       text[]      NOT NULL,
    version    bigint      NOT NULL CONSTRAINT workspaces_version_check CHECK (version >= 1),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
-- The slug of a deleted workspace may be taken again.
CREATE UNIQUE INDEX workspaces_slug_key ON workspaces (slug) WHERE status <> 'deleted';

CREATE TABLE users (
    id         uuid        PRIMARY KEY,
    email      text        NOT NULL CONSTRAINT users_email_key UNIQUE
                           CONSTRAINT users_email_check CHECK (email = lower(email) AND email ~ '^[^@\s]+@[^@\s]+$' AND length(email) <= 254),
    name       text        NOT NULL CONSTRAINT users_name_check CHECK (length(name) <= 100),
    created_at timestamptz NOT NULL
);

CREATE TABLE members (
    workspace_id uuid        NOT NULL REFERENCES workspaces (id),
    user_id      uuid        NOT NULL REFERENCES users (id),
    role         text        NOT NULL CONSTRAINT members_role_check CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
    created_at   timestamptz NOT NULL,
    CONSTRAINT members_pkey PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX members_user_id_idx ON members (user_id);

CREATE TABLE workspace_revisions (
    workspace_id uuid   PRIMARY KEY REFERENCES workspaces (id),
    revision     bigint NOT NULL CONSTRAINT workspace_revisions_revision_check CHECK (revision >= 0)
);

-- +goose StatementBegin
CREATE FUNCTION workspace_revisions_rise() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.revision <= OLD.revision THEN
        RAISE EXCEPTION 'a workspace revision only rises' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    -- Every change raises the revision first, so this is where a change that
    -- was waiting for the deletion of its workspace ends.
    IF EXISTS (SELECT FROM workspaces w WHERE w.id = NEW.workspace_id AND w.status = 'deleted') THEN
        RAISE EXCEPTION 'the workspace is deleted' USING ERRCODE = 'SB404';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER workspace_revisions_rise BEFORE UPDATE ON workspace_revisions
    FOR EACH ROW EXECUTE FUNCTION workspace_revisions_rise();

ALTER TABLE workspaces          ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE users               ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE members             ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE workspace_revisions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- After a transaction the setting is '', which does not cast: hence NULLIF.
CREATE POLICY tenant ON workspaces TO signalbox_app
    USING (id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY tenant ON members TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY tenant ON workspace_revisions TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
-- A user is visible where a member: the look-up in members is itself under row-level security.
CREATE POLICY tenant_read ON users FOR SELECT TO signalbox_app
    USING (EXISTS (SELECT FROM members m WHERE m.user_id = users.id));
CREATE POLICY tenant_insert ON users FOR INSERT TO signalbox_app WITH CHECK (true);

CREATE POLICY system_read ON workspaces          FOR SELECT TO signalbox_system USING (true);
CREATE POLICY system_read ON users               FOR SELECT TO signalbox_system USING (true);
CREATE POLICY system_read ON members             FOR SELECT TO signalbox_system USING (true);
CREATE POLICY system_read ON workspace_revisions FOR SELECT TO signalbox_system USING (true);

GRANT SELECT, INSERT, UPDATE         ON workspaces          TO signalbox_app;
GRANT SELECT, INSERT                 ON users               TO signalbox_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON members             TO signalbox_app;
GRANT SELECT, INSERT, UPDATE         ON workspace_revisions TO signalbox_app;
GRANT SELECT ON workspaces, users, members, workspace_revisions TO signalbox_system;

-- +goose Down
DROP TABLE workspace_revisions;
DROP FUNCTION workspace_revisions_rise();
DROP POLICY tenant_read ON users;
DROP TABLE members;
DROP TABLE users;
DROP TABLE workspaces;
