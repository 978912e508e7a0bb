-- What operators let a workspace and its users do in place of what their standing
-- gives, and with what each workspace was last published of what changes without
-- anybody changing it: its standing, and what the deployment says.

-- +goose Up
CREATE TABLE allowances (
    workspace_id uuid        PRIMARY KEY REFERENCES workspaces (id),
    per_minute   bigint      CONSTRAINT allowances_per_minute_check CHECK (per_minute BETWEEN 1 AND 1000000), -- NULL: by standing
    free_per_day bigint      CONSTRAINT allowances_free_per_day_check CHECK (free_per_day BETWEEN 1 AND 100000000), -- NULL: as the deployment says
    users        jsonb       NOT NULL CONSTRAINT allowances_users_check CHECK (jsonb_typeof(users) = 'object'), -- requests a minute by user
    version      bigint      NOT NULL CONSTRAINT allowances_version_check CHECK (version >= 1),
    updated_at   timestamptz NOT NULL
);

CREATE TABLE published_standings (
    workspace_id uuid        PRIMARY KEY REFERENCES workspaces (id),
    standing     text        NOT NULL,
    deployment   text        NOT NULL, -- a digest
    published_at timestamptz NOT NULL
);

ALTER TABLE allowances          ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE published_standings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON allowances TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY tenant ON published_standings TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY system_read ON allowances          FOR SELECT TO signalbox_system USING (true);
CREATE POLICY system_read ON published_standings FOR SELECT TO signalbox_system USING (true);
GRANT SELECT, INSERT, UPDATE ON allowances, published_standings TO signalbox_app;
GRANT SELECT ON allowances, published_standings TO signalbox_system;

-- +goose Down
DROP TABLE published_standings;
DROP TABLE allowances;
