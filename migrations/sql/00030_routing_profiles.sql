-- Routing profiles: named sets of routing fields, and the one that is bound to
-- the whole workspace. A binding names a profile of its own workspace, which
-- the two-column keys hold whatever a store does.

-- +goose Up
CREATE TABLE routing_profiles (
    id           uuid        PRIMARY KEY,
    workspace_id uuid        NOT NULL REFERENCES workspaces (id),
    name         text        NOT NULL CONSTRAINT routing_profiles_name_check CHECK (length(name) BETWEEN 1 AND 100),
    routing      jsonb       NOT NULL CONSTRAINT routing_profiles_routing_check CHECK (jsonb_typeof(routing) = 'object'),
    version      bigint      NOT NULL CONSTRAINT routing_profiles_version_check CHECK (version >= 1),
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    CONSTRAINT routing_profiles_workspace_id_key UNIQUE (workspace_id, id)
);
CREATE UNIQUE INDEX routing_profiles_name_key ON routing_profiles (workspace_id, lower(name));

ALTER TABLE routing_profiles ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON routing_profiles TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON routing_profiles TO signalbox_app;

ALTER TABLE settings ADD COLUMN routing_profile_id uuid;
ALTER TABLE settings ADD CONSTRAINT settings_routing_profile_id_fkey
    FOREIGN KEY (workspace_id, routing_profile_id) REFERENCES routing_profiles (workspace_id, id);

-- +goose Down
ALTER TABLE settings DROP COLUMN routing_profile_id;
DROP TABLE routing_profiles;
