-- Guardrails: which models and providers may be reached and how those handle
-- data, and the API keys and members that each is bound to. A binding names
-- things of its own workspace, which the two-column keys hold whatever a store
-- does, and nothing that is bound goes away by itself: who leaves, and what is
-- deleted, is unbound first, since a key of theirs would else be free.

-- +goose Up
CREATE TABLE guardrails (
    id              uuid        PRIMARY KEY,
    workspace_id    uuid        NOT NULL REFERENCES workspaces (id),
    name            text        NOT NULL CONSTRAINT guardrails_name_check CHECK (length(name) BETWEEN 1 AND 100),
    description     text        NOT NULL CONSTRAINT guardrails_description_check CHECK (length(description) <= 500),
    enabled         boolean     NOT NULL,
    whole_workspace boolean     NOT NULL,
    rules           jsonb       NOT NULL CONSTRAINT guardrails_rules_check CHECK (jsonb_typeof(rules) = 'object'),
    version         bigint      NOT NULL CONSTRAINT guardrails_version_check CHECK (version >= 1),
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    CONSTRAINT guardrails_workspace_id_key UNIQUE (workspace_id, id)
);
CREATE UNIQUE INDEX guardrails_name_key ON guardrails (workspace_id, lower(name));

-- The unique constraint takes the place of the index over the same columns.
ALTER TABLE api_keys ADD CONSTRAINT api_keys_workspace_id_key UNIQUE (workspace_id, id);
DROP INDEX api_keys_workspace_id_idx;

CREATE TABLE guardrail_keys (
    workspace_id uuid        NOT NULL REFERENCES workspaces (id),
    guardrail_id uuid        NOT NULL,
    target_id    uuid        NOT NULL,
    added_at     timestamptz NOT NULL,
    CONSTRAINT guardrail_keys_pkey PRIMARY KEY (workspace_id, guardrail_id, target_id),
    CONSTRAINT guardrail_keys_guardrail_id_fkey FOREIGN KEY (workspace_id, guardrail_id) REFERENCES guardrails (workspace_id, id),
    CONSTRAINT guardrail_keys_target_id_fkey FOREIGN KEY (workspace_id, target_id) REFERENCES api_keys (workspace_id, id)
);
CREATE TABLE guardrail_members (
    workspace_id uuid        NOT NULL REFERENCES workspaces (id),
    guardrail_id uuid        NOT NULL,
    target_id    uuid        NOT NULL,
    added_at     timestamptz NOT NULL,
    CONSTRAINT guardrail_members_pkey PRIMARY KEY (workspace_id, guardrail_id, target_id),
    CONSTRAINT guardrail_members_guardrail_id_fkey FOREIGN KEY (workspace_id, guardrail_id) REFERENCES guardrails (workspace_id, id),
    CONSTRAINT guardrail_members_target_id_fkey FOREIGN KEY (workspace_id, target_id) REFERENCES members (workspace_id, user_id)
);

ALTER TABLE guardrails        ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE guardrail_keys    ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE guardrail_members ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON guardrails TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY tenant ON guardrail_keys TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY tenant ON guardrail_members TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON guardrails TO signalbox_app;
GRANT SELECT, INSERT, DELETE ON guardrail_keys, guardrail_members TO signalbox_app;

-- +goose Down
DROP TABLE guardrail_members;
DROP TABLE guardrail_keys;
CREATE INDEX api_keys_workspace_id_idx ON api_keys (workspace_id, id);
ALTER TABLE api_keys DROP CONSTRAINT api_keys_workspace_id_key;
DROP TABLE guardrails;
