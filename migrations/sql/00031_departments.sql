-- Departments, and what keys are bound to: a department and a routing profile.

-- +goose Up
CREATE TABLE departments (
    id                 uuid        PRIMARY KEY,
    workspace_id       uuid        NOT NULL REFERENCES workspaces (id),
    name               text        NOT NULL CONSTRAINT departments_name_check CHECK (length(name) BETWEEN 1 AND 100),
    routing_profile_id uuid,
    version            bigint      NOT NULL CONSTRAINT departments_version_check CHECK (version >= 1),
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,
    CONSTRAINT departments_workspace_id_key UNIQUE (workspace_id, id),
    CONSTRAINT departments_routing_profile_id_fkey
        FOREIGN KEY (workspace_id, routing_profile_id) REFERENCES routing_profiles (workspace_id, id)
);
CREATE UNIQUE INDEX departments_name_key ON departments (workspace_id, lower(name));
CREATE INDEX departments_routing_profile_id_idx ON departments (workspace_id, routing_profile_id) WHERE routing_profile_id IS NOT NULL;

ALTER TABLE departments ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON departments TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON departments TO signalbox_app;

ALTER TABLE api_keys ADD COLUMN routing_profile_id uuid, ADD COLUMN department_id uuid;
ALTER TABLE api_keys
    ADD CONSTRAINT api_keys_routing_profile_id_fkey
        FOREIGN KEY (workspace_id, routing_profile_id) REFERENCES routing_profiles (workspace_id, id),
    ADD CONSTRAINT api_keys_department_id_fkey
        FOREIGN KEY (workspace_id, department_id) REFERENCES departments (workspace_id, id);
CREATE INDEX api_keys_routing_profile_id_idx ON api_keys (workspace_id, routing_profile_id, id) WHERE routing_profile_id IS NOT NULL;
CREATE INDEX api_keys_department_id_idx ON api_keys (workspace_id, department_id, id) WHERE department_id IS NOT NULL;

-- +goose Down
ALTER TABLE api_keys DROP COLUMN department_id, DROP COLUMN routing_profile_id;
DROP TABLE departments;
