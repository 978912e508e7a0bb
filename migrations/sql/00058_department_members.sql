-- Who belongs to a department: what the member's own keys use counts toward all
-- departments of the member, or with an override toward that one alone.

-- +goose Up
CREATE TABLE department_members (
    workspace_id  uuid        NOT NULL REFERENCES workspaces (id),
    department_id uuid        NOT NULL,
    user_id       uuid        NOT NULL,
    position      text        NOT NULL CONSTRAINT department_members_position_check CHECK (position IN ('member', 'lead')),
    override      boolean     NOT NULL,
    added_at      timestamptz NOT NULL,
    CONSTRAINT department_members_pkey PRIMARY KEY (workspace_id, department_id, user_id),
    CONSTRAINT department_members_department_id_fkey FOREIGN KEY (workspace_id, department_id) REFERENCES departments (workspace_id, id),
    CONSTRAINT department_members_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES members (workspace_id, user_id)
);
CREATE INDEX department_members_user_id_idx ON department_members (workspace_id, user_id, department_id);
CREATE UNIQUE INDEX department_members_override_key ON department_members (workspace_id, user_id) WHERE override;

ALTER TABLE department_members ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON department_members TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON department_members TO signalbox_app;

-- +goose Down
DROP TABLE department_members;
