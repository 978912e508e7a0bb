-- Verifying is bounded for a workspace too, since credentials come and go; and
-- what it said is kept where the key is still the one that was verified.

-- +goose Up
ALTER TABLE byok_credentials
    -- Rises when the key is replaced, and not when it is sealed anew.
    ADD COLUMN key_generation bigint NOT NULL DEFAULT 1 CONSTRAINT byok_credentials_key_generation_check CHECK (key_generation >= 1);

-- How many turns at verifying a workspace has taken since its window began.
CREATE TABLE byok_verify_turns (
    workspace_id uuid        PRIMARY KEY REFERENCES workspaces (id),
    began_at     timestamptz NOT NULL,
    taken        integer     NOT NULL CONSTRAINT byok_verify_turns_taken_check CHECK (taken >= 0)
);
ALTER TABLE byok_verify_turns ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON byok_verify_turns TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE ON byok_verify_turns TO signalbox_app;

-- +goose Down
DROP TABLE byok_verify_turns;
ALTER TABLE byok_credentials DROP COLUMN key_generation;
