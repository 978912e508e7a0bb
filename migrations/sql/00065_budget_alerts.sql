-- Which shares of their limits workspaces are told of, and what they were told:
-- once for each limit, window, share and amount, whoever notices it first.

-- +goose Up
CREATE TABLE budget_alert_shares (
    workspace_id uuid       PRIMARY KEY REFERENCES workspaces (id),
    shares       smallint[] NOT NULL CONSTRAINT budget_alert_shares_shares_check
                            CHECK (cardinality(shares) BETWEEN 1 AND 4 AND 1 <= ALL (shares) AND 100 >= ALL (shares)),
    version      bigint     NOT NULL CONSTRAINT budget_alert_shares_version_check CHECK (version >= 1)
);

CREATE TABLE budget_alerts (
    id           uuid        PRIMARY KEY, -- of the event
    workspace_id uuid        NOT NULL REFERENCES workspaces (id),
    limit_id     text        NOT NULL, -- the budget's or the key's
    scope        text        NOT NULL CONSTRAINT budget_alerts_scope_check CHECK (scope IN ('key', 'department', 'guardrail', 'agent', 'workspace')),
    target       text        NOT NULL,
    "interval"   text        NOT NULL CONSTRAINT budget_alerts_interval_check CHECK ("interval" IN ('daily', 'weekly', 'monthly', 'lifetime')),
    window_start timestamptz NOT NULL, -- of a lifetime 0001-01-01
    share        smallint    NOT NULL CONSTRAINT budget_alerts_share_check CHECK (share BETWEEN 1 AND 100),
    limit_nanos  bigint      NOT NULL CONSTRAINT budget_alerts_limit_nanos_check CHECK (limit_nanos > 0),
    used_nanos   bigint      NOT NULL,
    created_at   timestamptz NOT NULL,
    CONSTRAINT budget_alerts_once_key UNIQUE (workspace_id, limit_id, "interval", window_start, share, limit_nanos)
);
CREATE INDEX budget_alerts_workspace_id_idx ON budget_alerts (workspace_id, id);
CREATE INDEX budget_alerts_window_idx ON budget_alerts (window_start);

ALTER TABLE budget_alert_shares ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON budget_alert_shares TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE (shares, version) ON budget_alert_shares TO signalbox_app;

ALTER TABLE budget_alerts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON budget_alerts TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY system_read ON budget_alerts FOR SELECT TO signalbox_system USING (true);
CREATE POLICY system_sweep ON budget_alerts FOR DELETE TO signalbox_system USING (true);
GRANT SELECT, INSERT ON budget_alerts TO signalbox_app;
GRANT SELECT (id, window_start, "interval"), DELETE ON budget_alerts TO signalbox_system;

-- +goose Down
DROP TABLE budget_alerts;
DROP TABLE budget_alert_shares;
