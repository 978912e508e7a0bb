-- What was deployed of each preset, one row after the other. beneath is the
-- deployment that a rollback goes back to, null at the start.

-- +goose Up
CREATE TABLE preset_deployments (
    workspace_id uuid        NOT NULL REFERENCES workspaces (id),
    preset_id    uuid        NOT NULL,
    seq          integer     NOT NULL CONSTRAINT preset_deployments_seq_check CHECK (seq >= 1),
    version      integer     NOT NULL,
    beneath      integer     CONSTRAINT preset_deployments_beneath_check CHECK (beneath < seq),
    rollback     boolean     NOT NULL,
    deployed_by  uuid        NOT NULL REFERENCES users (id),
    deployed_at  timestamptz NOT NULL,
    CONSTRAINT preset_deployments_pkey PRIMARY KEY (preset_id, seq),
    CONSTRAINT preset_deployments_preset_id_fkey FOREIGN KEY (workspace_id, preset_id) REFERENCES presets (workspace_id, id),
    CONSTRAINT preset_deployments_version_fkey FOREIGN KEY (preset_id, version) REFERENCES preset_versions (preset_id, number),
    CONSTRAINT preset_deployments_beneath_fkey FOREIGN KEY (preset_id, beneath) REFERENCES preset_deployments (preset_id, seq)
);
CREATE INDEX preset_deployments_workspace_id_idx ON preset_deployments (workspace_id, preset_id, seq);

ALTER TABLE preset_deployments ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON preset_deployments TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
GRANT SELECT, INSERT ON preset_deployments TO signalbox_app;

-- +goose Down
DROP TABLE preset_deployments;
