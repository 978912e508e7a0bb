-- Publishers: the name under which all workspaces may use the public presets of
-- one. A handle that a preset was public under stays its workspace's, so that
-- nobody else can answer to it.

-- +goose Up
CREATE TABLE publishers (
    workspace_id uuid        PRIMARY KEY REFERENCES workspaces (id),
    handle       text        NOT NULL CONSTRAINT publishers_handle_key UNIQUE
                             CONSTRAINT publishers_handle_check CHECK (handle ~ '^[a-z0-9][a-z0-9_-]{2,39}$'),
    version      bigint      NOT NULL CONSTRAINT publishers_version_check CHECK (version >= 1),
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL
);

ALTER TABLE publishers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON publishers TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE ON publishers TO signalbox_app;

-- Everything that a workspace may see of another's presets, for forks: the
-- versions that were in force while their preset was public, as long as it is.
-- The tables' policies hold for who asks, and only the system role sees more
-- than a tenant.
CREATE VIEW public_preset_versions WITH (security_invoker = true, security_barrier = true) AS
    SELECT p.public_handle AS handle, p.slug, p.id AS preset_id, p.name, p.description, p.deployed_version, p.ancestry,
        v.number, v.label, v.config, v.digest
    FROM presets p JOIN preset_versions v ON v.preset_id = p.id
    WHERE p.visibility = 'public' AND p.archived_at IS NULL AND p.public_handle <> '' AND v.public_at IS NOT NULL
        AND EXISTS (SELECT FROM workspaces w WHERE w.id = p.workspace_id AND w.status <> 'deleted');
GRANT SELECT ON public_preset_versions TO signalbox_system;

-- +goose Down
DROP VIEW public_preset_versions;
DROP TABLE publishers;
