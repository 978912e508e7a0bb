-- Receivers of events, and the account of what went to them. Secrets are stored
-- sealed alone, bound to the workspace and the webhook of their row. Couriers find
-- what is due as the system role, which sees no URL, no secret and no body; each
-- delivery is made as its workspace.

-- +goose Up
CREATE TABLE webhooks (
    id                uuid        PRIMARY KEY,
    workspace_id      uuid        NOT NULL REFERENCES workspaces (id),
    name              text        NOT NULL CONSTRAINT webhooks_name_check CHECK (length(name) BETWEEN 1 AND 100),
    url               text        NOT NULL CONSTRAINT webhooks_url_check CHECK (length(url) BETWEEN 1 AND 2048),
    host              text        NOT NULL, -- of the url
    events            text[]      NOT NULL CONSTRAINT webhooks_events_check CHECK (cardinality(events) >= 1),
    enabled           boolean     NOT NULL,
    suffix            text        NOT NULL CONSTRAINT webhooks_suffix_check CHECK (length(suffix) = 4),
    sealed            bytea       NOT NULL CONSTRAINT webhooks_sealed_check CHECK (octet_length(sealed) BETWEEN 34 AND 1024),
    previous          bytea       CONSTRAINT webhooks_previous_check CHECK (octet_length(previous) BETWEEN 34 AND 1024),
    previous_until    timestamptz,
    failing_since     timestamptz,
    last_delivered_at timestamptz,
    tested_at         timestamptz, -- bounds how often it is tested
    created_by        uuid        REFERENCES users (id),
    version           bigint      NOT NULL CONSTRAINT webhooks_version_check CHECK (version >= 1),
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    CONSTRAINT webhooks_workspace_id_key UNIQUE (workspace_id, id),
    CONSTRAINT webhooks_previous_until_check CHECK ((previous IS NULL) = (previous_until IS NULL))
);

CREATE TABLE webhook_deliveries (
    id           uuid        PRIMARY KEY,
    workspace_id uuid        NOT NULL,
    webhook_id   uuid        NOT NULL,
    event_id     uuid        NOT NULL,
    type         text        NOT NULL,
    body         text        NOT NULL CONSTRAINT webhook_deliveries_body_check CHECK (octet_length(body) <= 65536),
    state        text        NOT NULL CONSTRAINT webhook_deliveries_state_check CHECK (state IN ('pending', 'failed', 'delivered', 'given_up')),
    round        integer     NOT NULL CONSTRAINT webhook_deliveries_round_check CHECK (round >= 0),
    attempts     jsonb       NOT NULL,
    due_at       timestamptz, -- null: no attempt follows
    holder       uuid,        -- which courier has it, until leased_until
    leased_until timestamptz,
    created_at   timestamptz NOT NULL,
    CONSTRAINT webhook_deliveries_event_key UNIQUE (webhook_id, event_id),
    CONSTRAINT webhook_deliveries_due_check CHECK ((due_at IS NOT NULL) = (state IN ('pending', 'failed'))),
    CONSTRAINT webhook_deliveries_holder_check CHECK ((holder IS NULL) = (leased_until IS NULL)),
    CONSTRAINT webhook_deliveries_webhook_fkey FOREIGN KEY (workspace_id, webhook_id) REFERENCES webhooks (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_webhook_idx ON webhook_deliveries (workspace_id, webhook_id, id);
CREATE INDEX webhook_deliveries_due_idx ON webhook_deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_created_idx ON webhook_deliveries (created_at);

ALTER TABLE webhooks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON webhooks TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY system_read ON webhooks FOR SELECT TO signalbox_system USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON webhooks TO signalbox_app;
GRANT SELECT (id, workspace_id, host, enabled, sealed, previous) ON webhooks TO signalbox_system;

ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON webhook_deliveries TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY system_read ON webhook_deliveries FOR SELECT TO signalbox_system USING (true);
CREATE POLICY system_sweep ON webhook_deliveries FOR DELETE TO signalbox_system USING (true);
GRANT SELECT, INSERT, UPDATE (state, round, attempts, due_at, holder, leased_until), DELETE ON webhook_deliveries TO signalbox_app;
GRANT SELECT (id, workspace_id, webhook_id, due_at, leased_until, created_at), DELETE ON webhook_deliveries TO signalbox_system;

-- +goose Down
DROP TABLE webhook_deliveries;
DROP TABLE webhooks;
